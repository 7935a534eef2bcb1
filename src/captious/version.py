"""The version of captious, of which signatures and the metadata of the package are made."""

__version__ = "0.1.0"
