"""Warnings about captions that make scores misleading, and none about others."""

from __future__ import annotations

import gzip
import json
import pickle
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.data import Captions
from captious.data.checks import TEXT_KINDS, repeats_itself
from captious.errors import CaptionWarning
from captious.evaluation import evaluate
from captious.evaluation.checks import CaptionFindings, excerpt
from captious.evaluation.scoring import fit_resource
from captious.metrics.contract.selection import select
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.report.page import report_page
from tests.support.pages import Page

EXAMPLES = Path(__file__).parents[2] / "examples"
REFERENCES = captious.read_references(EXAMPLES / "references.json")
IMPROVED = captious.read_captions(EXAMPLES / "improved.json", REFERENCES).candidates


def with_candidates(change: dict[int, str]) -> Captions:
    return Captions(tuple(change.get(i, text) for i, text in enumerate(IMPROVED)), REFERENCES)


def kinds(captions: Captions) -> dict[str, int]:
    return {finding.kind: finding.n for finding in CaptionFindings.of(captions).findings}


LONG = "There is a dog. It runs over the grass with a red ball in its mouth. The sky above the trees is blue and clear."


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("empty", " \n"),
        ("copy", None),
        ("markdown", "**A dog** runs over the wide green grass"),
        ("prompt", "The image shows a dog that runs over the grass"),
        ("sentences", LONG),
        ("long", LONG.replace(". ", " and ")),
        ("short", "dog"),
        ("script", "一只狗在公园里跑。"),
        ("language", "ein Hund läuft über eine nasse grüne Wiese"),
        ("repetition", "a dog and a dog and a dog and a dog and"),
        ("parse", f"{LONG} {LONG} {LONG}"),
    ],
)
def test_findings_of_each_kind_name_their_images(kind: str, text: str | None) -> None:
    offsets = REFERENCES.offsets.tolist()
    change = {i: REFERENCES.texts[offsets[i]] if text is None else text for i in range(6)}
    assert kinds(with_candidates(change))[kind] == 6
    findings = CaptionFindings.of(with_candidates(change)).findings
    sentence = next(finding.sentence for finding in findings if finding.kind == kind)
    assert sentence in CaptionFindings.of(with_candidates(change)).warnings
    assert all(str(image) in sentence for image in REFERENCES.ids[:3])


def test_findings_before_scoring_are_not_in_reports() -> None:
    findings = CaptionFindings.of(with_candidates(dict.fromkeys(range(6), f"{LONG} {LONG} {LONG}")))
    assert any("SPICE" in warning for warning in findings.warnings)
    assert not any("SPICE" in warning for warning in findings.warnings_for(select(["bleu", "cider-d"])))


def test_truncated_captions_are_found() -> None:
    whole = {i: f"{LONG} {text}." for i, text in enumerate(IMPROVED)}
    cut = {**whole, **dict.fromkeys(range(3), f"{LONG} The dog runs towards the")}
    assert "cut" not in kinds(with_candidates(whole))
    assert kinds(with_candidates(cut))["cut"] == 3
    without_marks = {i: text.rstrip(".") for i, text in whole.items()}
    assert "cut" not in kinds(with_candidates(without_marks))


