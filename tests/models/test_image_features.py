"""Features of images: files, names and shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from captious.errors import ParameterError, ResourceError
from captious.models.image_features import IMAGE_FEATURE_FORMATS, ImageFeatures

VECTORS = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
NEEDED = {".parquet": "pyarrow", ".h5": "h5py"}


@pytest.fixture(params=IMAGE_FEATURE_FORMATS)
def form(request: pytest.FixtureRequest) -> str:
    if request.param in NEEDED:
        pytest.importorskip(NEEDED[request.param])
    return str(request.param)


@pytest.mark.parametrize("ids", [(7, 8, 391895), ("a.jpg", "ü|1", "12")], ids=["numbers", "names"])
def test_files_hold_every_number(form: str, ids: tuple[int | str, ...], tmp_path: Path) -> None:
    features = ImageFeatures(ids, VECTORS, "some-model@1")
    features.save(tmp_path / f"f{form}")
    loaded = ImageFeatures.load(tmp_path / f"f{form}")
    assert (loaded.ids, loaded.model, loaded.label) == (ids, "some-model@1", features.label)
    np.testing.assert_array_equal(loaded.vectors, VECTORS)


def test_features_are_read_from_one_array_per_image(tmp_path: Path) -> None:
    np.savez(tmp_path / "f.npz", **{"12": VECTORS[0], "cat.png": VECTORS[1]})
    loaded = ImageFeatures.load(tmp_path / "f.npz")
    np.testing.assert_array_equal(loaded.vectors_of([12, "cat"]), VECTORS[:2])
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["12"] = VECTORS[0]
        file["13"] = VECTORS[1]
    np.testing.assert_array_equal(ImageFeatures.load(tmp_path / "f.h5").vectors_of(["13", "12"]), VECTORS[1::-1])


def test_names_of_files_stand_for_ids() -> None:
    features = ImageFeatures(("COCO_val2014_000000000042.jpg", "a.jpg", "a.png"), VECTORS)
    np.testing.assert_array_equal(features.vectors_of([42, "a.png"]), VECTORS[[0, 2]])
    with pytest.raises(ParameterError, match="1 of 2 images is named by several image files"):
        features.vectors_of(["a", 42])  # it could be either


def test_invalid_features_are_named_by_image() -> None:
    with pytest.raises(ParameterError, match="duplicate image id"):
        ImageFeatures((1, "1", 2), VECTORS)
    with pytest.raises(ParameterError, match="3 images with features of the shape"):
        ImageFeatures((1, 2, 3), VECTORS[:2])
    with pytest.raises(ParameterError, match="not finite") as error:
        ImageFeatures((1, 2), np.array([[1, 2], [np.nan, 1]]))
    assert error.value.where == "image_id 2"
    with pytest.raises(ParameterError, match=r"no format '\.pkl'"):
        ImageFeatures((1, 2, 3), VECTORS).save("f.pkl")


def test_damaged_files_are_refused(form: str, tmp_path: Path) -> None:
    file = tmp_path / f"f{form}"
    ImageFeatures((1, 2, 3), VECTORS, "model").save(file)
    whole = file.read_bytes()
    for size in range(0, len(whole), max(1, len(whole) // 40)):
        file.write_bytes(whole[:size])
        with pytest.raises(ResourceError) as error:
            ImageFeatures.load(file)
        assert str(file) in str(error.value)
    with pytest.raises(ResourceError, match="cannot read"):
        ImageFeatures.load(tmp_path / f"none{form}")


def test_arrays_that_are_not_features_are_refused(tmp_path: Path) -> None:
    for number, arrays in enumerate(
        [
            {},
            {"1": np.ones(2), "2": np.ones(3)},
            {"ids": np.ones((1, 1), int), "features": np.ones((1, 1))},
            {"1": np.array(["x"])},
        ]
    ):
        np.savez(tmp_path / f"{number}.npz", **arrays)
        with pytest.raises(ResourceError):
            ImageFeatures.load(tmp_path / f"{number}.npz")
    np.savez(tmp_path / "objects.npz", **{"1": np.array([{}], object)})
    with pytest.raises(ResourceError, match="not a file of image features"):
        ImageFeatures.load(tmp_path / "objects.npz")


def test_the_label_does_not_depend_on_the_order() -> None:
    one = ImageFeatures((1, 2, 3), VECTORS, "m")
    other = ImageFeatures((3, 2, 1), VECTORS[::-1], "m")
    assert one.label == other.label != ImageFeatures((1, 2, 3), VECTORS[::-1], "m").label


def test_files_that_are_not_features_are_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="a folder, not a file"):
        ImageFeatures.load(tmp_path)
    with pytest.raises(ParameterError, match="cannot name a model"):
        ImageFeatures((1,), VECTORS[:1], "a|b:\n")
    with pytest.raises(ParameterError, match="numbers or strings"):
        ImageFeatures((1.5,), VECTORS[:1])  # type: ignore[arg-type]
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for columns in ({"x": [1]}, {"id": [1, 2], "features": [[1.0], [1.0, 2.0]]}, {"id": [None], "features": [[1.0]]}):
        pq.write_table(pa.table(columns), tmp_path / "f.parquet")
        with pytest.raises(ResourceError):
            ImageFeatures.load(tmp_path / "f.parquet")


def test_h5_files_that_refer_to_others_are_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    (tmp_path / "secret").write_bytes(bytes(64))
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file.create_dataset("features", (2, 8), "f4", external=[(str(tmp_path / "secret"), 0, 64)])
        file["ids"] = np.arange(2)
    with pytest.raises(ResourceError, match="refers to other files"):
        ImageFeatures.load(tmp_path / "f.h5")
    ImageFeatures((1, 2), np.ones((2, 3), np.float32)).save(tmp_path / "other.h5")
    with h5py.File(tmp_path / "links.h5", "w") as file:
        file["features"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "features")
        file["ids"] = np.arange(2)
    with pytest.raises(ResourceError):
        ImageFeatures.load(tmp_path / "links.h5")


def test_a_parquet_file_that_unpacks_to_far_more_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    ImageFeatures(tuple(range(9000)), np.zeros((9000, 64), np.float32)).save(tmp_path / "f.parquet")
    assert len(ImageFeatures.load(tmp_path / "f.parquet")) == 9000
    monkeypatch.setenv("CAPTIOUS_MAX_UNPACKED", "1M")
    with pytest.raises(ResourceError, match="unpacks to more than"):
        ImageFeatures.load(tmp_path / "f.parquet")
