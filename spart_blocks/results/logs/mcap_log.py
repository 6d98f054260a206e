"""Reads MCAP files: by their summary or, if a program has died before it wrote one, from the
beginning up to where they are whole.

Source: the MCAP format specification, version 0, mcap.dev/spec. Its records are read by the package
mcap, within their lengths.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from typing import IO, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError, optional
from spart_blocks.results.logs.log import EXTRA, MOST_CHUNK, PURPOSE, Channel, Unpacker

MAGIC = b"\x89MCAP0\r\n"
_HEAD = struct.Struct("<BQ")
_MESSAGE_HEAD = struct.Struct("<HIQQ")
_FOOTER = struct.Struct("<BQQQI")
_INDEX_HEAD = struct.Struct("<HI")
BEFORE_DATA = _HEAD.size + _MESSAGE_HEAD.size
"""Bytes of a message's record before its data."""
_FOOT, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _MESSAGE_INDEX = 0x02, 0x03, 0x04, 0x05, 0x06, 0x07
_CHUNK_INDEX, _ATTACHMENT, _ATTACHMENT_INDEX = 0x08, 0x09, 0x0A
_STATISTICS, _METADATA, _METADATA_INDEX = 0x0B, 0x0C, 0x0D
_ATTACHMENT_HEAD = struct.Struct("<QQI")
_LONGEST_NAME = 4096
_NONE = 2**63 - 1

Places = NDArray[np.int_]
Record = tuple[int, int, int]
"""A record of a file: what it is, the place of its content, and its length [bytes]."""


@dataclass
class _Contents:
    """What is in a file. chunks: by the place of each, the places of the indices of its messages by
    the ids of their channels, None if it has none. metadata, attachments: places of records by
    name. loose: whether messages are beside chunks.
    """

    schemas: dict[int, Any] = field(default_factory=dict)
    channels: dict[int, Any] = field(default_factory=dict)
    chunks: dict[int, dict[int, int] | None] = field(default_factory=dict)
    metadata: dict[str, int] = field(default_factory=dict)
    attachments: dict[str, int] = field(default_factory=dict)
    start: int = _NONE
    statistics: Any = None
    loose: bool = False
    whole: bool = True


