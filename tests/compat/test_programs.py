"""Programs like well-known public evaluators, in ``programs/``: with the drop-in, they get the toolkit's scores."""

from __future__ import annotations

import gzip
import json
import os
import random
import runpy
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from captious.compat import redirected
from tests.support.selection import nightly_but

HERE = Path(__file__).parent
BENCHMARKS = HERE.parents[1] / "benchmarks"
IMAGES_PER_BATCH = 4


@dataclass(frozen=True)
class Program:
    """A program, its imports besides the defaults of ``captious run``, and those that the toolkit has."""

    name: str
    replaced: tuple[str, ...] = ("pycocoevalcap", "pyciderevalcap")
    needs_coco: bool = False
    is_compared: bool = True
    needs_tables: bool = True


PROGRAMS = [
    Program("self_critical", needs_tables=False),
    Program("language_eval", needs_coco=True),
    Program("eval_multi", is_compared=False, needs_tables=False),
    Program("meshed_memory", ("evaluation",)),
    Program("nlg_eval", ("nlgeval.pycocoevalcap",)),
    Program("coco_caption_eval", needs_coco=True),
    Program("vinvl", ("oscar.utils.cider.pyciderevalcap", "pycocoevalcap"), needs_coco=True),
    Program("language_evaluation", ("coco_caption_py3.pycocoevalcap",), needs_coco=True),
    Program("r2gen"),
    Program("coco_scorer"),
    Program("audio_captions", ("coco_caption.pycocoevalcap",), is_compared=False),
    Program("spice_loop", is_compared=False),
]
BY_NAME = {program.name: program for program in PROGRAMS}


@dataclass(frozen=True)
class Image:
    """An image with its references and the captions of several systems."""

    id: int
    references: Sequence[str]
    captions: Sequence[str]


def written(images: Sequence[Image], folder: Path) -> Path:
    """Return the files that the programs read."""
    annotations = [{"image_id": image.id, "caption": text} for image in images for text in image.references]
    for number, annotation in enumerate(annotations):
        annotation["id"] = number
    content = {"images": [{"id": image.id} for image in images], "annotations": annotations, "info": {}, "licenses": []}
    write(folder / "captions.json", content)
    write(folder / "results.json", [{"image_id": image.id, "caption": image.captions[0]} for image in reversed(images)])
    write(folder / "samples.json", {image.id: image.captions for image in images})

    batches = [images[start : start + IMAGES_PER_BATCH] for start in range(0, len(images), IMAGES_PER_BATCH)]
    write(
        folder / "batches.json",
        [
            [[image.references for image in batch], [text for image in batch for text in image.captions]]
            for batch in batches
        ],
    )
    numbers: dict[str, int] = {}

    def ids(text: str, length: int = 0) -> list[int]:
        numbered = [numbers.setdefault(word, len(numbers) + 1) for word in text.lower().split()]
        return [*numbered, *[0] * max(length - len(numbered), 1)]

    longest = max(len(text.split()) for image in images for text in image.captions) + 1
    content = {
        "references": [[ids(text) for text in image.references] for image in images],
        "samples": [ids(text, longest) for image in images for text in image.captions],
        "greedy": [ids(image.captions[-1], longest) for image in images],
    }
    write(folder / "ids.json", content)
    lines = {"hyp": [image.captions[0] for image in images]}
    lines |= {f"ref{n + 1}": [image.references[n] for image in images] for n in range(2)}
    for name, texts in lines.items():
        (folder / f"{name}.txt").write_text("".join(f"{' '.join(text.split())}\n" for text in texts))
    return folder


def write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content))


def some_images() -> list[Image]:
    """Return images that the tests have made up, with the punctuation of raw captions."""
    randomly = random.Random(3)
    subjects = ["A dog", "two men", "A little girl", "the cat", "Three red buses", "a woman's bike"]
    verbs = ["runs", "stand", "is playing", "sleeps", "are parked", "jumps, quickly,"]
    places = ["in the park.", "on a sofa", "next to a street", "at 5 p.m.", "on the beach!", "under a tree"]

    def caption() -> str:
        return " ".join(randomly.choice(words) for words in (subjects, verbs, places))

    return [Image(10 * i + 7, [caption() for _ in range(3)], [caption() for _ in range(5)]) for i in range(12)]


def real_images(shared_data: Path, n: int) -> list[Image]:
    """Return images of val2014 with the captions of five systems."""
    with gzip.open(shared_data / "coco" / "captions_val2014.json.gz", "rt", encoding="utf-8") as file:
        annotations = json.load(file)["annotations"]
    references: dict[int, list[str]] = {}
    for annotation in annotations:
        references.setdefault(annotation["image_id"], []).append(annotation["caption"])
    captions = []
    for path in sorted((shared_data / "coco" / "results_val2014").iterdir())[:5]:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            captions.append({annotation["image_id"]: annotation["caption"] for annotation in json.load(file)})
    return [Image(i, references[i], [of[i] for of in captions]) for i in sorted(references)[:n]]


def needed(program: Program, request: pytest.FixtureRequest) -> None:
    """Skip where something is not installed."""
    if program.needs_coco:
        pytest.importorskip("pycocotools.coco")
    if program.needs_tables:
        request.getfixturevalue("meteor_tables")


