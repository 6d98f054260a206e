"""Gradients of random compositions, forward and by adjoints, beside extrapolated differences of
runs: integrals of signals by any of the parameters, initial states and times of sources among them.

Where differences do not converge, a change of the parameter changes the order of what happens.
A minute for a diagram.
"""

import numpy as np
import pytest
from compositions.generating import diagram_of, is_pure
from compositions.judging import placed
from extrapolated_differences import extrapolated, parameters_of

import spart_blocks as sb
from spart_blocks.run import begin, finish
from spart_blocks.run.measure.gauges import Gauge

SEEDS = [seed for seed in range(120) if not is_pure(seed)]
TIGHT = {"rtol": 1e-10, "atol": 1e-12, "solver": "RK45"}
FEW = 6
SHARE = 0.937
"""Part of each run that is taken: at its end, nothing switches."""


@pytest.mark.parametrize("seed", SEEDS)
def test_gradients_of_a_random_diagram(tmp_path, seed, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    program = sb.trace(placed(diagram_of(seed, small=True), tmp_path, f"d{seed}"))
    options = {"T": SHARE * program.run.T, **TIGHT}
    signals = list(program.run.log)[-FEW:]
    of = {f"m{k}": f"integral({name!r})" for k, name in enumerate(signals)}
    names = np.random.default_rng(seed).permutation(parameters_of(program))[:FEW]

    def integrals(program):
        run = begin(program, **options)
        run.measure([Gauge("integral", name) for name in signals])
        finish(run)
        read = {gauge.signal: found["integral"] for gauge, found in run.readings.items()}
        return np.concatenate([np.ravel(read[name]) for name in signals])

    whole = np.abs(integrals(program)).max()
    compared = 0
    for name in names:
        try:
            found = [
                np.concatenate([np.ravel(one[metric][name]) for metric in of])
                for one in (
                    sb.gradient(program, of=of, by=name, method=method, **options)
                    for method in ("forward", "adjoint")
                )
            ]
        except sb.NoGradientError:
            continue
        now = float(program.parameter(name))

        def at(value, name=name):
            return integrals(program.with_parameters({name: value}))

        wanted, error = extrapolated(at, now, 1e-4 * max(abs(now), 0.1))
        size = np.abs(found[0]).max()
        np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-6 * size + 1e-9)
        if error > 1e-3 * (np.abs(wanted).max() + 1e-12):
            continue
        allowed = 1e-6 * size + 10 * error + 1e-9 * max(1.0, whole) / max(abs(now), 0.1)
        assert np.abs(found[0] - wanted).max() <= allowed, name
        compared += 1
    assert compared
