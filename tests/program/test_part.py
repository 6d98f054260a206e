"""Some blocks of a diagram as a program of their own."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError
from spart_blocks.block_support.parameters import range_text
from spart_blocks.program.subdiagram import subdiagram_of

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
ARM, PD = DIAGRAMS / "arm_computed_torque.yaml", DIAGRAMS / "spacecraft_pd.yaml"


def names(slots):
    return [slot.name for slot in slots]


def test_cut_wires_become_inputs_and_outputs_by_name_and_shape():
    part = subdiagram_of(ARM, ["ctrl"])
    shapes = {slot.name: slot.shape for slot in part.inputs}
    assert shapes == {
        "sine": (7,),
        "rate": (7,),
        "acceleration": (7,),
        "gravity.wFm": (7, 6),
        "plant.R0": (3, 3),
        "plant.r0": (3,),
        "plant.qm": (7,),
        "plant.um": (7,),
    }
    assert names(part.outputs) == ["ctrl.tau"]
    assert names(part.parameters) == ["ctrl.kp", "ctrl.kd"]


def test_an_input_starts_with_the_value_of_its_signal_at_the_start():
    part = subdiagram_of(ARM, ["ctrl"])
    values = {slot.name: part.program.p[slot.part] for slot in part.inputs}
    assert values["plant.qm"] == pytest.approx([0.2, 0, 0, 0.3, 0, 0, 0])
    assert values["gravity.wFm"].reshape(7, 6)[0, 5] < 0  # a weight


def test_a_part_gives_what_its_blocks_give_within_the_diagram():
    run = sb.simulate(ARM, T=1, every=0.1, log=("ctrl.tau", "rate", "acceleration"))
    part = subdiagram_of(ARM, ["ctrl"])
    (tau,) = part.outputs
    p = part.program.p.copy()
    for k, t in enumerate(run.t):
        for slot in part.inputs:
            p[slot.part] = np.ravel(run[slot.name][k])
        y = np.array(part.program.outputs(t, [], [], p)).ravel()[tau.part]
        assert y == pytest.approx(run["ctrl.tau"][k], rel=1e-12)


def test_a_plant_brings_its_accelerations_and_the_zeros_of_its_inputs_with_it():
    part = subdiagram_of(ARM, ["plant"])
    assert names(part.inputs) == ["ctrl.tau", "gravity.wFm"]
    assert names(part.outputs) == ["plant.R0", "plant.r0", "plant.qm", "plant.um"]
    more = subdiagram_of(ARM, ["plant"], outputs=["plant.umdot"])
    assert names(more.outputs)[-1] == "plant.umdot"


def test_a_whole_diagram_has_no_inputs_and_shows_what_its_scopes_show():
    part = subdiagram_of(PD)
    assert part.inputs == ()
    assert names(part.outputs) == ["plant.qm", "ctrl.tau", "attitude.angles"]
    assert "plant.audit" not in names(part.program.states)  # nothing reads it


def test_a_subsystem_is_a_part_by_its_name():
    part = subdiagram_of(DIAGRAMS / "dual_arm.yaml", ["left"])
    assert names(part.outputs) == ["left/pd.tau"]
    assert names(part.inputs) == ["left_target", "plant.qm[0:3]", "plant.um[0:3]"]


def test_a_part_from_which_no_wire_leaves_gives_what_is_logged_of_it(tmp_path):
    path = tmp_path / "some.yaml"
    path.write_text("""
blocks:
  a: {type: CONSTANT, value: 1}
  b: {type: INTEGRATOR}
  c: {type: GAIN, K: 2}
  other: {type: GAIN, K: 3}
wires: [a -> b, a -> other, b -> c]
run: {T: 1, log: [other, c]}
""")
    assert names(subdiagram_of(path, ["b", "c"]).outputs) == ["c"]


def test_an_unknown_block_is_named_with_the_near_ones():
    with pytest.raises(InputError, match=r"no block 'ctr'.*\n.*did you mean 'ctrl'"):
        subdiagram_of(PD, ["ctr"])
    with pytest.raises(InputError, match=r"no signal 'plant\.qmm'\n.*did you mean 'plant\.qm'"):
        subdiagram_of(PD, ["ctrl"], outputs=["plant.qmm"])


def test_a_signal_without_a_value_at_the_start_cannot_come_in():
    diagram = sb.load(PD)
    (block,) = (block for block in diagram.bd.blocklist if block.name == "qd")
    block.output = lambda t, inputs, x: 1 / 0
    with pytest.raises(
        DiagramError, match="qd, which comes into the subdiagram, has no value at the start"
    ) as caught:
        subdiagram_of(diagram, ["ctrl"])
    assert "division by zero" in str(caught.value)


def test_a_wire_of_the_wrong_shape_is_told_at_its_block(tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text(
        """
