"""Holds on the states of a run: surfaces along which they slide, and signals of EVENT blocks that
rest at zero.

A signal q at rest is held by a force in the direction w in which its resets changed the states,
like the force of a floor on a bouncing ball: x' = f + w s, with s such that q' stays zero. It is
held while it presses on zero, and released when q would turn back by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spart_blocks.run.constants import RATES_APART
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.events.sliding import Sliding, geometry


@dataclass(frozen=True)
class Contact:
    """The signal of crossing k, at rest. jump: unit vector of the change of the states by its
    reset.
    """

    k: int
    jump: Floats


@dataclass(frozen=True)
class Held:
    """The surfaces and the contacts that hold the states."""

    sliding: Sliding | None = None
    contacts: tuple[Contact, ...] = ()

    def __bool__(self) -> bool:
        return self.sliding is not None or bool(self.contacts)

    @property
    def leaders(self) -> set[int]:
        """The crossings whose values become positive when a hold is released."""
        slid = self.sliding.surfaces if self.sliding else ()
        return {s.k for s in slid} | {c.k for c in self.contacts}

    def rates(self, engine: Engine, t: float, x: Floats, xd: Floats) -> Floats:
        """dx/dt."""
        if not self.contacts:
            return self._free(engine, t, x, xd)
        x = self._onto(engine, t, x, xd)
        pressed, push, free = self._pressed(engine, t, x, xd)
        return free + self._by_forces(push, pressed)

    def watch(self, engine: Engine, t: float, x: Floats, xd: Floats, values: Floats) -> Floats:
        """The values of the zero-crossing functions, with those of held signals and surfaces
        replaced: positive if the hold must be released.
        """
        if self.sliding is not None:
            values = self.sliding.watch(engine, t, x, xd, values)
        if self.contacts:
            pressed, _, _ = self._pressed(engine, t, self._onto(engine, t, x, xd), xd)
            values = values.copy()
            for contact, press in zip(self.contacts, pressed, strict=True):
                values[contact.k] = -press * (engine.crossings[contact.k].direction or 1.0)
        return values

    def project(self, engine: Engine, t: float, x: Floats, xd: Floats) -> Floats:
        """x projected onto the surfaces, with the held signals and their rates at zero."""
        if self.sliding is not None:
            x = self.sliding.project(engine, t, x, xd)
        return self._onto(engine, t, x, xd) if self.contacts else x

    def let_go(
        self, engine: Engine, t: float, x: Floats, xd: Floats, free: set[int]
    ) -> tuple[Held, Floats]:
        """The holds without those contacts that are in `free` or whose signals move away by
        themselves; and x moved slightly to the old side of these.
        """
        rates = self._signal_rates(engine, t, x, xd) if self.contacts else np.zeros(0)
        kept = []
        for contact, rate in zip(self.contacts, rates, strict=True):
            if contact.k not in free and rate >= -1e-9:
                kept.append(contact)
                continue
            at = geometry(engine, t, x, xd, [contact.k])
            side = engine.crossings[contact.k].direction or 1.0
            away = (
                at.onto(x)
                - side * np.sign(at.J @ at.along.T)[0, 0] * 1e-11 * at.size[0] * (at.along[0])
            )
            x = away
        return Held(self.sliding, tuple(kept)), x

    def _free(self, engine: Engine, t: float, x: Floats, xd: Floats) -> Floats:
        """dx/dt without contacts."""
        if self.sliding is None:
            return engine.derivative(t, x, xd)
        return self.sliding.rates(engine, t, x, xd)

    def _signal_rates(self, engine: Engine, t: float, x: Floats, xd: Floats) -> Floats:
        """The rates of the held signals, positive in the direction beyond zero."""
        ks = [c.k for c in self.contacts]
        at = geometry(engine, t, x, xd, ks)
        signs = np.array([engine.crossings[k].direction or 1.0 for k in ks])
        rates: Floats = signs * (at.J @ self._free(engine, t, x, xd) + at.g_t)
        return rates

    def _pressed(
        self, engine: Engine, t: float, x: Floats, xd: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """The accelerations of the held signals without contact forces, those caused by each
        contact (columns), and dx/dt without contact forces.
        """
        free = self._free(engine, t, x, xd)

        def change(dt: float, way: Floats) -> Floats:
            ahead = self._signal_rates(engine, t + dt, x + way, xd)
            behind = self._signal_rates(engine, t - dt, x - way, xd)
            return (ahead - behind) / 2

        pressed = change(RATES_APART, RATES_APART * free) / RATES_APART
        size = RATES_APART * (1.0 + float(np.abs(x).max(initial=0.0)))
        columns = [change(0.0, size * c.jump) / size for c in self.contacts]
        return pressed, np.array(columns).T, free

    def _onto(self, engine: Engine, t: float, x: Floats, xd: Floats) -> Floats:
        """x with the signals of the contacts, and their rates, at zero."""
        at = geometry(engine, t, x, xd, [c.k for c in self.contacts])
        x = at.onto(x)
        _, push, _ = self._pressed(engine, t, x, xd)
        rates = self._signal_rates(engine, t, x, xd)
        return x + self._by_forces(push, rates)

    def _by_forces(self, push: Floats, rates: Floats) -> Floats:
        """The change of the states by contact forces that cancels these rates of the signals."""
        forces = np.linalg.lstsq(push, -rates, rcond=None)[0]
        added: Floats = np.asarray(forces, dtype=float) @ np.array([c.jump for c in self.contacts])
        return added
