"""JSON that is cut, malformed, or JSON of something else."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from captious.data.formats import json_lines, parse_json
from captious.data.rows import Source
from captious.errors import CaptionFileError, TruncatedFileError

scalars = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8)
documents = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=4), inner))


@given(st.lists(documents) | st.dictionaries(st.text(), documents), st.booleans(), st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_document_cut_anywhere_is_truncated(document: object, ascii_only: bool, data: st.DataObject) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only, indent=data.draw(st.sampled_from([None, 1])))
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    source = Source("c.json", "candidates", is_file=True)
    with pytest.raises(TruncatedFileError) as of_document:
        parse_json(cut, source)
    with pytest.raises(TruncatedFileError) as of_lines:
        [*json_lines(["\n"] * 6 + [cut.replace("\n", " ")], source)]
    for failure, line in ((of_document.value, cut.rstrip().count("\n") + 1), (of_lines.value, 7)):
        assert failure.where.startswith(f"c.json: line {line:,}, column ")


def test_the_error_for_a_control_character_is_a_whole_sentence() -> None:
    with pytest.raises(CaptionFileError, match=r"^this is not JSON: Invalid control character\n"):
        parse_json('{"1": "a\x00b"}', Source("c.json", "candidates", is_file=True))
