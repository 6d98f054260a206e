"""`tunable: [sc.mass]`: what of a robot stays a parameter does what another file would."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.diagram.network.flatten import flatten
from spart_blocks.program import trace
from spart_blocks.run.engines.parity import native_engine

ALONG = '<inertial>\n      <origin xyz="0 0 0.375"/>'
ASIDE = '<inertial>\n      <origin xyz="0.05 -0.02 0.35"/>'
ROOT = Path(__file__).parents[2]
DIAGRAMS = sorted((ROOT / "diagrams").glob("*.yaml"))


@pytest.mark.parametrize("path", DIAGRAMS, ids=lambda path: path.stem)
def test_a_robot_with_symbolic_matter_is_the_robot(path):
    diagram = sb.load(path)
    tunable = tuple(f"{name}.{what}" for name, robot in diagram.robots.items()
                    for what in ("mass", "com", "inertia")
                    if what != "com" or not (robot.loops or robot.forces))  # fmt: skip
    whole = replace(diagram, tunable=tunable)
    engine = native_engine(whole, flatten(whole.bd, whole.places))  # compares with the blocks
    for name, robot in diagram.robots.items():
        np.testing.assert_array_equal(engine.program.parameter(f"{name}.mass"), robot.matter[0])
        np.testing.assert_array_equal(engine.program.parameter(f"{name}.inertia"), robot.matter[1])
        if f"{name}.com" in tunable:
            np.testing.assert_array_equal(engine.program.parameter(f"{name}.com"), robot.coms)


@pytest.mark.parametrize("quantity", ["mass", "com", "inertia"])
def test_one_quantity_alone_may_be_tunable(quantity):
    diagram = replace(
        sb.load(ROOT / "diagrams" / "spacecraft_pd.yaml"), tunable=(f"sc.{quantity}",)
    )
    engine = native_engine(diagram, flatten(diagram.bd, diagram.places))
    assert engine.program.parameter(f"sc.{quantity}").any()


@pytest.fixture
def project(tmp_path):
    """A copy of a shipped diagram and its robot, which may be edited."""
    shutil.copytree(ROOT / "models", tmp_path / "models")
    (tmp_path / "diagrams").mkdir()
    (tmp_path / "spart.toml").touch()

    def make(name, tunable, old="", new=""):
        text = (ROOT / "diagrams" / name).read_text()
        (tmp_path / "diagrams" / name).write_text(f"tunable: {tunable}\n{text}")
        model = tmp_path / "models" / "spacecraft_3dof.urdf"
        model.write_text((ROOT / "models" / "spacecraft_3dof.urdf").read_text().replace(old, new))
        return sb.load(tmp_path / "diagrams" / name)

    return make


def test_another_mass_is_another_file(project):
    program = trace(project("spacecraft_pd.yaml", "[sc.mass]"))
    robot = project("spacecraft_pd.yaml", "[]").robots["sc"]
    mass = robot.matter[0].copy()
    mass[0] = 130.0
    anew = trace(project("spacecraft_pd.yaml", "[]", '"100"', '"130"'))
    assert "sc.inertia" not in {slot.name for slot in program.parameters}
    options = {"T": 5, "every": 0.01, "rtol": 1e-10, "atol": 1e-12}
    moved = sb.simulate(program.with_parameters({"sc.mass": mass}), **options)
    want = sb.simulate(anew, **options)
    before = sb.simulate(program, **options)
    assert np.abs(moved["states.plant"] - want["states.plant"]).max() < 1e-9
    assert np.abs(before["states.plant"] - want["states.plant"]).max() > 1e-6


def test_another_centre_of_mass_is_another_file(project):
    program = trace(project("spacecraft_pd.yaml", "[sc.com]"))
    robot = project("spacecraft_pd.yaml", "[]").robots["sc"]
    anew = trace(project("spacecraft_pd.yaml", "[]", ALONG, ASIDE))
    com = project("spacecraft_pd.yaml", "[]", ALONG, ASIDE).robots["sc"].coms
    assert np.abs(com - robot.coms).max() > 0.01
    options = {"T": 5, "every": 0.01, "rtol": 1e-10, "atol": 1e-12}
    moved = sb.simulate(program.with_parameters({"sc.com": com}), **options)
    want = sb.simulate(anew, **options)
    before = sb.simulate(program, **options)
    assert np.abs(moved["states.plant"] - want["states.plant"]).max() < 1e-9
    assert np.abs(before["states.plant"] - want["states.plant"]).max() > 1e-6


def test_derivatives_by_a_mass_are_exact(project):
    program = trace(project("spacecraft_pd.yaml", "[sc.mass, sc.inertia]"))
    x = program.x0 + 0.1
    slope = program.jacobian("xdot", "sc.mass", x=x)
    step = 1e-4
    for k in range(slope.shape[1]):
        ends = []
        for sign in (1, -1):
            mass = program.parameter("sc.mass").copy()
            mass[k] += sign * step
            p = program.with_parameters({"sc.mass": mass}).p
            ends.append(np.array(program.rates(0.0, x, [], p)).ravel())
        np.testing.assert_allclose(slope[:, k], (ends[0] - ends[1]) / (2 * step), atol=1e-6)
