"""diagrams/sweeps/: what studies of many runs show, in a few draws of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb

FILE = Path(__file__).parents[2] / "diagrams" / "sweeps" / "thruster_faults.yaml"
DRAWS = 6
LEAK, KP = 0.1, 7.0  # N m along a unit axis; N m/rad


@pytest.fixture(scope="module")
def study():
    return sb.sweep(FILE, runs=DRAWS, keep=6)


def of(study, **equal):
    return np.searchsorted(study["run"], study.runs_where(**equal))


def test_each_draw_runs_under_both_controllers_and_all_faults(study):
    assert study.complete
    assert len(study) == DRAWS * 2 * 3
    assert not len(study.failed)
    assert np.isfinite([study[name] for name in study.metrics]).all()
    for name in ("sc.mass[0]", "sc.inertia[0,0,0]", "noise_rate", "plant.initial.angles321[1]"):
        values = study[name].reshape(DRAWS, 6)
        assert (values == values[:, :1]).all()
        assert len(np.unique(values)) == DRAWS


def test_under_pd_a_leak_turns_the_spacecraft_until_its_spring_holds_the_leak(study):
    found = study["miss"][of(study, variant="pd", fault="pair_2_leaks")]
    assert found.mean() == pytest.approx(LEAK / KP, rel=0.1)


def test_without_a_fault_every_run_settles(study):
    assert study["passed"][of(study, fault="none")].all()


def test_faults_begin_at_their_time(study):
    kept = study.kept()
    before = kept.times < 3.0
    angles = kept.values["pointing.angles"]  # of the first draw, six runs
    np.testing.assert_array_equal(angles[0, before], angles[1, before])
    assert not np.array_equal(angles[0, ~before], angles[1, ~before])


def test_the_report_names_the_runs_that_miss(study, tmp_path):
    page = study.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "thruster-faults" in page
    for run in study.unsuccessful[:3]:
        assert f"--run {run}" in page
