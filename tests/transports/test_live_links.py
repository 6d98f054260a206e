"""Which links of a diagram a part has, what of a frame is the part's, and their sockets."""

from __future__ import annotations

import socket
import subprocess

import numpy as np
import pytest
from free_ports import free_ports

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.export import live_links
from spart_blocks.export.exported_links import FrameSlice, link_initialisers
from spart_blocks.export.loaded import STRICT
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime.link_structs import decode, encode, frame_struct
from spart_blocks.realtime.links import open_links

HEAD = """
name: loop
blocks:
  sensors: {type: UDP_IN, port: 1001, frame: {fields: {on: u8, q: 3 f64}, sequence: u8}, timeout: 0.5}
  actuators: {type: UDP_OUT, port: 1002, frame: {fields: {tau: 3 f64, mode: u8}}, safe: {tau: 9, mode: 1}}
  plant: {type: INTEGRATOR, x0: [1, 2, 3]}
"""  # noqa: E501
PLAIN = (
    HEAD
    + """
  ctrl: {type: GAIN, K: -2}
  four: {type: CONSTANT, value: 4.0}
wires:
  - plant -> sensors.q
  - sensors.q -> ctrl
  - ctrl -> actuators.tau
  - four -> actuators.mode
  - actuators.tau -> plant
"""
)
PICKED = (
    HEAD
    + """
  one: {type: GAIN, K: 1}
  two: {type: GAIN, K: 2}
  both: {type: MUX}
  four: {type: CONSTANT, value: 4.0}
wires:
  - plant -> sensors.q
  - sensors.q[1:3] -> one
  - sensors.q[0] -> two
  - two -> both
  - one -> both
  - both -> actuators.tau
  - four -> actuators.mode
  - actuators.tau -> plant
"""
)


@pytest.fixture
def ports():
    """Two ports on loopback that are free."""
    return free_ports(2)


@pytest.fixture
def diagram(tmp_path, ports):
    """diagram(text): loaded, with free ports."""

    def make(text):
        path = tmp_path / "loop.yaml"
        path.write_text(text.replace("1001", str(ports[0])).replace("1002", str(ports[1])))
        return sb.load(path)

    return make


def found(diagram, *blocks):
    links = live_links(diagram, subdiagram_of(diagram, blocks))
    return {link.name: (link.way, link.runs) for link in links}


def test_the_controller_receives_sensors_and_sends_to_actuators(diagram):
    # Numbers of the sensors' frame: on 0, q 1 to 3; u is q. Of the actuators': tau 0 to 2.
    assert found(diagram(PLAIN), "ctrl") == {
        "sensors": ("receive", (FrameSlice(1, 0, 3),)),
        "actuators": ("send", (FrameSlice(0, 0, 3),)),
    }


def test_the_plant_of_the_same_file_mirrors_it(diagram):
    assert found(diagram(PLAIN), "plant") == {
        "sensors": ("send", (FrameSlice(1, 0, 3),)),
        "actuators": ("receive", (FrameSlice(0, 0, 3),)),
    }


@pytest.mark.parametrize("blocks", [("ctrl", "sensors"), ("ctrl", "actuators", "sensors")])
def test_naming_the_link_blocks_makes_no_difference(diagram, blocks):
    loaded = diagram(PLAIN)
    assert found(loaded, *blocks) == found(loaded, "ctrl")


def test_the_whole_diagram_has_no_live_links(diagram):
    assert found(diagram(PLAIN)) == {}


def test_a_link_block_that_leads_nowhere_is_live_for_the_whole_diagram(diagram):
    text = PLAIN.replace("  - actuators.tau -> plant\n", "  - ctrl -> plant\n")
    assert found(diagram(text)) == {"actuators": ("send", (FrameSlice(0, 0, 4),))}


def test_numbers_are_followed_through_slices_and_muxes(diagram):
    loaded = diagram(PICKED)
    part = subdiagram_of(loaded, ("one", "two"))
    sensors, actuators = live_links(loaded, part)
    assert [slot.name for slot in part.inputs] == ["sensors.q"]  # whole, for both read of it
    assert sensors.runs == (FrameSlice(1, 0, 3),)
    (alone,) = subdiagram_of(loaded, ("one",)).inputs
    assert alone.name == "sensors.q[1:3]"
    assert found(loaded, "one")["sensors"] == ("receive", (FrameSlice(2, 0, 2),))
    # Outputs are an array in the order of the part; the frame's is that of the file.
    order = [slot.name for slot in part.outputs]
    sent = {r.number + k: r.place + k for r in actuators.runs for k in range(r.count)}
    first = {"two": 0 if order[0] == "two" else 2, "one": 0 if order[0] == "one" else 1}
    assert sent == {0: first["two"], 1: first["one"], 2: first["one"] + 1}


