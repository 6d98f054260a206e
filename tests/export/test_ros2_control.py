"""Controllers of ros2_control: they compile against stubs of ROS 2, and run as their steps do."""

import json
import math
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import yaml
from controller_hosts import VERSIONS, Hosted, built_host, built_plugin, package_name

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.export import (
    controller_files,
    plan_of,
    recorded_inputs,
    step_code,
    write_package,
)
from spart_blocks.export.loaded import LoadedStep
from spart_blocks.export.ros2_control.plan import RESERVED, ros_names
from spart_blocks.program.subdiagram import subdiagram_of

MODEL = Path(__file__).parents[2] / "models" / "spacecraft_3dof.urdf"
JOINTS = ("Joint_1", "Joint_2", "Joint_3")
PID = f"""
name: arm
robots:
  sc: {{urdf: {MODEL.name}, base: floating}}
clocks:
  computer: {{rate: 50}}
blocks:
  goal: {{type: STEP, T: 0.1, off: 0, on: [0.5, -0.3, 0.2]}}
  pid: {{type: JOINT_PID_S, clock: computer, kp: [30, 30, 15], ki: 15, kd: [15, 15, 6], N: 50}}
  plant: {{type: MULTIBODY, robot: sc}}
  torques: {{type: SCOPE}}
wires:
  - goal -> pid.qd
  - plant.qm -> pid.qm
  - pid -> plant.taum, torques
run: {{T: 1}}
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hosts")
    made = {}

    def host(version):
        if version not in made:
            made[version] = built_host(version, folder)
        return made[version]

    return host


def written(folder, text, **options):
    """The diagram of a text, and the code and package of its part."""
    folder.mkdir(exist_ok=True)
    shutil.copy(MODEL, folder)
    path = folder / "diagram.yaml"
    path.write_text(text)
    diagram = sb.load(path)
    code = step_code(subdiagram_of(diagram), **options)
    plan = plan_of(diagram, code)
    write_package(controller_files(plan), folder / "package")
    return diagram, code, plan


@pytest.fixture(scope="module")
def pid(tmp_path_factory):
    """A sampled PID controller with a safe command, its code and plan, and its plugins."""
    folder = tmp_path_factory.mktemp("pid")
    section = "{outputs: {pid.tau: {interface: effort, safe: [0, 0.5, 0]}}}"
    text = f"{PID}export: {{part: pid, bounds: {{pid.kp: [0, 400]}}, ros2_control: {section}}}\n"
    diagram, code, plan = written(folder, text)
    plugins = {}

    def plugin(version):
        if version not in plugins:
            plugins[version] = built_plugin(version, folder / "package", code.name, folder)
        return plugins[version]

    return diagram, code, plan, plugin


@pytest.fixture(scope="module")
def hosted(hosts, pid):
    """The PID controller in a host of Jazzy, not yet initialised."""
    return lambda version="jazzy": Hosted(hosts(version), pid[3](version))


def measured(one, *values):
    one.ask("measure", *map(float, values))


@pytest.mark.parametrize("version", VERSIONS)
def test_commands_have_the_bits_of_the_step_and_are_those_of_the_diagram(version, pid, hosted):
    diagram, code, _plan, _ = pid
    inputs = recorded_inputs(diagram, code, 0.6)
    step = LoadedStep(code)
    results = sb.simulate(diagram, T=0.6, every=0.02, log=["pid.tau"])
    at = np.searchsorted(results.t, [code.schedule.time(k) - 1e-4 for k in range(len(inputs))])
    names = [member.name for member in code.interface.inputs]
    assert names == ["goal", "plant.qm"]
    with hosted(version) as one:
        one.started(50)
        for k, row in enumerate(inputs):
            assert one.ask("array", "~/goal", *row[:3].tolist()) == "1"
            measured(one, *row[3:])
            found = one.update()
            step.u[: len(row)] = row
            status, expected = step.output()
            step.update()
            assert status == 0
            assert found.ok
            assert found.costs == 0
            assert found.commands == expected.tolist()
            assert found.commands == pytest.approx(results["pid.tau"][at[k]], rel=1e-12, abs=1e-12)
        assert np.ptp([row[3] for row in inputs]) > 0.1
        assert not one.logs


def test_interfaces_are_the_joints_of_the_diagram(hosted):
    with hosted() as one:
        one.started(50)
        found = [side.split("\t") for side in one.ask("interfaces").strip("\t").split("\t\t")]
    positions = [f"{joint}/position" for joint in JOINTS]
    assert found == [positions, [f"{joint}/effort" for joint in JOINTS]]


def test_nothing_is_commanded_before_the_first_reference(hosted):
    with hosted() as one:
        one.started(50)
        measured(one, 1, 2, 3)
        for _ in range(3):
            found = one.update()
            assert found.ok
            assert found.commands == [0, 0, 0]
        one.ask("array", "~/goal", 0, 0, 0)
        assert one.update().commands != [0, 0, 0]


def test_references_of_before_the_activation_are_not_used(hosted):
    with hosted() as one:
        one.started(50)
        one.ask("array", "~/goal", 1, 1, 1)
        assert one.ask("deactivate") == "success"
        assert one.ask("activate") == "success"
        assert one.update().commands == [0, 0.5, 0]  # the safe ones of the deactivation


@pytest.mark.parametrize("rate", [0, 49, 100])
def test_another_rate_is_refused_with_what_to_set(hosted, rate):
    with hosted() as one:
        one.ask("rate", rate)
        assert one.ask("init") == "success"
        assert one.ask("configure") == "error"
    (said,) = one.logs
    assert f"its step is for 50 Hz, its update_rate is {rate}: set update_rate: 50" in said
    assert "50 or a multiple of it among those of the controller_manager" in said


def test_parameters_of_the_file_and_whole_numbers_are_taken_in_both_versions(hosted):
    for version in VERSIONS:
        with hosted(version) as one:
            one.started(50, pid__kp="integers 1 2 3", pid__ki="double 0")
            one.ask("array", "~/goal", 1, 1, 1)
            first = one.update().commands
        with hosted(version) as one:
            one.started(50, pid__ki="double 0")
            assert one.ask("set", "pid.kp", "array", 1, 2, 3) == "1 "
            one.ask("array", "~/goal", 1, 1, 1)
            assert one.update().commands == first


def test_a_parameter_changes_while_it_runs_within_its_bounds(hosted):
    with hosted() as one:
        one.started(50, pid__ki="integer 0", pid__kd="array 0 0 0")
        one.ask("array", "~/goal", 1, 1, 1)
        assert one.update().commands == [30, 30, 15]
        assert one.ask("set", "pid.kp", "array", 10, 20, 400) == "1 "
        found = one.update()
        assert found.commands == [10, 20, 400]
        assert found.costs == 0
        for values, told in (
            ((1, 1, 401.0), "pid.kp is from 0 to 400, not 401"),
            ((1, math.nan, 1), "pid.kp is from 0 to 400, not nan"),
            ((1, 1), "pid.kp takes 3 numbers"),
        ):
            assert one.ask("set", "pid.kp", "array", *values).startswith(f"0 {told}")
            assert one.update().commands == [10, 20, 400]


def test_a_parameter_file_out_of_bounds_stops_the_initialisation(hosted):
    for version in VERSIONS:
        with hosted(version) as one:
            one.ask("override", "pid.kp", "array", 1, -1, 1)
            assert one.ask("init") == "error"
        assert one.logs == ["error pid.kp is from 0 to 400, not -1"]


def test_parameters_are_described_with_their_bounds(hosted):
    for version in VERSIONS:
        with hosted(version) as one:
            one.started(50, pid__N="double 20")
            assert one.ask("describe", "pid.kp") == "pid.kp|from 0 to 400"
            text, constraint, low, high = one.ask("describe", "pid.N").split("|")
            assert text == "pid.N"
            assert constraint.startswith("at least ")
            assert 0 < float(low) < 1e-30
            assert float(high) > 1e30


def test_a_measurement_that_is_no_number_ends_it_with_the_safe_command(hosted):
    with hosted() as one:
        one.started(50)
        one.ask("array", "~/goal", 1, 1, 1)
        assert one.update().ok
        measured(one, 0, math.nan, 0)
        found = one.update()
        assert not found.ok
        assert found.commands == [0, 0.5, 0]
        assert found.costs > 0  # of the one log
        measured(one, 0, 0, 0)
        assert not one.update().ok
        (said,) = one.logs
        assert "at 0.02 s: state interface Joint_2/position is not a number" in said
        one.ask("deactivate")
        one.ask("activate")
        one.ask("array", "~/goal", 1, 1, 1)
        assert one.update().ok


def test_bad_messages_are_told_and_ignored(hosted):
    with hosted() as one:
        one.started(50)
        for values in ((), (1, 2), (1, 2, 3, 4), (1, math.nan, 3), (1, 2, math.inf)):
            one.ask("array", "~/goal", *values)
        assert one.update().commands == [0, 0, 0]
        assert len(one.logs) == 5
        assert all("a message on ~/goal is ignored" in said for said in one.logs)


def test_an_interface_that_another_thread_holds_keeps_its_value_and_is_counted(hosted):
    with hosted() as one:
        one.started(50)
        one.ask("array", "~/goal", 1, 1, 1)
        before = one.update().commands
        one.ask("hold")
        measured(one, 9, 9, 9)
        assert one.update().commands == before
        one.ask("release")
        one.ask("deactivate")
    assert one.logs == ["warning interfaces held by others: 3 values not read, 3 not written"]


def test_an_interface_that_is_not_given_is_named(hosted):
    with hosted() as one:
        one.ask("rate", 50)
        for verb in ("init", "configure"):
            assert one.ask(verb) == "success"
        assert one.ask("activate", "without-one") == "error"
    assert one.logs == ["error the controller manager gave no interface Joint_1/position"]


def test_names_of_interfaces_are_parameters(hosted):
    names = [f"left_{joint}/position" for joint in JOINTS]
    with hosted() as one:
        one.started(50, state_interfaces=f"texts {' '.join(names)}")
        assert one.ask("interfaces").split("\t")[:3] == names
    with hosted() as one:
        one.ask("rate", 50)
        one.ask("override", "state_interfaces", "texts a/position")
        assert one.ask("init") == "success"
        assert one.ask("configure") == "error"
    assert one.logs == ["error it takes 3 state_interfaces and 3 command_interfaces, not 1 and 3"]


# --- references -----------------------------------------------------------------------------------

FLOATS = f"""
name: hostile
robots:
  sc: {{urdf: {MODEL.name}, base: floating}}
