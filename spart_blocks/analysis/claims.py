"""Converts claims to bands in which a signal must stay; one function for each kind of claim."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError
from spart_blocks.diagram.sections.expectations import OF_ANSWERS
from spart_blocks.results import Results
from spart_blocks.run.measure.gauges import Gauge, Readings

Floats = NDArray[np.float64]
Meters = Mapping[Gauge, Readings]
NEAR = "expected {expected:.9g} within {bound:.3g}, off by {off:.3g}"
LEAST_BALANCE = 0.1
"""Smallest scale for momentum [kg m/s, N m s] and energy [J]."""
TYPICAL_MASS = 100.0
"""Typical mass of a robot [kg], to estimate the momentum of its parts from its kinetic energy."""


@dataclass(frozen=True, eq=False)
class Band:
    """The band for a signal of m elements at K samples, or at its K extremes, in one run or in n
    runs.

    t (K,) [s], or (K, m) if the elements have different times. got (K, m): the values. low, high
    (K, m): the limits, inclusive, possibly infinite. expected (K, m): the middle, if there is one.
    For n runs all of these have a leading axis of length n. words: text of the expectation, a
    format of expected, low, high, bound (high - expected) and off (|got - expected|).
    """

    t: Floats
    got: Floats
    low: Floats
    high: Floats
    expected: Floats | None
    words: str

    def held(self) -> NDArray[np.bool_]:
        """Whether the signal is in its band, for one run or each of n runs. NaN is not."""
        inside: NDArray[np.bool_] = (self.low <= self.got) & (self.got <= self.high)
        return np.asarray(inside.all(axis=(-2, -1)))

    def run(self, k: int) -> Band:
        """The band of run k of n runs."""
        expected = None if self.expected is None else self.expected[k]
        return Band(self.t[k], self.got[k], self.low[k], self.high[k], expected, self.words)

    def when(self, miss: Miss) -> float:
        """The time of a miss [s]."""
        at = self.t[miss.sample]
        when = float(at if self.t.ndim == 1 else at[miss.element])
        return _plain(float(f"{when:.12g}"))  # the instants beside a start or a stop are as these


@dataclass(frozen=True)
class Miss:
    """The sample with the largest violation of a band, or the one that comes closest to it.
    elements: number of elements that violate the band.
    """

    sample: int
    element: int
    elements: int


def farthest(band: Band) -> Miss | None:
    """The worst sample of a band; None if all are inside. NaN counts as worst."""
    if band.held():
        return None
    out = ~((band.low <= band.got) & (band.got <= band.high))
    beyond = np.where(out, np.nan_to_num(_beyond(band), nan=np.inf), -np.inf)
    return _at_most(beyond, int(out.any(axis=0).sum()))


def closest(band: Band) -> Miss | None:
    """The sample closest to a limit of a band in which all samples are; None without samples."""
    return _at_most(_beyond(band), 0) if band.got.size else None


def _beyond(band: Band) -> Floats:
    """The distance of each sample beyond the nearer limit; negative inside the band."""
    return np.maximum(band.low - band.got, band.got - band.high)


def _at_most(beyond: Floats, elements: int) -> Miss:
    sample, element = divmod(int(np.argmax(beyond)), beyond.shape[1])
    return Miss(sample, element, elements)


def told(band: Band, miss: Miss) -> str:
    """A text with actual and expected value at a sample, and the number of other elements that
    violate the band.
    """
    at = (miss.sample, miss.element)
    low, got, high = float(band.low[at]), _plain(float(band.got[at])), float(band.high[at])
    middle = float(band.expected[at]) if band.expected is not None else np.nan
    law = band.words.format(
        expected=middle, low=low, high=high, bound=high - middle, off=abs(got - middle)
    )
    others = max(0, miss.elements - 1)
    also = f" (so do {others} other elements)" if others > 1 else " (so does one other)"
    text = f"got {got:.9g} at t = {band.when(miss):.6g} s, {law}"
    return text + also if others else text


def _plain(value: float) -> float:
    """The number; zero if it is almost zero."""
    return 0.0 if abs(value) < 1e-300 else value


def no_sample(kind: str, claim: Any, start: float, end: float) -> str:
    """The message if no sample lies in the time of a claim, or there is no step to answer. start,
    end [s]: of the run.
    """
    if kind in OF_ANSWERS:
        return f"{claim.to} makes no step in this run that {claim.signal} could follow"
    return f"no sample lies in its time: the run goes from {start:g} to {end:g} s"


def elements(results: Results, signal: str) -> Floats:
    """A signal with its elements flattened, (N, m), as floats."""
    array = results[signal]
    if array.dtype.kind == "c":
        raise InputError(f"{signal} is complex; expect takes real signals")
    width = int(np.prod(array.shape[1:], dtype=int))
    return np.asarray(array, dtype=float).reshape(len(array), width)


# The kinds. Each takes its claim, t (N,) or (N, m), x (N, m), and `wide`, which spreads a
# value of the claim over the m elements. What they take lies within the claim's times; of a
# run that was measured it is what decides: extremes, the last value, how far it went back. Of n
# runs that were measured, t and x are (n, N, m).

Wide = Callable[[Any], Floats]
Kind = Callable[[Any, Floats, Floats, Wide], Band]


def near(t: Floats, got: Floats, expected: Floats, within: Floats | float) -> Band:
    """The band of half-width `within` around the expected value; both are broadcast to the
    samples.
    """
    middle = np.broadcast_to(expected, got.shape)
    return Band(t, got, middle - within, middle + within, middle, NEAR)


def _settles(claim: Any, t: Floats, x: Floats, wide: Wide) -> Band:
    return near(t, x, wide(claim.to), claim.within)


def _final(claim: Any, t: Floats, x: Floats, wide: Wide) -> Band:
    last = t[-1:] if t.ndim < x.ndim else t[..., -1:, :]
    return near(last, x[..., -1:, :], wide(claim.value), claim.within)


def _stays_within(claim: Any, t: Floats, x: Floats, wide: Wide) -> Band:
    low = np.broadcast_to(-np.inf if claim.low is None else wide(claim.low), x.shape)
    high = np.broadcast_to(np.inf if claim.high is None else wide(claim.high), x.shape)
    words = "expected between {low:.9g} and {high:.9g}"
    if claim.low is None or claim.high is None:
        words = (
            "expected at most {high:.9g}" if claim.low is None else "expected at least {low:.9g}"
        )
    return Band(t, x, low, high, None, words)


def _never_exceeds(claim: Any, t: Floats, x: Floats, wide: Wide) -> Band:
    limit = np.broadcast_to(wide(claim.limit), x.shape)
    return Band(t, x, -limit, limit, None, "expected a magnitude of at most {high:.9g}")


def _conserved(claim: Any, t: Floats, x: Floats, wide: Wide) -> Band:
    """The band of a signal that must stay constant. Its width is the allowed range. It is placed
    around the first sample in proportion to the signal's largest deviations in both directions, so
    that the signal is inside exactly if its range is allowed.
    """
    first = x[..., :1, :]
    least, most = x.min(axis=-2, keepdims=True), x.max(axis=-2, keepdims=True)
    extent = most - least
    below = np.divide(first - least, extent, out=np.full(first.shape, 0.5), where=extent > 0)
    low, high = first - claim.within * below, first + claim.within * (1 - below)
    held = extent <= claim.within  # decides, whatever rounding does to the edges
    low, high = (
        np.broadcast_to(np.where(held, extreme, edge), x.shape)
        for edge, extreme in ((low, np.minimum(low, least)), (high, np.maximum(high, most)))
    )
    words = (
        "expected {expected:.9g} as at the start, off by {off:.3g}; all samples may range over "
        f"{claim.within:.3g}"
    )
    return Band(t, x, low, high, np.broadcast_to(first, x.shape), words)


def _monotone(claim: Any, t: Floats, x: Floats, wide: Wide) -> Band:
    free = np.full(x.shape, np.inf)
    if claim.direction == "rising":
        reached = np.maximum.accumulate(x, axis=-2)
        words = "expected at least {low:.9g}, as it had risen"
        return Band(t, x, reached - claim.within, free, reached, words)
    reached = np.minimum.accumulate(x, axis=-2)
    words = "expected at most {high:.9g}, as it had fallen"
    return Band(t, x, -free, reached + claim.within, reached, words)


def _answers(words: str) -> Kind:
    """A kind of claim about a number of a step's answer, of which x has one."""

    def band(claim: Any, t: Floats, x: Floats, wide: Wide) -> Band:
        high = np.broadcast_to(wide(claim.limit), x.shape)
        return Band(t, x, np.full(x.shape, -np.inf), high, None, words)

    return band


