"""Import of challenges from other platforms: bundles of Codabench, CodaLab and EvalAI become challenge folders."""

from __future__ import annotations

import re
import shutil
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import tomlkit
import yaml
from django.utils.text import slugify

from captious.data import read_references
from captious.drawing import shortened
from captious.errors import CaptiousError, InputError, shown
from captious_server.challenges.definition import directions_of, installed_metrics, moment
from captious_server.challenges.folder import FILE_NAME
from captious_server.challenges.starter import STARTER_METRICS, new_folder, slug_line

CODABENCH, EVALAI = ("competition.yaml", "competition.yml"), ("challenge_config.yaml", "challenge_config.yml")
# The files of a bundle of Codabench, CodaLab or EvalAI: a zip file, its folder, or the YAML file in it.

_MAX_BYTES = 4 << 30


class _Loader(yaml.SafeLoader):
    """A loader of plain values, which gives the place of an impossible date."""

    def construct_yaml_timestamp(self, node: yaml.ScalarNode) -> Any:
        try:
            return super().construct_yaml_timestamp(node)
        except ValueError as error:
            problem = f"{node.value} is not a date: {error}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None

    def construct_text(self, node: yaml.ScalarNode) -> Any:
        return self.construct_scalar(node)


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_yaml_timestamp)
# CodaLab wrote text in this way with Python 2.
_Loader.add_constructor("tag:yaml.org,2002:python/unicode", _Loader.construct_text)


def open_bundle(bundle: Path, scratch: Path) -> tuple[Path, dict[str, Any]]:
    """The YAML file of a bundle, next to the other files, and its contents."""
    names = (*CODABENCH, *EVALAI)
    if not bundle.exists():
        raise InputError(f"cannot read {bundle}", where="there is no such file")
    try:
        folder = bundle if bundle.is_dir() else bundle.parent
        if bundle.is_file() and zipfile.is_zipfile(bundle):
            folder = scratch / "bundle"
            unpack(bundle, folder)
        paths = [path for name in names for path in (*folder.glob(name), *folder.glob(f"*/{name}"))]
        if bundle.is_file() and folder == bundle.parent:
            paths = [bundle] if bundle.name in names else []
        if not paths:
            raise InputError(
                f"{bundle} is not a bundle",
                hint=f"give a zip file or folder with {CODABENCH[0]} (Codabench) or {EVALAI[0]} (EvalAI)",
            )
        with paths[0].open("rb") as file:
            values = yaml.load(file, _Loader)
    except (OSError, zipfile.BadZipFile, yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"cannot read {bundle}", where=" ".join(str(error).split())) from error
    if not isinstance(values, dict):
        raise InputError(f"{bundle} is not a bundle", where=f"{paths[0].name} has no keys")
    return paths[0], values


def unpack(archive: Path, target: Path) -> None:
    with zipfile.ZipFile(archive) as zip_file:
        if sum(info.file_size for info in zip_file.infolist()) > _MAX_BYTES:
            raise InputError(f"{archive} unpacks to more than 4 GiB", hint="unpack it and give the folder")
        zip_file.extractall(target)


# Normalization of values in bundles: lists, names of metrics, dates, and pages in HTML.

#: Name of a metric in columns -> name in captious. The COCO toolkit's CIDEr is CIDEr-D.
_ALIASES = {"cider": "cider-d", "rouge": "rouge-l", "rougel": "rouge-l"}
_BLEU = re.compile(r"b(?:leu)?[-@]?([1-4])")
#: As in Codabench's examples: the month first, unless only the day is possible.
_MONTH_FIRST = re.compile(r"(\d{1,2})[-/](\d{1,2})[-/](\d{4})(.*)", re.DOTALL)


def tables(value: Any) -> list[dict[str, Any]]:
    """The mappings in a list or, in CodaLab's form, in another mapping."""
    rows = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, dict)]


def as_line(value: Any) -> str:
    """A value as one line of text, of up to 200 characters."""
    return " ".join(str(value or "").split())[:200]


