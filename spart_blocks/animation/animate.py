"""The user's functions for pages that show the motion of a run, or robots at rest."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.animation.page import page_of
from spart_blocks.animation.recording import DEFAULT, Options, recording_of
from spart_blocks.animation.still import start_of, still_of
from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError, SpartError, SpartWarning
from spart_blocks.base.html import lines
from spart_blocks.base.web_build import VIEWER, Say, is_fresh
from spart_blocks.results.files import write_bytes
from spart_blocks.results.run_data import RunData
from spart_blocks.robot import Robot

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.network.nodes import Node

SUFFIX = ".html"
HEIGHT = 480
"""Height of a view in a notebook [px]."""
MOST_SHOWN, MOST_ROWS_SHOWN = 2_000_000, 60_000
"""Limits for a page that a notebook shows automatically: its characters, and the rows of its
tracks."""


def animate(
    results: RunData,
    path: str | Path,
    diagram: Diagram | str | Path | None = None,
    *,
    root: str | Path | None = None,
) -> Path:
    """Write the motion of a run's robots as one HTML file, which browsers show without a network.
    Returns its path.

    results: of a run, or loaded from a file. diagram: the diagram of the run, or its file; required
    for loaded results. root: the folder that contains the meshes of URDF files, by default that of
    the robot's project. Raises InputError for a run without robots, and if the file cannot be
    written.
    """
    target = checked_path(path)
    given = Options(root=None if root is None else Path(root))
    write_page(target, run_page(results, diagram, given))
    return target


def checked_path(path: str | Path) -> Path:
    """The path of a page. Raises InputError if its suffix is not .html."""
    target = as_path(path, "the page of an animation")
    if target.suffix.lower() != SUFFIX:
        raise InputError(Fault(f"cannot write a page to {target}", hint=f"end it in {SUFFIX}"))
    return target


def write_page(path: Path, page: str) -> None:
    """Write a page atomically."""
    write_bytes(path, page.encode("utf-8"))


def run_page(
    results: RunData,
    diagram: Diagram | str | Path | None = None,
    given: Options = DEFAULT,
    say: Say | None = None,
) -> str:
    """The page of a run; see `animate`."""
    whole, nodes = made_of(results, diagram)
    return page_of(recording_of(results, nodes, whole, given), say)


def made_of(
    results: RunData, diagram: Diagram | str | Path | None
) -> tuple[Diagram, Sequence[Node]]:
    """The diagram of a run and its wired nodes. Raises InputError if they are unknown."""
    if diagram is not None:
        from spart_blocks.diagram import as_diagram, load
        from spart_blocks.program.tracing.gains import wired

        known = load(diagram) if isinstance(diagram, (str, Path)) else as_diagram(diagram)
        return known, wired(known).nodes
    ask = getattr(results.recompute, "made_of", None)
    if ask is None:
        name = results.diagram_name or "the run"
        hint = "give its diagram: sb.animate(results, path, diagram=FILE), or --diagram FILE"
        raise InputError(Fault(f"these results do not have the robots of {name}", hint=hint))
    made: tuple[Diagram, Sequence[Node]] = ask()
    return made


def robots_page(
    robots: Iterable[Robot], given: Options = DEFAULT, say: Say | None = None, name: str = ""
) -> str:
    """The page of robots at rest, each in its home configuration."""
    return page_of(still_of(list(robots), given, name), say)


def diagram_page(diagram: Diagram, given: Options = DEFAULT, say: Say | None = None) -> str:
    """The page of a diagram's plants in their initial poses."""
    from spart_blocks.program.tracing.gains import wired

    return page_of(start_of(wired(diagram).nodes, diagram, given), say)


@dataclass(frozen=True)
class View:
    """A page that a notebook shows, or that can be saved. height [px]."""

    page: str
    height: int = HEIGHT

    def _repr_html_(self) -> str:
        """The page in a sandboxed frame, which cannot access the notebook."""
        style = f"width:100%;height:{self.height}px;border:1px solid #ccc"
        source = escape(self.page)
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{source}"></iframe>'

    def save(self, path: str | Path) -> Path:
        """Write the page as an HTML file. Returns its path."""
        target = checked_path(path)
        write_page(target, self.page)
        return target

    def __repr__(self) -> str:
        return f"<view of {len(self.page) / 1000:.0f} kB: save(path), or the last line of a cell>"


def view(
    shown: RunData | Robot | Any,
    diagram: Diagram | str | Path | None = None,
    *,
    root: str | Path | None = None,
    height: int = HEIGHT,
) -> View:
    """The motion of a run, or a robot at rest, as a view for a notebook.

    shown: results, a robot, or a list of robots. diagram, root: as for `animate`. height [px].
    """
    given = Options(root=None if root is None else Path(root))
    if isinstance(shown, RunData):
        return View(run_page(shown, diagram, given), height)
    robots = [shown] if isinstance(shown, Robot) else shown
    if not isinstance(robots, (list, tuple)) or not all(isinstance(r, Robot) for r in robots):
        raise InputError("a view shows results, or a robot, or a list of robots")
    return View(robots_page(robots, given), height)


# --- within the HTML of results and robots --------------------------------------------------


def frame_of_run(results: RunData) -> str:
    """The view of a run for its `_repr_html_`: '' for a run without robots; a line of text if the
    page would be too large or the viewer is not built."""
    plants = any(name.startswith("qm.") for names in results.state_names.values() for name in names)
    if not plants or not hasattr(results.recompute, "made_of") or not len(results.t):
        return ""
    few = Options(most=MOST_ROWS_SHOWN)
    return _framed(lambda: run_page(results, None, few), "sb.view(results) shows the motion")


def frame_of_robot(robot: Robot) -> str:
    """The view of a robot for its `_repr_html_`, as in `frame_of_run`."""
    return _framed(lambda: robots_page([robot]), "sb.view(robot) shows it in 3-D")


def _framed(page: Callable[[], str], otherwise: str) -> str:
    if not is_fresh(VIEWER):
        return lines([otherwise])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpartWarning)
        try:
            made = page()
        except SpartError:
            return ""
    return View(made)._repr_html_() if len(made) <= MOST_SHOWN else lines([otherwise])
