"""The checksum of texts, bytes and arrays."""

from __future__ import annotations

import numpy as np

from captious.files import checksum


def test_checksum_is_the_crc_of_all_parts() -> None:
    assert checksum() == "00000000"
    assert checksum(b"123456789") == "cbf43926"  # the check value that the definition of CRC-32 states
    assert checksum("1234", b"56", "789") == checksum("123456789") == "cbf43926"
    assert checksum("\ud83d") == checksum(b"\xed\xa0\xbd")


def test_checksum_of_arrays_does_not_depend_on_layout_or_machine() -> None:
    numbers = np.arange(6, dtype="<f4").reshape(2, 3)
    expected = checksum(numbers.tobytes())
    for array in (numbers, numbers.astype(">f4"), np.asfortranarray(numbers), numbers[::-1][::-1]):
        assert checksum(array) == expected
    assert checksum(numbers.astype("<f8")) != expected
