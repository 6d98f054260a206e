"""The values that an FMU's inputs have until an importer sets them."""

from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmus import instance, references

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.export import export_fmu, verify_fmu
from spart_blocks.export.excitation import excitation_of
from spart_blocks.export.fmu.archive import started
from spart_blocks.program.subdiagram import subdiagram_of

FOLDER = Path(__file__).parents[2] / "diagrams"

# The log of an input that is zero is not finite.
LOGARITHM = """
name: logarithm
blocks:
  a: {type: CONSTANT, value: 2.0}
  b: {type: CONSTANT, value: 3.0}
  y: {type: FCN, expression: "log(a) + b", arguments: [a, b]}
  x: {type: INTEGRATOR}
wires: [a -> y.a, b -> y.b, y -> x]
run: {T: 1, log: [x]}
"""

# 5 m/s^2 at the start of the diagram.
DRIVEN = """
name: driven
blocks:
  push: {type: CONSTANT, value: 5.0}
  v: {type: INTEGRATOR}
wires: [push -> v]
run: {T: 1, log: [v]}
"""


@pytest.mark.parametrize("version", [3, 2])
def test_nothing_moves_a_plant_before_an_importer_sets_its_input(version, part_from, tmp_path):
    part = part_from(DRIVEN, "v")
    for inputs, end in (("zero", 0.0), ("diagram", 5.0)):
        path = export_fmu(part, tmp_path, version, inputs=inputs)
        (u,) = (v for v in fmpy.read_model_description(str(path)).modelVariables
                if v.causality == "input")  # fmt: skip
        assert float(u.start) == end
        assert verify_fmu(path, part, inputs=inputs).passed
        with instance(path) as fmu:
            fmu.doStep(0.0, 1.0)
            at = [references(part)["v"]]
            (v,) = fmu.getFloat64(at) if version == 3 else fmu.getReal(at)
            assert v == pytest.approx(end, abs=1e-12)


def test_a_shipped_plant_waits_for_its_torques():
    part = subdiagram_of(FOLDER / "spacecraft_pd.yaml", ["plant"])
    (torque,) = part.inputs
    assert np.abs(part.program.p[torque.part]).max() > 0
    assert (started(part).program.p[torque.part] == 0).all()


def test_a_rotation_starts_as_one():
    part = subdiagram_of(FOLDER / "control/attitude_pd.yaml", ["one_law"])
    found = {slot.name: slot for slot in part.inputs}
    p, first = started(part).program.p, part.program.p
    assert (p[found["one.R0"].part] == np.eye(3).ravel()).all()
    assert (first[found["one.R0"].part] != np.eye(3).ravel()).any()
    assert (p[found["one.u0"].part] == 0).all()


def test_an_input_that_cannot_be_zero_keeps_its_first_value(part_from):
    part = started(part_from(LOGARITHM, "y", "x"))
    assert {slot.name: part.program.p[slot.part].tolist() for slot in part.inputs} == {
        "a": [2.0],
        "b": [0.0],
    }


def test_another_choice_is_refused(part_from, tmp_path):
    with pytest.raises(InputError, match=r"no start values 'ones' of inputs\n  there are zero"):
        export_fmu(part_from(DRIVEN), tmp_path, inputs="ones")


# A plant at rest without its inputs, which have several shapes; one of them is feed-through.
RESTING = """
name: resting
clocks: {c: {T: 0.25, offset: 0.125}, d: {T: 0.04}}
blocks:
  push: {type: CONSTANT, value: 0.0}
  turn: {type: CONSTANT, value: [0.0, 0.0]}
  v: {type: INTEGRATOR}
  w: {type: INTEGRATOR, x0: [0.0, 0.0]}
  k: {type: GAIN, K: 2.0}
  g: {type: GAIN, K: 2.0}
  seen: {type: ZOH, clock: c}
  now: {type: ZOH, clock: d}
wires: [push -> g, g -> v, push -> k, turn -> w, v -> seen, push -> now]
run: {T: 1, log: [v, w, k, seen, now]}
"""
MOVED = ("v", "w", "k", "g", "seen", "now")


@pytest.mark.parametrize("options", [{}, {"rate": 200}])
@pytest.mark.parametrize("version", [3, 2])
def test_a_part_is_verified_while_its_inputs_move(version, options, part_from, tmp_path):
    part = part_from(RESTING, *MOVED)
    path = export_fmu(part, tmp_path, version, **options)
    for diagram in (None, sb.load(tmp_path / "diagram.yaml")):
        found = verify_fmu(path, part, diagram=diagram, **options)
        assert found.passed, found.errors
        assert found.fed == {"push": "sines", "turn": "sines"}
    for gain in ("k", "g"):  # of an FMU that does something else with its inputs
        text = RESTING.replace(f"{gain}: {{type: GAIN, K: 2.0", f"{gain}: {{type: GAIN, K: 2.001")
        wrong = verify_fmu(path, part_from(text, *MOVED), **options)
        assert not wrong.passed
        assert max(wrong.errors.values()) > 1e-4


def test_the_inputs_are_those_of_the_diagram_where_they_move(tmp_path):
    diagram = sb.load(FOLDER / "spacecraft_pd.yaml")
    part = subdiagram_of(diagram, ["plant"])
    fed = excitation_of(started(part), 1.0, diagram)
    assert fed.told == {"ctrl.tau": "as in the diagram"}
    wanted = sb.simulate(diagram, T=1, every=0.04)["ctrl.tau"][:25]
    np.testing.assert_allclose(fed.rows, wanted, atol=1e-6 * np.abs(wanted).max())


def test_what_the_sines_would_make_infinite_is_held(part_from):
    part = started(part_from(LOGARITHM.replace("value: 2.0", "value: 1.0e-3"), "y", "x"))
    fed = excitation_of(part, 1.0, None)
    assert np.isfinite(fed.rows).all()
    rotation = started(subdiagram_of(FOLDER / "spacecraft_pd.yaml", ["attitude"]))
    assert set(excitation_of(rotation, 1.0, None).told.values()) == {"held"}
