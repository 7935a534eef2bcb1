"""Big files on disk that metrics need: found, checked, fetched, and compiled once into the user's cache.

None of them is part of the package. A resource is a module here with ``find`` (is it on this machine?) and ``fetch``
(get it); what is found knows its ``origin`` and how to ``build`` what is compiled from it. ``known`` lists them.
"""
