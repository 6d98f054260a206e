"""Controllers of ros2_control compile against stubs of ROS 2, and run in a host as steps do."""

import math
import shutil

import numpy as np
import pytest
import yaml
from controller_hosts import (
    CXX,
    JOINTS,
    MODEL,
    PID,
    VERSIONS,
    Hosted,
    built_by_cmake,
    built_host,
    built_plugin,
    package_name,
    run,
    written,
)

import spart_blocks as sb
from spart_blocks.export import controller_files, recorded_inputs, write_package
from spart_blocks.export.loaded import LoadedStep


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hosts")
    made = {}

    def host(version):
        if version not in made:
            made[version] = built_host(version, folder)
        return made[version]

    return host


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


@pytest.mark.skipif(not shutil.which("cmake"), reason="needs CMake")
@pytest.mark.parametrize("up_to_jazzy", [True, False])
def test_it_builds_by_its_file_of_cmake(up_to_jazzy, hosts, tmp_path):
    """With functions in the place of ament's, optimised, and without a warning."""
    _, _, plan = written(tmp_path, f"{PID}export: {{part: pid}}\n")
    installed = built_by_cmake(tmp_path / "package", tmp_path, up_to_jazzy=up_to_jazzy)
    assert (installed / "share/arm_pid/config/arm_pid.yaml").is_file()
    assert (installed / "include/arm_pid/controller.hpp").is_file()
    with Hosted(hosts("humble"), installed / "lib" / f"lib{plan.package}.so") as one:
        one.started(50)
        one.ask("array", "~/goal", 1, 1, 1)
        found = one.update()
    assert found.ok
    assert found.costs == 0
    assert all(command > 100 for command in found.commands)


CHECKED = """
name: checked
blocks:
  force: {type: STEP, T: 0.02, on: 2}
  cart: {type: PT2, gain: 0.5, omega: 4, damping: 0.2}
  limit: {type: CHECK_RANGE, upper: 0.001, message: too far}
  end: {type: STOP}
wires: [force -> cart, cart -> limit, force -> end]
export:
  part: [PART]
  outputs: [cart]
  rate: 1000
  ros2_control: {outputs: {OTHERS cart: [slide/position]}}
"""


@pytest.mark.parametrize(
    ("part", "others", "told"),
    [
        ("force, cart, limit", "force: none,", "too far"),
        ("force, cart, end", "", "a STOP block asks for the end"),
    ],
)
def test_faults_and_stops_are_told_once(part, others, told, hosts, tmp_path):
    """By a controller that measures nothing."""
    _, code, plan = written(
        tmp_path, CHECKED.replace("PART", part).replace("OTHERS", others), rate=1000
    )
    assert not plan.states
    assert not plan.topics
    plugin = built_plugin("jazzy", tmp_path / "package", code.name, tmp_path)
    with Hosted(hosts("jazzy"), plugin) as one:
        one.started(1000)
        steps = 0
        while (found := one.update()).ok:
            assert found.costs == 0
            steps += 1
        assert steps >= 20
        assert found.costs > 0
        assert not one.update().ok
    assert len(one.logs) == 1
    assert told in one.logs[0]


RACE = """
#include <thread>
#include "arm_pid/controller.hpp"
int main() {
  arm_pid::Newest<std::array<long, 7>> newest;
  std::array<long, 7> got{};
  const long last = 100000;
  std::thread writer([&] {
    std::array<long, 7> value;
    for (long k = 1; k <= last; ++k) {
      value.fill(k);
      newest.write(value);
    }
  });
  long before = 0;
  int wrong = 0;
  while (got[0] != last) {
    if (!newest.read(got)) continue;
    for (const long one : got) wrong += one != got[0];
    wrong += got[0] <= before;
    before = got[0];
  }
  writer.join();
  return wrong || newest.read(got);
}
"""


def test_what_another_thread_writes_arrives_whole_in_order_and_to_the_last(pid, tmp_path):
    """Under the sanitizer of threads."""
    _, _, plan, _ = pid
    write_package(controller_files(plan), tmp_path / "package")
    source, made = tmp_path / "race.cpp", tmp_path / "race"
    source.write_text(RACE)
    flags = [*CXX, "-fsanitize=thread", "-O1", f"-I{tmp_path / 'package' / 'include'}"]
    run(["g++", *flags, source, "-o", made, "-pthread"])
    run([made])
