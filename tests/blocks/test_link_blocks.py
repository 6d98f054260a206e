"""UDP_IN and UDP_OUT in a diagram: wires with names, and mistakes."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError
from spart_blocks.diagram import new_diagram
from spart_blocks.transports.frames import read_frame

LOOP = """
name: loop
blocks:
  error: {type: SUM, signs: +-}
  qd: {type: STEP, T: 0.2, on: [1.0, -1.0]}
  ctrl: {type: GAIN, K: 4.0}
  plant: {type: INTEGRATOR, x0: [0.5, 0.0]}
LINKS
wires:
  - qd -> error.0
  - SENSORS -> error.1
  - error -> ctrl
  - TORQUES -> plant
WIRES
run: {T: 1, log: [plant]}
"""
LINKS = """
  sensors:
    type: UDP_IN
    port: 5005
    frame: {fields: {q: 2 f64, flag: u8}, sequence: u32, checksum: crc16}
  actuators:
    type: UDP_OUT
    port: 5006
    frame: {endian: big, fields: {tau: 2 f32}}
    safe: {tau: 0}
"""
FRAME = {"fields": {"q": "2 f64", "flag": "u8"}}


def loop(tmp_path, *, linked):
    text = LOOP
    pairs = {
        "LINKS": LINKS if linked else "",
        "SENSORS": "sensors.q" if linked else "plant",
        "TORQUES": "actuators.tau" if linked else "ctrl",
        "WIRES": "  - plant -> sensors.q\n  - ctrl -> actuators.tau" if linked else "",
    }
    for word, value in pairs.items():
        text = text.replace(word, value)
    path = tmp_path / f"loop{linked}.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_simulation_with_links_equals_the_one_without(tmp_path, engine):
    with_links, without = (
        sb.simulate(loop(tmp_path, linked=linked), engine=engine) for linked in (True, False)
    )
    np.testing.assert_array_equal(with_links["plant"], without["plant"])


def test_ports_are_the_fields_and_a_field_without_a_count_is_a_scalar():
    bd = new_diagram("d")
    block = bd.UDP_IN(5005, FRAME, name="sensors")
    assert [(port.name, port.shape, port.optional) for port in block.in_ports] == [
        ("q", (2,), True),
        ("flag", (), True),
    ]
    assert [(port.name, port.shape) for port in block.out_ports] == [("q", (2,)), ("flag", ())]
    block = bd.UDP_OUT(5005, FRAME, name="actuators")
    assert not any(port.optional for port in block.in_ports)


def test_ports_of_a_message_are_its_rows_of_numbers():
    bd = new_diagram("d")
    block = bd.ROS_IN("cmd_vel", "geometry_msgs/Twist", name="command")
    assert [(port.name, port.shape, port.optional) for port in block.in_ports] == [
        ("linear", (3,), True),
        ("angular", (3,), True),
    ]
    names = {"joints": ["a", "b"], "fields": {"q": "position", "t": "header.stamp.sec"}}
    block = bd.ROS_OUT("joint_states", "sensor_msgs/JointState", **names, name="states")
    assert [(port.name, port.shape) for port in block.out_ports] == [("q", (2,)), ("t", ())]


def test_a_field_that_no_wire_reaches_is_zeros(tmp_path):
    path = tmp_path / "d.yaml"
    path.write_text("""
blocks:
  sensors: {type: UDP_IN, port: 5005, frame: {fields: {q: 2 f64, flag: u8}}}
  twice: {type: GAIN, K: 2}
