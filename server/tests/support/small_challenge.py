"""A challenge of three images, loaded in a moment, and submissions of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REFERENCES = {
    1: ["a dog runs in the park", "a brown dog on the grass"],
    2: ["two men play the guitar", "men on a stage"],
    3: ["a cat sleeps on a sofa", "a grey cat"],
}
#: What all submissions say.
CANDIDATES = {1: "a dog in the park", 2: "two men play music", 3: "a cat on a sofa"}


def as_toml(values: Mapping[str, Any]) -> str:
    """Return a challenge.toml with these values; lists of mappings are lists of tables."""
    tables = {name: rows for name, rows in values.items() if isinstance(rows, list) and isinstance(rows[0], dict)}
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items() if key not in tables]
    for name, rows in tables.items():
        for row in rows:
            lines += ["", f"[[{name}]]", *(f"{key} = {json.dumps(value)}" for key, value in row.items())]
    return "\n".join([*lines, ""])


def write_folder(
    folder: Path,
    *,
    phases: tuple[str, ...] = ("main",),
    references: dict[int, list[str]] | None = None,
    title: str = "Small",
    sets: tuple[str, ...] = ("c2",),
    limits: str = "",
) -> Path:
    """Return the folder of the challenge "small"; may be there already."""
    folder.mkdir(exist_ok=True)
    parts = [f'title = "{title}"\nslug = "small"\nmetrics = ["bleu", "rouge-l"]\nrank_by = "bleu-4"\n']
    parts += [f'[[references]]\nname = "{name}"\nfile = "{name}.json"\n' for name in sets]
    parts += [f'[[phases]]\nname = "{name}"\n{limits}\n' for name in phases]
    (folder / "challenge.toml").write_text("\n".join(parts))
    rows = [
        {"image_id": image, "id": 10 * image + n, "caption": caption}
        for image, captions in (references or REFERENCES).items()
        for n, caption in enumerate(captions)
    ]
    content = json.dumps({"images": [{"id": image} for image in REFERENCES], "annotations": rows})
    for name in sets:
        (folder / f"{name}.json").write_text(content)
    return folder


def upload() -> bytes:
    """Return a valid submission."""
    return json.dumps([{"image_id": image, "caption": caption} for image, caption in CANDIDATES.items()]).encode()


def queue(n: int = 1, phase: str = "main", **values: Any) -> list[Any]:
    """Return submissions in their state after the upload."""
    from django.utils import timezone

    from captious_server.models import Phase, Submission, Team
    from captious_server.submissions import storage

    team, _ = Team.objects.get_or_create(name="Testers", slug="testers")
    made = []
    for number in range(n):
        folder = storage.new_folder()
        storage.captions_file(folder, "captions").write_bytes(upload())
        storage.upload_file(folder).write_bytes(upload())
        row = {"method": f"method {number}", "team": team, "filename": "captions.json", "size": 1, **values}
        made.append(
            Submission.objects.create(
                phase=Phase.objects.get(name=phase), folder_name=folder.name, created=timezone.now(), **row
            )
        )
    return made
