"""Poses of bodies during a run, for the 3-D view."""

from __future__ import annotations

import warnings
from threading import Thread

import numpy as np

from spart_blocks.animation.body_curves import PoseMap, body_poses
from spart_blocks.animation.meshes import MeshStore
from spart_blocks.animation.plants import Moving, moving_of
from spart_blocks.animation.shapes import looks_of
from spart_blocks.base.errors import SpartError, SpartWarning
from spart_blocks.run.engines.engine import Engine, Floats


class Posing:
    """Evaluates the poses of all bodies of an engine's plants, in the order of the recording.

    A thread prepares it, since the blocks have to be loaded; until then `row` returns None.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._maps: list[tuple[Moving, PoseMap]] = []
        self.thread = Thread(target=self._prepare, daemon=True)
        self.thread.start()

    def _prepare(self) -> None:
        store, found = MeshStore(), []
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SpartWarning)
                _, nodes = self._engine.made_of()
                for plant in moving_of(nodes):
                    seen = looks_of(plant.robot, store, plant.start())
                    links = tuple(body.link for body in seen.bodies)
                    poses = body_poses(plant.robot, links, plant.state, plant.base)
                    found.append((plant, poses))
        except SpartError:
            return  # `motion` tells why
        self._maps = found

    def row(self, t: float, engine: Engine, x: Floats) -> Floats | None:
        """The time [s], then for each body its position (3) [m] and quaternion (4), scalar last.
        None until the preparation is complete."""
        if not self._maps:
            return None
        parts = [np.array([t])]
        for plant, poses in self._maps:
            found = poses(x[engine.continuous[plant.name]][None])
            parts.append(np.concatenate([found.p[0], found.q[0]], axis=1).ravel())
        return np.concatenate(parts)
