"""Pushes: wrenches on bodies, which the user applies during a run.

The diagram's file has no input for them. So a node is inserted before each wrench input of a plant,
which adds a parameter that is zero at first; a push tunes this parameter. The nodes are inserted at
the first push: until then the run is that of the file.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from spart_blocks.animation.meshes import MeshStore
from spart_blocks.animation.plants import Moving, moving_of
from spart_blocks.animation.shapes import looks_of
from spart_blocks.base.errors import Fault, InputError, SpartError, SpartWarning, did_you_mean
from spart_blocks.block_support.ports import Port, attribute
from spart_blocks.diagram.build.companions import AUDIT, COMPANION
from spart_blocks.diagram.network.algebraic_loops import resolved, scheduled, uncut
from spart_blocks.diagram.network.nodes import FlatDiagram, Node
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.dynamics import kinematics
from spart_blocks.program.tracing.gains import wired
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.engines.native import Native
from spart_blocks.run.engines.parity import native_engine
from spart_blocks.run.run import Run
from spart_blocks.studio.runs.tuning import Tuned, check_unchanged

_PORTS, _VALUE = ("wF0", "wFm"), " push.value"


class Push:
    """Block that adds a wrench to a signal. The wrench is a parameter of the program."""

    type = "push"
    tunable: ClassVar[tuple[str, ...]] = ("value",)
    _feedthrough = True
    nin = nout = 1

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.value = np.zeros(shape)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [inputs[0] + self.value]


def pushable(engine: Engine) -> Native:
    """The engine of the same diagram with an added wrench parameter at each wrench input, see
    `name_of`.

    Raises InputError if the diagram cannot be traced, or no plant has a wrench input.
    """
    diagram, _ = engine.made_of()
    try:
        wiring = _with_pushes(wired(diagram))
        whole = native_engine(diagram.with_sections(run=engine.run), wiring)
    except InputError:
        raise
    except SpartError as error:
        raise InputError(f"this diagram cannot be pushed: {error}") from None
    known: Mapping[str, Any] = {}
    if isinstance(engine, Native):
        had = {slot.name for slot in whole.program.parameters}
        slots = [slot.name for slot in engine.program.parameters if slot.name in had]
        known = {name: engine.program.parameter(name) for name in slots}
    return whole.with_parameters(whole.program.with_parameters(known).p)


def name_of(plant: str, port: str) -> str:
    """The name of the wrench parameter at a plant's input: (6,) for wF0, (n, 6) for wFm."""
    return f"{plant}.{port}{_VALUE}"


def _with_pushes(wiring: FlatDiagram) -> FlatDiagram:
    bare = uncut(wiring)
    nodes = list(bare.nodes)
    plants = [node for node in nodes if attribute(node.block, "plant_state") is not None]
    pushed = [
        (plant, k)
        for plant in plants
        for k, port in enumerate(plant.in_ports)
        if port.name in _PORTS
    ]
    if not pushed:
        text = "no plant of this diagram has an input for wrenches, wF0 or wFm"
        raise InputError(Fault(text, hint="MULTIBODY and CLOSED_CHAIN have them"))
    for plant, k in pushed:
        source, index = plant.sources[k], len(nodes)
        port = plant.in_ports[k]
        size = (len(plant.block.robot.links), 6) if port.name == "wFm" else (6,)
        gives = (Port("0", size, port.unit),)
        name = name_of(plant.name, port.name).removesuffix(".value")
        for i, node in enumerate(nodes):
            if node.name.removesuffix(COMPANION).removesuffix(AUDIT) == plant.name:
                nodes[i] = replace(node, sources=_through(node, port.name, index))
        nodes.append(Node(index, name, Push(size), "function", (source,), (port,), gives))
    run = wiring.loops or RunOptions()
    if wiring.loops is None:
        whole, order = scheduled(tuple(nodes), run, bare.outlets, whole=False)
        return replace(bare, nodes=whole, schedule=order)
    return resolved(replace(bare, nodes=tuple(nodes)))


