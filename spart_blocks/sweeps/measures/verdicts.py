"""Which runs of a sweep passed: the claims of `expect:`, judged for all runs at once."""

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
from spart_blocks.diagram.expectations import NOT_OF_A_RUN, ExpectSection
from spart_blocks.document import Keys
from spart_blocks.errors import Fault, InputError, Place
from spart_blocks.program import Program
from spart_blocks.program.added_signals import entries
from spart_blocks.results.signal_names import element_names, split_index
from spart_blocks.simulation.gauges import Gauge
from spart_blocks.sweeps.work import FAILED, STATUSES, Done


class Verdicts:
    """The claims about signals of a diagram's `expect:`, for the runs of one of its programs.

    gauges: what is to be measured of each run. left_out: the entries of the section that no single
    run decides. Without claims, or without a section, every run passes that does not fail.
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
        self.left_out = tuple(
            name for name in NOT_OF_A_RUN if section and getattr(section, name) is not None
        )

    def _check(self, kind: str, claim: Any) -> None:
        """Judge supposed readings, for the shapes of the claim's values."""
        none = np.zeros((1, int(np.prod(self._shapes[claim.signal], dtype=int))))
        names = ("least", "most", "when_least", "when_most", "first", "last", "any")
        found = dict.fromkeys((*names, "back", "when", "reached", "got"), none)
        measured_band(kind, claim, found, self._shapes[claim.signal], np.zeros(1))

    def passed(self, done: Done) -> NDArray[np.bool_]:
        """Whether each run (n,) fulfils all claims. One that failed does not."""
        passed = np.asarray(done.status != STATUSES.index(FAILED))
        for kind, claim, gauge in self._claims:
            found = done.readings.get(gauge)
            if found is None:
                return np.zeros(len(done.runs), dtype=bool)
            shape = self._shapes[claim.signal]
            with np.errstate(invalid="ignore"):
                band = measured_band(kind, claim, found, shape, done.t)
            passed = passed & measured(kind, found) & band.held()
        return passed

    def reasons(self, done: Done, k: int) -> list[str]:
        """Why run number k of these did not pass, a line for each claim; empty if it passed."""
        if done.status[k] == STATUSES.index(FAILED):
            return [done.messages.get(int(done.runs[k]), "it failed")]
        reasons: list[str] = []
        for kind, claim, gauge in self._claims:
            shape = self._shapes[claim.signal]
            found = {name: values[k] for name, values in done.readings[gauge].items()}
            if not measured(kind, found):
                reasons.append(f"{kind} {claim.signal}: {no_sample(0.0, float(done.t[k]))}")
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
