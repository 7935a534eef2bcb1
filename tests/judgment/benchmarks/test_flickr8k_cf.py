"""Flickr8k-CF: both forms of its files give the same judgments."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.errors import ResourceError
from captious.judgment.judgments import RatedCaptions
from tests.support.judgments import assert_same, load, read_jsonl, tokens, write, write_jsonl

N = 300  # pairs of each file


def test_published_and_normalized_flickr8k_cf_are_equal(
    tmp_path: Path, shared_data: Path, expert: list[dict[str, Any]]
) -> None:
    """With the two images where judged captions leave three references, in different ways."""
    judged = read_jsonl(shared_data / "flickr8k" / "crowdflower.jsonl.gz")
    special = {"3262075846_5695021d84.jpg", "3498327617_d2e3db3ee3.jpg", "3624327440_bef4f33f32.jpg"}
    some = [r for number, r in enumerate(judged) if number < N or r["image"] in special]
    images = {r["image"] for r in some}
    references = json.loads(gzip.decompress((shared_data / "flickr8k" / "crowdflower_refs.json.gz").read_bytes()))
    write_jsonl(tmp_path, "flickr8k/crowdflower.jsonl", some)
    write(tmp_path, "flickr8k/crowdflower_refs.json", {image: references[image] for image in images})
    published = tmp_path / "published"
    lines = [f"{r['image']}\t{r['caption_id']}\t{r['yes_frac']:.15g}\t{r['n_yes']}\t{r['n_no']}" for r in some]
    write(published, "flickr8k/CrowdFlowerAnnotations.txt", lines)
    write(published, "flickr8k/Flickr8k.token.txt", tokens([r for r in expert if r["image"] in images], some))
    assert_same(load(published, "flickr8k-cf"), load(tmp_path, "flickr8k-cf"))
    with pytest.raises(ResourceError, match=r"captions\.jsonl was not found"):
        load(tmp_path, "flickr8k-cf@cui2018")
    shutil.copy(shared_data / "flickr8k" / "captions.jsonl.gz", tmp_path / "flickr8k")
    for name in ("flickr8k-cf@cui2018-rounded", "flickr8k-cf@cui2018"):
        with_all_references = load(tmp_path, name)
        assert_same(load(published, name), with_all_references)
    assert isinstance(with_all_references, RatedCaptions)
    assert {*np.diff(with_all_references.captions.references.offsets)} == {5}