KINDS: Mapping[str, Kind] = {
    "settles": _settles,
    "stays_within": _stays_within,
    "never_exceeds": _never_exceeds,
    "conserved": _conserved,
    "monotone": _monotone,
    "final": _final,
    "rise_time": _answers("expected a rise time of at most {high:.9g} s"),
    "settling_time": _answers("expected a settling time of at most {high:.9g} s"),
    "overshoot": _answers("expected an overshoot of at most {high:.9g} %"),
}


def gauge_of(kind: str, claim: Any) -> Gauge:
    """The gauge that measures the signal of a claim during a run."""
    if kind == "settles":
        return Gauge("extremes", claim.signal, since=claim.by, until=_end_of(claim))
    if kind == "stays_within":
        since = -math.inf if claim.since is None else claim.since
        until = _end_of(claim)
        return Gauge("extremes", claim.signal, since=since, until=until)
    if kind == "monotone":
        back: Literal["rising_back", "falling_back"] = (
            "falling_back" if claim.direction == "rising" else "rising_back"
        )
        return Gauge(back, claim.signal)
    if kind in OF_ANSWERS:
        return Gauge("step", claim.signal, claim.to)
    return Gauge("extremes", claim.signal)


def _end_of(claim: Any) -> float:
    return math.inf if claim.until is None else float(claim.until)


