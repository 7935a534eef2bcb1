"""``reproduce``: our figures next to the published ones, and what missing ones need."""

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
from captious.judgment.papers import paper as papers
from captious.judgment.papers.paper import Paper, PaperColumn, PaperRow, PaperTable, Printed, Run
from captious.judgment.reproduction import reproduction_result
from captious.judgment.reproduction.reproduce import PaperIndex, reproduce, stand_ins
from captious.judgment.reproduction.reproduction_result import Counts, Reproduced, explanations, measured
from captious.judgment.studies import word_frequencies
from captious.learned.networks import Recipe
from captious.report.formats import FORMATS
from tests.support.judgments import write_jsonl

EXAMPLES = Path(__file__).parents[3] / "examples"
RATINGS = [(5, 4, 5), (1, 2, 1), (3, 3, 2), (4, 4, 3), (2, 1, 1)]
CAPTIONS = ["a dog runs on grass", "a red bus", "a dog in a park", "the dog runs", "two cats"]
TAU = [PaperColumn("tau", judge="flickr8k-expert@tau-b")]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A few captions in the form of Flickr8k-Expert."""
    records = [
        {"image": str(n), "caption_id": str(n), "candidate": text, "scores": scores, "refs": ["a dog runs", "the dog"]}
        for n, (text, scores) in enumerate(zip(CAPTIONS, RATINGS, strict=True))
    ]
    write_jsonl(tmp_path, "flickr8k/expert.jsonl", records)
    return tmp_path


def paper(
    rows: list[PaperRow], columns: list[PaperColumn] = TAU, runs: dict[str, Run] | None = None, **arguments: Any
) -> Paper:
    table = PaperTable("t", "table 1", "It shows.", columns, rows, **arguments)
    return Paper("p", "A paper", [table], runs or {})


def test_values_are_those_of_judge(data: Path) -> None:
    expected = judge("flickr8k-expert@tau-b", ["bleu-1", "rouge-l"], data=data, resamples=30)["flickr8k-expert"]
    bleu = f"{expected['bleu-1'].value:.3f}"
    rows = [
        PaperRow("BLEU-1", "bleu-1", printed=bleu),
        PaperRow("ROUGE-L", "rouge-l", printed="-.9"),
        PaperRow("people", "people"),
    ]
    result = reproduce(paper(rows), data=data)
    by_row = {figure.row: figure for figure in result.figures}
    assert by_row["BLEU-1"].value == expected["bleu-1"].value
    assert by_row["BLEU-1"].verdict == "equal"
    assert by_row["ROUGE-L"].verdict == "differs"
    assert by_row["ROUGE-L"].difference == pytest.approx(expected["rouge-l"].value + 0.9)
    assert by_row["people"].value == expected.people.value
    assert by_row["people"].verdict == "not printed"
    shown = repr(result)
    assert shown.startswith("p t (table 1)\n")
    (line,) = (line for line in shown.splitlines() if line.startswith("  BLEU-1 "))
    assert line.split()[1:] == [bleu.removeprefix("0"), "=", bleu.removeprefix("0")]
    assert "ROUGE-L: cause not found" in shown
    assert "expert.jsonl (CRC-32" in shown
    assert shown.splitlines()[-1] == "p: 1 of 2 equal, 1 differs"
    assert result.signatures.keys() == {"bleu-1", "rouge-l"}


def test_parameters_with_their_default_values_may_be_named(data: Path) -> None:
    rows = [PaperRow("a", "bleu-4@official"), PaperRow("b", "rouge-l:beta=1.2"), PaperRow("c", "rouge-l:beta=1")]
    judged = judge("flickr8k-expert@tau-b", ["bleu-4", "rouge-l", "rouge-l:beta=1"], data=data, resamples=10)
    expected = [agreement.value for agreement in judged["flickr8k-expert"].agreements.values()]
    assert [figure.value for figure in reproduce(paper(rows), data=data).figures] == expected


def test_figures_in_percent_are_said_to_be() -> None:
    with pytest.raises(ParameterError, match=r"63\.5 is neither a correlation nor an accuracy") as caught:
        paper([PaperRow("a", "bleu-4", printed="63.5")])
    assert "percent = true" in caught.value.hint
    assert paper([PaperRow("a", "bleu-4", printed="63.5")], percent=True).tables[0].percent


def test_signatures_of_two_protocols_are_kept(data: Path) -> None:
    columns = [PaperColumn(name, judge=f"flickr8k-expert@{name}") for name in ("tau-b", "cui2018")]
    result = reproduce(paper([PaperRow("BLEU-1", "bleu-1", printed=".1 .2")], columns), data=data)
    assert {name: text.partition("references:")[2][0] for name, text in result.signatures.items()} == {
        "bleu-1": "2",
        "bleu-1 on flickr8k-expert@cui2018": "1",
    }


def compared(value: float | None, printed: str | None, *, percent: bool = False, **arguments: Any) -> Reproduced:
    figure = None if printed is None else Printed.read(printed, percent=percent)
    return Reproduced("t", "r", "c", value, figure, percent=percent, **arguments)


@pytest.mark.parametrize(
    ("value", "printed", "percent", "verdict"),
    [
        (0.4404, ".440", False, "equal"),
        (0.4405, ".440", False, "equal"),
        (0.4406, ".440", False, "near"),
        (0.4406, ".44", False, "equal"),
        (0.4499, ".440", False, "near"),
        (0.4501, ".440", False, "differs"),
        (0.6205, "62.0", True, "equal"),
        (0.6206, "62.0", True, "near"),
        (0.6299, "62.0", True, "near"),
        (0.6301, "62.0", True, "differs"),
        (-44.934, "-44.93", False, "equal"),
        (202654, "202520", False, "differs"),
        (None, ".440", False, "not computed"),
        (0.44, None, False, "not printed"),
    ],
)
def test_numbers_alone_decide(value: float | None, printed: str | None, percent: bool, verdict: str) -> None:
    """Half a unit of the last printed digit is equal; .01, or a point where percentages are printed, is near."""
    assert compared(value, printed, percent=percent).verdict == verdict
    assert compared(value, printed, percent=percent, other=("other data",)).verdict == verdict


def test_equal_figures_print_alike() -> None:
    """62.05 rounds to 62.1, or to 62.0, which the paper prints."""
    assert compared(0.6205, "62.0", percent=True).shown == 0.62
    assert compared(0.6206, "62.0", percent=True).shown == 0.6206


def test_figures_of_other_data_count_as_nothing_else() -> None:
    figures = [
        *(compared(0.44, ".44") for _ in range(14)),
        *(compared(0.445, ".440") for _ in range(3)),
        compared(0.9, ".44"),
        compared(0.9, None),
    ]
    assert Counts.of(figures).text == "14 of 18 equal, 3 near, 1 differs"
    others = [compared(0.44, ".44", other=("other data",)), compared(None, ".44", other=("other data",))]
    assert Counts.of(others) == Counts(2, 0, 0, 0, 1, 1)
    assert Counts.of(others).text == "0 of 2 equal, 1 of other data or models, 1 not computed"
    assert Counts.of([compared(0.9, None)]).text == "no figure printed"


def test_causes_are_said_of_rows_that_differ() -> None:
    """Rows with the same cause share a sentence; figures of other data need no cause."""
    figures = [
        Reproduced("t", row, "c", value, Printed.read(".44", percent=False), other=other, why=why)
        for row, value, other, why in (
            ("a", 0.9, (), "Four references."),
            ("b", 0.9, (), "Four references."),
            ("c", 0.9, (), ""),
            ("d", 0.44, (), "Unused."),
            ("e", 0.9, ("other data",), "Unused."),
        )
    ]
    assert explanations(figures) == ["a, b: Four references.", "c: cause not found"]


def test_missing_requirements_are_named_in_the_table(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAPTIOUS_VECTORS")
    columns = [
        PaperColumn("no file", run="robustness"),
        PaperColumn("no data", judge="composite@hessel2021"),
        PaperColumn("here", judge="flickr8k-expert@spice2016"),
        PaperColumn("nothing"),
    ]
    requests = {"BLEU-1": "bleu-1", "vectors": "wmd", "model": "bertscore-f", "sum": "sum:bleu-1+wmd", "theirs": ""}
    requests["another model"] = "bertscore-f:model=nowhere/none"
    rows = [PaperRow(name, request) for name, request in requests.items()]
    runs = {"robustness": Run("robustness", {"references": "{coco/captions.json}"})}
    result = reproduce(paper(rows, columns, runs, needs="their weights"), data=data)
    reasons = {(figure.column, figure.row): figure.reason for figure in result.figures}
    assert reasons["no file", "BLEU-1"] == "needs coco/captions.json in the folder of data"
    assert "the files of composite are missing" in reasons["no data", "BLEU-1"]
    assert reasons["here", "BLEU-1"] == ""
    assert "vectors" in reasons["here", "vectors"]
    command = "hf download roberta-large" if find_spec("transformers") else "pip install 'captious[models]'"
    assert command in reasons["here", "model"]
    assert reasons["here", "another model"] == "needs a model: hf download nowhere/none"
    assert reasons["here", "sum"] == reasons["here", "vectors"]
    assert reasons["here", "theirs"] == reasons["nothing", "BLEU-1"] == "their weights"
    assert {f.verdict for f in result.figures} == {"not computed", "not printed"}
    assert repr(result).count("no word vectors are available") == 1


def test_settings_that_a_table_does_not_use_are_ignored(data: Path) -> None:
    vectors = Settings(vectors=EXAMPLES / "captions-12d.txt")
    result = reproduce(paper([PaperRow("BLEU-1", "bleu-1")]), data=data, settings=vectors)
    assert all(figure.value is not None for figure in result.figures)


def test_studies_are_reproduced(tmp_path: Path) -> None:
    """Records of studies are also found by their values; one that is not there says so."""
    (tmp_path / "references.json").write_text((EXAMPLES / "references.json").read_text())
    runs = {"words": Run("word_agreement", {"references": "{references.json}", "n_words": 3})}
    columns = [PaperColumn("recall", run="words", value="recall", row="word")]
    result = reproduce(paper([PaperRow("a", record="a"), PaperRow("b", record="onn")], columns, runs), data=tmp_path)
    found, missing = result.figures
    assert found.value == pytest.approx(0.941, abs=0.001)
    assert list(result.pictures)
    assert (missing.verdict, missing.reason) == ("not computed", "no word is 'onn'")


def test_p_values_are_columns(shared_data: Path) -> None:
    columns = [
        PaperColumn("M1", judge="coco-2015@m1"),
        PaperColumn("p", judge="coco-2015@m1", value="p"),
    ]
    result = reproduce(paper([PaperRow("METEOR", "meteor", printed=".78 .01")], columns), data=shared_data)
    expected = judge("coco-2015@m1", "meteor", data=shared_data, resamples=1)["coco-2015"]["meteor"]
    assert [figure.value for figure in result.figures] == [expected.value, expected.p]
    assert "coco-2015@m1-meteor" in result.pictures


def test_files_in_mappings_are_resolved(tmp_path: Path) -> None:
    for name in ("references", "improved"):
        (tmp_path / f"{name}.json").write_text((EXAMPLES / f"{name}.json").read_text())
    runs = {
        name: Run("word_frequencies", {"systems": {"mine": f"{{{file}}}"}, "references": "{references.json}"})
        for name, file in (("here", "improved.json"), ("missing", "baseline.json"))
    }
    columns = [PaperColumn(name, run=name, value="mine", row="word") for name in runs]
    result = reproduce(paper([PaperRow("a", record="a")], columns, runs), data=tmp_path)
    here, missing = result.figures
    study = word_frequencies({"mine": EXAMPLES / "improved.json"}, EXAMPLES / "references.json")
    assert here.value == next(record["mine"] for record in study.records if record["word"] == "a")
    assert missing.reason == "needs baseline.json in the folder of data"


def test_generated_files_are_created_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are made once, of files that must be there; tables with one run share it, whatever their rows."""
    from captious.judgment import judging

    made = []

    def maker(folder: Path, output: Path) -> None:
        made.append(output)
        captions = json.loads((folder / "source.json").read_text())
        output.write_text("".join(json.dumps({"id": id, "references": texts}) + "\n" for id, texts in captions.items()))

    monkeypatch.setattr(judging, "copy", maker, raising=False)
    monkeypatch.setitem(papers.MADE_FILES, "copy", ("source.json",))
    runs = {"words": Run("word_agreement", {"references": "{copy}"})}
    column = PaperColumn("recall", run="words", value="recall", row="word")
    tables = [PaperTable(word, "figure 3", "It.", [column], [PaperRow(word, record=word)]) for word in ("a", "man")]
    absent = reproduce(Paper("p", "A paper", tables, runs), data=tmp_path)
    assert {figure.reason for figure in absent.figures} == {"needs source.json in the folder of data"}
    (tmp_path / "source.json").write_text((EXAMPLES / "references.json").read_text())
    result = reproduce(Paper("p", "A paper", tables, runs), data=tmp_path)
    assert result.figures[0].value == pytest.approx(0.941, abs=0.001)
    assert len(made) == 1
    assert not made[0].exists()
    assert result.to_dict()["tables"]["man"]["seconds"] < 0.1


