"""CLIP: images and texts as unit vectors in one space, and annotation layers of them.

Any checkpoint that transformers loads as a ``CLIPModel`` will do. Images are prepared by PIL and numpy, without
torchvision.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, Stored, stored_key
from captious.data.rows import image_list
from captious.data.tables import TextCache
from captious.errors import InputError, MissingExtraError, ResourceError, reason
from captious.models.encoders import Encoder, TextVectors, equal_lengths, loaded_weights, numbered, token_ids
from captious.models.pretrained import INSTALL, image_processor, missing_extra, torch_threads
from captious.native import threads
from captious.progress import Progress
from captious.words import counted_of, sample_of

# Image files: lookup by id in a folder, and reading of pixels.

_EXTENSIONS = frozenset((".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"))
#: COCO's names of files without extension: COCO_val2014_000000391895 (until 2015), 000000391895 (from 2017).
_COCO = re.compile(r"(?:COCO_[a-z]+[0-9]{4}_)?([0-9]{12})")


def images_in(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the image files in a folder by name, excluding subfolders.

    Raises:
        InputError: the folder cannot be read.
    """
    return [Path(folder) / file for file in sorted(_files(folder)) if os.path.splitext(file)[1].lower() in _EXTENSIONS]


def ids_in_name(file: str) -> list[str]:
    """Return the ids that the name of an image file can stand for, apart from itself; none for other files."""
    stem, extension = os.path.splitext(file)
    if extension.lower() not in _EXTENSIONS:
        return []
    number = _COCO.fullmatch(stem)
    return [*dict.fromkeys([stem, str(int(number[1]))] if number else [stem])]


def find_images(folder: str | os.PathLike[str], ids: Sequence[int | str]) -> list[Path]:
    """Find the file of each image by name; subfolders are not searched.

    A file whose name is the id, extension included, takes precedence. Otherwise it is the file whose name is the id
    with an image extension, in upper or lower case, or the number as COCO writes it: ``7`` is ``7.jpg``, ``7.PNG``,
    ``000000000007.jpg`` or ``COCO_val2014_000000000007.jpg``.

    Raises:
        InputError: the folder cannot be read; images without a file, or with more than one.
    """
    folder = Path(folder)
    files = _files(folder)
    files_of: dict[str, list[str]] = {}
    for file in sorted(files):
        for name in ids_in_name(file):
            files_of.setdefault(name, []).append(file)
    names_of = [[str(image)] if str(image) in files else files_of.get(str(image), []) for image in ids]
    if absent := [image for image, names in zip(ids, names_of, strict=True) if not names]:
        raise InputError(
            f"{counted_of(len(absent), len(ids), 'image', 'have')} no file",
            where=f"{folder}: {image_list(absent)}",
            hint="image files are named by id: ID, ID.jpg, 000000ID.jpg or COCO_val2014_000000ID.jpg",
        )
    if several := [f"{image!r}: {' or '.join(names)}" for image, names in zip(ids, names_of, strict=True) if names[1:]]:
        raise InputError(
            f"{counted_of(len(several), len(ids), 'image', 'have')} more than one file",
            where=f"{folder}: image_id {sample_of(several, separator='; ')}",
            hint="keep one file per image in the folder, or give the file names as ids",
        )
    return [folder / names[0] for names in names_of]


def read_image(path: Path) -> Any:
    """Read an image file as an RGB image of PIL, in the orientation in which it is stored.

    Raises:
        InputError: not an image, or a broken one.
    """
    from PIL import Image

    try:
        with Image.open(path) as image:
            return image.convert("RGB")
    except MemoryError:
        raise
    except Exception as error:  # decoders raise many kinds of errors on broken files
        raise InputError(
            f"the image file {path.name} cannot be read: {str(error) or type(error).__name__}",
            where=str(path),
            hint="replace the file with a valid image",
        ) from error


def _files(folder: str | os.PathLike[str]) -> set[str]:
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in entries if entry.is_file()}
    except (OSError, ValueError) as error:
        raise InputError(
            f"the folder of images cannot be read: {reason(error)}",
            where=str(folder),
            hint="give the folder that holds the image files",
        ) from error


