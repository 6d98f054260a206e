"""Bags of ROS: files of ROS 1 (.bag) and of ROS 2 (.db3), as the package rosbags reads them, and
folders of files of ROS 2."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from spart_blocks.base.errors import Fault, InputError, optional
from spart_blocks.results.logs.log import EXTRA, PURPOSE, Channel, Log, Unpacker

METADATA = "metadata.yaml"
"""The file of a folder's description, which may be named in the place of the folder."""
_BAG, _SQLITE = b"#ROSBAG V2.0\n", b"SQLite format 3\0"
_LANGUAGES = {"MSG": "ros2msg", "IDL": "ros2idl", "NONE": ""}


class Bag:
    """A file that rosbags has opened. channel: of one of its connections."""

    def __init__(self, reader: Any, channel: Callable[[Any], Channel]) -> None:
        self._reader = reader
        self._connections = {channel(one): one for one in reader.connections}
        self._channels = {one.id: made for made, one in self._connections.items()}

    @property
    def channels(self) -> Collection[Channel]:
        return self._connections.keys()

    @property
    def start(self) -> int:
        start: int = self._reader.start_time
        return start

    def messages(self, wanted: Collection[Channel]) -> Iterator[tuple[Channel, int, bytes]]:
        chosen = [one for channel, one in self._connections.items() if channel in wanted]
        if chosen:  # of none, rosbags would give all
            for one, logged, data in self._reader.messages(chosen):
                yield self._channels[one.id], logged, bytes(data)


def ros1_bag(path: Path, stack: ExitStack) -> Bag:
    """A bag of ROS 1. stack: what closes it. Raises InputError if it has no index."""
    _check_magic(path, _BAG, "it is no bag of ROS 1, version 2.0")
    module = optional("rosbags.rosbag1.reader", "rosbags", EXTRA, PURPOSE)
    try:
        reader = stack.enter_context(module.Reader(path))
    except module.ReaderError as error:
        hint = "rosbag reindex makes one" if "reindex" in str(error) else None
        raise InputError(Fault(f"its index cannot be read: {error}", hint=hint)) from None
    unpack, kinds = Unpacker(path.stat().st_size), {f: k for k, f in module.decompressors.items()}
    for place, chunk in reader.chunks.items():
        bounded = partial(unpack, kinds[chunk.decompressor])
        reader.chunks[place] = chunk._replace(decompressor=bounded)
    return Bag(reader, lambda one: Channel(
        one.topic, "ros1", one.msgtype, "ros1msg", one.msgdef.data.encode()
    ))  # fmt: skip


def ros2_bag(path: Path, stack: ExitStack) -> Bag:
    """A file of ROS 2 with a database. stack: what closes it."""
    _check_magic(path, _SQLITE, "it is no database of SQLite")
    module = optional("rosbags.rosbag2", "rosbags", EXTRA, PURPOSE)
    reader = stack.enter_context(module.Reader(path))
    return Bag(reader, lambda one: Channel(
        one.topic, one.ext.serialization_format, one.msgtype,
        _LANGUAGES[one.msgdef.format.name], one.msgdef.data.encode(),
    ))  # fmt: skip


def _check_magic(path: Path, magic: bytes, otherwise: str) -> None:
    with path.open("rb") as file:
        if file.read(len(magic)) != magic:
            raise InputError(otherwise)


# --- folders -----------------------------------------------------------------------------


class Folder:
    """The files of a folder, one after another. unpack: what unpacks each message, if packed."""

    def __init__(self, logs: Sequence[Log], unpack: Callable[[bytes], bytes] | None) -> None:
        self._logs, self._unpack = logs, unpack

    @property
    def channels(self) -> Collection[Channel]:
        return [channel for log in self._logs for channel in log.channels]

    @property
    def start(self) -> int:
        return min(log.start for log in self._logs)

    def messages(self, wanted: Collection[Channel]) -> Iterator[tuple[Channel, int, bytes]]:
        for log in self._logs:
            for channel, logged, data in log.messages(wanted):
                yield channel, logged, self._unpack(data) if self._unpack else data


def ros2_folder(path: Path, stack: ExitStack, open_file: Callable[[Path], Log]) -> Folder:
    """A folder of ROS 2. open_file: opens one of its files. stack: what closes them."""
    from spart_blocks.base.document import mapping_at, read_document

    about = mapping_at(read_document(path / METADATA).data, "rosbag2_bagfile_information")
    names = about.get("relative_file_paths")
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise InputError(f"{METADATA} names no files; it is no folder of ROS 2")
    files = [path / PurePosixPath(name).name for name in names]
    unpack = Unpacker(sum(file.stat().st_size for file in files))
    mode = str(about.get("compression_mode") or "none").lower()
    packed = str(about.get("compression_format") or "")
    if mode == "file":
        files = _unpacked_files(files, packed, unpack, stack)
    each = partial(unpack, packed) if mode == "message" else None
    return Folder([open_file(file) for file in files], each)


def _unpacked_files(
    files: Sequence[Path], packed: str, unpack: Unpacker, stack: ExitStack
) -> list[Path]:
    """Files that are packed as a whole, unpacked into a folder that the stack removes."""
    if packed != "zstd":
        raise InputError(f"its files are packed by {packed[:40]!r}; zstd is read")
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="spart_blocks-")))
    for file in files:
        with file.open("rb") as source, (folder / file.stem).open("wb") as target:
            unpack.file(source, target)
    return [folder / file.stem for file in files]
