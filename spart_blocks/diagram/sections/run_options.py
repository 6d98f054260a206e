"""Run options of a diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, PositiveFloat

from spart_blocks.base.errors import near_names
from spart_blocks.base.tableaus import (
    EXPLICIT_STEP,
    FIXED_STEP,
    PAIRS,
    FixedStepMethod,
    PairMethod,
    StiffMethod,
)
from spart_blocks.diagram.sections.section import Section

if TYPE_CHECKING:
    from spart_blocks.diagram.build.wiring import Wiring

Solver = Literal[
    "auto",
    PairMethod,
    "RK23",
    StiffMethod,
    "Radau",
    "BDF",
    "LSODA",
    "CVODES",
    "Adams",
    FixedStepMethod,
]


SOLVERS_ELSEWHERE: dict[str, Solver] = {
    "ode45": "RK45",
    "ode23": "RK23",
    "ode113": "Adams",
    "ode15s": "BDF",
    "ode23s": "Rodas5P",
    "ode23t": "BDF",
    "ode23tb": "BDF",
    "ode15i": "BDF",
    "ode78": "DOP853",
    "ode89": "DOP853",
    "ode1": "euler",
    "ode2": "heun",
    "ode3": "RK4",
    "ode4": "RK4",
    "ode5": "RK4",
    "ode8": "RK4",
    "ode14x": "Rodas3",
    "ode1be": "Rodas3",
    "daessc": "BDF",
    "variablestepauto": "auto",
    "variablestepdiscrete": "auto",
    "fixedstepdiscrete": "auto",
    "fixedstepauto": "auto",
    "discrete": "auto",
    "dopri5": "RK45",
    "dopri853": "DOP853",
    "runge_kutta3": "RK23",
    "runge_kutta5": "RK45",
    "implicit_euler": "BDF",
    "cvode": "CVODES",
    "dassl": "BDF",
    "ida": "BDF",
    "rk": "RK4",
    "rungekutta": "RK4",
}
"""Solvers of Simulink, Drake and Modelica tools by their names in lower case: the same method, or
the nearest to it."""


def solver_hint(name: object) -> str | None:
    """The name that a solver of another tool has here, or the nearest names."""
    if not isinstance(name, str):
        return None
    here = SOLVERS_ELSEWHERE.get(name.strip().casefold())
    if here is not None:
        return f"for {name.strip()} write {here}" + (
            ", with max_step as its step" if here in FIXED_STEP else ""
        )
    return near_names(name, get_args(Solver))


OF_PROGRAM = ("first_tick", "algebraic_loops", "loop_start")
"""The options that are part of a program."""
LONGEST = 1e12
"""The longest run [s]: thirty thousand years."""


def _lasting(T: float) -> float:
    if T > LONGEST:
        raise ValueError(f"{T:g} s is longer than any run can be; the most is {LONGEST:g} s")
    return T


class RunOptions(Section):
    """How a diagram runs; the `run:` section of a file."""

    T: Annotated[PositiveFloat, AfterValidator(_lasting)] = Field(
        default=10.0, description="end time [s]"
    )
    solver: Solver = Field(
        default="auto",
        description="how continuous states are integrated: auto picks RK45, Vern8 for tight "
        "tolerances, and an implicit method where a run is stiff; "
        f"explicit pairs with error control {', '.join(PAIRS)}; Rodas5P for stiff equations; "
        "SciPy's methods; CVODES (BDF) "
        f"and Adams of SUNDIALS; or with fixed steps of max_step {', '.join(EXPLICIT_STEP)}, and "
        "Rodas3 for stiff equations",
    )
    rtol: PositiveFloat = Field(default=1e-6, description="relative tolerance of the solver")
    atol: PositiveFloat = Field(default=1e-8, description="absolute tolerance of the solver")
    max_step: PositiveFloat | None = Field(default=None, description="longest step [s]")
    every: PositiveFloat | None = Field(
        default=None,
        description="interval [s] of a uniform grid of samples; by default both sides of all "
        "that jumps are kept, and as many rows between as straight lines need",
    )
    log: tuple[str, ...] = Field(
        default=(), description="signals to keep besides states and scopes"
    )
    first_tick: Literal["standard", "bdsim"] = Field(
        default="standard",
        description="clocks tick first at their offset, and sampled blocks hold their outputs; "
        "or (bdsim) they tick one period later, and what feeds through follows its input",
    )
    sliding: Literal["error", "filippov"] = Field(
        default="error",
        description="what happens where switches lead back from both sides, and where resets "
        "accumulate: the run ends with an error, or (filippov) the states slide along the "
        "surface, and rest at zero",
    )
    algebraic_loops: Literal["error", "solve"] = Field(
        default="error",
        description="what happens where blocks with direct feedthrough form a circle: it is "
        "refused, or (solve) solved at every evaluation, by Newton's method to 1e-12",
    )
    loop_start: dict[str, float | tuple[float, ...] | str] = Field(
        default={},
        description="where the solution of an algebraic loop is searched first, by signal; a "
        "loop is cut at the signals named here. A value, or the name of another signal; by "
        "default 0",
    )

    @property
    def of_program(self) -> tuple[Any, ...]:
        """The values of those that are part of a program; the others can change later."""
        return tuple(getattr(self, name) for name in OF_PROGRAM)


def check_run(section: RunOptions, wiring: Wiring) -> None:
    """Check that the signals to keep, and those of loops, exist."""
    for number, text in enumerate(section.log):
        wiring.check_signal(text, ("run", "log", number))
    for text in section.loop_start:
        keys = ("run", "loop_start", text)
        wiring.check_signal(text, keys, "loop_start")
        start = section.loop_start[text]
        if isinstance(start, str):
            wiring.check_signal(start, keys, "loop_start")
