"""Controllers of ros2_control: their interfaces, and the files of their packages."""

import json
import re
from xml.etree import ElementTree as ET

import pytest
import yaml
from controller_hosts import JOINTS, PID, written

from spart_blocks.base.errors import InputError
from spart_blocks.export import controller_files
from spart_blocks.export.ros2_control.plan import RESERVED, ros_names


def test_the_package_has_what_colcon_and_pluginlib_read(tmp_path):
    _, code, plan = written(tmp_path, f"{PID}export: {{part: pid}}\n")
    files = controller_files(plan)
    package = ET.fromstring(files["package.xml"])
    depends = [one.text for one in package.findall("depend")]
    assert package.findtext("name") == plan.package == "arm_pid"
    assert package.findtext("export/build_type") == "ament_cmake"
    library = ET.fromstring(files["arm_pid.xml"])
    assert library.get("path") == "arm_pid"
    found = library.find("class")
    assert found.get("type") == "arm_pid::ArmPidController"
    assert found.get("base_class_type") == "controller_interface::ControllerInterface"
    cmake = files["CMakeLists.txt"]
    assert all(f"  {one}\n" in cmake for one in depends)
    assert "pluginlib_export_plugin_description_file(controller_interface arm_pid.xml)" in cmake
    included = re.findall(r'#include "(\w+)/', files["src/controller.cpp"])
    included += re.findall(r'#include "(\w+)/', files["include/arm_pid/controller.hpp"])
    assert set(included) <= {*depends, "arm_pid"}
    config = yaml.safe_load(files["config/arm_pid.yaml"])
    manager = config["controller_manager"]["ros__parameters"]
    assert manager == {"update_rate": 50, "arm_pid": {"type": found.get("name")}}
    given = config["arm_pid"]["ros__parameters"]
    assert given["update_rate"] == 50
    assert given["pid"]["kp"] == [30, 30, 15]
    for name in (f"{code.name}.c", f"{code.name}.h"):
        (text,) = (text for path, text in files.items() if path.endswith(f"/{name}"))
        assert text == code.files[name]
    assert not [line for text in files.values() for line in text.splitlines() if "TABLES" in line]


def test_all_that_is_not_known_is_told_at_once_with_what_to_write(tmp_path):
    text = PID.replace("pid -> plant.taum, torques", "pid -> half\n  - half -> plant.taum, torques")
    text = text.replace("  plant:", "  half: {type: GAIN, K: 0.5}\n  plant:")
    text = text.replace("plant.qm -> pid.qm", "plant.qm -> twice\n  - twice -> pid.qm")
    text = text.replace("  plant:", "  twice: {type: GAIN, K: 2}\n  plant:")
    with pytest.raises(InputError) as error:
        written(tmp_path, f"{text}export: {{part: pid}}\n")
    told = str(error.value)
    assert "which interface of the hardware is the input twice (3)?" in told
    assert "which interface of the hardware is the output pid.tau (3)?" in told
    assert "twice: [joint_1/position, joint_2/position, ...]" in told
    assert "pid.tau: [joint_1/effort, joint_2/effort, ...]" in told
    section = "{joints: [a, b, c], inputs: {twice: position}, outputs: {pid.tau: effort}}"
    _, _, plan = written(tmp_path, f"{text}export: {{part: pid, ros2_control: {section}}}\n")
    assert [row.name for row in plan.commands] == ["a/effort", "b/effort", "c/effort"]


