"""Messages a CPU second that go into an MCAP file: ours, the package mcap, and Foxglove's SDK.

python benchmarks/recordings.py [--keep]      (peer: pip install foxglove-sdk)

Each writes the same 400,000 messages of 96 bytes, 12 numbers, of 20 channels to a file, with
checksums, without compression and with zstd. Ours makes the bytes from rows of numbers; the others
are given bytes that were packed before. The files are compared.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer
from side_by_side import keep

from spart_blocks.recordings.mcap_file import McapFile
from spart_blocks.recordings.record import chunks
from spart_blocks.recordings.templates import Rows, Template

ROWS, CHANNELS, NUMBERS = 20_000, 20, 12
COMPRESSIONS = ("", "zstd")


def numbers() -> tuple[np.ndarray, np.ndarray]:
    """The times [ns] and the numbers of the messages, which move as those of a run do."""
    t = np.arange(ROWS) * 1e-3
    phase = np.arange(CHANNELS * NUMBERS)
    return (t * 1e9).astype(np.uint64), np.sin(t[:, None] * (1 + phase / 50) + phase)


def ours(path: Path, compression: str) -> None:
    times, values = numbers()
    with path.open("wb") as stream:
        file = McapFile(stream, compression)
        template = Template(bytes(8 * NUMBERS), ((0, 0, NUMBERS),), ())
        made = [Template(template.data, ((0, k * NUMBERS, NUMBERS),), ()) for k in range(CHANNELS)]
        channels = [file.channel(f"/{k}", "x", 0) for k in range(CHANNELS)]
        rows = Rows(list(zip(channels, made, strict=True)))
        begun = time.process_time()
        for chunk in chunks(rows, times, values):
            file.write(chunk)
        file.close()
        note(begun)


def messages() -> Iterator[tuple[int, int, bytes]]:
    """Channel, time [ns] and bytes of each message."""
    times, values = numbers()
    packed = values.reshape(ROWS, CHANNELS, NUMBERS).tobytes()
    size = 8 * NUMBERS
    for k, at in enumerate(times.tolist()):
        for channel in range(CHANNELS):
            place = (k * CHANNELS + channel) * size
            yield channel, at, packed[place : place + size]


def package(path: Path, compression: str) -> None:
    kind = CompressionType.ZSTD if compression else CompressionType.NONE
    given = list(messages())
    with path.open("wb") as stream:
        writer = Writer(stream, compression=kind)
        writer.start()
        channels = [writer.register_channel(f"/{k}", "x", 0) for k in range(CHANNELS)]
        begun = time.process_time()
        for sequence, (channel, at, data) in enumerate(given):
            writer.add_message(channels[channel], at, data, at, sequence)
        writer.finish()
        note(begun)


def foxglove(path: Path, compression: str) -> None:
    from foxglove import Channel, Context, Schema, open_mcap
    from foxglove.mcap import MCAPCompression, MCAPWriteOptions

    given = list(messages())
    context = Context()
    schema = Schema(name="x", encoding="x", data=b"x")
    kind = MCAPCompression.Zstd if compression else None
    options = MCAPWriteOptions(compression=kind)
    writer = open_mcap(path, allow_overwrite=True, context=context, writer_options=options)
    channels = [
        Channel(f"/{k}", message_encoding="x", schema=schema, context=context)
        for k in range(CHANNELS)
    ]
    begun = time.process_time()
    for channel, at, data in given:
        channels[channel].log(data, log_time=at)
    writer.close()
    note(begun)


TOOK: list[float] = []


def note(begun: float) -> None:
    """Keep the processor time since `begun` [s]."""
    TOOK.append(time.process_time() - begun)


def read(path: Path) -> list[tuple[int, bytes]]:
    """Times and bytes of the messages of a channel."""
    with path.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        found = reader.iter_messages(topics=["/7"], log_time_order=False)
        return [(message.log_time, message.data) for _, _, message in found]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeat", type=int, default=5)
    options.add_argument("--keep", action="store_true")
    given = options.parse_args()
    peers: dict[str, Callable[[Path, str], None]] = {"ours": ours, "mcap": package}
    try:
        import foxglove as _  # noqa: F401

        peers["foxglove-sdk"] = foxglove
    except ImportError:
        print("foxglove-sdk is not installed", file=sys.stderr)
    rates: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.mcap")
        for _round in range(given.repeat):
            for compression in COMPRESSIONS:
                contents = []
                for name, write in peers.items():
                    write(path, compression)
                    rate = ROWS * CHANNELS / TOOK.pop()
                    rates.setdefault(f"{name} {compression or 'plain'}", []).append(rate)
                    contents.append(read(path))
                assert all(one == contents[0] for one in contents)
    figures = {}
    for name, found in rates.items():
        middle = statistics.median(found)
        figures[f"{name} messages per CPU second"] = middle
        print(f"{name:20} {middle / 1e6:6.2f} million messages a CPU second")
    if given.keep:
        keep(__file__, figures, *(["mcap"] + (["foxglove-sdk"] if len(peers) > 2 else [])))


if __name__ == "__main__":
    main()
