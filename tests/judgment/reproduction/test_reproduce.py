"""``reproduce``: our figures next to the published ones, and the requirements of missing ones."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from captious import Settings
from captious.errors import ParameterError
from captious.judgment import judge, studies
from captious.judgment.papers import paper as paper_names
from captious.judgment.papers.paper import File, MadeFile, Paper, PaperColumn, PaperTable, Run, judged
from captious.judgment.reproduction.paper_checks import STATES, PaperIndex
from captious.judgment.reproduction.reproduce import reproduce, stand_ins
from captious.judgment.reproduction.reproduction_result import Reproduced
from captious.judgment.studies import word_frequencies
from captious.learned.networks import Feature, FeatureSet, Recipe, as_recipe
from captious.report.formats import FORMATS
from tests.support.judgments import write_jsonl

EXAMPLES = Path(__file__).parents[3] / "examples"
RATINGS = [(5, 4, 5), (1, 2, 1), (3, 3, 2), (4, 4, 3), (2, 1, 1)]
CAPTIONS = ["a dog runs on grass", "a red bus", "a dog in a park", "the dog runs", "two cats"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A few captions in the form of Flickr8k-Expert."""
    records = [
        {"image": str(n), "caption_id": str(n), "candidate": text, "scores": scores, "refs": ["a dog runs", "the dog"]}
        for n, (text, scores) in enumerate(zip(CAPTIONS, RATINGS, strict=True))
    ]
    write_jsonl(tmp_path, "flickr8k/expert.jsonl", records)
    return tmp_path


def paper(**arguments: object) -> Paper:
    rows = {"BLEU-1": "bleu-1", "ROUGE-L": "rouge-l", "people": "people"}
    columns = judged("flickr8k-expert@tau-b", {"tau": "flickr8k-expert@tau-b"})
    return Paper("p", "A paper", [PaperTable("t", "table 1", "It shows.", rows, columns, **arguments)])  # type: ignore[arg-type]


def test_values_are_those_of_judge(data: Path) -> None:
    expected = judge("flickr8k-expert@tau-b", ["bleu-1", "rouge-l"], data=data, resamples=30)["flickr8k-expert"]
    bleu = round(expected["bleu-1"].value, 3)
    result = reproduce(paper(published={"BLEU-1": (bleu,), "ROUGE-L": (-0.9,)}), data=data, resamples=30)
    by_row = {figure.row: figure for figure in result.figures}
    assert by_row["BLEU-1"].value == expected["bleu-1"].value
    assert by_row["BLEU-1"].interval == expected["bleu-1"].interval
    assert by_row["BLEU-1"].verdict == "same"
    assert by_row["ROUGE-L"].verdict == "differs"
    assert by_row["ROUGE-L"].difference == pytest.approx(expected["rouge-l"].value + 0.9)
    assert expected.people is not None
    assert by_row["people"].value == expected.people.value
    assert by_row["people"].verdict == "published figure not at hand"
    shown = repr(result)
    assert shown.startswith("p t (table 1)\n")
    (line,) = (line for line in shown.splitlines() if line.startswith("  BLEU-1 "))
    assert f"=  {bleu:.3f}".replace("0.", " .") in line
    assert "expert.jsonl (CRC-32" in shown
    assert result.signatures.keys() == {"bleu-1", "rouge-l"}


def test_figures_are_multiplied_by_a_hundred(data: Path) -> None:
    figure = reproduce(paper(published={"BLEU-1": (-90.0,)}, percent=True, digits=1), data=data, resamples=30).figures[
        0
    ]
    assert figure.published == -0.9
    assert figure.unit == pytest.approx(0.001)


def test_verdicts_compare_with_published_figures() -> None:
    def verdict(
        value: float | None, interval: tuple[float, float] | None, published: float | None, comparable: bool = True
    ) -> str:
        return Reproduced("t", "c", "r", value, interval, published, 0.001, comparable=comparable).verdict

    assert verdict(0.4404, None, 0.44) == "same"
    assert verdict(0.4406, None, 0.44) == "differs"
    assert verdict(0.4406, (0.43, 0.45), 0.44) == "within interval"
    assert verdict(0.4405, None, 0.44) == "same"
    assert verdict(0.44, (0.43, 0.45), 0.44, comparable=False) == "not comparable"
    assert verdict(None, None, 0.44) == "undefined"


