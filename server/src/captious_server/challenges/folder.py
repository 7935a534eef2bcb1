"""``check_folder``: read the folder of a challenge with every file that it names, and report all problems at once.

The parts that have rules of their own stand first: baselines, the logo, Markdown, news and starter texts.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import stat
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import nh3
from markdown_it import MarkdownIt

from captious.data import ImageId, References, read_references
from captious.drawing import counted, counted_of, sample_of
from captious.errors import CaptiousError, InputError
from captious_server.challenges.definition import (
    FILE_SETTINGS,
    SETTINGS,
    SHARED_SETTINGS,
    ChallengeDefinition,
    PhaseDefinition,
    ReferencesDefinition,
    definition_from,
    metric_problems,
    tables,
)
from captious_server.challenges.downloads import known_pieces, pieces_of
from captious_server.challenges.problems import ChallengeError, at, one_line, place_of
from captious_server.submissions.upload import ExpectedFile, Problem, UploadLimits
from captious_server.submissions.upload_process import read_upload

if TYPE_CHECKING:
    from captious_server.models import Challenge

# Validation of baselines, which are read as uploads are before anything is loaded.
#
# Results are cached by content, so that saving a draft does not read all its baselines again.

_CACHE_SIZE = 100  # cached results


def baseline_problems(
    path: Path,
    phases: Sequence[str],
    definition: ChallengeDefinition,
    image_ids: Mapping[str, Sequence[ImageId]],
    limits: UploadLimits,
) -> Iterator[str]:
    """The reasons why phases would refuse a baseline, a sentence each.

    Args:
        path: file of the baseline.
        phases: names of the phases where it is submitted.
        image_ids: captions file -> its required images; missing if its references are wrong.
        limits: limits of uploads. Baselines may be constant, with captions of any number of words.

    Raises:
        CaptiousError: it cannot be read because of the machine.
    """
    captions_lists = [*dict.fromkeys(tuple(definition.phase(phase).captions) for phase in phases)]
    if path.suffix.lower() != ".zip":
        captions = next((captions for captions in captions_lists if len(captions) > 1), None)
        if captions is not None:
            yield f"must be a zip file with {', '.join(captions)}, which its phases take"
            return
        if len(captions_lists) > 1:
            yield "its phases take different captions files; add a baseline for each"
            return
    problems: dict[tuple[str, ...], tuple[str, ...]] = {}
    for names in captions_lists:
        if not all(image_ids[name] for name in names):
            continue
        patterns = {captions.name: captions.pattern for captions in definition.captions if captions.name in names}
        files = tuple((name, pattern, tuple(image_ids[name])) for name, pattern in patterns.items())
        with path.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        problems[names] = _problems(path, content, files, limits.of_baselines)
    hint = "" if all(problems.values()) else ". Name the phases that it is for"
    for names, phase_problems in problems.items():
        where = ", ".join(phase for phase in phases if tuple(definition.phase(phase).captions) == names)
        if len(captions_lists) == 1:
            yield from phase_problems
        elif phase_problems:
            yield f"{where} would refuse it: {'; '.join(phase_problems)}{hint}"


@lru_cache(maxsize=_CACHE_SIZE)
def _problems(
    path: Path, content: str, files: tuple[tuple[str, str, tuple[ImageId, ...]], ...], limits: UploadLimits
) -> tuple[str, ...]:
    """The problems that a baseline has as an upload.

    Args:
        content: a checksum of the file.
        files: captions files, each with the pattern of its name and its image ids.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        expected = [ExpectedFile(name, pattern, folder / f"{name}.ids") for name, pattern, _ in files]
        for file, (_, _, ids) in zip(expected, files, strict=True):
            file.ids_file.write_text(json.dumps(ids))
        problems = read_upload(path, path.name, expected, limits, folder)
    return tuple(_sentence(problem, path.name) for problem in problems)


def _image_list(ids: Iterable[ImageId]) -> str:
    """Image ids in messages; text is in quotes."""
    return f"image_id {sample_of([repr(image) for image in ids])}"


