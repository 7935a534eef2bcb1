"""captious_server.challenges.importing"""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from captious.errors import CaptionFileError, InputError
from captious_server.challenges.folder import check_folder
from captious_server.challenges.importing import import_bundle
from server.tests.support.small_challenge import REFERENCES

BUNDLES = Path(__file__).with_name("bundles")
CODABENCH = (BUNDLES / "codabench.yaml").read_text("utf-8")
CODALAB = (BUNDLES / "codalab.yaml").read_text("utf-8")
EVALAI = (BUNDLES / "evalai.yaml").read_text("utf-8")


def references(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({str(image): captions for image, captions in REFERENCES.items()}))
    return path


def codabench(folder: Path, final: str = "2-1-2026") -> Path:
    """A bundle of Codabench, with its references in an archive within, and the final phase from a date."""
    data = references(folder / "data" / "truth.json")
    with zipfile.ZipFile(folder / "reference.zip", "w") as archive:
        archive.write(data, "inner/truth.json")
        archive.writestr("readme.txt", "Nothing.")
    bundle = folder / "bundle.zip"
    with zipfile.ZipFile(bundle, "w") as archive:
        archive.writestr("competition.yaml", CODABENCH.replace("2-1-2026", f"'{final}'"))
        archive.writestr("terms.md", "Be fair.\n")
        archive.writestr("pages/overview.md", "# Streets\n")
        page = "<!DOCTYPE html><html><head><style>p {}</style></head>\n<body>\n    <p>From <b>2025</b>.</p>\n\n    <p>x"
        archive.writestr("pages/data.html", page)
        archive.write(folder / "reference.zip", "reference.zip")
    return bundle


def test_codabench_bundle_becomes_a_challenge(tmp_path: Path) -> None:
    files, left_out = import_bundle(codabench(tmp_path), tmp_path / "streets")
    assert files == [
        "challenge.toml",
        "data.md",
        "overview.md",
        "references/truth.json",
        "terms.md",
    ]
    checked = check_folder(tmp_path / "streets")
    definition = checked.definition
    assert (definition.title, definition.summary) == ("Street scenes", "Captions of *streets*.")
    assert [text.title for text in definition.texts] == ["Overview", "Data", "Terms"]
    assert definition.terms == "Terms"
    assert checked.texts["data.md"] == "<p>From <b>2025</b>.</p>\n\n<p>x\n"
    assert (definition.metrics, definition.rank_by) == (("cider-d", "bleu-4"), "cider-d")
    assert definition.team_approval
    first, second = definition.phases
    assert (first.name, first.title) == ("development-phase", "Development phase")
    assert (first.opens, first.closes) == (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, 12, tzinfo=UTC))
    assert (first.scored_per_day, first.scored_in_total, first.digits) == (5, 100, 3)
    assert (second.opens, second.closes, second.scored_in_total) == (datetime(2026, 2, 1, tzinfo=UTC), None, 3)
    assert set(checked.references["captions", "references"].ids) == {*REFERENCES}
    assert left_out == [
        "the page Gone: there is no file pages/gone.md",
        "the column 'speed / Speed' of the leaderboard: captious has no such metric",
        "of the phase Development phase: execution_time_limit",
        "of the task Captions: scoring_program",
        "of the bundle: docker_image, image",
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1-2-2026", datetime(2026, 1, 2, tzinfo=UTC)),
        ("12-31-2026", datetime(2026, 12, 31, tzinfo=UTC)),
        ("31/12/2026", datetime(2026, 12, 31, tzinfo=UTC)),
        ("1/2/2026 10:30:00", datetime(2026, 1, 2, 10, 30, tzinfo=UTC)),
        ("2026-01-02 10:30:00", datetime(2026, 1, 2, 10, 30, tzinfo=UTC)),
    ],
)
def test_codabench_dates_are_month_first(tmp_path: Path, written: str, meant: datetime) -> None:
    """As in Codabench's examples, unless only the day can be first."""
    import_bundle(codabench(tmp_path, written), tmp_path / "made")
    assert check_folder(tmp_path / "made").definition.phases[1].opens == meant


