"""FMUs that we have exported come back in as blocks: the plant of a diagram as an FMU, its
controller outside, is the diagram with a hold at the same rate."""

from __future__ import annotations

from pathlib import Path

import pytest

import spart_blocks as sb
from spart_blocks.cli import main

ROOT = Path(__file__).parents[2]
LOOP = f"""
robots:
  sc: {{urdf: {ROOT}/models/spacecraft_3dof.urdf, base: floating}}
clocks: {{c: {{T: 0.001}}}}
blocks:
  qd: {{type: STEP, T: 1.0, on: [0.5, -0.3, 0.2]}}
  ctrl: {{type: JOINT_PD, kp: [40, 40, 10], kd: [20, 20, 5]}}
"""
OWN = f"""{LOOP}
  hold: {{type: ZOH, clock: c, x0: [0, 0, 0]}}
  plant: {{type: MULTIBODY, robot: sc, initial: {{qm: [0.1, 0, 0]}}}}
wires: [qd -> ctrl.qd, plant.qm -> ctrl.qm, plant.um -> ctrl.um, ctrl -> hold, hold -> plant.taum]
run: {{T: 2, every: 0.01, solver: RK4, max_step: 0.001}}
"""
FMU = f"""{LOOP}
  plant: {{type: FMU, file: plant.fmu, clock: c}}
wires:
  - qd -> ctrl.qd
  - plant.plant_qm -> ctrl.qm
  - plant.plant_um -> ctrl.um
  - ctrl -> plant.ctrl_tau
run: {{T: 2, every: 0.01}}
"""
SMOOTH = f"""{LOOP}
  plant: {{type: MULTIBODY, robot: sc, initial: {{qm: [0.1, 0, 0]}}}}
wires: [qd -> ctrl.qd, plant.qm -> ctrl.qm, plant.um -> ctrl.um, ctrl -> plant.taum]
run: {{T: 2, log: [plant.qm, plant.um, plant.R0]}}
"""
SOLVED = f"""{LOOP}
  plant: {{type: FMU_ME, file: plant.fmu}}
wires:
  - qd -> ctrl.qd
  - plant.plant_qm -> ctrl.qm
  - plant.plant_um -> ctrl.um
  - ctrl -> plant.ctrl_tau
run: {{T: 2, log: [plant.plant_qm, plant.plant_um, plant.plant_R0]}}
"""


@pytest.mark.parametrize("version", ["2", "3"])
@pytest.mark.filterwarnings("ignore:running on the interpreter")
def test_a_plant_that_we_exported_moves_as_our_own(tmp_path, version, close):
    fmu = tmp_path / "plant.fmu"
    diagram = str(ROOT / "diagrams/spacecraft_pd.yaml")
    exported = ["export", "fmu", diagram, "--part", "plant", "--rate", "1000", "-o", str(fmu)]
    assert main([*exported, "--version", version]) == 0
    for name, text in (("own", OWN), ("fmu", FMU)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    own = sb.simulate(sb.load(tmp_path / "own.yaml", root=ROOT.anchor))
    loaded = sb.load(tmp_path / "fmu.yaml", root=ROOT.anchor, blocks=[fmu])
    results = sb.simulate(loaded)
    # 2000 steps of the same formulas, compiled in two ways.
    for name in ("qm", "um", "R0"):
        close(results[f"plant.plant_{name}"], own[f"plant.{name}"], name, rel=1e-11)


@pytest.mark.filterwarnings("ignore:running on the interpreter")
def test_a_plant_that_our_solver_solves_moves_as_our_own(tmp_path, close):
    fmu = tmp_path / "plant.fmu"
    diagram = str(ROOT / "diagrams/spacecraft_pd.yaml")
    assert main(["export", "fmu", diagram, "--part", "plant", "-o", str(fmu)]) == 0
    for name, text in (("own", SMOOTH), ("fmu", SOLVED)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    own = sb.simulate(sb.load(tmp_path / "own.yaml", root=ROOT.anchor), rtol=1e-10, atol=1e-12)
    loaded = sb.load(tmp_path / "fmu.yaml", root=ROOT.anchor, blocks=[fmu])
    results = sb.simulate(loaded, rtol=1e-8, atol=1e-10)
    for name in ("qm", "um", "R0"):
        close(results[f"plant.plant_{name}"][-1], own[f"plant.{name}"][-1], name, rel=1e-6)
