"""Writes MCAP files: a header, chunks of messages, attachments, and a summary that indexes them.

Messages of equal size are written many at once, as rows of an array. Every chunk is a whole, so a
file whose writer died is readable up to its last chunk. Source: the MCAP format specification,
mcap.dev/spec, version 0.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError, optional
from spart_blocks.base.package_state import version_of

if TYPE_CHECKING:
    from mcap.records import McapRecord

EXTRA, PURPOSE = "mcap", "a recording"
MAGIC = b"\x89MCAP0\r\n"
MOST_CHANNELS = 65_535
BEFORE_DATA = 31
"""Bytes of a message's record before its data."""
_MESSAGE, _MESSAGE_INDEX = 0x05, 0x07

Bytes = NDArray[np.uint8]
Times = NDArray[np.uint64]
"""Times [ns]."""


def message_start(channel: int, size: int) -> bytes:
    """A message's record up to its data of this size [bytes], with zeros for its number and
    times."""
    return struct.pack("<BQHIQQ", _MESSAGE, BEFORE_DATA - 9 + size, channel, 0, 0, 0)


@dataclass(frozen=True)
class Messages:
    """Records of messages. data: their bytes. places: for each channel the times [ns] of its
    messages and the offsets of their records in data, both (k,)."""

    data: bytes
    places: Mapping[int, tuple[Times, Times]]


