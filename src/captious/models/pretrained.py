"""Models of transformers: required extra, presence on this machine, and loading."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from captious.errors import MissingExtraError, ResourceError
from captious.native import threads

#: The command that installs what models need.
INSTALL = "pip install 'captious[models]'"


def missing_extra() -> str | None:
    """Return the command that installs the requirements of models, or None if they are installed."""
    from importlib.util import find_spec

    return None if find_spec("torch") and find_spec("transformers") else INSTALL


def check_extra(what: str) -> None:
    """Refuse to go on without the requirements of models.

    Args:
        what: what needs them, with the verb, such as "vision models need".

    Raises:
        MissingExtraError: torch or transformers is not installed.
    """
    if missing_extra() is not None:
        raise MissingExtraError(f"{what} torch and transformers", hint=INSTALL)


def is_here(model: str) -> bool:
    """Return whether a model is a folder or in the hub's local cache, and the libraries that read it are installed."""
    from importlib.util import find_spec

    if Path(model).is_dir():
        return True
    if not find_spec("huggingface_hub"):
        return False
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(model, "config.json"), str)


def pretrained(name: str, load: Any, **options: Any) -> Any:
    """Load from a folder or the hub's cache, or else from the hub."""
    offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
    attempts = (True,) if Path(name).is_dir() or offline else (True, False)
    for local in attempts:
        try:
            with _quiet():
                return load(name, local_files_only=local, **options)
        except MemoryError:
            raise
        except Exception as error:  # the libraries raise many kinds of errors on missing and damaged files
            if local == attempts[-1]:
                raise _not_found(name, error) from error
    raise AssertionError


def version_of(name: str, config: Any) -> str:
    """Return the version of a model: the hub's commit, or a checksum of a file or of the weights in a folder."""
    commit = getattr(config, "_commit_hash", None)
    if commit:
        return str(commit)[:8]
    path = Path(name)
    files = [path] if path.is_file() else sorted(path.glob("*.safetensors")) or sorted(path.glob("*.bin"))
    checksum = 0
    for weights in files:
        with open(weights, "rb") as file:
            while piece := file.read(1 << 22):
                checksum = zlib.crc32(piece, checksum)
    return f"{checksum:08x}"


def image_processor(name: str) -> Any:
    """Return the image processor of a model, with PIL and numpy, without torchvision."""
    import transformers

    backend = {"backend": "pil"} if int(transformers.__version__.partition(".")[0]) >= 5 else {"use_fast": False}
    return pretrained(name, transformers.AutoImageProcessor.from_pretrained, **backend)


@contextmanager
def torch_threads(number: int | None = None) -> Iterator[None]:
    """Set the number of threads of torch within the block; None for ``CAPTIOUS_THREADS``, if that is set.

    With one thread, sums are always added in the same order.
    """
    import torch

    before = torch.get_num_threads()
    during = number or (threads() if os.environ.get("CAPTIOUS_THREADS") else before)
    if during != before:
        torch.set_num_threads(during)
    try:
        yield
    finally:
        if during != before:
            torch.set_num_threads(before)


@contextmanager
def _quiet() -> Iterator[None]:
    """Turn off progress bars and log lines of transformers within the block."""
    from logging import ERROR, getLogger

    from transformers.utils import logging

    hub = getLogger("huggingface_hub")  # it would log every attempt
    bars, level, hub_level = logging.is_progress_bar_enabled(), logging.get_verbosity(), hub.level
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    hub.setLevel(ERROR)
    try:
        yield
    finally:
        if bars:
            logging.enable_progress_bar()
        logging.set_verbosity(level)
        hub.setLevel(hub_level)


def _not_found(name: str, error: Exception) -> ResourceError:
    folder = Path(name)
    if folder.is_dir():
        return ResourceError(
            f"no model can be loaded from this folder: {str(error).splitlines()[0]}",
            where=str(folder.resolve()),
            hint="give a folder written by save_pretrained: config.json, weights and tokenizer",
        )
    if name.startswith((".", "~", os.sep)) or name.count("/") > 1:
        return ResourceError("folder not found", where=name, hint="give the folder of a model, or a name on the hub")
    from huggingface_hub.constants import HF_HUB_CACHE

    return ResourceError(
        f"the model {name} is not on this machine and cannot be downloaded",
        where=f"searched: a folder {name}, {HF_HUB_CACHE}, the hub",
        hint=f"with a network connection: hf download {name}; or give the folder of a model instead",
    )
