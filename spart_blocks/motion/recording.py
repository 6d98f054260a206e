"""The recording that the page shows: bodies, shapes, tracks, arrows, signals, the drawing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.errors import Fault, InputError, warn
from spart_blocks.motion.body_curves import body_poses, state_curve
from spart_blocks.motion.lines import packed_lines
from spart_blocks.motion.meshes import DETAIL, MeshStore
from spart_blocks.motion.plants import Moving, moving_of, pushes, states_of
from spart_blocks.motion.shapes import Body, Looks, looks_of, pose_of
from spart_blocks.motion.tracks import MOST_ROWS, Tracks, tick_of
from spart_blocks.robot import Robot

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.nodes import Node
    from spart_blocks.results.run_data import RunData

PART = 1e-4
"""Largest error of a pose, as a part of the robot's reach."""
MOST_ARROWS = 200
MOST_SIGNALS = 200
"""Signals of a page."""
Recording = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """root: the folder that meshes lie in; detail: triangles of all meshes; most: rows of all
    tracks; looked: called with the name of a plant and the time [s] reached in it."""

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
    """The recording of a run. nodes: those of its wired diagram; diagram: the one to draw.

    Raises InputError for a run without robots or without samples, and for one of another diagram.
    """
    plants = moving_of(nodes)
    name = results.diagram_name or "the run"
    if not plants:
        hint = "robots move in plants: MULTIBODY, CLOSED_CHAIN or STATE_INTEGRATOR"
        raise InputError(Fault(f"{name} has no robot to show", hint=hint))
    if not len(results.t):
        raise InputError(f"the run of {name} has no samples")
    store = MeshStore(given.detail)
    looks = [_looks(plant, store, given.root) for plant in plants]
    reach = min(one.reach for one in looks)
    start, end = float(results.t[0]), float(results.t[-1])
    tracks = Tracks(PART * reach, tick_of(end - start), given.most)
    bodies: list[dict[str, Any]] = []
    arrows: list[dict[str, Any]] = []
    for plant, seen in zip(plants, looks, strict=True):
        x = states_of(plant, results)
        tracks.looked = lambda t, name=plant.name: given.looked(name, t)  # type: ignore[misc]
        links = tuple(body.link for body in seen.bodies)
        poses = body_poses(plant.robot, links, plant.state, plant.base)
        curve = state_curve(results.t, x, plant.state, plant.base)
        tracks.add(curve, poses, np.array([max(b.reach, 0.1 * seen.reach) for b in seen.bodies]))
        first = len(bodies)
        arrows += _arrows(plant, x, results, seen, first, tracks.tick)
        bodies += [body_of(body, plant.robot, plant.name, first) for body in seen.bodies]
    packed = tracks.packed()
    if tracks.tolerance > PART * reach:
        warn(
            f"{name} moves so long that its poses are kept to {tracks.tolerance:.2g} m only, in "
            f"place of {PART * reach:.2g} m: {given.most:,} rows are the most"
        )
    if tracks.doubt > tracks.tolerance:
        warn(
            f"{name}: the rows of its record are far apart, and between them poses may be off by "
            f"{tracks.doubt:.2g} m; run it with a smaller `every`, or for a shorter time"
        )
    for body, track in zip(bodies, packed, strict=True):
        body["track"] = track
    return {
        "format": 1,
        "name": results.diagram_name,
        "start": start,
        "end": end,
        "reach": scene_reach([plant.parts(plant.x0).r0 for plant in plants], looks),
        "tolerance": tracks.tolerance,
        "bodies": bodies,
        "meshes": store.packed(),
        "arrows": arrows,
        **_signals(results, tracks.tick),
        "diagram": drawing(diagram),
    }


def _looks(plant: Moving, store: MeshStore, root: Path | None) -> Looks:
    s = plant.parts(plant.x0)
    return looks_of(plant.robot, store, (s.R0, s.r0, s.qm), root)


def scene_reach(bases: Sequence[Any], looks: Sequence[Looks]) -> float:
    """The largest distance [m] of a shape from the middle of the scene at the start. bases: where
    the base of each robot is (3,) [m]."""
    away = np.array(bases, dtype=float) - np.mean(np.array(bases, dtype=float), axis=0)
    return float(max(np.linalg.norm(r) + one.reach for r, one in zip(away, looks, strict=True)))


def body_of(body: Body, robot: Robot, label: str, first: int) -> dict[str, Any]:
    """A body as the recording has it, without its track. label: of its robot; first: the place of
    the robot's first body."""
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
    """The signals of scopes, and the others that were kept, each on a scope of its own."""
    shown = [(scope.title or scope.name, scope.signals, scope.labels) for scope in results.scopes]
    on_scopes = {name for _, names, _ in shown for name in names}
    rest = [name for name in results.signals if name not in on_scopes]
    shown += [(name, (name,), None) for name in rest if ".audit." not in name]
    signals: list[dict[str, Any]] = []
    titles: list[str] = []
    for title, names, labels in shown:
        found = [one for one in _scope(results, names, labels, tick) if one is not None]
        signals += [{**one, "scope": len(titles)} for one in found]
        titles += [title] if found else []
        if len(signals) >= MOST_SIGNALS:
            break
    return {"signals": signals, "scopes": titles}


def _scope(
    results: RunData, names: Sequence[str], labels: Sequence[str] | None, tick: float
) -> Iterator[dict[str, Any] | None]:
    arrays = [np.asarray(results[name]) for name in names]
    widths = [int(np.prod(array.shape[1:], dtype=int)) for array in arrays]
    given = list(labels or ())
    for name, array, width in zip(names, arrays, widths, strict=True):
        if array.dtype.kind == "c" or not width or not np.isfinite(array).all():
            continue
        own = results.labels(name)
        if len(given) == sum(widths):
            first = sum(widths[: names.index(name)])
            own = given[first : first + width]
        elif len(given) == len(names) and width == 1:
            own = [given[list(names).index(name)]]
        v = np.asarray(array, dtype=float).reshape(len(results.t), width)
        lines = packed_lines(results.t, v, tick)
        yield {"name": name, "unit": results.unit(name), "labels": list(own), **lines}


def drawing(diagram: Diagram | None) -> str:
    """The drawing as SVG, '' without a diagram, or for one too large to draw."""
    from spart_blocks.diagram.diagram import MOST_SHOWN

    if diagram is None or len(diagram.bd.blocklist) > MOST_SHOWN:
        return ""
    from spart_blocks.diagram.diagram_drawing import draw, rendered

    svg = rendered(draw(diagram), "svg").decode()
    return svg[svg.index("<svg") :]
