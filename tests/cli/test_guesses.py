"""What new users type, one row a guess: it works, or the error names the right spelling."""

from __future__ import annotations

import io
import json
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import Run

#: What is typed, after "captious" -> exit status, and texts of stdout or stderr. "b", "i" and "r" are results of two
#: systems and references; "<" takes b.json as standard input.
GUESSES: dict[str, tuple[int, list[str]]] = {
    # Scores.
    "score b.json r.json": (0, ["bleu-4", "cider-d"]),
    "score r.json b.json": (2, ["are these the references?"]),
    "score b.json": (2, ["only one file was given", "followed by the file of references"]),
    "score": (2, ["no files were given", "captious score [OPTIONS] CANDIDATES... REFERENCES"]),
    "score *.json r.json": (2, ["there is no such file", "*.json"]),
    "score none.json r.json": (2, ["there is no such file", "none.json"]),
    "score - r.json -m bleu-4 <": (0, ["standard input"]),
    "score /dev/stdin r.json -m bleu-4 <": (0, ["standard input"]),
    "score b.json i.json r.json -m bleu-4": (0, ["Is the difference real? captious compare"]),
    "score mine=b.json theirs=i.json r.json -m bleu-4": (0, ["mine", "theirs"]),
    "score b.json r.json --refs r.json": (2, ["files need no option: captious score CANDIDATES... REFERENCES"]),
    "score --references r.json --candidates b.json": (2, ["files need no option: captious score"]),
    "score --hyp b.json --ref r.json": (2, ["files need no option: captious score"]),
    "score r.json -i b.json": (2, ["files need no option: captious score"]),
    "score b.json -r r.json": (2, ["files need no option: captious score"]),
    "score --gts r.json --res b.json": (2, ["files need no option: captious score"]),
    # Metrics.
    "score b.json r.json --metrics bleu-4": (2, ["did you mean --metric?"]),
    "score b.json r.json --metric bleu-4": (0, ["bleu-4"]),
    "score b.json r.json -m BLEU4": (2, ["did you mean bleu-4"]),
    "score b.json r.json -m Bleu_4": (0, ["bleu-4"]),
    "score b.json r.json -m BLEU-4,METEOR": (0, ["bleu-4", "meteor"]),
    "score b.json r.json -m bleu-4 rouge-l": (2, ["rouge-l is a metric", "-m bleu-4,rouge-l"]),
    "score -m bleu-4 rouge-l b.json r.json": (2, ["rouge-l is a metric", "repeat -m"]),
    "score b.json r.json -m bleu-1,cider-d rouge-l": (2, ["-m bleu-1 -m cider-d -m rouge-l, or"]),
    "score b.json r.json -m bleu-1 bleu-1": (2, ["as in -m bleu-1, or"]),
    "score b.json r.json -m ROUGE_L": (0, ["rouge-l"]),
    "score b.json r.json -m rougeL": (2, ["did you mean rouge-l"]),
    "score b.json r.json -m cider": (0, ["cider", "CIDEr"]),
    "score b.json r.json -m CIDEr": (0, ["cider"]),
    "score b.json r.json -m bert-score": (2, ["did you mean bertscore"]),
    "score b.json r.json -m hallucination": (2, ["chair"]),
    "score b.json r.json -m blue": (2, ["bleu"]),
    "score b.json r.json --bleu": (2, ["did you mean -m bleu?"]),
    "score b.json r.json --all": (2, ["captious score --help"]),
    "score b.json r.json -m cider-d --idf coco": (0, ["cider-d"]),
    "score b.json r.json -m cider-d --idf df": (2, ["help: did you mean df.idf? Otherwise use --idf coco"]),
    "score b.json r.json -m cider-d --idf freq": (
        2,
        ["help: use --idf coco, or those of a corpus of your own: captious fit cider-d"],
    ),
    "score b.json r.json -m mien.py:foo": (2, ["there is no file mien.py", "did you mean mine.py?"]),
    "score b.jsno r.json": (2, ["there is no such file", "did you mean b.json?"]),
    "score sub/z/b.json r.json": (2, ["there is no such file", "there is no folder sub/z"]),
    "score b.json r.json -m cider-d --df coco": (2, ["did you mean --idf?"]),
    "bleu b.json r.json": (2, ["bleu is a metric: captious score -m bleu CANDIDATES REFERENCES"]),
    "cider b.json r.json": (2, ["captious score -m cider CANDIDATES REFERENCES"]),
    # Commands.
    "b.json r.json": (2, ["b.json is a file: captious score b.json REFERENCES"]),
    "evaluate b.json r.json": (2, ["did you mean score?"]),
    "eval b.json r.json": (2, ["did you mean score?"]),
    "diff b.json i.json r.json": (2, ["did you mean compare?"]),
    "validate b.json": (2, ["did you mean check?"]),
    "list": (2, ["did you mean metrics?"]),
    "download meteor": (2, ["did you mean captious resources get?"]),
    "train": (2, ["did you mean captious learn train?"]),
    "leaderboard": (2, ["did you mean challenges?"]),
    "version": (2, ["did you mean captious --version?"]),
    "scoer b.json r.json": (2, ["did you mean score?"]),
    "--version": (0, ["captious, version"]),
    "-V": (0, ["captious, version"]),
    "score --version": (0, ["captious, version"]),
    "help": (0, ["Score captions:"]),
    "help score": (0, ["Usage: captious score"]),
    "--help score": (0, ["Usage: captious score"]),
    "score help": (0, ["Usage: captious score"]),
    "metrics": (0, ["bleu", "spice"]),
    "metrics cider": (0, ["cider"]),
    # Output.
    "score b.json r.json -m bleu-4 -o out.csv": (0, []),
    "score b.json r.json -m bleu-4 -f json": (2, ["did you mean --format?"]),
    "score b.json r.json -m bleu-4 -v": (2, ["did you mean --debug?"]),
    "score b.json r.json -m bleu-4 --output out.tex": (0, []),
    "score b.json r.json -m bleu-4 --out out.csv": (2, ["did you mean --output?"]),
    "score b.json r.json -m bleu-4 --format latex": (2, ["did you mean tex?"]),
    "score b.json r.json -m bleu-4 --best": (2, ["did you mean --several?"]),
    "score b.json r.json -m bleu-4 --stem": (2, ["did you mean --ids?"]),
    "score b.json r.json -m bleu-4 --gpu": (2, ["error: no such option '--gpu'\n"]),
    "explain bleu-4,rouge-l a b": (2, ["name one: bleu-4"]),
    "metrics bleu-4,meteor": (2, ["name one: bleu-4"]),
    "check b.json --format tex": (0, ["24 candidates", "Looked for and not found"]),
    "check b.json --format md": (0, ["24 candidates", "Looked for and not found"]),
    "score b.json r.json -m bleu-4 --json": (2, ["did you mean --format json?"]),
    "score b.json r.json -m bleu-4 --latex": (2, ["did you mean --format tex?"]),
    "score b.json r.json -m bleu-4 -q": (0, ["bleu-4"]),
    "score b.json r.json -m bleu-4 --quiet": (0, ["bleu-4"]),
    "score b.json r.json -m bleu-4 --silent": (2, ["did you mean --quiet?"]),
    "score b.json r.json -m bleu-4 --verbose": (2, ["did you mean --debug?"]),
    "score b.json r.json -m bleu-4 --per-image x.csv": (2, ["did you mean --per-caption?"]),
    "score b.json r.json -m bleu-4 --confidence": (2, ["did you mean --ci"]),
    "score b.json r.json -m bleu-4 --subset": (2, ["did you mean --match?"]),
    "score b.json r.json -m bleu-4 --endpoint http://x/v1": (2, ["--judge MODEL"]),
    "score b.json r.json -m bleu-4 --n-jobs 4": (2, ["did you mean --threads"]),
    "score b.json r.json -m bleu-4 --lang en": (2, ["did you mean --language?"]),
    "score b.json r.json -m bleu-4 --width-bleu": (2, ["captious score --help"]),
    "score few.json r.json -m bleu-4": (2, ["23 of 24 images", "--match common"]),
    "score few.json r.json -m bleu-4 --match common": (0, ["bleu-4"]),
    "score wrapped.csv r.json -m bleu-4 --columns id=key --columns caption=text": (0, ["bleu-4"]),
    "score wrapped.csv r.json -m bleu-4": (2, ["--columns"]),
    # Other commands.
    "compare b.json r.json": (2, ["systems A and B, and REFERENCES, are needed"]),
    "compare b.json i.json r.json -m bleu-4,rouge-l --resamples 9": (0, ["bleu-4", "rouge-l"]),
    "compare b.json i.json r.json -m bleu-4 --n-bootstrap 9": (2, ["did you mean --resamples?"]),
    "check b.json": (0, ["24 candidates"]),
    "check b.json empty.json": (0, ["all references are empty"]),
    "score b.json empty.json -m bleu-4": (0, ["all references are empty"]),
    "prepare empty.json -m bleu-4 -o out.prepared": (0, ["all references are empty"]),
    "report b.json r.json": (2, ["'-o'"]),
    "explain bleu-4 'a cat' 'the cat'": (0, ["candidate"]),
    "explain bleu-4 '- a cat' 'the cat'": (2, ["captious explain bleu-4 -- '- a cat' 'the cat'"]),
    "explain bleu-4 b.json r.json": (2, ["--image ID or --worst N"]),
    "explain bleu-4 b.json r.json --worst 1": (0, ["image"]),
    "explain bleu-4 b.json r.json --top 1": (2, ["did you mean --worst?"]),
    "explain 'a cat' 'the cat' -m bleu": (
        2,
        ["the metric needs no option: captious explain METRIC CANDIDATE REFERENCE..."],
    ),
    "fit cider-d r.json": (2, ["add -o FILE"]),
    "resources install meteor": (2, ["did you mean get?"]),
    "judge": (2, ["missing argument 'BENCHMARK...'"]),
    "completion": (0, ["_CAPTIOUS_COMPLETE"]),
    "completion bash": (0, ["_CAPTIOUS_COMPLETE"]),
}


