"""A plant in one process and its controller in another, over UDP, against the simulation.

    python benchmarks/hardware_in_the_loop.py [SECONDS] [--keep]

The diagram is diagrams/arm_over_udp.yaml: the controller runs as `spart realtime`, and as the
exported C program. Prints how far the joints are from the all-in-one simulation [rad], at
1 kHz, without and with packets dropped, delayed and reordered on purpose.
"""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from side_by_side import arguments, keep

import spart_blocks as sb
from spart_blocks.export import live_links, package_files, step_code, write_package
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime import Report, Session, prepare

DIAGRAM = Path(__file__).parents[1] / "diagrams" / "arm_over_udp.yaml"
PLANT = ["plant", "hold", "gravity"]


class Network(threading.Thread):
    """Hands packets on from one port to another: some get lost, some come late, some swap."""

    def __init__(self, to: int, drop: float, delay: float, swap: float) -> None:
        super().__init__(daemon=True)
        self.near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.near.bind(("127.0.0.1", 0))
        self.near.settimeout(0.05)
        self.port = self.near.getsockname()[1]
        self.to, self.drop, self.delay, self.swap = ("127.0.0.1", to), drop, delay, swap
        self.random = random.Random(7)
        self.over = False

    def run(self) -> None:
        kept: bytes | None = None
        while not self.over:
            try:
                packet = self.near.recv(2048)
            except TimeoutError:
                continue
            chance = self.random.random()
            if chance < self.drop:
                continue
            if kept is None and chance < self.drop + self.swap:
                kept = packet  # behind the next one
                continue
            if chance > 1 - self.delay:
                time.sleep(0.003)
            self.near.sendto(packet, self.to)
            if kept is not None:
                self.near.sendto(kept, self.to)
                kept = None
        self.near.close()


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def await_first_frame(port: int) -> None:
    """Until the controller's process has started, however slow the machine: a loop waits ten
    seconds for the other side, and begins with its first frame."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", port))
        one.settimeout(300.0)
        one.recv(2048)


def controller(kind: str, folder: Path, seconds: float, settings: list[str]) -> list[str]:
    """The command of the controller's process."""
    if kind == "python":
        command = [sys.executable, "-m", "spart_blocks", "realtime", str(DIAGRAM), "--quiet"]
        command += [word for setting in settings for word in ("--set", setting)]
        return [*command, "--t", str(seconds), "--policy", "catch-up"]
    diagram = sb.load(DIAGRAM, overrides=settings)
    code = step_code(subdiagram_of(diagram))
    write_package(package_files(code, live_links(diagram, code.part)), folder)
    subprocess.run(["make", "-s"], cwd=folder, check=True)
    return [str(folder / code.name), str(seconds)]


class Rehearsal(NamedTuple):
    """error: how far the joints are from the simulation at each step [rad]. pause: the longest
    time for which no new torque came, or the plant itself was late [s]. report: the plant's."""

    error: np.ndarray
    pause: float
    report: Report


def longest_hold(t: np.ndarray, values: np.ndarray) -> float:
    """The longest time for which values (k, n) stay as they are [s]."""
    changes = np.flatnonzero(np.diff(values, axis=0).any(axis=1)) + 1
    return float(np.diff(t[[0, *changes, -1]]).max())


def rehearse(kind: str, seconds: float, network: bool) -> Rehearsal:
    """One run of both processes."""
    sensors, actuators = free_port(), free_port()
    settings = [f"blocks.sensors.port={sensors}", f"blocks.actuators.port={actuators}"]
    proxy = Network(sensors, drop=0.05, delay=0.02, swap=0.05) if network else None
    if proxy is not None:
        proxy.start()
    port = sensors if proxy is None else proxy.port
    plant = sb.load(DIAGRAM, overrides=[f"blocks.sensors.port={port}", settings[1]])
    prepared = prepare(plant, part=PLANT, T=seconds, policy="catch-up")
    with tempfile.TemporaryDirectory() as folder:
        command = controller(kind, Path(folder, "code"), seconds + 5, settings)
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, stdout=quiet, stderr=quiet) as other:
            await_first_frame(actuators)
            with Session(prepared, record=True) as session:
                for _ in session.moments():
                    pass
            other.terminate()
    if proxy is not None:
        proxy.over = True
        proxy.join()
    found = session.signals()
    expected = sb.simulate(DIAGRAM, T=seconds, every=0.001)
    step = np.searchsorted(expected.t, found["t"] - 0.0005)
    error = np.abs(found["plant.qm"] - expected["plant.qm"][step]).max(axis=1)
    report = session.report()
    pause = max(longest_hold(found["t"], found["actuators.tau"]), report.response.longest)
    return Rehearsal(error, pause, report)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=8.0)
    given, figures = parser.parse_args(), {}
    print(f"{'controller':11s}{'network':33s}{'largest':>10s}{'at the end':>12s}  deadlines missed")
    for network in (False, True):
        for kind in ("python", "c"):
            done = rehearse(kind, given.seconds, network)
            what = "5 % lost, 5 % swapped, 2 % late" if network else "clean"
            print(
                f"{kind:11s}{what:33s}{done.error.max():10.2g}{done.error[-1]:12.2g}  "
                f"{sum(done.report.missed.values())}"
            )
            figures[f"{kind}, {what} rad"] = done.error.max()
    if given.keep:
        keep(__file__, figures, "casadi")


if __name__ == "__main__":
    main()