params: {{update_rate: 2.5}}
blocks:
  "class": {{type: STEP, T: 0.1, off: 0, on: [0.5, -0.3, 0.2]}}
  "new": {{type: JOINT_PD, kp: $update_rate, kd: $update_rate}}
  plant: {{type: MULTIBODY, robot: sc}}
wires:
  - class -> new.qd
  - plant.qm -> new.qm
  - plant.um -> new.um
  - new -> plant.taum
run: {{T: 1}}
export:
  part: new
  name: operator
  rate: 200
  precision: float
  ros2_control:
    joints: ['a "quoted" \\ joint', 'zwei|Ö??/', three]
    inputs:
      class: {{topic: /arm/goal, message: JointState, initially: plant.qm, timeout: 0.02}}
      plant.um: [b/velocity, c/velocity, d/w]
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, hosts):
    """A controller in single precision whose names are no C++ identifiers, in a host."""
    folder = tmp_path_factory.mktemp("hostile")
    _, code, plan = written(folder, FLOATS, rate=200, real="float")
    plugin = built_plugin("jazzy", folder / "package", code.name, folder)
    return code, plan, lambda: Hosted(hosts("jazzy"), plugin), folder / "package"


def test_hostile_names_reach_ros_as_they_are(hostile):
    code, plan, host, package = hostile
    joints = ['a "quoted" \\ joint', "zwei|Ö??/", "three"]
    with host() as one:
        assert one.ask("name") == f"{package_name(package)}::{plan.class_name}"
        one.started(200)
        states, _, commands = one.ask("interfaces").partition("\t\t")
        names = one.ask("parameters").split("\t")
    positions = [f"{joint}/position" for joint in joints]
    assert states.split("\t") == [*positions, "b/velocity", "c/velocity", "d/w"]
    assert commands.strip("\t").split("\t") == [f"{joint}/effort" for joint in joints]
    assert {"update_rate_"} <= set(names)
    assert code.name == "operator_"
    assert package_name(package) == "operator_controller"
    config = yaml.safe_load((package / "config/operator_controller.yaml").read_text())
    given = config["operator_controller"]["ros__parameters"]
    assert given["state_interfaces"] == [*positions, "b/velocity", "c/velocity", "d/w"]
    assert given["update_rate_"] == 2.5


