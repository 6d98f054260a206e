"""A file's program is kept until one of its files changes, and runs the same from there."""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.run.engines import from_file

ROOT = Path(__file__).parents[2]

PLANT = """
robots: {sc: {urdf: robot.urdf}}
params: {rate: 0.25}
blocks:
  torque: {type: CONSTANT, value: [$rate, 0, 0]}
  plant: {type: MULTIBODY, robot: sc}
  scope: {type: SCOPE}
wires: [torque -> plant.taum, plant.qm -> scope]
run: {T: 0.5}
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("SPART_CACHE", str(folder))
    return folder


@pytest.fixture
def project(tmp_path, cache):
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copy(ROOT / "models" / "spacecraft_3dof.urdf", folder / "robot.urdf")
    (folder / "spart.toml").touch()
    (folder / "plant.yaml").write_text(PLANT)
    return folder


@pytest.fixture
def loads(monkeypatch):
    """How often a file was loaded."""
    count = []
    load = from_file.DiagramFile.load
    monkeypatch.setattr(
        from_file.DiagramFile, "load", lambda s, *given: (count.append(s), load(s, *given))[1]
    )
    return count


def same(a, b):
    assert np.array_equal(a.t, b.t)
    assert a.signals.keys() == b.signals.keys()
    for name in a:
        assert np.array_equal(a[name], b[name]), name
    assert a.scopes == b.scopes
    assert (a.aliases, a.units) == (b.aliases, b.units)


def test_the_second_run_loads_nothing_and_is_the_same(project, loads):
    first = sb.simulate(project / "plant.yaml")
    second = sb.simulate(project / "plant.yaml")
    assert len(loads) == 1
    same(first, second)
    assert np.array_equal(first["plant.um"], second["plant.um"])  # recomputed in both


HYBRID = """
clocks: {c: {T: 0.25}}
blocks:
  wave: {type: WAVEFORM, wave: square, freq: 1.0}
  hold: {type: ZOH, clock: c}
  clip: {type: CLIP, min: -0.5, max: 0.5}
  x: {type: INTEGRATOR, max: 0.2}
  stop: {type: STOP}
  late: {type: RAMP, T: 1.9, slope: 1.0}
wires: [wave -> hold, hold -> clip, clip -> x, late -> stop]
run: {T: 3, log: [clip]}
"""


def test_everything_of_a_program_is_kept(project, loads):
    (project / "hybrid.yaml").write_text(HYBRID)
    first, second = (sb.simulate(project / "hybrid.yaml") for _ in range(2))
    assert len(loads) == 1
    same(first, second)
    assert first.events == second.events
    assert first.t[-1] == pytest.approx(1.9, abs=1e-9)
    assert first["x"].max() == pytest.approx(0.2, abs=1e-9)


def test_run_options_change_without_loading(project, loads):
    sb.simulate(project / "plant.yaml")
    results = sb.simulate(project / "plant.yaml", T=0.2, solver="RK4", max_step=0.01, every=0.1)
    assert len(loads) == 1
    assert (results.t.tolist(), results.info["solver"]) == ([0.0, 0.1, 0.2], "RK4")
    assert sb.simulate(project / "plant.yaml").t[-1] == 0.5  # the file's own, not the call's


def test_a_kept_program_carries_the_options_of_its_file(project, loads):
    sb.simulate(project / "plant.yaml", T=0.2)
    assert sb.simulate(project / "plant.yaml").t[-1] == 0.5
    assert len(loads) == 1


@pytest.mark.parametrize("name", ["plant.yaml", "robot.urdf"])
def test_a_changed_file_is_read_again(project, loads, name):
    first = sb.simulate(project / "plant.yaml")
    text = (project / name).read_text()
    edits = {"plant.yaml": ("0.25", "0.5"), "robot.urdf": ('"0.1"', '"0.4"')}
    old, new = edits[name]
    assert old in text
    (project / name).write_text(text.replace(old, new))
    second = sb.simulate(project / "plant.yaml")
    assert len(loads) == 2
    assert np.abs(second["plant.qm"][-1] - first["plant.qm"][-1]).max() > 1e-6


def test_a_missing_file_is_told_although_its_program_is_kept(project):
    sb.simulate(project / "plant.yaml")
    (project / "robot.urdf").unlink()
    with pytest.raises(sb.DiagramError, match=r"robot\.urdf does not exist"):
        sb.simulate(project / "plant.yaml")


def test_overrides_are_another_program(project, loads):
    for overrides in ((), ("params.rate=0.5",), ()):
        file = from_file.DiagramFile(project / "plant.yaml", overrides)
        sb.simulate(file)
    assert len(loads) == 2


def test_first_tick_makes_other_clocks(project, loads):
    (project / "tick.yaml").write_text("""
clocks: {c: {T: 0.5}}
blocks: {one: {type: CONSTANT, value: 1.0}, hold: {type: ZOH, clock: c, x0: 0.0}}
wires: [one -> hold]
run: {T: 1, every: 0.25, log: [hold]}
""")
    for first_tick, value in (("standard", 1.0), ("bdsim", 0.0), ("standard", 1.0)):
        results = sb.simulate(project / "tick.yaml", first_tick=first_tick)
        assert results["hold"][0] == value


def test_warnings_are_given_again(project):
    text = (project / "robot.urdf").read_text()
    import re

    doubtful = re.sub(r'ixx="[0-9.e+-]+"', 'ixx="1000"', text, count=1)
    assert doubtful != text
    (project / "robot.urdf").write_text(doubtful)
    told = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sb.simulate(project / "plant.yaml")
        told.append([str(w.message) for w in caught])
    assert told[0]
    assert told[0] == told[1]


def test_what_fails_is_explained_by_the_blocks(project):
    (project / "sick.yaml").write_text("""
blocks:
  t: {type: TIME}
  root: {type: POW, p: -1}
  minus: {type: SUM, signs: "+-"}
  half: {type: CONSTANT, value: 0.5}
  x: {type: INTEGRATOR}
wires: [t -> minus.0, half -> minus.1, minus -> root, root -> x]
run: {T: 1, solver: euler, max_step: 0.25}
""")
    texts = []
    for _ in range(2):
        with pytest.raises(sb.RunError) as caught:
            sb.simulate(project / "sick.yaml")
        texts.append(str(caught.value))
    assert "root" in texts[0]
    assert texts[0] == texts[1]


def test_a_damaged_entry_is_made_anew(project, cache, loads):
    first = sb.simulate(project / "plant.yaml")
    [entry] = cache.glob("*.program")
    entry.write_bytes(entry.read_bytes()[:-100])
    same(first, sb.simulate(project / "plant.yaml"))
    assert len(loads) == 2
    [_] = cache.glob("*.program")


def test_a_run_that_prints_needs_its_blocks(project, loads, capsys):
    (project / "print.yaml").write_text("""
blocks: {t: {type: TIME}, show: {type: PRINT}}
wires: [t -> show]
run: {T: 1, every: 1}
""")
    for _ in range(2):
        sb.simulate(project / "print.yaml")
        assert capsys.readouterr().out.count("PRINT") == 2
    assert len(loads) == 2


def test_a_kept_program_runs_without_bdsim(project):
    path = str(project / "plant.yaml")
    code = f"import sys, spart_blocks as sb; sb.simulate({path!r}); print('bdsim' in sys.modules)"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [run.stdout.strip() for run in runs] == ["True", "False"]