class McapLog:
    """An MCAP file that is open for reading. A damaged one leads to errors of any kind."""

    def __init__(self, file: IO[bytes]) -> None:
        """Raises MissingExtraError if the package mcap is not installed."""
        self._records: Any = optional("mcap.records", "mcap", EXTRA, PURPOSE)
        self._stream: Any = optional("mcap.data_stream", "mcap", EXTRA, PURPOSE).ReadDataStream
        self._file = file
        self._end = file.seek(0, 2)
        self._unpack = Unpacker(self._end)
        file.seek(0)
        if file.read(len(MAGIC)) != MAGIC:
            raise InputError("it is no MCAP file")
        self._found = self._by_summary() or self._by_scan()

    @property
    def whole(self) -> bool:
        """Whether the file has its end."""
        return self._found.whole

    @property
    def start(self) -> int:
        return self._found.start

    @cached_property
    def _by_id(self) -> dict[int, Channel]:
        made = {}
        for number, one in self._found.channels.items():
            schema = self._found.schemas.get(one.schema_id)
            kind, language, definition = (
                (schema.name, schema.encoding, schema.data) if schema else ("", "", b"")
            )
            about = one.topic, one.message_encoding
            made[number] = Channel(*about, kind, language, definition, one.metadata)
        return made

    @property
    def channels(self) -> Collection[Channel]:
        return self._by_id.values()

    def metadata(self, name: str) -> dict[str, str] | None:
        """The texts of a metadata record; None if there is none of this name."""
        at = self._found.metadata.get(name)
        if at is None:
            return None
        found: dict[str, str] = self._read(self._record(at), _METADATA).metadata
        return found

    def attachment(self, name: str) -> bytes | None:
        """An attached file; None if there is none of this name."""
        at = self._found.attachments.get(name)
        if at is None:
            return None
        data: bytes = self._read(self._record(at), _ATTACHMENT).data
        return data

    def messages(self, wanted: Collection[Channel]) -> Iterator[tuple[Channel, int, bytes]]:
        for channel, data, places in self.parts(wanted):
            for at, body in zip(places.tolist(), bodies(data, places), strict=True):
                yield channel, _MESSAGE_HEAD.unpack_from(data, at + _HEAD.size)[2], body

    def parts(self, wanted: Collection[Channel]) -> Iterator[tuple[Channel, bytes, Places]]:
        """The messages of some channels, part by part of the file: the channel, the bytes of the
        part, and the places (k,) of the records of the channel's messages there."""
        ids = {number: one for number, one in self._by_id.items() if one in wanted}
        for at, indices in sorted(self._found.chunks.items()):
            if indices is None:
                data = self._chunk(self._record(at))
                for number, places in _message_places(data).items():
                    if number in ids:
                        yield ids[number], data, np.array(places)
            elif not ids.keys().isdisjoint(indices):
                data = self._chunk(self._record(at))
                for number in (one for one in ids if one in indices):
                    yield ids[number], data, self._indexed(number, indices[number], data)
        if self._found.loose:
            for opcode, at, length in self._top():
                if opcode == _MESSAGE:
                    data = self._content((opcode, at - _HEAD.size, _HEAD.size + length))
                    number = _MESSAGE_HEAD.unpack_from(data, _HEAD.size)[0]
                    if number in ids:
                        yield ids[number], data, np.zeros(1, int)

    def _indexed(self, number: int, at: int, data: bytes) -> Places:
        """The places of the messages of a channel in a chunk, by its index at a place of the file.
        Raises InputError if there are none of the channel."""
        record = self._record(at)
        content = self._content(record)[_INDEX_HEAD.size :]
        places = np.frombuffer(content, "<u8")[1::2]
        if record[0] != _MESSAGE_INDEX or not _are_messages(data, places, number):
            raise InputError("the index of a chunk leads astray")
        return places.astype(int)

    # --- what is in the file --------------------------------------------------------------

    def _by_summary(self) -> _Contents | None:
        """The contents by the summary at the end; None if there is none, or not all is in it."""
        size = _FOOTER.size + len(MAGIC)
        self._file.seek(max(self._end - size, 0))
        tail = self._file.read(size)
        if len(tail) < size or not tail.endswith(MAGIC):
            return None
        opcode, length, start, _, _ = _FOOTER.unpack_from(tail)
        if (opcode, length) != (_FOOT, _FOOTER.size - _HEAD.size) or not start:
            return None
        found = _Contents()
        for record in self._top(start):
            self._note(found, record)
        said = found.statistics
        told = said is not None and (
            (said.chunk_count, said.channel_count) == (len(found.chunks), len(found.channels))
            and said.schema_count == len(found.schemas)
            and (said.chunk_count > 0 or not said.message_count)
        )
        return found if told else None

    def _by_scan(self) -> _Contents:
        """The contents, by all records from the beginning on."""
        found = _Contents()
        opcode, end = 0, len(MAGIC)
        for opcode, at, length in self._top():
            self._note(found, (opcode, at, length))
            end = at + length
        found.whole = opcode == _FOOT and end + len(MAGIC) == self._end
        return found

    def _note(self, found: _Contents, record: Record) -> None:
        opcode, at, _ = record
        if opcode == _CHUNK:
            found.chunks[at - _HEAD.size] = None
            data = self._chunk(record)
            for kind, start, length in _inner(data):
                if kind in (_SCHEMA, _CHANNEL):
                    self._declare(found, kind, self._parsed(kind, data[start : start + length]))
                elif kind == _MESSAGE:
                    found.start = min(found.start, _MESSAGE_HEAD.unpack_from(data, start)[2])
        elif opcode == _MESSAGE:
            logged = _MESSAGE_HEAD.unpack_from(self._content(record))[2]
            found.start, found.loose = min(found.start, logged), True
        elif opcode == _METADATA:
            found.metadata[self._read(record, _METADATA).name] = at - _HEAD.size
        elif opcode == _ATTACHMENT:
            found.attachments[self._name_of(record)] = at - _HEAD.size
        elif opcode in (_SCHEMA, _CHANNEL):
            self._declare(found, opcode, self._read(record, opcode))
        elif opcode == _CHUNK_INDEX:
            one = self._read(record, opcode)
            found.chunks[one.chunk_start_offset] = one.message_index_offsets or None
        elif opcode == _ATTACHMENT_INDEX:
            one = self._read(record, opcode)
            found.attachments[one.name] = one.offset
        elif opcode == _METADATA_INDEX:
            one = self._read(record, opcode)
            found.metadata[one.name] = one.offset
        elif opcode == _STATISTICS:
            found.statistics = self._read(record, opcode)
            found.start = found.statistics.message_start_time

    @staticmethod
    def _declare(found: _Contents, opcode: int, one: Any) -> None:
        (found.schemas if opcode == _SCHEMA else found.channels)[one.id] = one

    # --- records --------------------------------------------------------------------------

    def _top(self, at: int = len(MAGIC)) -> Iterator[Record]:
        """The records of the file itself from a place on, as long as they are whole."""
        while at + _HEAD.size <= self._end:
            self._file.seek(at)
            opcode, length = _HEAD.unpack(self._file.read(_HEAD.size))
            at += _HEAD.size
            if length > self._end - at:
                return
            yield opcode, at, length
            if opcode == _FOOT:
                return
            at += length

    def _record(self, at: int) -> Record:
        """The record at a place that an index gives."""
        found = next(self._top(at), None)
        if found is None:
            raise InputError("its index leads astray")
        return found

    def _name_of(self, attachment: Record) -> str:
        """The name of an attached file, which may be too large to be read."""
        _, at, length = attachment
        self._file.seek(at)
        head = self._file.read(min(length, _ATTACHMENT_HEAD.size + _LONGEST_NAME))
        size = _ATTACHMENT_HEAD.unpack_from(head)[2]
        return head[_ATTACHMENT_HEAD.size :][:size].decode()

    def _content(self, record: Record) -> bytes:
        _, at, length = record
        if length > MOST_CHUNK:
            raise InputError(f"a record has {length:,} bytes; the most is {MOST_CHUNK:,}")
        self._file.seek(at)
        return self._file.read(length)

    def _read(self, record: Record, opcode: int) -> Any:
        """A record of a kind, as the package mcap has it."""
        if record[0] != opcode:
            raise InputError("its index leads astray")
        return self._parsed(opcode, self._content(record))

    def _parsed(self, opcode: int, content: bytes) -> Any:
        names = {
            _SCHEMA: "Schema", _CHANNEL: "Channel", _CHUNK: "Chunk", _STATISTICS: "Statistics",
            _CHUNK_INDEX: "ChunkIndex", _METADATA: "Metadata", _METADATA_INDEX: "MetadataIndex",
            _ATTACHMENT: "Attachment", _ATTACHMENT_INDEX: "AttachmentIndex",
        }  # fmt: skip
        return getattr(self._records, names[opcode]).read(self._stream(BytesIO(content)))

    def _chunk(self, record: Record) -> bytes:
        """The unpacked records of a chunk."""
        one = self._read(record, _CHUNK)
        data = self._unpack(one.compression, one.data, one.uncompressed_size)
        if one.uncompressed_crc and zlib.crc32(data) != one.uncompressed_crc:
            raise InputError("a chunk does not have its checksum")
        return data


