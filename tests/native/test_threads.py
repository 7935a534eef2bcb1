"""Kernels where the system gives no threads: the same results, in the thread there is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import re, resource
import numpy as np
from captious.data import read_captions
from captious.metrics.bleu import Bleu

n = 2_000
candidates = {i: f"a dog on mat {i}" for i in range(n)}
captions = read_captions(candidates, {i: ["a cat runs", "a dog on a mat"] for i in range(n)})
if ROOM:
    # A thread's stack takes 1 GiB of address space, so ROOM says how many threads there can be.
    with open("/proc/self/status") as status:
        size = int(re.search(r"VmSize:\\s+(\\d+)", status.read())[1]) << 10
    resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, resource.RLIM_INFINITY))
statistics = Bleu().statistics(captions)
print(statistics.sum(axis=0).tolist(), statistics[-1].tolist())
"""
STACK = 1 << 30


def limit_stacks() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))


def run(room: int) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.replace("ROOM", str(room))
    environment = {**os.environ, "CAPTIOUS_THREADS": "4"}
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        preexec_fn=limit_stacks,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="not here: no /proc")
@pytest.mark.parametrize("threads", [0, 1, 2])
def test_threads_that_cannot_be_had(threads: int) -> None:
    expected, actual = run(0), run(threads * STACK + STACK // 2)
    assert (actual.returncode, actual.stderr) == (0, "")
    assert actual.stdout == expected.stdout != ""
