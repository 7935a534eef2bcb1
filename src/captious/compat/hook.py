"""What every Python of a program runs at its start below ``captious run``: the smallest hooks that notice a toolkit.

It imports nothing of captious, so that a program without a toolkit starts as fast as before. The rest of
``captious.compat`` is imported when a toolkit is, or a file whose name is like those of its scorers.
"""

from __future__ import annotations

import atexit
import os
import sys
from importlib.machinery import SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any, TypeAlias

    Replace: TypeAlias = Callable[[ModuleType], None]
    Install: TypeAlias = Callable[[dict[str, str | None], bool], None]


#: The environment variable that says what to replace: prefixes, separated by commas; ``name=toolkit`` for one whose
#: name does not say which toolkit it is.
VARIABLE = "CAPTIOUS_COMPAT"
#: The word in it for toolkits of their own name and all copies that can be recognized.
COPIES = "copies"
#: Names that mean nothing but a toolkit.
DEFAULTS = ("pycocoevalcap", "pyciderevalcap")
#: The environment variable that names the file of the replacement log.
FILE_VARIABLE = "CAPTIOUS_COMPAT_LOG"
#: Parts of the names of files that may have a scorer or a tokenizer.
_PARTS = ("bleu", "cider", "meteor", "rouge", "spice", "ptb", "token", "metric", "eval", "scor", "caption", "reward")
_load = SourceFileLoader.exec_module


# Copies: all ways of loading a file end in one method of its loader, imports by any finder as well as
# ``spec_from_file_location`` and ``load_module``. A descriptor replaces that method, so that other files are loaded
# without an additional step, and tracebacks have no additional line.


class _Loading:
    """The loader method that runs the source of a module; it also looks at what may be a copy."""

    def __init__(self, replace: Replace) -> None:
        self._replace = replace

    def __get__(self, loader: SourceFileLoader | None, owner: type[SourceFileLoader]) -> Any:
        if loader is None:
            return _load
        method = _load.__get__(loader, owner)
        if not _may_be_copy(loader.name, loader.path):
            return method

        def load_copy(module: ModuleType) -> None:
            method(module)
            _look_at(module, self._replace)

        return load_copy


def _may_be_copy(name: str, path: object) -> bool:
    file = str(path).replace("\\", "/").rpartition("/")[2].lower()
    return any(part in file for part in _PARTS) and not name.startswith("captious.")


def _look_at(module: ModuleType, replace: Replace) -> None:
    for name, value in vars(module).items():
        own = vars(value) if isinstance(value, type) and value.__module__ == module.__name__ else {}
        if "compute_score" in own or ("PTB" in name and "tokenize" in own):
            replace(module)
            return


def is_replacing() -> bool:
    """Return whether copies are replaced."""
    return isinstance(vars(SourceFileLoader).get("exec_module"), _Loading)


def replace_copies(replace: Replace) -> None:
    """Replace methods of copies from now on, and in modules that were already imported, by a function of a module."""
    if is_replacing():
        return
    type.__setattr__(SourceFileLoader, "exec_module", _Loading(replace))
    for name, module in [*sys.modules.items()]:
        if _may_be_copy(name, getattr(module, "__file__", None) or ""):
            _look_at(module, replace)


def restore_copies() -> None:
    """Replace nothing in modules that are loaded from now on."""
    if is_replacing():
        type.__delattr__(SourceFileLoader, "exec_module")


# Toolkits under their own names.


class _Waiting:
    """A finder that finds nothing, but installs the replacement of a toolkit when it is first imported.

    Args:
        prefixes: names of toolkits in a program -> the toolkit, None if the name says so.
        defaults: toolkits that are replaced, too, but not their copies of the same name.
        install: what replaces toolkits of such names, and whether the defaults.
    """

    def __init__(self, prefixes: dict[str, str | None], defaults: tuple[str, ...], install: Install) -> None:
        self.prefixes, self.defaults, self._install = prefixes, defaults, install

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Install the replacements, and return what they find, for a toolkit or a package above it."""
        if not any(f"{each}.".startswith(f"{name}.") for each in (*self.prefixes, *self.defaults)):
            return None
        sys.meta_path.remove(self)
        before = [*sys.meta_path]
        self._install(self.prefixes, bool(self.defaults))
        specs = (finder.find_spec(name, path) for finder in [*sys.meta_path] if finder not in before)
        return next((spec for spec in specs if spec is not None), None)


# The start of a Python.


def start(replace: Replace, install: Install) -> None:
    """Install the hooks for what is named in the environment variable, and write to the log that this Python did so.

    Args:
        replace: what replaces the methods of a module.
        install: what replaces toolkits, as in ``_Waiting``.
    """
    names = [name for name in os.environ.get(VARIABLE, "").split(",") if name]
    if not names:
        return
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_spec")]
    if all(finder.find_spec("captious", None) is None for finder in finders):
        write_event("without captious")
        return
    write_event("started")
    defaults = DEFAULTS if COPIES in names else ()
    prefixes = dict(split(name) for name in names if name != COPIES)
    if FILE_VARIABLE not in os.environ:  # nothing else reports what was replaced
        atexit.register(_report, [name for name in prefixes if name not in DEFAULTS])
    if COPIES in names:
        replace_copies(replace)
    sys.meta_path.insert(0, _Waiting(prefixes, defaults, install))


def split(prefix: str) -> tuple[str, str | None]:
    """Split a prefix into the name of a toolkit in a program, and the toolkit, None if the name says so."""
    name, separator, toolkit = prefix.partition("=")
    return name, toolkit if separator else None


def _report(prefixes: list[str]) -> None:
    log = sys.modules.get("captious.compat.replacement_log")
    if log is not None:
        log.print_summary(prefixes)


def write_event(event: str, **values: str) -> dict[str, Any]:
    """Write an event to the file of the log, if there is one, and return it.

    Args:
        event: "without captious"; "started", a Python of the program; "replaced", "kept"; "java", a class whose Java
            is answered, which is "replaced" when it starts Java; "toolkit", a whole toolkit that was replaced;
            "ignored", a name that the program sets in it.
        values: details of the event. The process, its Python and its arguments are added.
    """
    words = getattr(sys, "orig_argv", [])[1:]
    record = {"event": event, **values, "process": os.getpid(), "python": sys.executable, "words": words}
    path = os.environ.get(FILE_VARIABLE)
    if path:
        try:
            file = os.open(path, os.O_WRONLY | os.O_APPEND)
        except OSError:  # a process that outlives the program has no such file any more
            return record
        try:  # in one piece: processes write at the same time
            os.write(file, ascii(record).encode() + b"\n")
        finally:
            os.close(file)
    return record
