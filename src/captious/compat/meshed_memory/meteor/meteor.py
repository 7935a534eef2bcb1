"""METEOR under the name ``evaluation.meteor.meteor.Meteor``."""

from __future__ import annotations

from captious.compat.pycocoevalcap.meteor import meteor

__all__ = ["Meteor"]


class Meteor(meteor.Meteor):
    """METEOR 1.5, as in ``captious.compat.pycocoevalcap``; nothing is downloaded."""

    def __str__(self) -> str:
        return "METEOR"