def metric_of(label: str) -> str:
    """The metric that a column is named after; empty if captious has none."""
    name = re.sub(r"[\s_-]+", "-", label.strip().lower())
    bleu = _BLEU.fullmatch(name)
    name = f"bleu-{bleu[1]}" if bleu is not None else _ALIASES.get(name, name)
    try:
        directions_of(name)
    except (CaptiousError, ValueError):
        return ""
    return name


def year_first(text: str) -> str:
    """Convert a date that begins with the month, or a day above 12, to one that begins with the year."""
    match = _MONTH_FIRST.fullmatch(text)
    if match is None:
        return text
    first, second, year, tail = int(match[1]), int(match[2]), match[3], match[4]
    month, day = (second, first) if first > 12 else (first, second)
    return f"{year}-{month:02}-{day:02}{tail}"


def as_markdown(file: Path) -> str:
    """A page as Markdown. HTML is valid Markdown once it is not indented, which would mark it as code."""
    text = file.read_bytes().decode(errors="replace").removeprefix("\ufeff")
    if file.suffix.lower() not in {".html", ".htm"}:
        return text
    body = re.sub(r"(?is)<(head|style|script)\b.*?</\1\s*>|<!doctype[^>]*>|</?(html|body)\b[^>]*>", "", text)
    return "\n".join(line.lstrip() for line in body.splitlines()).strip() + "\n"


# The reference data of a bundle by phase, and the files in it that may be captions.

_CAPTIONS_SUFFIXES = {".json", ".jsonl", ".csv", ".tsv"}


def reference_data(
    values: Mapping[str, Any], phases: Sequence[Mapping[str, Any]]
) -> tuple[list[str | None], list[str]]:
    """The reference data of each phase by its name in the bundle, and a sentence about each omission.

    Codabench has it in the tasks of a phase. A phase without any uses that of the first phase with some.
    """
    rows = tables(values.get("tasks"))
    tasks = {str(task.get("index", place)): task for place, task in enumerate(rows)}
    data: list[str | None] = []
    omissions: list[str] = []
    for phase in phases:
        numbers = [str(number) for number in phase["tasks"]] if isinstance(phase.get("tasks"), list) else []
        values_of_phase = [tasks[number].get("reference_data") for number in numbers if number in tasks]
        values_of_phase += [phase.get("reference_data"), phase.get("test_annotation_file")]
        names = [*dict.fromkeys(str(name) for name in values_of_phase if name)]
        data.append(names[0] if names else None)
        if names[1:]:
            omissions.append(f"of the phase {as_line(phase.get('name'))}: the reference data {', '.join(names[1:])}")
    task_data = [str(task["reference_data"]) for task in rows if task.get("reference_data")]
    default = next((name for name in [*data, *task_data] if name), None)
    return [name or default for name in data], omissions


def captions_files(data: Path | None, scratch: Path) -> list[Path]:
    """The files of reference data; for an archive or a folder, those that may be captions.

    Args:
        data: the file or folder; None if it is not there.
        scratch: a folder for unpacked files.
    """
    if data is None:
        return []
    if data.is_file() and zipfile.is_zipfile(data):
        place = Path(tempfile.mkdtemp(dir=scratch))
        unpack(data, place)
        data = place
    if data.is_dir():
        return sorted(path for path in data.rglob("*") if path.suffix in _CAPTIONS_SUFFIXES and path.is_file())
    return [data]


# Competitions of Codabench and challenges of EvalAI as challenge folders.
#
# Imported: title, texts, terms, phases with dates and limits, metrics that captious has, decimal places, which
# leaderboards are public, and references in a format that captious reads. Everything else is listed, so that organizers
# know which parts to replace. Keys are those of Codabench's ``competition.yaml``, of CodaLab's before it, and of
# EvalAI's ``challenge_config.yaml``.


