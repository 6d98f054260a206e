"""Which runs of a sweep passed: the claims of `expect:` are evaluated for all runs at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.analysis.claims import (
    farthest,
    gauge_of,
    measured,
    measured_band,
    no_sample,
    told,
)
from spart_blocks.base.document import Keys
from spart_blocks.base.errors import Fault, InputError, Place
from spart_blocks.base.paths import element_names, split_index
from spart_blocks.diagram.sections.expectations import NOT_OF_A_RUN, ExpectSection
from spart_blocks.measures.work import FAILED, STATUSES, Done
from spart_blocks.program import Program
from spart_blocks.program.added_signals import entries
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.sweeps.storage.columns import SEPARATOR


def claim_names(section: ExpectSection | None) -> tuple[str, ...]:
    """The names of the claims about signals, such as `settles angle`, with numbers where several
    are alike.
    """
    names: list[str] = []
    for keys, claim in section.claims() if section else ():
        name = f"{keys[0]} {claim.signal}"
        before = sum(other.partition(" (")[0] == name for other in names)
        names.append(f"{name} ({before + 1})" if before else name)
    return tuple(names)


def left_out_of(section: ExpectSection | None) -> tuple[str, ...]:
    """The entries of an `expect:` section that cannot be decided from a single run."""
    return tuple(n for n in NOT_OF_A_RUN if section and getattr(section, n) is not None)


class Verdicts:
    """The claims of `expect:` about signals, for the runs of one program.

    gauges: what each run must measure. names: the names of the claims. Without claims every run
    passes that does not fail.
    """

    def __init__(
        self,
        section: ExpectSection | None,
        program: Program,
        places: Mapping[Keys, Place] = MappingProxyType({}),
    ) -> None:
        """places: where each claim is written. Raises InputError for all claims that do not fit the
        program's signals."""
        self._claims: list[tuple[str, Any, Gauge]] = []
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._program = program
        faults: list[Fault] = []
        for keys, claim in section.claims() if section else ():
            kind = str(keys[0])
            try:
                self._shapes[claim.signal] = entries(program, claim.signal).shape
                self._check(kind, claim)
            except InputError as error:
                named = (f"expect: {kind}: {fault.message}" for fault in error.faults)
                faults += (
                    replace(fault, message=text, place=places.get(keys))
                    for fault, text in zip(error.faults, named, strict=True)
                )
                continue
            self._claims.append((kind, claim, gauge_of(kind, claim)))
        if faults:
            raise InputError(faults)
        self.gauges = tuple(dict.fromkeys(gauge for _, _, gauge in self._claims))
        self.names = claim_names(section)

    def _check(self, kind: str, claim: Any) -> None:
        """Evaluate a claim on fictitious readings, to check the shapes of its values."""
        none = np.zeros((1, int(np.prod(self._shapes[claim.signal], dtype=int))))
        names = ("least", "most", "when_least", "when_most", "first", "last", "any")
        answer = ("rise_time", "settling_time", "overshoot_percent")
        found = dict.fromkeys((*names, *answer, "back", "when", "reached", "got"), none)
        measured_band(kind, claim, found, self._shapes[claim.signal], np.zeros(1))

    def passed(self, done: Done) -> NDArray[np.bool_]:
        """Whether each run fulfils all claims (n,). A failed run does not."""
        failed = np.asarray(done.status == STATUSES.index(FAILED))
        return ~failed & self._held(done).all(axis=0)

    def missed(self, done: Done) -> NDArray[np.object_]:
        """For each run the names of the claims that it does not fulfil, joined to one text (n,).
        The text is empty for runs that passed, and for failed runs, which are not evaluated.
        """
        if not self.names or not len(done.runs):
            return np.full(len(done.runs), "", dtype=object)
        missed = ~self._held(done) & (done.status != STATUSES.index(FAILED))
        kinds, which = np.unique(missed.T, axis=0, return_inverse=True)
        texts = [
            SEPARATOR.join(n for n, wrong in zip(self.names, kind, strict=True) if wrong)
            for kind in kinds
        ]
        return np.array(texts, dtype=object)[which.ravel()]

    def _held(self, done: Done) -> NDArray[np.bool_]:
        """Whether each claim is fulfilled in each run (claims, n)."""
        held = np.zeros((len(self._claims), len(done.runs)), dtype=bool)
        for row, (kind, claim, gauge) in zip(held, self._claims, strict=True):
            found = done.readings.get(gauge)
            if found is None:
                continue
            shape = self._shapes[claim.signal]
            with np.errstate(invalid="ignore"):
                band = measured_band(kind, claim, found, shape, done.t)
            row[:] = measured(kind, found) & band.held()
        return held

    def reasons(self, done: Done, k: int) -> list[str]:
        """Why run k of these runs did not pass: a line for each claim; an empty list if
        it passed.
        """
        if done.status[k] == STATUSES.index(FAILED):
            return [done.messages.get(int(done.runs[k]), "it failed")]
        reasons: list[str] = []
        for kind, claim, gauge in self._claims:
            shape = self._shapes[claim.signal]
            found = {name: values[k] for name, values in done.readings[gauge].items()}
            if not measured(kind, found):
                missing = no_sample(kind, claim, 0.0, float(done.t[k]))
                reasons.append(f"{kind} {claim.signal}: {missing}")
                continue
            band = measured_band(kind, claim, found, shape, float(done.t[k]))
            miss = farthest(band)
            if miss is not None:
                label = self._labels(claim.signal)[miss.element]
                reasons.append(f"{kind} {label}: {told(band, miss)}")
        return reasons

    def _labels(self, signal: str) -> list[str]:
        """The names of a signal's elements."""
        base, index = split_index(signal)
        return element_names(base, entries(self._program, base).shape, index)
