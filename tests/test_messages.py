"""Names of options in messages."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import captious
from captious.cli import captious as command_line
from captious.errors import ParameterError, option, option_style, setting


@pytest.mark.parametrize(
    ("name", "value", "in_python", "as_flag"),
    [
        ("match", "common", 'match="common"', "--match common"),
        ("clean", "prompt", 'clean="prompt"', "--clean prompt"),
        ("per_caption", "FOLDER", "per_caption=FOLDER", "--per-caption FOLDER"),
        ("columns", "id=NAME", 'columns="id=NAME"', "--columns id=NAME"),
    ],
)
def test_options_are_named_as_flags_or_keywords(name: str, value: str, in_python: str, as_flag: str) -> None:
    assert option(name, value) == in_python
    with option_style("command line"):
        assert option(name, value) == as_flag
    assert option(name, value) == in_python


def test_settings_are_named_as_flags_or_fields() -> None:
    assert setting("idf", "coco") == 'settings=captious.Settings(idf="coco")'
    with option_style("command line"):
        assert setting("idf", "coco") == "--idf coco"
    with option_style("challenge"):
        assert setting("idf", "coco") == 'idf="coco"'


def test_readers_of_messages_see_options_as_they_write_them() -> None:
    with pytest.raises(ParameterError) as caught:
        captious.score(["a dog"], [["a dog"]], "novel")
    assert "training=FILE" in caught.value.hint
    help = CliRunner().invoke(command_line, ["score", "-m", "novel", "a.json", "b.json"]).exception
    assert isinstance(help, ParameterError)
    assert "--training FILE" in help.hint


def test_errors_are_also_those_that_python_raises() -> None:
    with pytest.raises(ValueError, match="level"):
        captious.compare(["a dog"], ["a cat"], [["a dog"]], "bleu-4", level=2)
    with pytest.raises(TypeError, match="not text"):
        captious.score([1], [["a dog"]], "bleu-4")
    with pytest.raises(KeyError, match="bleu-7"):
        captious.score(["a dog"], [["a dog"]], "bleu-7")
