"""``read_captions`` and ``read_references``: candidates matched with references by image id; and ``hold_out``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, filterfalse
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar, Unpack, get_args, overload

import numpy as np

from captious.data.checks import masks_of
from captious.data.cleaning import OF_BOTH_SIDES, cleaned, rules_of
from captious.data.formats import is_prepared
from captious.data.ids import Ids, ImageId, by_rule, differing, most_matching, read_alike, rule_for
from captious.data.layouts import layout_named
from captious.data.readers import read_rows
from captious.data.rows import CaptionFile, CaptionRows, image_list, places_of_lists
from captious.data.tables import Captions, CaptionSets, References
from captious.errors import (
    MissingCandidatesError,
    MissingReferencesError,
    ParameterError,
    UnknownImageError,
    UnknownNameError,
    either,
    option,
)
from captious.plugins import answers_other_keywords
from captious.words import counted, counted_of, shortened

# Human captions as candidates: one reference of each image is held out, and the others remain references.


def hold_out(references: References, seed: int) -> tuple[Captions, int]:
    """Hold out one random reference per image as the candidate; also count the images that have only one.

    Raises:
        ParameterError: no image has two or more references.
    """
    counts = np.diff(references.offsets)
    candidate_rows = references.offsets[:-1] + np.random.default_rng(seed).integers(0, counts)
    several = np.flatnonzero(counts > 1)
    if not several.size:
        raise ParameterError(
            "no image has two or more references",
            where=references.name,
            hint="one reference is held out and scored against the rest; to avoid this, give human captions",
        )
    held_out = candidate_rows[several].tolist()
    remaining = references.leave_out(held_out, several)
    return Captions(tuple(references.texts[row] for row in held_out), remaining), len(references) - len(several)


# Matching of candidates and references by image id.
#
# Every image must have both a candidate and references; with ``match="common"``, images that have both are scored and
# the others are counted. Rows are in the order of the references.


# What public functions take; ``read_rows`` says how it is read. Images may be any keys that are ids, so that mappings
# from int and from str both fit.


class DataFrame(Protocol):
    """A table of pandas, polars or pyarrow: an object that exports Arrow's stream of columns."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the table as a capsule of Arrow's C interface."""


_Readable: TypeAlias = (
    str
    | os.PathLike[str]
    | DataFrame
    | Mapping[Any, str]
    | Mapping[Any, Sequence[str]]
    | Sequence[str]
    | Sequence[Sequence[str]]
    | Sequence[Mapping[str, object]]
)
#: The captions of a system.
Candidates: TypeAlias = _Readable | Captions | CaptionSets
#: The human captions of images.
ReferencesLike: TypeAlias = _Readable | References

#: Which images are scored: all of both sides, which must be the same, or those that both have.
Match: TypeAlias = Literal["all", "common"]
MATCHES: tuple[Match, ...] = get_args(Match)

#: How metrics of single captions score an image with several candidates: by their mean, or by the best one.
OfSeveral: TypeAlias = Literal["mean", "best"]
OF_SEVERAL: tuple[OfSeveral, ...] = get_args(OfSeveral)

#: One or both of these ways; None if each image has exactly one candidate.
Several: TypeAlias = OfSeveral | Sequence[OfSeveral] | None


def ways_of(several: Several, *sources: object) -> tuple[OfSeveral, ...]:
    """Return the ways to score images with several candidates, each once, the mean first; none if each has one.

    Args:
        several: the argument of a public function.
        sources: candidates; ``CaptionSets`` among them have several, and are scored by their mean by default.

    Raises:
        UnknownNameError: another way.
        ParameterError: an empty sequence.
    """
    if several is None:
        return OF_SEVERAL[:1] if CaptionSets in map(type, sources) else ()
    ways = tuple(several) if isinstance(several, Iterable) and not isinstance(several, str) else (several,)
    hint = "give 'mean', 'best' or both; None if each image has one candidate"
    if not ways:
        raise ParameterError("several is empty", hint=hint)
    for way in ways:
        if way not in OF_SEVERAL:
            raise UnknownNameError(f"several is {way!r}", hint=hint)
    return tuple(way for way in OF_SEVERAL if way in ways)


class MatchOptions(TypedDict, total=False):
    """Options of ``read_captions`` and of functions that read captions like it; see there."""

    match: Match
    ids: Ids
    clean: str | Sequence[str]


@overload
def read_captions(
    candidates: object,
    references: object = ...,
    *,
    several: None = ...,
    **options: Unpack[MatchOptions],
) -> Captions: ...
@overload
def read_captions(
    candidates: object,
    references: object = ...,
    *,
    several: OfSeveral | Sequence[OfSeveral],
    **options: Unpack[MatchOptions],
) -> CaptionSets: ...
@overload
def read_captions(
    candidates: object,
    references: object = ...,
    *,
    several: Several = ...,
    **options: Unpack[MatchOptions],
) -> Captions | CaptionSets: ...
@answers_other_keywords
def read_captions(
    candidates: object,
    references: object = None,
    *,
    match: Match = "all",
    ids: Ids = "exact",
    several: Several = None,
    clean: str | Sequence[str] = (),
) -> Captions | CaptionSets:
    """Read candidates and references and match them by image.

    An integer and text match if the text is the integer as it is usually written, such as 42 and "42". Positions match
    only the same number of positions.

    Args:
        candidates: a path or a Python object; ``read_rows`` lists the forms. ``Captions`` and ``CaptionSets`` have
            references of their own, which ``references`` replace, and so have logs of some layouts.
        references: in any form that ``read_references`` takes, or ``References`` that were read before; several systems
            scored against the same object share what is computed about it. None for metrics without references.
        match: which images: "common" uses only the images that both sides have, and counts the others; otherwise, they
            are an error.
        ids: how ids are read before they are matched: "exact", as they are; "integer", as the number that they spell or
            end with, such as 000000000042, 42.0 and COCO_val2014_000000000042.jpg; "stem", as the name of a file
            without folder and extension; "composed", in Unicode's composed form (NFC), without blanks around them. A
            rule that gives two images one id is refused.
        several: "mean" or "best" allows any number of candidates for an image, and says how metrics of single captions
            score them; otherwise, each image has exactly one.
        clean: rules to clean candidates by before they are scored: "markdown" converts it to text, "prompt" removes
            openings such as "Sure! Here is a caption:" and "The image shows"; docs/long-captions.md has all. Several
            are separated by commas. "compose" also applies to references. Signatures name them.

    Returns:
        ``Captions``, or ``CaptionSets`` with ``several``, in the order of the references. Its ``references`` is the
        object that was passed if every image has a candidate and no ids were converted.

    Raises:
        InputError: invalid candidates or references, as ``read_rows`` says.
        ParameterError: positions on one side only, or two different numbers of them; two images with one id.
        UnknownNameError: an unknown rule, or another value of ``match``, ``several`` or ``ids``.
        MissingReferencesError: an image listed without references.
        UnknownImageError: a candidate for an unknown image.
        MissingCandidatesError: references without a candidate.
        With ``match="common"``, the last three do not occur, but UnknownImageError if no image has both.
    """
    return captions_of(candidates, references, several, match=match, ids=ids, clean=clean)


def captions_of(
    candidates: object,
    references: object = None,
    several: Several = None,
    *,
    lists: bool = False,
    **options: Unpack[MatchOptions],
) -> Captions | CaptionSets:
    """Read captions as ``read_captions`` does; with ``lists``, also lists written as text that are of the kind json."""
    match, ids, clean = options.get("match", "all"), options.get("ids", "exact"), options.get("clean", ())
    if match not in MATCHES:
        raise UnknownNameError(f"match is {match!r}", hint=f"give {' or '.join(map(repr, MATCHES))}")
    by_rule((), ids)  # refuses other rules
    has_several = bool(ways_of(several))
    rules = rules_of(clean) if clean else ()
    if references is None and isinstance(candidates, Captions | CaptionSets) and rules in ((), candidates.clean):
        if has_several == isinstance(candidates, CaptionSets):
            return candidates
        references = candidates.references
    given = _references_of_log(candidates) if references is None else read_references(references)
    rows = read_rows(candidates, "candidates", several=has_several, failures=True)
    if rows.failure is not None and match != "common":
        raise rows.failure
    table = absent_references(rows) if given is None else given
    if OF_BOTH_SIDES in rules:
        table = table.composed
    before = candidates.clean if isinstance(candidates, Captions | CaptionSets) else ()
    rows = replace(rows, texts=cleaned(rows.texts, rules)) if rules else rows
    clean = rules_of([*before, *rules]) if rules else before
    if rows.lists is not None:
        kept = [rows.texts[row] for row in places_of_lists(rows.texts)]
        if kept and not (lists and masks_of(("json",), kept)["json"].all()):
            raise rows.lists
    _check_positions(rows, table)
    written = _WrittenIds(rows.ids, table.ids, ids)
    table = table.by_rule(ids)
    candidate_ids, reference_ids = read_alike(by_rule(rows.ids, ids), table.ids)
    if candidate_ids is not rows.ids:
        rows = replace(rows, ids=tuple(candidate_ids), id_form="typed")
    if reference_ids is not table.ids:
        table = table.with_numbers_for_ids
    sets = _group_by_image(rows) if has_several else None
    row_of = dict(zip(rows.ids if sets is None else sets.ids, count(), strict=False))
    common = _matched(rows, table, row_of, match=match, written=written)
    image_rows = [row_of[image] for image in common.ids]
    n_common = len(image_rows)
    absent = len(table) - n_common
    advice = written.advice(n_common) if absent and len(row_of) > n_common else ""
    left_out: Any = {"n_references_left_out": absent, "subset": match == "common", "clean": clean, "ids_advice": advice}
    if sets is None:
        texts = tuple(map(rows.texts.__getitem__, image_rows))
        return Captions(texts, common, n_candidates_left_out=len(row_of) - n_common, **left_out)
    matched = replace(sets.select(image_rows), images=common.images)
    return CaptionSets(matched, common, n_candidates_left_out=len(sets.texts) - len(matched.texts), **left_out)


Matched = TypeVar("Matched", bound=Captions | CaptionSets)


def on_shared_images(tables: Mapping[str, Matched]) -> dict[str, Matched]:
    """Return the captions of systems on the images that all of them have, and count the others as left out.

    Args:
        tables: the captions of each system.

    Raises:
        UnknownImageError: there is no such image.
    """
    ids = next(iter(tables.values())).ids
    rows_of = {name: table.references.rows_of(ids) for name, table in tables.items()}
    shared = [rows for rows in zip(*rows_of.values(), strict=True) if None not in rows]
    if not shared:
        raise UnknownImageError(
            "no image has captions of all systems",
            where=", ".join(f"{name}: {counted(len(table), 'image')}" for name, table in tables.items()),
            hint="compare systems on the same images",
        )
    selected: dict[str, Matched] = {}
    for (name, table), rows in zip(tables.items(), zip(*shared, strict=True), strict=True):
        part: Any = table.select(rows)
        if part is not table:
            part = replace(part, n_unshared_left_out=part.n_unshared_left_out + len(table) - len(part))
        selected[name] = part
    return selected


@answers_other_keywords
def read_references(source: object) -> References:
    """Read references and group them by image, in order of first appearance.

    ``References`` are returned as they are. A file that ``captious prepare`` wrote is opened; see
    ``captious.data.prepared``.

    Args:
        source: a path or a Python object; ``read_rows`` lists the forms.

    Raises:
        InputError: what is wrong with the source, as ``read_rows`` does.
    """
    if isinstance(source, References):
        return source
    if isinstance(source, str | os.PathLike) and is_prepared(source):
        from captious.data.prepared import read_prepared

        table = read_prepared(source)
        if isinstance(source, CaptionFile):
            source.read_options.finish(table.name, "references")
        return table
    return _group_by_image(read_rows(source, "references"))


def _group_by_image(rows: CaptionRows) -> References:
    """Group rows by image, in order of first appearance."""
    row_of: dict[ImageId, int] = {}
    # Each row gets the number of the first row of its image; these are then numbered from 0.
    first_rows = np.fromiter(map(row_of.setdefault, rows.ids, count()), np.int64, len(rows.ids))
    is_first = first_rows == np.arange(len(first_rows))
    image_rows = (np.cumsum(is_first) - 1)[first_rows]
    by_image = np.argsort(image_rows, kind="stable")
    return References(
        ids=tuple(row_of),
        texts=tuple(map(rows.texts.__getitem__, by_image.tolist())),
        offsets=np.concatenate([[0], np.cumsum(np.bincount(image_rows))]),
        name=rows.name,
        id_form=rows.id_form,
        of=rows.of,
        without_references=tuple(dict.fromkeys(filterfalse(row_of.__contains__, rows.known_images))),
    )


def _references_of_log(candidates: object) -> References | None:
    """Return the references of a log whose layout is named and has some; None for everything else."""
    if not isinstance(candidates, CaptionFile) or candidates.layout is None:
        return None
    if not layout_named(candidates.layout).has_references:
        return None
    try:
        return read_references(candidates)
    except MissingReferencesError:
        return None


def absent_references(candidates: object) -> References:
    """Return the images of candidates without references, for metrics that need none.

    Args:
        candidates: a path or a Python object; ``read_rows`` lists the forms. An image may have several.

    Raises:
        InputError: invalid candidates.
    """
    rows = read_rows(candidates, "candidates", several=True)
    ids = tuple(dict.fromkeys(rows.ids))
    return References(
        ids, ("",) * len(ids), np.arange(len(ids) + 1), name=rows.name, id_form=rows.id_form, present=False
    )


@dataclass(frozen=True)
class _WrittenIds:
    """The ids of both sides as they were written, and the rule that was applied to them."""

    candidates: Sequence[ImageId]
    references: Sequence[ImageId]
    applied: Ids

    @property
    def hint(self) -> str:
        """The hint that names the rule by which all ids match; empty if there is none."""
        rule = rule_for(self.candidates, self.references, self.applied)
        return "" if rule is None else f"the ids are written differently; all of them match with {option('ids', rule)}"

    @property
    def difference(self) -> str:
        """The beginning of a hint, if the ids differ only in what rules leave out; else empty."""
        pair = differing(self.candidates, self.references)
        return "" if pair is None else f"the ids differ in {pair[0]!r} and {pair[1]!r}: "

    def advice(self, n_common: int) -> str:
        """Return the warning that names a rule by which twice as many images match; empty if there is none."""
        rule, n = most_matching(self.candidates, self.references, self.applied)
        if n < max(2 * n_common, 1):
            return ""
        return (
            f"{counted(n_common, 'image', 'are')} matched, and {n:,} would be with {option('ids', rule)}: the ids are "
            "written differently."
        )


def _matched(
    candidates: CaptionRows,
    references: References,
    having: Mapping[ImageId, object],
    *,
    match: Match,
    written: _WrittenIds,
) -> References:
    """Return the references of images with candidates; with ``match="all"``, these must be all images."""
    rows = [row for row, image in enumerate(references.ids) if image in having]
    if match == "all" and references.without_references:
        without = references.without_references
        raise MissingReferencesError(
            f"{counted_of(len(without), len(references) + len(without), references.of, 'have')} no references",
            where=f"{references.name}: {image_list(without)}",
            hint="add references or remove these images. To score the images that have them: "
            + option("match", "common"),
        )
    if not references.present and (not rows or (match == "all" and not len(having) == len(rows) == len(references))):
        raise UnknownImageError(
            "the systems do not have the same images",
            where=f"{references.name}: {image_list(references.ids)}; {candidates.name}: {image_list(candidates.ids)}",
            hint="compare systems on the same images; remove the others from both files",
        )
    if not rows:
        raise _nothing_in_common(candidates, references, written)
    if match == "common":
        return references.select(rows)
    if len(rows) < len(having):
        unknown = [image for image in candidates.ids if image not in references.rows_by_id]
        only = option("match", "common")
        raise UnknownImageError(
            f"{counted_of(len(unknown), len(candidates.ids), 'candidate', 'are')} for images that have no references",
            where=f"{candidates.name}: {image_list(dict.fromkeys(unknown))}",
            hint=written.hint or f"is this the right reference file? To score the images that both files share: {only}",
        )
    if len(rows) < len(references):
        missing = [image for image in references.ids if image not in having]
        help = f"does {candidates.name} contain every image? To score the images that both share: "
        help += option("match", "common")
        raise missing_candidates(references, missing, written.hint or help)
    return references


def _check_positions(candidates: CaptionRows, references: References) -> None:
    """Check that positions are on both sides and equal in number. Only then do they denote the same images."""
    by_position = [side.name for side in (candidates, references) if side.id_form == "position"]
    if len(by_position) == 1:
        raise ParameterError(
            "one side has image ids and the other only positions, so they cannot be matched",
            where=f"without ids: {by_position[0]}",
            hint=either(
                python="give both with ids, as {image_id: caption} and {image_id: [captions]}, or both as lists",
                command="give both with ids, such as .csv files with columns image_id and caption, or both as .txt "
                "files with a line for each image",
            ),
        )
    if not by_position:
        return
    n_candidates, n_references = len({*candidates.ids}), len(references) + len(references.without_references)
    if n_candidates != n_references:
        expected = counted(n_references, references.of)
        raise ParameterError(
            f"{counted(n_candidates, 'candidate')} by position, but references for {expected}",
            where=f"{candidates.name}, {references.name}",
            hint=either(
                python=f"give several references of an image in a list: {shortened([[*references.texts]])}"
                if n_candidates == 1 and len(references.texts) == n_references
                else "give lists of the same length, or both with ids, as {image_id: caption}",
                command="give as many lines in both files, or both with ids",
            ),
        )


def missing_candidates(references: References, missing: Sequence[ImageId], hint: str) -> MissingCandidatesError:
    """Return the error for images with references that have no candidate."""
    return MissingCandidatesError(
        f"{counted_of(len(missing), len(references), references.of, 'have')} references but no candidate",
        where=f"{references.name}: {image_list(missing)}",
        hint=hint,
    )


def _nothing_in_common(candidates: CaptionRows, references: References, written: _WrittenIds) -> UnknownImageError:
    """Return the error for two sides without a common image, usually because ids are written differently."""
    return UnknownImageError(
        f"none of the {counted(len(candidates.ids), 'candidate')} is for an image that has references"
        if len(candidates.ids) > 1
        else "the only candidate is for an image that has no references",
        where=f"{candidates.name}: {image_list(candidates.ids)}; {references.name}: {image_list(references.ids)}",
        hint=written.hint or written.advice(0) or f"{written.difference}is this the right reference file?",
    )
