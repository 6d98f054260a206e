"""pytest collects every diagram with a section `expect:` as a test.

Other YAML files are ignored, after a look at their text.
Importing this loads pytest and nothing else.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spart_blocks.base.errors import SpartError, SpartWarning
from spart_blocks.claims.files import cases, is_test, line_of_expect

if TYPE_CHECKING:
    from spart_blocks.claims.files import ClaimCase
    from spart_blocks.claims.outcome import CaseOutcome

RECORDED = "spart_blocks baseline"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("spart_blocks", "diagrams as tests (spart_blocks)")
    group.addoption(
        "--spart-update",
        action="store_true",
        help="record the baselines of diagrams that are missing or no longer hold",
    )
    group.addoption(
        "--spart-timing", action="store_true", help="a diagram that runs too slowly fails"
    )
    parser.addini(
        "spart_blocks", "files or packages of blocks that diagrams may use", type="linelist"
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> DiagramFile | None:
    return DiagramFile.from_parent(parent, path=file_path) if is_test(file_path) else None


class DiagramFile(pytest.File):
    """A diagram file with `expect:`."""

    def collect(self) -> Iterator[DiagramItem]:
        line = line_of_expect(self.path)
        packages = tuple(_packages(self.config))
        for case in cases(self.path, blocks=packages):
            yield DiagramItem.from_parent(self, name=case.name, case=case, line=line)


def _packages(config: pytest.Config) -> Iterator[str]:
    """The packages of blocks in pytest's configuration; files and modules are found from the
    folder that this is in."""
    from spart_blocks.diagram.build.own_blocks import is_file_of_blocks

    home = config.inipath.parent if config.inipath else config.rootpath
    named = config.getini("spart_blocks")
    if named and str(home) not in sys.path:
        sys.path.insert(0, str(home))
    yield from (str(home / name) if is_file_of_blocks(name) else name for name in named)


class DiagramItem(pytest.Item):
    """One run of a diagram, checked against its `expect:`."""

    def __init__(self, *, case: ClaimCase, line: int, **more: Any) -> None:
        super().__init__(**more)
        self.case, self.line = case, line

    def runtest(self) -> None:
        from spart_blocks.claims.baselines import record
        from spart_blocks.claims.check import Manner, check

        manner = Manner(
            update=self.config.getoption("spart_update"),
            timing=self.config.getoption("spart_timing"),
            plots=self.config.rootpath / "out",
        )
        outcome = check(self.case, manner)
        if outcome.interrupted:
            raise KeyboardInterrupt
        for text in outcome.warnings:
            _warn(text)
        if outcome.slow:
            self._warn_only(outcome.slow)
        if not outcome.passed:
            raise _Failed(outcome)
        if outcome.change is not None:
            record(outcome.change)
            lines = (f"  {line}" for line in outcome.change.lines)
            text = "\n".join([f"recorded {outcome.change.path}", *lines])
            self.user_properties.append((RECORDED, text))

    def _warn_only(self, text: str) -> None:
        """A warning in pytest's summary that no filter turns into an error: how fast a run
        is depends on the machine."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.warn_explicit(pytest.PytestWarning(text), None, str(self.path), self.line + 1)
        for message in caught:
            self.ihook.pytest_warning_recorded.call_historic(
                kwargs={
                    "warning_message": message,
                    "when": "runtest",
                    "nodeid": self.nodeid,
                    "location": None,
                }
            )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, (_Failed, SpartError, SpartWarning)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line, self.name


class _Failed(Exception):  # noqa: N818 - pytest shows its text alone
    def __init__(self, outcome: CaseOutcome) -> None:
        super().__init__("\n".join(outcome.troubles))


def _warn(text: str) -> None:
    warnings.warn(text, SpartWarning, stacklevel=2)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the recorded baselines and their changes."""
    recorded = [
        text
        for report in terminalreporter.getreports("passed")
        for name, text in report.user_properties
        if name == RECORDED
    ]
    if recorded:
        terminalreporter.section("baselines")
        for text in recorded:
            terminalreporter.line(text)
