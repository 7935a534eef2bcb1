"""captious_server.challenges.starter"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captious.errors import CaptionFileError, ParameterError
from captious_server.challenges.folder import check_folder
from captious_server.challenges.problems import ChallengeError
from captious_server.challenges.starter import READY, write_ready

DOMAINS = ("in-domain", "near-domain", "out-domain")


def captions_file(path: Path, images: int = 4) -> Path:
    """References as COCO has them, of images of all domains."""
    rows = [{"image_id": n, "id": 2 * n + k, "caption": f"a bird of {n}"} for n in range(images) for k in range(2)]
    described = [{"id": n, "domain": DOMAINS[n % 3]} for n in range(images)]
    path.write_text(json.dumps({"images": described, "annotations": rows}))
    return path


@pytest.mark.parametrize("name", READY)
def test_ready_challenges_lack_only_references(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    files, missing = write_ready(folder, name)
    assert files == ["challenge.toml", "overview.md", "rules.md"]
    with pytest.raises(ChallengeError) as caught:
        check_folder(folder)
    assert caught.value.problems == [
        f"references[{place}].file: there is no file {file}" for place, file in enumerate(missing, 1)
    ]
    for file in missing:
        captions_file(folder / file)
    checked = check_folder(folder)
    assert checked.slug == name
    assert checked.definition.terms == "Rules"
    assert [captions.public for captions in checked.definition.captions] == [True, False]


def test_coco_has_two_reference_sets_and_a_zip_file_of_captions(tmp_path: Path) -> None:
    files = [captions_file(tmp_path / f"captions_{name}.json") for name in ("val2014", "test2014_c5", "test2014_c40")]
    _, missing = write_ready(tmp_path / "coco", "coco-captions", files)
    assert missing == []
    definition = check_folder(tmp_path / "coco").definition
    assert [definition.label(row.captions, row.name) for row in definition.references] == [
        "val2014 · c5",
        "test2014 · c5",
        "test2014 · c40",
    ]
    assert [phase.captions for phase in definition.phases] == [("val2014",), ("val2014", "test2014")]


def test_nocaps_has_a_reference_set_per_domain(tmp_path: Path) -> None:
    file = captions_file(tmp_path / "nocaps_val_4500_captions.json", images=7)
    test = captions_file(tmp_path / "nocaps_test_10600_captions.json", images=5)
    _, missing = write_ready(tmp_path / "novel objects", "nocaps", [file, test])
    assert missing == []
    checked = check_folder(tmp_path / "novel objects")
    assert checked.slug == "novel-objects"
    assert {name: table.ids for (captions, name), table in checked.references.items() if captions == "val"} == {
        "overall": (0, 1, 2, 3, 4, 5, 6),
        "in-domain": (0, 3, 6),
        "near-domain": (1, 4),
        "out-domain": (2, 5),
    }
    assert {*map(len, [checked.references["val", "in-domain"].texts])} == {6}


def test_references_of_another_data_set_are_refused(tmp_path: Path) -> None:
    other = captions_file(tmp_path / "other.json")
    with pytest.raises(ParameterError, match="not a file of this challenge") as caught:
        write_ready(tmp_path / "new", "vizwiz-captions", [other])
    assert "val.json, test.json" in caught.value.hint
    plain = tmp_path / "nocaps_val_4500_captions.json"
    plain.write_text(json.dumps({"images": [{"id": 1}], "annotations": []}))
    with pytest.raises(CaptionFileError, match="not a file of nocaps"):
        write_ready(tmp_path / "new", "nocaps", [plain])
    assert not (tmp_path / "new").exists()