def test_invalid_limits_and_digits_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "competition.yaml").write_text(
        "title: T\nregistration_auto_approve: true\n"
        "phases: [{name: P, max_submissions: -5, max_submissions_per_day: 99999999999999999999}]\n"
        "leaderboards: [{columns: [{key: bleu_4, precision: 99}, {key: cider, precision: 5}]}]\n"
    )
    _, left_out = import_bundle(tmp_path, tmp_path / "made", references(tmp_path / "refs.json"))
    definition = check_folder(tmp_path / "made").definition
    [phase] = definition.phases
    assert (phase.scored_per_day, phase.scored_in_total, phase.digits) == (0, 0, 5)
    assert not definition.team_approval
    assert left_out == [
        "of the phase P: max_submissions_per_day 99999999999999999999, so it has no such limit",
        "of the phase P: max_submissions -5, so it has no such limit",
        "the precision 99: digits is 5",
    ]


@pytest.mark.parametrize("page", ["terms.md", "other.md"])
def test_terms_become_one_page(tmp_path: Path, page: str) -> None:
    """This holds if a page about the terms exists as well, or is the same file."""
    (tmp_path / "terms.md").write_text("Be fair.")
    (tmp_path / "other.md").write_text("See the terms.")
    (tmp_path / "competition.yaml").write_text(f"title: T\nterms: terms.md\npages: [{{title: Terms, file: {page}}}]\n")
    _, left_out = import_bundle(tmp_path, tmp_path / "made", references(tmp_path / "refs.json"))
    checked = check_folder(tmp_path / "made")
    assert [(text.title, checked.texts[text.file]) for text in checked.definition.texts] == [("Terms", "Be fair.")]
    assert ("the page Terms: the terms are terms.md" in left_out) == (page == "other.md")


def test_invalid_date_is_left_out(tmp_path: Path) -> None:
    _, left_out = import_bundle(codabench(tmp_path, "soon"), tmp_path / "made")
    assert "of the phase Final: the date 'soon' is not in a known format" in left_out
    assert check_folder(tmp_path / "made").definition.phases[1].opens is None


def test_columns_match_by_title_and_common_metric_names(tmp_path: Path) -> None:
    rows = ["{key: set1, title: B@4}", "{key: rouge, title: x}", "{key: c, title: CIDEr}", "{key: y, title: Time}"]
    columns = "".join(f"      - {row}\n" for row in rows)
    (tmp_path / "competition.yaml").write_text(f"title: x\nleaderboards:\n  - columns:\n{columns}")
    _, left_out = import_bundle(tmp_path, tmp_path / "made", references(tmp_path / "refs.json"))
    assert check_folder(tmp_path / "made").definition.metrics == ("bleu-4", "rouge-l", "cider-d")
    assert "the column 'y / Time' of the leaderboard: captious has no such metric" in left_out


def test_long_leaderboard_description_is_kept(tmp_path: Path) -> None:
    """EvalAI allows a text in place of a file."""
    text = "The leaderboard shows CIDEr-D. " * 20
    (tmp_path / "challenge_config.yaml").write_text(f"title: x\nleaderboard_description: {text}\n")
    import_bundle(tmp_path, tmp_path / "made", references(tmp_path / "refs.json"))
    assert check_folder(tmp_path / "made").texts["leaderboard.md"].strip() == text.strip()


def test_codalab_bundle_becomes_a_challenge(tmp_path: Path) -> None:
    (tmp_path / "competition.yaml").write_text(CODALAB)
    (tmp_path / "overview.html").write_text("<h1>Old</h1>")
    (tmp_path / "terms.html").write_text("<p>Fair.")
    _, left_out = import_bundle(tmp_path, tmp_path / "old", references(tmp_path / "data" / "refs.json"))
    definition = check_folder(tmp_path / "old").definition
    begin, between, end = (datetime(2016, month, 1, hour, tzinfo=UTC) for month, hour in ((3, 0), (6, 0), (9, 12)))
    assert [(phase.name, phase.opens, phase.closes, phase.board) for phase in definition.phases] == [
        ("dev", begin, between, "public"),
        ("test", between, end, "hidden"),
    ]
    assert [(phase.scored_per_day, phase.scored_in_total, phase.digits) for phase in definition.phases] == [
        (0, 10, 2),
        (1, 0, 2),
    ]
    assert definition.metrics == ("rouge-l",)
    assert definition.terms == "Terms"
    assert left_out == [
        "the column 'METEOR-ish' of the leaderboard: captious has no such metric",
        "the scale of scores: digits is 2, as the bundle says, but scores are not in percent",
    ]