def test_most_captions_may_be_truncated(shared_data: Path) -> None:
    with gzip.open(shared_data / "iiw/IIW-400.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["IIW"] for line in file]
    cut = [" ".join(text.split()[:80]) for text in texts]
    n_cut = sum(not text.endswith((".", "!", "?", '"', ")")) for text in cut)
    assert n_cut > 300
    assert kinds(captious.read_captions(dict(enumerate(cut))))["cut"] >= 0.95 * n_cut
    assert "cut" not in kinds(captious.read_captions(dict(enumerate(texts))))


def test_findings_shared_by_references_are_not_reported() -> None:
    both = ["The image shows a dog. It runs.", "This picture shows a cat. It sleeps."]
    references = {i: [f"{text} {i}" for text in both] for i in range(20)}
    candidates = {i: f"The image shows a dog. It sleeps in {i}." for i in range(20)}
    assert kinds(captious.read_captions(candidates, references)) == {}


@pytest.mark.parametrize(("n_of_candidates", "is_reported"), [(40, False), (41, True), (2, False)])
def test_findings_are_reported_from_twice_their_share_in_references(n_of_candidates: int, is_reported: bool) -> None:
    """Here 20 percent of the references, and of 100 candidates as many as given."""
    prompt = "The image shows a dog {}"
    references = {i: [prompt.format(i) if i < 40 else f"A dog {i}", f"One dog {i}"] for i in range(100)}
    candidates = {i: prompt.format(i) if i < n_of_candidates else f"This dog {i}" for i in range(100)}
    found = kinds(captious.read_captions(candidates, references))
    assert found.get("prompt") == (n_of_candidates if is_reported else None)


def test_other_scripts_are_reported_unless_all_tokenizers_support_them() -> None:
    candidates = dict.fromkeys(range(10), "一只狗在草地上跑。")
    captions = captious.read_captions(candidates, {i: ["一只棕色的狗在跑。", "一只狗。"] for i in range(10)})
    assert kinds(captions) == {"script": 10}

    def messages(*metrics: str) -> bool:
        return any("Latin script" in warning for warning in evaluate(captions, select(metrics)).warnings)

    assert messages("bleu")
    assert messages("bleu:tokenizer=zh", "rouge-l")
    assert not messages("bleu:tokenizer=zh", "rouge-l:tokenizer=unicode", "chrf")


def test_examples_have_no_findings_and_parts_add_up() -> None:
    captions = with_candidates({2: "", 5: "", 20: "**a** dog and more of it"})
    whole = CaptionFindings.of(captions)
    assert kinds(with_candidates({})) == {}
    parts = [captions.select(np.arange(start, end)) for start, end in pairwise([0, 4, 10, 24])]
    added = sum(map(CaptionFindings.of, parts), CaptionFindings())
    assert (
        added.candidates["empty"]
        == whole.candidates["empty"]
        == (2, (str(REFERENCES.ids[2]), str(REFERENCES.ids[5])), "")
    )
    assert (added.n, added.references, added.most_references) == (whole.n, whole.references, whole.most_references)
    assert CaptionFindings.from_dict(json.loads(json.dumps(added.to_dict()))) == added


def test_pieces_of_one_to_eight_words_are_repetitions_from_the_third_time() -> None:
    captions = ["a b c a b c a b c", "a b c a b c", "b a a a a a a b", "a a a a a b", "1 2 3 4 5 6 7 8 " * 3, "", "a"]
    words = [text.split() for text in captions]
    numbers = {word: i for i, word in enumerate(sorted({word for group in words for word in group}))}
    ids = np.array([numbers[word] for group in words for word in group], np.int32)
    offsets = np.cumsum([0, *map(len, words)])
    assert repeats_itself(ids, offsets).tolist() == [True, False, True, False, True, False, False]
    assert not repeats_itself(np.array([1, 1, 1], np.int32), np.array([0, 1, 2, 3])).any()  # each its own caption


def test_published_system_with_empty_captions_is_reported(shared_data: Path) -> None:
    references = captious.read_references(shared_data / "coco" / "captions_val2014.json.gz")
    for name, expected in [("vinyals-et-al-2017", ["empty"]), ("wu-et-al-2016", [])]:
        path = shared_data / "coco" / "results_val2014" / f"{name}.json.gz"
        findings = CaptionFindings.of(captious.read_captions(path, references)).findings
        assert [finding.kind for finding in findings] == expected


def test_check_reports_findings_without_scoring() -> None:
    result = captious.check(with_candidates({0: "", 1: ""}), system="mine")
    assert [(finding.kind, finding.n) for finding in result.findings if finding.kind == "empty"] == [("empty", 2)]
    report = evaluate(with_candidates({0: "", 1: ""}), select("rouge-l"))
    assert result.warnings == report.warnings
    assert result.to_dict()["findings"]["empty"]["candidates"] == 2
    assert "mine: 24 candidates, 120 references" in str(result)
    assert "copy" not in str(captious.check({1: "a dog"}))  # without references


def test_combined_metrics_join_the_names_of_their_tokens() -> None:
    captions = captious.read_captions(
        dict.fromkeys(range(9), "собака бежит по пляжу"), {i: ["собака", "пляж"] for i in range(9)}
    )
    findings = CaptionFindings.of(captions)
    own = captious.RougeL()
    for tokens, is_found in (("smurf, distilroberta-base", True), ("distilroberta-base", False)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(captious.RougeL, "tokens", tokens)
            assert ("script" in [finding.kind for finding in findings.findings_for(select([own]))]) == is_found


# The situations of public reports in ../shared/cases.

#: File of candidates -> kind, number of candidates, what the sentence shows, and the rule that cleans them.
CASES = {
    "debris_pad": ("tokens", 4, "<pad>", "tokens"),
    "debris_eos": ("tokens", 4, "</s>", "tokens"),
    "debris_bpe": ("pieces", 4, "aĠyellowĠtram", "pieces"),
    "debris_html": ("html", 4, "&quot;", "html"),
    "debris_json": ("json", 4, '{"caption": ', "json"),
    "debris_think": ("think", 4, "<think>I see", "think"),
    "failed_answers": ("failure", 2, "Failed to obtain answer via API.", ""),
    "names_for_captions": ("name", 4, "photo_000001.jpg", ""),
}


@pytest.fixture
def cases(shared_data: Path) -> Path:
    return shared_data.parent / "cases"


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_debris_is_named_with_an_example_and_the_rule_that_cleans_it(cases: Path, name: str) -> None:
    kind, n, shown_text, rule = CASES[name]
    references = cases / "references.json"
    checked = captious.check(cases / f"{name}.json", references)
    scored = captious.score(cases / f"{name}.json", references, ["bleu-4", "rouge-l"])
    for warnings in (checked.warnings, scored.warnings):
        (warning,) = (each for each in warnings if each.kind == kind)
        assert warning.startswith(f"{n} of 4 candidates ")
        assert shown_text in warning
        assert f'clean="{rule}"' in warning if rule else "clean=" not in warning
    assert checked.to_dict()["findings"][kind]["clean"] == (rule or None)
    if rule:
        cleaned = captious.score(cases / f"{name}.json", references, ["bleu-4", "rouge-l"], clean=rule)
        assert kind not in [warning.kind for warning in cleaned.warnings]
        if name != "debris_html":  # whose captions have other words
            plain = captious.score(cases / "candidates.json", references, ["bleu-4", "rouge-l"])
            assert [result.score for result in cleaned.values()] == [result.score for result in plain.values()]


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_identical_references_are_named_by_check_and_score_and_for_rewards(cases: Path) -> None:
    candidates, references = cases / "same_candidates.json", cases / "same_references.json"
    report = captious.score(candidates, references, ["bleu-1", "cider-d"])
    assert report["bleu-1"].score > 0.999
    assert report["cider-d"].score == 0
    table = captious.read_references(references)
    metric = captious.CiderD()
    for warnings in (
        report.warnings,
        captious.check(candidates, references).warnings,
        map(CaptionWarning, metric.reference_warnings(table, metric.fit(table))),
    ):
        (warning,) = (each for each in warnings if each.kind == "same-references")
        assert "all" in warning
        assert "ln 1 = 0" in warning
    of_bleu = captious.score(candidates, references, ["bleu-1"])
    assert "same-references" not in [warning.kind for warning in of_bleu.warnings]
    own = captious.CiderD(idf=DocumentFrequencies.of({i: [f"a dog {i}", "the lungs"] for i in range(200)}))
    assert not own.reference_warnings(table, None)


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_one_caption_in_thai_is_reported_like_thousands(cases: Path) -> None:
    report = captious.score(cases / "one_thai.json", cases / "one_thai_references.json")
    (warning,) = (each for each in report.warnings if each.kind == "script")
    assert "(Thai)" in warning
    assert 'captious.Settings(language="th")' in warning
    assert "spice" not in report  # which is for English only
    assert not any('idf="coco"' in each for each in report.warnings)


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_decomposed_letters_are_named_on_either_side_and_composed_on_both(cases: Path) -> None:
    decomposed, composed = cases / "decomposed.json", cases / "decomposed_references.json"
    settings = captious.Settings(language="fr")
    reversed_sides = (
        {1: json.loads(composed.read_text("utf-8"))["1"][0]},
        {1: [json.loads(decomposed.read_text("utf-8"))["1"]]},
    )
    for candidates, references in ((decomposed, composed), reversed_sides):
        official = captious.score(candidates, references, ["bleu-1"])
        assert official["bleu-1"].score < 0.6
        (warning,) = (each for each in official.warnings if each.kind == "decomposed")
        assert 'clean="compose"' in warning
        cleaned = captious.score(candidates, references, ["bleu-1"], clean="compose", settings=settings)
        assert cleaned["bleu-1"].score > 0.999
        assert "clean:compose" in cleaned["bleu-1"].signature
        assert "decomposed" not in [each.kind for each in cleaned.warnings]


@pytest.mark.parametrize("text", ["a\u200b dog runs over the grass", "ａ ｄｏｇ runs over the grass"])
def test_other_forms_of_letters_are_named_with_the_rule_that_changes_both_sides(text: str) -> None:
    plain = "a dog runs over the grass"
    for candidate, reference in ((text, plain), (plain, text)):
        found = captious.check({1: candidate}, {1: [reference, reference]}).warnings
        assert any('clean="compose"' in warning for warning in found)
        report = captious.score({1: candidate}, {1: [reference]}, ["bleu-4"], clean="compose")
        assert report["bleu-4"].score > 0.99
    assert (
        captious.check({1: text}, {1: [text, text]}).warnings == captious.check({1: plain}, {1: [plain] * 2}).warnings
    )


GERMAN = {
    1: "Ein schwarzer Hund springt ins Wasser.",
    2: "Zwei Kinder spielen Fußball im Park.",
    3: "Eine Frau sitzt auf einer Bank.",
}
SWAHILI = {1: "Mbwa mweusi anaruka ndani ya maji", 2: "Watoto wawili wanacheza katika bustani"}


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_scripts_of_unknown_languages_leave_metrics_for_english_out() -> None:
    captions = {1: "བོད་ཁྱི་རྒྱུག་གི་འདུག", 2: "ཁྱི་རྒྱུག"}
    report = captious.score(captions, {image: [text, f"{text} x"] for image, text in captions.items()})
    assert "spice" not in report
    assert any("made for English, and the captions are in another script" in warning for warning in report.warnings)


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_one_foreign_word_among_few_is_no_other_language() -> None:
    report = captious.score({1: "spaghetti alla carbonara"}, {1: ["a plate of pasta", "spaghetti on a plate"]})
    assert "spice" in report
    assert not {"foreign", "language"} & {warning.kind for warning in report.warnings}


def test_german_captions_are_not_foreign_among_german_ones() -> None:
    captions = {**GERMAN, 4: "In einem kleinen Bus sitzen", 5: "Oben isst jemand, unten verpackt jemand etwas"}
    found = captious.check(captions, {image: [text, text + " heute"] for image, text in captions.items()})
    assert "language" not in {warning.kind for warning in found.warnings}


@pytest.mark.parametrize(("captions", "name", "code"), [(GERMAN, "German", "de"), (SWAHILI, "Swahili", "sw")])
@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_metrics_for_english_are_left_out_of_the_default_and_never_the_best(captions, name: str, code: str) -> None:
    references = {image: [text, f"{text} x"] for image, text in captions.items()}
    report = captious.score(captions, references)
    assert "spice" not in report
    assert any(
        warning.startswith(f"spice is left out: made for English, and the captions are in {name}")
        for warning in report.warnings
    )
    (warning,) = (each for each in report.warnings if each.kind == "foreign")
    assert f"not in English ({name})" in warning
    assert f'captious.Settings(language="{code}")' in warning
    assert not any('idf="coco"' in each for each in report.warnings)
    named = captious.score(captions, references, settings=captious.Settings(language=code))
    assert "spice" not in named
    assert "foreign" not in [each.kind for each in named.warnings]
    systems = {
        "a": captious.read_captions(captions, references),
        "b": captious.read_captions(dict.fromkeys(captions, "x"), references),
    }
    table = captious.score_systems(systems, metrics=["spice", "rouge-l"]).to_table()
    best = {row.label: any(cell.best for cell in row.cells if cell is not None) for row in table.rows}
    assert best == {"spice": False, "rouge-l": True}


def test_captions_in_another_language_than_the_references_are_named_from_one_up() -> None:
    references = {i: ["a dog runs over the grass", "the dog is in a park"] for i in range(5)}
    candidates = dict.fromkeys(range(5), "a dog runs in the park") | {3: GERMAN[1]}
    assert kinds(captious.read_captions(candidates, references)) == {"language": 1}
    german = {i: ["Ein Hund läuft über das Gras", "Der Hund ist in einem Park"] for i in range(5)}
    assert kinds(captious.read_captions(candidates, german))["language"] == 4


def test_each_kind_of_finding_is_one_warning_with_its_count_in_each_system() -> None:
    references = {i: [f"a dog runs {i}", f"dog {i} is on the grass"] for i in range(10)}
    systems = {
        name: captious.read_captions({i: f"a dog runs {i}{' </s>' * (i < n)}" for i in range(10)}, references)
        for name, n in (("a", 3), ("b", 5), ("c", 0))
    }
    with pytest.warns(captious.CaptiousWarning):
        warnings = captious.score_systems(systems, metrics=["rouge-l"]).warnings
    (warning,) = (each for each in warnings if each.kind == "tokens")
    assert warning.startswith("8 of 20 candidates hold special tokens of a model, such as")
    assert "(a 3, b 5)" in warning
    assert pickle.loads(pickle.dumps(warnings)) == warnings


def test_captions_far_longer_than_references_are_said_above_the_default_table() -> None:
    references = {i: [f"a dog runs {i}", f"dog {i} is on the grass"] for i in range(12)}
    long = {
        i: f"a dog {i} runs over the wide green grass with a red ball and then it jumps and barks" for i in range(12)
    }
    systems = {
        "a": captious.read_captions(long, references),
        "b": captious.read_captions({i: t[:70] for i, t in long.items()}, references),
    }
    with pytest.warns(captious.CaptiousWarning):
        reports = captious.score_systems(systems)
    table = reports.to_table()
    assert str(reports).splitlines()[1].startswith("12 images · ")
    assert table.title.startswith("candidates are 3.") or "times as long as references" in table.title.splitlines()[0]
    assert "spice-p:split=sentences" in table.title.splitlines()[0]
    best = {row.label for row in table.rows if any(cell.best for cell in row.cells if cell is not None)}
    assert not best & {"cider-d", "bleu-4"}
    with pytest.warns(captious.CaptiousWarning):
        named = captious.score_systems(systems, metrics=["cider-d"])
    assert "times as long" not in named.to_table().title


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_what_means_nothing_for_the_captions_is_marked_nowhere() -> None:
    references = {i: [f"a dog runs {i}", f"dog {i} is on the grass"] for i in range(12)}
    long = {i: f"a dog {i} runs over the wide green grass with a red ball and then it jumps, barks" for i in range(12)}
    tables = {
        "a": captious.read_captions(long, references),
        "b": captious.read_captions({i: text[:70] for i, text in long.items()}, references),
        "c": captious.read_captions({i: f"{'so it is said ' * 5} {i}" for i in long}, references),
    }
    german = {image: [text, f"{text} x"] for image, text in GERMAN.items()}
    foreign = {
        name: captious.read_captions(captions, german)
        for name, captions in {"a": GERMAN, "b": dict.fromkeys(GERMAN, "x"), "c": dict.fromkeys(GERMAN, "y")}.items()
    }
    for systems, metrics, unmarked in (
        (tables, None, {"bleu-1", "bleu-2", "bleu-3", "bleu-4", "cider-d"}),
        (foreign, ["spice", "rouge-l"], {"spice"}),
    ):
        compared = captious.compare(systems, metrics=metrics, resamples=1000)
        for name in compared.reports["a"]:
            if name in unmarked:
                assert not any(compared.beaten(system, name) for system in systems), name
        page = Page(report_page([*compared.reports.values()], resamples=20))
        ranked = {output["name"] for output in page.manifest["outputs"] if output["ranked"]}
        assert ranked
        assert not ranked & unmarked
        (best,) = re.findall(r"Best score: .*? of (\d+) metric", page.text)
        assert int(best) <= len(ranked)


@pytest.mark.parametrize(
    ("references", "kinds_of_warnings"),
    [
        ({1: [""], 2: [" "]}, ["empty-references"]),
        ({1: ["", "\t"], 2: ["", "..."]}, ["empty-references"]),
        ({1: [""], 2: ["a cat sits"]}, ["one-reference", "empty"]),
        ({1: ["", "a dog"], 2: ["a cat sits", "..."]}, ["empty"]),
    ],
)
@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_empty_references_are_said_to_be_empty(
    references: dict[int, list[str]], kinds_of_warnings: list[str], tmp_path: Path
) -> None:
    candidates = {1: "a dog runs", 2: "a cat sits"}
    scored, checked = captious.score(candidates, references, "bleu-4"), captious.check(candidates, references)
    for warnings in (scored.warnings, checked.warnings):
        assert [each.kind for each in warnings if each.kind.endswith("reference") or "empty" in each.kind] == (
            kinds_of_warnings
        )
    (one,) = captious.score({1: "a dog"}, {1: [""]}, "bleu-4").warnings
    assert one.startswith("all references are empty")
    (tmp_path / "references.json").write_text('{"1": [""]}')
    assert fit_resource("cider-d", [tmp_path / "references.json"]).warnings == [one]


@pytest.mark.parametrize(
    "candidates",
    [
        {"beach_dog": "beach_dog", "park cat": "park cat", "red": " red "},
        {"photos/beach_dog.jpg": "beach_dog", "b/park.cat.png": "park", "one.jpg": "one"},
        {42: "42", 43: "Image 43", 44: "photo #44"},
        {"a1": "a1", "b2": "b2", "c3": "c3"},
    ],
)
def test_captions_that_are_the_ids_of_their_images_are_found(candidates: dict[int | str, str]) -> None:
    references = {image: ["a dog runs", "the dog is on the grass"] for image in candidates}
    (found,) = CaptionFindings.of(captious.read_captions(candidates, references)).findings
    assert (found.kind, found.n) == ("name", 3)
    changed = dict(zip(candidates, [*[*candidates.values()][1:], "a dog"], strict=True))
    if not any(map(str.isdigit, "".join(candidates.values()))):
        assert "name" not in kinds(captious.read_captions(changed, references))


def test_advice_names_the_metrics_of_the_run_alone() -> None:
    references = {i: [f"a dog runs {i}", f"dog {i} is on the grass"] for i in range(12)}
    long = {i: " and ".join([f"a dog {i} runs over the wide green grass"] * 2) for i in range(12)}
    findings = CaptionFindings.of(captious.read_captions(long, references))
    assert [finding.kind for finding in findings.findings_for(select("rouge-l"))] == []
    (sentence,) = findings.warnings_for(select("bleu-4"))
    assert "bleu then mostly measure length" in sentence
    assert "CIDEr" not in sentence


@pytest.mark.parametrize(
    ("texts", "is_like_coco"),
    [
        (["a dog runs over the grass", "a man sits on a bench"], True),
        (["a dog barks and water is heard", "a loud noise of an engine"], False),
        ([*GERMAN.values()], False),
    ],
)
def test_document_frequencies_of_coco_are_advised_for_captions_like_its_own(
    texts: list[str], is_like_coco: bool
) -> None:
    references = captious.read_references({i: [text, f"{text} {i}"] for i, text in enumerate(texts)})
    metric = captious.CiderD()
    (warning,) = map(CaptionWarning, metric.reference_warnings(references, metric.fit(references)))
    assert ('idf="coco"' in warning) == is_like_coco


@pytest.mark.parametrize("n", [1, 4, 100])
def test_one_caption_is_enough_where_chance_is_no_explanation(n: int) -> None:
    references = {i: [f"a dog runs {i}", f"dog {i} is on the grass"] for i in range(n)}
    for kind, text in {
        **{name: each.example for name, each in TEXT_KINDS.items() if not each.least},
        "cut": "a man is riding on top of a",
        "name": "42",
    }.items():
        candidates = {i: f"a dog runs over the grass {i}" for i in range(n)} | {0: text}
        assert kind in kinds(captious.read_captions(candidates, references)), kind


def test_excerpts_are_cut_but_not_within_an_escape() -> None:
    assert excerpt("a dog") == '"a dog"'
    assert excerpt('a "red" dog') == "'a \"red\" dog'"
    assert excerpt("x" * 50, most=10) == f'"{"x" * 10}..."'
    for most in range(5, 20):
        inner = excerpt("dog \u200b\x1b\u200b\x1b cat", most=most).strip('"').replace("...", "")
        assert not inner.replace("\\u200b", "").replace("\\x1b", "").count("\\")


def test_check_says_what_it_looked_for() -> None:
    table = captious.check(with_candidates({})).to_table()
    assert table.rows == []
    assert len(table.notes) == 1
    assert table.notes[0].startswith("Looked for and not found: empty, failure, ")
    one = captious.check(with_candidates({0: REFERENCES.texts[0]})).to_table()
    assert "as rare as in captions by people" in one.notes[0]


ENGLISH = {i: [f"a dog {i} runs over the grass", f"dog {i} is in a park"] for i in range(6)}
#: What the references of one image or of all are, the kind, and what is said of it.
OF_REFERENCES = (
    ({0: ["a dog </s>", "a dog <pad>"]}, "tokens", "2 of 12 references hold special tokens"),
    ({0: ["a &quot;dog&quot;", "a dog"]}, "html", "1 of 12 references holds entities or tags of HTML"),
    ({0: ["photo_1.jpg", "a dog"]}, "name", "is this the column of the references?"),
    ({0: ["...", "a dog"]}, "empty", "1 of 12 references is empty or without words"),
    ({i: ["", "!"] for i in range(6)}, "empty-references", "all references are empty"),
)


@pytest.mark.parametrize(("change", "kind", "words"), OF_REFERENCES)
@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_references_are_looked_at_by_check_score_and_reward(
    change: dict[int, list[str]], kind: str, words: str
) -> None:
    candidates, references = {i: f"a dog {i} runs" for i in range(6)}, ENGLISH | change
    checked = captious.check(candidates, references)
    for warnings in (
        checked.warnings,
        captious.score(candidates, references, "rouge-l").warnings,
        captious.reward(references, "rouge-l").warnings,
    ):
        (warning,) = (each for each in warnings if each.kind == kind)
        assert words in warning
    not_found = checked.to_table().notes[-1]
    assert "; in references: " in not_found
    assert f" {kind}," not in not_found.partition("in references: ")[2]
    assert "vocabulary" not in not_found  # which needs more references


@pytest.mark.parametrize(
    ("texts", "metric", "kind", "words"),
    [
        ([*GERMAN.values()], "bleu-4", "foreign", 'captious.Settings(language="de")'),
        (["一只狗在公园里跑。", "两个孩子在踢足球。"], "cider-d", "script", 'captious.Settings(language="zh")'),
        (["a dog runs over the grass"], "spice", "grammar", "bundled approximate grammar"),
    ],
)
@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_rewards_are_warned_of_as_scores_are(texts: list[str], metric: str, kind: str, words: str) -> None:
    references = {i: [text, text] for i, text in enumerate(texts)}
    reward = captious.reward(references, metric)
    for warnings in (reward.warnings, captious.score([*texts], [*references.values()], metric).warnings):
        (warning,) = (each for each in warnings if each.kind == kind)
        assert words in warning
    assert pickle.loads(pickle.dumps(reward)).warnings == reward.warnings


@pytest.mark.parametrize(
    "texts",
    [
        [*GERMAN.values()],
        ["Un chien noir saute dans l'eau.", "Deux enfants jouent dans le parc."],
        ["一只狗在公园里跑。", "两个孩子在踢足球。"],
    ],
)
@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_what_is_made_for_english_says_so_at_once(texts: list[str]) -> None:
    references = [[text, text] for text in texts]
    (warning,) = (w for w in captious.score(texts, references, "spice").warnings if w.kind in ("foreign", "script"))
    assert "spice is made for English, so these scores mean nothing" in warning
    assert "Settings" not in warning
    (both,) = (
        w for w in captious.score(texts, references, ["spice", "bleu-4"]).warnings if w.kind in ("foreign", "script")
    )
    assert " by bleu" in both
    assert "name the language with" in both
    (checked,) = (w for w in captious.check(texts, references).warnings if w.kind in ("foreign", "script"))
    assert "name the language with" in checked


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_a_metric_that_is_left_out_is_said_once() -> None:
    references = {image: [text, f"{text} x"] for image, text in GERMAN.items()}
    warnings = captious.score(GERMAN, references, settings=captious.Settings(language="de")).warnings
    assert [each.kind for each in warnings if "spice" in each] == ["left-out"]


_OTHERS = "the {0}th thing seen near {1} others"


@pytest.mark.parametrize(
    ("captions", "said"),
    [
        (["a photo of a dog", _OTHERS], ["all n-grams of 'a photo of a dog' and of captions like it are in"]),
        (["a photo of a dog {0} and {1}", _OTHERS], []),
        (["{0} {1} {2}", _OTHERS], []),
        (["a brown dog runs over the green grass near house {0}"], ["89% of the n-grams of the first image are in"]),
        (["a dog near house {0}"], []),
    ],
)
@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_captions_whose_weights_are_0_are_named(captions: list[str], said: list[str]) -> None:
    references = {i: [text.format(i, i + 1000, i + 2000) for text in captions] for i in range(300)}
    table, metric = captious.read_references(references), captious.CiderD()
    warnings = [CaptionWarning(each) for each in metric.reference_warnings(table, metric.fit(table))]
    assert [each.kind for each in warnings] == ["same-references"] * len(said)
    assert all(text in each for text, each in zip(said, warnings, strict=True))
    checked = captious.check(dict.fromkeys(references, "a photo of a cat"), references)
    is_same = captions[0] == "a photo of a dog"
    assert ("same-references" in [each.kind for each in checked.warnings]) == is_same


@pytest.mark.parametrize(("other", "of_all"), [("a photo of a dog", "a photo of a dog"), ("a photo of a cat", "")])
def test_parts_have_a_reference_in_common_if_each_has_it(other: str, of_all: str) -> None:
    parts = [
        CaptionFindings.of(captious.read_captions({n: "a dog", n + 1: "dogs"}, {n: [text], n + 1: [text]}))
        for n, text in ((1, "a photo of a dog"), (5, other))
    ]
    assert (parts[0] + parts[1]).same_references == of_all
    assert (parts[0] + CaptionFindings()).same_references == "a photo of a dog"


def test_references_of_coco_are_not_said_to_be_alike(shared_data: Path) -> None:
    references = captious.read_references(shared_data / "coco" / "karpathy_test_refs.json.gz")
    for metric in (captious.CiderD(), captious.RougeL()):
        assert captious.reward(references, metric).warnings == []


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_document_frequencies_of_coco_are_never_advised_for_sounds(cases: Path) -> None:
    metric = captious.CiderD()
    of_files = {f"{i}.wav": ["a dog runs over the grass", "a dog runs"] for i in range(3)}
    for source in (cases / "dcase_references.csv", of_files):
        references = captious.read_references(source)
        (warning,) = map(CaptionWarning, metric.reference_warnings(references, metric.fit(references)))
        assert 'idf="coco"' not in warning


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_warnings_of_one_candidate_and_of_other_metrics_are_sentences() -> None:
    (failed,) = (w for w in captious.check({1: "None"}, {1: ["a dog", "dog"]}).warnings if w.kind == "failure")
    assert failed.startswith("1 of 1 candidate holds a failure message")
    of_sets = captious.score({1: ["a dog", "a cat"]}, {1: ["a dog", "dog"]}, "self-cider", several="mean").warnings
    assert not any("for every caption" in each for each in of_sets)
    assert any("every similarity of two captions is 0" in each for each in of_sets)
