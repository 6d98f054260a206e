"""Optional inputs become zeros, a companion brings outputs that depend on the inputs."""

from __future__ import annotations

import numpy as np
import pytest
from network_of import outputs_of, wires_of

from spart_blocks.diagram import complete

pytestmark = pytest.mark.usefixtures("fake_plants")

PLANT = """\
blocks:
  f: {type: CONSTANT, value: [1, 2]}
  plant: {type: FAKEPLANT, mass: 2, initial: {q: [3, 4]}}
  scope: {type: SCOPE}
wires:
  - f -> plant.force
  - plant.qddot -> scope
"""


def test_an_optional_input_without_a_wire_is_zeros_of_its_shape(read):
    diagram = read(PLANT)
    zeros = diagram.bd.blocknames["plant.push=0"]
    np.testing.assert_array_equal(zeros.value, np.zeros(2))
    assert "plant.push=0.0 -> plant.push" in wires_of(diagram)


def test_a_wire_from_a_companion_output_adds_one_companion(read):
    diagram = read(PLANT + "  - plant.power -> scope.1\n")
    added = [block.name for block in diagram.bd.blocklist if "companion" in block.name]
    assert added == ["plant.companion"]
    assert str(diagram.places["blocks.plant.companion"]).endswith("test.yaml:7:5")


def test_a_companion_takes_the_plants_input_wires_and_its_state(read):
    diagram = read(PLANT)
    assert {
        "f.0 -> plant.companion.force",
        "plant.push=0.0 -> plant.companion.push",
        "plant.qdot -> plant.companion.qdot",
        "plant.companion.qddot -> scope.0",
    } <= wires_of(diagram)
    np.testing.assert_array_equal(outputs_of(diagram)["plant.companion"][0], [0.5, 1.0])


def test_a_companion_is_made_for_a_logged_signal_too(read):
    text = PLANT.replace("plant.qddot -> scope", "plant.q -> scope")
    diagram = read(text + "run: {log: [plant.power]}\n")
    assert "plant.companion" in diagram.bd.blocknames


def test_a_companion_output_can_be_sliced(read):
    diagram = read(PLANT.replace("plant.qddot ->", "plant.qddot[1] ->"))
    assert outputs_of(diagram)["plant.companion.qddot[1]"] == [1.0]


def test_a_companion_output_that_does_not_exist_is_named_with_those_that_do(faults):
    found = faults(PLANT.replace("plant.qddot ->", "plant.qdddot ->"))
    assert found == [
        (
            7,
            11,
            "no port 'qdddot' on plant (FAKEPLANT): it has q, qdot, qddot, power",
            "did you mean 'qddot' or 'qdot'?",
        )
    ]


def test_a_required_input_of_a_plant_with_a_companion_is_reported_once(faults):
    found = faults(PLANT.replace("  - f -> plant.force\n", ""))
    assert [fault[2] for fault in found] == ["input force of plant (FAKEPLANT) has no wire"]


def test_a_constructors_complaint_stands_at_its_parameter(faults):
    found = faults(PLANT.replace("mass: 2", "mass: -2"))
    message = "plant (FAKEPLANT): mass is -2; it must be positive"
    assert found == [(3, 34, message, "")]


def test_the_scope_takes_its_width_from_the_port_of_its_wire(read):
    diagram = read(PLANT.replace("plant.qddot -> scope", "plant.q -> scope"))
    assert diagram.bd.blocknames["scope"].vector == 2


def test_a_slice_beyond_the_ports_shape_is_refused(faults):
    found = faults(PLANT.replace("plant.qddot ->", "plant.q[2] ->"))
    assert found == [(7, 12, "plant.q has 2 entries; [2] takes others", "its indices are 0 to 1")]


def test_complete_gives_zeros_to_a_diagram_made_in_python_and_only_once():
    from fakeplants.blocks.plants import FakePlant

    from spart_blocks.diagram import new_diagram

    bd = new_diagram("python")
    plant = FakePlant(bd=bd, name="plant")
    bd.connect(bd.CONSTANT(np.ones(2)), plant[0])
    assert [block.name for block in complete(bd)] == ["plant.push=0"]
    assert complete(bd) == []
    assert len(bd.wirelist) == 2


def test_zeros_are_put_inside_subsystems_too(read):
    text = """\
    subsystems:
      body:
        inputs: [f]
        outputs: [q]
        blocks: {plant: {type: FAKEPLANT}}
        wires: [in.f -> plant.force, plant.q -> out.q]
    blocks:
      f: {type: CONSTANT, value: [1, 2]}
      b: {type: body}
      scope: {type: SCOPE}
    wires: [f -> b, b -> scope]
    """
    diagram = read(text)
    inner = diagram.bd.blocknames["b"].subsystem
    assert "plant.push=0" in inner.blocknames
    assert str(diagram.places["blocks.b/plant.push=0"]).endswith(":5:14")


def test_an_optional_input_of_any_shape_is_the_number_zero(read):
    text = """\
    blocks:
      q: {type: CONSTANT, value: [1, 2]}
      pd: {type: JOINT_PD, kp: 2, kd: 3}
      n: {type: "NULL"}
    wires: [q -> pd.qd, q -> pd.qm, q -> pd.um, pd -> n]
    """
    diagram = read(text)
    assert diagram.bd.blocknames["pd.ud=0"].value == 0.0
    np.testing.assert_array_equal(outputs_of(diagram)["pd"][0], [-3.0, -6.0])
