"""Links over each transport: a plant and a controller of one file exchange their numbers."""

from __future__ import annotations

import os
import socket
import sys
import time
from contextlib import ExitStack

import numpy as np
import pytest
from free_ports import free_port
from link_transports import (
    DIAGRAM,
    FRAMES,
    LONGEST,
    TRANSPORTS,
    arrives,
    load,
    shared_memory,
    until,
)

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError, MissingExtraError
from spart_blocks.block_support.links import Incoming
from spart_blocks.diagram.build.registry import block_types
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime.links import open_links


def test_every_transport_is_tried():
    found = {kind.name for kind in block_types() if issubclass(kind.cls, Incoming)}
    assert found == {f"{kind}_IN" for kind, _ in TRANSPORTS.values()}


def test_numbers_go_both_ways_over_every_transport(diagram):
    with (
        open_links(diagram, subdiagram_of(diagram, ["plant"])) as plant,
        open_links(diagram, subdiagram_of(diagram, ["ctrl"])) as ctrl,
    ):
        u = np.zeros(2)
        for k in range(3):
            arrives(plant.senders[0], [k + 0.1, -k], ctrl.receivers[0], u)
        until(lambda: not ctrl.receivers[0].receive(time.monotonic(), u))
        arrives(ctrl.senders[0], [0.5, 0.25], plant.receivers[0], u)
        np.testing.assert_array_equal(u, [0.5, 0.25])
        for links, name in ((ctrl, "sensors"), (plant, "actuators")):
            assert links.counts()[name]["malformed"] == 0
            assert links.counts()[name]["old"] == 0


def test_the_last_safe_frame_arrives_after_the_sender_has_closed(diagram):
    with open_links(diagram, subdiagram_of(diagram, ["plant"])) as plant:
        u = np.zeros(2)
        with open_links(diagram, subdiagram_of(diagram, ["ctrl"])) as ctrl:
            sender = ctrl.senders[0]
            arrives(sender, [1, 1], plant.receivers[0], u)
            assert sender.send(time.monotonic(), np.full(2, np.nan))

        def safe():
            plant.receivers[0].receive(time.monotonic(), u)
            return not u.any()

        until(safe)


def test_links_can_be_opened_again_after_they_were_closed(diagram):
    for _ in range(2):
        with (
            open_links(diagram, subdiagram_of(diagram, ["plant"])) as plant,
            open_links(diagram, subdiagram_of(diagram, ["ctrl"])) as ctrl,
        ):
            u = np.full(2, -1.0)
            assert not ctrl.receivers[0].receive(time.monotonic(), u)
            arrives(plant.senders[0], [3, 4], ctrl.receivers[0], u)
            np.testing.assert_array_equal(u, [3, 4])
            # A frame that was sent twice, since the first was late, is not left in a relay.
            until(lambda c=ctrl, u=u: not c.receivers[0].receive(time.monotonic(), u))


def test_a_simulation_passes_its_numbers_through(diagram):
    results = sb.simulate(diagram, T=0.5)
    # x' = -2 x
    assert results["plant"][-1] == pytest.approx(np.exp(-1) * np.array([1, 2]), rel=1e-5)


# --- what is each transport's own ----------------------------------------------------------


def test_a_tcp_connection_that_ends_is_made_anew(tcp):
    with open_links(tcp, subdiagram_of(tcp, ["ctrl"])) as ctrl:
        u, receiver = np.zeros(2), ctrl.receivers[0]
        for k in range(3):
            with open_links(tcp, subdiagram_of(tcp, ["plant"])) as plant:
                # Each sender begins with sequence number 0, which a new connection may do.
                arrives(plant.senders[0], [k, 7], receiver, u)
                assert u.tolist() == [k, 7]
        assert receiver.counts()["old"] == 0


def test_another_tcp_sender_waits_while_the_first_is_alive(tcp):
    with open_links(tcp, subdiagram_of(tcp, ["ctrl"])) as ctrl, ExitStack() as kept:
        u, receiver = np.zeros(2), ctrl.receivers[0]
        receiver.struct.timeout = LONGEST  # also where this machine is slow
        plant = kept.enter_context(open_links(tcp, subdiagram_of(tcp, ["plant"])))
        arrives(plant.senders[0], [1, 1], receiver, u)
        port = tcp.bd["sensors"].link.endpoint.port
        with socket.create_connection(("127.0.0.1", port)) as intruder:
            intruder.sendall(b"no frame" * 1000)
            for _ in range(50):
                plant.senders[0].send(time.monotonic(), np.array([2.0, 2.0]))
                time.sleep(0.005)
                receiver.receive(time.monotonic(), u)
        assert u.tolist() == [2, 2]
        assert receiver.counts()["malformed"] == 0


def test_a_tcp_peer_that_falls_silent_loses_its_place(tcp):
    with open_links(tcp, subdiagram_of(tcp, ["ctrl"])) as ctrl:
        u, receiver = np.zeros(2), ctrl.receivers[0]
        port = tcp.bd["sensors"].link.endpoint.port
        with (
            socket.create_connection(("127.0.0.1", port)),
            open_links(tcp, subdiagram_of(tcp, ["plant"])) as plant,
        ):
            arrives(plant.senders[0], [5, 6], receiver, u)


