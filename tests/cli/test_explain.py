"""captious explain"""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from tests.cli.conftest import Outcome, Run, assert_refused
from tests.cli.test_streams import on_terminal, screen

BIKE = "a man riding a motorcycle down a dirt road"
BACK = "a man riding on the back of a motorcycle"


def picture(outcome: Outcome) -> str:
    assert (outcome.code, outcome.err) == (0, "")
    assert "\x1b" not in outcome.out
    return outcome.out


def shown(text: str) -> str:
    return dedent(text).removeprefix("\n")


class TestPicture:
    @pytest.mark.usefixtures("tables")
    def test_caption_like_an_option_is_accepted_after_dashes(self, run: Run) -> None:
        assert "-lrb-" in picture(run("explain", "meteor", "--", "-lrb- a cat", "-lrb- the cat", "-h"))


@pytest.mark.usefixtures("tables")
class TestJson:
    def test_text_is_readable_and_no_control_character_is_raw(self, run: Run) -> None:
        outcome = run("explain", "meteor", "猫 \x1b[31m", "猫", "--tokenizer", "whitespace", "--format", "json")
        assert '"猫"' in outcome.out
        assert "\x1b" not in outcome.out
        assert outcome.json["references"][0]["candidate"] == ["猫", "\x1b", "[", "31m"]


@pytest.mark.usefixtures("tables")
class TestTerminal:
    def test_terminal_shows_the_same_text_as_a_file(self, command: list[str], run: Run) -> None:
        arguments = ["explain", "meteor", BIKE, BACK, "a man in front of a street"]
        shown, _ = on_terminal([*command, *arguments])
        assert "\n".join(screen(shown)) + "\n" == run(*arguments).out

    def test_no_colors_in_a_file(self, command: list[str], tmp_path: Path) -> None:
        on_terminal([*command, "explain", "meteor", "the cat", "the cat"], stdout=tmp_path / "out", columns=40)
        text = (tmp_path / "out").read_text()
        assert "\x1b" not in text
        assert "precision 1.0000 · recall 1.0000 · fragmentation .0000 · score 1.0000\n" in text  # not folded either

    @pytest.mark.parametrize("tokenizer", ["ptb", "ptb-raw", "whitespace"])
    def test_escape_sequences_in_captions_are_removed(self, command: list[str], tokenizer: str) -> None:
        hostile = "a \x1b[2J\x1b]0;title\x07 cat \x9b31m \x7f\x08 \u202e \u2028 x"
        arguments = ["explain", "meteor", hostile, hostile, "--tokenizer", tokenizer]
        words, _ = on_terminal([*command, *arguments])
        plain = "\n".join(screen(words))
        assert "cat" in plain
        assert [character for character in plain if not character.isprintable() and character != "\n"] == []


class TestMentions:
    """``captious explain chair``."""

    CAPTION = "A man riding a motorcycle next to two dogs."

    def test_objects_of_an_image_are_read_from_the_option(self, folder: Path, run: Run) -> None:
        (folder / "objects.json").write_text('{"7": ["motorcycle", "person"], "8": []}')
        arguments = ["explain", "chair", self.CAPTION, "--objects", "objects.json", "--format", "json"]
        document = run(*arguments, "--image", "7").json
        assert document["hallucinated"] == [False, False, True]
        assert document["scores"]["chair-recall"] == 1
        assert run(*arguments, "--image", "8", "a dog").json["hallucinated"] == [True, True, False]
        assert_refused(run(*arguments, "--image", "9"), "objects of the image are not known", "image_id '9'")
        assert_refused(run(*arguments, "a dog"), "which image", "--image ID")

    def test_caption_without_objects_is_explained(self, run: Run) -> None:
        assert "  candidate  snow\n  in the image  none\n" in run("explain", "chair", "snow", "snow").out


class TestFiles:
    """Captions in files, as ``captious score`` reads them."""

    FILES = ("improved.json", "references.json")

    def test_objects_default_to_those_in_references(self, folder: Path, run: Run) -> None:
        Path("two.json").write_text(
            '[{"image_id": 1, "caption": "a dog and a cat"}, {"image_id": 2, "caption": "a bus"}]'
        )
        Path("their.json").write_text('{"1": ["a dog runs"], "2": ["a bus stops"]}')
        image = run("explain", "chair", "two.json", "their.json", "--image", "1", "--format", "json").json["images"][0]
        assert image["objects"] == ["dog"]
        assert image["hallucinated"] == [False, True]

    def test_subset_leaves_out_images_of_one_side(self, folder: Path, run: Run) -> None:
        Path("more.json").write_text('[{"image_id": 1207, "caption": "a man"}, {"image_id": 1, "caption": "a bus"}]')
        arguments = ("explain", "rouge-l", "more.json", "references.json", "--image", "1207")
        assert_refused(run(*arguments), "no references", "--match", "common")
        assert run(*arguments, "--match", "common").out.startswith("image 1207 · ")
        assert_refused(run("explain", "rouge-l", "a dog", "a dog", "--match", "common"), "are for files")

    @pytest.mark.parametrize("metric", ["bleu", "cider-d", "rouge-l"])
    def test_empty_caption_is_explained(self, folder: Path, run: Run, metric: str) -> None:
        candidates = json.loads(Path("improved.json").read_text())
        candidates[0]["caption"] = ""
        Path("empty.json").write_text(json.dumps(candidates))
        outcome = run("explain", metric, "empty.json", "references.json", "--worst", "1")
        assert outcome.code == 0
        assert f"image {candidates[0]['image_id']} · " in outcome.out
        assert "\n  (empty)\n" in outcome.out
        assert ("brevity penalty" in outcome.out) == (metric == "bleu")