# Vectors of images and texts, and their layers.

_IMAGES_PER_BATCH = 32  # 19 MB at 224 x 224 pixels
_TEXTS_PER_BATCH = 64
_TEXTS_PER_BATCH_GPU = 1024
_CANDIDATES_KEPT = 1 << 16  # 170 MB at 512 numbers each


def missing_clip() -> str | None:
    """Return the command that installs the requirements of CLIP, or None if they are installed."""
    from importlib.util import find_spec

    return missing_extra() or (None if find_spec("PIL") else INSTALL)


def encode_images(encoder: Encoder, paths: Sequence[Path]) -> NDArray[np.float32]:
    """Return unit vectors of images, float32[n, d].

    Raises:
        InputError: a file that is not an image, or a broken one.
        MissingExtraError: torch, transformers or PIL is not installed.
        ResourceError: the model cannot be found or read, or is not a CLIP model.
    """
    clip = _clip(encoder)
    import torch

    vectors = np.empty((len(paths), clip.width), np.float32)
    with Progress(max(1, len(paths))) as progress, ThreadPoolExecutor(threads()) as pool:
        for start in range(0, len(paths), _IMAGES_PER_BATCH):
            progress.reach(start, f"encoding images with {encoder.model}")
            batch = slice(start, start + _IMAGES_PER_BATCH)
            pixels = torch.from_numpy(np.stack(_read(clip.pixels, paths[batch], pool)))
            with torch.inference_mode(), torch_threads():
                pooled = clip.model.vision_model(pixel_values=pixels.to(clip.device, clip.model.dtype)).pooler_output
                vectors[batch] = _units(clip.model.visual_projection(pooled))
    return vectors


def _read(
    pixels: Callable[[Path], NDArray[np.float32]], paths: Sequence[Path], pool: ThreadPoolExecutor
) -> list[NDArray[np.float32]]:
    """Return the model input for the image of each path; read in this thread if no others can be started."""
    try:
        futures = [pool.submit(pixels, path) for path in paths]
    except RuntimeError:
        return [pixels(path) for path in paths]
    return [future.result() for future in futures]


