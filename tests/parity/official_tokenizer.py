"""Runs the official tokenizer, CoreNLP 3.4.1 as pycocoevalcap carries it, on one caption at a time.

PtbOracle.java is run from its source, so it needs java 11 or later, but no compiler.
"""

from __future__ import annotations

import base64
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.parity.toolkit_jars import toolkit_jar

SOURCE = Path(__file__).with_name("PtbOracle.java")
JAR = "stanford-corenlp-3.4.1.jar"


def jar() -> Path:
    """Return the official program; skips the test if it or java is missing."""
    return toolkit_jar("tokenizer", JAR)


def tokenize(captions: Sequence[str]) -> list[list[str]]:
    """Return raw tokens of each caption alone, lower-cased, punctuation included. Captions must hold no line breaks."""
    command = ["java", "-XX:+UseSerialGC", "-Xmx1g", "-cp", str(jar()), str(SOURCE)]
    with tempfile.TemporaryFile() as lines, tempfile.TemporaryFile() as output:
        lines.writelines(base64.b64encode(caption.encode()) + b"\n" for caption in captions)
        lines.seek(0)
        subprocess.run(command, stdin=lines, stdout=output, stderr=subprocess.DEVNULL, check=True)
        output.seek(0)
        answers = output.read().decode().split("\n")
    assert answers.pop() == ""
    assert len(answers) == len(captions)
    return [answer.split("\x01") if answer else [] for answer in answers]
