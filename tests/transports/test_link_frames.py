"""The bytes of frames, as the C writes and reads them: Python's struct is the oracle."""

from __future__ import annotations

import binascii
import math
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spart_blocks.base.errors import InputError
from spart_blocks.realtime.link_structs import decode, encode
from spart_blocks.transports.frames import TYPES, read_frame

LIMITS = {
    kind: (0, 2**bits - 1) if kind[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for kind, bits in (("u8", 8), ("i8", 8), ("u16", 16), ("i16", 16), ("u32", 32), ("i32", 32))
}


def numbers(kind):
    if kind in LIMITS:
        return st.integers(*LIMITS[kind])
    return st.floats(width=int(kind[1:]), allow_nan=False, allow_infinity=False)


@st.composite
def frames_with_values(draw):
    """A description of a frame, and values for its fields that it can hold exactly."""
    kinds = draw(st.lists(st.sampled_from(list(TYPES)), min_size=1, max_size=6))
    fields, values = {}, {}
    for k, kind in enumerate(kinds):
        count = draw(st.one_of(st.none(), st.integers(1, 5)))
        fields[f"f{k}"] = kind if count is None else f"{count} {kind}"
        drawn = draw(st.lists(numbers(kind), min_size=count or 1, max_size=count or 1))
        values[f"f{k}"] = drawn[0] if count is None else drawn
    frame = {
        "endian": draw(st.sampled_from(["little", "big"])),
        "fields": fields,
        "header": draw(st.one_of(st.none(), st.binary(min_size=1, max_size=16))),
        "sequence": draw(st.sampled_from([None, "u8", "u16", "u32"])),
        "time": draw(st.sampled_from([None, "f64"])),
        "checksum": draw(st.sampled_from([None, "crc16", "crc32"])),
    }
    return frame, values


def packed(frame, values, sequence, time):
    """The frame's bytes by struct, binascii and zlib."""
    parts = [frame.header] if frame.header else []
    parts += [sequence] if frame.sequence else []
    parts += [time] if frame.time else []
    for field in frame.fields:
        parts += [values[field.name]] if field.count is None else values[field.name]
    whole = frame.format[:-1] if frame.checksum else frame.format
    data = struct.pack(whole, *parts)
    if not frame.checksum:
        return data
    crc = binascii.crc_hqx(data, 0xFFFF) if frame.checksum == "crc16" else zlib.crc32(data)
    return data + struct.pack(whole[0] + frame.format[-1], crc)


@given(frames_with_values(), st.integers(0, 255), st.floats(0, 1e9))
def test_the_bytes_are_those_of_python_s_struct_and_read_back_exactly(drawn, sequence, time):
    description, values = drawn
    frame = read_frame(description)
    data = encode(frame, values, sequence, time)
    assert data == packed(frame, values, sequence, time)
    assert len(data) == frame.size == struct.calcsize(frame.format)
    back = decode(frame, data)
    assert back.get("sequence", sequence) == sequence
    assert back.get("time", time) == time
    for field in frame.fields:
        np.testing.assert_array_equal(back[field.name], values[field.name], strict=False)
        assert np.shape(back[field.name]) == field.shape


@pytest.mark.parametrize(("kind", "low", "high"), [(k, *limits) for k, limits in LIMITS.items()])
def test_numbers_beyond_an_integer_s_range_become_its_limit(kind, low, high):
    frame = read_frame({"fields": {"x": f"4 {kind}"}})
    back = decode(frame, encode(frame, {"x": [low - 1.0, high + 1.0, -1e300, 1e300]}))
    np.testing.assert_array_equal(back["x"], [low, high, low, high])


@given(st.floats(-126, 126))
def test_integers_are_rounded_to_the_nearest_as_python_rounds(x):
    frame = read_frame({"fields": {"x": "i8"}})
    assert decode(frame, encode(frame, {"x": x}))["x"] == round(x)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_single_precision_rounds_as_numpy_does_and_is_limited_where_numpy_overflows(x):
    frame = read_frame({"fields": {"x": "f32"}})
    most = float(np.finfo(np.float32).max)
    assert decode(frame, encode(frame, {"x": x}))["x"] == np.float32(max(-most, min(x, most)))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind", TYPES)
def test_a_number_that_is_not_finite_is_never_encoded(kind, value):
    frame = read_frame({"fields": {"x": f"3 {kind}"}})
    assert encode(frame, {"x": [0.0, value, 0.0]}) is None


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_is_not_finite_is_never_decoded(kind, value):
    frame = read_frame({"fields": {"x": f"2 {kind}"}})
    assert decode(frame, struct.pack(frame.format, 0.0, value)) is None
    assert decode(frame, struct.pack(frame.format, 0.0, 1.0)) is not None


@given(frames_with_values(), st.data())
def test_with_a_checksum_any_single_changed_bit_is_found(drawn, data):
    description, values = drawn
    frame = read_frame({**description, "checksum": data.draw(st.sampled_from(["crc16", "crc32"]))})
    good = encode(frame, values, 1, 0.0)
    bit = data.draw(st.integers(0, 8 * len(good) - 1))
    bad = bytearray(good)
    bad[bit // 8] ^= 1 << bit % 8
    assert decode(frame, bytes(bad)) is None


def test_the_check_values_of_both_checksums_are_those_of_their_catalogue():
    # "123456789": CRC-16/IBM-3740 (CCITT-FALSE) 0x29B1, CRC-32/ISO-HDLC 0xCBF43926, from
    # G. Cook's catalogue of parametrised CRC algorithms.
    for name, check in (("crc16", 0x29B1), ("crc32", 0xCBF43926)):
        frame = read_frame({"endian": "big", "fields": {"x": "9 u8"}, "checksum": name})
        data = encode(frame, {"x": list(b"123456789")})
        assert int.from_bytes(data[9:], "big") == check


def test_the_layout_names_every_byte_in_order():
    frame = read_frame({
        "header": "0xA55A", "sequence": "u16", "time": "f64",
        "fields": {"qm": "3 f32", "flag": "u8"}, "checksum": "crc32",
    })  # fmt: skip
    assert [(row.offset, row.name, row.type, row.count) for row in frame.layout()] == [
        (0, "header", "u8", 2), (2, "sequence", "u16", 1), (4, "time", "f64", 1),
        (12, "qm", "f32", 3), (24, "flag", "u8", 1), (25, "checksum", "crc32", 1),
    ]  # fmt: skip
    assert frame.format == "<2sHd3fBI"
    assert frame.size == 29


def test_a_frame_of_the_largest_size_is_carried_and_one_byte_more_is_refused():
    frame = read_frame({"fields": {"x": "1472 u8"}})
    values = np.arange(1472) % 256
    np.testing.assert_array_equal(decode(frame, encode(frame, {"x": values}))["x"], values)
    with pytest.raises(InputError, match="at most 1472 bytes, this one 1473"):
        read_frame({"fields": {"x": "1473 u8"}})
