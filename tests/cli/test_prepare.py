"""captious prepare"""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run, assert_refused

REFERENCES = "references.json"
METRICS = ("-m", "bleu", "-m", "rouge-l", "-m", "cider-d")


def test_prepared_file_serves_settings_and_parameters(folder: Path, run: Run) -> None:
    assert run("prepare", REFERENCES, "-o", "refs.prepared", "-m", "cider-d", "--tokenizer", "whitespace").code == 0
    command = ("score", "baseline.json", "refs.prepared", "-m", "cider-d:sigma=3", "--format", "csv")
    assert "not prepared" not in run(*command, "--tokenizer", "whitespace").err
    assert "not prepared for cider-d with these settings" in run(*command).err
    plain = run("score", "baseline.json", REFERENCES, "-m", "cider-d:sigma=3", "--format", "csv")
    assert run(*command).out == plain.out


def test_prepared_file_is_accepted_by_other_commands(folder: Path, run: Run) -> None:
    run("prepare", REFERENCES, "-o", "refs.prepared", *METRICS)
    for refs, name in ((REFERENCES, "a.idf"), ("refs.prepared", "b.idf")):
        assert run("fit", "cider-d", refs, "-o", name).code == 0
    assert (folder / "a.idf").read_bytes() == (folder / "b.idf").read_bytes()
    prepared, plain = (
        run("explain", "cider-d", "baseline.json", refs, "--id", "1207") for refs in ("refs.prepared", REFERENCES)
    )
    assert (prepared.code, prepared.out) == (plain.code, plain.out)


def test_invalid_prepare_commands_are_refused(folder: Path, run: Run) -> None:
    run("prepare", REFERENCES, "-o", "refs.prepared", *METRICS)
    assert_refused(run("score", "refs.prepared", "baseline.json"), "cannot be read as candidates")
    assert_refused(run("prepare", "refs.prepared", "-o", "refs.prepared", *METRICS), "is also an input")
    whole = (folder / "refs.prepared").read_bytes()
    (folder / "refs.prepared").write_bytes(whole[: len(whole) // 2])
    assert_refused(run("score", "baseline.json", "refs.prepared", *METRICS), "truncated", "captious prepare")
    (folder / "refs.prepared").write_bytes(whole[:-4000] + bytes(4000))
    assert_refused(run("score", "baseline.json", "refs.prepared", *METRICS), "damaged", "captious prepare")
