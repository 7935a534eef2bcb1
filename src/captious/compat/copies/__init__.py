"""Copies of toolkits in other repositories, under any name: recognized by their source, computed class by class.

``normal_form`` brings functions to a form that says what they compute, ``known_bodies`` has the forms that are known.
``recognition`` finds out whether all that a method reaches is known; ``copy_loading`` replaces such methods when a file
is loaded, and ``computed`` is what they become. ``java`` answers for the Java programs of the toolkits. Everything else
in a copy, and every method that differs, is not changed.
"""
