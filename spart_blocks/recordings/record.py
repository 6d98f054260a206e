"""The user's function that records a run as an MCAP file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from spart_blocks.animation.animate import made_of
from spart_blocks.animation.plants import moving_of, states_of
from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError, warn
from spart_blocks.recordings.forces import force_rows, forces_of
from spart_blocks.recordings.mcap_file import McapFile, Messages, Times, messages_of
from spart_blocks.recordings.scene import Scene
from spart_blocks.recordings.schemas import check_packages, foxglove, protobuf_channel
from spart_blocks.recordings.signals import signal_channels, signals_of
from spart_blocks.recordings.templates import NANO, Floats, Rows
from spart_blocks.results.files import write_atomically
from spart_blocks.results.packed import FINAL_STATE, RECORDED, RECORDING, pack_beside
from spart_blocks.results.run_data import RunData

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram

SUFFIX = ".mcap"
CHUNK = 2**20
"""About the size of a chunk [bytes]."""
_LATEST = 2.0**34
"""The largest time of a message [s]."""


def record(
    results: RunData,
    path: str | Path,
    diagram: Diagram | str | Path | None = None,
    *,
    root: str | Path | None = None,
) -> Path:
    """Write a run as an MCAP file, which Foxglove, Lichtblick, PlotJuggler and Rerun open. Returns
    its path.

    It has every kept signal and state with its unit, the frames, joints, shapes and forces of the
    robots, the events as a log, and as attachments the diagram and the URDF files with their
    meshes. results: of a run, or loaded from a file. diagram: the diagram of the run, or its file;
    without it, loaded results are recorded without robots. root: the folder that contains the
    meshes of URDF files, by default that of the robot's project. Raises InputError for another
    suffix, and if the file cannot be written; MissingExtraError without the packages of the extra
    `mcap`.
    """
    target = checked_recording(path)
    folder = None if root is None else Path(root)
    write_atomically(target, lambda stream: _write(stream, results, diagram, folder))
    return target


def checked_recording(path: str | Path) -> Path:
    """The path of a recording. Raises InputError if its suffix is not .mcap, MissingExtraError
    without the packages that write it."""
    target = as_path(path, "the file of a recording").expanduser()
    if target.suffix.lower() != SUFFIX:
        raise InputError(Fault(f"cannot write a recording to {target}", hint=f"end it in {SUFFIX}"))
    check_packages()
    return target


def _write(
    stream: IO[bytes], results: RunData, diagram: Diagram | str | Path | None, root: Path | None
) -> None:
    t = np.asarray(results.t, dtype=float)
    if len(t) and not 0 <= t[0] <= t[-1] < _LATEST:
        raise InputError(f"a recording has times from 0 s, not from {t[0]:g} to {t[-1]:g} s")
    file = McapFile(stream)
    whole, scene, states = _robots(results, diagram, root)
    times = nanoseconds(t)
    start = int(times[0]) if len(times) else 0
    if scene is not None:
        scene.describe(file, start)
    signals, values = signals_of(results)
    messages = signal_channels(file, signals)
    parts = [values]
    if scene is not None:
        messages += scene.channels(file, sum(part.shape[1] for part in parts))
        poses = scene.poses(states)
        parts.append(scene.values(states, poses))
        forces = list(forces_of(scene.actors, states, poses, results))
        if forces:
            column = sum(part.shape[1] for part in parts)
            found, pushed = force_rows(file, forces, scene.reach, column)
            messages += found
            parts.append(pushed)
    rows = Rows(messages)
    for chunk in chunks(rows, times, np.concatenate(parts, axis=1)):
        file.write(chunk)
    _log(file, results)
    meta, arrays = pack_beside(results)
    file.describe(RECORDED, {"format": RECORDING, "meta": meta})
    file.attach(FINAL_STATE, "application/octet-stream", arrays)
    if whole is not None:
        attach_diagram(file, whole)
    file.close()


def nanoseconds(t: Floats) -> Times:
    """Times [s] as whole nanoseconds."""
    return np.rint(t * NANO).astype(np.uint64)


def chunks(rows: Rows, times: Times, values: Floats) -> Iterable[Messages]:
    """The messages of rows, by chunks of about the same size."""
    count = max(1, CHUNK // max(rows.size, 1))
    for k in range(0, len(times), count):
        yield rows.messages(times[k : k + count], values[k : k + count])


def _robots(
    results: RunData, diagram: Diagram | str | Path | None, root: Path | None
) -> tuple[Diagram | None, Scene | None, list[Floats]]:
    """The diagram of a run, its robots and their states; None for what is not known."""
    try:
        whole, nodes = made_of(results, diagram)
    except InputError:
        if diagram is not None:
            raise
        return None, None, []
    plants = moving_of(nodes)
    if not plants or not len(results.t):
        return whole, None, []
    try:
        states = [states_of(plant, results) for plant in plants]
    except InputError as error:
        warn(f"the recording has no robots: {error}")
        return whole, None, []
    return whole, Scene(plants, root), states


def _log(file: McapFile, results: RunData) -> None:
    """Write the events of a run, and why it ended early, as a log."""
    entries = [(event.t, "INFO", event.block, event.what) for event in results.events]
    if results.stopped is not None or not results.complete:
        end = float(results.t[-1]) if len(results.t) else 0.0
        entries.append((end, "ERROR", results.diagram_name, results.stopped or "stopped early"))
    if not entries:
        return
    channel = log_channel(file)
    found = []
    for t, level, name, text in entries:
        time = int(nanoseconds(np.array(max(t, 0.0))))
        found.append((channel, time, log_entry(time, level, name, text)))
    file.write(messages_of(found))


def log_channel(file: McapFile) -> int:
    """Declare the channel of the log."""
    return protobuf_channel(file, "/log", foxglove("Log"))


def log_entry(time: int, level: str, name: str, text: str) -> bytes:
    """A message of the log. time [ns]; level: INFO, WARNING or ERROR; name: of whom it is from."""
    log = foxglove("Log")
    made = log(level=log.Level.Value(level), name=name, message=text)
    made.timestamp.FromNanoseconds(time)
    data: bytes = made.SerializeToString()
    return data


def attach_diagram(file: McapFile, diagram: Diagram) -> None:
    """Attach the file of a diagram, and those that it reads besides its robots."""
    source = diagram.source
    if source is None or not source.is_file():
        return
    file.attach(source.name, "application/yaml", source.read_bytes())
    for path in diagram.files:
        if path.suffix.lower() in (".yaml", ".yml") and path.is_file():
            file.attach(path.name, "application/yaml", path.read_bytes())
