"""The version of captious, stated here and nowhere else."""

__version__ = "0.1.0"
