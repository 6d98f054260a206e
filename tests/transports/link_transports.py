"""Each transport as a test has it: a diagram whose two parts it connects on this machine."""

from __future__ import annotations

import json
import os
import pty
import socket
import time
from contextlib import contextmanager, suppress
from threading import Event, Thread

import numpy as np
import zenoh
from free_ports import free_port

import spart_blocks as sb

DIAGRAM = """
name: loop
blocks:
  sensors:
    type: {kind}_IN
    {place_in}
    {frame_in}
  actuators:
    type: {kind}_OUT
    {place_out}
    {frame_out}
    safe: {{tau: 0}}
  plant: {{type: INTEGRATOR, x0: [1, 2]}}
  ctrl: {{type: GAIN, K: -2}}
wires: [plant -> sensors.q, sensors.q -> ctrl, ctrl -> actuators.tau, actuators.tau -> plant]
"""
FRAMES = {
    "frame_in": "frame: {header: '0xA55A', fields: {q: 2 f64}, sequence: u32, checksum: crc16}",
    "frame_out": "frame: {header: '0xA55B', fields: {tau: 2 f32}, sequence: u16, checksum: crc32}",
}
LONGEST = 60.0
"""How long a test waits for what must come [s]: far longer than any machine needs."""


@contextmanager
def serial_line(_folder):
    """Two pseudo-terminals whose other ends a thread connects, as a null modem."""
    ends = [pty.openpty() for _ in range(2)]
    stop = Event()
    for near, _ in ends:
        os.set_blocking(near, False)

    def carry():
        while not stop.wait(0.001):
            for (source, _), (target, _) in (ends, ends[::-1]):
                try:
                    os.write(target, os.read(source, 4096))
                except BlockingIOError:
                    continue

    thread = Thread(target=carry)
    thread.start()
    first, second = (os.ttyname(slave) for _, slave in ends)
    try:
        # The controller's one device for both ways; the plant has the line's other end.
        text = f"device: {first}\n    peer: {second}"
        yield text, text
    finally:
        stop.set()
        thread.join()
        for pair in ends:
            for fd in pair:
                os.close(fd)


@contextmanager
def shared_memory(_folder):
    names = [f"test-{os.getpid()}-{k}" for k in range(2)]
    try:
        yield tuple(f"memory: {name}" for name in names)
    finally:
        for name in names:
            if os.path.exists(f"/dev/shm/spart-{name}"):
                os.unlink(f"/dev/shm/spart-{name}")


@contextmanager
def ports(*more):
    yield tuple(f"port: {free_port()}\n    {line}".rstrip() for line in more)


@contextmanager
def broker(_folder):
    """An MQTT broker for this test (OASIS, MQTT 3.1.1): quality of service 0 alone."""
    listener = socket.create_server(("127.0.0.1", 0))
    stop = Event()
    thread = Thread(target=_serve, args=(listener, stop))
    thread.start()
    port = listener.getsockname()[1]
    try:
        yield tuple(f"topic: robot/{name}\n    port: {port}" for name in ("sensors", "actuators"))
    finally:
        stop.set()
        thread.join()
        listener.close()


def _serve(listener, stop):
    listener.settimeout(0.05)
    threads, subscribers = [], []
    while not stop.is_set():
        try:
            client = listener.accept()[0]
        except TimeoutError:
            continue
        threads.append(Thread(target=_client, args=(client, subscribers, stop)))
        threads[-1].start()
    for thread in threads:
        thread.join()


def _client(client, subscribers, stop):
    client.settimeout(0.05)
    data = b""
    with client:
        while not stop.is_set():
            try:
                read = client.recv(4096)
            except TimeoutError:
                continue
            except ConnectionError:
                return
            if not read:
                return
            data += read
            while (packet := _packet(data)) is not None:
                kind, body, data = packet
                if kind == 1:  # CONNECT
                    client.sendall(b"\x20\x02\x00\x00")
                elif kind == 8:  # SUBSCRIBE: the packet's number, the topic's length, the topic
                    size = int.from_bytes(body[2:4], "big")
                    subscribers.append((body[4 : 4 + size], client))
                    client.sendall(b"\x90\x03" + body[:2] + b"\x00")
                elif kind == 3:  # PUBLISH
                    size = int.from_bytes(body[:2], "big")
                    for topic, other in list(subscribers):
                        if topic == body[2 : 2 + size]:
                            _forward(other, bytes([0x30, len(body)]) + body)
                elif kind == 12:  # PINGREQ
                    client.sendall(b"\xd0\x00")


def _forward(client, packet):
    with suppress(OSError):  # it has left
        client.sendall(packet)


def _packet(data):
    """The first packet's type, its body of less than 128 bytes, and the rest; None if cut."""
    if len(data) < 2 or len(data) < 2 + data[1]:
        return None
    return data[0] >> 4, data[2 : 2 + data[1]], data[2 + data[1] :]


@contextmanager
def router(_folder):
    """A router of Zenoh, by which the two nodes find each other, as those of ROS do."""
    address = f"tcp/127.0.0.1:{free_port()}"
    config = zenoh.Config()
    for path, value in {"mode": "router", "listen/endpoints": [address],
                        "scouting/multicast/enabled": False}.items():  # fmt: skip
        config.insert_json5(path, json.dumps(value))
    with zenoh.open(config):
        yield (
            "topic: sensors\n    message: std_msgs/Float64MultiArray\n    fields: {q: 'data[2]'}",
            "topic: actuators\n    message: std_msgs/Float32MultiArray\n"
            "    fields: {tau: 'data[2]'}",
            f"realtime: {{ros: {{connect: [{address}], listen: [tcp/127.0.0.1:0]}}}}\n",
        )


TRANSPORTS = {
    "udp": ("UDP", lambda _: ports("", "")),
    "tcp, the receivers listen": ("TCP", lambda _: ports("", "")),
    "tcp, the senders listen": ("TCP", lambda _: ports("server: sender", "server: sender")),
    "serial": ("SERIAL", serial_line),
    "shared memory": ("SHM", shared_memory),
    "zmq, the senders bind": ("ZMQ", lambda _: ports("", "")),
    "zmq, the receivers bind": ("ZMQ", lambda _: ports("server: receiver", "server: receiver")),
    "mqtt": ("MQTT", broker),
    "ros": ("ROS", router),
}


def load(tmp_path, kind, place_in, place_out, more=""):
    """more: sections of the diagram."""
    path = tmp_path / "loop.yaml"
    frames = dict.fromkeys(FRAMES, "") if kind == "ROS" else FRAMES
    text = DIAGRAM.format(kind=kind, place_in=place_in, place_out=place_out, **frames)
    path.write_text(text + more)
    return sb.load(path)


def until(condition):
    """Wait until a condition holds."""
    end = time.monotonic() + LONGEST
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.001)


def arrives(sender, y, receiver, u):
    """Send again and again, as a loop does, until a frame arrives."""

    def step():
        sender.send(time.monotonic(), np.asarray(y, float))
        return receiver.receive(time.monotonic(), u)

    until(step)


def hears(receiver, u, sender, y):
    """Send until the receiver has just this."""
    until(lambda: (arrives(sender, y, receiver, u), u.tolist() == y)[1])