def measured(kind: str, found: Readings) -> NDArray[np.bool_]:
    """Whether a run, or each of n runs, has samples in the time of a claim, or the step that it is
    about.
    """
    if kind in OF_ANSWERS:
        marks = ~np.isnan(found["overshoot_percent"])
    else:
        marks = ~np.isnan(found["when"]) if kind == "monotone" else found["any"] > 0
    return np.asarray(marks.all(axis=-1))


def measured_band(
    kind: str, claim: Any, found: Readings, shape: tuple[int, ...], end: Floats | float
) -> Band:
    """The band of a claim for the readings of one run (m,), or of n runs (n, m).

    shape: of the signal. end [s]: end time of each run. Raises InputError if the claim's values do
    not have the shape of the signal.
    """
    t, x = _deciding(kind, found, end)
    return KINDS[kind](claim, t, x, _wide(claim.signal, shape))


def _deciding(kind: str, found: Readings, end: Floats | float) -> tuple[Floats, Floats]:
    """The times (..., K, m) and values (..., K, m) of the readings that decide a claim."""
    if kind == "monotone":
        rows = [(found["when"], found["reached"]), (found["when"], found["got"])]
    elif kind in OF_ANSWERS:
        value = found["overshoot_percent" if kind == "overshoot" else kind]
        value = np.where(np.isnan(value), np.inf, value)  # the run ended before
        rows = [(np.broadcast_to(np.asarray(end)[..., None], value.shape), value)]
    elif kind == "final":
        last = found["last"]
        rows = [(np.broadcast_to(np.asarray(end)[..., None], last.shape), last)]
    else:
        rows = [(found["when_least"], found["least"]), (found["when_most"], found["most"])]
        if kind == "conserved":  # against the first
            rows.insert(0, (np.zeros_like(found["first"]), found["first"]))
    t, x = (np.stack([row[k] for row in rows], axis=-2) for k in range(2))
    return t, x


