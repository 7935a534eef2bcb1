"""Captions files: each format, all problems together, and captions that are odd but captions."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.data.ids import ImageId, numbers_from_text
from captious_server.submissions.upload import UploadLimits
from server.tests.submissions.uploads import GOOD, IDS, as_json, messages, problems, read

CAPTIONS = {row["image_id"]: row["caption"] for row in GOOD}

captions = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40)
#: Ids of a challenge: all integers, or all text. Text that looks like a number is allowed.
ids_of_challenge = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8, unique=True),
    st.lists(captions | st.from_regex(r"-?[0-9]{1,4}", fullmatch=True), min_size=1, max_size=8, unique=True),
)


def table(rows: list[tuple[ImageId, str]], delimiter: str) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerows([("image_id", "caption"), *rows])
    return file.getvalue().encode()


@given(st.data())
def test_valid_captions_survive_every_format(data: st.DataObject) -> None:
    ids: list[Any] = data.draw(ids_of_challenge)
    found = {image: data.draw(captions) for image in ids}
    found[ids[0]] += "a"  # not all may be empty
    shuffled = data.draw(st.permutations(list(found.items())))
    records = [{"image_id": image, "caption": caption, "other": [1.5, None]} for image, caption in shuffled]
    bom = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    is_ascii = data.draw(st.booleans())
    texts = {
        "a.json": json.dumps(records, ensure_ascii=is_ascii, indent=data.draw(st.sampled_from([None, 2]))).encode(),
        "b.json": json.dumps({str(image): caption for image, caption in shuffled}).encode(),
        "a.jsonl": b"\n".join(json.dumps(record, ensure_ascii=is_ascii).encode() for record in records),
        "a.csv": table(shuffled, ","),
        "a.tsv": table(shuffled, "\t"),
    }
    for name, text in texts.items():
        files, wrong = read(bom + text, name, ids=ids)
        assert not wrong
        assert json.loads(files["val2014"]) == [{"image_id": image, "caption": found[image]} for image in ids]


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), lambda inner: st.lists(inner)
       | st.dictionaries(st.sampled_from(["image_id", "caption", "42", "x"]), inner)))  # fmt: skip
def test_any_json_is_read_or_refused(document: Any) -> None:
    files, wrong = read(json.dumps(document).encode())
    assert bool(files) != bool(wrong)


@given(st.binary(max_size=60), st.sampled_from(["a.json", "a.jsonl", "a.csv", "a.tsv", "a.zip", "a.json.gz", "a"]))
def test_random_bytes_are_refused(data: bytes, name: str) -> None:
    assert problems(data, name)


@given(st.from_regex(r"-?[0-9]{1,4}|[a-z]{1,2}", fullmatch=True))
def test_ids_of_formats_without_numbers_are_parsed_as_in_the_library(text: str) -> None:
    (image,) = numbers_from_text([text])
    files, wrong = read(as_json({text: "a cat", "1000000": ""}), ids=[image, 1000000])
    assert not wrong
    assert json.loads(files["val2014"])[0]["image_id"] == image


def test_problems_of_captions_are_reported_together() -> None:
    rows = [
        {"image_id": 1, "caption": "a"},
        {"image_id": 1, "caption": "again"},
        {"image_id": "2", "caption": "text"},
        {"image_id": 3, "caption": None},
        {"image_id": 4, "caption": "long" * 2000},
        {"image_id": 5, "caption": "a\0b"},
        {"image_id": 6, "caption": "\ud800 half"},
        {"image_id": 99, "caption": "unknown"},
        {"image_id": True, "caption": ""},
        {"image_id": 7.0, "caption": ""},
        {"image_id": [7], "caption": ""},
        {"image_id": 8},
        {"caption": "b"},
        "c",
    ]
    found = {problem.message: (problem.ids, problem.n) for problem in problems(as_json(rows), ids=range(1, 40))}
    missing = (7, *range(9, 28))
    halves = "1 caption contains lone surrogates, which are halves of characters: write the whole character."
    assert found == {
        'Record 14 is not an object such as {"image_id": 42, "caption": "a cat"}.': ((), 0),
        'Record 13 has no "image_id".': ((), 0),
        'Record 12 has no "caption".': ((), 0),
        "3 records (9, 10, 11) have an image id that is neither text nor an integer of at most 20 digits.": ((), 0),
        '1 image id is text where the challenge has numbers: write 42, not "42". See record 3.': (("2",), 1),
        "1 image has more than one caption. See record 2.": ((1,), 1),
        "1 image id is not in the challenge, whose ids are such as 1 and 2. See record 8.": ((99,), 1),
        "1 caption is not text. See record 4.": ((3,), 1),
        "1 caption is longer than 5,000 characters. See record 5.": ((4,), 1),
        "1 caption contains NUL characters (U+0000). See record 6.": ((5,), 1),
        f"{halves} See record 7.": ((6,), 1),
        "32 images have no caption.": (missing, 32),
    }


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_reading_stops_after_very_many_problems(name: str) -> None:
    lines = ['{"image_id": 1, "image_id": 1, "caption": "a cat"}'] * 3000
    text = "\n".join(lines) if name.endswith("l") else f"[{', '.join(lines)}]"
    found = messages(text.encode(), name)
    assert found[0].startswith("1,000 ")
    assert found[1:] == ["The rest of the file was not read."]


def test_number_for_a_text_id_is_refused() -> None:
    (problem,) = problems(as_json(GOOD), ids=["7", "42", "301"])
    assert (
        problem.message
        == '3 image ids are numbers where the challenge has text: write "42", not 42. The first is in record 1.'
    )
    assert not read(as_json({str(image): caption for image, caption in CAPTIONS.items()}), ids=["7", "42", "301"])[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"image_id": 42,\n "caption" "a"}]', "The file is not JSON: Expecting ':' delimiter, line 2, column 12."),
        ('[{"image_id": 42, "caption": "a"}', "The JSON ends unexpectedly on line 1; the file is truncated."),
        ('[{"image_id": 42, "caption": "a', "The JSON ends unexpectedly on line 1; the file is truncated."),
        ("[] []", "The file is not JSON: Extra data, line 1, column 4."),
        ("'a'", "The file is not JSON: Expecting value, line 1, column 1."),
        ('[{"image_id": 42, "caption": "a\tb"}]', "Invalid control character at, line 1, column 32."),
        ("7", "The JSON is neither a list nor an object"),
        ("null", "The JSON is neither a list nor an object"),
        ('{"annotations": [{"image_id": 42, "caption": "a"}]}', 'wrapped in an object with "annotations"'),
        ('{"image_id": 42, "caption": "a"}', "a single record, not a list of records"),
        ('["a cat", "a dog"]', "2 records (1, 2) are not an object"),
        ("[" * 100_000, "The JSON is nested too deeply"),
        ('{"a":' * 100_000, "The JSON is nested too deeply"),
        ("[" * 100_000 + "]" * 100_000, "The JSON is nested too deeply"),
        ("", "The file is empty."),
        (" \n\t", "The file is empty."),
        ("\ufeff", "The file is empty."),
        ("[]", "3 images have no caption."),
        ("{}", "3 images have no caption."),
    ],
)
def test_documents_without_captions_are_refused(text: str, message: str) -> None:
    problems = messages(text.encode())
    assert len(problems) == 1
    assert message in problems[0]


@pytest.mark.parametrize(
    "number", ["1e999", "-1e999", "42.0", "9" * 5000, "-" + "9" * 100_000, "NaN", "-Infinity", "true", "null", "{}"]
)
def test_invalid_image_ids_are_refused(number: str) -> None:
    text = as_json(GOOD).replace(b"301", number.encode())
    problems = messages(text)
    assert "Record 2 has an image id that is neither text nor an integer of at most 20 digits." in problems
    assert "1 image has no caption." in problems
    assert len(problems) == 2 + ("N" in number or "I" in number)


def test_ids_beyond_64_bits_are_unknown_images() -> None:
    found = problems(as_json(GOOD).replace(b"301", b"9" * 20))
    assert [problem.ids for problem in found] == [(int("9" * 20),), (301,)]


def test_nan_and_infinity_are_refused() -> None:
    text = as_json(GOOD).replace(b'"a cat"', b'NaN, "score": Infinity')
    assert messages(text) == [
        "The file contains Infinity (once) and NaN (once), which JSON does not allow.",
        "1 caption is not text. See record 1.",
    ]
    assert not read(as_json(GOOD).replace(b'"a cat"', b'"a cat", "score": 1e999, "n": ' + b"9" * 5000))[1]


def test_duplicate_keys_are_refused() -> None:
    text = as_json(GOOD).replace(b'"image_id": 7', b'"image_id": 301, "image_id": 7')
    assert messages(text) == ["Record 1 has a key more than once."]
    (problem,) = problems(b'{"42": "a", "7": "b", "301": "c", "42": "d"}')
    assert (problem.message, problem.ids) == ("1 image has more than one caption. See entry 4.", (42,))


def test_json_lines_are_read_and_checked() -> None:
    lines = [json.dumps(row).encode() for row in GOOD]
    assert not read(b"\r\n".join([*lines, b"", b" "]), "a.ndjson")[1]
    problems = messages(b"\n".join([b"{", lines[0], b"nonsense", b"[" * 100_000, b"[]"]), "a.jsonl")
    assert problems == [
        "3 lines (1, 3, 4) are not JSON: Expecting property name enclosed in double quotes, line 1, column 2.",
        'Line 5 is not an object such as {"image_id": 42, "caption": "a cat"}.',
        "2 images have no caption.",
    ]
    (problem, *_) = messages(b"\n".join([lines[0], b"{]"]), "a.jsonl")
    assert problem == "Line 2 is not JSON: Expecting property name enclosed in double quotes, column 2."


def test_tables_are_read_and_checked() -> None:
    header = "image_id,caption\n"
    assert not read(b'score,caption,image_id\n1,"a ""big"", cat\r\nhere",42\n2,b,7\n\n3,c,301\n', "a.csv")[1]
    assert not read(b"\xef\xbb\xbfimage_id;caption\r\n42;a, b\r\n7;b\r\n301;c\r\n", "a.csv")[1]  # of a spreadsheet
    assert "must name the columns" in messages(b"image_id/caption\n1/a", "a.csv")[0]
    assert "must name the columns" in messages(b"image_id,caption,caption\n1,a,b", "a.csv")[0]
    problems = messages(f'{header}42,a, b\n7,"x"y\n'.encode(), "a.csv")
    assert problems[0].startswith("The table cannot be read from the row that starts in line 3: ")
    assert problems[1].startswith("The row in line 2 has more or fewer cells than the first row")
    assert "ends inside double quotes" in messages(f'{header}42,"a'.encode(), "a.csv")[0]
    assert "a cell has more than 131,072 characters" in messages(f"{header}42,{'a' * 200_000}".encode(), "a.csv")[0]
    problems = messages(f"{header}042,a\n42,a\0b\nx.jpg,b\n".encode(), "a.csv")
    assert problems == [
        "2 image ids are not in the challenge, whose ids are such as 42 and 7. The first is in line 2.",
        "1 caption contains NUL characters (U+0000). See line 3.",
        "2 images have no caption.",
    ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("name", ["a.json", "a.csv"])
def test_utf16_and_utf32_are_refused(encoding: str, name: str) -> None:
    (message,) = messages('[{"image_id": 42, "caption": "a"}]'.encode(encoding), name)
    assert "looks like UTF-16 or UTF-32" in message


def test_latin_1_is_refused() -> None:
    text = '[\n{"image_id": 42, "caption": "café"}]'.encode("latin-1")
    offset = text.index(b"\xe9")
    assert messages(text) == [f"The file is not UTF-8 text: line 2, byte offset {offset} (0xe9). Save it as UTF-8."]
    assert f"offset {offset + 3} " in messages(b"\xef\xbb\xbf" + text)[0]


@pytest.mark.parametrize(
    "caption",
    [
        "<script>alert(1)</script>",
        "'; DROP TABLE submissions; --",
        "{{ settings.SECRET_KEY }}",
        "=cmd|' /C calc'!A0",
        "../../etc/passwd",
        "a\nb\u2028c\td\x1b[31m\x7f\ufeff\u202e",
        "😀" * 150,
        "x" * 5000,
        "",
    ],
)
def test_unusual_captions_are_accepted(caption: str) -> None:
    rows = [{"image_id": image, "caption": caption} for image in IDS[:-1]]
    rows.append({"image_id": IDS[-1], "caption": "a cat"})
    files, wrong = read(as_json(rows))
    assert not wrong
    assert json.loads(files["val2014"]) == rows


def test_huge_caption_is_refused() -> None:
    rows = [{"image_id": image, "caption": "word " * 4_000_000} for image in IDS[:1]]
    (problem, _) = problems(as_json(rows))
    assert problem.message == "1 caption is longer than 5,000 characters. See record 1."
    assert len(json.dumps(problem.to_dict())) < 200
    found = messages(as_json(GOOD), limits=UploadLimits(caption_characters=6))
    assert found == ["1 caption is longer than 6 characters. See record 3."]


@pytest.mark.parametrize(
    ("caption", "fits"),
    [("a " * 150, True), ("a " * 151, False), ("a," * 75, True), ("a," * 76, False), ("é" * 4000, True)],
    ids=["150 words", "151 words", "150 without spaces", "152 without spaces", "one long word"],
)
def test_word_limit_of_captions_is_enforced(caption: str, fits: bool) -> None:
    """Words are counted as a parser sees them: with punctuation marks, and without need of spaces."""
    rows = [{"image_id": image, "caption": "a cat"} for image in IDS]
    rows[1]["caption"] = caption
    _, found = read(as_json(rows))
    if fits:
        assert found == []
    else:
        [problem] = found
        assert problem.message == "1 caption has more than 150 words and punctuation marks. See record 2."
        assert (problem.ids, problem.n) == ((IDS[1],), 1)


def test_unprintable_ids_are_escaped() -> None:
    rows = [{"image_id": name, "caption": ""} for name in ("<b>", "\ud800", "a\x1b[2J\0", "y" * 10**6)]
    (problem, _) = problems(as_json([*rows, GOOD[0]]))
    assert problem.ids == ("<b>", "\\ud800", "a\\x1b[2J\\x00", "y" * 99 + "…")


def test_file_extensions_are_checked() -> None:
    for name in ("ours", "ours.txt", ".json", "ours.json.exe", "ours.parquet", "ours.pkl"):
        accepted = ".json, .jsonl, .ndjson, .csv or .tsv, each also with .gz, or in .zip."
        assert messages(as_json(), name)[0].endswith(f"must end in {accepted}")
    assert read(as_json(), "OURS.JSON")[0]


@pytest.mark.parametrize("empty", ["", " \t\n"])
def test_file_of_empty_captions_is_refused(empty: str) -> None:
    rows = [{"image_id": image, "caption": empty} for image in IDS]
    assert messages(as_json(rows)) == ["Every caption is empty."]
    assert not read(as_json([{**rows[0], "caption": "a cat"}, *rows[1:]]))[1]