def import_bundle(bundle: Path, folder: Path, references: Path | None = None) -> tuple[list[str], list[str]]:
    """Convert a competition of Codabench or CodaLab, or a challenge of EvalAI, to a challenge folder.

    Args:
        bundle: zip file or folder of the bundle, or its YAML file.
        folder: a folder that does not exist yet, or an empty one.
        references: a file with references; by default, the one in the bundle, if captious can read it.

    Returns:
        The files of the folder, and a sentence about each part that was left out.

    Raises:
        InputError: the bundle cannot be read.
        OutputError: the folder cannot be written; nothing is left behind.
    """
    with tempfile.TemporaryDirectory() as scratch:
        file, values = open_bundle(bundle, Path(scratch))
        reader = _Bundle(file, values, Path(scratch))
        with new_folder(folder) as target:
            reader.write(target, folder.resolve().name, references)
            files = sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file())
    return files, reader.omissions


class _Bundle:
    """A bundle while it is being read.

    Args:
        file: YAML file of the bundle; paths are relative to its folder.
        values: contents of the YAML file.
        scratch: a folder for unpacked files.

    Attributes:
        omissions: parts that were left out, a sentence each.
    """

    def __init__(self, file: Path, values: Mapping[str, Any], scratch: Path) -> None:
        self._root, self._values, self._scratch = file.parent.resolve(), values, scratch
        self._is_evalai = file.name in EVALAI
        self._used = {"title", "description", "version", "phases", "challenge_phases", "leaderboard", "leaderboards"}
        self.omissions: list[str] = []

    def write(self, target: Path, name: str, references: Path | None) -> None:
        """Write challenge.toml and the files that it names."""
        title = self._text("title") or name
        values: dict[str, Any] = {"title": " ".join(title.split())[:200]}
        if line := slug_line(name):
            values |= tomllib.loads(line)
        values["summary"] = self._summary()
        texts, terms = self._texts(target)
        values |= {"terms": terms} if terms else {}
        values |= self._approval()
        values |= self._metrics()
        values["texts"] = texts
        values["phases"] = self._phases()
        values |= self._references(target, values["phases"], references)
        self._name_the_rest()
        (target / FILE_NAME).write_text(_HEADER + tomlkit.dumps(values), encoding="utf-8")

    def _text(self, key: str) -> str:
        self._used.add(key)
        value = self._values.get(key)
        return value.strip() if isinstance(value, str) else ""

    def _summary(self) -> str:
        text = self._text("short_description") if self._is_evalai else self._text("description")
        return " ".join(re.sub(r"<[^>]*>", " ", text).split())[:500]

    def _texts(self, target: Path) -> tuple[list[dict[str, str]], str]:
        """The pages, and the title of the page with the terms."""
        pages: list[tuple[str, Any]] = []
        if self._is_evalai:
            keys = {
                "description": "Overview",
                "evaluation_details": "Evaluation",
                "submission_guidelines": "Submissions",
                "leaderboard_description": "Leaderboard",
                "terms_and_conditions": "Terms",
            }
            pages = [(title, self._text(key)) for key, title in keys.items() if self._text(key)]
        else:
            self._used |= {"pages", "html", "terms"}
            pages = [
                (as_line(row.get("title")) or "Page", row.get("file")) for row in tables(self._values.get("pages"))
            ]
            html = self._values.get("html")
            pages += [(str(key).capitalize(), file) for key, file in (html if isinstance(html, dict) else {}).items()]
            terms_file = self._text("terms")
            if terms_file and terms_file in (file for _, file in pages):
                pages = [("Terms" if file == terms_file else title, file) for title, file in pages]
            elif terms_file:
                terms_pages = [file for title, file in pages if title.lower() == "terms"]
                self.omissions += [f"the page Terms: the terms are {terms_file}" for _ in terms_pages]
                pages = [*((title, file) for title, file in pages if title.lower() != "terms"), ("Terms", terms_file)]
        rows: list[dict[str, str]] = []
        terms = ""
        for title, file in pages:
            path = self._file(file)
            if path is None and title != "Leaderboard":  # a text of EvalAI
                self.omissions.append(f"the page {title}: there is no file {file}")
                continue
            title = _unique(title, [row["title"] for row in rows])
            name = _unique(slugify(title) or "page", [row["file"].removesuffix(".md") for row in rows]) + ".md"
            (target / name).write_text(f"{file}\n" if path is None else as_markdown(path), encoding="utf-8")
            rows.append({"title": title, "file": name})
            terms = title if title.startswith("Terms") else terms
        return rows, terms

    def _path(self, name: Any) -> Path | None:
        """A file or folder of the bundle; None if it is not there, or is outside."""
        if not isinstance(name, str) or not name:
            return None
        try:
            path = (self._root / name).resolve()
            return path if path.is_relative_to(self._root) and path.exists() else None
        except (OSError, ValueError):  # a text, not a file name
            return None

    def _file(self, name: Any) -> Path | None:
        path = self._path(name)
        return path if path is not None and path.is_file() else None

    def _approval(self) -> dict[str, bool]:
        """Read from a Codabench bundle whether organizers approve teams."""
        self._used.add("registration_auto_approve")
        return {"team_approval": True} if self._values.get("registration_auto_approve") is False else {}

    def _columns(self) -> list[dict[str, Any]]:
        """The columns of the leaderboards: labels and decimal places; the one that ranks comes first."""
        columns: list[dict[str, Any]] = []
        if self._is_evalai:
            for board in tables(self._values.get("leaderboard")):
                schema = board.get("schema")
                schema = schema if isinstance(schema, dict) else {}
                labels, ranking_label = schema.get("labels"), schema.get("default_order_by")
                labels = [str(label) for label in labels] if isinstance(labels, list) else []
                columns += [{"labels": [label]} for label in sorted(labels, key=lambda label: label != ranking_label)]
        for board in tables(self._values.get("leaderboards")):
            columns += [
                {
                    "labels": [*dict.fromkeys(str(row[name]) for name in ("key", "title") if row.get(name))],
                    "precision": row.get("precision"),
                }
                for row in tables(board.get("columns"))
                if not row.get("computation") and not row.get("hidden")
            ]
        board_v1 = self._values.get("leaderboard")
        if not self._is_evalai and isinstance(board_v1, dict) and isinstance(board_v1.get("columns"), dict):
            rows = sorted(tables(board_v1["columns"]), key=lambda row: str(row.get("rank", "")))
            columns += [{"labels": [str(row.get("label", ""))], "precision": row.get("numeric_format")} for row in rows]
        return columns

    def _metrics(self) -> dict[str, Any]:
        """The metrics of the columns, and the output that ranks."""
        names: list[str] = []
        for labels in dict.fromkeys(tuple(column["labels"]) for column in self._columns()):
            name = next(filter(None, map(metric_of, labels)), "")
            if name:
                names.append(name)
            else:
                label = " / ".join(labels)
                self.omissions.append(f"the column {shortened(label)} of the leaderboard: captious has no such metric")
        if not names:
            names = installed_metrics(STARTER_METRICS)
            self.omissions.append(
                f"the scoring program: no column is a metric of captious, so it has {', '.join(names)}"
            )
            return {"metrics": names}
        names = list(dict.fromkeys(names))
        return {"metrics": names, "rank_by": [*directions_of(names[0])][-1]}

    def _digits(self) -> int:
        """The decimal places of the first column or split that has some."""
        return next((digits for digits in self._precisions() if digits in _DIGITS), 4)

    def _precisions(self) -> Iterator[int]:
        texts = [str(column.get("precision") or "") for column in self._columns()]
        yield from (int(text) for text in texts if text.isdigit())
        splits = tables(self._values.get("challenge_phase_splits"))
        precisions = (split.get("leaderboard_decimal_precision") for split in splits)
        yield from (digits for digits in precisions if isinstance(digits, int))

    def _phase_rows(self) -> list[dict[str, Any]]:
        return tables(self._values.get("challenge_phases" if self._is_evalai else "phases"))

    def _phases(self) -> list[dict[str, Any]]:
        self._used |= {"start_date", "end_date", "challenge_phase_splits"}
        rows = self._phase_rows()
        if not rows:
            self.omissions.append("phases: the bundle has none, so the challenge has one phase that is always open")
        phases: list[dict[str, Any]] = []
        for number, row in enumerate(rows, 1):
            title = as_line(row.get("name") or row.get("label")) or f"Phase {number}"
            name = slugify(str(row.get("codename") or title)).replace("_", "-")[:70] or f"phase-{number}"
            phase: dict[str, Any] = {"name": _unique(name, [phase["name"] for phase in phases], "-"), "title": title}
            phase |= self._dates(title, row)
            for key, setting in _LIMITS.items():
                limit = row.get(key)
                if isinstance(limit, int) and 0 < limit <= _MAX_LIMIT:
                    phase[setting] = limit
                elif limit not in (None, 0, ""):
                    self.omissions.append(f"of the phase {title}: {key} {shortened(limit)}, so it has no such limit")
            phase["digits"] = self._digits()
            is_hidden = (
                row.get("leaderboard_public") is False or row.get("leaderboard_management_mode") == "hide_results"
            )
            if is_hidden or self._is_hidden(row):
                phase["board"] = "hidden"
            if row.get("is_restricted_to_select_one_submission") is True:
                phase["entries"] = "one"
            omissions = sorted(
                str(key) for key, value in row.items() if key not in _PHASE_KEYS and value not in (None, "", [], False)
            )
            if row.get("is_public") is False:
                omissions.append("is_public (the phase is shown)")
            if omissions:
                self.omissions.append(f"of the phase {title}: {', '.join(omissions)}")
            phases.append(phase)
        if isinstance(self._values.get("phases"), dict):
            self._close_in_turn(phases)
        return phases or [{"name": "main"}]

    def _close_in_turn(self, phases: list[dict[str, Any]]) -> None:
        """Close phases without a date as CodaLab does: when the next one opens, and the last with the competition."""
        end_date = self._dates("of the competition", {"end": self._values.get("end_date")}).get("closes")
        ends = [*(phase.get("opens") for phase in phases[1:]), end_date]
        for phase, end in zip(phases, ends, strict=True):
            if end is not None and end > phase.get("opens", end):
                phase.setdefault("closes", end)

    def _is_hidden(self, phase: Mapping[str, Any]) -> bool:
        if any(board.get("hidden") is True for board in tables(self._values.get("leaderboards"))):
            return True
        splits = tables(self._values.get("challenge_phase_splits"))
        levels = [split.get("visibility", 3) for split in splits if split.get("challenge_phase_id") == phase.get("id")]
        return self._is_evalai and bool(levels) and 3 not in levels

    def _dates(self, title: str, row: Mapping[str, Any]) -> dict[str, datetime]:
        """The opening and closing time of a phase; dates without a time mean midnight."""
        dates: dict[str, datetime] = {}
        for name, keys in (("opens", ("start", "start_date")), ("closes", ("end", "end_date"))):
            value = next((row[key] for key in keys if row.get(key)), None)
            try:
                text = value.isoformat() if isinstance(value, date) else year_first(str(value or "").strip())
                if text:
                    time = moment(text if len(text) > len("2026-12-31") else f"{text}T00:00:00")
                    dates[name] = time.replace(microsecond=0)
            except ValueError:
                self.omissions.append(f"of the phase {title}: the date {shortened(value)} is not in a known format")
        if len(dates) == 2 and dates["closes"] <= dates["opens"]:
            self.omissions.append(f"of the phase {title}: it closes before it opens, so the closing date was left out")
            del dates["closes"]
        return dates

    def _references(self, target: Path, phases: list[dict[str, Any]], source: Path | None) -> dict[str, Any]:
        """Copy the references; phases with references of their own get captions files of their own.

        Returns:
            The captions files, if there are several, and the reference sets.
        """
        (target / "references").mkdir()
        self._used.add("tasks")
        data: list[str | None] = [None] * len(phases)
        if source is None:
            data, omissions = reference_data(self._values, self._phase_rows() or [{}])
            self.omissions += omissions
        users = {name: [phase for phase, file in zip(phases, data, strict=True) if file == name] for name in data}
        rows: list[dict[str, str]] = []
        for name, data_phases in users.items():
            file = self._copy_references(target, source, name, data_phases[0] if len(users) > 1 else None)
            rows.append({"name": "references", "captions": data_phases[0]["name"], "file": file})
            for phase in data_phases:
                phase["captions"] = [data_phases[0]["name"]]
        if len(rows) > 1:
            return {"captions": [{"name": row["captions"]} for row in rows], "references": rows}
        for row in [*phases, *rows]:
            del row["captions"]
        return {"references": rows}

    def _copy_references(
        self, target: Path, source: Path | None, data: str | None, phase: dict[str, Any] | None
    ) -> str:
        """Copy references; return their path, which need not exist yet.

        Args:
            source: a file of references outside the bundle.
            data: the file or folder in the bundle.
            phase: the phase of the references; None for all phases.
        """
        for file in captions_files(self._path(data), self._scratch) if source is None else [source]:
            try:
                read_references(file)
            except CaptiousError as error:
                if source is not None:
                    raise
                self.omissions.append(f"{file.name}: cannot be read as references: {shown(error.message, 'challenge')}")
                continue
            names = [path.name.partition(".")[0] for path in (target / "references").iterdir()]
            stem = _unique(slugify(file.name.partition(".")[0]) or "references", names, "-")
            name = f"references/{stem}{''.join(file.suffixes[-2:])}"
            shutil.copyfile(file, target / name)
            return name
        where, stem = ("", "references") if phase is None else (f" of the phase {phase['title']}", phase["name"])
        self.omissions.append(f"references{where}: add them as references/{stem}.json")
        return f"references/{stem}.json"

    def _name_the_rest(self) -> None:
        wrong = dict.fromkeys(digits for digits in self._precisions() if digits not in _DIGITS)
        self.omissions += [f"the precision {digits}: digits is {self._digits()}" for digits in wrong]
        if self._digits() < _MIN_PERCENT_DIGITS:
            self.omissions.append(
                f"the scale of scores: digits is {self._digits()}, as the bundle says, but scores are not in percent"
            )
        for board in tables(self._values.get("leaderboards")):
            if rule := board.get("submission_rule"):
                self.omissions.append(
                    f"the rule {shortened(rule)}: a team's entry is its best submission, or one it chooses"
                )
        for task in tables(self._values.get("tasks")):
            programs = sorted(str(key) for key in task if key not in {"index", "name", "description", "reference_data"})
            if programs:
                self.omissions.append(f"of the task {as_line(task.get('name'))}: {', '.join(programs)}")
        rest = sorted(str(key) for key, value in self._values.items() if key not in self._used and value)
        if rest:
            self.omissions.append(f"of the bundle: {', '.join(rest)}")


#: The largest limit of submissions, and the decimal places that scores may have.
_MAX_LIMIT, _DIGITS = 1_000_000, range(1, 9)
#: With fewer decimal places, scores are percentages.
_MIN_PERCENT_DIGITS = 3
_HEADER = "# A challenge of a captious evaluation server. server/docs/challenges.md describes every key.\n\n"
#: Limits of submissions -> key in challenge.toml. Both count scored submissions.
_LIMITS = {
    "max_submissions_per_day": "scored_per_day",
    "max_submissions": "scored_in_total",
}
_PHASE_KEYS = {
    *_LIMITS,
    *("id", "index", "phasenumber", "name", "label", "codename", "start", "end", "start_date", "end_date", "tasks"),
    *("leaderboard_public", "is_public", "is_restricted_to_select_one_submission", "leaderboard_management_mode"),
    *("reference_data", "test_annotation_file"),
}


def _unique(name: str, names: Sequence[str], separator: str = " ") -> str:
    """The name, or the first numbered variant of it that is not in use."""
    tries = (f"{name}{f'{separator}{n}' if n > 1 else ''}" for n in range(1, len(names) + 2))
    return next(text for text in tries if text not in names)