def encode_texts(encoder: Encoder, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return unit vectors of texts, float32[n, d], and which texts were truncated to the maximum length of the model,
    bool[n].

    As in the official tokenizer, a truncated text keeps the special token at its end.

    Raises:
        MissingExtraError, ResourceError: as ``encode_images``.
    """
    clip = _clip(encoder)
    import torch

    ids = clip.tokenize(texts)
    lengths = np.array([len(sequence) for sequence in ids], np.int64)
    cut = lengths > clip.max_tokens
    for row in np.flatnonzero(cut).tolist():
        ids[row] = ids[row][: clip.max_tokens - 1] + ids[row][-1:]
    vectors = np.empty((len(texts), clip.width), np.float32)
    most = _TEXTS_PER_BATCH if clip.device.type == "cpu" else _TEXTS_PER_BATCH_GPU
    for rows, batch in equal_lengths(ids, lambda length: most, f"encoding texts with {encoder.model}", clip.device):
        with torch.inference_mode(), torch_threads():
            vectors[rows] = _units(clip.model.text_projection(clip.model.text_model(input_ids=batch).pooler_output))
    return vectors, cut


@dataclass(frozen=True)
class ImageLayer:
    """Unit vectors of the images in a folder, float32[n_images, d]; see ``find_images`` for how files are found."""

    encoder: Encoder
    folder: Path

    def of_references(self, references: References) -> NDArray[np.float32]:
        distinct, rows = numbered(references.images)
        return encode_images(self.encoder, find_images(self.folder, distinct))[rows]


@dataclass(frozen=True)
class PromptedCandidates:
    """Candidates with a prompt. Vectors are cached with the references, so that systems share equal captions."""

    encoder: Encoder
    prompt: str

    def of_candidates(self, captions: Captions) -> TextVectors:
        def encode(texts: list[str]) -> Iterator[tuple[NDArray[np.float32], np.bool_]]:
            vectors, cut = encode_texts(self.encoder, [f"{self.prompt} {text}" for text in texts])
            return zip(map(np.copy, vectors), cut, strict=True)  # rows that do not keep the whole array alive

        memo: TextCache[tuple[NDArray[np.float32], np.bool_]] = captions.references.memo(self, _CANDIDATES_KEPT)
        rows = memo.get(captions.candidates, encode)
        vectors = np.array([vector for vector, _ in rows], np.float32).reshape(len(rows), _clip(self.encoder).width)
        return TextVectors(vectors, np.array([cut for _, cut in rows], np.bool_))


@dataclass(frozen=True)
class PromptedReferences:
    """References with a prompt."""

    encoder: Encoder
    prompt: str

    @property
    def stored_as(self) -> str | None:
        return stored_key("clip-texts-1", self.encoder.stored_as, repr(self.prompt))

    def to_stored(self, annotation: TextVectors, references: References) -> Stored:
        return Stored({"vectors": annotation.vectors, "cut": annotation.cut})

    def from_stored(self, stored: Stored, references: References) -> TextVectors:
        vectors, cut = stored.arrays["vectors"], stored.arrays["cut"]
        n = len(references.texts)
        if (vectors.shape, cut.shape) != ((n, _clip(self.encoder).width), (n,)) or vectors.dtype != np.float32:
            raise ValueError("vectors of other texts")
        return TextVectors(vectors, cut)

    def of_references(self, references: References) -> TextVectors:
        distinct, rows = numbered(references.texts)
        return TextVectors(*encode_texts(self.encoder, [f"{self.prompt} {text}" for text in distinct]))[rows]


def max_tokens(encoder: Encoder) -> int:
    """Return the maximum number of tokens of a text, including special ones."""
    return _clip(encoder).max_tokens


class _Clip:
    """A CLIP model in memory, with its tokenizer and image processor."""

    def __init__(self, encoder: Encoder) -> None:
        if missing_clip() is not None:
            raise MissingExtraError(f"{encoder.model} needs torch, transformers and pillow", hint=INSTALL)
        weights = loaded_weights(encoder)
        import transformers

        self.model, self.device, self._tokenizer = weights.model, weights.device, weights.tokenizer
        if not isinstance(self.model, transformers.CLIPModel):
            raise ResourceError(
                f"{encoder.model} is a {weights.config.model_type} model, not a CLIP model of images and texts",
                where=f"its class is {type(self.model).__name__}",
                hint="give a CLIP checkpoint, such as openai/clip-vit-base-patch32, or a folder with one",
            )
        self.width = int(weights.config.projection_dim)
        self.max_tokens: int = min(weights.config.text_config.max_position_embeddings, self._tokenizer.model_max_length)
        self._processor = image_processor(weights.companion)

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text with the special tokens, of any length."""
        return token_ids(self._tokenizer, texts, verbose=False)

    def pixels(self, path: Path) -> NDArray[np.float32]:
        """Return an image as model input, float32[3, height, width].

        The model's image processor does everything except placing the crop: if the margin is odd, the official code
        rounds half of it to the even pixel and transformers rounds it down, so the crops can differ by a pixel.
        """
        image, processor = read_image(path), self._processor
        options: dict[str, Any] = {}
        edge = processor.size.get("shortest_edge")
        if processor.do_resize and processor.do_center_crop and edge:
            width, height = image.size
            shorter = min(width, height)
            resized = image.resize((edge * width // shorter, edge * height // shorter), processor.resample)
            cut_width, cut_height = processor.crop_size["width"], processor.crop_size["height"]
            left, top = round((resized.width - cut_width) / 2), round((resized.height - cut_height) / 2)
            image = resized.crop((left, top, left + cut_width, top + cut_height))
            options = {"do_resize": False, "do_center_crop": False}
        pixels: NDArray[np.float32] = processor(images=image, return_tensors="np", **options)["pixel_values"][0]
        return pixels


@cache
def _clip(encoder: Encoder) -> _Clip:
    return _Clip(encoder)


def _units(tensor: Any) -> NDArray[np.float32]:
    """Scale vectors to length 1; zero vectors are unchanged."""
    vectors: NDArray[np.float32] = tensor.float().cpu().numpy()
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units: NDArray[np.float32] = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return units