def test_streams_need_a_header(tmp_path):
    frames = {**FRAMES, "frame_in": FRAMES["frame_in"].replace("header: '0xA55A', ", "")}
    path = tmp_path / "loop.yaml"
    places = {"place_in": "port: 5005", "place_out": "port: 5006"}
    path.write_text(DIAGRAM.format(kind="TCP", **places, **frames))
    with pytest.raises(DiagramError, match="frame needs a header") as error:
        sb.load(path)
    assert error.value.faults[0].place.line == 7


def test_a_serial_block_without_a_peer_has_no_other_side(tmp_path):
    diagram = load(tmp_path, "SERIAL", "device: /dev/ttyUSB9", "device: /dev/ttyUSB9")
    with pytest.raises(InputError, match="has no device") as error:
        open_links(diagram, subdiagram_of(diagram, ["plant"]))
    assert error.value.faults[0].place.line == 6


def test_a_serial_device_that_is_not_there_is_reported(tmp_path):
    diagram = load(tmp_path, "SERIAL", "device: /dev/ttyUSB9", "device: /dev/ttyUSB9")
    with pytest.raises(InputError, match="/dev/ttyUSB9"):
        open_links(diagram, subdiagram_of(diagram, ["ctrl"]))


def test_shared_memory_has_one_sender_and_is_the_user_s_alone(tmp_path):
    with shared_memory(tmp_path) as places:
        diagram = load(tmp_path, "SHM", *places)
        part = subdiagram_of(diagram, ["plant"])
        with open_links(diagram, part):
            name = places[0].removeprefix("memory: ")
            assert os.stat(f"/dev/shm/spart-{name}").st_mode & 0o777 == 0o600
            with pytest.raises(InputError, match="the address is in use"):
                open_links(diagram, part)


def test_shared_memory_is_no_way_to_other_files(tmp_path):
    with shared_memory(tmp_path) as places:
        diagram = load(tmp_path, "SHM", *places)
        name = places[0].removeprefix("memory: ")
        target = tmp_path / "target"
        target.write_text("kept")
        os.symlink(target, f"/dev/shm/spart-{name}")
        with pytest.raises(InputError, match="cannot receive at"):
            open_links(diagram, subdiagram_of(diagram, ["ctrl"]))
        assert target.read_text() == "kept"


def test_without_a_broker_there_is_one_line_that_says_so(tmp_path):
    place = f"topic: a\n    port: {free_port()}"
    diagram = load(tmp_path, "MQTT", place, place.replace("topic: a", "topic: b"))
    with pytest.raises(InputError, match="connection refused"):
        open_links(diagram, subdiagram_of(diagram, ["ctrl"]))


@pytest.mark.parametrize(
    ("kind", "place", "module", "extra"),
    [
        ("SERIAL", "device: /dev/ttyUSB9", "serial", "serial"),
        ("ZMQ", "port: 5005", "zmq", "zmq"),
        ("MQTT", "topic: a", "paho.mqtt.client", "mqtt"),
    ],
)
def test_a_library_that_is_missing_is_named_with_its_extra(
    tmp_path, monkeypatch, kind, place, module, extra
):
    monkeypatch.setitem(sys.modules, module, None)
    diagram = load(tmp_path, kind, place, place)
    sb.simulate(diagram, T=0.1)  # a simulation needs none of them
    with pytest.raises(MissingExtraError, match=rf"\[{extra}\]"):
        open_links(diagram, subdiagram_of(diagram, ["ctrl"]))


WRONG_PLACES = {
    "SERIAL": {"device: /etc/passwd": "device", "device: /dev/tty/../sda": "device",
               "device: /dev/sda": "device", "device: /dev/ttyS0\n    baud: 0": "baud",
               "device: /dev/ttyS0\n    peer: /dev/ttyS0": "peer"},
    "SHM": {"memory: ../x": "memory", "memory: ''": "memory", "memory: a/b": "memory"},
    "MQTT": {"topic: 'a/#'": "topic", "topic: ''": "topic",
             "topic: a\n    address: x.org": "address"},
    "TCP": {"port: 0": "port", "port: 1\n    server: both": "server"},
    "ZMQ": {"port: 70000": "port", "port: 1\n    address: '*'": "address"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "place"), [(kind, place) for kind, places in WRONG_PLACES.items() for place in places]
)
def test_a_place_that_cannot_be_is_refused_where_it_is_written(tmp_path, kind, place):
    good = {"SERIAL": "device: /dev/ttyS1", "SHM": "memory: a", "MQTT": "topic: a"}
    key = WRONG_PLACES[kind][place]
    with pytest.raises(DiagramError) as error:
        load(tmp_path, kind, place, good.get(kind, "port: 5005"))
    (fault,) = error.value.faults
    assert fault.message.startswith(f"sensors ({kind}_IN): {key}")
    assert fault.place.line == 6 + place.count("\n")
