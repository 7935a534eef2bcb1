"""Groups of images, such as domains, data sets or languages, read from files and Python objects.

Scores are then reported by group; see ``captious.evaluation.groups``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.data.cleaning import composed
from captious.data.ids import IdForm, ImageId, by_rule, read_alike, rule_for
from captious.data.readers import read_rows
from captious.data.rows import CaptionRows, image_list, repeated_positions
from captious.data.tables import References
from captious.errors import InputError, option
from captious.words import counted, counted_of, sample_of

#: More groups than this are a column that does not hold groups, such as one of captions.
MOST_GROUPS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """The group of each image.

    Args:
        by: the name of the grouping, such as "domain".
        group_of: image -> name of its group.
        names: the groups in display order; by default numbers in ascending order, then names in alphabetical order.
        source: the source in messages.
        id_form: how the source wrote its ids; see ``captious.data.ids``.

    Raises:
        InputError: more than ``MOST_GROUPS`` groups, or two whose names look the same.
    """

    by: str
    group_of: Mapping[ImageId, str]
    names: tuple[str, ...] = ()
    source: str = field(default="groups", kw_only=True)
    id_form: IdForm = field(default="typed", kw_only=True)

    def __post_init__(self) -> None:
        groups = set(self.group_of.values())
        if len(groups) > MOST_GROUPS:
            raise InputError(
                f"{counted(len(groups), 'group')} of {counted(len(self.group_of), 'image')}",
                where=self.source,
                hint=f"give at most {MOST_GROUPS:,} groups; is {self.by!r} the right choice?",
            )
        same: dict[str, str] = {}
        for name in sorted(groups):
            if (other := same.setdefault(" ".join(composed(name).split()), name)) != name:
                raise InputError(
                    "two groups look the same",
                    where=f"{self.source}: {other!r} and {name!r}",
                    hint="write them in the same way",
                )
        names = tuple(name for name in self.names if name in groups) or tuple(sorted(groups, key=_order))
        object.__setattr__(self, "names", names)

    def __repr__(self) -> str:
        return f"<Groups by {self.by}: {counted(len(self.group_of), 'image')}, {counted(len(self.names), 'group')}>"

    def rows(self, references: References) -> dict[str, NDArray[np.int64]]:
        """Return the rows of each group: name -> int64[n_images of the group], without empty groups.

        Ids match as those of candidates do. Images that have a group but no references are ignored.

        Raises:
            InputError: an image without a group.
        """
        keys, ids = read_alike(by_rule(tuple(self.group_of), references.ids_read), references.ids)
        group_of = dict(zip(keys, self.group_of.values(), strict=True))
        missing = [image for image in ids if image not in group_of]
        if missing:
            n = len(ids)
            raise InputError(
                f"{counted_of(len(missing), n, 'image', 'have')} no group" if n > 1 else "the only image has no group",
                where=f"{self.source}: {image_list(missing)}",
                hint=f"all ids match with {option('ids', rule)}"
                if (rule := rule_for(self.group_of, ids)) is not None
                else "give every image a group, or remove these images from the references and score the others with "
                + option("match", "common"),
            )
        rows_of: dict[str, list[int]] = {name: [] for name in self.names}
        for row, image in enumerate(ids):
            rows_of[group_of[image]].append(row)
        return {name: np.array(rows, dtype=np.int64) for name, rows in rows_of.items() if rows}


def read_groups(source: object, *, column: str | None = None) -> Groups:
    """Read the group of each image.

    Args:
        source: a path to .json, .jsonl, .csv, .tsv or .parquet, plain or with .gz; a mapping from image to group; a
            data frame; a sequence of records; or ``Groups``.
        column: the field or column that holds the groups; also one of COCO's "images". Then an image may occur several
            times, as in files of captions, as long as its group is the same. By default ``group``, or the only one
            besides the image ids. Groups may be text, numbers or booleans.

    Raises:
        InputError: what is wrong with the source, as ``read_rows`` does; an image with two entries or two groups.
        UnknownNameError: no such column.
    """
    if isinstance(source, Groups):
        return source
    rows = read_rows(source, "groups", column=column)
    if rows.id_form == "position":
        raise InputError("these groups have no image ids", where=rows.name, hint="give a mapping: {image_id: group}")
    _check_no_repeats(rows, several=column is not None)
    by = column or (Path(rows.name).name.partition(".")[0] if rows.name != rows.role else "group")
    return Groups(by, dict(zip(rows.ids, rows.texts, strict=True)), source=rows.name, id_form=rows.id_form)


def _check_no_repeats(rows: CaptionRows, *, several: bool) -> None:
    """Refuse images that occur twice; if ``several``, only those that occur with different groups."""
    wrong = {
        image: at
        for image, at in repeated_positions(rows.ids).items()
        if not (several and len({rows.texts[row] for row in at}) == 1)
    }
    if not wrong:
        return
    examples = [
        f"image_id {image!r} in " + sample_of(f"{rows.place(row)} ({rows.texts[row]})" for row in at)
        for image, at in wrong.items()
    ]
    what = "several groups" if several else "more than one entry"
    raise InputError(
        f"{counted_of(len(wrong), len(set(rows.ids)), 'image', 'have')} {what}",
        where=f"{rows.name}: {sample_of(examples, separator='; ')}",
        hint="keep one group per image",
    )


def _order(name: str) -> tuple[bool, float, str]:
    """Sort key: numbers by size, before names by alphabet."""
    try:
        number = float(name)
    except ValueError:
        number = math.nan
    return (False, number, name) if math.isfinite(number) else (True, 0.0, name)