class McapFile:
    """An MCAP file that is being written to a stream, which may not be seekable.

    compression: of chunks, zstd, lz4 or '' for none.
    """

    def __init__(self, stream: IO[bytes], compression: str = "zstd") -> None:
        """Raises MissingExtraError if the package mcap is not installed."""
        self._stream = stream
        self._records: Any = optional("mcap.records", "mcap", EXTRA, PURPOSE)
        self._data: Any = optional("mcap.data_stream", "mcap", EXTRA, PURPOSE)
        self._compression = compression
        self._compress = _compressor(compression)
        self._offset = 0
        self._schemas: list[Any] = []
        self._channels: list[Any] = []
        self._indices, self._chunks = bytearray(), 0  # long recordings have many
        self._attachments: list[Any] = []
        self._metadata: list[Any] = []
        self._counts: dict[int, int] = {}
        self._span: tuple[int, int] | None = None
        self._write(MAGIC)
        self._put(self._records.Header("", f"spart_blocks {version_of('spart_blocks')}".strip()))

    # --- what messages are ----------------------------------------------------------------

    def schema(self, name: str, encoding: str, data: bytes) -> int:
        """Declare a schema; returns its id."""
        number = len(self._schemas) + 1
        self._schemas.append(self._records.Schema(number, data, encoding, name))
        self._put(self._schemas[-1])
        return number

    def channel(
        self, topic: str, encoding: str, schema: int, metadata: Mapping[str, str] | None = None
    ) -> int:
        """Declare a channel of messages in this encoding; returns its id. Raises InputError for too
        many."""
        number = len(self._channels) + 1
        if number > MOST_CHANNELS:
            raise InputError(f"a recording has at most {MOST_CHANNELS:,} channels")
        made = self._records.Channel(number, topic, encoding, dict(metadata or {}), schema)
        self._channels.append(made)
        self._put(made)
        return number

    # --- contents -------------------------------------------------------------------------

    def write(self, messages: Messages) -> None:
        """Write messages as one chunk."""
        records = self._records
        channels = {k: pair for k, pair in messages.places.items() if len(pair[0])}
        if not channels:
            return
        first = min(int(times.min()) for times, _ in channels.values())
        last = max(int(times.max()) for times, _ in channels.values())
        data, start = self._compress(messages.data), self._offset
        self._put(
            records.Chunk(
                compression=self._compression,
                data=data,
                message_start_time=first,
                message_end_time=last,
                uncompressed_crc=zlib.crc32(messages.data),
                uncompressed_size=len(messages.data),
            )
        )
        length, offsets = self._offset - start, {}
        for channel, (times, places) in channels.items():
            offsets[channel] = self._offset
            self._write(_message_index(channel, times, places))
            self._counts[channel] = self._counts.get(channel, 0) + len(times)
        index = records.ChunkIndex(
            chunk_length=length,
            chunk_start_offset=start,
            compression=self._compression,
            compressed_size=len(data),
            message_start_time=first,
            message_end_time=last,
            message_index_length=self._offset - start - length,
            message_index_offsets=offsets,
            uncompressed_size=len(messages.data),
        )
        self._indices += self._bytes(index)
        self._chunks += 1
        low, high = self._span or (first, last)
        self._span = min(low, first), max(high, last)

    def message(self, channel: int, time: int, data: bytes) -> None:
        """Write one message as a chunk. time [ns]."""
        self.write(messages_of([(channel, time, data)]))

    def attach(self, name: str, media_type: str, data: bytes, time: int = 0) -> None:
        """Attach a file. time [ns]."""
        start = self._offset
        self._put(self._records.Attachment(time, time, name, media_type, data))
        length = self._offset - start
        self._attachments.append(
            self._records.AttachmentIndex(start, length, time, time, len(data), name, media_type)
        )

    def describe(self, name: str, metadata: Mapping[str, str]) -> None:
        """Write metadata under a name."""
        start = self._offset
        self._put(self._records.Metadata(name, dict(metadata)))
        self._metadata.append(self._records.MetadataIndex(start, self._offset - start, name))

    def flush(self) -> None:
        """Hand what is written to the system."""
        self._stream.flush()

    def close(self) -> None:
        """Write the summary and the end. The stream stays open."""
        records = self._records
        self._put(records.DataEnd(0))
        start = self._offset
        low, high = self._span or (0, 0)
        statistics = records.Statistics(
            attachment_count=len(self._attachments),
            channel_count=len(self._channels),
            channel_message_counts=self._counts,
            chunk_count=self._chunks,
            message_count=sum(self._counts.values()),
            message_start_time=low,
            message_end_time=high,
            metadata_count=len(self._metadata),
            schema_count=len(self._schemas),
        )
        groups = [
            b"".join(map(self._bytes, group))
            for group in (self._schemas, self._channels, [statistics])
        ]
        groups.append(bytes(self._indices))
        groups += [
            b"".join(map(self._bytes, group)) for group in (self._attachments, self._metadata)
        ]
        offsets, summary = [], b""
        for data in groups:
            if data:
                offsets.append(records.SummaryOffset(data[0], start + len(summary), len(data)))
            summary += data
        at = start + len(summary)
        summary += b"".join(map(self._bytes, offsets))
        footer = self._bytes(records.Footer(start, at, 0))[:-4]
        crc = zlib.crc32(footer, zlib.crc32(summary))
        self._write(summary + footer + struct.pack("<I", crc) + MAGIC)
        self.flush()

    # --- bytes ----------------------------------------------------------------------------

    def _bytes(self, record: McapRecord) -> bytes:
        builder = self._data.RecordBuilder()
        record.write(builder)
        made: bytes = builder.end()
        return made

    def _put(self, record: McapRecord) -> None:
        self._write(self._bytes(record))

    def _write(self, data: bytes) -> None:
        self._stream.write(data)
        self._offset += len(data)


def _compressor(kind: str) -> Any:
    if not kind:
        return bytes
    if kind == "zstd":
        return optional("zstandard", "zstandard", EXTRA, PURPOSE).ZstdCompressor(level=1).compress
    return optional("lz4.frame", "lz4", EXTRA, PURPOSE).compress


def _message_index(channel: int, times: Times, places: Times) -> bytes:
    pairs = np.empty((len(times), 2), "<u8")
    pairs[:, 0], pairs[:, 1] = times, places
    size = pairs.nbytes
    return struct.pack("<BQHI", _MESSAGE_INDEX, 6 + size, channel, size) + pairs.tobytes()


def messages_of(given: Iterable[tuple[int, int, bytes]]) -> Messages:
    """Single messages: channel, time [ns] and data of each."""
    data, offset = [], 0
    places: dict[int, list[tuple[int, int]]] = {}
    for channel, time, body in given:
        record = struct.pack(
            "<BQHIQQ", _MESSAGE, BEFORE_DATA - 9 + len(body), channel, 0, time, time
        )
        data += [record, body]
        places.setdefault(channel, []).append((time, offset))
        offset += len(record) + len(body)
    return Messages(b"".join(data), {channel: _columns(pairs) for channel, pairs in places.items()})


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[Times, Times]:
    times, places = np.array(pairs, np.uint64).T
    return times, places
