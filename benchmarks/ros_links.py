"""Messages of ROS from a real-time loop to another process, against eclipse-zenoh alone.

    python benchmarks/ros_links.py [SECONDS] [--keep]

A loop at 1 kHz publishes joint states of seven joints (ROS_OUT) over the loopback; another process
receives them (ROS_IN), over Zenoh and over DDS. Prints the latency from the stamp, which the loop
writes when it sends, to when the other process has the numbers, and the deadlines that the loop
missed. Beside it, as often, a thread that publishes as many bytes by eclipse-zenoh, and a callback
in another process.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import zenoh
from side_by_side import arguments, keep

import spart_blocks as sb
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime import Session, prepare
from spart_blocks.realtime.links import open_links

RATE = 1000
JOINTS = [f"joint_{k}" for k in range(1, 8)]
DIAGRAM = """
name: states
blocks:
  q: {{type: WAVEFORM, wave: sine, freq: 1, amplitude: 0.5}}
  vector: {{type: GAIN, K: [1, 2, 3, 4, 5, 6, 7]}}
  states:
    type: ROS_{way}
    topic: joint_states
    message: sensor_msgs/JointState
    joints: {joints}
    fields: {{q: position, qd: velocity}}
  twice: {{type: GAIN, K: 2}}
wires: [q -> vector, vector -> states.q, vector -> states.qd, states.q -> twice]
run: {{T: 1, log: [twice]}}
export: {{rate: {rate}}}
realtime: {{ros: {{{ros}}}}}
"""
KEY = "0/alone/bytes"
SIZE = 340
"""Bytes of a message of seven joints."""


def diagram(folder: Path, way: str, ros: str) -> Path:
    """ros: the options of its node."""
    path = folder / f"{way}.yaml"
    values = {"way": way, "joints": JOINTS, "rate": RATE, "ros": ros}
    path.write_text(DIAGRAM.format(**values), encoding="utf-8")
    return path


def send(path: str, seconds: float) -> None:
    """The loop's process: prints its report as JSON."""
    prepared = prepare(path, part=["q", "vector"], T=seconds)
    with Session(prepared) as session:
        for _ in session.moments():
            continue
    report = session.report()
    told = {"missed": report.missed, "steps": report.steps, "step": report.step.longest}
    print(json.dumps({**told, "sent": report.links["states"]["sent"]}))


def send_alone(address: str, seconds: float) -> None:
    """The process of eclipse-zenoh alone."""
    with zenoh.open(config(connect=[address])) as session:
        publisher = session.declare_publisher(KEY)
        due = time.monotonic()
        for _ in range(int(seconds * RATE)):
            due += 1 / RATE
            time.sleep(max(0.0, due - time.monotonic()))
            now = time.monotonic_ns()
            publisher.put(now.to_bytes(8, "little") + bytes(SIZE - 8), attachment=bytes(33))


def config(**endpoints: list[str]) -> zenoh.Config:
    made = zenoh.Config()
    made.insert_json5("scouting/multicast/enabled", "false")
    made.insert_json5("listen/endpoints", json.dumps(endpoints.get("listen", [])))
    made.insert_json5("connect/endpoints", json.dumps(endpoints.get("connect", [])))
    return made


def child(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--child", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def over_zenoh() -> tuple[str, str]:
    """The nodes of the receiver and of the sender."""
    address = free_address()
    return f"connect: [], listen: [{address}]", f"connect: [{address}], listen: []"


def over_dds() -> tuple[str, str]:
    return ("carrier: dds, domain: 91",) * 2


def ours(seconds: float, receives: str, sends: str) -> tuple[np.ndarray, dict[str, float]]:
    """Latencies [s], and what the loop reports."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        loaded = sb.load(diagram(folder, "IN", receives))
        with open_links(loaded, subdiagram_of(loaded, ["twice"])) as links:
            (receiver,) = links.receivers
            u, epoch = np.zeros(7), time.time() - time.monotonic()
            other = child("send", str(diagram(folder, "OUT", sends)), str(seconds))
            while other.poll() is None:
                if not select.select([receiver.struct.fd], [], [], 0.1)[0]:
                    continue
                if receiver.receive(time.monotonic(), u):
                    found.append(time.monotonic() + epoch - receiver.struct.sender_time)
            told = json.loads(other.communicate()[0])
            told["lost"] = receiver.counts()["lost"]
    return np.array(found), told


def alone(seconds: float) -> np.ndarray:
    found = []

    def arrived(sample: zenoh.Sample) -> None:
        sent = int.from_bytes(sample.payload.to_bytes()[:8], "little")
        found.append(1e-9 * (time.monotonic_ns() - sent))

    address = free_address()
    with zenoh.open(config(listen=[address])) as session:
        session.declare_subscriber(KEY, zenoh.handlers.Callback(arrived, indirect=False))
        child("alone", address, str(seconds)).wait()
    return np.array(found)


def free_address() -> str:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"tcp/127.0.0.1:{one.getsockname()[1]}"


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        {"send": send, "alone": send_alone}[sys.argv[2]](sys.argv[3], float(sys.argv[4]))
        return
    parser = arguments(__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=60.0)
    given, figures = parser.parse_args(), {}
    mine, told = ours(given.seconds, *over_zenoh())
    dds, told_dds = ours(given.seconds, *over_dds())
    rows = {
        "ROS_OUT to ROS_IN": mine,
        "eclipse-zenoh alone": alone(given.seconds),
        "ROS_OUT to ROS_IN, DDS": dds,
    }
    print(f"{'latency [us]':24s}{'messages':>10s}{'p50':>8s}{'p99':>8s}{'p99.9':>8s}{'most':>9s}")
    for name, latency in rows.items():
        points = 1e6 * np.array([*np.percentile(latency, [50, 99, 99.9]), latency.max()])
        print(f"{name:24s}{len(latency):10d}" + "{:8.0f}{:8.0f}{:8.0f}{:9.0f}".format(*points))
        figures |= {f"{name} p50 us": points[0], f"{name} p99 us": points[1]}
    for carrier, one in {"Zenoh": told, "DDS": told_dds}.items():
        print(f"{carrier}: steps {one['steps']}, sent {one['sent']}, lost {one['lost']}")
        print(f"deadlines missed by {one['missed']}; the longest step {1e6 * one['step']:.0f} us")
    if given.keep:
        missed = {"missed by the step": told["missed"]["step"]}
        keep(__file__, {**figures, **missed}, "eclipse-zenoh", "cyclonedds")


if __name__ == "__main__":
    main()
