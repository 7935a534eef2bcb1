"""Prompts of judges: texts with placeholders for the captions, from the package or from users."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captious.errors import CaptionFileError, ParameterError
from captious.files.decompression import user_text
from captious.metrics.contract.parameters import ResourceParameter

_FOLDER = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class Prompt:
    """A prompt.

    ``{candidate}`` and ``{references}`` stand for the captions unchanged, the references one per line, after "- ";
    ``{candidate_json}`` and ``{references_json}`` for the same as JSON, which quotes captions safely. Other braces are
    text.

    Args:
        name: name in signatures.
        text: text with the placeholders.
    """

    name: str
    text: str

    @classmethod
    def of_package(cls, name: str) -> Prompt:
        """Read a prompt of this package."""
        return cls(name, (_FOLDER / f"{name}.txt").read_text(encoding="utf-8"))

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> Prompt:
        """Read a prompt of a user.

        Raises:
            ResourceError, CaptionFileError: the file cannot be read, or is not text.
        """
        return cls(Path(path).stem, user_text(path, "the prompt", "give a file of UTF-8 text", CaptionFileError))

    @property
    def label(self) -> str:
        """The name and a checksum of the text."""
        return f"{re.sub('[|,]', '-', self.name)}@{hashlib.sha256(self.text.encode()).hexdigest()[:8]}"

    def has(self, place: str) -> bool:
        """Return whether there is a placeholder for something, such as "candidate", in either form."""
        return any(f"{{{place}{form}}}" in self.text for form in ("", "_json"))

    def check(self, metric: str, required: Sequence[str], forbidden: Sequence[str]) -> None:
        """Refuse a prompt that lacks a required placeholder, or has one that the metric does not fill.

        Raises:
            ParameterError: names the placeholder.
        """
        for place in required:
            if not self.has(place):
                raise ParameterError(
                    f"the prompt {self.name} has no place for the {place} of {metric}",
                    help=f"write {{{place}}} or {{{place}_json}} where it belongs",
                )
        for place in forbidden:
            if self.has(place):
                raise ParameterError(
                    f"the prompt {self.name} has a place for the {place}, which {metric} does not show",
                    help=f"remove {{{place}}}, or choose another variant",
                )

    def filled(self, values: Mapping[str, str]) -> str:
        """Return the text with values for placeholders; placeholders within a value are not replaced."""
        pattern = "|".join(re.escape(f"{{{place}}}") for place in values)
        return re.sub(pattern, lambda match: values[match[0][1:-1]], self.text)


def listed(captions: Mapping[str, str], references: Sequence[str]) -> dict[str, str]:
    """Return the texts that fill a prompt: captions by the names of their placeholders, and references."""
    quoted = {f"{name}_json": json.dumps(caption, ensure_ascii=False) for name, caption in captions.items()}
    return {
        **captions,
        **quoted,
        "references": "\n".join(f"- {reference}" for reference in references),
        "references_json": json.dumps([*references], ensure_ascii=False, indent=1),
    }


class PromptParameter(ResourceParameter[Prompt | str | os.PathLike[str] | None, Prompt | None]):
    """A file with a prompt; None for that of the package."""

    def __init__(self, *, summary: str = "a file with the prompt; none for ours") -> None:
        super().__init__(default=None, keep_none=True, read=_as_prompt, summary=summary, signature_key="")


def _as_prompt(value: Any) -> Prompt:
    return value if isinstance(value, Prompt) else Prompt.of_file(value)