def test_evalai_bundle_becomes_a_challenge(tmp_path: Path) -> None:
    bundle = tmp_path / "evalai"
    (bundle / "templates").mkdir(parents=True)
    (bundle / "challenge_config.yaml").write_text(EVALAI)
    for name in ("description", "evaluation", "terms"):
        (bundle / "templates" / f"{name}.html").write_text(f"<p>The {name}.</p>")
    references(bundle / "annotations" / "val.json")
    _, left_out = import_bundle(bundle / "challenge_config.yaml", tmp_path / "again")
    definition = check_folder(tmp_path / "again").definition
    assert [text.title for text in definition.texts] == ["Overview", "Evaluation", "Terms"]
    assert (definition.metrics, definition.rank_by) == (("cider-d", "bleu-1"), "cider-d")
    val, test = definition.phases
    assert {phase.captions for phase in definition.phases} == {("captions",)}
    assert (val.name, val.scored_per_day, val.scored_in_total, val.board) == ("val-2019", 5, 50, "public")
    assert (val.closes, val.digits) == (datetime(2099, 1, 1, tzinfo=UTC), 2)
    assert (test.name, test.board, test.entries) == ("test-2019", "hidden", "one")
    assert left_out == [
        "the page Submissions: there is no file templates/missing.html",
        "the column 'SPICE-ish' of the leaderboard: captious has no such metric",
        "of the phase val: allowed_submission_file_types, max_submissions_per_month",
        "the scale of scores: digits is 2, as the bundle says, but scores are not in percent",
        "of the bundle: dataset_splits, evaluation_script",
    ]


def test_evalai_phases_keep_their_references(tmp_path: Path) -> None:
    """The second file has the same name in another folder, and the third is missing."""
    bundle = tmp_path / "evalai"
    own = EVALAI.replace("codename: test_2019", "codename: test_2019\n    test_annotation_file: private/val.json")
    third = "  - {id: 3, name: Hard, test_annotation_file: hard.json}\n  - {id: 4, name: Again}\n"
    bundle.mkdir()
    (bundle / "challenge_config.yaml").write_text(own.replace("dataset_splits:", f"{third}dataset_splits:", 1))
    references(bundle / "annotations" / "val.json")
    others = {str(image): ["a car", "a bus"] for image in (7, 8)}
    (bundle / "private").mkdir()
    (bundle / "private" / "val.json").write_text(json.dumps(others))
    _, left_out = import_bundle(bundle, tmp_path / "again")
    assert "references of the phase Hard: add them as references/hard.json" in left_out
    references(tmp_path / "again" / "references" / "hard.json")
    checked = check_folder(tmp_path / "again")
    assert [(phase.name, phase.captions) for phase in checked.definition.phases] == [
        ("val-2019", ("val-2019",)),
        ("test-2019", ("test-2019",)),
        ("hard", ("hard",)),
        ("again", ("val-2019",)),
    ]
    assert {*checked.references["val-2019", "references"].ids} == {*REFERENCES}
    assert {*checked.references["test-2019", "references"].ids} == {7, 8}
    assert checked.references["test-2019", "references"].name == "references/val-2.json"


