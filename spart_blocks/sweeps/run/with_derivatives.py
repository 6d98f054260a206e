"""Executes runs one after another, each with the derivatives of its metrics.

A run is that of a sweep without derivatives, to the last bit. Besides it, a run of the general
engine notes its steps, and is repeated with derivatives (gradients/gradient.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from spart_blocks.base.errors import SpartError
from spart_blocks.gradients.gradient import Gradient, GradientRuns
from spart_blocks.gradients.instants import NoGradientError
from spart_blocks.measures.metrics import derivative_labels
from spart_blocks.measures.work import FAILED, STATUSES, Derivatives, Done, Floats, Work, joined
from spart_blocks.run.engines.native import Native
from spart_blocks.sweeps.run import lanes
from spart_blocks.sweeps.run.one_by_one import in_turn, of_program, reference_of

RUN_FAILED = "the run failed"


def with_derivatives(work: Work) -> Generator[Done, None, None]:
    """Execute the runs of a work in this process, with derivatives. Yields outcomes as `each_run`
    does, and raises the same.
    """
    alone = partial(_in_a_lane, work) if lanes.refusal(work) is None else of_program(work)
    yield from in_turn(partial(_derived, work, alone), len(work.runs))


def _in_a_lane(work: Work, k: int) -> Done:
    return joined(list(lanes.run(work.part(slice(k, k + 1)), threads=1)))


def _derived(work: Work, alone: Callable[[int], Done], k: int) -> Done:
    """The outcome of run k with its derivatives. alone: executes it."""
    done, asked = alone(k), work.derivatives
    assert asked is not None
    if STATUSES[int(done.status[0])] == FAILED:
        return replace(done, underived={int(done.runs[0]): RUN_FAILED})
    found = Found(asked)
    try:
        found.collect(_gradients(work, asked), work.p[k])
    except SpartError as error:
        found.refuse(error, found.pairs)
    why = found.reasons()
    return replace(
        done, derivatives=found.columns, underived={int(done.runs[0]): why} if why else {}
    )


Pair = tuple[str, str]
"""A metric and a parameter."""


@dataclass
class Found:
    """The derivatives of one run. columns: by name, each (1,). refused: the pairs without, by
    reason.
    """

    asked: Derivatives
    columns: dict[str, Floats] = field(default_factory=dict)
    refused: dict[str, list[Pair]] = field(default_factory=dict)

    @property
    def pairs(self) -> list[Pair]:
        """All that are asked for."""
        return [(metric, name) for metric, names in self.asked.by.items() for name in names]

    def collect(self, runs: GradientRuns, p: Floats) -> None:
        """Find the derivatives at parameters p (np,): of all at once or, where a run has none by
        some parameter, by one after the other. Raises SpartError if the run itself fails.
        """
        try:
            self._take(runs.at(p))
        except NoGradientError as error:
            if len(runs.names) == 1:
                self.refuse(error, self.pairs)
                return
            for name in runs.names:
                self._by_one(runs.only(name), p)

    def _by_one(self, runs: GradientRuns, p: Floats) -> None:
        try:
            self._take(runs.at(p))
        except NoGradientError as error:
            self.refuse(error, [pair for pair in self.pairs if pair[1] in runs.names])

    def _take(self, found: Gradient) -> None:
        for metric, name in self.pairs:
            if name not in found.derivatives[metric]:
                continue
            numbers, shape = np.ravel(found.derivatives[metric][name]), self.asked.shapes[name]
            good = np.isfinite(numbers)
            labels = derivative_labels(metric, len(numbers) // math.prod(shape), name, shape)
            values = np.where(good, numbers, np.nan)
            self.columns |= {label: values[k : k + 1] for k, label in enumerate(labels)}
            if metric in found.refused:
                self.refuse(found.refused[metric], [(metric, name)])
            elif not good.all():
                whole = np.isfinite(found.values[metric]).all()
                text = "it has no finite derivative" if whole else "it has no finite value"
                self.refused.setdefault(text, []).append((metric, name))

    def refuse(self, error: SpartError, pairs: Sequence[Pair]) -> None:
        """Note why pairs have no derivative."""
        text = str(error).partition("\n")[0]
        self.refused.setdefault(text, []).extend(pairs)

    def reasons(self) -> str:
        """Why there is no derivative, each reason with what it is about; "" if there are all."""
        return "; ".join(f"{self._about(pairs)}{why}" for why, pairs in self.refused.items())

    def _about(self, pairs: Sequence[Pair]) -> str:
        if len(pairs) == len(self.pairs):
            return ""
        by: dict[str, list[str]] = {}
        for metric, name in pairs:
            by.setdefault(metric, []).append(name)
        names = {name for _, name in pairs}
        if len(pairs) == sum(name in names for _, name in self.pairs):
            return f"by {', '.join(by[pairs[0][0]])}: "
        whole = {metric for metric, some in by.items() if len(some) == len(self.asked.by[metric])}
        parts = (m if m in whole else f"{m} by {', '.join(some)}" for m, some in by.items())
        return f"{', '.join(parts)}: "


def _gradients(work: Work, asked: Derivatives) -> GradientRuns:
    """What repeats the runs of a work, made once in this process for works of the same program."""
    if id(asked) not in _KNOWN:
        while len(_KNOWN) >= _MOST_KNOWN:
            del _KNOWN[next(iter(_KNOWN))]
        engine = Native(work.program, reference_of(work))
        made = GradientRuns.along(
            engine, asked.formulas, (*asked.shapes,), (*asked.shapes.values(),), asked.changes,
            constants=asked.constants,
        )  # fmt: skip
        widths = {name: made.metrics.widths[name] for name in asked.by}
        made = replace(made, metrics=replace(made.metrics, widths=widths), apart=True)
        _KNOWN[id(asked)] = (asked, made)
    return _KNOWN[id(asked)][1]


_KNOWN: dict[int, tuple[Derivatives, GradientRuns]] = {}
_MOST_KNOWN = 4