@pytest.fixture
def typed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with short names for the examples."""
    for name, short in (("baseline", "b"), ("improved", "i"), ("references", "r")):
        (folder / f"{name}.json").rename(f"{short}.json")
    for other in folder.glob("??*.json"):
        other.unlink()
    rows = json.loads((folder / "b.json").read_text())
    (folder / "few.json").write_text(json.dumps(rows[:1]))
    (folder / "wrapped.csv").write_text("key,text\n" + "".join(f"{row['image_id']},{row['caption']}\n" for row in rows))
    (folder / "mine.py").write_text("")
    (folder / "df.idf").write_text("")
    (folder / "empty.json").write_text(json.dumps({row["image_id"]: [""] for row in rows}))
    monkeypatch.setenv("SHELL", "/bin/bash")
    return folder


@pytest.mark.parametrize("line", GUESSES)
def test_guess_works_or_is_answered(typed: Path, run: Run, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    status, texts = GUESSES[line]
    words = shlex.split(line)
    if words[-1] == "<":
        words.pop()
        content = io.BytesIO((typed / "b.json").read_bytes())
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=content))
    outcome = run(*words)
    assert outcome.code == status, outcome
    for text in texts:
        assert text in outcome.out + outcome.err, outcome
    assert "Traceback" not in outcome.err
    if status:
        assert "  help: " in outcome.err
        assert not any(text in outcome.err for text in ("captious.Settings", "True", "None")), outcome.err
