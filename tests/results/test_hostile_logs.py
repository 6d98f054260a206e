"""Files of messages that are damaged or lie: refused in one line, or read, at a bounded cost."""

from __future__ import annotations

import struct
import tracemalloc
import warnings
import zlib
from contextlib import suppress

import lz4.frame
import numpy as np
import pytest
import zstandard
from bag_writing import write_bag, write_plain
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mcap.writer import CompressionType, Writer
from mcap_writing import message_class, write_json, write_run

from spart_blocks.base.errors import InputError, SpartWarning
from spart_blocks.results import Results
from spart_blocks.results.logs import log as limits
from spart_blocks.results.logs import signals as reading
from spart_blocks.results.recordings import read_recording

T = np.arange(4) / 8
KINDS = {
    "run": ("run.mcap", "plant.qm"),
    "mcap1": ("log.mcap", "/joint_states.position[elbow]"),
    "mcap2": ("log.mcap", "/joint_states.position[elbow]"),
    "json": ("j.mcap", "/a.x[1]"),
    "bag": ("log.bag", "/joint_states.position[elbow]"),
    "bag-bz2": ("log.bag", "/joint_states.position[elbow]"),
    "db3": ("bag.db3", "/joint_states.position[elbow]"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of a small file of each kind."""
    found = {}
    for kind in KINDS:
        folder = tmp_path_factory.mktemp(kind)
        if kind == "json":
            path = write_json(folder / "j.mcap", _a=(T, [{"x": [1, t]} for t in T]))
        elif kind == "run":
            continue
        else:
            path = write_bag(folder, T, kind)
        found[kind] = path.read_bytes()
    return found


@pytest.fixture
def sound_of(sound, run, tmp_path):
    def of(kind):
        if kind == "run":
            return write_run(run, tmp_path / "sound.mcap", chunk_size=1000).read_bytes()
        return sound[kind]

    return of


def damaged(raw, damages):
    raw = bytearray(raw)
    for where, what in damages:
        place = int(where * (len(raw) - 1))
        if isinstance(what, int):
            raw[place] ^= 1 << what
        else:
            raw[place : place + len(what)] = what
    return bytes(raw)


NUMBERS = [b"\xff" * 8, b"\xff" * 4, bytes(8), struct.pack("<Q", 2**40), struct.pack("<I", 2**31)]
DAMAGES = st.lists(
    st.tuples(st.floats(0, 1), st.one_of(st.integers(0, 7), st.sampled_from(NUMBERS))), max_size=4
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_refused_or_read(sound_of, tmp_path, kind):
    raw, (file, name) = sound_of(kind), KINDS[kind]
    path = tmp_path / file

    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
    @given(DAMAGES, st.floats(0, 1), st.sampled_from(["t", "header.stamp"]))
    @example([], 1.0, "t")
    def read(damages, end, time):
        path.write_bytes(damaged(raw, damages)[: max(1, int(end * len(raw)))])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpartWarning)
            with suppress(InputError):
                read_recording(path, [name], time)
            with suppress(InputError):
                Results.load(path)

    tracemalloc.start()
    read()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6


def raw_mcap(path, *records):
    """An MCAP file of these records: opcode and content."""
    parts = [b"\x89MCAP0\r\n", record(1, struct.pack("<II", 0, 0))]
    parts += [record(opcode, content) for opcode, content in records]
    path.write_bytes(b"".join(parts))
    return path


def record(opcode, content):
    return struct.pack("<BQ", opcode, len(content)) + content


def text(value):
    return struct.pack("<I", len(value)) + value


def chunk(compression, data, size, crc=0):
    about = struct.pack("<QQQI", 0, 0, size, crc) + text(compression)
    return 6, about + struct.pack("<Q", len(data)) + data


def bomb(kind, size):
    zeros = bytes(size)
    if kind == b"zstd":
        return zstandard.ZstdCompressor().compress(zeros)
    return lz4.frame.compress(zeros) if kind == b"lz4" else zeros


@pytest.mark.parametrize("kind", [b"zstd", b"lz4", b""])
@pytest.mark.parametrize("said", [1000, 10**6, 2**62])
def test_a_chunk_that_unpacks_to_more_than_it_says_is_refused(tmp_path, kind, said):
    path = raw_mcap(tmp_path / "a.mcap", chunk(kind, bomb(kind, 20_000_000), said))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"a\.mcap: a part"):
        read_recording(path, ["/a.x"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 90e6


def test_many_chunks_that_unpack_to_very_much_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "_MOST_IN_ALL", 10_000_000)
    data = zstandard.ZstdCompressor().compress(record(128, bytes(1_999_991)))
    path = raw_mcap(tmp_path / "a.mcap", *[chunk(b"zstd", data, 2_000_000)] * 6)
    with pytest.raises(InputError, match="far more bytes than it has"):
        read_recording(path, ["/a.x"])


def test_a_chunk_without_its_checksum_is_refused(tmp_path):
    data = record(3, b"")
    path = raw_mcap(tmp_path / "a.mcap", chunk(b"", data, len(data), zlib.crc32(data) ^ 1))
    with pytest.raises(InputError, match="checksum"):
        read_recording(path, ["/a.x"])


def test_topics_that_are_not_asked_for_are_not_unpacked(tmp_path):
    """The chunk of another topic is damaged, and its type is none."""
    path = tmp_path / "log.mcap"
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=1, compression=CompressionType.NONE)
        writer.start()
        bad = writer.register_schema("my/msg/Bad", "ros2msg", b"what is this")
        other = writer.register_channel("/other", "cdr", bad)
        wanted = writer.register_channel("/a", "json", 0)
        for k in range(3):
            writer.add_message(other, k, b"other" * 9, k)
            writer.add_message(wanted, k, b'{"x": 1}', k)
        writer.finish()
    path.write_bytes(path.read_bytes().replace(b"otherother", b"OTHERother"))
    assert read_recording(path, ["/a.x"])["/a.x"].values.tolist() == [1, 1, 1]
    with pytest.raises(InputError, match="checksum"):
        read_recording(path, ["/other.x"])


def test_files_of_a_folder_that_unpack_to_very_much_are_refused(tmp_path, monkeypatch):
    folder = write_bag(tmp_path, T, "packed-whole")
    monkeypatch.setattr(limits, "_MOST_IN_ALL", 1000)
    monkeypatch.setattr(limits, "_MOST_TIMES", 1)
    with pytest.raises(InputError, match="far more bytes than it has"):
        read_recording(folder, ["/level.data"])


def test_more_numbers_than_the_most_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_NUMBERS", 10)
    path = write_json(tmp_path / "j.mcap", _a=(T, [{"x": [1, 2, 3]}] * 4))
    with pytest.raises(InputError, match="more than 10 numbers"):
        read_recording(path, ["/a.x"])


DATA = b"\0\1\0\0" + bytes(16)


@pytest.mark.parametrize(
    ("definition", "told"),
    [
        ("string[4000000000] x\nfloat64 y", "entries of arrays"),
        ("B[4000] x\nB[4000] y\n" + "=" * 80 + "\nMSG: my/B\nfloat64 z", "entries of arrays"),
        ("A x", "damaged"),
        ("float64[4000000000] x", "damaged"),
        ("nothing at all", "damaged"),
        ("float64 x\n" * 40_000, "more than 256,000 bytes"),
        ("float64 C=1e999\nfloat64 x", "damaged"),
        ('string C="""\nimport os\n"""\nfloat64 x', "damaged"),
    ],
)
def test_a_hostile_definition_is_refused(tmp_path, definition, told):
    with pytest.raises(InputError, match=told):
        read_recording(write_plain(tmp_path / "a.mcap", "/a", definition, DATA), ["/a.x"])


@pytest.mark.parametrize(
    "kind", ["my/msg/A):\n  1/0\nclass B(", "", "my/msg/A\nfloat64 x", "9", "a b"]
)
def test_a_name_that_would_become_code_is_refused(tmp_path, kind):
    with pytest.raises(InputError):
        read_recording(write_plain(tmp_path / "a.mcap", "/a", "float64 x", DATA, kind), ["/a.x"])


@pytest.mark.parametrize(
    "message",
    ["[" * 100_000, "{" * 100_000, '{"x": "1"}', '{"x": 1e999}', '{"x": null}', "[]", "3",
     '{"x": []}', '{"x": [[1], 2]}', '{"x": {"a": {}}}', '{"y": 1}', "",
     '{"x": ' + "9" * 5000 + "}", '{"x": ' + "9" * 400 + "}"],
    ids=lambda message: message[:20],
)  # fmt: skip
def test_json_without_numbers_is_refused(tmp_path, message):
    path = tmp_path / "j.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        writer.add_message(writer.register_channel("/a", "json", 0), 0, message.encode(), 0)
        writer.finish()
    with pytest.raises(InputError, match=r"j\.mcap"):
        read_recording(path, ["/a.x"])


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"signal": "q", "shape": "[3]"}, "numbers"),
        ({"signal": "q", "shape": "[" * 2000}, "damaged"),
        ({"signal": "q", "shape": '["a"]'}, "the shape of q are none"),
        ({"signal": "q", "dtype": "object"}, "of the type 'object'"),
        ({"signal": "q", "dtype": "U99999999"}, "type"),
        ({"signal": "q"}, "the description of its run is none"),
    ],
)
def test_channels_of_a_run_that_lie_are_refused(tmp_path, metadata, told):
    path = tmp_path / "run.mcap"
    kind, definition = message_class("S", t=False, value=True)
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        schema = writer.register_schema("p.S", "protobuf", definition)
        channel = writer.register_channel("/q", "protobuf", schema, {"shape": "[2]", **metadata})
        for t in (0.0, 1.0):
            writer.add_message(channel, 0, kind(t=t, value=[1, 2]).SerializeToString(), 0)
        about = {"format": "spart_blocks recording 1", "meta": "{}"}
        writer.add_metadata("spart_blocks", about)
        writer.finish()
    with pytest.raises(InputError, match=told):
        Results.load(path)


@pytest.mark.parametrize("place", [2**63, 10**6, 5, 0, None, "other"])
def test_an_index_that_lies_is_refused(tmp_path, place):
    """The place of a message in the index of its chunk; that of the other channel, too."""
    path = tmp_path / "log.mcap"
    with path.open("wb") as file:
        writer = Writer(file, compression=CompressionType.NONE)
        writer.start()
        channels = [writer.register_channel(f"/{name}", "json", 0) for name in "ab"]
        for k in range(2):
            for channel in channels:
                writer.add_message(channel, k, b'{"x": 1}', k)
        writer.finish()
    raw = bytearray(path.read_bytes())
    head = struct.pack("<BQ", 7, 6 + 2 * 16)
    own, other = (k + 23 for k in range(len(raw)) if raw[k : k + len(head)] == head)
    if place is not None:
        raw[own : own + 8] = (
            raw[other : other + 8] if place == "other" else struct.pack("<Q", place)
        )
    path.write_bytes(raw)
    if place is None:
        assert read_recording(path, ["/a.x"])["/a.x"].values.tolist() == [1, 1]
        return
    with pytest.raises(InputError, match="the index of a chunk leads astray"):
        read_recording(path, ["/a.x"])


def test_a_file_of_others_is_no_run(tmp_path):
    path = write_json(tmp_path / "j.mcap", _a=(T, [{"x": 1}] * 4))
    with pytest.raises(InputError, match="no run of spart_blocks has written it"):
        Results.load(path)
