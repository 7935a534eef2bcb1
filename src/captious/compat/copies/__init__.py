"""Copies of toolkits in other repositories, under any name: recognized by their files, replaced class by class.

``original_classes`` lists the toolkits' classes and what replaces them. ``copied_files`` reads a file and tells which
of its classes look like them, ``trials`` tries those out beside captious's, ``class_replacement`` replaces the ones
that give the same scores, and ``copy_loading`` does all that when such a file is loaded. Everything else in a copy,
and every class that differs, is left as it is.
"""
