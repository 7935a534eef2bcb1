"""CHAIR: by hand, on hostile input, and against the answers of the official program on real systems."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.data import Captions, References, read_captions, read_references
from captious.errors import (
    CaptiousWarning,
    InputError,
    MissingObjectsError,
    ParameterError,
)
from captious.files import checksum
from captious.metrics.chair import Chair
from captious.metrics.shared.objects import ImageObjects, ObjectWords, as_object_words
from captious.text.tokenizers import word_tokenize
from tests.support.shared_data import DATA, with_data

CHAIR = DATA / "chair"

OBJECTS = {1: ["person", "motorcycle"], 2: ["dog"], 3: [], 4: ["cat", "couch"]}
CANDIDATES = {
    1: "A man riding a motorcycle next to two dogs.",
    2: "A dog and a puppy in the snow",
    3: "a bowl of fruit",
    4: "a quiet evening",
}
REFERENCES = {image: ["a photograph"] for image in OBJECTS}
NOTHING = ImageObjects({})
#: Captions, captions with a hallucination, mentions, hallucinated mentions, objects named, objects there.
STATISTICS = [[1, 1, 3, 1, 2, 2], [1, 0, 2, 0, 1, 1], [1, 1, 1, 1, 0, 0], [1, 0, 0, 0, 0, 2]]


def captions(candidates: Mapping[Any, str] = CANDIDATES) -> Captions:
    return read_captions(candidates, {image: ["a photograph"] for image in candidates})


def lines(path: Path) -> Iterable[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class TestByHand:
    def test_statistics_equal_a_table_made_by_hand(self) -> None:
        np.testing.assert_array_equal(Chair(objects=OBJECTS).statistics(captions()), STATISTICS)

    def test_scores_equal_a_table_made_by_hand(self) -> None:
        report = captious.score(CANDIDATES, REFERENCES, ["chair"], settings=captious.Settings(objects=OBJECTS))
        assert {name: result.score for name, result in report.items()} == {
            "chair-s": 2 / 4,
            "chair-i": 2 / 6,
            "chair-recall": 3 / 5,
        }
        np.testing.assert_allclose(report["chair-i"].per_caption, [1 / 3, 0, 1, 0])
        np.testing.assert_allclose(report["chair-recall"].per_caption, [1, 1, 0, 0])
        assert [result.lower_is_better for result in report.values()] == [True, True, False]
        low, high = report["chair-i"].confidence_interval()
        assert 0 <= low <= report["chair-i"].score <= high <= 1

    def test_captions_of_files_of_coco_have_the_objects_of_their_numbers(self) -> None:
        names = {image: f"COCO_val2014_{image:012}.jpg" for image in CANDIDATES}
        candidates, references = ({names[i]: texts[i] for i in texts} for texts in (CANDIDATES, REFERENCES))
        settings = captious.Settings(objects=OBJECTS)
        with pytest.raises(MissingObjectsError, match='ids="integer"'):
            captious.score(candidates, references, ["chair"], settings=settings)
        read = captious.read_captions(candidates, references, ids="integer")
        report = captious.score(read, None, ["chair"], settings=settings)
        assert [report[name].score for name in ("chair-s", "chair-i", "chair-recall")] == [2 / 4, 2 / 6, 3 / 5]

    def test_signature_depends_on_objects_but_not_their_order(self) -> None:
        signature = Chair(objects=OBJECTS).signatures()[1]
        assert signature.startswith("chair-i|variant:official|vocabulary:coco|objects:4-")
        reordered = {image: OBJECTS[image][::-1] for image in reversed(OBJECTS)}
        assert Chair(objects=reordered).signatures()[1] == signature
        assert Chair(objects={**OBJECTS, 3: ["dog"]}).signatures()[1] != signature

    def test_mentions_are_marked(self) -> None:
        explanation = Chair(objects=OBJECTS).explain(CANDIDATES[1], ["person", "bicycle"])
        assert [(m.words, m.object, m.start, m.end) for m in explanation.mentions] == [
            ("man", "person", 1, 2),
            ("motorcycle", "motorcycle", 4, 5),
            ("dog", "dog", 8, 9),
        ]
        assert explanation.hallucinated == (False, True, True)
        assert (explanation.objects, explanation.unmentioned) == (("bicycle", "person"), ("bicycle",))
        assert explanation.scores == {"chair-s": 1.0, "chair-i": pytest.approx(2 / 3), "chair-recall": 0.5}


class TestWords:
    """Consequences listed in the README of the shared data, and effects of variants."""

    @pytest.mark.parametrize(
        ("caption", "expected"),
        [
            ("a bus, two buses", ["bus"]),
            ("a glass and wine glasses", ["wine glass"]),
            ("a baby elephant and a baby", ["elephant", "person"]),
            ("a baby teddy bear", ["person", "teddy bear"]),
            ("a passenger train track", ["train"]),
            ("a toilet with its seat up next to a chair", ["toilet", "chair"]),
            ("seats", ["chair"]),
            ("a motor bike at home plate", []),
            ("a stove top oven", ["oven", "oven"]),
            ("a dining table", ["dining table"]),
            ("the cat's tail", ["cat"]),
            ("a dog/cat", []),
            ("", []),
        ],
    )
    def test_objects_of_captions_equal_the_official_ones(self, caption: str, expected: list[str]) -> None:
        assert [mention.object for mention in Chair(objects=NOTHING).explain(caption, []).mentions] == expected

    def test_the_fixed_variant_finds_the_bus(self) -> None:
        explanation = Chair(objects=NOTHING, variant="fixed").explain("a bus, two buses, an airbus and people", ["bus"])
        assert [mention.object for mention in explanation.mentions] == ["bus", "bus", "airplane", "person"]

    def test_users_vocabulary_is_used_and_named(self, tmp_path: Path) -> None:
        lists = tmp_path / "words.txt"
        lists.write_text("# of ours\nglasses, spectacles\nwind turbine, windmill\npublic address system, loudspeaker\n")
        chair = Chair(objects={1: ["glasses"]}, vocabulary=lists)
        caption = "Spectacles, wind turbines, and a public address system; reading glasses"
        assert [mention.object for mention in chair.explain(caption, []).mentions] == [
            "glasses",
            "wind turbine",
            "public address system",
            "glasses",
        ]
        document = tmp_path / "words.json"
        document.write_text(
            json.dumps(
                {
                    "glasses": ["spectacles"],
                    "wind turbine": ["windmill"],
                    "public address system": ["loudspeaker"],
                }
            )
        )
        assert chair.vocabulary.object_of == as_object_words(document).object_of
        assert "|vocabulary:words-" in chair.signatures()[0]

    @pytest.mark.parametrize("shortest_first", [True, False])
    def test_longest_phrase_wins(self, shortest_first: bool) -> None:
        words = [
            ("food", ["hot dog"]),
            ("stall", ["hot dog stand"]),
            ("dog", ["dog"]),
            ("guide", ["hot dog stand map"]),
        ]
        chair = Chair(objects=NOTHING, vocabulary=dict(words if shortest_first else reversed(words)))
        caption = "a dog at a hot dog stand with a hot dog and a hot dog stand map"
        expected = [("dog", 1, 2), ("stall", 4, 7), ("food", 9, 11), ("guide", 13, 17)]
        mentions = chair.explain(caption, []).mentions
        assert [(mention.object, mention.start, mention.end) for mention in mentions] == expected
        assert chair.objects_in([caption]) == {"dog", "stall", "food", "guide"}

    def test_start_of_a_longer_phrase_is_no_mention_of_it(self) -> None:
        chair = Chair(objects=NOTHING, vocabulary={"food": ["hot dog"], "stall": ["hot dog stand"]})
        assert [mention.object for mention in chair.explain("hot dog", []).mentions] == ["food"]
        assert chair.explain("hot", []).mentions == ()

    def test_signature_does_not_depend_on_the_order_of_words(self) -> None:
        words = {"dog": ["puppy", "hound"], "cat": ["kitten"]}
        reordered = {name: words[name][::-1] for name in reversed(words)}
        names = [as_object_words(vocabulary).label for vocabulary in (words, reordered, {**words, "cat": ["kitty"]})]
        content = [
            sorted({"puppy": "dog", "hound": "dog", "dog": "dog", "kitten": "cat", "cat": "cat"}.items()),
            [],
            [],
        ]
        assert names[0] == names[1] == f"own-{checksum(json.dumps(content))}"
        assert names[2] != names[0]

    def test_lines_of_the_same_object_add_up(self, tmp_path: Path) -> None:
        (tmp_path / "words.txt").write_text("dog, puppy\ndog, hound\n")
        assert as_object_words(tmp_path / "words.txt").object_of == dict.fromkeys(["dog", "puppy", "hound"], "dog")

    def test_bundled_vocabulary_has_80_objects(self) -> None:
        words = as_object_words("coco")
        assert isinstance(words, ObjectWords)
        assert len(words.objects) == 80


class TestObjects:
    @pytest.mark.parametrize("suffix", [".json", ".parquet"])
    def test_saved_objects_are_read(self, tmp_path: Path, suffix: str) -> None:
        if suffix == ".parquet":
            pytest.importorskip("pyarrow")
        path = tmp_path / f"objects{suffix}"
        saved = ImageObjects.read(OBJECTS)
        saved.save(path)
        read = ImageObjects.read(path)
        assert read.label == saved.label
        np.testing.assert_array_equal(Chair(objects=path).statistics(captions()), STATISTICS)

    def test_parquet_has_numbers_where_ids_are_numbers(self, tmp_path: Path) -> None:
        """Ids of JSON are text whatever they were; ids of Python are what they are."""
        parquet = pytest.importorskip("pyarrow.parquet")
        (tmp_path / "objects.json").write_text(json.dumps(OBJECTS))
        named = {str(image): names for image, names in OBJECTS.items()}
        for objects, ids in ((tmp_path / "objects.json", [1, 2, 3, 4]), (OBJECTS, [1, 2, 3, 4]), (named, [*"1234"])):
            ImageObjects.read(objects).save(tmp_path / "objects.parquet")
            assert sorted(parquet.read_table(tmp_path / "objects.parquet")["image_id"].to_pylist()) == ids

    def test_ids_agree_as_those_of_captions_do(self, tmp_path: Path) -> None:
        path = tmp_path / "objects.json"
        path.write_text(json.dumps(OBJECTS))  # its ids are text
        by_name = {str(image): caption for image, caption in CANDIDATES.items()}
        named = {str(image): names for image, names in OBJECTS.items()}
        for objects, candidates in (
            (path, CANDIDATES),
            (path, by_name),
            (OBJECTS, CANDIDATES),
            (named, by_name),
            (named, CANDIDATES),
        ):
            np.testing.assert_array_equal(Chair(objects=objects).statistics(captions(candidates)), STATISTICS)
        written = tmp_path / "candidates.json"
        written.write_text(json.dumps(by_name))
        table = read_references(str(written))
        np.testing.assert_array_equal(Chair(objects=OBJECTS).statistics(Captions(table.texts, table)), STATISTICS)

    def test_positions_match_only_positions(self) -> None:
        by_position = read_captions([*CANDIDATES.values()], [["a photograph"]] * 4)
        np.testing.assert_array_equal(Chair(objects=[*OBJECTS.values()]).statistics(by_position), STATISTICS)
        with pytest.raises(ParameterError, match="only positions"):
            Chair(objects=OBJECTS).statistics(by_position)

    def test_images_without_objects_are_named(self) -> None:
        with pytest.raises(
            MissingObjectsError, match=r"(?s)objects of 2 of 4 images.*image_id 3, 4.*match=\"common\""
        ) as caught:
            Chair(objects={1: ["dog"], 2: ["dog"]}).statistics(captions())
        assert isinstance(caught.value, InputError)

    def test_images_without_objects_are_named_once(self) -> None:
        table = References((7, 8, 9), ("a", "b", "c"), np.arange(4), name="judged captions", images=(1, 2, 2))
        with pytest.raises(MissingObjectsError, match=r"(?s)objects of 1 of 2 images.*image_id 2\n"):
            Chair(objects={1: ["dog"]}).statistics(Captions(table.texts, table))

    def test_subset_omits_images_without_objects(self) -> None:
        settings = captious.Settings(objects={1: OBJECTS[1], 2: OBJECTS[2], 9: []})
        with pytest.warns(CaptiousWarning, match="chair leaves out 2 of 4 images"):
            report = captious.score(CANDIDATES, REFERENCES, ["chair"], settings=settings, match="common")
        assert report["chair-s"].score == 1 / 2
        np.testing.assert_array_equal(report["chair-s"].per_caption, [1, 0, np.nan, np.nan])
        assert report["chair-s"].confidence_interval()

    def test_captions_that_name_nothing_are_remarked_on(self) -> None:
        with pytest.warns(CaptiousWarning, match="no caption names an object"):
            captious.score({1: "snow"}, {1: ["snow"]}, Chair(objects=OBJECTS))

    def test_objects_may_be_given_by_any_of_their_words(self) -> None:
        assert Chair(objects={1: ["Dining Table", "desk", "bow tie", "sofa"][:2]})._objects.by_image == {
            1: {"dining table"}
        }

    def test_unknown_objects_are_named(self) -> None:
        with pytest.raises(ParameterError, match=r"(?s)1 of 2 objects.*vocabulary coco.*'lamp'"):
            Chair(objects={1: ["dog", "lamp"]})

    def test_a_misspelt_object_is_no_caption(self) -> None:
        with pytest.raises(ParameterError, match="'cow and horse'"):
            Chair(objects=NOTHING).objects_of([{1: ["dog", "cat"], 2: ["cow and horse"]}])

    def test_coco_annotations_give_the_objects(self, tmp_path: Path) -> None:
        instances = {
            "images": [{"id": 1}, {"id": 2}, {"id": 3}],
            "categories": [{"id": 7, "name": "train"}, {"id": 1, "name": "person"}],
            "annotations": [{"image_id": 1, "category_id": 7}, {"image_id": 1, "category_id": 7, "iscrowd": 1}],
        }
        written = {"images": [{"id": 1}], "annotations": [{"id": 5, "image_id": 1, "caption": "a man by a train"}]}
        (tmp_path / "instances.json").write_text(json.dumps(instances))
        (tmp_path / "captions.json").write_text(json.dumps(written))
        files = [tmp_path / "captions.json", tmp_path / "instances.json"]
        learned = Chair(objects=NOTHING).objects_of(files)
        assert learned.by_image == {1: {"person", "train"}, 2: frozenset(), 3: frozenset()}
        assert Chair(objects=NOTHING).objects_of([files[1]]).by_image[1] == {"train"}
        assert Chair(objects=NOTHING).objects_of([{1: ["desk"]}, {1: ["Two dogs at a desk"]}]).by_image == {
            1: {"dining table", "dog"}
        }
        instances["annotations"].append({"image_id": 2, "category_id": 8})  # type: ignore[attr-defined]
        (tmp_path / "bad.json").write_text(json.dumps(instances))
        with pytest.raises(InputError, match="annotation 3"):
            Chair(objects=NOTHING).objects_of([tmp_path / "bad.json"])

    def test_categories_of_instances_are_not_read_as_captions(self, tmp_path: Path) -> None:
        # Read as a caption, "bus" would name nothing.
        instances = {
            "images": [{"id": 1}],
            "categories": [{"id": 1, "name": "bus"}, {"id": 2, "name": "lamp"}],
            "annotations": [{"image_id": 1, "category_id": 1}, {"image_id": 1, "category_id": 2}],
        }
        file = tmp_path / "instances.json"
        file.write_text(json.dumps(instances))
        with pytest.raises(ParameterError, match=r"(?s)1 of 2 objects.*'lamp'"):
            Chair(objects=NOTHING).objects_of([file])


def test_rows_do_not_look_at_each_other() -> None:
    chair, table = Chair(objects=OBJECTS), captions()
    whole = chair.statistics(table)
    parts = [chair.statistics(table.select([row])) for row in (2, 0, 3, 1)]
    np.testing.assert_array_equal(np.vstack(parts), whole[[2, 0, 3, 1]])
    assert chair.statistics(table.select([])).shape == (0, 6)
    assert np.isfinite(chair.aggregate(whole)).all()


def official(system: str) -> Captions:
    """Return the captions of a system, without references, which CHAIR does not need."""
    results = json.loads(gzip.decompress((DATA / "coco" / "results_val2014" / f"{system}.json.gz").read_bytes()))
    results.sort(key=lambda result: result["image_id"])
    ids = tuple(result["image_id"] for result in results)
    nothing = References(ids, ("",) * len(ids), np.arange(len(ids) + 1))
    return Captions(tuple(result["caption"] for result in results), nothing)


@pytest.fixture(scope="module")
def val2014() -> Chair:
    return Chair(objects=CHAIR / "objects_val2014.jsonl.gz")


def assert_is_official(chair: Chair, system: str) -> None:
    """Every number of the official program for a system."""
    captions = official(system)
    statistics = chair.statistics(captions)
    totals = json.loads((CHAIR / "chair_systems.json").read_text())[system]
    assert chair.aggregate(statistics.sum(axis=0)).tolist() == [totals[key] for key in ("CHAIRs", "CHAIRi", "Recall")]
    counts = ("captions", "hallucinated_captions", "object_words", "hallucinated_object_words")
    assert statistics.sum(axis=0)[:4].tolist() == [totals[key] for key in counts]
    if not (CHAIR / f"chair_{system}.jsonl.gz").exists():
        return
    expected = list(lines(CHAIR / f"chair_{system}.jsonl.gz"))
    assert [row["image_id"] for row in expected] == list(captions.ids)
    scores = np.array([[row["chairs"], row["chairi"], row["recall"]] for row in expected])
    np.testing.assert_array_equal(chair.aggregate(statistics), scores)


@with_data
class TestOfficial:
    def test_scores_of_one_system_are_official(self, val2014: Chair) -> None:
        assert_is_official(val2014, "vinyals-et-al-2017")

    def test_words_of_captions_are_official(self, val2014: Chair) -> None:
        captions = official("mun-et-al-2017")
        expected = list(lines(CHAIR / "chair_mun-et-al-2017.jsonl.gz"))[:4000]
        for row, caption in zip(expected, captions.candidates, strict=False):
            tokens = word_tokenize(caption)
            mentions = val2014._finder.mentions(tokens)
            assert val2014._finder.words(tokens) == row["words"]
            assert [mention.object for mention in mentions] == row["objects"]
            wrong = [
                mention for mention in mentions if mention.object not in val2014._objects.by_image[row["image_id"]]
            ]
            assert [[mention.words, mention.object] for mention in wrong] == row["hallucinated"]
            assert [mention.start for mention in wrong] == row["hallucination_idxs"]

    def test_mentions_of_edge_cases_are_official(self) -> None:
        finder = Chair(objects=NOTHING)._finder
        for case in json.loads((CHAIR / "chair_edge.json").read_text()):
            tokens = word_tokenize(case["caption"])
            mentions = finder.mentions(tokens)
            assert tokens == case["tokens"]
            assert finder.words(tokens) == case["joined"]
            assert [mention.words for mention in mentions] == case["found"]
            assert finder.objects(tokens) == [mention.object for mention in mentions] == case["objects"]
            if not {"toilet", "seat"} <= {*case["joined"]}:  # its indices are then those of a shorter list
                assert [mention.start for mention in mentions] == case["idxs"]

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "system",
        [
            *("mun-et-al-2017", "shetty-et-al-2017", "liu-et-al-2017", "shetty-et-al-2016", "wu-et-al-2016"),
            "zhou-et-al-2017",
        ],
    )
    def test_scores_of_every_system_are_official(self, val2014: Chair, system: str) -> None:
        assert_is_official(val2014, system)

    @pytest.mark.slow
    def test_objects_of_reference_captions_are_official(self) -> None:
        learned = Chair(objects=NOTHING).objects_of([DATA / "coco" / "captions_val2014.json.gz"]).by_image
        rows = list(lines(CHAIR / "objects_val2014.jsonl.gz"))
        assert {row["image_id"]: set(row["caption_objects"]) for row in rows} == learned

    @pytest.mark.slow
    def test_mentions_of_reference_captions_are_official(self) -> None:
        document = json.loads(gzip.decompress((DATA / "coco" / "captions_val2014.json.gz").read_bytes()))
        texts = {annotation["id"]: annotation["caption"] for annotation in document["annotations"]}
        finder = Chair(objects=NOTHING)._finder
        other_places = 0
        for row in lines(CHAIR / "chair_references_val2014.jsonl.gz"):
            mentions = finder.mentions(word_tokenize(texts[row["id"]]))
            assert [mention.words for mention in mentions] == row["found"]
            assert [mention.object for mention in mentions] == row["objects"]
            other_places += [mention.start for mention in mentions] != row["idxs"]
        assert other_places == 24  # 22 with a toilet and a seat, 2 whose sentences Punkt ends elsewhere

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("system", "expected"),
        [
            pytest.param("mun-et-al-2017", (16.892, 11.495, 42.975), marks=pytest.mark.nightly),
            ("vinyals-et-al-2017", (16.406, 12.763, 37.815)),
            pytest.param("zhou-et-al-2017", (14.603, 10.094, 42.439), marks=pytest.mark.nightly),
        ],
    )
    def test_fixed_variant_scores_are_official(self, system: str, expected: tuple[float, ...]) -> None:
        sources = [CHAIR / "objects_val2014.jsonl.gz", DATA / "coco" / "captions_val2014.json.gz"]
        chair = Chair(objects=Chair(objects=NOTHING, variant="fixed").objects_of(sources), variant="fixed")
        scores = chair.aggregate(chair.statistics(official(system)).sum(axis=0))
        np.testing.assert_allclose(100 * scores, expected, atol=6e-4)


def test_references_are_not_needed() -> None:
    settings = captious.Settings(objects=OBJECTS)
    alone = captious.score(CANDIDATES, metrics=["chair"], settings=settings)
    beside = captious.score(CANDIDATES, REFERENCES, ["chair"], settings=settings)
    assert {**alone.to_dict()} == {**beside.to_dict()}
    assert (alone.n_references, beside.n_references) == (0, 4)
    with pytest.raises(ParameterError, match="bleu cannot be computed without references"):
        captious.score(CANDIDATES, metrics=["chair", "bleu"], settings=settings)
    with pytest.raises(MissingObjectsError):
        captious.score({7: "a dog"}, metrics=["chair"], settings=settings)
