"""Copies of toolkits in other repositories, under any name: recognized by their files, replaced class by class.

``original_classes`` says what the toolkits' classes look like and who replaces them, ``copied_files`` reads a file and
tells which of its classes are theirs, ``import_finder`` finds such files when they are imported and loads them with
those classes replaced. Everything else in a copy is loaded as it is.
"""