def _sentence(problem: Problem, name: str) -> str:
    file = "" if problem.file == name else f"{problem.file}: "
    ids = f" ({_image_list(problem.ids)}{', ...' if problem.n > len(problem.ids) else ''})" if problem.ids else ""
    return f"{file}{problem.message.removesuffix('.')}{ids}"


# The logo of a challenge: valid files and their media types.

_MAX_BYTES = 100 * 1024
#: Ending of the name -> media type.
LOGO_TYPES: Mapping[str, str] = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
}
_SVG = re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<svg[\s>]", re.DOTALL)
_SIGNATURES: Mapping[str, Callable[[bytes], bool]] = {
    "image/png": lambda content: content.startswith(b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": lambda content: content.startswith(b"\xff\xd8\xff"),
    "image/webp": lambda content: content[:4] == b"RIFF" and content[8:12] == b"WEBP",
    "image/svg+xml": lambda content: _SVG.match(content) is not None and b"<!ENTITY" not in content,
}


def logo_problem(path: Path) -> str:
    """The reason why a file cannot be a logo, without a full stop; empty if it can."""
    kind = LOGO_TYPES.get(path.suffix.lower())
    if kind is None:
        return f"a logo must be one of {', '.join(LOGO_TYPES)}"
    if path.stat().st_size > _MAX_BYTES:
        return f"a logo may have up to {_MAX_BYTES // 1024} KiB"
    if not _SIGNATURES[kind](path.read_bytes()):
        return f"its content is not {kind}, as its name says"
    return ""


# Markdown of organizers as HTML for a page: nothing in it can run, load or look like part of the page.
#
# CommonMark with tables. HTML within the text is sanitized like the rest: scripts, styles, frames, forms, classes, ids
# and event handlers are removed. Images come from https or from this site; search engines are told not to follow links.

_TAGS = {
    *("a", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "hr", "i", "img", "kbd", "li", "ol", "p"),
    *("pre", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"alt", "src", "title"},
    "ol": {"start"},
    "td": {"align"},
    "th": {"align", "scope"},
}
# Browsers ignore tabs and line breaks in addresses and read \ as /, so that neither may be in one.
_HTTPS = re.compile(r"https://[^\s\\/?#\x00-\x20][^\s\\\x00-\x20]*", re.IGNORECASE)
_LINK = re.compile(r"https?://|mailto:|[^:]*([/?#]|$)", re.IGNORECASE)
_SITE_PATH = re.compile(r"/(?!/)[^\s\\\x00-\x20]*")


def as_html(markdown: str, *, top_heading: int = 3) -> str:
    """Sanitized HTML of a Markdown text.

    Args:
        top_heading: level of the highest headings of the text, whether it writes them as ``#`` or ``##``; those below
            follow, down to 6.
    """
    markdown_it = MarkdownIt("commonmark", {"linkify": False, "typographer": False}).enable("table")
    environment: dict[str, object] = {}
    tokens = markdown_it.parse(markdown, environment)
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]
    shift = top_heading - min(levels, default=1)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1]) + shift, 6)}"
        elif token.type in {"th_open", "td_open"}:
            # An attribute for the alignment: pages allow no styles.
            style = str(token.attrs.pop("style", ""))
            if style.startswith("text-align:"):
                token.attrs["align"] = style.removeprefix("text-align:")
            if token.tag == "th":
                token.attrs["scope"] = "col"
    return nh3.clean(
        markdown_it.renderer.render(tokens, markdown_it.options, environment),
        tags=_TAGS | {f"h{level}" for level in range(top_heading, 7)},
        attributes=_ATTRIBUTES,
        attribute_filter=_filter,
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener",
    )


def _filter(tag: str, attribute: str, value: str) -> str | None:
    """An attribute's value, or None to remove it."""
    if tag == "img" and attribute == "src":
        return value if _HTTPS.fullmatch(value) or _SITE_PATH.fullmatch(value) else None
    if attribute == "href":
        return value if _LINK.match(value) else None
    if attribute in {"align", "scope"}:
        return value if value in {"left", "right", "center", "col", "row"} else None
    return value