def result(printed: str) -> Any:
    """Return the last line that a program prints, as JSON."""
    return json.loads(printed.strip().splitlines()[-1])


def run(program: Program, folder: Path, options: Sequence[str], environment: dict[str, str]) -> Any:
    """Run a program in its own process, and return its results."""
    command = [sys.executable, "-P", *options, str(HERE / "programs" / f"{program.name}.py")]
    environment = {**os.environ, "LC_ALL": "C.UTF-8", **environment}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return result(done.stdout)


def below_captious(program: Program, folder: Path) -> Any:
    """Return the result of a program under ``captious run``."""
    replaced = [word for name in program.replaced for word in ("--replace", name)]
    return run(program, folder, ["-m", "captious", "run", *replaced], {})


def assert_close(ours: Any, theirs: Any, where: str = "") -> None:
    """Check for equal structure and numbers within 1e-12, except those of SPICE."""
    assert type(ours) is type(theirs), where
    if isinstance(ours, dict):
        assert [*ours] == [*theirs], where
        for key in ours:
            if key != "SPICE":
                assert_close(ours[key], theirs[key], f"{where}.{key}")
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), where
        for number, (mine, their) in enumerate(zip(ours, theirs, strict=True)):
            assert_close(mine, their, f"{where}[{number}]")
    elif isinstance(ours, float):
        assert abs(ours - theirs) <= 1e-12, where
    else:
        assert ours == theirs, where


def numbers(result: Any) -> list[float]:
    """Return all numbers of a structure."""
    if isinstance(result, dict):
        result = [*result.values()]
    return [number for item in result for number in numbers(item)] if isinstance(result, list) else [result]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_published_programs_run_when_redirected(
    program: Program,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They run in this process, with their imports redirected."""
    needed(program, request)
    monkeypatch.chdir(written(some_images(), tmp_path))
    monkeypatch.setattr(sys, "argv", ["program"])
    with ExitStack() as stack:
        for name in program.replaced:
            stack.enter_context(redirected(name))
        runpy.run_path(str(HERE / "programs" / f"{program.name}.py"), run_name="__main__")
    printed = result(capsys.readouterr().out)
    assert any(isinstance(number, float) and 0 < number < 10 for number in numbers(printed))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    nightly_but(
        "self_critical",
        [program.name for program in PROGRAMS if program.is_compared],
    ),
)
def test_programs_print_the_same_numbers_as_on_the_toolkit(
    name: str, request: pytest.FixtureRequest, shared_data: Path, tmp_path: Path
) -> None:
    """Unchanged programs print the same numbers on the toolkit and below ``captious run``."""
    program = BY_NAME[name]
    needed(program, request)
    pytest.importorskip("pycocoevalcap")
    if shutil.which("java") is None:
        pytest.skip("no java")
    written(real_images(shared_data, 60), tmp_path)
    ours = below_captious(program, tmp_path)
    path = os.pathsep.join(map(str, [HERE / "toolkit", BENCHMARKS]))
    theirs = run(program, tmp_path, [], {"PYTHONPATH": path})
    assert_close(ours, theirs)


@pytest.mark.slow
@pytest.mark.usefixtures("meteor_tables")
def test_recordings_are_scored_as_images(shared_data: Path, tmp_path: Path) -> None:
    pytest.importorskip("pycocotools.coco")
    written(real_images(shared_data, 40), tmp_path)
    sounds = below_captious(BY_NAME["audio_captions"], tmp_path)
    images = below_captious(BY_NAME["language_eval"], tmp_path)
    assert_close(sounds["metrics"].pop("SPIDEr"), (images["overall"]["CIDEr"] + images["overall"]["SPICE"]) / 2)
    assert_close(sounds["metrics"], images["overall"])
    for image, record in images["images"].items():
        assert sounds["sounds"][image]["METEOR"] == record["METEOR"]
        assert sounds["sounds"][image]["SPICE"] == record["SPICE"]


@pytest.mark.slow
@pytest.mark.nightly
def test_diversity_equals_the_official_program(shared_data: Path, tmp_path: Path) -> None:
    """mBLEU and self-CIDEr of 1,000 images, with the document frequencies of all val2014 references."""
    path = shared_data / "diversity" / "diversity_official.jsonl.gz"
    if not path.is_file():
        pytest.skip("no shared_data: official values of diversity")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    with gzip.open(shared_data / "coco" / "captions_val2014.json.gz", "rt", encoding="utf-8") as file:
        write(tmp_path / "captions.json", json.load(file))
    write(tmp_path / "samples.json", {record["image_id"]: record["captions"] for record in records})
    output = below_captious(BY_NAME["eval_multi"], tmp_path)
    assert_close(output["kernels"], [record["self_cider_mat"] for record in records])
    assert_close(output["mbleus"], [record["mbleu"] for record in records])
    # Where captions are equal, eigenvalues of zero are rounding errors, of which roots are drawn.
    assert output["self_cider"] == pytest.approx([record["self_cider"] for record in records], abs=1e-7)