def test_a_part_that_reads_what_it_feeds_through_a_link_is_told_so(diagram):
    text = PLAIN.replace("four: {", "watch: {type: GAIN, K: 1}\n  four: {")
    loaded = diagram(text + "  - actuators.tau -> watch\n")
    with pytest.raises(InputError, match="feeds actuators, and reads it as well"):
        found(loaded, "ctrl", "watch")


def test_diagrams_without_links_have_none():
    assert found(sb.load("diagrams/spacecraft_pd.yaml"), "ctrl") == {}


# --- open ---------------------------------------------------------------------------------


def test_plant_and_controller_exchange_numbers_over_udp(diagram):
    loaded = diagram(PLAIN)
    with (
        open_links(loaded, subdiagram_of(loaded, ["plant"])) as plant,
        open_links(loaded, subdiagram_of(loaded, ["ctrl"])) as ctrl,
    ):
        u = np.zeros(3)
        assert plant.senders[0].send(1.0, np.array([0.1, 0.2, 0.3]))
        assert ctrl.receivers[0].receive(1.0, u)
        np.testing.assert_array_equal(u, [0.1, 0.2, 0.3])
        assert not ctrl.receivers[0].stale(1.5)
        assert ctrl.receivers[0].stale(1.51)
        assert ctrl.counts()["sensors"]["received"] == 1
        assert plant.counts()["sensors"]["sent"] == 1
        assert ctrl.receivers[0].places == (0, 1, 2)


@pytest.mark.parametrize("wrong", [np.zeros(2), np.zeros(3, np.float32), np.zeros(6)[::2]])
def test_arrays_that_are_not_those_of_the_part_are_refused(diagram, wrong):
    loaded = diagram(PLAIN)
    with open_links(loaded, subdiagram_of(loaded, ["ctrl"])) as links:
        with pytest.raises(ValueError, match="inputs of its subdiagram"):
            links.receivers[0].receive(1.0, wrong)
        with pytest.raises(ValueError, match="outputs of its subdiagram"):
            links.senders[0].send(1.0, wrong)


def test_what_the_part_does_not_give_is_sent_as_its_safe_value(diagram, ports):
    loaded = diagram(PLAIN)
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far,
        open_links(loaded, subdiagram_of(loaded, ["ctrl"])) as links,
    ):
        far.bind(("127.0.0.1", ports[1]))
        sender = links.senders[0]
        assert sender.send(1.0, np.array([1.0, 2.0, 3.0]))
        values = decode(sender.live.link.frame, far.recv(100))
        np.testing.assert_array_equal(values["tau"], [1, 2, 3])
        assert values["mode"] == 1.0


def test_the_safe_frame_is_what_c_sends(diagram, ports):
    loaded = diagram(PLAIN)
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far,
        open_links(loaded, subdiagram_of(loaded, ["ctrl"])) as links,
    ):
        far.bind(("127.0.0.1", ports[1]))
        assert links.senders[0].send(1.0, np.full(3, np.nan))
        data = far.recv(100)
        assert data == links.senders[0].safe_frame(0)
        frame = links.senders[0].live.link.frame
        assert data == encode(frame, {"tau": [9, 9, 9], "mode": 1})


def test_a_port_that_is_taken_is_reported_at_its_block(diagram):
    loaded = diagram(PLAIN)
    part = subdiagram_of(loaded, ["ctrl"])
    with open_links(loaded, part), pytest.raises(InputError, match="is in use") as error:
        open_links(loaded, part)
    assert error.value.faults[0].place.line == 4
    open_links(loaded, part).close()


def test_an_address_of_another_machine_cannot_be_received_at(diagram):
    # 192.0.2.1 is of TEST-NET-1 (RFC 5737), which no machine has.
    loaded = diagram(PLAIN.replace("timeout: 0.5", "timeout: 0.5, address: 192.0.2.1"))
    with pytest.raises(InputError, match="not an address of this machine"):
        open_links(loaded, subdiagram_of(loaded, ["ctrl"]))


