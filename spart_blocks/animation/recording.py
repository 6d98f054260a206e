"""The recording that the page shows: bodies, shapes, tracks, arrows, signals and the diagram."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.animation.body_curves import StateCurve, body_poses, state_curve
from spart_blocks.animation.interpolation import packed_lines
from spart_blocks.animation.meshes import DETAIL, MeshStore
from spart_blocks.animation.plants import Moving, plants_of, pushes, states_of
from spart_blocks.animation.shapes import Looks, ShownBody, looks_of, pose_of
from spart_blocks.animation.tracks import MOST_ROWS, Tracks, tick_of
from spart_blocks.base.errors import InputError, warn
from spart_blocks.drawing.svg import svg_of
from spart_blocks.robot import Robot

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.network.nodes import Node
    from spart_blocks.results.run_data import RunData

PART = 1e-4
"""Largest error of a pose, relative to the robot's reach."""
MOST_ARROWS = 200
MOST_SIGNALS = 200
"""Number of signals after which no further scopes are added to a page."""
Recording = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """Options of a recording. root: folder that contains the meshes; detail: number of triangles of
    all meshes; most: number of rows of all tracks; looked: called with the name of a plant and the
    time [s] processed so far."""

    root: Path | None = None
    detail: int = DETAIL
    most: int = MOST_ROWS
    looked: Callable[[str, float], None] = lambda name, t: None


DEFAULT = Options()


def recording_of(
    results: RunData,
    nodes: Sequence[Node],
    diagram: Diagram | None = None,
    given: Options = DEFAULT,
) -> Recording:
    """The recording of a run. nodes: of its wired diagram; diagram: to be drawn.

    Raises InputError for a run without robots or samples, or of another diagram.
    """
    name = results.diagram_name or "the run"
    plants = plants_of(nodes, name)
    if not len(results.t):
        raise InputError(f"the run of {name} has no samples")
    store = MeshStore(given.detail)
    looks = [looks_of(plant.robot, store, plant.start(), given.root) for plant in plants]
    asked = PART * min(one.reach for one in looks)
    start, end = float(results.t[0]), float(results.t[-1])
    tracks = Tracks(asked, tick_of(end - start), given.most)
    bodies: list[dict[str, Any]] = []
    arrows: list[dict[str, Any]] = []
    for plant, seen in zip(plants, looks, strict=True):
        x = states_of(plant, results)
        tracks.looked = partial(given.looked, plant.name)
        _add(tracks, plant, seen, state_curve(results.t, x, plant.state, plant.base))
        first = len(bodies)
        arrows += _arrows(plant, x, results, seen, first, tracks.tick)
        bodies += [body_of(body, plant.robot, plant.name, first) for body in seen.bodies]
    _warn_of(tracks, asked, name)
    packed = zip(bodies, tracks.packed(), strict=True)
    return {
        "format": 1,
        "name": results.diagram_name,
        "start": start,
        "end": end,
        "reach": scene_reach([plant.start()[1] for plant in plants], looks),
        "tolerance": tracks.tolerance,
        "bodies": [{**body, "track": track} for body, track in packed],
        "meshes": store.packed(),
        "arrows": arrows,
        **_signals(results, tracks.tick),
        "diagram": drawing(diagram),
    }


def _add(tracks: Tracks, plant: Moving, seen: Looks, curve: StateCurve) -> None:
    """Add the tracks of a plant's bodies."""
    links = tuple(body.link for body in seen.bodies)
    levers = np.array([max(body.reach, 0.1 * seen.reach) for body in seen.bodies])
    tracks.add(curve, body_poses(plant.robot, links, plant.state, plant.base), levers)


def _warn_of(tracks: Tracks, asked: float, name: str) -> None:
    """Warn if the errors of poses may exceed the requested tolerance `asked` [m]."""
    if tracks.tolerance > asked:
        warn(
            f"{name} moves so long that its poses are kept to {tracks.tolerance:.2g} m only, in "
            f"place of {asked:.2g} m: {tracks.most:,} rows are the most"
        )
    if tracks.doubt > tracks.tolerance:
        warn(
            f"{name}: the rows of its record are far apart, and between them poses may be off by "
            f"{tracks.doubt:.2g} m; run it with a smaller `every`, or for a shorter time"
        )


