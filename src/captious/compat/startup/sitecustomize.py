"""The startup module of Python below ``captious run``: it replaces toolkits, then runs the user's own
``sitecustomize``.
"""

import json
import os
import sys
from contextlib import suppress
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

try:
    from captious.compat.programs import install_from_environment
except ImportError:  # another Python, which does not have captious
    with suppress(OSError), open(os.environ.get("CAPTIOUS_COMPAT_LOG", ""), "ab", buffering=0) as _file:
        _event = {"event": "without captious", "python": sys.executable, "process": os.getpid()}
        _file.write(json.dumps({**_event, "program": " ".join(getattr(sys, "orig_argv", [])[1:])}).encode() + b"\n")
else:
    install_from_environment()

_own = Path(__file__).parent.resolve()
_spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if Path(path).resolve() != _own])
if _spec is not None and _spec.loader is not None:
    _spec.loader.exec_module(module_from_spec(_spec))
