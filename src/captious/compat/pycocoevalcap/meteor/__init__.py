"""The folder ``pycocoevalcap.meteor`` of the toolkit; forks import its class from here."""

from captious.compat.pycocoevalcap.meteor.meteor import Meteor

__all__ = ["Meteor"]