def test_other_programs_cannot_listen_where_a_part_receives(diagram, ports):
    loaded = diagram(PLAIN)
    with (
        open_links(loaded, subdiagram_of(loaded, ["ctrl"])),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", ports[0]))


def test_sending_where_nobody_listens_is_counted_and_goes_on(diagram, ports):
    loaded = diagram(PLAIN)
    with open_links(loaded, subdiagram_of(loaded, ["ctrl"])) as links:
        sender, y = links.senders[0], np.zeros(3)
        assert all(sender.send(1.0, y) for _ in range(5))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far:
            far.bind(("127.0.0.1", ports[1]))
            assert sender.send(1.0, y)
            assert far.recv(100), "the first frame after the other side came is not lost"


def test_after_a_flood_one_call_reads_all_that_the_socket_kept(diagram, ports):
    loaded = diagram(PLAIN)
    with (
        open_links(loaded, subdiagram_of(loaded, ["ctrl"])) as links,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far,
    ):
        far.connect(("127.0.0.1", ports[0]))
        for k in range(5000):
            far.send(b"x" * (100 + k % 1300))
        receiver, u = links.receivers[0], np.zeros(3)
        receiver.receive(1.0, u)
        counted = receiver.counts()["malformed"]
        assert 0 < counted < 256
        receiver.receive(1.0, u)
        assert receiver.counts()["malformed"] == counted
        far.send(encode(receiver.live.link.frame, {"on": 1, "q": [1, 2, 3]}))
        assert receiver.receive(1.0, u)


def test_what_came_before_the_loop_began_is_not_counted(diagram, ports):
    loaded = diagram(PLAIN)
    with (
        open_links(loaded, subdiagram_of(loaded, ["ctrl"])) as links,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far,
    ):
        far.connect(("127.0.0.1", ports[0]))
        frame, u = links.receivers[0].live.link.frame, np.zeros(3)
        for k in range(1000):  # more than the socket holds
            far.send(encode(frame, {"on": 1, "q": [k, k, k]}, k % 256))
        links.discard()
        assert not links.receivers[0].receive(1.0, u)
        for k in (1000, 1001):
            far.send(encode(frame, {"on": 1, "q": [k, k, k]}, k % 256))
        assert links.receivers[0].receive(1.0, u)
        assert u.tolist() == [1001.0] * 3
        counts = links.counts()["sensors"]
        assert (counts["received"], counts["lost"], counts["old"]) == (2, 0, 0)


# --- in C ---------------------------------------------------------------------------------


def test_the_tables_of_c_are_the_structs_of_python(diagram, tmp_path):
    loaded = diagram(PICKED)
    links = live_links(loaded, subdiagram_of(loaded, ["one", "two"]))
    names = [f"demo_frame_{k}" for k in range(len(links))]
    program = ['#include <stdio.h>\n#include "sb_link.h"', link_initialisers(links, "demo")]
    program.append(
        "static void show(const sb_frame *f) {"
        ' printf("%d %d %d %d %d %d %d", f->size, f->big_endian, f->header_size,'
        " f->sequence_size, f->has_time, (int)f->checksum, f->fields_count);"
        " for (int k = 0; k < f->fields_count; k++)"
        ' printf(" %d %d %d %d %d", (int)f->fields[k].type, f->fields[k].count,'
        " f->fields[k].offset, f->fields[k].place, f->fields[k].first);"
        ' printf("\\n"); }'
    )
    calls = " ".join(f"show(&{name});" for name in names)
    program.append(f"int main(void) {{ {calls} return (int)demo_safe_1[0] - 9; }}")
    (tmp_path / "show.c").write_text("\n".join(program))
    folder = f"-I{sb.__path__[0]}/export/c"
    subprocess.run(["cc", *STRICT, folder, "show.c", "-o", "show"], cwd=tmp_path, check=True)
    shown = subprocess.run([tmp_path / "show"], capture_output=True, text=True, check=True).stdout
    for line, link in zip(shown.splitlines(), links, strict=True):
        f = frame_struct(link.link.frame, link.fields())
        want = [f.size, f.big_endian, f.header_size, f.sequence_size, f.has_time, f.checksum]
        want.append(f.fields_count)
        for k in range(f.fields_count):
            row = f.fields[k]
            want += [row.type, row.count, row.offset, row.place, row.first]
        assert list(map(int, line.split())) == want
