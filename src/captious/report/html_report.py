"""``write_report``: results as one self-contained HTML file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captious.errors import ParameterError
from captious.evaluation import Comparison, Report, Reports
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES
from captious.files.atomic_write import is_pipe_or_device, whole_file
from captious.random_seed import DEFAULT_SEED
from captious.report.page.systems_page import SystemsPage
from captious.report.page.table_page import table_page
from captious.results.displayed import Displayed

if TYPE_CHECKING:
    from captious.judgment import Judgment, Study


def write_report(
    result: Report | Reports | Comparison | Judgment | Study | Sequence[Report],
    path: str | os.PathLike[str],
    *,
    title: str = "",
    image_url: str | os.PathLike[str] | None = None,
    explain: int | None = None,
    groups: object = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    percent: bool = False,
) -> None:
    """Write a result as a self-contained HTML file. The same result gives the same bytes.

    Args:
        result: the result to show: one system or several that were scored with the same metrics on the same images, a
            comparison, a judgment or a study.
        path: the file, whose name ends in .html.
        title: title of the page. By default, the systems and the number of images, or the name of the result.
        image_url: the images of captions: a URL such as
            ``https://images.example.org/{id:012d}.jpg``, a path relative to the page, such as ``images/{id}.jpg``, or a
            folder of image files that are named by image id. By default, it shows no images.
        explain: number of images for which the page has alignments, scene graphs and transport plans: those with the
            largest differences between systems, or the worst scores of one system. By default, all images.
        groups: for systems: the group of each image, as ``captious.by_group`` takes it.
        resamples, seed: for systems: number of resamples and random seed of intervals and tests.
        percent: for systems: multiply scores by 100 and show one decimal, as papers do. Explanations are not changed.

    Raises:
        ParameterError: a file with another ending; systems that cannot be reported together, or an option out of range.
        InputError: images without a file in the folder, or with more than one.
        OutputError: the file cannot be written.
    """
    check_page(path)
    page = report_page(
        result,
        title=title,
        image_url=image_url,
        explain=explain,
        groups=groups,
        resamples=resamples,
        seed=seed,
        percent=percent,
        folder=Path(path).parent,
    )
    with whole_file(path) as file:
        file.write(page)


def check_page(path: str | os.PathLike[str]) -> None:
    """Check that a page can be written to a path.

    Raises:
        ParameterError: it is not a path, or its name does not end in .html.
    """
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"a {type(path).__name__} is not a path", help="give the result first, then the path")
    if Path(path).suffix.lower() not in (".html", ".htm") and not is_pipe_or_device(path):
        raise ParameterError(
            f"{Path(path).name} is not the name of a page", where=str(path), help=f"name it {Path(path).stem}.html"
        )


def report_page(result: object, *, title: str = "", **options: Any) -> str:
    """Return the page that ``write_report`` writes."""
    if isinstance(result, Report):
        result = [result]
    elif isinstance(result, Reports):
        result = [*result.values()]
    elif isinstance(result, Comparison):
        options |= {"resamples": result.resamples, "seed": result.seed}
        result = [result.a, result.b]
    if (
        isinstance(result, Sequence)
        and not isinstance(result, str)
        and all(isinstance(report, Report) for report in result)
    ):
        return SystemsPage(result, title, **options).html()
    if isinstance(result, Displayed):
        return table_page(result.to_table(), title)
    raise ParameterError(
        f"a {type(result).__name__} is not a result",
        help="give a Report, several of them, a Comparison, Judgment or Study",
    )