wires: [sensors.q -> twice]
run: {T: 0.1, log: [sensors.flag, twice]}
""")
    results = sb.simulate(path)
    assert not results["twice"].any()
    assert results["twice"].shape[1:] == (2,)
    assert not results["sensors.flag"].any()


# --- mistakes -----------------------------------------------------------------------------

# A value of a key -> line and column of the complaint, and what it says.
MISTAKES = {
    "frame": {
        "7": (5, 12, "frame is a mapping"),
        "{}": (5, 12, "frame.fields: a frame needs fields"),
        "{fields: {}}": (5, 21, "a frame needs fields"),
        "{fields: {q: 2 f65}}": (5, 25, "there is no type 'f65'"),
        "{fields: {q: f64 2}}": (5, 25, "is no field"),
        "{fields: {q: 0 f64}}": (5, 25, "has no numbers"),
        "{fields: {q: 185 f64}}": (5, 21, "at most 1472 bytes, this one 1480"),
        "{fields: {q: 9999999 f64}}": (5, 25, "is no field"),
        "{fields: {q r: f64}}": (5, 21, "is not a valid field name"),
        "{fields: {name: f64}}": (5, 28, "no port can be called 'name'"),
        "{fields: {q: f64}, endian: huge}": (5, 39, "little or big"),
        "{fields: {q: f64}, sequence: u64}": (5, 41, "u8 or u16 or u32"),
        "{fields: {q: f64}, time: f32}": (5, 37, "frame.time is f64"),
        "{fields: {q: f64}, checksum: md5}": (5, 41, "crc16 or crc32"),
        "{fields: {q: f64}, header: 0xA55A}": (5, 39, "1 to 16 bytes"),
        "{fields: {q: f64}, header: '0xA55'}": (5, 39, "1 to 16 bytes"),
        "{fields: {q: f64}, header: [1, 256]}": (5, 39, "1 to 16 bytes"),
        "{fields: {q: f64}, heder: [1]}": (5, 38, "a frame has no 'heder'"),
    },
    "port": {
        "0": (4, 11, "port must be 1 to 65535"),
        "65536": (4, 11, "port must be 1 to 65535"),
        "1.5": (4, 11, "whole number"),
    },
    "address": {
        "example.com": (6, 14, "address must be an IP address"),
        "1.2.3": (6, 14, "address must be an IP address"),
    },
    "timeout": {
        "0": (7, 14, "timeout must be above 0"),
        ".inf": (7, 14, "at most 3600 s"),
    },
    "safe": {
        "{q: [1, 2, 3]}": (8, 15, "takes a number, or 2 of them, not 3"),
        "{q: .nan}": (8, 15, "finite"),
        "{z: 1}": (8, 11, "safe gives no value for q"),
        "{q: 0, z: 1}": (8, 21, "there is no field 'z'"),
        "[1, 2]": (8, 11, "values by field"),
    },
}
GOOD = {
    "port": "5005",
    "frame": "{fields: {q: 2 f64}}",
    "address": "127.0.0.1",
    "timeout": "0.1",
    "safe": "{q: 0}",
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in MISTAKES.items() for value in values]
)
def test_a_mistake_is_reported_where_it_is_written(tmp_path, key, value):
    line, column, text = MISTAKES[key][value]
    given = "\n".join(f"    {k}: {v}" for k, v in {**GOOD, key: value}.items())
    path = tmp_path / "d.yaml"
    path.write_text(f"blocks:\n  a:\n    type: UDP_OUT\n{given}\n")
    with pytest.raises(DiagramError) as error:
        sb.load(path)
    own = [fault for fault in error.value.faults if "has no wire" not in fault.message]
    assert text in own[0].message
    assert (own[0].place.line, own[0].place.column) == (line, column)


def test_all_mistakes_of_a_frame_are_told_at_once():
    with pytest.raises(InputError) as error:
        read_frame({"endian": "huge", "sequence": "u64", "fields": {"a": "f1", "b": 3}})
    assert len(error.value.faults) == 4


@pytest.mark.parametrize(
    ("given", "numbers"),
    [(0, (0, 0, 0)), ({"q": [1, 2], "flag": 3}, (1, 2, 3)), ({"q": 1, "flag": 2}, (1, 1, 2))],
)
def test_safe_values_fill_their_fields(given, numbers):
    block = new_diagram("d").UDP_OUT(5006, FRAME, safe=given, name="out")
    assert block.link.safe == numbers


def test_without_declared_safe_values_there_are_none():
    assert new_diagram("d").UDP_OUT(5006, FRAME, name="out").link.safe is None


def test_links_stay_on_this_machine_unless_told_otherwise():
    bd = new_diagram("d")
    assert bd.UDP_IN(5006, FRAME, name="a").link.endpoint.address == "127.0.0.1"
    assert bd.UDP_OUT(5006, FRAME, name="b").link.endpoint.address == "127.0.0.1"
    assert bd.UDP_IN(5006, FRAME, "0.0.0.0", name="c").link.endpoint.address == "0.0.0.0"
