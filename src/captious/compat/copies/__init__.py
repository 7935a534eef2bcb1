"""Copies of toolkits in other repositories, under any name: recognized by their files, replaced class by class.

``original_classes`` lists the toolkits' classes and their replacements. ``copied_files`` finds classes in a file that
look like them, ``trials`` compares their behavior with captious's, and ``copy_loading`` replaces those that give the
same scores when such a file is loaded. Everything else in a copy, and every class that differs, is not changed.
"""