def test_single_precision_gives_the_bits_of_the_step(hostile):
    code, _, host, _ = hostile
    step = LoadedStep(code)
    q, rates, _goal = [0.1, 0.2, 0.3], [0.7, 0.8, 0.9], [0.4, 0.5, 0.6]
    with host() as one:
        one.started(200)
        one.ask("joints", "/arm/goal", 4, "three", "x", "zwei|Ö??/", "y", *map(float, range(8)))
        assert 'has no finite number for a "quoted" \\ joint' in one.logs.pop()
        measured(one, *q, *rates)
        # Until a message comes, the goal is the position at activation.
        held = one.update().commands
        step.u[:9] = [*q, *q, *rates]
        assert held == step.output()[1].tolist()


def test_a_reference_that_is_late_ends_it(hostile):
    _, _, host, _ = hostile
    with host() as one:
        one.started(200)
        found = [one.update().ok for _ in range(7)]
    assert found == [True] * 5 + [False] * 2
    assert "no message came in time on /arm/goal" in one.logs[0]
    assert len(one.logs) == 1


# --- what is written ------------------------------------------------------------------------------


def test_the_package_has_what_colcon_and_pluginlib_read(pid, tmp_path):
    _, code, plan, _ = pid
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
        ("{package: Arm}", "'Arm' cannot be the name of a package"),
        ("{package: rclcpp}", "package 'rclcpp' is a reserved name"),
        ("{maintainer: me}", "'me' is no maintainer"),
    ],
)
def test_a_section_that_is_wrong_is_refused_at_its_place(section, told, tmp_path):
    with pytest.raises(InputError, match=re.escape(told)) as error:
        written(tmp_path, f"{PID}export: {{part: pid, ros2_control: {section}}}\n")
    if "two numbers" not in told:
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
