"""The container: what the reference reader makes of it, and files that were cut off."""

from __future__ import annotations

import io
from contextlib import suppress

import numpy as np
import pytest
from foxglove_schemas_protobuf.JointStates_pb2 import JointStates
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.exceptions import EndOfFile
from mcap.reader import make_reader
from mcap.records import Message
from mcap.stream_reader import StreamReader

from spart_blocks.recordings import mcap_file
from spart_blocks.recordings.mcap_file import McapFile, messages_of
from spart_blocks.recordings.templates import Rows, hole, stamp_of_rows, template_of


def joints(names, position, velocity):
    message = JointStates()
    stamp_of_rows(message.timestamp)
    for name, p, v in zip(names, position, velocity, strict=True):
        message.joints.add(name=name, position=p, velocity=v)
    return message


@settings(max_examples=40, deadline=None)
@given(
    names=st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=5),
    rows=st.lists(
        st.tuples(
            st.integers(0, 2**34 * 10**9 - 1),
            st.lists(st.floats(allow_nan=False), min_size=10, max_size=10),
        ),
        min_size=1,
        max_size=5,
    ),
)
def test_rows_of_a_template_are_the_messages_that_protobuf_writes(names, rows):
    n = len(names)
    template = template_of(joints(names, map(hole, range(n)), map(hole, range(n, 2 * n))))
    times = np.array([time for time, _ in rows], np.uint64)
    values = np.array([numbers for _, numbers in rows])
    stream = io.BytesIO()
    file = McapFile(stream)
    channel = file.channel("/joints", "protobuf", 0)
    file.write(Rows([(channel, template)]).messages(times, values))
    file.close()
    stream.seek(0)
    read = list(make_reader(stream, validate_crcs=True).iter_messages(log_time_order=False))
    assert [message.sequence for *_, message in read] == list(range(len(rows)))
    for (time, numbers), (_, _, message) in zip(rows, read, strict=True):
        expected = joints(names, numbers[:n], numbers[n : 2 * n])
        expected.timestamp.seconds, expected.timestamp.nanos = divmod(time, 10**9)
        assert message.log_time == message.publish_time == time
        assert JointStates.FromString(message.data) == expected


@pytest.mark.parametrize("compression", ["", "zstd", "lz4"])
def test_messages_attachments_and_metadata_come_back(compression):
    stream = io.BytesIO()
    file = McapFile(stream, compression)
    schema = file.schema("text", "jsonschema", b"{}")
    first = file.channel("/a", "json", schema, {"unit": "m"})
    second = file.channel("/b", "json", schema)
    file.write(messages_of([(first, 5, b"1"), (second, 3, b"22"), (first, 9, b"333")]))
    file.message(second, 12, b"4444")
    file.attach("notes.txt", "text/plain", b"some notes", 7)
    file.describe("run", {"by": "hand"})
    file.close()
    stream.seek(0)
    reader = make_reader(stream, validate_crcs=True)
    read = [(c.topic, m.log_time, m.data) for _, c, m in reader.iter_messages()]
    assert read == [("/b", 3, b"22"), ("/a", 5, b"1"), ("/a", 9, b"333"), ("/b", 12, b"4444")]
    summary = reader.get_summary()
    assert summary.statistics.message_count == 4
    assert summary.statistics.channel_message_counts == {first: 2, second: 2}
    assert (summary.statistics.message_start_time, summary.statistics.message_end_time) == (3, 12)
    assert [c.metadata for c in summary.channels.values()] == [{"unit": "m"}, {}]
    assert [(a.name, a.data, a.log_time) for a in reader.iter_attachments()] == [
        ("notes.txt", b"some notes", 7)
    ]
    assert [(m.name, m.metadata) for m in reader.iter_metadata()] == [("run", {"by": "hand"})]


def test_a_file_whose_writer_died_is_read_up_to_its_last_chunk():
    stream = io.BytesIO()
    file = McapFile(stream)
    channel = file.channel("/a", "json", 0)
    for k in range(3):
        file.write(messages_of([(channel, k, b"%d" % k)]))
    whole = stream.getvalue()
    assert times_of(whole) == [0, 1, 2]
    assert times_of(whole[:-100]) == [0, 1]


def times_of(data):
    found = []
    with suppress(EndOfFile):
        for record in StreamReader(io.BytesIO(data)).records:
            if isinstance(record, Message):
                found.append(record.log_time)
    return found


def test_more_channels_than_ids_are_refused(monkeypatch):
    monkeypatch.setattr(mcap_file, "MOST_CHANNELS", 2)
    file = McapFile(io.BytesIO())
    file.channel("/a", "json", 0), file.channel("/b", "json", 0)
    with pytest.raises(mcap_file.InputError, match="at most 2 channels"):
        file.channel("/c", "json", 0)
