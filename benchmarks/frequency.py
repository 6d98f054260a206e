"""Margins, disk margins, norms and poles of nine loops, beside those of python-control.

    python benchmarks/frequency.py                 # prints the comparison
    python benchmarks/frequency.py --golden FILE   # writes python-control's figures (JSON)

The disk margins of several signals, and accurate norms, need slycot beside it.
"""

from __future__ import annotations

import argparse
import json
import math
from contextlib import suppress
from pathlib import Path

import control
import numpy as np

SEED = 4
MOST = 1e6


def loops():
    """Loops L with negative feedback, by name."""
    s = control.tf("s")
    delay = control.tf(*control.pade(0.3, 4))
    flexible = (s**2 + 0.02 * s + 4) / (s**2 * (s**2 + 0.03 * s + 9)) * 9 / 4
    sampled = control.c2d(1 / (s * (s + 1)), 0.1) * control.tf([3.0, -2.4], [1, -0.4], 0.1)
    turning = control.ss([[0, 10], [-10, 0]], np.eye(2), [[1, 10], [-10, 1]], np.zeros((2, 2)))
    rng = np.random.default_rng(SEED)
    A = rng.normal(size=(6, 6)) - 3.5 * np.eye(6)
    three = control.ss(A, rng.normal(size=(6, 3)), rng.normal(size=(3, 6)), np.zeros((3, 3)))
    return {
        "three lags": control.ss(4 / ((s + 1) * (0.2 * s + 1) * (0.05 * s + 1))),
        "unstable plant": control.ss(6 * (s + 4) / ((s - 1) * (0.05 * s + 1) * (s + 6))),
        "delay (Pade 4)": control.ss(0.9 / (s * (0.5 * s + 1)) * delay),
        "flexible, PD": control.ss((0.4 + 0.9 * s) / (0.1 * s + 1) * flexible),
        "conditionally stable": control.ss(4 * (s + 1) ** 2 / s**3),
        "feed-through": control.ss((0.3 * s**2 + 2 * s + 3) / (s**2 + 0.4 * s + 1)),
        "sampled, lead": control.ss(sampled),
        "turning body (2 x 2)": turning * control.ss([], [], [], [[1, -2], [0, 1]]),
        "random (3 x 3)": three,
    }  # fmt: skip


def of_control(L):
    """python-control's figures of a loop."""
    k = L.ninputs
    eye = control.ss([], [], [], np.eye(k), L.dt)
    S = control.feedback(eye, L)
    T = control.feedback(L, eye)
    found = {}
    if k == 1:
        gains, phases, _, _, w, _ = control.stability_margins(L, returnall=True)
        gain = float(np.exp(np.abs(np.log(gains)).min(initial=np.inf)))
        if gain < MOST:  # others are crossings at rounding
            found["gain_margin"] = gain
        found["phase_margin"] = float(np.radians(np.abs(phases).min()))
        found["crossover"] = float(np.max(w))
        with suppress(ValueError):  # its bracket has no change of sign
            found["bandwidth"] = float(control.bandwidth(T))
    found["sensitivity_peak"] = largest(S)
    found["complementary_peak"] = largest(T)
    found["disk_margin"] = disk(L)
    found["disk_margin of S"] = disk(L, 1.0)
    w, ratios, poles = control.damp(S, doprint=False)
    found["damping"] = float(np.min(ratios))
    poles = np.log(poles.astype(complex)) / L.dt if L.dt else poles
    found["decay"] = float(-poles.real.max())
    return found


def largest(system):
    """The norm, or its own frequency response where this is larger (it is for two of them)."""
    norm = float(control.system_norm(system, p="inf", tol=1e-10, print_warning=False))
    w, best = grid(system), norm
    for _ in range(4):
        G = np.moveaxis(
            np.atleast_3d(control.frequency_response(system, w, squeeze=False).frdata), 2, 0
        )
        gains = np.linalg.norm(G, 2, axis=(1, 2))
        j = int(np.argmax(gains))
        best = max(best, float(gains[j]))
        w = np.linspace(w[max(j - 2, 0)], w[min(j + 2, len(w) - 1)], 400)
    return best


def grid(system):
    return np.geomspace(1e-4, 0.999 * math.pi / system.dt if system.dt else 1e4, 3000)


def disk(L, skew=0.0):
    """The disk margin over a grid of frequencies that is refined around its least."""
    w = grid(L)
    for _ in range(4):
        margins, _, _ = control.disk_margins(L, w, skew=skew, returnall=True)
        j = int(np.argmin(margins))
        w = np.linspace(w[max(j - 2, 0)], w[min(j + 2, len(w) - 1)], 400)
    return float(np.min(margins))


def of_this_package(L):
    """The same figures by this package."""
    from spart_blocks.analysis.frequency.margins import Loop
    from spart_blocks.analysis.frequency.poles import Poles
    from spart_blocks.analysis.frequency.response import Changes, Matrices
    from spart_blocks.analysis.frequency.transfers import Transfer

    given = Matrices(L.A, L.B, L.C, L.D, float(L.dt or 0.0))
    loop = Loop(given, Changes.none(given))
    S = loop.closed
    poles = Poles(S, Changes.none(S))
    found = {}
    if len(L.D) == 1:
        found["gain_margin"] = loop.gain_margin()
        found["phase_margin"] = loop.phase_margin()
        found["crossover"] = loop.crossover()
        T = Matrices(S.A, S.B, -S.C, 1 - S.D, S.dt)
        found["bandwidth"] = Transfer(T, Changes.none(T)).bandwidth()
    found["sensitivity_peak"] = loop.sensitivity_peak()
    found["complementary_peak"] = loop.complementary_peak()
    found["disk_margin"] = loop.disk_margin()
    found["disk_margin of S"] = loop.disk_margin(1.0)
    found["damping"] = poles.damping()
    found["decay"] = poles.decay()
    return {name: one.value for name, one in found.items()}


def written(path):
    """Write python-control's figures."""
    import slycot

    table = {
        "source": f"python-control {control.__version__} with slycot {slycot.__version__}; "
        "benchmarks/frequency.py --golden",
        "loops": {
            name: {
                **{key: np.asarray(getattr(L, key)).tolist() for key in "ABCD"},
                "dt": float(L.dt or 0.0),
                "figures": of_control(L),
            }
            for name, L in loops().items()
        },
    }
    Path(path).write_text(json.dumps(table, indent=1), encoding="utf-8")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--golden", metavar="FILE")
    golden = options.parse_args().golden
    if golden:
        written(golden)
        return
    print(f"{'':24}{'':22}{'python-control':>16}{'this package':>16}  difference")
    for name, L in loops().items():
        theirs, ours = of_control(L), of_this_package(L)
        for figure, value in theirs.items():
            own = ours[figure]
            apart = abs(own - value) / max(abs(value), 1e-12) if np.isfinite(value) else 0.0
            print(f"{name:24}{figure:22}{value:16.9g}{own:16.9g}  {apart:.1e}")


if __name__ == "__main__":
    main()
