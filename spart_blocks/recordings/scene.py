"""The robots of a recording: frames, joints, shapes, forces, and their URDF files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.animation.body_curves import PoseMap, Poses, body_poses
from spart_blocks.animation.meshes import DETAIL, MOST_BYTES, Mesh, MeshStore, mesh_file
from spart_blocks.animation.plants import Moving
from spart_blocks.animation.shapes import Looks, Shape, ShownBody, looks_of
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.written.files import project_root
from spart_blocks.recordings.mcap_file import McapFile
from spart_blocks.recordings.schemas import STRING, foxglove, protobuf_channel, ros_string
from spart_blocks.recordings.templates import (
    Floats,
    Template,
    hole,
    stamp_of_rows,
    template_of,
)
from spart_blocks.robot.visuals import read_visuals

WORLD = "world"
"""The inertial frame."""
_MEDIA = {".urdf": "application/xml", ".stl": "model/stl", ".obj": "model/obj",
          ".dae": "model/vnd.collada+xml"}  # fmt: skip


@dataclass(frozen=True)
class Actor:
    """A robot of a run. prefix: of the names of its frames and joints, '' for the only robot."""

    moving: Moving
    looks: Looks
    prefix: str

    @property
    def urdf(self) -> Path | None:
        """The URDF file that it was read from, if it is still there."""
        source = Path(self.moving.robot.source or "")
        return source if source.suffix.lower() == ".urdf" and source.is_file() else None

    @property
    def links(self) -> tuple[int, ...]:
        """The ids of its links, the base-link first."""
        return tuple(range(len(self.moving.robot.links) + 1))

    def frame(self, link: int) -> str:
        """The name of the frame of a link."""
        return self.prefix + self.moving.robot.body(link).name

    @cached_property
    def poses(self) -> PoseMap:
        """A function from its states to the poses of the frames of its links."""
        moving = self.moving
        return body_poses(moving.robot, self.links, moving.state, moving.base)

    @cached_property
    def joints(self) -> dict[str, dict[str, int]]:
        """Its joints by name: the places of position and velocity in its state."""
        places = {name: k for k, name in enumerate(self.moving.state.names)}
        found: dict[str, dict[str, int]] = {}
        for field, part in (("position", "qm."), ("velocity", "um.")):
            for name, place in places.items():
                if name.startswith(part):
                    found.setdefault(self.prefix + name.removeprefix(part), {})[field] = place
        return found


class Scene:
    """The robots of a diagram, as messages in a recording."""

    def __init__(self, plants: Sequence[Moving], root: Path | None = None) -> None:
        """root: the folder that contains the meshes of URDF files."""
        self._root = root
        self._store = MeshStore(DETAIL)
        self.actors = [
            Actor(
                plant,
                looks_of(plant.robot, self._store, plant.start(), root),
                f"{plant.name}/" if len(plants) > 1 else "",
            )
            for plant in plants
        ]

    @property
    def reach(self) -> float:
        """The largest reach of its robots [m]."""
        return max(actor.looks.reach for actor in self.actors)

    # --- what does not change -------------------------------------------------------------

    def describe(self, file: McapFile, time: int) -> None:
        """Write the shapes of the bodies, and the URDF files with their meshes. time [ns]: the
        start."""
        update = foxglove("SceneUpdate")()
        meshes = self._store.simplified()
        for actor in self.actors:
            for body in actor.looks.bodies:
                self._add_shapes(update, actor, body, meshes, time)
        if len(update.entities):
            channel = protobuf_channel(file, "/scene", foxglove("SceneUpdate"))
            file.message(channel, time, update.SerializeToString())
        for actor in self.actors:
            if actor.urdf is not None:
                text = actor.urdf.read_text(encoding="utf-8", errors="replace")
                topic = f"/{actor.prefix}robot_description"
                channel = file.channel(topic, "cdr", file.schema(*STRING))
                file.message(channel, time, ros_string(text))
        for name, path in self._files().items():
            media = _MEDIA.get(path.suffix.lower(), "application/octet-stream")
            file.attach(name, media, path.read_bytes(), time)

    def _files(self) -> dict[str, Path]:
        """The URDF files and the meshes that they name, but for those that are too large to be
        shown."""
        found: dict[str, Path] = {}
        for actor in self.actors:
            if actor.urdf is None:
                continue
            root = self._root or project_root(actor.urdf.absolute())
            visuals = (one for many in read_visuals(actor.urdf)[0].values() for one in many)
            named = {actor.urdf.name: actor.urdf}
            for mesh in {visual.mesh for visual in visuals if visual.mesh}:
                with suppress(InputError, OSError):  # told with the shapes
                    path = mesh_file(mesh, actor.urdf, root)
                    if path.stat().st_size <= MOST_BYTES:
                        named[mesh] = path
            for name, path in named.items():
                other = found.get(name, path) != path
                found[f"{actor.prefix}{name}" if other else name] = path
        return found

    def _add_shapes(
        self, update: Any, actor: Actor, body: ShownBody, meshes: Sequence[Mesh], time: int
    ) -> None:
        if not body.shapes:
            return
        frame = actor.frame(body.link)
        entity = update.entities.add(id=frame, frame_id=frame, frame_locked=True)
        entity.timestamp.FromNanoseconds(time)
        for shape in body.shapes:
            _add_shape(entity, shape, meshes)

    # --- what changes ---------------------------------------------------------------------

    def channels(self, file: McapFile, first: int) -> list[tuple[int, Template]]:
        """Declare the channels of frames and joints; returns them with their messages. first: the
        column of the first of `values`."""
        frames, joints = foxglove("FrameTransforms")(), foxglove("JointStates")()
        stamp_of_rows(joints.timestamp)
        column = first
        for actor in self.actors:
            for link in actor.links:
                one = frames.transforms.add(parent_frame_id=WORLD, child_frame_id=actor.frame(link))
                stamp_of_rows(one.timestamp)
                _set_vector(one.translation, [hole(column + k) for k in range(3)])
                _set_quaternion(one.rotation, [hole(column + k) for k in range(3, 7)])
                column += 7
        for actor in self.actors:
            for name, places in actor.joints.items():
                joints.joints.add(
                    name=name,
                    **{field: hole(column + k) for k, field in enumerate(places)},
                )
                column += len(places)
        made = [("/tf", frames), ("/joint_states", joints)]
        return [
            (protobuf_channel(file, topic, type(message)), template_of(message))
            for topic, message in made
            if message is frames or len(joints.joints)
        ]

    def poses(self, states: Sequence[Floats]) -> list[Poses]:
        """The poses of the frames of each robot, for its states (N, n)."""
        return [actor.poses(x) for actor, x in zip(self.actors, states, strict=True)]

    def values(self, states: Sequence[Floats], poses: Sequence[Poses]) -> Floats:
        """The rows (N, n) of frames and joints, for the states (N, n) and poses of each robot."""
        frames, moved = [], []
        for actor, x, found in zip(self.actors, states, poses, strict=True):
            frames.append(np.concatenate([found.p, found.q], axis=2).reshape(len(x), -1))
            places = [k for fields in actor.joints.values() for k in fields.values()]
            moved.append(x[:, places])
        return np.concatenate([*frames, *moved], axis=1)


# --- shapes -------------------------------------------------------------------------------


def _add_shape(entity: Any, shape: Shape, meshes: Sequence[Mesh]) -> None:
    """Add a shape to a SceneEntity."""
    kind = shape["kind"]
    if kind == "box":
        made = entity.cubes.add()
        _set_vector(made.size, shape["size"])
    elif kind == "cylinder":
        made = entity.cylinders.add(bottom_scale=1.0, top_scale=1.0)
        _set_vector(made.size, [2 * shape["radius"], 2 * shape["radius"], shape["length"]])
    elif kind == "sphere":
        made = entity.spheres.add()
        _set_vector(made.size, [2 * shape["radius"]] * 3)
    else:
        mesh = meshes[shape["mesh"]]
        made = entity.triangles.add(indices=mesh.faces.ravel().tolist())
        for vertex in mesh.vertices * np.asarray(shape["scale"], dtype=float):
            _set_vector(made.points.add(), vertex)
    pose = shape["pose"]
    _set_vector(made.pose.position, pose[:3])
    _set_quaternion(made.pose.orientation, pose[3:])
    red, green, blue, alpha = shape["colour"]
    made.color.r, made.color.g, made.color.b, made.color.a = red, green, blue, alpha


def _set_vector(vector: Any, values: Sequence[float]) -> None:
    vector.x, vector.y, vector.z = map(float, values)


def _set_quaternion(quaternion: Any, values: Sequence[float]) -> None:
    quaternion.x, quaternion.y, quaternion.z, quaternion.w = map(float, values)