def test_missing_requirements_are_named_in_the_table(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAPTIOUS_VECTORS")
    runs = [
        PaperColumn("no file", Run("robustness", {"references": File("coco/captions.json")})),
        *judged("composite", {"no data": "composite@hessel2021"}),
        *judged("flickr8k-expert", {"here": "flickr8k-expert@spice2016"}),
        PaperColumn("nothing", None),
    ]
    rows = {"BLEU-1": "bleu-1", "vectors": "wmd", "model": "bertscore-f", "sum": "sum:bleu-1+wmd", "theirs": ""}
    rows["another model"] = "bertscore-f:model=nowhere/none"
    table = PaperTable("t", "table 1", "It shows.", rows, runs, needs="their weights")
    result = reproduce(Paper("p", "A paper", [table]), data=data, resamples=30)
    figures = result.figures
    verdicts = {(figure.column, figure.row): figure.verdict for figure in figures}
    expected_message = {(figure.column, figure.row): figure.reason.text for figure in figures if figure.reason}
    assert expected_message["no file", "BLEU-1"] == "needs coco/captions.json in the folder of data"
    assert "the files of composite are missing" in expected_message["no data", "BLEU-1"]
    assert verdicts["here", "BLEU-1"] == "published figure not at hand"
    assert verdicts["no data", "BLEU-1"] == verdicts["here", "model"] == verdicts["here", "vectors"] == "needs"
    assert "vectors" in expected_message["here", "vectors"]
    command = "hf download roberta-large" if find_spec("transformers") else "pip install 'captious[models]'"
    assert command in expected_message["here", "model"]
    assert expected_message["here", "another model"] == "needs a model: hf download nowhere/none"
    assert expected_message["here", "sum"] == expected_message["here", "vectors"]
    assert expected_message["here", "theirs"] == expected_message["nothing", "BLEU-1"] == "their weights"
    shown = " ".join(repr(result).split())
    needs = "their weights; word vectors, for vectors and sum; roberta-large, for model; nowhere/none, for another"
    assert f"needs: {needs}" in shown
    assert shown.count("no word vectors are available; captious vectors add") == 1


def test_settings_that_a_table_does_not_use_are_ignored(data: Path) -> None:
    vectors = Settings(vectors=EXAMPLES / "captions-12d.txt")
    result = reproduce(paper(), data=data, settings=vectors, resamples=30)
    assert all(figure.value is not None for figure in result.figures)


def test_studies_are_reproduced(tmp_path: Path) -> None:
    """Records of studies are also found by their values."""
    (tmp_path / "references.json").write_text((EXAMPLES / "references.json").read_text())
    run = Run("word_agreement", {"references": File("references.json"), "n_words": 3})
    table = PaperTable(
        "words",
        "figure 3",
        "It shows.",
        {"a": "a"},
        [PaperColumn("recall", run, value="recall", row="word")],
        metrics=False,
    )
    result = reproduce(Paper("p", "A paper", [table]), data=tmp_path)
    (figure,) = result.figures
    assert figure.value == pytest.approx(0.941, abs=0.001)
    assert list(result.pictures)


def test_reproduction_over_systems_has_p_values(shared_data: Path) -> None:
    columns = judged("coco-2015@m1", {"M1": "coco-2015@m1"})
    table = PaperTable("systems", "table 1", "It shows.", {"METEOR": "meteor"}, columns)
    result = reproduce(Paper("p", "A paper", [table]), data=shared_data, resamples=30)
    expected = judge("coco-2015@m1", "meteor", data=shared_data, resamples=30)["coco-2015"]["meteor"]
    (record,) = result.records
    assert record["p"] == expected.p
    assert [column.head for column in result.to_table().columns] == ["", "95%", "p"]
    assert "coco-2015@m1-meteor" in result.pictures


def test_files_in_mappings_are_resolved(tmp_path: Path) -> None:
    for name in ("references", "improved"):
        (tmp_path / f"{name}.json").write_text((EXAMPLES / f"{name}.json").read_text())
    columns = [
        PaperColumn(
            name,
            Run("word_frequencies", {"systems": {"mine": File(file)}, "references": File("references.json")}),
            value="mine",
            row="word",
        )
        for name, file in (("here", "improved.json"), ("missing", "baseline.json"))
    ]
    table = PaperTable("words", "figure 4", "It shows.", {"a": "a"}, columns, metrics=False)
    result = reproduce(Paper("p", "A paper", [table]), data=tmp_path)
    here, missing = result.figures
    study = word_frequencies({"mine": EXAMPLES / "improved.json"}, EXAMPLES / "references.json")
    assert here.value == next(record["mine"] for record in study.records if record["word"] == "a")
    assert missing.reason is not None
    assert missing.reason.text == "needs baseline.json in the folder of data"
    assert result.to_dict()["seconds"].keys() == {"words"}


def test_generated_files_are_created_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from captious.judgment import judging

    """They are made once, of files that must be there; tables with one run share it, whatever their rows."""
    made = []

    def maker(folder: Path, output: Path) -> None:
        made.append(output)
        output.write_text((folder / "source.json").read_text())

    monkeypatch.setattr(judging, "copy", maker, raising=False)
    run = Run("word_agreement", {"references": MadeFile("references.json", "copy", (File("source.json"),))})
    column = PaperColumn("recall", run, value="recall", row="word")
    tables = [PaperTable(word, "figure 3", "It shows.", {word: word}, [column], metrics=False) for word in ("a", "man")]
    absent = reproduce(Paper("p", "A paper", tables), data=tmp_path)
    assert {figure.reason.text for figure in absent.figures if figure.reason} == {
        "needs source.json in the folder of data"
    }
    (tmp_path / "source.json").write_text((EXAMPLES / "references.json").read_text())
    result = reproduce(Paper("p", "A paper", tables), data=tmp_path)
    assert result.figures[0].value == pytest.approx(0.941, abs=0.001)
    assert len(made) == 1
    assert not made[0].exists()
    assert result.to_dict()["seconds"]["man"] < 0.1


def test_trainings_get_the_settings_of_their_features(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def network_depth(settings: Settings, recipe: Recipe) -> None:
        given.append(settings.vectors)
        raise ParameterError("enough")

    monkeypatch.setattr(studies, "network_depth", network_depth)
    recipes = [as_recipe("lceval"), replace(as_recipe("lceval"), features=FeatureSet("one", (Feature("bleu-1"),)))]
    columns = [PaperColumn(str(i), Run("network_depth", {"recipe": recipe})) for i, recipe in enumerate(recipes)]
    table = PaperTable("t", "table 1", "It shows.", {"a": "a"}, columns, metrics=False)
    vectors = EXAMPLES / "captions-12d.txt"
    result = reproduce(Paper("p", "A paper", [table]), data=data, settings=Settings(vectors=vectors))
    assert [figure.reason and figure.reason.text for figure in result.figures] == ["enough", "enough"]
    assert given[0] is not None
    assert given[1] is None


def test_index_lists_all_tables() -> None:
    index = PaperIndex()
    records = index.to_table().records
    assert {record["paper"] for record in records} == {"lceval", "wembsim", "leic", "yi2020", "smurf", "coco"}
    assert {record["state"] for record in records} == STATES.keys()
    assert len(records) == sum(len(paper_names.get(name).tables) for name in paper_names.names())
    shown = repr(index)
    assert "; differs: WMD has other word vectors" in " ".join(shown.split())
    assert "wmt16" in shown
    json.dumps(index.to_table().document)


def test_files_in_requests_are_resolved(data: Path) -> None:
    (data / "words.txt").write_text("a\nthe\n", encoding="utf-8")
    rows = {"here": "yi2020-unigram:stop_words={words.txt}", "missing": "yi2020-unigram:stop_words={other/none.txt}"}
    table = PaperTable("t", "table 1", "It shows.", rows, judged("flickr8k-expert", {"c": "flickr8k-expert@spice2016"}))
    here, missing = reproduce(Paper("p", "A paper", [table]), data=data, resamples=10).figures
    own = f"yi2020-unigram:stop_words={data / 'words.txt'}"
    expected = judge("flickr8k-expert", own, data=data, resamples=10)["flickr8k-expert"][own]
    assert here.value == expected.value
    assert missing.reason is not None
    assert missing.reason.text == "needs other/none.txt in the folder of data"


def test_equal_figures_print_alike() -> None:
    """62.05 rounds to 62.1, or to 62.0, which the paper prints."""
    figure = Reproduced("t", "c", "r", 0.6205, None, 0.62, 0.001)
    assert (figure.verdict, figure.printed) == ("same", 0.62)
    other = Reproduced("t", "c", "r", 0.6206, None, 0.62, 0.001)
    assert (other.verdict, other.printed) == ("differs", 0.6206)


def test_all_requirements_of_a_row_are_named(data: Path) -> None:
    rows = {"BERT": "yi2020:model=nowhere/none,stop_words={other/none.txt}"}
    table = PaperTable("t", "table 1", "It shows.", rows, judged("flickr8k-expert", {"c": "flickr8k-expert@spice2016"}))
    (figure,) = reproduce(Paper("p", "A paper", [table]), data=data, resamples=10).figures
    assert figure.reason is not None
    assert figure.reason.text == "needs other/none.txt in the folder of data; needs a model: hf download nowhere/none"


def wrong(**arguments: object) -> Paper:
    columns = judged("flickr8k-expert", {"c": "flickr8k-expert@spice2016"})
    given: dict[str, object] = {"rows": {"a": "bleu-1"}, "columns": columns, **arguments}
    return Paper("mine", "A paper", [PaperTable("t", "table 1", "It shows.", **given)])  # type: ignore[arg-type]


def column(run: Run, **arguments: Any) -> list[PaperColumn]:
    return [PaperColumn("c", run, **arguments)]


JUDGED = Run("judge", {"benchmarks": ("flickr8k-expert@tau-b",)})


@pytest.mark.parametrize(
    ("arguments", "message", "help"),
    [
        ({"columns": judged("flikr8k-expert", {"c": "flikr8k-expert"})}, "no benchmark 'flikr8k-expert'", "flickr8k-e"),
        ({"columns": judged("flickr8k-expert@tau-bb", {"c": "x"})}, "has no protocol 'tau-bb'", "tau-b"),
        (
            {"columns": judged("flickr8k-expert@tau-b", {"c": "flickr8k-expert@spice2016"})},
            "of a protocol not judged: 'flickr8k-expert@spice2016'",
            "flickr8k-expert@tau-b",
        ),
        ({"rows": {"a": "blue-1"}}, "there is no metric 'blue-1'", "bleu-1"),
        ({"rows": {"a": "sum:bleu-1+metoer"}}, "there is no metric 'metoer'", "meteor"),
        ({"rows": {"a": "cider-d@papr"}}, "cider-d has no variant 'papr'", "paper"),
        ({"rows": {"a": "cider-d:sigm=2"}}, "cider-d has no parameter 'sigm'", "sigma"),
        ({"columns": column(Run("robustnes", {}))}, "there is no study 'robustnes'", "robustness"),
        ({"columns": column(Run("robustness", {"smple": 1}))}, "robustness has no parameter 'smple'", "sample"),
        ({"columns": column(JUDGED, value="valeu")}, "no record has the key 'valeu'", "value"),
        ({"columns": column(JUDGED, where={"part": "HX"})}, "no record has part 'HX'", "choose one of"),
        ({"columns": column(JUDGED, where={"statistic": "kendall-tau"})}, "no record has statistic", "kendall-tau-b"),
        ({"columns": judged("{data}/mine.jsonl@spearmn", {"c": "mine"})}, "no statistic 'spearmn'", "spearman"),
    ],
)
def test_unknown_names_in_tables_are_refused(data: Path, arguments: dict[str, Any], message: str, help: str) -> None:
    """Nothing mistyped is silently left out."""
    (data / "mine.jsonl").write_text('{"candidate": "a", "references": ["a dog"], "rating": 3}\n')
    if "{data}" in str(arguments):
        arguments = {"columns": judged(f"{data}/mine.jsonl@spearmn", {"c": "mine"})}
    with pytest.raises(ParameterError, match=message) as raised:
        reproduce(wrong(**arguments), data=data, resamples=10)
    assert "table t of the paper mine" in raised.value.where
    assert help in raised.value.hint


def test_columns_may_be_metrics(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Correlations with a metric that cannot run here have its requirements."""
    monkeypatch.delenv("CAPTIOUS_VECTORS")
    run = Run("metric_correlations", {"benchmark": "flickr8k-expert"})
    columns = [PaperColumn(name, run, value=name) for name in ("bleu-1", "wembsim")]
    table = PaperTable("t", "1", "S.", {name: name for name in ("bleu-1", "rouge-l", "wembsim")}, columns)
    figures = {(f.row, f.column): f for f in reproduce(Paper("p", "P", [table]), data=data).figures}
    assert figures["rouge-l", "bleu-1"].value is not None
    assert figures["rouge-l", "wembsim"].verdict == figures["wembsim", "bleu-1"].verdict == "needs"


def test_rows_without_a_record_are_refused(tmp_path: Path) -> None:
    (tmp_path / "references.json").write_text((EXAMPLES / "references.json").read_text())
    run = Run("word_agreement", {"references": File("references.json"), "n_words": 3})
    columns = [PaperColumn("recall", run, value="recall", row="word")]
    table = PaperTable("words", "figure 3", "It shows.", {"a": "a", "b": "onn"}, columns, metrics=False)
    _, missing = reproduce(Paper("p", "A paper", [table]), data=tmp_path).figures
    assert missing.reason is not None
    assert missing.reason.text.startswith("no record has word 'onn'")
    assert missing.verdict == "not computed"


def test_substitutes_are_derived_from_signatures() -> None:
    """An equal figure of other parses, vectors or weights is not said to be the same without a note."""
    spice = "spice|variant:official|tokenizer:ptb|parser:bundled-2|synonyms:meteor-1.5"
    assert stand_ins([spice]) == ("the grammar bundled-2",)
    assert stand_ins([spice.replace("bundled-2", "corenlp-3.6.0")]) == ()
    vectors = "wembsim|vectors:glove-840b-7b04254a|combine:mean"
    assert stand_ins([vectors]) == ("the word vectors glove-840b-7b04254a",)
    assert stand_ins([vectors], "wembsim:vectors=glove-840b") == ()
    assert stand_ins(["lceval|variant:trained|weights:coco-1"]) == ("the weights coco-1 of this package",)


def test_substitutes_are_noted_in_tables(data: Path, meteor_tables: object) -> None:
    columns = judged("flickr8k-expert@tau-b", {"tau": "flickr8k-expert@tau-b"})
    rows = {"SPICE": "spice:parser=bundled", "BLEU-1": "bleu-1"}
    first = reproduce(Paper("p", "P", [PaperTable("t", "1", "S.", rows, columns)]), data=data, resamples=10)
    table = PaperTable("t", "1", "S.", rows, columns, {"SPICE": (round(first.figures[0].value or 0, 3),)})
    result = reproduce(Paper("p", "P", [table]), data=data, resamples=10)
    spice, bleu = result.figures
    assert (spice.verdict, len(spice.stand_ins), bleu.stand_ins) == ("same", 1, ())
    assert "an equal figure may be a coincidence" in " ".join(repr(result).split())
    assert "coincidence" not in repr(first)  # nothing is compared
    assert result.records[0]["stand_ins"] == spice.stand_ins[0]


def test_table_has_rows_and_columns_of_the_paper(data: Path) -> None:
    """Rows and columns are the paper's, in its digits; tables follow each other in every format."""
    columns = [
        *judged("flickr8k-expert@tau-b", {"tau-b": "flickr8k-expert@tau-b"}),
        *judged("flickr8k-expert@spice2016", {"tau-c": "flickr8k-expert@spice2016"}),
        *judged("flickr8k-expert@tau-b", {"third": "flickr8k-expert@tau-b"}),
    ]
    table = PaperTable("t", "1", "S.", {"BLEU-1": "bleu-1"}, columns, {"BLEU-1": (0.1, 0.2, None)}, digits=2)
    result = reproduce(Paper("p", "P", [table, replace(table, name="u")]), data=data, resamples=10)
    shown = result.to_table()
    assert [column.group for column in shown.columns] == ["tau-b"] * 3 + ["tau-c"] * 3 + ["third"]
    assert [row.label for row in shown.rows] == ["BLEU-1"]
    assert [cell.digits for cell in shown.rows[0].cells if cell and cell.form == "number"] == [2] * 5
    (following,) = shown.following
    assert following.title == "p u (1)"
    for text in (repr(result), *(FORMATS[name](shown) for name in ("md", "html", "tex"))):
        assert "p u (1)" in str(text)
    assert result.records[0]["value"] == result.figures[0].value


def test_incomparable_tables_are_marked(data: Path) -> None:
    other = paper(published={"BLEU-1": (0.9,)}, comparable=False, differs="other data")
    result = reproduce(other, data=data, resamples=10)
    assert result.figures[0].verdict == "not comparable"
    assert "| not comparable" in repr(result)
    assert result.to_dict()["states"] == {"t": "not comparable"}


def test_broken_packages_do_not_hide_others(monkeypatch: pytest.MonkeyPatch) -> None:
    load = paper_names.get

    def get(name: str) -> Paper:
        if name == "broken":
            raise ParameterError("the paper broken cannot be loaded: no module", where="entry point x:PAPER")
        return wrong(rows={"a": "blue-1"}) if name == "typo" else load(name)

    monkeypatch.setattr(paper_names, "names", lambda: ["coco", "broken", "typo"])
    monkeypatch.setattr(paper_names, "get", get)
    records = PaperIndex().to_table().records
    states = {record["paper"]: record["state"] for record in records if record["paper"] != "coco"}
    assert states == {"broken": "broken", "typo": "broken"}
    assert sum(record["paper"] == "coco" for record in records) == 6
    shown = " ".join(repr(PaperIndex()).split())
    assert "broken: the paper broken cannot be loaded: no module" in shown
    assert "there is no metric 'blue-1'" in shown


def test_people_are_not_a_metric(data: Path) -> None:
    with pytest.raises(ParameterError, match="people are not a metric") as raised:
        judge("flickr8k-expert", ["bleu-1", "people"], data=data)
    assert "their agreement is a row" in raised.value.hint
