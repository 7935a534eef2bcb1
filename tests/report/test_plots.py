"""captious.report.plots"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.errors import MissingExtraError, OutputError, ParameterError, UnknownNameError
from captious.evaluation import compare_reports
from captious.judgment import Judgment, Study
from captious.judgment.results import Curve, Curves, Matrix
from captious.report import plots
from captious.tables import scatter
from tests.report.results import agreement, judgment

pytest.importorskip("matplotlib")

BEGINNINGS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.fixture
def judged() -> Judgment:
    return judgment(agreement("bleu-4", 0.31, 2), agreement("cider-d", 0.44, 1), agreement("rouge-l", 0.32, 2))


@pytest.fixture
def study() -> Study:
    x = np.array([0.0, 0.5, 1.0])
    lines = {"falling": Curve(x, 1 - x, -x, 2 - x), "some $5 words$": Curve(x, x, points=True)}
    return Study(
        "robustness",
        "A study",
        ("a",),
        [{"a": 1}],
        pictures={
            "curves": Curves("Words $x_", "strength", "score", lines),
            "metrics": Matrix("Correlations", ["a", "b"], np.array([[1.0, -0.25], [-0.25, np.nan]])),
        },
    )


@pytest.mark.parametrize("format", plots.FORMATS)
def test_plots_are_written_to_reproducible_files(judged: Judgment, study: Study, tmp_path: Path, format: str) -> None:
    """One per benchmark, curve or matrix, and the same bytes for the same result."""
    for result, names in ((judged, ["composite@hessel2021"]), (study, ["curves", "metrics"])):
        first = plots.write_plots(tmp_path / "first", result, format)
        again = plots.write_plots(tmp_path / "again", result, format)
        assert [path.name for path in first] == [f"{name}.{format}" for name in names]
        for one, other in zip(first, again, strict=True):
            assert one.read_bytes().startswith(BEGINNINGS[format])
            assert one.read_bytes() == other.read_bytes()
    assert len([*(tmp_path / "first").iterdir()]) == 3  # no file is left over


def test_metrics_stand_by_rank(judged: Judgment) -> None:
    (picture,) = judged.to_table().pictures.values()
    (axes,) = plots.draw(picture).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["cider-d", "rouge-l", "bleu-4"]
    assert axes.get_ylim() == (2.5, -0.5)  # the first on top
    drawn = [(x, y) for line in axes.lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]
    assert np.array(drawn) == pytest.approx(np.array([[44, 0], [32, 1], [31, 2]]))
    bars = [segment[:, 0] for bar in axes.collections for segment in bar.get_segments()]
    assert np.array(bars) == pytest.approx(np.array([[42, 45], [30, 33], [29, 32]]))
    assert [text.get_text() for text in axes.texts] == ["rank 1", "rank 2"]
    first, second = axes.lines
    assert first.get_color() != second.get_color()
    assert axes.get_xlabel() == "kendall-tau-c ×100, n = 100; 95% intervals"


def test_plot_without_ranks_has_no_texts() -> None:
    unranked = judgment(agreement("bleu-4", 0.31, None), agreement("cider-d", 0.44, None))
    (picture,) = unranked.to_table().pictures.values()
    (axes,) = plots.draw(picture).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["cider-d", "bleu-4"]
    assert len(axes.texts) == 0


def test_curves_have_a_legend_and_axis_labels(study: Study) -> None:
    figure = plots.draw_curves(study.pictures["curves"])
    (axes,) = figure.axes
    line, points = axes.lines
    assert (line.get_linestyle(), points.get_linestyle(), points.get_marker()) == ("-", "None", "o")
    assert line.get_ydata() == pytest.approx([1, 0.5, 0])
    band = axes.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (-1, 2)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["falling", r"some \$5 words\$"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("strength", "score")


def test_counts_have_no_ticks_between_them() -> None:
    line = Curve(np.array([1.0, 2.0, 3.0]), np.array([0.2, 0.3, 0.4]))
    (axes,) = plots.draw_curves(Curves("references", "x", "y", {"bleu-4": line})).axes
    assert [tick for tick in axes.get_xticks() if tick % 1] == []


def test_results_draw_themselves(first: captious.Report, second: captious.Report) -> None:
    """Reports have their scores with intervals, comparisons their effect sizes with a line at zero."""
    reports = captious.Reports([first, second])
    (axes,) = first.plot().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["share", "amount"]
    (axes,) = reports.plot("share").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first", "second"]
    compared = compare_reports(first, second, resamples=9)
    (axes,) = compared.plot().axes
    assert any(list(line.get_xdata()) == [0.0, 0.0] for line in axes.lines)
    groups = {image: str(image % 2) for image in first.ids}
    assert captious.by_group(first, groups).plot().axes
    assert captious.by_group(compared, groups).plot().axes
    with pytest.raises(UnknownNameError, match="share"):
        reports.plot("nothing")


def test_curves_of_many_lines_look_different() -> None:
    x = np.array([0.0, 1.0])
    curves = Curves("many", "x", "y", {f"metric-{i}": Curve(x, x + i) for i in range(20)})
    (axes,) = plots.draw_curves(curves).axes
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 20


def test_matrix_spans_minus_one_to_one(study: Study) -> None:
    axes, bar = plots.draw_matrix(study.pictures["metrics"]).axes
    assert [text.get_text() for text in axes.texts] == ["1.00", "-.25", "-.25", ""]
    assert axes.images[0].get_clim() == (-1, 1)
    assert bar.get_ylim() == (-1, 1)


def test_result_without_pictures_writes_no_plot(tmp_path: Path) -> None:
    assert plots.write_plots(tmp_path / "new", Study("s", "t", ("a",), [{"a": 1}])) == []
    assert not (tmp_path / "new").exists()


def test_plots_without_matplotlib_are_refused(
    judged: Judgment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for attempt in (plots.check_plots, lambda folder: plots.write_plots(folder, judged)):
        with pytest.raises(MissingExtraError) as caught:
            attempt(tmp_path / "new")
        assert caught.value.hint == "pip install 'captious[report]'"
    assert not (tmp_path / "new").exists()


def test_places_that_cannot_be_written(judged: Judgment, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "no" / "folder"):
        with pytest.raises(OutputError, match="cannot write plots"):
            plots.write_plots(place, judged)
    assert (tmp_path / "file").read_text() == "mine"


def test_unknown_plot_format_is_refused(judged: Judgment, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="gif") as caught:
        plots.write_plots(tmp_path, judged, "gif")
    assert "png, svg, pdf" in caught.value.hint


def test_a_picture_that_cannot_be_drawn_leaves_no_trace(study: Study, tmp_path: Path) -> None:
    broken = Study("s", "t", ("a",), [], pictures={**study.pictures, "m": Matrix("m", ["a", "b"], np.zeros((1, 1)))})
    with pytest.raises(IndexError):
        plots.write_plots(tmp_path / "new", broken)
    assert not (tmp_path / "new").exists()


def test_results_are_shown_without_matplotlib_and_scipy() -> None:
    """The first imports of users load neither."""
    code = (
        "import sys, captious, captious.judgment, captious.report\n"
        "import captious.report.formats, captious.report.plots\n"
        "heavy = {'matplotlib', 'scipy', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_points_carry_their_names() -> None:
    """Systems in a plane, each with its name."""
    picture = scatter("m1", np.array([0.1, 0.3]), np.array([0.2, 0.4]), ["one_$x", "two"], "meteor", "M1")
    (axes,) = plots.draw(picture).axes
    assert [(label.get_text(), tuple(label.xy)) for label in axes.texts] == [
        (r"one_\$x", (0.1, 0.2)),
        ("two", (0.3, 0.4)),
    ]


def test_names_of_files(tmp_path: Path) -> None:
    picture = Matrix("sums", ["a", "b"], np.eye(2))
    study = Study("s", "t", ("a",), [{"a": 1}], pictures={"m1-sum:2*cider-d+spice/all": picture})
    assert [path.name for path in plots.write_plots(tmp_path, study)] == ["m1-sum-2-cider-d+spice-all.png"]
