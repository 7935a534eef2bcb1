"""Files that are uploaded for a draft: references, which are read before they are kept."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django import forms
from django.conf import settings

from captious.errors import CaptiousError
from captious.server.challenges.draft_folder import effective, reference_file, write_values
from captious.server.challenges.problems import one_line
from captious.server.submissions import storage


class UnreadableReferencesError(Exception):
    """References that cannot be read; the message gives the reason, with the user's name of the file."""


@contextmanager
def references_of(form: forms.Form) -> Iterator[Path]:
    """A context with the uploaded file of references, whose extension gives its format.

    Raises:
        UnreadableReferencesError: reading it failed within the context.
    """
    name = upload_name(form)
    with tempfile.TemporaryDirectory(dir=storage.incoming_folder()) as temporary:
        file = Path(temporary) / Path(reference_file("references", "", name)).name
        shutil.move(form.cleaned_data["file"].temporary_file_path(), file)
        try:
            yield file
        except CaptiousError as error:
            reason = one_line(error).replace(str(file), name).replace(file.name, name)
            raise UnreadableReferencesError(f"The references cannot be read: {reason}") from error


def put_references(folder: Path, name: str, captions: str, filename: str, file: Path) -> None:
    """Move a file into the folder of a draft, for an existing or a new reference set."""
    rows = effective(folder)["references"]
    places = [place for place, row in enumerate(rows) if row["name"] == name and captions in ("", row.get("captions"))]
    place = places[0] if places else None
    row = {"name": name, "file": reference_file(name, captions, filename)}
    if place is None and captions:
        row["captions"] = captions
    target = folder / row["file"]
    target.parent.mkdir(exist_ok=True)
    shutil.move(file, target)
    write_values(folder, {}, {"references": [(place, row)]})


def upload_name(form: forms.Form) -> str:
    """The user's name of the uploaded file."""
    return str(form.cleaned_data["file"].name)


def has_room(size: int) -> bool:
    """Return whether drafts together stay below the size that an account may store."""
    files = (settings.CAPTIOUS.data / "drafts").rglob("*")
    n_bytes = sum(file.stat().st_size for file in files if file.is_file())
    return bool(n_bytes + size <= settings.CAPTIOUS.stored_mebibytes << 20)
