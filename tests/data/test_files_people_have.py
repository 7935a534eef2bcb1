"""Files as people have them: they are read, or the error says what to do."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.data import CaptionFile, read_captions, read_references, read_rows
from captious.errors import CaptionFileError, CaptiousError, InputError, ParameterError, UnknownNameError
from tests.data.conftest import Write

CAPTIONS = ["a cat", "a dog, red", "it's a cow"]
RECORDS = [{"image_id": image, "caption": caption} for image, caption in enumerate(CAPTIONS, 1)]
LINES = "\n".join(map(json.dumps, RECORDS))


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize("index", [None, "Unnamed: 0"])
@pytest.mark.parametrize("column", ["image_id", "file_name", "id"])
def test_the_index_of_pandas_is_no_image(tmp_path: Path, separator: str, index: str | None, column: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({column: [1, 2, 3], "caption": CAPTIONS, "group": ["x", "y", "x"]}, index=[3, 2, 1])
    path = tmp_path / f"pandas.{'csv' if separator == ',' else 'tsv'}"
    frame.to_csv(path, sep=separator, index_label=index)
    frame.rename_axis(index).to_parquet(tmp_path / "pandas.parquet")
    for file in (path, tmp_path / "pandas.parquet"):
        captions = read_captions(file, {1: ["x"], 2: ["y"], 3: ["z"]})
        assert (captions.ids, [*captions.candidates]) == ((1, 2, 3), CAPTIONS)
        references = read_references(file)
        assert ([*map(str, references.ids)], [*references.texts]) == (["1", "2", "3"], CAPTIONS)
        assert [*read_rows(file, "groups", column="group").texts] == ["x", "y", "x"]
    frame.drop(columns="caption").rename(columns={"group": "domain"}).to_csv(path, sep=separator, index_label=index)
    assert [*map(str, read_rows(path, "groups").ids)] == ["1", "2", "3"]


def test_a_column_without_a_name_is_no_image(write: Write) -> None:
    for source in (write("nameless.csv", ",caption\n1,a cat\n"), [{"": 1, "caption": "a cat"}]):
        with pytest.raises(InputError, match="missing field for image ids") as caught:
            read_references(source)
        assert "to_csv(index_label='image_id')" in caught.value.hint


def test_rows_without_content_are_skipped(write: Write) -> None:
    for name, mark in (("excel.csv", ","), ("excel.csv", ";"), ("excel.tsv", "\t")):
        text = "image_id,caption\n1,a dog\n,\n2,\n,,\n".replace(",", mark)
        assert read_rows(write(name, text), "candidates").texts == ("a dog", "")


def test_lists_as_text_are_never_one_caption(write: Write) -> None:
    listed = ["['a cat', 'the cat']", "['a dog', 'the dog']"]
    cut = "image_id,caption\n1,\"['a cat', 'the\"\n2,\"['a dog']\"\n"
    cases: list[tuple[Any, str]] = [
        ({1: listed[0], 2: listed[1]}, "written as text"),
        ([{"image_id": 1, "caption": listed[0]}], "written as text"),
        (write("c.json", json.dumps({"1": listed[0], "2": listed[1]})), "written as text"),
        ({1: ["a dog", "['a cat', 'the cat']"]}, "1 of 2 captions is a list that was written as text"),
        ({1: ["('a dog', 0.93)"]}, "1 of 1 caption is a list that was written as text"),
        ([*["a dog"] * 30, '["a cat"]'], "1 of 31 captions is a list"),
        ({1: "a dog", 2: "('a cat', 'the cat')", 3: "['a' 'b']", 4: "array(['a'], dtype=object)"}, "3 of 4 captions"),
        (write("cut.csv", cut), "written as text that cannot be read"),
        (write("nan.csv", "image_id,caption\n1,a dog\n2,\"['a cat', nan]\"\n"), "text that cannot be read"),
        (write("many.csv", f'image_id,caption\n1,"{listed[0]}"\n2,"{listed[1]}"\n'), "more than one candidate"),
    ]
    for source, message in cases:
        with pytest.raises(InputError, match=message):
            read_rows(source, "candidates" if "more than" in message else "references")
    for caption in ("['a'", "(a dog)", "[a red bus]", '("Stop")', '["Stop" and "Go" signs]', "[unclear]", "[]"):
        assert read_rows({1: caption, 2: "a dog", 3: "b"}, "candidates").texts[0] == caption


def test_a_rule_cleans_lists_of_one_caption_and_checks_find_them(write: Write) -> None:
    answers = {1: '["a dog runs"]', 2: "a cat"}
    for source in (answers, write("answers.json", json.dumps(answers))):
        with pytest.raises(InputError, match="written as text") as caught:
            captious.score(source, {1: "a dog", 2: "a cat"}, "rouge-l")
        assert 'clean="json" takes the caption out of a list of one' in caught.value.hint
        assert read_captions(source, clean="json").candidates == ("a dog runs", "a cat")
        assert [finding.kind for finding in captious.check(source).findings] == ["json"]
    with pytest.raises(InputError, match="written as text"):
        read_captions({1: "['a cat', 'the cat']"}, clean="json")
    with pytest.raises(InputError, match="written as text"):
        captious.check({1: "('a cat', 'the cat')"})


def test_cases_with_lists(shared_cases: Path) -> None:
    right = read_captions(shared_cases / "candidates.json", shared_cases / "references.json")
    stringified = read_captions(shared_cases / "candidates.json", shared_cases / "stringified.csv")
    assert stringified.references.texts == right.references.texts
    both = read_captions(shared_cases / "stringified_vlm.csv", shared_cases / "stringified_vlm.csv")
    assert (both.candidates, both.references.texts) == (right.candidates, right.references.texts)


@pytest.mark.parametrize("file", ["excel_semicolons.csv", "wrapped.json"])
def test_cases_of_candidates(shared_cases: Path, file: str) -> None:
    references = shared_cases / "references.json"
    right = captious.score(shared_cases / "candidates.json", references, "bleu-1")["bleu-1"].score
    assert captious.score(shared_cases / file, references, "bleu-1")["bleu-1"].score == right


def test_the_pair_of_an_audio_challenge_is_read(shared_cases: Path) -> None:
    captions = read_captions(shared_cases / "dcase_predicted.csv", shared_cases / "dcase_references.csv")
    assert captions.ids == ("rain.wav", "gate.wav")
    assert captions.references.offsets.tolist() == [0, 2, 4]
    assert "2 sounds, 4 references" in repr(captions)
    report = captious.score(captions, None, "bleu-1")
    assert str(report).startswith("2 sounds")
    with pytest.raises(InputError, match="1 of 2 sounds has references but no candidate"):
        read_captions({"rain.wav": "rain"}, shared_cases / "dcase_references.csv")


def test_identical_rows_are_called_so(shared_cases: Path, write: Write) -> None:
    with pytest.raises(InputError, match="2 of 4 images have more than one candidate") as caught:
        read_rows(shared_cases / "duplicate_rows.json", "candidates")
    assert "in identical rows" in caught.value.message
    assert "remove the repeated ones" in caught.value.hint
    with pytest.raises(InputError) as caught:
        read_rows(write("c.csv", "image_id,caption\n1,a\n1,b\n"), "candidates")
    assert "identical" not in caught.value.message + caught.value.hint


# Lines.


def test_lines_are_captions_by_position(shared_cases: Path, write: Write) -> None:
    captions = read_captions(shared_cases / "lines.txt", shared_cases / "lines_reference_1.txt")
    assert captions.ids == (0, 1, 2, 3)
    assert captions.candidates[0] == "a yellow tram drives over a bridge"
    listed = read_captions(write("c.txt", "a cat\r\n\r\na dog, red\n"), [["x"], ["y"], ["z"]])
    assert listed.candidates == ("a cat", "", "a dog, red")
    tabs = read_references(write("r.txt", "a cat\tthe cat\na dog\tthe dog\n"))
    assert tabs.texts == ("a cat", "the cat", "a dog", "the dog")
    forced = read_rows(CaptionFile(write("c.log", "1.jpg,a\n2.jpg,b\n"), format="lines"), "candidates")
    assert forced.texts == ("1.jpg,a", "2.jpg,b")


def test_several_files_of_references_are_pasted(shared_cases: Path, tmp_path: Path) -> None:
    """``paste``, as the docs say, makes one file of several with a reference per line."""
    files = [str(shared_cases / f"lines_reference_{k}.txt") for k in (1, 2)]
    (tmp_path / "references.txt").write_bytes(subprocess.run(["paste", *files], capture_output=True, check=True).stdout)
    captions = read_captions(shared_cases / "lines.txt", tmp_path / "references.txt")
    right = read_captions(shared_cases / "candidates.json", shared_cases / "references.json")
    assert captions.references.texts == right.references.texts


def test_lines_with_ids_need_a_header(write: Write, tmp_path: Path) -> None:
    path = write("my captions.txt", "1.jpg\ta cat on a sofa\n2.jpg\ta dog\n")
    with pytest.raises(CaptionFileError, match="seem to begin with image ids") as caught:
        read_rows(path, "candidates")
    command = caught.value.hint.partition("in a shell: ")[2]
    subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path)
    rows = read_rows(f"{path}.tsv", "candidates")
    assert (rows.ids, rows.texts) == (("1.jpg", "2.jpg"), ("a cat on a sofa", "a dog"))
    with pytest.raises(CaptionFileError, match="seem to begin with image ids"):
        read_rows(write("c.txt", "1,a cat\n2,a dog\n"), "candidates")


def test_lines_do_not_match_ids(write: Write) -> None:
    with pytest.raises(ParameterError, match="one side has image ids and the other only positions"):
        read_captions(write("c.txt", "a cat\na dog\n"), {1: ["a"], 2: ["b"]})


# Streams.


@pytest.mark.parametrize("content", [LINES, json.dumps(RECORDS), "image_id,caption\n1,x\n2,y\n3,z\n"])
def test_pipes_are_read_once(tmp_path: Path, content: str) -> None:
    pipe = tmp_path / "63"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(content,))
    writer.start()
    rows = read_captions(pipe)
    writer.join()
    assert len(rows) == 3


def test_process_substitution(tmp_path: Path, write: Write) -> None:
    candidates = write("c.json", json.dumps({"model": "m", "predictions": RECORDS}))
    references = write("r.json", json.dumps({str(r["image_id"]): [r["caption"]] for r in RECORDS}))
    script = "import captious, sys; print(captious.score(sys.argv[1], sys.argv[2], 'bleu-1')['bleu-1'].score)"
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(script)} <(cat {candidates}) <(cat {references})"
    shown = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert float(shown.stdout) > 0.99


# What is refused.


def test_names_of_files_are_not_captions(tmp_path: Path) -> None:
    path = tmp_path / "my a.json"
    texts = ["my captions.json", "b.eval", "c.token"]
    for source in (["a.json"], texts, ("a.csv.gz",), {"base": "a.json"}, [path], {1: path}, [CaptionFile(path)]):
        with pytest.raises(InputError, match="these are names of files, not captions") as caught:
            read_rows(source, "candidates")
        assert "path of one file" in caught.value.hint
        assert "score_systems" in caught.value.hint
    for source in (["a.jpg", "b/c.PNG"], {1: "photo_1.jpg"}):
        with pytest.raises(InputError, match="these are names of files, not captions") as caught:
            read_references(source)
        assert "are these captions?" in caught.value.hint
    assert read_rows(["a.jpg of a cat", "b.jpg"], "candidates").texts == ("a.jpg of a cat", "b.jpg")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("a dog runs", ["a dog runs", "['a dog runs']"]),
        (b"a dog", ["bytes"]),
        (None, ["NoneType"]),
        (5, ["int"]),
        ({"mine": {1: "a"}, "base": {1: "b"}}, ["score_systems"]),
        ({"images": [{"id": 1}], "annotations": [{"image_id": 1, "caption": "a"}]}, ["give the path of its file"]),
        ({"image_id": 1, "caption": "a"}, ["a list of records, not a single record"]),
        ({1.0: "a"}, ["must be integers or strings"]),
        ([1, 2], ["must be strings"]),
    ],
)
def test_python_data_is_not_guessed_at(source: Any, words: list[str]) -> None:
    with pytest.raises(CaptiousError) as caught:
        read_rows(source, "candidates")
    assert all(word in str(caught.value) for word in words)


def test_a_missing_file_proposes_its_neighbour(write: Write, tmp_path: Path) -> None:
    write("references.json", "{}")
    write("other.csv", "")
    for name in ("References.json", "refrences.json", "references.jsonl"):
        with pytest.raises(CaptionFileError, match="there is no such file") as caught:
            read_rows(tmp_path / name, "references")
        assert caught.value.hint == f"did you mean {tmp_path / 'references.json'}?"
    for name in ("references.jsno", "references"):
        with pytest.raises(CaptionFileError, match="there is no such file") as caught:
            read_rows(tmp_path / name, "references")
        assert caught.value.hint == f"did you mean {tmp_path / 'references.json'}?"
    write("c.json", "{}")
    for name in ("x.json", "r.json"):
        with pytest.raises(CaptionFileError) as caught:
            read_rows(tmp_path / name, "references")
        assert "did you mean" not in caught.value.hint


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    for folder, proposed in (("result", f": did you mean {tmp_path / 'results'}?"), ("sub/z", "")):
        with pytest.raises(CaptionFileError, match="there is no such file") as caught:
            read_rows(tmp_path / folder / "c.json", "candidates")
        assert caught.value.hint == f"there is no folder {tmp_path / folder}{proposed}"


def test_caption_file_says_how_a_file_is_read(write: Write) -> None:
    path = write("captions.log", LINES)
    assert read_rows(CaptionFile(path, format="jsonl"), "candidates").texts == tuple(CAPTIONS)
    with pytest.raises(CaptionFileError, match=r"'\.log' is not the extension"):
        read_rows(path, "candidates")
    with pytest.raises(UnknownNameError, match="no format 'yaml'"):
        read_rows(CaptionFile(path, format="yaml"), "candidates")
    with pytest.raises(UnknownNameError, match="no layout 'karpaty'") as caught:
        read_rows(CaptionFile(path, format="jsonl", layout="karpaty"), "candidates")
    assert "did you mean karpathy?" in caught.value.hint
    with pytest.raises(CaptionFileError, match="this is not the layout 'Karpathy'"):
        read_rows(CaptionFile(write("c.json", json.dumps({"1": "a"})), layout="karpathy"), "references")
    with pytest.raises(CaptionFileError, match="this is not the layout 'VATEX': it lacks 'videoID'"):
        read_rows(CaptionFile(write("c.json", json.dumps(RECORDS)), layout="vatex"), "references")
    assert CaptionFile(path) == CaptionFile(Path(path)) != CaptionFile(path, layout="coco")
    with pytest.raises(TypeError):
        CaptionFile(path, "id=key")  # type: ignore[misc]


def test_a_named_layout_is_not_left_out(write: Write) -> None:
    path = write("c.json", json.dumps({"1": "a cat"}))
    for layout in ("openai-batch", "karpathy", "vatex"):
        with pytest.raises(CaptionFileError, match="this is not the layout") as caught:
            read_rows(CaptionFile(path, layout=layout), "candidates")
        assert "leave layout out" in caught.value.hint


def test_records_two_levels_down_are_found_by_their_columns(write: Write) -> None:
    path = write("deep.json", json.dumps({"run": {"output": [{"key": 1, "text": "a cat"}]}}))
    with pytest.raises(CaptionFileError, match=r"CaptionFile\(FILE, columns="):
        read_rows(path, "candidates")
    assert read_rows(CaptionFile(path, columns="id=key,caption=text"), "candidates").texts == ("a cat",)
