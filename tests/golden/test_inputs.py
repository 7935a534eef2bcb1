"""The scores and signatures of metrics that need more than captions: objects, lists, answers, training captions,
a model behind an endpoint.
"""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import captious
from tests.golden.calls import command, explained, scored, scores
from tests.golden.captions import EXAMPLES, REFERENCES, coco
from tests.golden.record import Record
from tests.support.chat_server import ChatServer

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning", "ignore:amber compares words")

BASELINE, IMPROVED = str(EXAMPLES / "baseline.json"), str(EXAMPLES / "improved.json")


# ---- objects in images


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The objects that the references of the examples name."""
    path = tmp_path_factory.mktemp("chair") / "objects.json"
    command("fit", "chair", REFERENCES, "-o", path)
    return path


CHAIR = ["chair@official", "chair@standalone", "chair@fixed"]


def test_chair_of_examples(record: Record, objects: Path) -> None:
    systems = {
        name: scores(scored(path, None, CHAIR, objects=str(objects)))
        for name, path in {"baseline": BASELINE, "improved": IMPROVED}.items()
    }
    record("inputs/chair-examples", {"objects": json.loads(objects.read_text("utf-8")), **systems})


def test_chair_of_coco(record: Record, shared_data: Path) -> None:
    with gzip.open(shared_data / "chair" / "objects_val2014.jsonl.gz", "rt", encoding="utf-8") as lines:
        objects = {row["image_id"]: row["objects"] for row in map(json.loads, lines)}
    of_images = {image: objects[image] for image in coco().references}
    record("inputs/chair-coco", scores(scored(coco().systems["system-0"], None, CHAIR, objects=of_images)))


def test_explanation_of_chair(record: Record, objects: Path) -> None:
    record("inputs/chair-explanation", explained("chair", BASELINE, REFERENCES, 1422, objects=str(objects)))


LISTS: dict[str, Any] = {
    "annotations": [
        {"id": 1, "type": "generative", "truth": ["sky", "ship", "ship", "man"], "hallu": ["plane", "sun", "bird"]},
        {"id": 2, "type": "generative", "truth": ["grass", "dog"], "hallu": ["cat"]},
        {"id": 3, "type": "generative", "truth": ["table"], "hallu": []},
        {"id": 4, "type": "discriminative-hallucination", "truth": "yes"},
    ],
    "relation": {
        **{"sky": [], "ship": ["boat", "vessel"], "man": ["person"], "grass": ["ground"], "plane": ["aircraft"]},
        **{"sun": [], "bird": ["parrot"], "dog": ["puppy"], "cat": [], "table": ["desk"]},
    },
    "safe_words": ["vessel", "photo"],
}
LONG_ANSWERS = {
    1: "A man stands on a boat under a blue sky. A parrot flies past the sun, and a ship is behind him.",
    2: "The photo shows a puppy on the ground. A cat and a dog play with a Ball near a desk.",
    3: "",
}


@pytest.mark.parametrize("variant", ["official", "fixed"])
def test_amber(variant: str, record: Record) -> None:
    metric = captious.Amber(lists=LISTS, tagger="parser", parser="bundled", variant=variant)
    record(f"inputs/amber-{variant}", scores(scored(LONG_ANSWERS, None, [metric])))


ANSWERS = {
    **{1: "Yes", 2: "No.", 3: "yes, there is a dog.", 4: "NO", 5: "There is not a dog.", 6: "**No**"},
    **{7: "Yes. No other animal is there.", 8: "", 9: "There isn't a dog."},
}


@pytest.mark.parametrize("variant", ["official", "first-word"])
def test_pope(variant: str, record: Record) -> None:
    labels = {image: "no" if image % 3 == 0 else "yes" for image in ANSWERS}
    report = scored(ANSWERS, None, [captious.Pope(labels=labels, variant=variant)])
    intervals = {name: result.confidence_interval() for name, result in report.items()}
    record(f"inputs/pope-{variant}", {"scores": scores(report), "intervals": intervals})


def test_novel(record: Record) -> None:
    """Whether captions are among the beams of another captioner."""
    report = scored(IMPROVED, None, ["novel", "novel:tokenizer=whitespace"], training=str(EXAMPLES / "beams.json"))
    record("inputs/novel", scores(report))


# ---- judges


#: One black pixel.
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=")


@pytest.mark.parametrize("variant", ["references", "images", "both"])
@pytest.mark.parametrize("name", ["clair", "geval"])
def test_judges(name: str, variant: str, record: Record, endpoint: ChatServer, tmp_path: Path) -> None:
    """The scores that are read from the answers of a server, whose probabilities and numbers are known."""
    if variant != "references":
        pytest.importorskip("PIL")
    judge = captious.ChatModel(name, endpoint.url, cache=tmp_path / "answers.sqlite")
    candidates = {1: "a dog", 2: "a big brown dog", 3: "one two three four five six seven eight nine ten", 4: ""}
    references = None if variant == "images" else {1: ["a dog runs", "dogs"], 2: ["a dog"], 3: ["a cat"], 4: ["a"]}
    (tmp_path / "images").mkdir()
    for image in candidates:
        (tmp_path / "images" / f"{image}.png").write_bytes(PIXEL)
    settings: dict[str, Any] = {"judge": judge}
    if variant != "references":
        settings["images"] = str(tmp_path / "images")
    requests = [f"judge-{name}@{variant}", *([f"judge-{name}@{variant}:value=integer"] if name == "geval" else [])]
    record(f"inputs/judge-{name}-{variant}", scores(scored(candidates, references, requests, **settings)))
