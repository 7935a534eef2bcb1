"""captious explain"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from textwrap import dedent

import pytest

import captious
from captious import __version__
from captious.metrics.meteor import Meteor, align
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
    @pytest.mark.usefixtures("meteor_tables")
    def test_alignment_with_the_official_tables_is_drawn(self, run: Run) -> None:
        assert picture(run("explain", "meteor", BIKE, BACK)) == shown("""
              candidate  a  man riding a  motorcycle down a dirt road
                         1= 1=  1=     2= 2=
              reference  a  man riding on the back of a  motorcycle
                         1= 1=  1=                    2= 2=
              5 matches in 2 chunks · precision .5238 · recall .6471 · fragmentation .4000 · score .3128

            Number: chunk.  = exact
            """)
        assert picture(run("explain", "meteor", "A dog runs.", "A dog is running fast!")) == shown("""
              candidate  a  dog runs
                         1= 1=  1:
              reference  a  dog is running fast
                         1= 1=  1:
              3 matches in 1 chunk · precision .8286 · recall .4182 · fragmentation .3333 · score .2342

            Number: chunk.  = exact  : paraphrase
            """)

    @pytest.mark.usefixtures("tables")
    def test_crossing_matches_are_separate_chunks(self, run: Run) -> None:
        assert picture(run("explain", "meteor", "dogs and cats on a bed", "on a bed dogs and sheep")) == shown("""
              candidate  dogs and cats on a  bed
                         2=   2=       1= 1= 1=
              reference  on a  bed dogs and sheep
                         1= 1= 1=  2=   2=
              5 matches in 2 chunks · precision .7857 · recall .7857 · fragmentation .4000 · score .3932

            Number: chunk.  = exact
            """)

    @pytest.mark.usefixtures("tables")
    def test_phrases_and_synonyms_are_marked(self, run: Run) -> None:
        candidate, reference = "the men in front of a feline", "the men before cats running"
        assert picture(run("explain", "meteor", candidate, reference)) == shown("""
              candidate  the men in front of a feline
                         1=  1=  1: 1:    1:   2≈
              reference  the men before cats running
                         1=  1=  1:     2≈
              4 matches in 2 chunks · precision .7067 · recall .6308 · fragmentation .4000 · score .3208

            Number: chunk.  = exact  ≈ synonym  : paraphrase
            """)

    @pytest.mark.usefixtures("tables")
    def test_stem_matches_are_marked(self, run: Run) -> None:
        assert picture(run("explain", "meteor", "dogs", "dog")) == shown("""
              candidate  dogs
                         1~
              reference  dog
                         1~
              1 match in 1 chunk · precision .6000 · recall .6000 · fragmentation .0000 · score .6000

            Number: chunk.  ~ stem
            """)

    @pytest.mark.usefixtures("tables")
    @pytest.mark.parametrize(
        ("candidate", "reference", "above", "below"),
        [("red", "blue", "red", "blue"), ("", "blue", "(no words)", "blue"), ("", " ", "(no words)", "(no words)")],
    )
    def test_captions_without_matches_are_drawn(
        self, run: Run, candidate: str, reference: str, above: str, below: str
    ) -> None:
        """No legend, as there is nothing to explain."""
        assert picture(run("explain", "meteor", candidate, reference)).splitlines() == [
            f"  candidate  {above}",
            f"  reference  {below}",
            "  0 matches in 0 chunks · precision .0000 · recall .0000 · fragmentation .0000 · score .0000",
        ]

    @pytest.mark.usefixtures("tables")
    def test_wide_characters_stay_aligned(self, run: Run) -> None:
        """Each of these characters takes two columns."""
        assert picture(run("explain", "meteor", "黒い 猫 が a", "猫 が 走る a")) == shown("""
              candidate  黒 い 猫 が a
                               1= 1= 2=
              reference  猫 が 走 る a
                         1= 1=       2=
              3 matches in 2 chunks · precision .5385 · recall .5385 · fragmentation .6667 · score .2405

            Number: chunk.  = exact
            """)

    @pytest.mark.usefixtures("tables")
    def test_words_are_text_and_never_markup(self, run: Run) -> None:
        outcome = run("explain", "meteor", "[bold]x :smile:", "x", "--tokenizer", "whitespace")
        assert picture(outcome).splitlines()[0].split() == ["candidate", "[", "bold", "]", "x", ":", "smile", ":"]

    @pytest.mark.usefixtures("tables")
    def test_variant_changes_the_score(self, run: Run) -> None:
        official = picture(run("explain", "meteor", "the cat", "the feline"))
        paper = picture(run("explain", "meteor@paper", "the cat", "the feline"))
        assert official.splitlines()[:4] == paper.splitlines()[:4]
        assert "precision .8500" in official
        assert "precision 1.0000" in paper

    @pytest.mark.usefixtures("tables")
    def test_caption_like_an_option_is_accepted_after_dashes(self, run: Run) -> None:
        assert "-lrb-" in picture(run("explain", "meteor", "--", "-lrb- a cat", "-lrb- the cat", "-h"))


@pytest.mark.usefixtures("tables")
class TestSeveralReferences:
    def test_best_reference_is_marked(self, run: Run) -> None:
        assert picture(run("explain", "meteor", "the cat", "dog", "a cat", "the dog")) == shown("""
              candidate    the cat
              reference 1  dog
              0 matches in 0 chunks · precision .0000 · recall .0000 · fragmentation .0000 · score .0000

              candidate    the cat
                               1=
              reference 2  a cat
                             1=
              1 match in 1 chunk · precision .7500 · recall .7500 · fragmentation 1.0000 · score .3000 ◀

              candidate    the cat
                           1=
              reference 3  the dog
                           1=
              1 match in 1 chunk · precision .2500 · recall .2500 · fragmentation 1.0000 · score .1000

            Number: chunk.  = exact  ◀ best
            """)

    @pytest.mark.parametrize(
        "references", [["a dog", "a cat", "a cat", "a cat"], ["a dog", "one cat", "a cat", "a cat"]]
    )
    def test_first_of_equally_good_references_is_marked(self, run: Run, references: list[str]) -> None:
        """As METEOR, whose statistics are those of the first."""
        scores = [align("the cat", reference).score for reference in references]
        lines = [
            line for line in picture(run("explain", "meteor", "the cat", *references)).splitlines() if " · " in line
        ]
        assert [line.endswith("◀") for line in lines] == [i == scores.index(max(scores)) for i in range(4)]
        assert run("explain", "meteor", "the cat", *references, "--format", "json").json["best"] == scores.index(
            max(scores)
        )

    def test_best_reference_without_matches_is_marked(self, run: Run) -> None:
        lines = picture(run("explain", "meteor", "cat", "dog", "bird")).splitlines()
        assert [line[-1] for line in lines if " · " in line] == ["◀", "0"]
        assert lines[-1] == "◀ best"

    def test_score_is_that_of_the_best_reference(self, run: Run) -> None:
        references = ["dog", "the feline", "the dog before a cat"]
        explained = run("explain", "meteor", "the cat", *references, "--format", "json").json
        report = captious.score({1: "the cat"}, {1: references}, ["meteor"])
        assert explained["score"] == explained["references"][explained["best"]]["score"] == report["meteor"].score


@pytest.mark.usefixtures("tables")
class TestJson:
    def test_explanation_json_is_complete(self, run: Run) -> None:
        outcome = run(
            "explain", "meteor", "Men in front of roads", "a dog", "the men before a street", "--format", "json"
        )
        assert (outcome.code, outcome.err) == (0, "")
        assert list(outcome.json) == ["version", "signature", "score", "best", "references"]
        assert outcome.json["version"] == __version__
        assert outcome.json["signature"] == Meteor().signatures()[0]
        assert outcome.json["best"] == 1
        first, second = outcome.json["references"]
        assert (first["matches"], first["chunks"], first["score"]) == ([], 0, 0.0)
        assert second["candidate"] == ["men", "in", "front", "of", "roads"]
        assert second["reference"] == ["the", "men", "before", "a", "street"]
        keys = ["start", "end", "reference_start", "reference_end", "module", "chunk"]
        matches = [(0, 1, 1, 2, "exact", 1), (1, 4, 2, 3, "paraphrase", 1), (4, 5, 4, 5, "synonym", 2)]
        assert second["matches"] == [dict(zip(keys, match, strict=True)) for match in matches]
        assert second["chunks"] == 2
        alignment = align("Men in front of roads", "the men before a street")
        for name in ("precision", "recall", "fragmentation", "score"):
            assert second[name] == getattr(alignment, name)
        assert outcome.json["score"] == alignment.score

    def test_explanation_signature_includes_the_settings(self, run: Run) -> None:
        arguments = ["explain", "meteor@paper", "a", "a", "--tokenizer", "whitespace", "--format", "json"]
        signature = run(*arguments).json["signature"]
        assert "variant:paper|tokenizer:whitespace|" in signature

    def test_text_is_readable_and_no_control_character_is_raw(self, run: Run) -> None:
        outcome = run("explain", "meteor", "猫 \x1b[31m", "猫", "--tokenizer", "whitespace", "--format", "json")
        assert '"猫"' in outcome.out
        assert "\x1b" not in outcome.out
        assert outcome.json["references"][0]["candidate"] == ["猫", "\x1b", "[", "31m"]


@pytest.mark.usefixtures("tables")
class TestTerminal:
    def test_colors_say_how_a_word_matches(self, command: list[str]) -> None:
        shown, _ = on_terminal([*command, "explain", "meteor", "the cat runs", "the feline", "the cats"])
        assert "\x1b[32mthe\x1b[0m" in shown
        assert "\x1b[33mcat\x1b[0m" in shown
        assert "\x1b[33m1≈\x1b[0m" in shown
        assert "\x1b[36mcats\x1b[0m" in shown
        assert "\x1b[2mruns\x1b[0m" in shown
        assert screen(shown)[0] == "  candidate    the cat runs"

    def test_terminal_shows_the_same_text_as_a_file(self, command: list[str], run: Run) -> None:
        arguments = ["explain", "meteor", BIKE, BACK, "a man in front of a street"]
        shown, _ = on_terminal([*command, *arguments])
        assert "\n".join(screen(shown)) + "\n" == run(*arguments).out

    def test_no_colors_in_a_file(self, command: list[str], tmp_path: Path) -> None:
        on_terminal([*command, "explain", "meteor", "the cat", "the cat"], stdout=tmp_path / "out", columns=40)
        text = (tmp_path / "out").read_text()
        assert "\x1b" not in text
        assert "precision 1.0000 · recall 1.0000 · fragmentation .0000 · score 1.0000\n" in text  # not folded either

    def test_explanation_is_wrapped_to_80_columns(self, command: list[str]) -> None:
        """The line of numbers is longer than that."""
        words, _ = on_terminal([*command, "explain", "meteor", BIKE, BACK], columns=80)
        assert screen(words)[4:6] == [
            "  5 matches in 2 chunks · precision .5238 · recall .6471 · fragmentation .4000",
            "  score .3128",
        ]

    def test_explanation_is_wrapped_to_a_narrow_terminal(self, command: list[str]) -> None:
        words, _ = on_terminal(
            [*command, "explain", "meteor", BIKE, "the mans on the back of a motorcycle"], columns=40
        )
        assert "\n".join([*screen(words), ""]) == shown("""
              candidate  a man riding a  motorcycle
                           1~         2= 2=
                         down a dirt road
              reference  the mans on the back of a
                             1~                  2=
                         motorcycle
                         2=
              3 matches in 2 chunks
              precision .2762 · recall .4143
              fragmentation .6667 · score .1722

            Number: chunk.  = exact  ~ stem
            """)

    @pytest.mark.parametrize("columns", [1, 12, 20, 33])
    def test_narrow_terminals_lose_no_text(self, command: list[str], columns: int) -> None:
        words, _ = on_terminal([*command, "explain", "meteor", f"a {'long' * 20}", "a 猫"], columns=columns)
        text = "".join(line[13:] for line in screen(words) if line.startswith((" " * 13, "  cand")))
        assert "long" * 20 in text.replace(" ", "").replace("1=", "")
        assert "score" in "".join(screen(words))

    @pytest.mark.parametrize("tokenizer", ["ptb", "ptb-raw", "whitespace"])
    def test_escape_sequences_in_captions_are_removed(self, command: list[str], tokenizer: str) -> None:
        hostile = "a \x1b[2J\x1b]0;title\x07 cat \x9b31m \x7f\x08 \u202e \u2028 x"
        arguments = ["explain", "meteor", hostile, hostile, "--tokenizer", tokenizer]
        words, _ = on_terminal([*command, *arguments])
        plain = "\n".join(screen(words))
        assert "cat" in plain
        assert [character for character in plain if not character.isprintable() and character != "\n"] == []


class TestErrors:
    @pytest.mark.usefixtures("tables")
    @pytest.mark.parametrize("name", ["nope", "meteor-1", ""])
    def test_unknown_metric_is_an_error(self, run: Run, name: str) -> None:
        assert_refused(
            run("explain", name, "a", "b"), f"there is no metric {name!r}", "run `captious metrics` to list them"
        )

    @pytest.mark.usefixtures("tables")
    def test_metric_names_are_case_insensitive(self, run: Run) -> None:
        assert run("explain", "METEOR", "a", "a").out == run("explain", "meteor", "a", "a").out

    @pytest.mark.usefixtures("tables")
    def test_unknown_variant_is_an_error(self, run: Run) -> None:
        assert_refused(run("explain", "meteor@nope", "a", "b"), "no variant 'nope'", "official, paper")

    @pytest.mark.parametrize("name", ["rouge-n", "rouge-s", "unigram-recall", "rouge-1"])
    def test_metric_without_explanations_is_refused(self, run: Run, name: str) -> None:
        assert_refused(
            run("explain", name, "a", "b"),
            f"{name} cannot be explained yet",
            "help: supported: bleu, chair, cider, cider-d, cider-r, concur, coverage, coverage-cider, meteor, "
            "rouge-l, spice, wmd",
        )

    def test_combined_metric_names_its_explainable_parts(self, run: Run) -> None:
        assert_refused(
            run("explain", "spider", "a", "b"), "spider is made of other metrics", "help: explain spice or cider-d"
        )

    @pytest.mark.parametrize(
        ("arguments", "missing"), [([], "METRIC"), (["meteor"], "CANDIDATE"), (["meteor", "a"], "REFERENCE...")]
    )
    def test_missing_arguments_are_a_usage_error(self, run: Run, arguments: list[str], missing: str) -> None:
        usage = "\n  captious explain [OPTIONS] METRIC CANDIDATE REFERENCE...\n  help: captious explain --help"
        assert_refused(run("explain", *arguments), f"missing argument '{missing}'", usage)

    @pytest.mark.parametrize("option", [["--format", "html"], ["--references-as", "one"], ["--nope"]])
    def test_invalid_options_are_a_usage_error(self, run: Run, option: list[str]) -> None:
        assert_refused(run("explain", "meteor", "a", "b", *option), option[-1], "captious explain --help")

    def test_unknown_tokenizer_is_an_error(self, run: Run) -> None:
        outcome = run("explain", "meteor", "a", "b", "--tokenizer", "bert")
        assert_refused(outcome, "there is no tokenizer 'bert'", "ptb, ptb-harness, ptb-raw, whitespace, spaces")

    @pytest.mark.usefixtures("cache")
    def test_missing_meteor_tables_are_an_error(self, run: Run) -> None:
        install = "help: pip install 'captious[meteor]', or captious resources get meteor"
        assert_refused(run("explain", "meteor", "a", "b"), "METEOR's tables of synonyms and paraphrases", install)

    def test_damaged_meteor_tables_are_an_error(self, run: Run, tables: Path) -> None:
        (tables / "paraphrase-en.gz").write_bytes((tables / "paraphrase-en.gz").read_bytes()[:-1])
        assert_refused(
            run("explain", "meteor", "a", "b"), "METEOR's tables are damaged", str(tables / "paraphrase-en.gz")
        )

    def test_unusable_cache_is_an_error(self, run: Run, tables: Path, cache: Path) -> None:
        cache.write_text("a file")
        assert_refused(run("explain", "meteor", "a", "b"), "cache folder cannot be used", str(cache), "CAPTIOUS_CACHE")

    @pytest.mark.usefixtures("tables")
    def test_arguments_that_are_not_utf_8_are_refused(self, run: Run) -> None:
        assert_refused(run("explain", "meteor", "a caf\udce9", "a"), "lone surrogate", "candidates")


def test_damaged_index_is_compiled_again(run: Run, tables: Path, cache: Path) -> None:
    assert run("resources", "build").code == 0
    (index,) = cache.rglob("*.index")
    whole = index.read_bytes()
    index.write_bytes(whole[:-1])
    outcome = run("explain", "meteor", "a feline", "a cat", "--format", "json")
    assert [match["module"] for match in outcome.json["references"][0]["matches"]] == ["exact", "synonym"]
    assert index.read_bytes() == whole


class TestWords:
    """captious explain captious"""

    def test_contributions_and_unsound_junctions_are_shown(self, run: Run) -> None:
        text = picture(run("explain", "concur", "a zzqqxx dog runs across the", "a dog runs across the grass"))
        lines = [line.split() for line in text.splitlines()]
        assert lines[0] == ["word", "share", "similarity"]
        assert [line[:3] for line in lines[1:4]] == [["a", "→", "a"], ["zzqqxx", "→", "–"], ["dog", "→", "dog"]]
        assert "the |" in text
        assert {"agreement", "precision", "recall", "order", "slips"} <= {line[0] for line in lines if line}

    def test_word_agreement_is_printed_as_json(self, run: Run) -> None:
        outcome = run("explain", "concur", "a dog", "the dog", "a cat", "--format", "json")
        document = json.loads(outcome.out)
        assert list(document)[:2] == ["version", "signature"]
        assert document["signature"].startswith("concur|variant:light|")
        assert [word["word"] for word in document["words"]] == ["a", "dog"]
        assert len(document["cosines"]) == 2
        assert 0 < document["score"] < 1


class TestMentions:
    """``captious explain chair``."""

    CAPTION = "A man riding a motorcycle next to two dogs."

    def test_mentions_of_objects_are_marked(self, run: Run) -> None:
        outcome = run("explain", "chair", self.CAPTION, "a man rides a bike with his dog", "bus")
        assert outcome.out == shown("""
              candidate  a man      riding a motorcycle   next to two dogs  .
                           ✓ person          ✗ motorcycle             ✓ dog
              in the image  bicycle · bus · dog · person
              not named  bicycle · bus
              chair-s 1.0000 · chair-i .3333 · chair-recall .5000

            ✓ in the image  ✗ hallucinated  chair-i: share of hallucinated mentions.
            """)

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

    def test_chair_explanation_of_an_image_needs_objects(self, run: Run) -> None:
        assert_refused(run("explain", "chair", "a cat", "--image", "7"), "--objects FILE")
        assert_refused(run("explain", "meteor", "a cat", "a cat", "--image", "7"), "a file of candidates")


class TestFiles:
    """Captions in files, as ``captious score`` reads them."""

    FILES = ("improved.json", "references.json")

    @pytest.mark.parametrize("metric", ["bleu", "bleu-4", "cider", "cider-d", "cider-d@paper", "rouge-l"])
    def test_worst_captions_have_the_lowest_scores(self, folder: Path, run: Run, metric: str) -> None:
        explained = run("explain", metric, *self.FILES, "--worst", "3", "--format", "json").json
        name = "bleu-4" if metric == "bleu" else metric
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = captious.score("improved.json", "references.json", [metric])[name]
        lowest = sorted(result.per_caption)[:3]
        assert [image["score"] for image in explained["images"]] == pytest.approx(lowest)

    @pytest.mark.parametrize("metric", ["bleu", "cider-d", "rouge-l"])
    def test_caption_of_an_image_is_explained(self, folder: Path, run: Run, metric: str) -> None:
        outcome = run("explain", metric, *self.FILES, "--image", "1207")
        assert outcome.out.startswith("image 1207 · ")
        assert "a man in a white apron making pizza in a brick oven" in outcome.out
        document = run("explain", metric, *self.FILES, "--image", "1207", "--format", "json").json
        (image,) = document["images"]
        assert image["id"] == 1207
        assert document["signature"].startswith(("bleu-4|", "cider-d|", "rouge-l|"))
        assert "|references:5|" in document["signature"]

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

    def test_unknown_image_is_an_error(self, folder: Path, run: Run) -> None:
        assert_refused(run("explain", "rouge-l", *self.FILES, "--image", "1"), "there is no image 1", "improved.json")

    def test_files_need_image_or_worst(self, folder: Path, run: Run) -> None:
        assert_refused(run("explain", "rouge-l", *self.FILES), "is not a caption", "--image ID or --worst N")

    def test_image_option_needs_files(self, folder: Path, run: Run) -> None:
        assert_refused(run("explain", "rouge-l", "a dog", "a dog", "--worst", "2"), "a file of candidates")

    def test_cider_of_quoted_captions_needs_frequencies(self, run: Run) -> None:
        assert_refused(run("explain", "cider-d", "a dog", "the dog"), "document frequencies", "--image ID")


def test_matches_of_every_metric_are_shown(run: Run) -> None:
    out = run("explain", "bleu", "a dog runs a dog", "the dog runs fast").out
    assert "1-grams  .4000 = 2/5  dog 1/2 · runs · ✗ a" in out
    assert "[dog] [runs]" in run("explain", "rouge-l", "a dog runs", "the dog runs").out
