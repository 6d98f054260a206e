"""Lines of JSON, and numbers in them, whatever comes."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.realtime.live_protocol import (
    BadMessageError,
    LineSplitter,
    faults_of,
    packed,
    plain_faults,
    read,
    unpacked,
    written,
)


@given(st.lists(st.binary().filter(lambda b: b"\n" not in b)), st.integers(1, 7))
def test_lines_are_the_same_however_they_come(lines, size):
    sent = b"".join(line + b"\n" for line in lines)
    parted, got = LineSplitter(10_000), []
    for start in range(0, len(sent), size):
        parted.add(sent[start : start + size])
        while (line := parted.next()) is not None:
            got.append(line)
    assert got == lines


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_that_is_too_long_is_refused(end):
    lines = LineSplitter(100)
    lines.add(b"x" * 101 + end)
    with pytest.raises(BadMessageError, match="longer than 100 bytes"):
        lines.next()


def test_a_line_of_the_largest_size_is_taken():
    lines = LineSplitter(100)
    lines.add(b"x" * 100 + b"\n" + b"y" * 100 + b"\n")
    assert [lines.next(), lines.next(), lines.next()] == [b"x" * 100, b"y" * 100, None]


@given(
    st.dictionaries(
        st.text(),
        st.recursive(st.none() | st.text() | st.floats(allow_nan=False), st.lists, max_leaves=5),
        max_size=5,
    )
)
def test_a_message_is_read_as_it_was_written(message):
    try:
        line = written(message)
    except ValueError:
        assert "inf" in str(message)
        return
    assert line.count(b"\n") == 1
    assert read(line[:-1]) == message


@given(st.binary())
def test_bytes_are_a_message_or_refused(line):
    with suppress(BadMessageError):
        assert isinstance(read(line), dict)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"3",
        b"{",
        b"\xff",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        '{"a": 1}'.encode("utf-16"),
    ],
    ids=lambda line: repr(line[:12]),
)
def test_what_is_no_message_is_refused(line):
    with pytest.raises(BadMessageError):
        read(line)


@given(arrays.arrays(float, st.tuples(st.integers(0, 5), st.integers(1, 4))))
def test_rows_come_bit_by_bit_as_they_were_sent(rows):
    got = unpacked(packed(rows), rows.shape[1])
    assert got.shape == rows.shape
    assert got.tobytes() == np.ascontiguousarray(rows).tobytes()  # NaN and -0.0 too


@pytest.mark.parametrize("text", [None, 3, "%", "AAAA", "ü", packed(np.zeros((1, 3)))])
def test_rows_of_another_width_are_refused(text):
    with pytest.raises(BadMessageError):
        unpacked(text, 2)


def test_faults_keep_their_hints():
    faults = [Fault("wrong", hint="do it right"), Fault("bad")]
    assert faults_of(plain_faults(InputError(faults))) == faults