def test_codabench_phases_keep_the_references_of_their_tasks(tmp_path: Path) -> None:
    """References of a second task are left out."""
    bundle = tmp_path / "bundle"
    for name in ("dev", "final", "more"):
        references(bundle / name / "truth.json")
    (bundle / "competition.yaml").write_text(
        "title: T\ntasks: [{index: 3, reference_data: final}, {index: 1, reference_data: dev},"
        " {index: 2, reference_data: more}]\n"
        "phases: [{name: Dev, tasks: [1]}, {name: Final, tasks: [3, 2]}, {name: Late, tasks: [3]}]\n"
        "leaderboards: [{columns: [{key: bleu_4}]}]\n"
    )
    files, left_out = import_bundle(bundle, tmp_path / "new")
    assert files == ["challenge.toml", "references/truth-2.json", "references/truth.json"]
    definition = check_folder(tmp_path / "new").definition
    assert [phase.captions for phase in definition.phases] == [("dev",), ("final",), ("final",)]
    assert {row.captions: row.file for row in definition.references} == {
        "dev": "references/truth.json",
        "final": "references/truth-2.json",
    }
    assert left_out == ["of the phase Final: the reference data more"]


def test_references_option_applies_to_all_phases(tmp_path: Path) -> None:
    bundle = tmp_path / "evalai"
    bundle.mkdir()
    own = EVALAI.replace("codename: test_2019", "codename: test_2019\n    test_annotation_file: test.json")
    (bundle / "challenge_config.yaml").write_text(own)
    import_bundle(bundle, tmp_path / "again", references(tmp_path / "mine.json"))
    definition = check_folder(tmp_path / "again").definition
    assert {phase.captions for phase in definition.phases} == {("captions",)}
    assert [row.file for row in definition.references] == ["references/mine.json"]


def test_hidden_leaderboard_and_references_folder_are_imported(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    references(bundle / "truth.json")
    (bundle / "competition.yaml").write_text(
        "title: T\ntasks: [{index: 0, reference_data: ./}]\nphases: [{name: Only, hide_output: true}]\n"
        "leaderboards: [{hidden: true, submission_rule: Force_Last, columns: [{key: bleu_4}]}]\n"
    )
    _, left_out = import_bundle(bundle, tmp_path / "new")
    definition = check_folder(tmp_path / "new").definition
    assert [phase.board for phase in definition.phases] == ["hidden"]
    assert left_out == [
        "of the phase Only: hide_output",
        "the rule 'Force_Last': a team's entry is its best submission, or one it chooses",
    ]


class TestProblems:
    def test_files_outside_the_bundle_are_not_read(self, tmp_path: Path) -> None:
        (tmp_path / "secret.md").write_text("secret")
        bundle = tmp_path / "bundle"
        bundle.mkdir()
        (bundle / "competition.yaml").write_text("title: T\npages: [{title: P, file: ../secret.md}]\n")
        files, left_out = import_bundle(bundle, tmp_path / "new")
        assert files == ["challenge.toml"]
        assert left_out[0] == "the page P: there is no file ../secret.md"
        assert "references: add them as references/references.json" in left_out
        assert "phases: the bundle has none, so the challenge has one phase that is always open" in left_out

    @pytest.mark.parametrize("text", ["- 1", "a: [", "!!python/object/apply:os.system ['true']"])
    def test_files_that_are_not_bundles_are_refused(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "competition.yaml").write_text(text)
        with pytest.raises(InputError):
            import_bundle(tmp_path, tmp_path / "new")
        assert not (tmp_path / "new").exists()

    def test_impossible_date_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "competition.yaml").write_text("title: T\nphases:\n- {name: P, end: 2026-13-45}\n")
        with pytest.raises(InputError, match=r"2026-13-45 is not a date.*competition\.yaml\", line 3"):
            import_bundle(tmp_path, tmp_path / "new")

    def test_text_file_is_not_a_bundle(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("title: T")
        with pytest.raises(InputError, match="is not a bundle") as caught:
            import_bundle(tmp_path / "notes.txt", tmp_path / "new")
        assert "competition.yaml" in caught.value.hint

    def test_unreadable_references_option_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "competition.yaml").write_text("title: T")
        (tmp_path / "refs.json").write_text("{")
        with pytest.raises(CaptionFileError):
            import_bundle(tmp_path, tmp_path / "new", tmp_path / "refs.json")
        assert not (tmp_path / "new").exists()


def test_missing_file_is_not_searched_for_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "competition.yaml").write_text(CODABENCH)
    with pytest.raises(InputError, match=r"typo\.zip\n.*there is no such file"):
        import_bundle(tmp_path / "typo.zip", tmp_path / "new")
    assert not (tmp_path / "new").exists()
