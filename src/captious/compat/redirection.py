"""``install``: redirection of imports of another toolkit to its replacement in captious.

    import captious.compat
    captious.compat.install()
    from pycocoevalcap.cider.cider import Cider  # captious.compat.pycocoevalcap.Cider

Modules of both names are the same objects, so patches are visible throughout a program, and objects are pickled under
captious's names. In copies that are part of a repository, only scorers and tokenizers are replaced: see ``copies``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from captious.compat import replacement_log
from captious.compat.copies.copy_loading import replace_methods, restore_methods
from captious.compat.hook import DEFAULTS, is_replacing, replace_copies, restore_copies
from captious.errors import ParameterError
from captious.plugins import is_installed

__all__ = ["TOOLKITS", "install", "installed", "redirected", "replacement_of", "uninstall"]

#: Toolkits by the last word of their names, and the packages that replace them. "evaluation" is the package of the
#: meshed-memory transformer's code.
TOOLKITS = {
    "pycocoevalcap": "captious.compat.pycocoevalcap",
    "pyciderevalcap": "captious.compat.pyciderevalcap",
    "evaluation": "captious.compat.meshed_memory",
    "aac_metrics": "captious.compat.aac_metrics",
}

#: The origin of empty packages above a toolkit, such as ``nlgeval``, where nothing else has that name.
_ABOVE = "above a toolkit that captious replaces"


def install(prefix: str | None = None, *, toolkit: str | None = None) -> None:
    """Replace toolkits in all later imports.

    Already imported modules of a toolkit are replaced for later imports; names already imported from them are not
    changed.

    Args:
        prefix: the import name of a toolkit to replace whole: ``pycocoevalcap``, or within another package,
            ``nlgeval.pycocoevalcap``. None for ``pycocoevalcap`` and ``pyciderevalcap``, and for the scorers and
            tokenizers of copies under any name, which are recognized by their files.
        toolkit: the toolkit, of ``TOOLKITS``, if it is not the last word of the prefix: with
            ``install("metrics", toolkit="evaluation")``, ``metrics.PTBTokenizer`` leads to captious.

    Raises:
        ParameterError: not the name of a toolkit that captious replaces, or a name already used for another toolkit.
    """
    if prefix is None:
        replace_copies(replace_methods)
        for default in DEFAULTS:
            if default not in installed():
                sys.meta_path.insert(0, _Finder(default, replacement_of(default), keeps_copies=True))
        return
    target = replacement_of(prefix, toolkit)
    for finder in _finders():
        if finder.prefix == prefix and not finder.keeps_copies:
            if finder.target != target:
                raise ParameterError(
                    f"{prefix!r} already leads to {finder.target}", hint=f"call uninstall({prefix!r}) first"
                )
            return
    sys.meta_path.insert(0, _Finder(prefix, target))


def replacement_of(prefix: str, toolkit: str | None = None) -> str:
    """Return the package of captious that replaces a toolkit; the arguments are those of ``install``.

    Raises:
        ParameterError: not the name of a toolkit that captious replaces.
    """
    name = prefix.rpartition(".")[2] if toolkit is None else toolkit
    if name not in TOOLKITS or not all(word.isidentifier() for word in prefix.split(".")):
        help = (
            f"say which one it is: {prefix}=pycocoevalcap, or another of {', '.join(TOOLKITS)}"
            if toolkit is None
            else f"the toolkits are {', '.join(TOOLKITS)}"
        )
        package = prefix if toolkit is None or name in TOOLKITS else toolkit
        raise ParameterError(f"{package!r} is not a toolkit that captious replaces", hint=help)
    return TOOLKITS[name]


def uninstall(prefix: str | None = None) -> None:
    """Undo ``install``: later imports work as before.

    Args:
        prefix: as passed to ``install``; None for all.
    """
    _remove(finder for finder in _finders() if prefix in (None, finder.prefix))
    if prefix is None:
        restore_copies()
        restore_methods()


def _remove(finders: Iterable[_Finder]) -> None:
    for finder in finders:
        sys.meta_path.remove(finder)
        finder.restore()


def installed() -> list[str]:
    """Return the prefixes that are redirected to captious."""
    return [finder.prefix for finder in _finders()]


def _finders() -> list[_Finder]:
    return [finder for finder in sys.meta_path if isinstance(finder, _Finder)]


@contextmanager
def redirected(prefix: str | None = None, *, toolkit: str | None = None) -> Iterator[None]:
    """Return a context in which toolkits are replaced; the arguments are those of ``install``."""
    before, replaced_copies = _finders(), is_replacing()
    install(prefix, toolkit=toolkit)
    try:
        yield
    finally:
        _remove(finder for finder in _finders() if finder not in before)
        if not replaced_copies:
            restore_copies()
            restore_methods()


class _Finder(MetaPathFinder):
    """Finds the modules below a prefix, the dotted name of a toolkit, in the package of captious that replaces it.

    Args:
        prefix: the dotted name.
        target: the package of captious.
        keeps_copies: do not replace a package of that name that is part of a repository instead of installed, except
            for its files in Python 2 syntax.
    """

    def __init__(self, prefix: str, target: str, *, keeps_copies: bool = False) -> None:
        self.prefix = prefix
        self.target = target
        self.keeps_copies = keeps_copies
        self._is_copy = False
        self._before = _take_out(prefix)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for the toolkit and its submodules, and for its parent packages if there are none."""
        if self.prefix.startswith(f"{name}."):
            exists = name in sys.modules or _found_by_others(name, path) is not None
            return None if exists else ModuleSpec(name, None, origin=_ABOVE, is_package=True)
        if name != self.prefix and not name.startswith(f"{self.prefix}."):
            return None
        if name == self.prefix:
            self._is_copy = self.keeps_copies and _is_of_a_repository(_found_by_others(name, path))
        if self._is_copy and _is_python_3(_found_by_others(name, path)):
            return None
        replacement = find_spec(self.target + name.removeprefix(self.prefix))
        if replacement is None and self.keeps_copies:
            return None
        if replacement is None:
            what = f"{self.prefix} is {self.target}, which has none; the toolkits are {', '.join(TOOLKITS)}"
            raise ModuleNotFoundError(f"No module named {name!r}: {what}", name=name)
        replacement_log.add("toolkit", prefix=self.prefix, by=self.target)
        is_package = replacement.submodule_search_locations is not None
        spec = ModuleSpec(name, _Alias(replacement.name), origin=replacement.origin, is_package=is_package)
        if is_package:
            spec.submodule_search_locations = list(replacement.submodule_search_locations or ())
        return spec

    def restore(self) -> None:
        """Restore the modules that were imported before, and remove everything else."""
        _take_out(self.prefix)
        sys.modules.update(self._before)
        parent, _, last = self.prefix.rpartition(".")
        if self.prefix in self._before and parent in sys.modules:
            setattr(sys.modules[parent], last, self._before[self.prefix])
        name = self.prefix
        while (name := name.rpartition(".")[0]) and _is_unused(name):
            _take_out(name)