def _wide(signal: str, shape: tuple[int, ...]) -> Wide:
    """A function that broadcasts a value to the elements of a signal of this shape."""

    def wide(value: Any) -> Floats:
        try:
            given = np.asarray(value, dtype=float)
        except ValueError:
            raise InputError(f"{signal}: the rows of the value differ in length") from None
        if given.ndim and given.shape != shape:
            has = f"has shape {shape}" if shape else "is a number"
            raise InputError(f"{signal} {has}, the value has shape {given.shape}")
        return np.broadcast_to(given.reshape(-1), (math.prod(shape),))

    return wide


def band_of(kind: str, claim: Any, results: Results, readings: Meters | None = None) -> Band:
    """The band of a claim: from the readings of the run, or, without them, from its samples. It
    has no samples if the run has none in the time of the claim. Raises InputError if the claim's
    values do not have the shape of the signal.
    """
    x = elements(results, claim.signal)
    gauge = gauge_of(kind, claim)
    shape = results[claim.signal].shape[1:]
    found = (readings or {}).get(gauge)
    if found is not None and measured(kind, found):
        return measured_band(kind, claim, found, shape, float(results.t[-1]))
    during = (gauge.since <= results.t) & (results.t <= gauge.until)
    during &= found is None and kind not in OF_ANSWERS
    return KINDS[kind](claim, results.t[during], x[during], _wide(claim.signal, shape))


def audit_gauges(names: Iterable[str]) -> Iterator[Gauge]:
    """The gauges for the audit balances among these signals."""
    for balance, whole, energy in _balances(names):
        yield Gauge("extremes", balance)
        yield Gauge("extremes", whole)
        yield Gauge("extremes", whole, balance)
        yield Gauge("extremes", energy)


def _balances(names: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """For each audit balance the names of its signal, of the quantity that it balances, and of the
    energy.
    """
    for name in names:
        base, dot, quantity = name.partition(".audit.")
        part = quantity.removesuffix("_balance")
        if part in ("p", "h", "energy") and quantity != part:
            yield name, f"{base}{dot}{part}", f"{base}{dot}energy"


def balances(
    results: Results, within: float, readings: Meters | None = None
) -> Iterator[tuple[str, Band]]:
    """The audit balances in the results, each with its band: it must keep its initial value.

    readings: measurements of them; without, samples are used. within: relative to the larger of
    the two quantities whose difference the balance is: momentum and impulse, energy and work. The
    total momentum of a free-floating robot is zero, but not that of its parts: sqrt(2 m E) with a
    typical mass is used for it. Source: Newton and Euler for the whole system; see the block
    AUDIT.
    """
    found = readings or {}

    def largest(name: str, less: str | None = None) -> float:
        read = found.get(Gauge("extremes", name, less))
        if read is not None:
            return float(np.maximum(np.abs(read["least"]), np.abs(read["most"])).max())
        x = elements(results, name) - (0.0 if less is None else elements(results, less))
        return float(np.abs(x).max())

    for name, whole, energy in _balances(results.signals):
        scale = max(largest(whole), largest(whole, name), LEAST_BALANCE)
        if whole != energy and energy in results:
            scale = max(scale, float(np.sqrt(2 * TYPICAL_MASS * largest(energy))))
        t, x = results.t, elements(results, name)
        read = found.get(Gauge("extremes", name))
        if read is not None:
            t, x = _deciding("conserved", read, float(results.t[-1]))
        yield name, near(t, x, x[:1], within * scale)
