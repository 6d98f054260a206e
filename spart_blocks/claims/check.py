"""Run a diagram once and check it against its `expect:` section."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spart_blocks.analysis.agreement import compare_engines
from spart_blocks.analysis.claims import (
    Band,
    Meters,
    Miss,
    audit_gauges,
    balances,
    band_of,
    closest,
    farthest,
    gauge_of,
    no_sample,
    told,
)
from spart_blocks.base.document import Keys
from spart_blocks.base.errors import Fault, InputError, Place, RunError, SpartError, SpartWarning
from spart_blocks.claims import baselines
from spart_blocks.claims.claim_drawing import Worst, draw
from spart_blocks.claims.files import ClaimCase
from spart_blocks.claims.outcome import CaseOutcome, Change, Failure, Finding
from spart_blocks.claims.success import shown_by_sweep
from spart_blocks.diagram import load_expectations
from spart_blocks.diagram.diagram import RunOptions
from spart_blocks.diagram.sections.expectations import (
    OF_ANSWERS,
    EnginesClaim,
    Expectations,
    SuccessClaim,
)
from spart_blocks.results import Results
from spart_blocks.results.signal_names import file_name
from spart_blocks.results.summary import real_time_factor
from spart_blocks.run import DiagramFile, begin, finish
from spart_blocks.run.run import Progress

BALANCES_WITHIN = 1e-6
MOST_STEPS = 2_000_000
"""Largest number of steps of a test's run, since a diverging run takes ever shorter steps."""
SAMPLES = 100
"""Samples for the comparison of both engines, unless the diagram sets `every`."""
RTOLS = 100
"""Default tolerance of balances, as a multiple of the run's rtol, with a margin for the solver's
error; at least 1e-6.
"""


@dataclass(frozen=True)
class Manner:
    """Options of tests. update: replace baselines that no longer match, instead of failing;
    force: replace all. timing: whether too low a speed is a failure. plots: folder for pictures,
    or None."""

    update: bool = False
    force: bool = False
    timing: bool = False
    plots: Path | None = None


def check_file(
    path: str | Path,
    *,
    overrides: tuple[str, ...] = (),
    root: Path | None = None,
    variants: tuple[str, ...] = (),
    blocks: tuple[str, ...] = (),
    manner: Manner | None = None,
) -> CaseOutcome:
    """Run the test of a file. overrides: `path=value`; variants: `slot=choice`, for choices other
    than the defaults; blocks: the user's packages of blocks."""
    file = Path(path)
    return check(ClaimCase(file, file.stem, overrides, root, variants, blocks), manner)


def check(
    case: ClaimCase,
    manner: Manner | None = None,
    progress: Progress | None = None,
    runs: Progress | None = None,
) -> CaseOutcome:
    """Run a test. Failures and faults are returned in the outcome, not raised. No baseline is
    written; see `baselines.record`. progress: called with (t, T) during the run. runs: called with
    (completed runs, all runs) during its sweep."""
    started = time.perf_counter()
    heard: list[str] = []
    with _overheard(heard):
        outcome = _outcome(case, manner or Manner(), progress, runs, heard)
    seconds = time.perf_counter() - started
    return replace(outcome, warnings=tuple(dict.fromkeys(heard)), seconds=seconds)


def _outcome(
    case: ClaimCase,
    manner: Manner,
    progress: Progress | None,
    runs: Progress | None,
    heard: list[str],
) -> CaseOutcome:
    try:
        file = DiagramFile(case.path, case.overrides, case.root, case.variants, case.blocks)
        run = begin(file, progress=progress)
        run.most_steps = MOST_STEPS
        expected = load_expectations(
            case.path, overrides=case.overrides, root=case.root, variants=case.variants
        )
        if expected is None:
            hint = "say under expect: what its runs must show"
            raise InputError(Fault("has no section expect:", Place(str(case.path)), hint))
        claims = [gauge_of(str(keys[0]), claim) for keys, claim in expected.section.claims()]
        run.measure([*claims, *audit_gauges(run.recorder.names)])
        run.marks = baselines.times(expected, case.suffix, run.end)
        results = finish(run)
        if not results.complete:
            failure = Failure("run", f"it was {results.stopped or 'stopped early'}")
            interrupted = "interrupted" in (results.stopped or "")
            return CaseOutcome(case, failures=(failure,), interrupted=interrupted)
        judging = _Judging(case, expected, results, run.readings, run.options, manner, heard, runs)
        return judging.outcome(file)
    except InputError as error:
        return CaseOutcome(case, faults=error.faults)
    except SpartError as error:
        interrupted = isinstance(error, RunError) and "interrupted" in error.message
        failures = (Failure("run", str(error)),)
        return CaseOutcome(case, failures=failures, interrupted=interrupted)


