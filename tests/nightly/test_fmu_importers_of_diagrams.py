"""Shipped diagrams as FMUs, solved in the ways of four importers.

One command: .venv/bin/python -m pytest -s tests/nightly/test_fmu_importers_of_diagrams.py
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spart_blocks.export import export_fmu
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.run import simulate

sys.path.insert(0, str(Path(__file__).parents[1] / "export"))
import importers

FOLDER = Path(__file__).parents[2] / "diagrams"
POINTS = 61
TOLERANCE = 1e-9
# Time events, tables with corners, ticks, relays, and a stiff stop.
DIAGRAMS = {
    "motion/joint_references": ("plant.qm", 6.0),
    "signals/recorded_motion": ("plant.qm", 9.0),
    "motion/pose_by_ik": ("plant.qm", 1.2),
    "signals/thrusters": ("attitude.angles", 9.0),
    "joints/friction": ("plant.qm", 6.0),
}


@pytest.mark.parametrize("way", importers.WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("version", [3, 2])
@pytest.mark.parametrize("name", DIAGRAMS)
def test_every_way_of_solving_comes_to_our_run(name, version, way, tmp_path):
    part, (signal, T) = subdiagram_of(FOLDER / f"{name}.yaml"), DIAGRAMS[name]
    times = np.linspace(0, T, POINTS)
    path = export_fmu(part, tmp_path, version)
    found = importers.run(way, path, times, [signal], tolerance=TOLERANCE)
    program = replace(part.program, fixed=())
    ours = simulate(program, T=T, every=times[1], log=[signal], rtol=1e-10, atol=1e-12)
    error = np.abs(found - ours[signal].reshape(POINTS, -1)).max()
    print(f"{name:26} FMI {version} {way.__name__:20} {signal} {error:.1e}")
    assert error < 1e-5
