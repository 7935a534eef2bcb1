"""Files as their owners publish them, made from the normalised ones: both have to give the same evidence."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.errors import CaptionFileError, CaptiousError, EmptyInputError, ParameterError, ResourceError
from captious.judgment.benchmarks import load_benchmark
from captious.judgment.evidence import CaptionPairs, Evidence, RatedCaptions
from captious.judgment.judgment_files import data_folder
from captious.judgment.protocols import protocol
from captious.judgment.published import SUGARCREPE

N = 300  # pairs of each file


def records(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write(folder: Path, name: str, content: str | list[str] | object) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, list) and all(isinstance(line, str) for line in content):
        content = "".join(f"{line}\n" for line in content)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def jsonl(folder: Path, name: str, items: list[dict[str, Any]]) -> None:
    write(folder, name, [json.dumps(item) for item in items])


def load(folder: Path, name: str) -> Evidence:
    return load_benchmark(protocol(name), data_folder(folder))


def assert_same(found: Evidence, expected: Evidence) -> None:
    """The same candidates, references, judgments and units, in the same order."""
    assert isinstance(found, RatedCaptions | CaptionPairs)
    assert isinstance(expected, RatedCaptions | CaptionPairs)
    assert found.n == expected.n > 0
    assert found.captions.candidates == expected.captions.candidates
    assert found.captions.references.texts == expected.captions.references.texts
    np.testing.assert_array_equal(found.captions.references.offsets, expected.captions.references.offsets)
    np.testing.assert_array_equal(found.units, expected.units)
    if isinstance(found, CaptionPairs):
        assert isinstance(expected, CaptionPairs)
        np.testing.assert_array_equal(found.preferred, expected.preferred)
        np.testing.assert_array_equal(found.parts, expected.parts)
        assert list(found.names) == list(expected.names)
    else:
        assert isinstance(expected, RatedCaptions)
        for a, b in zip(found.ratings, expected.ratings, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)


# ---- Flickr8k


@pytest.fixture(scope="session")
def expert(shared_data: Path) -> list[dict[str, Any]]:
    return records(shared_data / "flickr8k" / "expert.jsonl.gz")


def tokens(rated: list[dict[str, Any]], more: Sequence[dict[str, Any]] = ()) -> list[str]:
    """Flickr8k.token.txt: the captions of all images, and of the candidates that other images lend."""
    text_of = {f"{r['image']}#{k}": text for r in rated for k, text in enumerate(r["refs"])}
    for r in [*rated, *more]:
        assert text_of.setdefault(r["caption_id"], r["candidate"]) == r["candidate"]
    return [f"{caption}\t{text}" for caption, text in text_of.items()]


@pytest.fixture
def expert_files(tmp_path: Path, expert: list[dict[str, Any]]) -> Path:
    """Both forms of the expert judgments, the published one apart in ``published``."""
    jsonl(tmp_path, "flickr8k/expert.jsonl", expert[:N])
    published = tmp_path / "published"
    lines = ["\t".join([r["image"], r["caption_id"], *map(str, r["scores"])]) for r in expert[:N]]
    write(published, "flickr8k/ExpertAnnotations.txt", lines)
    write(published, "flickr8k/Flickr8k.token.txt", tokens(expert[:N]))
    return tmp_path


@pytest.mark.parametrize("name", ["flickr8k-expert", "flickr8k-expert@yi2020"])
def test_expert(name: str, expert_files: Path) -> None:
    assert_same(load(expert_files / "published", name), load(expert_files, name))


def test_all_candidates_that_are_references_are_known(
    tmp_path: Path, expert: list[dict[str, Any]], shared_data: Path
) -> None:
    """All 5,822 flags of the normalised file follow from the captions."""
    lines = ["\t".join([r["image"], r["caption_id"], *map(str, r["scores"])]) for r in expert]
    write(tmp_path, "flickr8k/ExpertAnnotations.txt", lines)
    write(tmp_path, "flickr8k/Flickr8k.token.txt", tokens(expert))
    found = load(tmp_path, "flickr8k-expert")
    assert_same(found, load(shared_data, "flickr8k-expert"))
    assert found.n == 3 * (5822 - 158)


def test_means_of_yi_are_the_same_judgments(shared_data: Path, tmp_path: Path) -> None:
    """The file of Yi et al. itself, all 5,664 entries of it."""
    (tmp_path / "yi2020").mkdir()
    shutil.copy(shared_data / "yi2020" / "flickr.json.gz", tmp_path / "yi2020")
    assert_same(load(tmp_path, "flickr8k-expert@yi2020"), load(shared_data, "flickr8k-expert@yi2020"))
    with pytest.raises(ParameterError, match="only their means"):
        load(tmp_path, "flickr8k-expert")


def test_crowd(tmp_path: Path, shared_data: Path, expert: list[dict[str, Any]]) -> None:
    """With the two images where judged captions leave three references, in different ways."""
    judged = records(shared_data / "flickr8k" / "crowdflower.jsonl.gz")
    special = {"3262075846_5695021d84.jpg", "3498327617_d2e3db3ee3.jpg", "3624327440_bef4f33f32.jpg"}
    some = [r for number, r in enumerate(judged) if number < N or r["image"] in special]
    images = {r["image"] for r in some}
    references = json.loads(gzip.decompress((shared_data / "flickr8k" / "crowdflower_refs.json.gz").read_bytes()))
    jsonl(tmp_path, "flickr8k/crowdflower.jsonl", some)
    write(tmp_path, "flickr8k/crowdflower_refs.json", {image: references[image] for image in images})
    published = tmp_path / "published"
    lines = [f"{r['image']}\t{r['caption_id']}\t{r['yes_frac']:.15g}\t{r['n_yes']}\t{r['n_no']}" for r in some]
    write(published, "flickr8k/CrowdFlowerAnnotations.txt", lines)
    write(published, "flickr8k/Flickr8k.token.txt", tokens([r for r in expert if r["image"] in images], some))
    assert_same(load(published, "flickr8k-cf"), load(tmp_path, "flickr8k-cf"))


# ---- SugarCrepe


@pytest.mark.parametrize(
    ("coco", "file_name"),
    [("captions_val2017.json", "{:012}.jpg"), ("captions_val2014.json", "COCO_val2014_{:012}.jpg")],
)
def test_sugarcrepe(coco: str, file_name: str, tmp_path: Path, shared_data: Path) -> None:
    published = tmp_path / "published"
    images: set[int] = set()
    for part in SUGARCREPE:
        some = records(shared_data / "sugarcrepe" / f"{part}.jsonl.gz")[:40]
        jsonl(tmp_path, f"sugarcrepe/{part}.jsonl", some)
        entries = {
            r["id"]: {
                "filename": file_name.format(r["image_id"]),
                "caption": r["pos"],
                "negative_caption": r["neg"],
            }
            for r in some
        }
        write(published, f"sugarcrepe/{part}.json", entries)
        images |= {r["image_id"] for r in some}
    content = json.loads(gzip.decompress((shared_data / "coco" / "captions_val2014.json.gz").read_bytes()))
    kept = [a for a in content["annotations"] if a["image_id"] in images]
    write(published, f"coco/{coco}", {"annotations": kept})
    assert_same(load(published, "sugarcrepe"), load(tmp_path, "sugarcrepe"))


# ---- what is wrong


def test_neither_form_is_there(tmp_path: Path) -> None:
    write(tmp_path, "flickr8k/ExpertAnnotations.txt", ["a.jpg\ta.jpg#0\t1\t1\t1"])
    with pytest.raises(ResourceError) as caught:
        load(tmp_path, "flickr8k-expert")
    assert "flickr8k/expert.jsonl" in caught.value.where
    assert "or flickr8k/Flickr8k.token.txt" in caught.value.where
    with pytest.raises(ResourceError) as caught:
        load(tmp_path, "sugarcrepe")
    assert "sugarcrepe/swap_obj.jsonl" in caught.value.where
    assert "sugarcrepe/swap_obj.json and coco/captions_val2017.json" in caught.value.where


def test_the_normalised_form_comes_first(expert_files: Path) -> None:
    shutil.copytree(expert_files / "published", expert_files, dirs_exist_ok=True)
    assert list(load(expert_files, "flickr8k-expert").data) == ["expert.jsonl"]


GOOD = "a.jpg\ta.jpg#0\t1\t2\t4"
TOKENS = "a.jpg#0\ta dog\na.jpg#1\ta cat\n"


@pytest.mark.parametrize(
    ("ratings", "captions", "place", "kind"),
    [
        (f"{GOOD}\na.jpg\ta.jpg#0\t1\t2", TOKENS, "ExpertAnnotations.txt, line 2", CaptionFileError),
        (f"{GOOD}\n\na.jpg\ta.jpg#0\t1\t2\tx", TOKENS, "ExpertAnnotations.txt, line 3", CaptionFileError),
        ("a.jpg\ta.jpg#0\t1\t2\t5", TOKENS, "ExpertAnnotations.txt, line 1", CaptionFileError),
        ("a.jpg\ta.jpg#0\t1\tnan\t4", TOKENS, "ExpertAnnotations.txt, line 1", CaptionFileError),
        ("a.jpg\tb.jpg#0\t1\t2\t4", TOKENS, "ExpertAnnotations.txt, line 1", CaptionFileError),
        ("b.jpg\ta.jpg#0\t1\t2\t4", TOKENS, "ExpertAnnotations.txt, line 1", CaptionFileError),
        (GOOD, TOKENS + "a.jpg#1\ta cat\n", "Flickr8k.token.txt, line 3", CaptionFileError),
        (GOOD, TOKENS + "a.jpg\ta cat\n", "Flickr8k.token.txt, line 3", CaptionFileError),
        (GOOD, TOKENS + "a.jpg#2 a cat\n", "Flickr8k.token.txt, line 3", CaptionFileError),
        ("\n", TOKENS, "ExpertAnnotations.txt", EmptyInputError),
    ],
)
def test_broken_lines_are_named(
    ratings: str, captions: str, place: str, kind: type[CaptiousError], tmp_path: Path
) -> None:
    write(tmp_path, "flickr8k/ExpertAnnotations.txt", ratings)
    write(tmp_path, "flickr8k/Flickr8k.token.txt", captions)
    with pytest.raises(kind) as caught:
        load(tmp_path, "flickr8k-expert")
    assert caught.value.where.endswith(place)
    assert caught.value.help


def test_an_image_whose_captions_are_all_judged(tmp_path: Path) -> None:
    write(tmp_path, "flickr8k/CrowdFlowerAnnotations.txt", ["a.jpg\ta.jpg#0\t1\t3\t0", "a.jpg\ta.jpg#1\t1\t3\t0"])
    write(tmp_path, "flickr8k/Flickr8k.token.txt", TOKENS)
    with pytest.raises(CaptionFileError, match=r"a\.jpg are judged"):
        load(tmp_path, "flickr8k-cf")


def without(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda entry: {name: value for name, value in entry.items() if name != key}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("negative_caption"), "no negative_caption"),
        (lambda entry: entry | {"filename": "cat.jpg"}, "'cat' is no number"),
        (lambda entry: entry | {"filename": "000000000002.jpg"}, "2 has no caption"),
        (lambda entry: entry | {"caption": "A  CAT!", "filename": "000000000003.jpg"}, "no other caption"),
        (lambda entry: "a cat", "no filename"),
    ],
)
def test_broken_entries_are_named(change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path) -> None:
    good = {"filename": "000000000001.jpg", "caption": "a dog", "negative_caption": "a blue dog"}
    for part in SUGARCREPE:
        write(tmp_path, f"sugarcrepe/{part}.json", {"0": good, "7": change(good) if part == "add_obj" else good})
    captions = [(1, "a dog "), (1, "the dog"), (3, "a cat")]
    annotations = [{"image_id": image, "caption": caption} for image, caption in captions]
    write(tmp_path, "coco/captions_val2014.json", {"annotations": annotations})
    with pytest.raises(CaptionFileError, match=message) as caught:
        load(tmp_path, "sugarcrepe")
    assert "add_obj.json, entry '7'" in caught.value.where
