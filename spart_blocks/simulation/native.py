"""The native engine: evaluates the traced program in place of the blocks.

It is the interpreter with its arithmetic exchanged; blocks are asked only for names,
shapes and, where something goes wrong, for the cause.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from spart_blocks.diagram.clocks import Clock, clocks_of
from spart_blocks.diagram.flatten import Source, Wiring
from spart_blocks.diagram.model import Diagram
from spart_blocks.errors import RunError, SpartError
from spart_blocks.program import Program, Slot, trace
from spart_blocks.simulation.interpreter import Floats, Interpreter, Values

CHECKED_POINTS = 20
AGREEMENT = 1e-10


class _Call:
    """A CasADi Function on float vectors, called through its buffers: no copies in
    Python, 2 us a call. The buffers must live as long as the function is called."""

    def __init__(self, function: Any, p: Floats) -> None:
        self.function = function
        self.buffer, self.evaluate = function.buffer()
        self.arguments = [np.zeros(function.numel_in(k)) for k in range(function.n_in())]
        self.result = np.zeros(function.numel_out(0))
        self.arguments[3][:] = p
        for k, argument in enumerate(self.arguments):
            self.buffer.set_arg(k, memoryview(argument.data))
        self.buffer.set_res(0, memoryview(self.result.data))

    def __call__(self, t: float, x: Floats, xd: Floats) -> Floats:
        """A fresh vector of results."""
        arguments = self.arguments
        arguments[0][0], arguments[1][:], arguments[2][:] = t, x, xd
        self.evaluate()
        return self.result.copy()


class Native(Interpreter):
    """The engine of a traced diagram."""

    traced = True

    def __init__(self, diagram: Diagram, wiring: Wiring, program: Program) -> None:
        super().__init__(diagram, wiring)
        self.program = program
        dense = {"y": program.outputs, "xdot": program.rates, **program.updates}
        calls = {name: _Call(_densified(f), program.p) for name, f in dense.items()}
        self._signals, self._rates = calls.pop("y"), calls.pop("xdot")
        self._ticks = calls
        self.jacobian = self._jacobian
        self.clocks = clocks_of(list(wiring.of_kind("sampled")), diagram.run.first_tick)
        self._rates_by_x: _Call | None = None
        slots = iter(program.signals)
        self._slots: list[list[Slot]] = [
            [next(slots) for _ in node.out_ports] if node.kind not in ("sink", "graphics") else []
            for node in self.nodes
        ]

    def _jacobian(self, t: float, x: Floats, xd: Floats) -> Floats:
        if self._rates_by_x is None:
            import casadi as ca

            arguments = self.program.rates.sx_in()
            slope = ca.densify(ca.jacobian(self.program.rates(*arguments), arguments[1]))
            self._rates_by_x = _Call(ca.Function("jacobian", arguments, [slope]), self.program.p)
        # CasADi stores matrices by columns.
        return self._rates_by_x(t, x, xd).reshape(len(x), len(x)).T

    def slot_of(self, source: Source) -> Slot:
        """Where an output lies in the vector of all signals."""
        return self._slots[source[0]][source[1]]

    def outputs(self, t: float, x: Floats, xd: Floats) -> Values:
        """The outputs of every node at time t and states x, xd."""
        y = self._signals(t, x, xd)
        return [
            [y[slot.part].reshape(slot.shape) if slot.shape else float(y[slot.start]) for slot in s]
            for s in self._slots
        ]

    def derivative(self, t: float, x: Floats, xd: Floats) -> Floats:
        """dx/dt; RunError where it is not finite, naming the first signal that is not."""
        xdot = self._rates(t, x, xd)
        if np.isfinite(xdot).all():
            return xdot
        super().derivative(t, x, xd)  # says which block, and why
        raise RunError("the derivative of the states is not finite", time=t)

    def tick(self, t: float, x: Floats, xd: Floats, due: Sequence[Clock]) -> Floats:
        """The discrete states after the clocks due have ticked together."""
        after = xd.copy()
        for clock in due:
            moved = self._ticks[clock.name](t, x, xd)
            for i in clock.nodes:
                after[self.sampled[i]] = moved[self.sampled[i]]
        if not np.isfinite(after).all():
            super().tick(t, x, xd, due)
            raise RunError("a discrete state is not finite after a tick", time=t)
        return after


def _densified(function: Any) -> Any:
    """The function with dense results, so that they lie in memory as they are numbered."""
    import casadi as ca

    arguments = function.sx_in()
    return ca.Function(function.name(), arguments, [ca.densify(function(*arguments))])


def native_engine(diagram: Diagram, wiring: Wiring) -> Native:
    """Trace a diagram and check the program against the interpreter.

    Raises DiagramError for wires of a wrong shape; TraceError where a block cannot be
    traced, or where the program differs from the blocks, naming the first block that does.
    """
    blocks = Interpreter(diagram, wiring)
    # A block traced with a wrong shape fails without saying where its wire comes from.
    # Blocks that fail at the start for another reason say so when the run begins.
    with suppress(RunError):
        blocks.check_shapes(0.0, *blocks.initial())
    engine = Native(diagram, wiring, trace(diagram, wiring))
    check(engine, blocks)
    return engine


def check(native: Native, blocks: Interpreter) -> None:
    """Compare all signals and derivatives at random states and times with the blocks' own.

    Points where the blocks themselves fail or give no finite number are passed over.
    """
    from spart_blocks.program import TraceError

    rng = np.random.default_rng(0)
    x0, xd0 = blocks.initial()
    spread = (x0, xd0)
    with np.errstate(all="ignore"):
        for k in range(CHECKED_POINTS):
            t = 0.0 if k == 0 else float(rng.uniform(0, native.diagram.run.T))
            x, xd = (s + (k > 0) * rng.normal(scale=0.3, size=len(s)) for s in spread)
            try:
                want, rates = blocks.outputs(t, x, xd), blocks.derivative(t, x, xd)
            except SpartError:
                continue
            got = native.outputs(t, x, xd)
            for i in blocks.wiring.schedule:
                node = blocks.nodes[i]
                for port, (a, b) in enumerate(zip(got[i], want[i], strict=True)):
                    if not _agree(a, b):
                        raise TraceError(
                            f"signal {node.output_name(port)} ({node.block.type.upper()}) differs "
                            f"between its expression and its block at t = {t:.6g} s: "
                            f"{_worst(a, b)}"
                        )
            for clock in native.clocks:
                try:
                    after = blocks.tick(t, x, xd, [clock])
                except SpartError:
                    continue
                if not _agree(native._ticks[clock.name](t, x, xd), after):
                    raise TraceError(f"a tick of clock {clock.name} differs from the blocks' own")
            if not _agree(native._rates(t, x, xd), rates):
                raise TraceError(f"the derivatives differ between program and blocks at t = {t} s")


def _agree(a: Any, b: Any) -> bool:
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.shape != b.shape:
        return bool(a.size == b.size == 1 and _agree(a.ravel(), b.ravel()))
    if not np.isfinite(b).all() or not b.size:
        return True
    return bool(np.abs(a - b).max() <= AGREEMENT * max(1.0, np.abs(b).max()))


def _worst(a: Any, b: Any) -> str:
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.shape != b.shape:
        return f"shape {a.shape} and {b.shape}"
    return f"they are {np.abs(a - b).max():.3g} apart"