def scene_reach(bases: Sequence[Any], looks: Sequence[Looks]) -> float:
    """The largest distance [m] of a shape from the centre of the scene at the start. bases:
    positions (3,) [m] of the robots' bases."""
    away = np.array(bases, dtype=float) - np.mean(np.array(bases, dtype=float), axis=0)
    return float(max(np.linalg.norm(r) + one.reach for r, one in zip(away, looks, strict=True)))


def body_of(body: ShownBody, robot: Robot, label: str, first: int) -> dict[str, Any]:
    """A body in the recording's format, without its track. label: of its robot; first: index of the
    robot's first body."""
    frames = [
        {"name": robot.body(link).name, "pose": pose_of(T)} for link, T in body.welded.items()
    ]
    return {
        "name": body.name,
        "robot": label,
        "parent": body.parent + first if body.parent >= 0 else -1,
        "shapes": body.shapes,
        "com": body.com.tolist(),
        "frames": frames[1:],
    }


def _arrows(
    plant: Moving, x: Any, results: RunData, seen: Looks, first: int, tick: float
) -> Iterator[dict[str, Any]]:
    places = {link: k for k, body in enumerate(seen.bodies) for link in body.welded}
    for count, push in enumerate(pushes(plant, x, results)):
        if push.link in places and count < MOST_ARROWS:
            yield {
                "name": push.name,
                "kind": push.kind,
                "body": places[push.link] + first,
                "unit": "N" if push.kind == "force" else "N m",
                "track": packed_lines(results.t, push.v, tick),
            }


def _signals(results: RunData, tick: float) -> dict[str, Any]:
    """The signals of scopes, and all other recorded signals, each in a scope of its own."""
    shown = [(scope.title or scope.name, scope.signals, scope.labels) for scope in results.scopes]
    on_scopes = {name for _, names, _ in shown for name in names}
    rest = [name for name in results.signals if name not in on_scopes]
    shown += [(name, (name,), None) for name in rest if ".audit." not in name]
    signals: list[dict[str, Any]] = []
    titles: list[str] = []
    for title, names, labels in shown:
        found = list(_scope(results, names, labels, tick))
        signals += [{**one, "scope": len(titles)} for one in found]
        titles += [title] if found else []
        if len(signals) >= MOST_SIGNALS:
            break
    return {"signals": signals, "scopes": titles}


def _scope(
    results: RunData, names: Sequence[str], labels: Sequence[str] | None, tick: float
) -> Iterator[dict[str, Any]]:
    """The real and finite signals of a scope. labels: one for each element, or one for each
    signal."""
    arrays = [np.asarray(results[name]) for name in names]
    widths = [int(np.prod(array.shape[1:], dtype=int)) for array in arrays]
    given = list(labels or ())
    for k, (name, array, width) in enumerate(zip(names, arrays, widths, strict=True)):
        if array.dtype.kind == "c" or not width or not np.isfinite(array).all():
            continue
        own = results.labels(name)
        if len(given) == sum(widths):
            first = sum(widths[:k])
            own = given[first : first + width]
        elif len(given) == len(names) and width == 1:
            own = given[k : k + 1]
        v = np.asarray(array, dtype=float).reshape(len(results.t), width)
        lines = packed_lines(results.t, v, tick)
        yield {"name": name, "unit": results.unit(name), "labels": list(own), **lines}


def drawing(diagram: Diagram | None) -> str:
    """The diagram as SVG; '' if there is none, or if it is too large to draw."""
    from spart_blocks.diagram.diagram import MOST_SHOWN

    if diagram is None or len(diagram.bd.blocklist) > MOST_SHOWN:
        return ""
    from spart_blocks.diagram.diagram_drawing import draw

    return svg_of(draw(diagram), paper="")
