"""What Python runs when it starts below ``captious run``: it replaces toolkits, then runs the user's own one."""

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

try:
    from captious.compat.program_command import install_from_environment
except ImportError:  # another Python, which does not have captious
    pass
else:
    install_from_environment()

_own = Path(__file__).parent.resolve()
_spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if Path(path).resolve() != _own])
if _spec is not None and _spec.loader is not None:
    _spec.loader.exec_module(module_from_spec(_spec))
