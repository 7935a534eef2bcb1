"""Large files that metrics need: found on disk, checked, fetched, and compiled once into the user's cache.

None of them is part of the package. A resource is a module here with ``find`` (look for it on this machine) and
``fetch`` (download it); the object found has an ``origin`` and a method ``build`` that compiles it.
``user_resources`` lists them.
"""