def test_trainings_get_the_settings_of_their_features(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def network_depth(settings: Settings, recipe: Recipe) -> None:
        given.append((settings.vectors, recipe.patience))
        raise ParameterError("enough")

    monkeypatch.setattr(studies, "network_depth", network_depth)
    changed = {"name": "one", "features": ["bleu-1"], "patience": 3}
    runs = {name: Run("network_depth", {"recipe": recipe}) for name, recipe in (("a", "lceval"), ("b", changed))}
    columns = [PaperColumn(name, run=name) for name in runs]
    vectors = EXAMPLES / "captions-12d.txt"
    result = reproduce(paper([PaperRow("a", record="a")], columns, runs), data=data, settings=Settings(vectors=vectors))
    assert [figure.reason for figure in result.figures] == ["enough", "enough"]
    assert given[0][0] is not None
    assert given[1] == (None, 3)


def test_a_column_says_what_is_not_the_papers_in_place_of_its_rows(data: Path) -> None:
    columns = [replace(TAU[0], name=str(other), other=other) for other in (None, "", "drawn")]
    rows = [PaperRow("a", "bleu-1", printed=".1 .1 .1"), PaperRow("b", "rouge-l", printed=".1 .1 .1", other="a part")]
    figures = reproduce(paper(rows, columns, other="data"), data=data).figures
    assert [figure.other for figure in figures] == [("data",), (), ("drawn",), ("a part",), (), ("drawn",)]


def test_files_in_requests_are_resolved(data: Path) -> None:
    (data / "words.txt").write_text("a\nthe\n", encoding="utf-8")
    rows = [
        PaperRow("here", "yi2020-unigram:stop_words={words.txt}"),
        PaperRow("missing", "yi2020-unigram:stop_words={other/none.txt}"),
    ]
    here, missing = reproduce(paper(rows), data=data).figures
    own = f"yi2020-unigram:stop_words={data / 'words.txt'}"
    assert here.value == judge("flickr8k-expert@tau-b", own, data=data, resamples=10)["flickr8k-expert"][own].value
    assert missing.reason == "needs other/none.txt in the folder of data"


def test_all_requirements_of_a_row_are_named(data: Path) -> None:
    rows = [PaperRow("BERT", "yi2020:model=nowhere/none,stop_words={other/none.txt}")]
    (figure,) = reproduce(paper(rows), data=data).figures
    assert figure.reason == "needs other/none.txt in the folder of data; needs a model: hf download nowhere/none"


ROW = [PaperRow("a", "bleu-1")]


@pytest.mark.parametrize(
    ("rows", "column", "run", "message", "help"),
    [
        (ROW, {"judge": "flikr8k-expert"}, None, "no benchmark 'flikr8k-expert'", "flickr8k-e"),
        (ROW, {"judge": "flickr8k-expert@tau-bb"}, None, "has no protocol 'tau-bb'", "tau-b"),
        ([PaperRow("a", "blue-1")], {}, None, "there is no metric 'blue-1'", "bleu-1"),
        ([PaperRow("a", "sum:bleu-1+metoer")], {}, None, "there is no metric 'metoer'", "meteor"),
        ([PaperRow("a", "cider-d@papr")], {}, None, "cider-d has no variant 'papr'", "paper"),
        ([PaperRow("a", "cider-d:sigm=2")], {}, None, "cider-d has no parameter 'sigm'", "sigma"),
        (ROW, {"run": "r"}, Run("robustnes", {}), "there is no study 'robustnes'", "robustness"),
        (ROW, {"run": "r"}, Run("robustness", {"smple": 1}), "robustness has no parameter 'smple'", "sample"),
        (ROW, {"value": "valeu"}, None, "no record has the key 'valeu'", "value"),
        (ROW, {"part": "HX"}, None, "no record has part 'HX'", "choose one of"),
    ],
)
def test_unknown_names_in_tables_are_refused(
    data: Path, rows: list[PaperRow], column: dict[str, Any], run: Run | None, message: str, help: str
) -> None:
    """Nothing mistyped is silently left out."""
    columns = [PaperColumn("c", **({"judge": "flickr8k-expert@tau-b"} if run is None else {}) | column)]
    with pytest.raises(ParameterError, match=message) as raised:
        reproduce(paper(rows, columns, {"r": run} if run else {}), data=data)
    assert "table t of the paper p" in raised.value.where
    assert help in raised.value.hint


def test_columns_may_be_metrics(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Correlations with a metric that cannot run here have its requirements."""
    monkeypatch.delenv("CAPTIOUS_VECTORS")
    runs = {"r": Run("metric_correlations", {"benchmark": "flickr8k-expert"})}
    columns = [PaperColumn(name, run="r", value=name) for name in ("bleu-1", "wembsim")]
    rows = [PaperRow(name, name) for name in ("bleu-1", "rouge-l", "wembsim")]
    figures = {(f.row, f.column): f for f in reproduce(paper(rows, columns, runs), data=data).figures}
    assert figures["rouge-l", "bleu-1"].value is not None
    assert "vectors" in figures["rouge-l", "wembsim"].reason
    assert "vectors" in figures["wembsim", "bleu-1"].reason


def test_substitutes_are_derived_from_signatures() -> None:
    """An equal figure of other parses, vectors or weights does not count."""
    spice = "spice|variant:official|tokenizer:ptb|parser:bundled-2|synonyms:meteor-1.5"
    assert stand_ins([spice]) == ["the grammar bundled-2"]
    assert stand_ins([spice.replace("bundled-2", "corenlp-3.6.0")]) == []
    vectors = "wembsim|vectors:glove-840b-7b04254a|combine:mean"
    assert stand_ins([vectors]) == ["the word vectors glove-840b-7b04254a"]
    assert stand_ins([vectors], "wembsim:vectors=glove-840b") == []
    assert stand_ins(["lceval|variant:trained|weights:coco-1"]) == ["the weights coco-1 of this package"]


def test_substitutes_are_noted_in_tables(data: Path, meteor_tables: object) -> None:
    rows = [PaperRow("SPICE", "spice:parser=bundled"), PaperRow("BLEU-1", "bleu-1")]
    first = reproduce(paper(rows), data=data)
    assert "not the paper's" not in repr(first)  # nothing is compared
    rows[0] = PaperRow("SPICE", "spice:parser=bundled", printed=f"{first.figures[0].value:.3f}")
    result = reproduce(paper(rows), data=data)
    spice, bleu = result.figures
    assert (spice.verdict, len(spice.other), bleu.other) == ("equal", 1, ())
    assert "[1] not the paper's: the grammar bundled" in repr(result)
    assert result.records[0]["other"] == spice.other[0]
    assert result.to_dict()["state"] == "0 of 1 equal, 1 of other data or models"


def test_table_has_rows_and_columns_of_the_paper(data: Path) -> None:
    """Rows and columns are the paper's, in its digits; tables follow each other in every format."""
    columns = [
        PaperColumn("tau-b", judge="flickr8k-expert@tau-b"),
        PaperColumn("tau-c", judge="flickr8k-expert@spice2016"),
        PaperColumn("third", judge="flickr8k-expert@tau-b"),
    ]
    rows = [PaperRow("BLEU-1", "bleu-1", printed=".10 .2 -")]
    tables = [PaperTable(name, "1", "S.", columns, rows) for name in "tu"]
    result = reproduce(Paper("p", "P", tables), data=data)
    shown = result.to_table()
    assert [column.group for column in shown.columns] == ["tau-b"] * 3 + ["tau-c"] * 3 + ["third"]
    assert [row.label for row in shown.rows] == ["BLEU-1"]
    assert [cell.digits for cell in shown.rows[0].cells if cell and cell.form == "number"] == [2, 2, 1, 1, 2]
    (following,) = shown.following
    assert following.title == "p u (1)"
    for text in (repr(result), *(FORMATS[name](shown) for name in ("md", "html", "tex"))):
        assert "p u (1)" in str(text)
    assert result.records[0]["value"] == result.figures[0].value


def test_index_lists_all_tables() -> None:
    index = PaperIndex()
    records = index.to_table().records
    assert {record["paper"] for record in records} == {*papers.BUILT_IN}
    assert len(records) == sum(len(papers.get(name).tables) for name in papers.names())
    shown = " ".join(repr(index).split())
    for name in papers.BUILT_IN:
        figures = measured(papers.get(name))
        assert figures is not None
        assert f"{Counts.of(figures).text}." in shown
    json.dumps(index.to_table().document)


def test_results_are_kept_table_by_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later result replaces the figures of its tables, and leaves others."""
    monkeypatch.setattr(reproduction_result, "_MEASURED", tmp_path)
    coco = papers.get("coco")
    assert measured(coco) is None

    def record(table: str, row: str, column: str, value: float | None, reason: str = "") -> dict[str, Any]:
        return {"table": table, "row": row, "column": column, "value": value, "other": "a; b", "reason": reason}

    for records in (
        [record("human", "BLEU 1", "c5", 0.5), record("counts", "val", "captions", 202654)],
        [record("human", "BLEU 1", "c5", 0.663)],
    ):
        reproduction_result.write_measured({"paper": "coco", "figures": records})
    figures = {(f.table, f.row, f.column): f for f in measured(coco) or ()}
    assert figures["human", "BLEU 1", "c5"].verdict == "equal"
    assert figures["human", "BLEU 1", "c5"].other == ("a", "b")
    assert figures["counts", "val", "captions"].value == 202654
    assert figures["human", "BLEU 2", "c5"].verdict == "not computed"


def test_broken_packages_do_not_hide_others(monkeypatch: pytest.MonkeyPatch) -> None:
    load = papers.get

    def get(name: str) -> Paper:
        if name == "broken":
            raise ParameterError("the paper broken cannot be loaded: no module", where="entry point x:PAPER")
        return paper([PaperRow("a", "blue-1")]) if name == "typo" else load(name)

    monkeypatch.setattr(papers, "names", lambda: ["coco", "broken", "typo"])
    monkeypatch.setattr(papers, "get", get)
    records = PaperIndex().to_table().records
    states = {record["paper"]: record["state"] for record in records if record["paper"] != "coco"}
    assert states == {"broken": "broken", "typo": "broken"}
    assert sum(record["paper"] == "coco" for record in records) == len(load("coco").tables)
    shown = " ".join(repr(PaperIndex()).split())
    assert "broken: the paper broken cannot be loaded: no module" in shown
    assert "there is no metric 'blue-1'" in shown


def test_papers_of_packages_are_listed_without_figures(data: Path) -> None:
    (record,) = PaperIndex([paper([PaperRow("a", "bleu-1", printed=".1")])]).to_table().records
    assert record["state"] == "1 figure printed, not yet computed"


def test_people_are_not_a_metric(data: Path) -> None:
    with pytest.raises(ParameterError, match="people are not a metric") as raised:
        judge("flickr8k-expert", ["bleu-1", "people"], data=data)
    assert "their agreement is a row" in raised.value.hint
