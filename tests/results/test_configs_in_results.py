"""The motion of a robot's joints is read by name, after a run and from its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.results import FinalState

ROOT = Path(__file__).parents[2]
DIAGRAM = """
robots:
  arm: {{links: puma560.yaml, effects: none}}
blocks:
  torque: {{type: CONSTANT, value: [5, -20, 3, 0.1, 0.2, -0.01]}}
  plant: {{type: MULTIBODY, robot: arm, initial: {{qm: {{j2: 0.3}}, um: {{j5: 0.4}}}}}}
  held: {{type: STATE_INTEGRATOR, robot: arm}}
wires:
  - torque -> plant.taum
  - plant.um -> held.um
run: {{T: 0.1, every: 0.01, rtol: 1e-9, atol: 1e-11, log: [{log}]}}
"""


def diagram(folder, log=""):
    (folder / "puma560.yaml").write_text((ROOT / "models/puma560.yaml").read_text())
    path = folder / "diagram.yaml"
    path.write_text(DIAGRAM.format(log=log))
    return sb.load(path)


@pytest.fixture(params=["native", "interpreter"])
def run(request, tmp_path):
    return sb.simulate(diagram(tmp_path), engine=request.param)


def test_positions_and_rates_of_a_joint_are_the_plants(run):
    assert list(run.configs("plant")) == ["j1", "j2", "j3", "j4", "j5", "j6"]
    for k, (name, motion) in enumerate(run.configs("plant").items()):
        assert motion.name == name
        assert_array_equal(motion.q, run["plant.qm"][:, k])
        assert_array_equal(motion.dq, run["plant.um"][:, k])
    assert run.config("plant", "j2").q[0] == 0.3
    assert run.config("plant", "j5").dq[0] == 0.4


def test_accelerations_need_neither_a_wire_nor_a_log(run, tmp_path):
    logged = sb.simulate(diagram(tmp_path, "plant.umdot"), engine=run.info["engine"])
    assert "plant.umdot" not in run
    for k, name in enumerate(run.configs("plant")):
        ddq = run.config("plant", name).ddq
        assert_allclose(ddq, logged["plant.umdot"][:, k], rtol=1e-6, atol=1e-7)
        assert_array_equal(logged.config("plant", name).ddq, logged["plant.umdot"][:, k])


def test_the_rates_of_all_states_are_a_signal(run):
    rates = run["rates.plant"]
    assert rates.shape == (11, 12)
    assert_array_equal(rates[:, :6], run["plant.um"])
    with pytest.raises(InputError, match=r"no signal 'rates\.torque'"):
        run["rates.torque"]


def test_the_final_state_has_all_three(run):
    motion = run.config("plant", "j3")
    assert motion.final == (motion.q[-1], motion.dq[-1], motion.ddq[-1])
    assert motion.final.q == run.final_state.continuous["plant"][2]
    assert motion.final.dq == run.final_state.continuous["plant"][8]


def test_a_file_keeps_the_names_and_what_was_logged(run, tmp_path):
    loaded = sb.Results.load(run.save(tmp_path / "run.npz"))
    assert_array_equal(loaded.config("plant", "j4").q, run.config("plant", "j4").q)
    with pytest.raises(InputError) as error:
        _ = loaded.config("plant", "j4").ddq
    assert "these results do not have plant.umdot" in str(error.value)
    assert "keep it in the run: run: {log: [plant.umdot]}" in str(error.value)
    logged = sb.simulate(diagram(tmp_path, "plant.umdot"))
    again = sb.Results.load(logged.save(tmp_path / "logged.npz"))
    assert_array_equal(again.config("plant", "j4").ddq, logged["plant.umdot"][:, 3])


def test_a_program_from_the_cache_knows_the_names(tmp_path):
    path = diagram(tmp_path).source
    for _ in range(2):
        assert "j1" in sb.simulate(path).configs("plant")


def test_wrong_names_are_told(run):
    for block, joint, text in (
        ("plan", "j1", "no plant 'plan' in the results\n  did you mean 'plant'?"),
        ("plant", "j7", "no joint 'j7' on plant\n  it has j1, j2"),
        ("torque", "j1", "no plant 'torque'"),
    ):
        with pytest.raises(InputError) as error:
            run.config(block, joint)
        assert text in str(error.value)


def test_a_block_with_positions_alone_has_no_rates(run):
    assert_allclose(
        run.config("held", "j2").q[-1], run.config("plant", "j2").q[-1] - 0.3, atol=1e-8
    )
    with pytest.raises(InputError, match="held has no rates of joints among its states"):
        _ = run.config("held", "j2").dq


def test_results_without_names_of_states_have_no_joints():
    bare = sb.Results(t=np.zeros(1), signals={}, states={}, final_state=FinalState(0.0))
    with pytest.raises(InputError, match="no block of this run has joints as states"):
        bare.config("plant", "j1")
