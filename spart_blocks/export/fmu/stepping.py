"""The integration method of an FMU in co-simulation: its tableau and its options."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spart_blocks.base.errors import InputError
from spart_blocks.base.tableaus import CONTROLLED, PAIRS, RECOMMENDED, STIFF, Tableau, tableau
from spart_blocks.export.schedule import checked_method, checked_rate, refuse_implicit
from spart_blocks.program.c.dialects import literal
from spart_blocks.program.c.text import macros
from spart_blocks.program.c.writer import implicit_text, tableau_tables
from spart_blocks.program.linearised import Linearised, can_linearise
from spart_blocks.program.subdiagram import Subdiagram
from spart_blocks.run.run import LEAST_STEPS

USUAL_RATE = 1000.0  # Hz
RATES = (1e-3, 1e6)  # Hz


@dataclass(frozen=True)
class Stepping:
    """How co-simulation integrates the states.

    method: a name of FIXED_STEP in equal steps of at most `step` [s], or one of PAIRS or STIFF with
    error control in steps of at most max_step [s]. rtol, atol: the tolerances if the importer gives
    none. If it gives a relative tolerance, atol is scaled in proportion.
    """

    method: str
    step: float
    max_step: float
    rtol: float
    atol: float

    @property
    def controlled(self) -> bool:
        return self.method in (*PAIRS, STIFF)

    @property
    def tableau(self) -> Tableau:
        found = tableau(self.method)
        assert found is not None
        return found


def stepping_of(part: Subdiagram, rate: float | None = None, method: str | None = None) -> Stepping:
    """The requested stepping. With a rate [Hz] or a method: equal steps, by default at 1000 Hz and
    with the recommended method. Without both: error control, by the run's solver if it is one of
    PAIRS, or STIFF where states do not slide and derivatives are short, unless a block needs equal
    steps.

    Raises InputError for an invalid method or rate.
    """
    if method is not None:
        refuse_implicit(part.program, checked_method(method))
    steps = USUAL_RATE if rate is None else checked_rate(rate)
    if not RATES[0] <= steps <= RATES[1]:
        raise InputError(f"the rate must be from {RATES[0]:g} to {RATES[1]:g} Hz, not {steps:g}")
    program, run = part.program, part.program.run
    asked = rate is not None or method is not None
    # Error control takes very short steps at the pose in which a damped mechanism loses rank.
    controlled = not asked and not program.fixed and not program.damped
    kinds = {"stop", "event", "mode", "fault"} | ({"bend"} if run.sliding == "filippov" else set())
    acting = any(crossing.kind in kinds for crossing in program.crossings)
    longest = run.max_step or (run.T / LEAST_STEPS if acting else np.inf)
    stiff = run.solver == STIFF and run.sliding != "filippov" and can_linearise(program)
    pair = run.solver if stiff or run.solver in PAIRS else CONTROLLED
    return Stepping(
        pair if controlled else method or RECOMMENDED,
        float(1 / Fraction(repr(float(steps)))),
        float(longest),
        float(run.rtol),
        float(run.atol),
    )


def stepping_text(stepping: Stepping, linear: Linearised | None) -> str:
    """The stepping as macros and tables of C. linear: the derivatives for implicit steps."""
    tableau = stepping.tableau
    sizes = {
        "SB_STAGES": len(tableau.b),
        "SB_STAGES_IN_ALL": len(tableau.c),
        "SB_ESTIMATES(m)": f"((void)(m), {1 if tableau.e2 is None else 2})",
        "SB_CONTROLLED(m)": f"((void)(m), {int(stepping.controlled)})",
        "SB_DENSE_ORDER(m)": 0 if tableau.P is None else tableau.P.shape[1],
        "SB_STEP": literal(stepping.step),
        "SB_MAX_STEP": literal(stepping.max_step),
        "SB_RTOL": literal(stepping.rtol),
        "SB_ATOL_PER_RTOL": literal(stepping.atol / stepping.rtol),
        "SB_EXPONENT(m)": f"((void)(m), {literal(-1.0 / tableau.order)})",
    }
    parts = [*tableau_tables(tableau), *implicit_text(tableau, linear)]
    return "\n".join([macros(sizes), *parts])
