"""Compares the results of the two engines for a diagram."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.errors import RunError
from spart_blocks.diagram import Diagram
from spart_blocks.diagram.build.companions import AUDIT
from spart_blocks.results import Results
from spart_blocks.run import simulate
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.run import Progress
from spart_blocks.run.simulate import begin, finish
from spart_blocks.run.solvers.cvodes import METHODS
from spart_blocks.run.start import DEFAULT_SAMPLES

RTOL, ATOL = 1e-10, 1e-12
ALIKE = 1e-7
FLOOR = 1e-3
"""Smallest scale of a signal. Differences of smaller signals are relative to this, so that they
are absolute in effect.
"""


class EngineDifference(NamedTuple):
    """The difference of a signal or state between the engines. relative: to scale, the signal's
    largest magnitude. t: time of the largest difference [s].
    """

    name: str
    relative: float
    scale: float
    t: float

    @property
    def alike(self) -> bool:
        return self.relative <= ALIKE


def compare_engines(
    diagram: Diagram,
    T: float | None = None,
    progress: Progress | None = None,
    samples: int | None = None,
    file: DiagramFile | None = None,
) -> tuple[EngineDifference, ...]:
    """Run a diagram with both engines and tight tolerances. Returns the differences of all
    recorded signals and states, the largest first.

    samples: number of compared samples, unless the diagram sets it; by default that of a run. For
    each, the interpreter evaluates the whole diagram. file: that of the diagram, whose program may
    be cached, so that it is not traced again. The interpreter uses DOP853 in place of CVODES,
    which needs the native engine. Raises RunError if the runs end at different times or one fails;
    TraceError if the diagram cannot be traced.
    """
    end = diagram.run.T if T is None else T
    options: dict[str, Any] = {"rtol": RTOL, "atol": ATOL, "T": end}
    if diagram.run.every is None:  # what each run needs of its own are other times
        options["every"] = end / (samples or DEFAULT_SAMPLES)
    if diagram.run.solver == "auto":  # the same for both, on any machine
        diagram = diagram.with_sections(run=diagram.run.model_copy(update={"solver": "RK45"}))
    if file is None:
        native = simulate(diagram, engine="native", progress=progress, **options)
    else:
        more = {**options, "solver": diagram.run.solver}
        native = finish(begin(file, engine="native", progress=progress, **more))
    if diagram.run.solver in METHODS:
        diagram = diagram.with_sections(run=diagram.run.model_copy(update={"solver": "DOP853"}))
    blocks = simulate(diagram, engine="interpreter", progress=progress, **options)
    for results in (native, blocks):
        if results.stopped and "interrupted" in results.stopped:
            raise RunError(f"the comparison was {results.stopped}")
    if native.t.shape != blocks.t.shape or np.abs(native.t - blocks.t).max(initial=0.0) > ALIKE:
        raise RunError(
            f"the engines kept different times: native {_span(native)}, interpreter {_span(blocks)}"
        )
    pairs = [(name, native.signals[name], array) for name, array in blocks.signals.items()]
    pairs += [(f"states.{name}", native.states[name], a) for name, a in blocks.states.items()]
    found = [_difference(*pair, blocks.t, _floor(pair[0], blocks)) for pair in pairs]
    return tuple(sorted(found, key=lambda one: -one.relative))


def _span(results: Results) -> str:
    return f"{len(results.t)} samples to {results.t[-1]:.9g} s"


def _floor(name: str, results: Results) -> float:
    """The smallest scale of a signal. A balance of an audit is a sum that should be zero, so its
    scale is that of its largest term.
    """
    plant, audit, _ = name.partition(f"{AUDIT}.")
    terms = [other for other in results.signals if other.startswith(plant + AUDIT)]
    return max([FLOOR, *(results.scale(other) for other in terms)]) if audit else FLOOR


def _difference(name: str, got: Floats, want: Floats, t: Floats, floor: float) -> EngineDifference:
    if not want.size:
        return EngineDifference(name, 0.0, 0.0, 0.0)
    flat = np.abs(np.asarray(got, float) - want).reshape(len(t), -1).max(axis=1)
    scale = float(np.abs(want).max())
    k = int(np.argmax(flat))
    return EngineDifference(name, float(flat[k]) / max(scale, floor), scale, float(t[k]))