def test_joints_of_other_signals_serve_where_the_interface_is_given(tmp_path):
    text = PID.replace("pid -> plant.taum, torques", "pid -> half\n  - half -> plant.taum, torques")
    text = text.replace("  plant:", "  half: {type: GAIN, K: 0.5}\n  plant:")
    section = "outputs: [goal], ros2_control: {outputs: {pid.tau: effort, goal: none}}"
    _, _, plan = written(tmp_path, f"{text}export: {{part: [pid, goal], {section}}}\n")
    assert [row.name for row in plan.commands] == [f"{joint}/effort" for joint in JOINTS]
    assert not plan.topics


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ("{outputs: {pid.tau: [a/effort]}}", "pid.tau (3 numbers) has 1 interface"),
        ("{outputs: {pid.tau: [a/e, a/e, b/e]}}", "two numbers are the command interface a/e"),
        ("{outputs: {plant.qm: position}}", "plant.qm is none of arm-pid"),
        ("{outputs: {pid.nothing: position}}", "no port 'nothing' on pid"),
        (
            "{outputs: {pid.tau: {interface: effort, safe: [1, 2]}}}",
            "safe of pid.tau has 2 numbers",
        ),
        ("{outputs: {pid.tau: a/effort}}", "'a/effort' is no interface"),
        ("{outputs: {pid.tau: [effort]}}", "'effort' is no full name of an interface"),
        ("{outputs: {pid.tau: {safe: 0}}}", "takes one of interface, interfaces, not none"),
        ("{inputs: {goal: {topic: 'a b'}}}", "'a b' is no topic"),
        ("{inputs: {goal: {topic: x, field: effort}}}", "field is an entry of inputs that come in"),
        (
            "{inputs: {goal: {value: 1, timeout: 1}}}",
            "timeout is an entry of inputs that come over",
        ),
        ("{inputs: {goal: {topic: x, initially: y}}}", "there is no input 'y'"),
        ("{outputs: {pid.tau: none}}", "no output of the controller is a command"),
        (
            "{outputs: {pid.tau: {interface: none, safe: 0}}}",
            "safe is an entry of outputs that are",
        ),
        ("{package: Arm}", "'Arm' cannot be the name of a package"),
        ("{package: rclcpp}", "package 'rclcpp' is a reserved name"),
        ("{maintainer: me}", "'me' is no maintainer"),
    ],
)
def test_a_section_that_is_wrong_is_refused_at_its_place(section, told, tmp_path):
    with pytest.raises(InputError, match=re.escape(told)) as error:
        written(tmp_path, f"{PID}export: {{part: pid, ros2_control: {section}}}\n")
    if told not in (
        "two numbers are the command interface a/e",
        "no output of the controller is a command",
    ):
        assert re.search(r"diagram.yaml:\d+:\d+: ", str(error.value))


def test_an_input_may_be_fixed(tmp_path):
    for value, numbers in (("start", {}), ("0.5", {0: 0.5, 1: 0.5, 2: 0.5})):
        section = f"{{inputs: {{goal: {{value: {value}}}}}}}"
        text = f"{PID}export: {{part: pid, ros2_control: {section}}}\n"
        _, _, plan = written(tmp_path, text)
        assert plan.values == numbers
        assert not plan.topics


def test_rates_that_are_no_whole_numbers_are_refused(tmp_path):
    text = PID.replace("rate: 50", "T: 0.03")
    with pytest.raises(InputError, match="a whole number of times a second"):
        written(tmp_path, f"{text}export: {{part: pid}}\n")


def test_safe_commands_come_from_the_links_of_the_diagram(tmp_path):
    text = PID.replace("pid -> plant.taum, torques", "pid -> out.tau\n  - out.tau -> plant.taum")
    link = "{type: UDP_OUT, port: 9, frame: {fields: {tau: 3 f64}}, safe: {tau: [1, 2, 3]}}"
    text = text.replace("  plant:", f"  out: {link}\n  plant:").replace(
        "  torques: {type: SCOPE}\n", ""
    )
    section = "{joints: [a, b, c], outputs: {pid.tau: effort}}"
    _, _, plan = written(tmp_path, f"{text}export: {{part: pid, ros2_control: {section}}}\n")
    assert [row.safe for row in plan.commands] == [1, 2, 3]


def test_names_of_parameters_are_valid_and_apart():
    names = ["left/pd.kp", "left/pd kp", "update_rate", "a", "a.b", "ä", "type.x", "", *RESERVED]
    found = ros_names(names)
    assert found[:2] == ["left.pd.kp", "left.pd_kp"]
    assert len(set(found)) == len(found)
    for one in found:
        assert re.fullmatch(r"\w+(\.\w+)*", one, re.ASCII)
        assert one.split(".")[0] not in RESERVED
        assert not [other for other in found if other.startswith(f"{one}.")]


def test_a_second_export_removes_what_is_no_longer_written(tmp_path):
    folder = tmp_path / "package"
    text = f"{PID}export: {{part: pid, ros2_control: {{package: NAME}}}}\n"
    written(tmp_path, text.replace("NAME", "first_one"))
    (folder / "include/first_one/mine.hpp").write_text("mine")
    written(tmp_path, text.replace("NAME", "second"))
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert "include/first_one/mine.hpp" in found
    assert not {"first_one.xml", "config/first_one.yaml"} & found
    assert "include/first_one/controller.hpp" not in found
    listed = json.loads((folder / ".spart-export.json").read_text())["files"]
    assert found - set(listed) == {"include/first_one/mine.hpp", ".spart-export.json"}
