"""The startup module of Python below ``captious run``: it starts the hook of ``captious.compat``, and then runs the
user's own ``sitecustomize``.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


def _replace(module: ModuleType) -> None:
    from captious.compat.copies.copy_loading import replace_methods

    replace_methods(module)


def _install(prefixes: dict[str, str | None], with_defaults: bool) -> None:
    from captious.compat.redirection import install

    if with_defaults:
        install()
    for prefix, toolkit in prefixes.items():
        install(prefix, toolkit=toolkit)


_own = os.path.dirname(os.path.abspath(__file__))
_name = "captious.compat.hook"  # the module itself, but without what its package imports
_hook = type(sys)(_name)
_hook.__file__ = os.path.join(os.path.dirname(_own), "hook.py")
try:
    exec(SourceFileLoader(_name, _hook.__file__).get_code(_name) or "", _hook.__dict__)
except SyntaxError:  # a Python that is too old for captious
    pass
else:
    sys.modules[_name] = _hook
    _hook.start(_replace, _install)

_others = [path for path in sys.path if os.path.abspath(path) != _own]
_spec = PathFinder.find_spec("sitecustomize", _others)
if _spec is not None and _spec.loader is not None:
    from importlib.util import module_from_spec

    _spec.loader.exec_module(module_from_spec(_spec))
