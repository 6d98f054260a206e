"""`spart export ros2_control`: what it writes, says and refuses."""

import shutil
from pathlib import Path

import pytest

MODEL = Path(__file__).parents[2] / "models" / "spacecraft_3dof.urdf"
DIAGRAM = f"""
name: sat
robots:
  sc: {{urdf: {MODEL.name}, base: floating}}
blocks:
  qd: {{type: STEP, T: 0.1, off: 0, on: [0.5, -0.3, 0.2]}}
  ctrl: {{type: JOINT_PD, kp: 30, kd: 20}}
  plant: {{type: MULTIBODY, robot: sc}}
wires:
  - qd -> ctrl.qd
  - plant.qm -> ctrl.qm
  - plant.um -> ctrl.um
  - ctrl -> plant.taum
run: {{T: 1}}
"""


@pytest.fixture
def diagram(in_an_empty_folder):
    shutil.copy(MODEL, ".")
    Path("sat.yaml").write_text(DIAGRAM)


@pytest.fixture
def export(spart, diagram):
    """The command on this diagram."""
    return lambda *words: spart("export", "ros2_control", "sat.yaml", "-o", "out", *words)


def test_it_says_what_the_interfaces_are(export):
    done = export("--part", "ctrl", "--rate", "100")
    assert done.code == 0, done.err
    assert "sat_ctrl: sat_ctrl::SatCtrlController at 100 Hz" in done.out
    assert "state interfaces: Joint_1/position, Joint_2/position, Joint_3/position, J" in done.out
    assert "command interfaces: Joint_1/effort, Joint_2/effort, Joint_3/effort" in done.out
    assert "~/qd (Float64MultiArray): qd" in done.out
    assert "no safe command for Joint_1/effort, Joint_2/effort, Joint_3/effort" in done.out
    assert Path("out/package.xml").is_file()
    assert Path("out/src/sat_ctrl.c").is_file()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--part", "qd"], "which interface of the hardware is the output qd (3)?"),
        (["--part", "ctrl", "--rate", "62.5"], "a whole number of times a second, not 62.5"),
        (["--part", "nothing"], "there is no block 'nothing' for a subdiagram"),
        (["--part", "ctrl", "--name", "a b"], "'a b' cannot be the name of C functions"),
        (["--part", "ctrl", "--t", "-1"], "--t"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_written(export, words, told):
    done = export(*words)
    assert done.code == 2
    assert told in done.err
    assert "Traceback" not in done.err
    assert not Path("out").exists()


def test_a_folder_with_other_files_is_refused(export):
    Path("out").mkdir()
    Path("out/mine.txt").write_text("mine")
    done = export("--part", "ctrl")
    assert done.code == 2
    assert "contains files that are not from an export" in done.err
    assert [path.name for path in Path("out").iterdir()] == ["mine.txt"]