def _through(node: Node, port: str, index: int) -> tuple[tuple[int, int], ...]:
    """The sources of a node, with that of one input replaced by another node."""
    pairs = zip(node.in_ports, node.sources, strict=True)
    return tuple((index, 0) if one.name == port else source for one, source in pairs)


def find_body(nodes: Sequence[Node], body: int | str) -> tuple[Moving, int]:
    """The plant and link of a body. body: its index among the bodies of the plants in the order of
    the recording, its name, or "plant/name". Raises InputError."""
    store = MeshStore(0)
    bodies = [
        (plant, one.link, one.name)
        for plant in moving_of(nodes)
        for one in looks_of(plant.robot, store, plant.start()).bodies
    ]
    if isinstance(body, int) and 0 <= body < len(bodies):
        return bodies[body][:2]
    names = {f"{plant.name}/{name}": (plant, link) for plant, link, name in bodies}
    found = [names[key] for key in names if body in (key, key.rpartition("/")[2])]
    if len(found) != 1:
        what = "several bodies are called" if found else "there is no body"
        hint = did_you_mean(str(body), names)
        raise InputError(Fault(f"{what} {str(body)[:60]!r}", hint=hint))
    return found[0]


def wrench(plant: Moving, link: int, x: Floats, force: Floats, point: Floats | None) -> Floats:
    """The wrench (6,) [N m, N] about the centre of mass of a link, of a force (3,) [N] at a point
    (3,) [m], both in the inertial frame. x: state of the plant. Without a point, the force acts at
    the centre of mass."""
    if point is None:
        return np.concatenate([np.zeros(3), force])
    s = plant.parts(x)
    centre = s.r0 if link == 0 else kinematics(s.R0, s.r0, s.qm, plant.robot).rL[link - 1]
    return np.concatenate([np.cross(point - np.asarray(centre, dtype=float), force), force])


def pushed(before: Tuned, run: Run, asked: Mapping[str, Any]) -> Tuned:
    """The setting with a force on a body from now on. asked: body, force (3,) [N], and its point
    (3,) [m], by default the body's centre of mass. Raises InputError."""
    force, point = _vector(asked, "force"), _vector(asked, "point")
    if force is None:
        raise InputError("a push needs its force")
    engine = before.engine
    if before.extended is None:
        check_unchanged(before)
        engine = pushable(engine)
    assert isinstance(engine, Native)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpartWarning)
        plant, link = find_body(engine.made_of()[1], asked["body"])
    x = run.x[run.engine.continuous[plant.name]]
    new = set_wrench(engine, plant, link, wrench(plant, link, x, force, point))
    program = engine.program.with_parameters(new)
    changed = engine.with_parameters(program.p)
    return replace(before, engine=changed, extended=pushable, values={**before.values, **new})


def pushed_plants(engine: Engine) -> list[str]:
    """The plants on which a push acts."""
    if not isinstance(engine, Native):
        return []
    slots = [slot.name for slot in engine.program.parameters if slot.name.endswith(_VALUE)]
    acting = [name for name in slots if engine.program.parameter(name).any()]
    return list(dict.fromkeys(name.rpartition(".")[0].rpartition(".")[0] for name in acting))


def _vector(asked: Mapping[str, Any], name: str) -> Floats | None:
    if asked.get(name) is None:
        return None
    try:
        found: Floats = np.array(asked[name], dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise InputError(f"{name} is three numbers")
    return found


def set_wrench(engine: Native, plant: Moving, link: int, value: Floats) -> dict[str, Floats]:
    """The wrench parameter of a plant with the wrench (6,) on one link, as {name: value}. Raises
    InputError if the body cannot be pushed."""
    port = "wF0" if link == 0 else "wFm"
    name = name_of(plant.name, port)
    if name not in {slot.name for slot in engine.program.parameters}:
        what = "its base does not move" if link == 0 else f"{plant.name} has no input {port}"
        raise InputError(f"this body cannot be pushed: {what}")
    if link == 0:
        return {name: value}
    whole = np.array(engine.program.parameter(name))
    whole[link - 1] = value
    return {name: whole}
