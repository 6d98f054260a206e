"""What a run of each shipped diagram keeps and measures, against a run with 100 times the
samples of old.

One command: .venv/bin/python -m pytest -s tests/nightly/test_record_of_every_diagram.py
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.diagram import load
from spart_blocks.diagram.build.companions import AUDIT
from spart_blocks.program import trace
from spart_blocks.run import begin, finish
from spart_blocks.run import run as run_module
from spart_blocks.run.engines.native import Native
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.run.record import compiled_record
from spart_blocks.run.states import vectors_of

sys.path.insert(0, str(Path(__file__).parents[1]))
from straying import stray

FOLDER = Path(__file__).parents[2] / "diagrams"
FILES = sorted(
    path for path in FOLDER.rglob("*.yaml") if "blocks:" in path.read_text(encoding="utf-8")
)
FINE = 50_000


def measured(program, **options):
    """A run's results, and the extremes and the squares of all that it keeps."""
    run = begin(program, **options)
    names = run.recorder.names
    run.measure(Gauge(kind, name) for name in names for kind in ("extremes", "square"))
    return finish(run), run.readings


def left_open(program, results, name):
    """By how much a signal changes where the states do by the solver's tolerances."""
    engine, run = Native(program), program.run
    x, xd = vectors_of(engine, results.states, len(results.t))
    signs = np.where(np.arange(x.shape[1]) % 2, -1.0, 1.0)
    change = 0.0
    for way in (np.ones(x.shape[1]), signs):
        near = x + way * (run.atol + run.rtol * np.abs(x))
        values = engine.over([name], results.t, near, xd)[0]
        change = np.maximum(change, np.abs(values - results[name]).max(axis=0))
    return change.ravel()


@pytest.mark.filterwarnings("ignore::spart_blocks.base.errors.SpartWarning")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_lines_are_true_and_metrics_are_those_of_a_finer_run(path, monkeypatch):
    try:
        program = trace(load(path))
    except InputError as error:
        pytest.skip(f"no diagram by itself: {error}")
    kept, readings = measured(program)
    monkeypatch.setattr(run_module, "LOOKS", FINE)  # it is measured in finer parts too
    monkeypatch.setattr(compiled_record, "_PANELS", 4 * FINE)  # room for those of one step
    fine, wanted = measured(program, every=float(kept.info["T"]) / FINE)
    worst = far = beyond = 0.0
    for name in kept.signals:
        values = fine[name].reshape(len(fine.t), -1)
        extent = np.ptp(values, axis=0)
        open_ = left_open(program, kept, name)
        if AUDIT not in name:  # its books ask for no rows
            off = stray(kept, fine, name).max(axis=0, initial=0.0)
            # Less than a tenth of what the solver leaves open is no course either.
            allowed = 0.2 * open_ / np.maximum(extent, 1e-300)
            worst = max(worst, (off - allowed).max(initial=0.0))
        floor = 1e-6 * (1 + np.abs(values).max(axis=0))  # 1e-12 of what is constant is rounding
        size = np.maximum(extent, np.maximum(floor, open_))
        got, want = readings[Gauge("extremes", name)], wanted[Gauge("extremes", name)]
        for which in ("least", "most"):
            far = max(far, (np.abs(got[which] - want[which]) / size).max(initial=0.0))
        over = np.maximum(values.max(axis=0) - got["most"], got["least"] - values.min(axis=0))
        beyond = max(beyond, (over / size).max(initial=0.0))
        effort, other = (r[Gauge("square", name)]["integral"] for r in (readings, wanted))
        far = max(far, (np.abs(effort - other) / np.maximum(other, size**2)).max(initial=0.0))
    print(
        f"{path.stem:28} {len(kept.t):6} rows, lines off by {worst:.2e}, metrics by {far:.1e}, "
        f"samples beyond the extremes by {beyond:.1e}"
    )
    assert worst < 1.001e-3
    assert far < 1e-6
    assert beyond < 1e-6