@contextmanager
def _overheard(heard: list[str]) -> Iterator[None]:
    """Collect the warnings of this package in `heard`. Others are dropped, as they do not concern
    the diagram."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    heard += [str(w.message) for w in caught if issubclass(w.category, SpartWarning)]


@dataclass
class _Judging:
    """Checks the results of one run against the claims of its section."""

    case: ClaimCase
    expected: Expectations
    results: Results
    readings: Meters
    options: RunOptions
    manner: Manner
    heard: list[str]
    runs: Progress | None = None
    held: list[Finding] = field(default_factory=list)
    claims: int = 0

    def outcome(self, file: DiagramFile) -> CaseOutcome:
        failures = [*self._signals(), *self._balances()]
        section = self.expected.section
        change = None
        if section.baseline is not None:
            found, change = self._baseline()
            failures += found
        if section.engines is not None:
            failures += self._engines(file, section.engines)
        if section.success is not None:
            failures += self._success(file, section.success)
        slow = self._slow(file)
        if slow and self.manner.timing:
            failures.append(Failure("speed", slow, **self._at(("speed",))))
        return CaseOutcome(
            self.case,
            failures=tuple(failures),
            held=tuple(self.held),
            claims=self.claims,
            slow=None if self.manner.timing else slow,
            change=None if failures else change,
        )

    def _place(self, keys: Keys) -> Place | None:
        return self.expected.places.get(keys)

    def _at(self, keys: Keys) -> dict[str, Any]:
        """The fields of a finding that identify its claim."""
        return {"claim": keys, "place": self._place(keys)}

    @property
    def _folder(self) -> Path | None:
        """The folder for pictures and sweeps of this test; None if they are not written."""
        if self.manner.plots is None:
            return None
        return self.manner.plots / file_name(self.expected.name + self.case.suffix, "diagram")

    # --- claims about signals -----------------------------------------------------------

    def _signals(self) -> list[Failure]:
        failures: list[Failure] = []
        faults: list[Fault] = []
        for keys, claim in self.expected.section.claims():
            kind = str(keys[0])
            try:
                band = band_of(kind, claim, self.results, self.readings)
                drawn = None if kind in OF_ANSWERS else band_of(kind, claim, self.results)
            except InputError as error:
                faults += (replace(fault, place=self._place(keys)) for fault in error.faults)
                continue
            if not len(band.t):
                self.claims += 1
                t = self.results.t
                message = no_sample(kind, claim, float(t[0]), float(t[-1]))
                failures.append(Failure(kind, message, claim.signal, **self._at(keys)))
                continue
            failures += self._held(kind, claim.signal, band, keys, drawn)
        if faults:
            raise InputError(faults)
        return failures

    def _balances(self) -> Iterator[Failure]:
        given = self.expected.section.audit
        within = given.within if given else max(RTOLS * self.options.rtol, BALANCES_WITHIN)
        found = list(balances(self.results, within, self.readings))
        drawn = dict(balances(self.results, within))
        if given and not found:
            hint = "say audit: true in a MULTIBODY"
            raise InputError(Fault("no plant is audited", self._place(("audit",)), hint))
        for name, band in found:
            yield from self._held("audit", name, band, ("audit",), drawn[name])

    def _held(
        self, kind: str, signal: str, band: Band, keys: Keys, drawn: Band | None
    ) -> Iterator[Failure]:
        """The failure of a signal that leaves its band, with its picture. If it stays in the band,
        a finding is added to `held` instead. drawn: the band for the picture, None without one.
        """
        self.claims += 1
        miss = farthest(band)
        near = miss or closest(band)
        if near is None:
            return
        at = (near.sample, near.element)
        finding = Finding(
            kind,
            told(band, near),
            self.results.labels(signal)[near.element],
            band.when(near),
            float(band.got[at]),
            None if band.expected is None else float(band.expected[at]),
            float(band.low[at]),
            float(band.high[at]),
            **self._at(keys),
        )
        picture = None
        if miss is not None and drawn is not None:
            number = f" {keys[1]}" if len(keys) > 1 and keys[1] else ""
            title = f"{kind}{number} {finding.signal}"
            picture = self._picture(title, signal, band, miss, drawn)
        yield from self._found(finding, miss is None, picture)

    def _picture(self, title: str, signal: str, band: Band, miss: Miss, drawn: Band) -> Path | None:
        if self._folder is None:
            return None
        path = self._folder / f"{file_name(title, 'failure')}.png"
        try:
            draw(path, title, self.results, signal, drawn, Worst.of(band, miss))
        except InputError as error:
            self.heard.append(str(error))
            return None
        return path

    # --- the baseline ---------------------------------------------------------------------

    def _baseline(self) -> tuple[list[Failure], Change | None]:
        section, path = self.expected.section.baseline, self.expected.baseline
        assert section is not None
        assert path is not None
        path = path.with_stem(path.stem + self.case.suffix)
        names = baselines.names_of(section, self.results)
        new = baselines.taken(self.results, names, section)
        text = baselines.text_of(new, self.results, self.options)
        if not path.exists():
            self.claims += 1
            if self.manner.update:
                return [], Change(path, text, ("new",))
            where = os.path.relpath(path, self.case.path.parent)
            message = f"there is no file {where}; record it: spart test --update"
            return [Failure("baseline", message, **self._at(("baseline",)))], None
        try:
            old = baselines.read(path)
        except InputError:
            if not self.manner.update or not baselines.is_baseline(path):
                raise
            return [], Change(path, text, ("the old one cannot be read",))
        failures = list(self._against(old, names))
        if not self.manner.update:
            return failures, None
        changed = baselines.changes(old, new)
        other = set(old.columns) != set(new.columns) or len(old.t) != len(new.t)
        keep = not failures and not other and not self.manner.force
        return [], None if keep or not changed else Change(path, text, changed)

    def _against(self, old: baselines.Baseline, names: tuple[str, ...]) -> Iterator[Failure]:
        section = self.expected.section.baseline
        assert section is not None
        for name, band in baselines.bands(old, self.results, names, section):
            if isinstance(band, str):
                self.claims += 1
                yield Failure("baseline", band, name, **self._at(("baseline",)))
            else:
                yield from self._held("baseline", name, band, ("baseline",), band)

    # --- what is not about a signal --------------------------------------------------------

    def _engines(self, file: DiagramFile, claim: EnginesClaim) -> Iterator[Failure]:
        self.claims += 1
        at = self._at(("engines",))
        try:
            differences = compare_engines(file.load(), claim.T, samples=SAMPLES, file=file)
        except InputError:
            raise
        except SpartError as error:
            if isinstance(error, RunError) and "interrupted" in error.message:
                raise
            yield Failure("engines", str(error), **at)
            return
        apart = [one for one in differences if one.relative > claim.within]
        for one in apart or differences[:1]:
            text = (
                f"the engines are {one.relative:.3g} apart at t = {one.t:.6g} s, relative to "
                f"{one.scale:.6g}; expected within {claim.within:g}"
            )
            values: dict[str, Any] = {"got": one.relative, "high": claim.within, **at}
            finding = Finding("engines", text, one.name, one.t, **values)
            yield from self._found(finding, not apart)

    def _success(self, file: DiagramFile, claim: SuccessClaim) -> Iterator[Failure]:
        """The failure of a sweep in which too few runs pass."""
        self.claims += 1
        at = self._at(("success",))
        try:
            message, bound = shown_by_sweep(file, claim, self._folder, self.runs)
        except InputError:
            raise
        except SpartError as error:
            if "interrupted" in str(error):
                raise
            yield Failure("success", str(error), **at)
            return
        finding = Finding("success", message, got=bound, low=claim.at_least, **at)
        yield from self._found(finding, bound >= claim.at_least)

    def _found(
        self, finding: Finding, holds: bool, picture: Path | None = None
    ) -> Iterator[Failure]:
        """The failure of a claim that does not hold; the finding of one that does is kept."""
        if holds:
            self.held.append(finding)
        else:
            yield Failure(**vars(finding), picture=picture)

    def _slow(self, file: DiagramFile) -> str | None:
        """A message if the run was slower than claimed; otherwise None. A run that seems slow is
        repeated without the measurements of claims, which may take longer than the run.
        """
        claim = self.expected.section.speed
        factor = real_time_factor(self.results)
        if claim is None or factor is None:
            return None
        self.claims += 1
        if factor < claim.times_real_time:
            factor = max(factor, real_time_factor(finish(begin(file))) or 0.0)
        text = f"ran {factor:.3g} times as fast as real time, expected {claim.times_real_time:g}"
        if factor < claim.times_real_time:
            return text
        self.held.append(Finding("speed", text, **self._at(("speed",))))
        return None