robots: {sc: {urdf: spacecraft_3dof.urdf}}
blocks:
  two: {type: CONSTANT, value: [1, 2]}
  plant: {type: MULTIBODY, robot: sc}
wires: [two -> plant.taum]
"""
    )
    shutil.copy(DIAGRAMS.parent / "models" / "spacecraft_3dof.urdf", tmp_path)
    with pytest.raises(DiagramError, match=r"wrong.yaml:5:3: plant .*taum takes \(3,\), .* \(2,\)"):
        subdiagram_of(path)


def test_a_slice_of_a_signal_within_the_part_is_no_input_of_it(tmp_path):
    (tmp_path / "slices.yaml").write_text("""
blocks:
  goal: {type: STEP, T: 0.5, on: [3, 4]}
  twice: {type: GAIN, K: 2}
  outside: {type: GAIN, K: 5}
  scope: {type: SCOPE}
wires: ["goal[1] -> twice", "goal[0] -> outside", twice -> scope]
""")
    part = subdiagram_of(tmp_path / "slices.yaml", ["goal", "twice"])
    assert names(part.inputs) == []
    assert names(part.outputs) == ["goal"]
    (slot,) = (slot for slot in part.program.signals if slot.name == "twice")
    y = np.array(part.program.outputs(1.0, [], [], part.program.p)).ravel()
    assert y[slot.part] == [8]


def test_a_signal_of_which_two_slices_come_in_comes_in_whole():
    part = subdiagram_of(DIAGRAMS / "dual_arm.yaml", ["left", "right", "torques"])
    shapes = {slot.name: slot.shape for slot in part.inputs}
    targets = {"left_target": (3,), "right_target": (3,)}
    assert shapes == {**targets, "plant.qm": (6,), "plant.um": (6,)}


def test_a_block_that_cannot_be_traced_is_named_with_its_place(tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text(
        "blocks:\n  a: {type: CONSTANT, value: 1}\n  b: {type: ITEM, item: x}\nwires: [a -> b]"
    )
    with pytest.raises(
        DiagramError, match=r"wrong.yaml:3:3: the subdiagram cannot become code: block b"
    ):
        subdiagram_of(path)


BOUNDED = """
clocks: {{c: {{rate: 100}}}}
blocks:
  goal: {{type: CONSTANT, value: 0.5}}
  pid: {{type: JOINT_PID_S, clock: c, kp: 40, N: 50}}
  k: {{type: GAIN, K: 2}}
  x: {{type: INTEGRATOR}}
wires: [goal -> pid.qd, x -> pid.qm, pid -> k, k -> x]
export: {{part: [pid, k], bounds: {bounds}}}
"""


def test_parameters_have_the_bounds_of_their_blocks_narrowed_by_the_file(tmp_path):
    path = tmp_path / "bounded.yaml"
    path.write_text(BOUNDED.format(bounds="{pid.kp: [-5, 400], k.K: [-1, 3]}"))
    bounds = subdiagram_of(path).bounds
    assert bounds["pid.kp"] == (0, 400)
    assert bounds["k.K"] == (-1, 3)
    assert 0 < bounds["pid.N"][0] < 1e-30
    assert bounds["pid.N"][1] == np.inf
    assert "pid.x0" not in bounds
    path.write_text(BOUNDED.format(bounds="{pid.kp: [-5, -1]}"))
    with pytest.raises(InputError, match=r"bounds of pid\.kp: the block takes none"):
        subdiagram_of(path)


def test_a_loop_refuses_what_a_block_would(tmp_path):
    path = tmp_path / "bounded.yaml"
    path.write_text(BOUNDED.format(bounds="{k.K: [-1, 3]}"))
    bounds = subdiagram_of(path).bounds
    assert range_text(*bounds["pid.kp"]) == "not be negative"
    assert range_text(*bounds["pid.N"]) == "be above 0"
    assert range_text(*bounds["k.K"]) == "lie between -1 and 3"
    assert range_text(-np.inf, 3) == "be at most 3"