class _Alias(Loader):
    """Loader of a module of captious under another name: the same object."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self._name)
        self._own = module.__spec__  # the import system is about to replace it
        # Modules below it need no import under the other name: it would set them as attributes of the package, where
        # an attribute of that name may be a function, as in ``functional.bleu``.
        for name in [name for name in sys.modules if name.startswith(f"{self._name}.")]:
            sys.modules.setdefault(spec.name + name.removeprefix(self._name), sys.modules[name])
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own


def _found_by_others(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Return the spec that a module would have without captious, including editable installations."""
    for finder in sys.meta_path:
        if not isinstance(finder, _Finder) and hasattr(finder, "find_spec"):
            spec = finder.find_spec(name, path)
            if spec is not None:
                return spec
    return None


def _is_of_a_repository(spec: ModuleSpec | None) -> bool:
    """Return whether a package exists, but is not among the installed ones."""
    if spec is None:
        return False
    return not is_installed(spec.origin or next(iter(spec.submodule_search_locations or []), ""))


def _is_python_3(spec: ModuleSpec | None) -> bool:
    """Return whether this Python can parse a module, or there is none."""
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return True
    try:
        compile(Path(spec.origin).read_bytes(), spec.origin, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _take_out(prefix: str) -> dict[str, ModuleType]:
    """Remove the modules of a toolkit from the imported ones, and from their parent package."""
    names = [name for name in sys.modules if name == prefix or name.startswith(f"{prefix}.")]
    modules = {name: sys.modules.pop(name) for name in names}
    parent, _, last = prefix.rpartition(".")
    if prefix in modules and parent in sys.modules and vars(sys.modules[parent]).get(last) is modules[prefix]:
        delattr(sys.modules[parent], last)  # ``from parent import last`` would find it without an import
    return modules


def _is_unused(name: str) -> bool:
    """Return whether a package is an empty parent of a toolkit, with nothing below it any more."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    below = [module for module in [*sys.modules, *installed()] if module.startswith(f"{name}.")]
    return getattr(spec, "origin", None) == _ABOVE and not below
