"""The folder of a challenge as the site has it, for ``captious challenge export`` and for drafts."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import tomlkit

from captious.errors import ParameterError
from captious.server.challenges.draft_folder import as_before
from captious.server.challenges.folder import FILE_NAME
from captious.server.challenges.starter import new_folder
from captious.server.models import IDS_FOLDER, Challenge, Phase


def find_challenge(slug: str) -> Challenge:
    """The challenge with this name in addresses.

    Raises:
        ParameterError: there is no such challenge.
    """
    challenge = Challenge.objects.filter(slug=slug).first()
    if challenge is None:
        slugs = ", ".join(Challenge.objects.order_by("slug").values_list("slug", flat=True)) or "none"
        raise ParameterError(f"there is no challenge {slug!r}", help=f"challenges of this server: {slugs}")
    return challenge


def export_challenge(challenge: Challenge, folder: Path) -> list[str]:
    """Write the folder of a challenge, references included. Files are those that were loaded, byte for byte.

    So is challenge.toml, except for hidden leaderboards, which are set on the site, and the challenge's name
    in addresses, which is added if the folder has another name.

    Returns:
        The files, by their paths in the folder.

    Raises:
        OutputError: the folder is not empty, or cannot be written.
    """
    source = challenge.folder
    files = [path.relative_to(source) for path in sorted(source.rglob("*")) if path.is_file()]
    files = [file for file in files if file.parts[0] != IDS_FOLDER]
    with new_folder(folder) as target:
        for file in files:
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / file, target / file)
        text = (source / FILE_NAME).read_bytes().decode()
        (target / FILE_NAME).write_bytes(_as_on_site(challenge, text, folder.resolve().name).encode())
    return [file.as_posix() for file in files]


def _as_on_site(challenge: Challenge, text: str, name: str) -> str:
    document: Any = tomlkit.parse(text)
    is_changed = "slug" not in document and name != challenge.slug
    if is_changed:
        document["slug"] = str(challenge.slug)
    boards = dict(Phase.objects.filter(challenge=challenge).values_list("name", "board"))
    for row in document["phases"]:
        board = boards.get(str(row["name"]), "public")
        if row.get("board", "public") != board:
            row["board"], is_changed = board, True
    return as_before(text, document) if is_changed else text
