"""Logs of evaluation harnesses: a model's answers, their references, and the prompt.

lmms-eval writes ``*_samples_TASK.jsonl`` with ``--log_samples``: an object per answer, with ``filtered_resps`` or
``resps``, and either the fields that its task passes to metrics, ``{"answer", "pred", "image_id"}``, or ``doc`` and
``target``. Its first versions wrote one document with a list of them, "logs". VLMEvalKit writes ``MODEL_DATASET.xlsx``,
.tsv or .json, with ``index``, ``question``, ``answer`` and ``prediction``.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captious.data.ids import ImageId, as_image_id
from captious.errors import CaptionFileError, EmptyInputError, UnknownNameError, needed_for
from captious.files import RAISE_LIMIT, UnpackedSizeError, check_size, user_bytes, user_text
from captious.words import shortened

#: Names of fields that hold the image, the first that is there.
_IDS = ("image_id", "video_id", "img_id", "question_id", "id", "index")
#: Names of fields of ``doc`` that hold references, the first that is there.
_REFERENCES = (
    "annotations_captions",
    "caption_str",
    "reference_strs",
    "references",
    "answers",
    "answer",
    "captions",
    "caption",
    "enCap",
)
#: The facts that ``user_text`` needs.
_LOG = ("the log", "give the log as the harness wrote it", CaptionFileError)
_LONGEST_LIST = 1_000_000  # characters of a list that is written as text


@dataclass(frozen=True)
class HarnessLog:
    """The log of one model on one task.

    Args:
        candidates: image -> answer of the model.
        references: image -> human captions.
        prompts: the distinct prompts.
    """

    candidates: Mapping[ImageId, str]
    references: Mapping[ImageId, Sequence[str]]
    prompts: Sequence[str]

    @property
    def note(self) -> str:
        """A sentence about the prompt."""
        if not self.prompts:
            return "The log has no prompt."
        more = f", and {len(self.prompts) - 1:,} more" if len(self.prompts) > 1 else ""
        return f"Prompt: {shortened(self.prompts[0], 200)}{more}."


@dataclass(frozen=True)
class _Answer:
    id: ImageId | None
    text: str
    references: Sequence[str]
    prompt: str


def read_harness_log(path: str | os.PathLike[str], harness: str) -> HarnessLog:
    """Read the answers, references and prompts of a log.

    Images are named as in the log. If two answers have the same image, as in tasks that ask several questions about
    one, images are named by their position in the data set.

    Args:
        path: the file, plain or compressed.
        harness: "lmms-eval" or "vlmevalkit".

    Raises:
        UnknownNameError: another harness.
        ResourceError: the file cannot be read.
        CaptionFileError: it is not such a log, or an answer is incomplete.
        EmptyInputError: no answers.
        MissingExtraError: .xlsx without openpyxl.
    """
    if harness not in _READERS:
        raise UnknownNameError(f"there is no harness {harness!r}", hint=f"give {' or '.join(_READERS)}")
    file = Path(path)
    answers = []
    for number, row in enumerate(_READERS[harness][0](file), start=1):
        try:
            if not isinstance(row, Mapping):
                raise TypeError(f"it is {shortened(row)}, not an object")
            answers.append(_READERS[harness][1](row))
        except (KeyError, TypeError, ValueError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise CaptionFileError(
                f"this is not a log of {harness}: {reason}",
                where=f"{file}, record {number}",
                hint=f"give a file of answers that {harness} wrote, or name another harness: {', '.join(_READERS)}",
            ) from error
    if not answers:
        raise EmptyInputError("there are no answers", where=str(file), hint="check the file")
    ids = [answer.id for answer in answers]
    if None in ids or len(set(ids)) < len(ids):
        ids = [*range(len(answers))]
    return HarnessLog(
        {id: answer.text for id, answer in zip(ids, answers, strict=True) if id is not None},
        {id: answer.references for id, answer in zip(ids, answers, strict=True) if id is not None},
        [*dict.fromkeys(answer.prompt for answer in answers if answer.prompt)],
    )


def _lmms_eval_answer(sample: Mapping[str, Any]) -> _Answer:
    """Convert an answer of lmms-eval. All metrics of a task are passed the same fields."""
    answer: Mapping[str, Any] = next(
        (value for value in sample.values() if isinstance(value, Mapping) and {"answer", "pred"} <= value.keys()), {}
    )
    doc = sample["doc"] if isinstance(sample.get("doc"), Mapping) else {}
    text = _first_text(sample["filtered_resps"] if "filtered_resps" in sample else sample["resps"])
    if "answer" in answer:
        references = answer["answer"]
    else:
        name = next((name for name in _REFERENCES if name in doc), None)
        references = sample["target"] if name is None else doc[name]
    prompt = next((sample[name] for name in ("input", "input_text", "arguments") if name in sample), "")
    return _Answer(_id({**doc, **answer}), text, _texts(references), _first_text(prompt) if prompt else "")


def _vlmevalkit_answer(row: Mapping[str, Any]) -> _Answer:
    prediction = row["prediction"]
    text = "" if prediction is None else str(prediction)
    return _Answer(_id(row), text, _texts(row["answer"]), str(row.get("question") or ""))


def _id(fields: Mapping[str, Any]) -> ImageId | None:
    ids = (as_image_id(fields[name]) for name in _IDS if fields.get(name) is not None)
    return next((id for id in ids if id is not None), None)


def _first_text(value: Any) -> str:
    """Return the first text in nested lists."""
    while isinstance(value, Sequence) and not isinstance(value, str):
        if not value:
            return ""
        value = value[0]
    if not isinstance(value, str):
        raise TypeError(f"an answer or a prompt is {shortened(value)}, not text")
    return value


def _texts(value: Any) -> list[str]:
    """Return references from a list, or from text that may be a list as Python or JSON writes it."""
    if isinstance(value, str) and value.lstrip().startswith("[") and len(value) <= _LONGEST_LIST:
        try:
            value = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            value = [value]
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"references are {shortened(texts)}, not a list of texts")
    return texts


def _json_rows(file: Path) -> Iterator[Mapping[str, Any]]:
    """Read objects from lines, or from a list."""
    text = user_text(file, *_LOG)
    try:
        if text.lstrip().startswith("["):
            rows = json.loads(text)
        elif (document := _document(text)) is not None:
            rows = document
        else:  # captions may hold U+2028, which splitlines would cut at
            rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        raise CaptionFileError(f"not JSON: {error}", where=str(file), hint="give the log as it was written") from error
    yield from rows


def _document(text: str) -> list[Any] | None:
    """Return the "logs" of a JSON document; None if the text is not one."""
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return document["logs"] if isinstance(document, dict) and isinstance(document.get("logs"), list) else None


def _table_rows(file: Path) -> Iterator[Mapping[str, Any]]:
    """Read rows of a spreadsheet, of a tab- or comma-separated file, or of JSON."""
    suffixes = [suffix for suffix in file.suffixes if suffix != ".gz"]
    kind = suffixes[-1].lower() if suffixes else ""
    if kind in (".json", ".jsonl"):
        yield from _json_rows(file)
        return
    if kind == ".xlsx":
        yield from _spreadsheet(file)
        return
    text = user_text(file, *_LOG)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter="," if kind == ".csv" else "\t")
    limit = csv.field_size_limit(1 << 30)  # VLMEvalKit's .tsv may have images in them
    try:
        rows = [*reader]
    except csv.Error as error:
        raise CaptionFileError(f"not a table: {error}", where=f"{file}, line {reader.line_num}", hint="") from error
    finally:
        csv.field_size_limit(limit)
    for row in rows:
        yield {name: _number(value) if name == "index" else value for name, value in row.items() if name}


def _number(text: Any) -> Any:
    return int(text) if isinstance(text, str) and text.isdecimal() and len(text) < 18 else text


def _spreadsheet(file: Path) -> Iterator[Mapping[str, Any]]:
    with needed_for("reading a spreadsheet", "xlsx", where=str(file)):
        import openpyxl
    content = user_bytes(file, *_LOG)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            check_size(sum(entry.file_size for entry in archive.infolist()), len(content))
        sheet = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True).worksheets[0]
        rows: Iterable[Sequence[Any]] = sheet.iter_rows(values_only=True)
        lines = iter(rows)
        names = [str(name) for name in next(lines, ())]
        yield from (dict(zip(names, line, strict=False)) for line in lines if any(cell is not None for cell in line))
    except UnpackedSizeError as error:
        raise CaptionFileError(f"the file is too large: {error}", where=str(file), hint=RAISE_LIMIT) from error
    except (zipfile.BadZipFile, OSError, IndexError, openpyxl.utils.exceptions.InvalidFileException) as error:
        raise CaptionFileError(
            f"not a spreadsheet: {error}", where=str(file), hint="give the file as written"
        ) from error


_READERS: Mapping[str, tuple[Callable[[Path], Iterator[Mapping[str, Any]]], Callable[[Mapping[str, Any]], _Answer]]] = {
    "lmms-eval": (_json_rows, _lmms_eval_answer),
    "vlmevalkit": (_table_rows, _vlmevalkit_answer),
}
#: The harnesses whose logs are read.
HARNESSES = tuple(_READERS)
