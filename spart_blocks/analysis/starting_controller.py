"""`starting_controller`: a PID or lead-lag controller with a wanted crossover and phase margin."""

from __future__ import annotations

import cmath
import math
from typing import Literal, get_args

import numpy as np

from spart_blocks.analysis.system import LinearSystem
from spart_blocks.base.argument_checks import as_number
from spart_blocks.base.errors import Fault, InputError, brief

Kind = Literal["pi", "pd", "pid", "lead_lag"]
CORNER = 0.2
"""The frequency up to which the integral of a pid prevails, relative to the crossover."""


def starting_controller(
    plant: LinearSystem,
    kind: Kind,
    *,
    crossover: float,
    phase_margin_deg: float = 60.0,
    N: float = math.inf,
) -> dict[str, float]:
    """The parameters of a controller with which the loop has gain 1 at a frequency, with a phase
    margin: in closed form, to begin a search with, or as it is.

    plant: from what the controller gives to what it controls, with the loop open. kind: "pi",
    "pd", "pid" have P, I, D, N of PID_2DOF, P + I/s + D N s/(s + N), the pid with I = 0.2 crossover
    P; "lead_lag" has gain, lead, lag of LEAD_LAG, with its corners evenly around the crossover.
    crossover [rad/s]. N [rad/s]: the cut-off frequency of the derivative.

    With the plant G at the crossover, C = exp(j (margin - pi)) / G. Source: K. J. Astrom, T.
    Hagglund, Advanced PID Control (2006), sec. 7.3 and 7.9. Raises InputError where no controller
    of this kind does it.
    """
    if kind not in get_args(Kind):
        known = ", ".join(get_args(Kind))
        raise InputError(f"there is no controller {brief(kind)}: it is one of {known}")
    w, margin = as_number(crossover, "crossover"), as_number(phase_margin_deg, "phase_margin_deg")
    if plant.D.shape != (1, 1):
        raise InputError(
            "a controller is of one signal: name one input and one output of the plant"
        )
    if not w > 0 or (plant.dt and w >= math.pi / plant.dt):
        raise InputError("crossover is above 0, and below the Nyquist frequency of a sampled plant")
    G = complex(plant.frequency_response(np.array([w]))[0, 0, 0])
    if not cmath.isfinite(G) or G == 0:
        raise InputError(f"the plant's gain at {w:g} rad/s is {abs(G):g}: take another crossover")
    C = cmath.exp(1j * (math.radians(margin) - math.pi)) / G
    found = _lead_lag(C, w) if kind == "lead_lag" else _pid(C, w, kind, N)
    if found is None:
        turn = math.degrees(cmath.phase(C))
        text = f"no {kind} turns the phase by {turn:.4g} deg at {w:g} rad/s, as it has to"
        hint = "a pi turns it by -90 to 0 deg, a pd by 0 to 90, a pid by -11 to 90, and lead_lag"
        hint += " by less than 90 either way; with a lower crossover less is needed"
        raise InputError(Fault(text, hint=hint))
    return found


def _pid(C: complex, w: float, kind: Kind, N: float) -> dict[str, float] | None:
    """P, I and D with P + I / (j w) + D d = C, where d is the filtered j w."""
    d = 1j * w if math.isinf(N) else 1j * w * N / (1j * w + N)
    if kind == "pi":
        P, I, D = C.real, -w * C.imag, 0.0
    else:
        corner = CORNER if kind == "pid" else 0.0
        P, D = np.linalg.solve([[1.0, d.real], [-corner, d.imag]], [C.real, C.imag]).tolist()
        I = corner * w * P
    if P <= 0 or I < 0 or D < 0:
        return None
    found = {"P": P}
    found |= {"I": I} if kind != "pd" else {}
    return found | ({"D": D} | ({} if math.isinf(N) else {"N": N}) if kind != "pi" else {})


def _lead_lag(C: complex, w: float) -> dict[str, float] | None:
    """gain (lead j w + 1) / (lag j w + 1) with lead lag = 1 / w^2: a phase of 2 atan(lead w) - 90
    deg, and the gain times lead w."""
    turn = cmath.phase(C)
    if abs(turn) >= 0.5 * math.pi:
        return None
    ratio = math.tan(0.25 * math.pi + 0.5 * turn)
    return {"gain": abs(C) / ratio, "lead": ratio / w, "lag": 1 / (ratio * w)}
