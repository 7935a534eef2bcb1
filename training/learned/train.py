"""From data to the weights that the package ships: nneval and lceval, and COCO's document frequencies.

    python training/learned/train.py DATA [WORK]

DATA is the folder of judgment data with coco/ and cxc/, and CAPTIOUS_VECTORS names the word vectors; WORK gets the
examples (default: the current folder). See README.md in this folder.
"""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np

from captious import read_references
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.native import NgramFrequencies
from captious.resources.cache import COCO_VAL, COCO_VAL_FILE

WEIGHTS = Path(__file__).parents[2] / "src" / "captious" / "learned" / "weights"
IMAGES = 4_000
JUDGED = 12_000


def main(data: Path, work: Path) -> None:
    """Write everything."""
    work.mkdir(parents=True, exist_ok=True)
    frequencies(data / "coco" / "captions_val2014.json.gz")
    examples, validation = work / "examples.jsonl", work / "validation.jsonl"
    run("data", "--data", data, "--images", IMAGES, "--validation", 0, "--negatives", "other", "-o", examples)
    judged(data / "cxc" / "sits.jsonl.gz", examples, validation)
    WEIGHTS.mkdir(exist_ok=True)
    for recipe in ("nneval", "lceval"):
        output = WEIGHTS / f"{recipe}.safetensors"
        run("train", examples, "--recipe", recipe, "--validation", validation, "--name", COCO_VAL, "-o", output)


def run(command: str, *arguments: object) -> None:
    """Run a command of ``captious learn``."""
    subprocess.run(["captious", "learn", command, *map(str, arguments)], check=True)


def frequencies(captions: Path) -> None:
    """Document frequencies without n-grams of one image: the weight of an n-gram is ln(N) - ln(max(1, frequency))."""
    counted = DocumentFrequencies.of(read_references(captions))
    ngrams, images = counted.counts.entries()
    several = NgramFrequencies()
    several.add(np.ascontiguousarray(ngrams[images > 1]), images[images > 1])
    DocumentFrequencies(counted.vocabulary, several, counted.n_documents, counted.tokenizer).save(COCO_VAL_FILE)


def judged(source: Path, examples: Path, output: Path) -> None:
    """Rated captions of Crisscrossed Captions, of images that are not trained on."""
    trained = {json.loads(line)["image"] for line in examples.read_text(encoding="utf-8").splitlines()}
    with gzip.open(source, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if not {row["image"], row["candidate_image"]} & trained]
    drawn = sorted(random.Random(0).sample(range(len(rows)), JUDGED))
    with output.open("w", encoding="utf-8") as file:
        for i in drawn:
            fields = {"candidate": rows[i]["candidate"], "references": rows[i]["refs"], "rating": rows[i]["rating"]}
            file.write(json.dumps(fields, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "."))