# News of a challenge as HTML.

_MAX_NEWS = 20


def news_of(challenge: Challenge) -> list[dict[str, Any]]:
    """The latest news as pages show them."""
    rows = challenge.news.all()[:_MAX_NEWS]
    return [{"row": row, "anchor": f"news-{row.pk}", "html": news_html(row.text)} for row in rows]


@lru_cache(maxsize=128)
def news_html(text: str) -> str:
    """News as HTML, cached for repeated visits."""
    return str(as_html(text, top_heading=4))


# The starter texts of a new challenge, and warnings about parts that were not replaced.

#: The folder of a new challenge, with placeholders.
STARTER = Path(__file__).parents[1] / "challenge_folders" / "starter"


def starter_warnings(texts: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each text that still asks organizers to describe something.

    Args:
        texts: name of a text -> the text.
    """
    for name, text in texts.items():
        if remains := [f"“{sentence} …”" for sentence in _placeholders() if sentence in text]:
            yield f"The {name} still has the words of the starter: {'; '.join(remains)}."


@cache
def _placeholders() -> list[str]:
    """The beginnings of the placeholder sentences."""
    sentences = (re.findall(r"Describe [^.:$]+", file.read_text(encoding="utf-8")) for file in STARTER.iterdir())
    return [" ".join(sentence.split()) for matches in sentences for sentence in matches]


# The check of the whole folder.

#: The file that describes a challenge.
FILE_NAME = "challenge.toml"
#: Names of challenges in addresses.
SLUG = re.compile(r"[a-z0-9-]{1,80}")


@dataclass(frozen=True)
class CheckedChallenge:
    """A challenge that can be loaded.

    Args:
        definition: contents of challenge.toml.
        folder: folder of its files.
        slug: name in addresses.
        references: (captions file, reference set) -> the references. Ids that are numbers in text are numbers.
        image_ids: captions file -> the images that a submission must describe: those of all its reference sets, in
            order of first appearance.
        texts: file -> Markdown.
        checksums: sha256 of every file that the challenge uses, by its path in the folder.
        warnings: valid content that may be a mistake.
    """

    definition: ChallengeDefinition
    folder: Path
    slug: str
    references: Mapping[tuple[str, str], References]
    image_ids: Mapping[str, tuple[ImageId, ...]]
    texts: Mapping[str, str]
    checksums: Mapping[str, str]
    warnings: tuple[str, ...] = ()


#: (captions file, reference set) -> the seed of its share.
Seeds: TypeAlias = Mapping[tuple[str, str], int]


def _no_seeds(slug: str) -> Seeds:
    return {}


def check_folder(
    path: Path,
    limits: UploadLimits | None = None,
    problems: Sequence[str] = (),
    *,
    seeds: Callable[[str], Seeds] = _no_seeds,
) -> CheckedChallenge:
    """Read a challenge folder and check everything that can be checked before submissions come.

    Args:
        limits: limits for reading a baseline, from the settings of a server; by default, their defaults.
        problems: known problems. Their metrics and settings are not inspected, because
            these may name files that must not be read.
        seeds: those that were drawn before for the challenge with this slug, so that no share is drawn anew.

    Raises:
        ChallengeError: every problem, each with the key or file that it is about.
    """
    data = _toml_values(path)
    check = _Check(path.resolve(), problems)
    definition: ChallengeDefinition | None = None
    try:
        definition = definition_from(data, str(path))
    except ChallengeError as error:
        check.problems += error.problems
    slug = definition.slug if definition is not None and definition.slug is not None else check.folder.name
    if "slug" not in data and SLUG.fullmatch(slug) is None:
        check.problems.append(
            f"slug: is required, because the folder's name {slug!r} has other characters than a-z, 0-9 and hyphens"
        )
    check.file(FILE_NAME, FILE_NAME)
    check.read_files(data)
    check.metrics(data)
    if definition is not None:
        definition = _with_seeds(definition, seeds(slug))
        check.parts(definition)
        image_ids = {captions.name: check.image_ids(definition, captions.name) for captions in definition.captions}
        check.baselines(definition, image_ids, limits or UploadLimits())
        check.downloads(definition)
        check.image_urls(definition, image_ids)
        titles = {f"text {row.title!r}": check.texts.get(row.file, "") for row in definition.texts}
        check.warnings += starter_warnings({"summary": definition.summary, **titles})
        check.warnings += check.revealed(definition)
        check.warnings += _crowded(definition)
    if check.problems or definition is None:
        raise ChallengeError(check.problems, str(path))
    return CheckedChallenge(
        definition=definition,
        folder=path,
        slug=slug,
        references={(row.captions, row.name): check.references[i] for i, row in enumerate(definition.references)},
        image_ids=image_ids,
        texts=check.texts,
        checksums=check.checksums,
        warnings=tuple(check.warnings),
    )


def _with_seeds(definition: ChallengeDefinition, known: Seeds) -> ChallengeDefinition:
    """The definition with a seed for each share: the one that it states, the known one, or a new one."""
    rows = [
        row.model_copy(update={"seed": known.get((row.captions, row.name), secrets.randbits(62))})
        if isinstance(row.images, float) and row.seed is None
        else row
        for row in definition.references
    ]
    return definition.model_copy(update={"references": tuple(rows)})


def _crowded(definition: ChallengeDefinition) -> Iterator[str]:
    """A warning for each competition, a phase that closes, in which a team can have many entries."""
    for position, phase in enumerate(definition.phases):
        if phase.closes is not None and phase.entries == "all":
            yield (
                f"{at(('phases', position))}: every anonymous submission is an entry of its own and can change the "
                'ranks of others; entries = "one" allows a team one entry'
            )


def read_reference_set(folder: Path, definition: ChallengeDefinition, row: ReferencesDefinition) -> References:
    """The references of a set, under the name of its file. Ids that are numbers in text are numbers.

    Raises:
        CaptiousError: as ``captious.read_references``, or the set has no images.
    """
    return _part(_read_references(folder / row.file, row.file), folder, definition, row)


def _part(table: References, folder: Path, definition: ChallengeDefinition, row: ReferencesDefinition) -> References:
    """The references of the images that a set has, of those in its file."""
    if row.rest_of:
        name = row.captions, row.rest_of
        other = next(other for other in definition.references if (other.captions, other.name) == name)
        left_out = {*_part(table, folder, definition, other).ids}
        chosen = {*table.ids} - left_out
    elif isinstance(row.images, float):
        by_chance = sorted(table.ids, key=lambda image: hashlib.sha256(f"{row.seed} {image}".encode()).digest())
        chosen = {*by_chance[: round(row.images * len(by_chance))]}
    elif row.images:
        names = {*(folder / row.images).read_text(encoding="utf-8").split()}
        chosen = {image for image in table.ids if str(image) in names}
        if unknown := names - {*map(str, chosen)}:
            raise InputError(f"{row.images} has ids that {row.file} does not have: {sample_of(sorted(unknown))}")
    else:
        return table
    if not chosen:
        raise InputError(f"the reference set {row.name} has no images")
    return table.select([image in chosen for image in table.ids])


def _read_references(path: Path, name: str) -> References:
    table = replace(read_references(path), name=name)
    if table.id_form == "text" and all(isinstance(image, int) for image in table.with_numbers_for_ids.ids):
        return table.with_numbers_for_ids  # a format may write ids as text only
    return table


def _toml_values(path: Path) -> dict[str, Any]:
    """The contents of the challenge.toml of a folder.

    Raises:
        ChallengeError: it is not there, or not TOML.
    """
    try:
        return tomllib.loads((path / FILE_NAME).read_bytes().decode())
    except FileNotFoundError:
        hint = f"there is no {FILE_NAME} in this folder; create one with captious challenge init FOLDER"
        problem = hint if path.is_dir() else "there is no such folder"
    except NotADirectoryError:
        problem = "give the folder, not the file"
    except UnicodeDecodeError as error:
        problem = f"{FILE_NAME}: line {_line_of(error):,} is not UTF-8 text"
    except tomllib.TOMLDecodeError as error:
        problem = f"{FILE_NAME}: {error}"
    except (OSError, RecursionError) as error:
        problem = f"{FILE_NAME} cannot be read: {_reason(error)}"
    raise ChallengeError([problem], str(path))


def _line_of(error: UnicodeDecodeError) -> int:
    return error.object.count(b"\n", 0, error.start) + 1


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


class _Check:
    """A folder while it is being read: its files, and the problems and warnings so far.

    Args:
        folder: resolved path.
        problems: known problems, as for ``check_folder``.

    Attributes:
        checksums, texts: those of readable files, by their path in the folder.
        references, baseline_files: position in the definition -> captions, path.
    """

    def __init__(self, folder: Path, problems: Sequence[str]) -> None:
        self.folder = folder
        self._known_places = {place_of(problem) for problem in problems}
        self.problems: list[str] = [*problems]
        self.warnings: list[str] = []
        self.checksums: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.references: dict[int, References] = {}
        self.baseline_files: dict[int, Path] = {}

    def file(self, place: str, name: str) -> Path | None:
        """A file of the folder, whose checksum is stored; None, with a problem, if it cannot be read."""
        path = self.folder / name
        try:
            if Path(name).is_absolute() or not path.resolve().is_relative_to(self.folder):
                problem = f"{name} is outside the folder"
            elif ".." in Path(name).parts:  # the parent folder may be missing in a copy
                problem = f"{name} must not contain '..'"
            elif not stat.S_ISREG(path.stat().st_mode):
                problem = f"{name} is not a file"
            else:
                with path.open("rb") as file:
                    self.checksums[Path(name).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
                return path
        except FileNotFoundError:
            problem = f"there is no file {name}"
        except ValueError:  # a null character, reported as a problem of the definition
            return None
        except (OSError, RuntimeError) as error:
            problem = f"{name!r} cannot be read: {_reason(error)}"
        self.problems.append(f"{place}: {problem}")
        return None

    def read_files(self, data: Mapping[str, Any]) -> None:
        """Read all files named in challenge.toml, even if other keys are invalid."""
        for _, place, name, path in self._named_files(data, "texts"):
            try:
                self.texts[name] = path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode()
            except UnicodeDecodeError as error:
                self.problems.append(f"{place}: {name} is not UTF-8 text, in line {_line_of(error):,}")
        for position, place, name, path in self._named_files(data, "references"):
            try:
                self.references[position] = _read_references(path, name)
                self._inspect(place, self.references[position])
            except CaptiousError as error:
                self.problems.append(f"{place}: {one_line(error, self.folder)}")
        for position, _, _, path in self._named_files(data, "baselines"):
            self.baseline_files[position] = path
        for _ in self._named_files(data, "downloads"):
            pass  # for their checksums
        logo = data.get("logo")
        logo_file = self.file("logo", logo) if isinstance(logo, str) and logo else None
        if logo_file is not None and (problem := logo_problem(logo_file)):
            self.problems.append(f"logo: {problem}")

    def _named_files(self, data: Mapping[str, Any], key: str) -> Iterator[tuple[int, str, str, Path]]:
        """The files of a list of tables: position, place, name and path of those that are there."""
        for position, table in tables(data, key):
            name, place = table.get("file"), at((key, position, "file"))
            if isinstance(name, str) and name and (path := self.file(place, name)) is not None:
                yield position, place, name, path

    def parts(self, definition: ChallengeDefinition) -> None:
        """Reduce reference sets to their images."""
        for position, row in enumerate(definition.references):
            if position not in self.references:
                continue
            place, is_file = at(("references", position)), isinstance(row.images, str) and row.images
            if is_file and self.file(f"{place}.images", str(row.images)) is None:
                continue
            try:
                self.references[position] = _part(self.references[position], self.folder, definition, row)
            except (InputError, UnicodeDecodeError) as error:
                self.problems.append(f"{place}: {one_line(error, self.folder)}")

    def _inspect(self, place: str, table: References) -> None:
        empty = [
            image
            for image, (start, end) in zip(table.ids, pairwise(table.offsets.tolist()), strict=True)
            if not all(map(str.strip, table.texts[start:end]))
        ]
        if empty:
            self.problems.append(
                f"{place}: {counted(len(empty), 'image')} of {len(table):,} with an empty reference "
                f"({_image_list(empty)})"
            )
        if table.without_references:
            n = len(table.without_references)
            self.warnings.append(
                f"{place}: left out {counted(n, 'image')} without references ({_image_list(table.without_references)})"
            )
        if len(table.texts) == len(table):
            self.warnings.append(f"{place}: every image has only one reference; are these the references?")

    def metrics(self, data: Mapping[str, Any]) -> None:
        """Check that the metrics can run here, if they and their settings are text."""
        metrics, settings = data.get("metrics"), data.get("settings", {})
        if not isinstance(settings, dict):
            return
        text_settings = {name: text for name, text in settings.items() if name in SETTINGS and isinstance(text, str)}
        values = {
            name: text for name, text in text_settings.items() if at(("settings", name)) not in self._known_places
        }
        for name in FILE_SETTINGS:
            if name in values and not self._has_setting(name, values[name]):
                del values[name]
        texts = [
            text if isinstance(text, str) and at(("metrics", position)) not in self._known_places else ""
            for position, text in enumerate(metrics if isinstance(metrics, list) else [])
        ]
        places = {*map(place_of, self.problems)}
        problems = metric_problems(texts, self.folder, values, unusable=text_settings.keys() - values.keys())
        self.problems += [problem for problem in problems if place_of(problem) not in places]

    def _has_setting(self, name: str, value: str) -> bool:
        """Store checksums of files that a setting names; return whether the setting may be used."""
        place, path = at(("settings", name)), self.folder / value
        if Path(value).is_absolute() and name in SHARED_SETTINGS:
            return True
        if Path(value).is_absolute() or (path.is_dir() and not path.resolve().is_relative_to(self.folder)):
            self.problems.append(f"{place}: {value} is outside the folder")
            return False
        if path.is_dir():
            files = sorted(file.relative_to(self.folder) for file in path.rglob("*") if not file.is_dir())
            return all([self.file(place, str(file)) is not None for file in files])
        if path.is_file() or ".." in Path(value).parts:
            return self.file(place, value) is not None
        if Path(value).exists():  # relative to the current folder, but the server runs elsewhere
            self.problems.append(f"{place}: there is no file {value} in the folder")
            return False
        return True

    def image_ids(self, definition: ChallengeDefinition, captions: str) -> tuple[ImageId, ...]:
        """The images of a captions file, if its reference sets agree on the type of ids."""
        first_set: tuple[ReferencesDefinition, References] | None = None
        image_ids: list[ImageId] = []
        is_wrong = False
        for position, row in enumerate(definition.references):
            if row.captions != captions or position not in self.references:
                continue
            table, place = self.references[position], at(("references", position, "file"))
            image_ids += table.ids
            if len(_types(table.ids)) > 1:
                self.problems.append(f"{place}: some image ids are numbers and others text; use one type for all")
                is_wrong = True
            elif first_set is None:
                first_set = (row, table)
            elif _types(table.ids) != _types(first_set[1].ids):
                self.problems.append(
                    f"{place}: image ids are {_form(table)}, but those of {first_set[0].name} are {_form(first_set[1])}"
                )
                is_wrong = True
            elif row.file != first_set[0].file and set(table.ids).isdisjoint(first_set[1].ids):
                self.problems.append(
                    f"{place}: no image is also in {first_set[0].name}; the reference sets of one captions file must "
                    "have images in common"
                )
        return () if is_wrong else tuple(dict.fromkeys(image_ids))

    def baselines(
        self, definition: ChallengeDefinition, image_ids: Mapping[str, tuple[ImageId, ...]], limits: UploadLimits
    ) -> None:
        """Check that baselines can be submitted to their phases."""
        for position, path in self.baseline_files.items():
            place, phases = at(("baselines", position, "file")), definition.baselines[position].phases
            sentences = baseline_problems(path, phases, definition, image_ids, limits)
            self.problems += [f"{place}: {problem}" for problem in sentences]

    def downloads(self, definition: ChallengeDefinition) -> None:
        """Check that no file to download has most texts of private references, under any name, also compressed."""
        if not definition.downloads:
            return
        public = {captions.name for captions in definition.captions if captions.public}
        shown: set[str] = set()
        private: dict[int, set[str]] = {}
        for position, table in self.references.items():
            if definition.references[position].captions in public:
                shown.update(pieces_of(table.texts))
            else:
                private[position] = {*pieces_of(table.texts)}
        wanted = set[str]().union(*private.values()) - shown
        for place, row in enumerate(definition.downloads):
            checksum = self.checksums.get(Path(row.file).as_posix())
            known = set[str]() if checksum is None else known_pieces(self.folder / row.file, wanted)
            for position, pieces in private.items():
                secret = pieces & wanted
                is_same = checksum == self.checksums[Path(definition.references[position].file).as_posix()]
                if is_same or len(secret & known) > len(secret) / 2:
                    name = at(("references", position))
                    self.problems.append(f"{at(('downloads', place, 'file'))}: has the private references of {name}")

    def revealed(self, definition: ChallengeDefinition) -> Iterator[str]:
        """A warning for each phase or reference set that is withheld or private, but can be had elsewhere."""
        public = {captions.name for captions in definition.captions if captions.public}
        sets = [*enumerate(definition.references)]
        shown_sets = [row for row in sets if row[1].captions in public]
        where = "in a public captions file, with the same references"
        copies = [(at(("references", row[0])), [row], shown_sets, where) for row in sets if row not in shown_sets]
        hidden = []
        for position, phase in enumerate(definition.phases):
            if phase.scores_shown != "at-once":
                hidden.append((at(("phases", position)), [row for row in sets if row[1].captions in phase.captions]))
                for captions in sorted(public.intersection(phase.captions)):
                    yield (
                        f"{hidden[-1][0]}: NOTHING IS HIDDEN: {captions!r} is public, so everybody has its references."
                    )
        held = [row for row in sets if row[1].scores_shown == "at-end"]
        hidden += [(at(("references", row[0])), [row]) for row in held]
        shown = [phase for phase in definition.phases if phase.scores_shown == "at-once"]
        for phase in shown:
            known_sets = [row for row in sets if row[1].captions in phase.captions and row not in held]
            where = f"in the phase {phase.name!r}, with the same references, and that one shows scores at once"
            copies += [(place, rows, known_sets, where) for place, rows in hidden]
        for place, rows, known_sets, where in copies:
            own, known = self._references_of(rows), self._references_of(known_sets)
            if n := sum(not texts.isdisjoint(known.get(image, ())) for image, texts in own.items()):
                images = f"{counted_of(n, len(own), 'image')} {'is' if n == 1 else 'are'}"
                yield f"{place}: NOTHING IS HIDDEN: {images} also {where}. Give it other images."

    def _references_of(self, rows: Iterable[tuple[int, ReferencesDefinition]]) -> dict[ImageId, set[str]]:
        """The images of reference sets, with their references."""
        texts: dict[ImageId, set[str]] = {}
        for table in (self.references[position] for position, _ in rows if position in self.references):
            for image, (start, end) in zip(table.ids, pairwise(table.offsets.tolist()), strict=True):
                texts.setdefault(image, set()).update(table.texts[start:end])
        return texts

    def image_urls(self, definition: ChallengeDefinition, image_ids: Mapping[str, tuple[ImageId, ...]]) -> None:
        """Check that the address template accepts every id."""
        bad_ids = []
        for image in (image for ids in image_ids.values() for image in ids):
            try:
                is_wrong = definition.url_of(image).startswith("//")
            except ValueError:
                is_wrong = True
            if is_wrong:
                bad_ids.append(repr(image))
        if bad_ids:
            self.problems.append(f"image_url: takes no text, but there are image ids such as {sample_of(bad_ids)}")


def _types(ids: tuple[ImageId, ...]) -> set[type]:
    return set(map(type, ids))


def _form(table: References) -> str:
    return f"{'numbers' if _types(table.ids) == {int} else 'text'} ({_image_list(table.ids[:1])})"


# A summary of a checked challenge: rows of a heading and a text, for the command line and for drafts.


def summary_rows(challenge: CheckedChallenge) -> Iterator[tuple[str, str]]:
    """The rows of a summary, each a heading and a text; related rows share a heading."""
    definition = challenge.definition
    yield "challenge", f"{definition.title} ({challenge.slug})"
    yield "pages", "public" if definition.access == "public" else "for participants only"
    yield "organizers", ", ".join(definition.organizers) or "none: only administrators"
    for text in definition.texts:
        yield "texts", f"{text.title}: {text.file}"
    for download in definition.downloads:
        yield "downloads", f"{download.title}: {download.file}"
    if definition.logo:
        yield "logo", definition.logo
    if definition.team_approval:
        yield "teams", "approved by the organizers"
    if definition.mail_domains:
        yield "teams", f"members with a confirmed address at {' or '.join(definition.mail_domains)}"
    if definition.team_size:
        yield "teams", f"at most {counted(definition.team_size, 'member')}"
    if definition.teams_close is not None:
        yield "teams", f"close {_time(definition.teams_close)}"
    if definition.terms:
        yield "terms", definition.terms
    for captions in definition.captions:
        access = "public" if captions.public else "not public"
        images = counted(len(challenge.image_ids[captions.name]), "image")
        yield "captions", f"{captions.name}: {images}, {access}"
    for references in definition.references:
        table = challenge.references[references.captions, references.name]
        label = definition.label(references.captions, references.name)
        counts = f"{counted(len(table.texts), 'caption')} of {counted(len(table), 'image')}"
        counts += f", {len(table.texts) / len(table):.1f} each"
        yield "references", f"{label}: {counts}, {references.file}"
    for phase in definition.phases:
        yield "phases", _phase(phase)
    yield "metrics", ", ".join(definition.outputs)
    yield (
        "ranked by",
        ", ".join([definition.rank_by, *definition.tie_breaks])
        + ("" if definition.ranks == "tests" else ", without tests"),
    )
    for name, value in definition.settings.items():
        yield "settings", f"{name}: {value}"
    for baseline in definition.baselines:
        human = ", human" if baseline.human else ""
        yield "baselines", f"{baseline.method}: {baseline.file}, in {', '.join(baseline.phases)}{human}"
    yield "files", f"{len(challenge.checksums):,}"


def _phase(phase: PhaseDefinition) -> str:
    dates = {"opens": phase.opens, "closes": phase.closes}
    times = ", ".join(f"{verb} {_time(date)}" for verb, date in dates.items() if date is not None)
    limits = {
        "scored per day": phase.scored_per_day,
        "scored in total": phase.scored_in_total,
        "attempts per day": phase.attempts_per_day,
    }
    quotas = ", ".join(f"{limit:,} {name}" for name, limit in limits.items() if limit) or "no limits"
    parts = [f"{phase.name}: {', '.join(phase.captions)}", times or "always open", quotas, _board(phase)]
    return "; ".join(parts + ["one entry of each team"] * (phase.entries == "one"))


def _board(phase: PhaseDefinition) -> str:
    """Who sees the leaderboard and scores, and when; a public leaderboard is not shown before its scores."""
    if phase.scores_shown == "never":
        return "leaderboard and scores for organizers only"
    if phase.scores_shown == "at-end":
        time = "when the phase has closed"
        return f"leaderboard public {time}" if phase.board == "public" else f"leaderboard hidden, scores {time}"
    return f"leaderboard {phase.board}"


def _time(date: datetime) -> str:
    return f"{date:%Y-%m-%d %H:%M:%S} UTC"
