"""The folder ``evaluation.meteor`` of the meshed-memory transformer's code."""

from captious.compat.meshed_memory.meteor.meteor import Meteor

__all__ = ["Meteor"]
