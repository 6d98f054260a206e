"""Gradients of runs of every shipped diagram are those of extrapolated central differences.

Of each diagram the final values of signals of some blocks with states are derived by some of its
parameters. Differences are extrapolated (Richardson) with the error that they tell themselves;
where this is large, as for what hardly depends on a parameter, they judge to that error only.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from extrapolated_differences import extrapolated, parameters_of

import spart_blocks as sb
from spart_blocks.base.paths import split_index

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
STATELESS = {"arm_tool"}
SHIPPED = [
    path
    for path in sorted(DIAGRAMS.rglob("*.yaml"))
    if "controllers" not in path.parts and path.stem not in STATELESS
]
WITHOUT = {
    "dc_motor": {
        "start.T": "start: it switches at a tick",
        "back.T": "back: it switches at a tick",
    },
    "joint_pid": {"arm_qd.T": "arm_qd: it switches at a tick"},
    "pose_by_ik": {"pose.T": "pose: it switches at a tick"},
    "scheduled_servo": {"goal.delay": "goal: it switches at the start of the run"},
}
"""Parameters by which a diagram has no gradient, with what is told then."""
LONGEST = 0.93
"""Runs are cut to this time [s], at which nothing switches."""
TIGHT = {"rtol": 1e-12, "atol": 1e-14, "max_step": None, "solver": "RK45"}
FEW = 4
CLOSE = 1e-6
STEPPED = {"variational_pendulum"}
"""Diagrams whose blocks step by themselves, which RK45 does not."""


def signals_of(program):
    """Signals of blocks with states, by their full names."""
    blocks = tuple(f"{slot.name}." for slot in program.states if slot.name not in program.random)
    names = [slot.name for slot in program.signals]
    plain = [n for n in names if "=" not in n and split_index(n)[1] is None]
    return [n for n in plain if n.startswith(blocks) or f"{n}." in blocks][:FEW]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_gradients_of_every_diagram(path):
    program = sb.trace(path)
    options = {"T": min(program.run.T, LONGEST), **TIGHT}
    if path.stem in STEPPED:
        options["solver"] = "RK4"
        options["max_step"] = 0.01
    signals, names = signals_of(program), parameters_of(program)[:FEW]
    assert signals
    assert names
    of = {f"m{k}": f"final({name!r})" for k, name in enumerate(signals)}
    without = WITHOUT.get(path.stem, {})
    for name, told in without.items():
        with pytest.raises(sb.NoGradientError, match=told):
            sb.gradient(program, of=of, by=name, **options)
    names = [name for name in names if name not in without]
    found = sb.gradient(program, of=of, by=names, **options)
    for name in names:
        exact = np.concatenate([np.ravel(found.derivatives[metric][name]) for metric in of])

        def end(value, name=name):
            run = sb.simulate(program.with_parameters({name: value}), log=signals, **options)
            return np.concatenate([np.ravel(run[signal][-1]) for signal in signals])

        now = float(program.parameter(name))
        wanted, error = extrapolated(end, now, 1e-3 * max(abs(now), 0.1))
        off = np.abs(exact - wanted).max()
        whole = np.concatenate([np.ravel(found.values[metric]) for metric in of])
        rounding = 1e-10 * np.abs(whole).max() / max(abs(now), 0.1)
        allowed = CLOSE * np.abs(exact).max() + 10 * error + rounding
        assert off <= allowed, f"{name}: {off:.2e} apart, {allowed:.2e} allowed"