def _inner(data: bytes) -> Iterator[Record]:
    """The records within a chunk."""
    at = 0
    while at < len(data):
        opcode, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if not opcode or length > len(data) - at:
            raise InputError("a chunk has a record that is none")
        yield opcode, at, length
        at += length


def _message_places(data: bytes) -> dict[int, list[int]]:
    """The places of the records of messages within a chunk, by the ids of their channels."""
    found: dict[int, list[int]] = {}
    for opcode, at, _ in _inner(data):
        if opcode == _MESSAGE:
            number = _MESSAGE_HEAD.unpack_from(data, at)[0]
            found.setdefault(number, []).append(at - _HEAD.size)
    return found


def _are_messages(data: bytes, places: NDArray[np.uint64], channel: int) -> bool:
    """Whether whole messages of a channel are at these places, and no more than fit."""
    if not len(places):
        return True
    if len(data) < BEFORE_DATA or (places > len(data) - BEFORE_DATA).any():
        return False
    at = places.astype(int)
    ids = gathered(data, at, _HEAD.size, _HEAD.size + 2)
    own = np.frombuffer(struct.pack("<H", channel), np.uint8)
    sizes = lengths(data, at)
    return bool(
        (gathered(data, at, 0, 1) == _MESSAGE).all()
        and (ids == own).all()
        and (sizes <= len(data) - BEFORE_DATA - places).all()
        and sizes.sum() <= len(data)
    )


def gathered(data: bytes, places: Places, start: int, stop: int) -> NDArray[np.uint8]:
    """The bytes from start to stop behind each of k places, (k, stop - start)."""
    whole = np.frombuffer(data, np.uint8, offset=start)
    found: NDArray[np.uint8] = sliding_window_view(whole, stop - start)[places]
    return found


def lengths(data: bytes, places: Places) -> NDArray[np.uint64]:
    """The lengths [bytes] of the data of the messages whose records are at k places, (k,)."""
    heads = np.ascontiguousarray(gathered(data, places, 1, _HEAD.size))
    return heads.view("<u8")[:, 0] - np.uint64(_MESSAGE_HEAD.size)


def bodies(data: bytes, places: Places) -> Iterator[bytes]:
    """The data of the messages whose records are at these places."""
    for at in places.tolist():
        length = _HEAD.unpack_from(data, at)[1]
        yield data[at + BEFORE_DATA : at + _HEAD.size + length]
