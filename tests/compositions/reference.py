"""Purely sampled diagrams, by hand: exact fractions for time and values, and no code of the
package. It reads the YAML's mapping alone.

The rule. At its tick k a sampled block with state x and input u shows y = g(x, u) to every reader
until its next tick; then its state is f(x, u). Blocks that are due at one instant are evaluated in
the order of direct feed-through, then all move on. An instant is a fraction of what the file says.
What is known ahead, an edge of a source, holds from its instant on, ticks included. A run to T
contains the ticks at T. Before its first tick a block that feeds through shows 0, another one
what its initial state says; one that holds its value shows its initial value.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

Number = Fraction
Values = dict[str, Fraction]
Row = tuple[Fraction, Values, Values, Values]


def F(value: Any) -> Fraction:
    """The number as it is written."""
    return Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)


# --- sources: the value from t on, or just before t ------------------------------------------


def since(t: Fraction, edge: Fraction, left: bool) -> bool:
    """Whether an edge has been, at t or just before it."""
    return t > edge if left else t >= edge


def floor(x: Fraction, left: bool) -> int:
    """The greatest integer that is at most x, or below it."""
    k = x.numerator // x.denominator
    return k - 1 if left and k == x else k


def source(b: dict[str, Any], t: Fraction, left: bool) -> Fraction:
    kind = b["type"]
    if kind == "CONSTANT":
        return F(b["value"])
    if kind == "STEP":
        return F(b["on"]) if since(t, F(b["T"]), left) else F(b["off"])
    if kind == "RAMP":
        return F(b["off"]) + F(b["slope"]) * max(t - F(b["T"]), 0)
    if kind == "PULSE":
        period = F(b["period"])
        place = (t - F(b.get("delay", 0))) / period
        k = floor(place, left)
        on = k >= 0 and not since(place - k, F(b["width"]), left)
        return F(b["amplitude"]) if on else Fraction(0)
    if kind == "WAVEFORM":  # square
        place = t * F(b["freq"]) - F(b.get("phase", 0))
        high = not since(place - floor(place, left), Fraction(1, 2), left)
        return F(b["amplitude"]) if high else -F(b["amplitude"])
    if kind == "PIECEWISE":
        return [F(y) for time, y in b["seq"] if since(t, F(time), left) or F(time) == 0][-1]
    if kind == "REPEATING":
        times, values = [F(x) for x in b["times"]], [F(x) for x in b["values"]]
        s = t - times[-1] * floor(t / times[-1], left)
        k = max(k for k in range(len(times) - 1) if since(s, times[k], left) or k == 0)
        if b["interpolation"] == "previous":
            return values[k]
        rate = (values[k + 1] - values[k]) / (times[k + 1] - times[k])
        return values[k] + rate * (s - times[k])
    assert kind == "PRBS", kind
    bits = register(b["order"], b["seed"])
    bit = bits[floor(t / F(b["interval"]), left) % len(bits)]
    return F(b["amplitude"]) * (2 * bit - 1)


TAPS = {2: 1, 3: 2, 4: 3, 5: 3, 6: 5}


@cache
def register(order: int, seed: int) -> tuple[int, ...]:
    """The period of a shift register of maximum length: each bit is the exclusive or of the bit
    `order` before and of that one TAPS after it."""
    period = 2**order - 1
    start = period - seed % period
    bits = [start >> k & 1 for k in range(order)]
    while len(bits) < period:
        bits.append(bits[-order] ^ bits[TAPS[order] - order])
    return tuple(bits)


# --- functions -------------------------------------------------------------------------------

COMPARED: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": lambda a, b: a < b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip


def function(b: dict[str, Any], u: list[Fraction]) -> Fraction:
    kind = b["type"]
    if kind == "GAIN":
        return F(b["K"]) * u[0]
    if kind == "SUM":
        return sum((x if s == "+" else -x for s, x in zip(b["signs"], u, strict=True)), Fraction(0))
    if kind == "PROD":
        return u[0] * u[1]
    if kind == "SWITCH":
        return u[0] if u[1] >= F(b["threshold"]) else u[2]
    if kind == "COMPARE":
        return Fraction(COMPARED[b["operator"]](u[0], F(b["constant"])))
    if kind == "LOGIC":
        a, c = u[0] != 0, u[1] != 0
        return Fraction({"and": a and c, "or": a or c, "xor": a != c}[b["operator"]])
    if kind == "MINMAX":
        return min(u) if b["function"] == "min" else max(u)
    assert kind == "CLIP", kind
    return min(max(u[0], F(b["min"])), F(b["max"]))


# --- sampled blocks: the state at first, what they show before, and a tick -------------------

State = list[Fraction]


def start(b: dict[str, Any]) -> tuple[State, Fraction]:
    """The first state, and what is shown before the first tick."""
    kind, none = b["type"], Fraction(0)
    if kind == "ZOH":
        return [F(b["x0"])], F(b["x0"])
    if kind == "UNIT_DELAY":
        first = F(b.get("initial", 0))
        return [first] * b.get("N", 1), first
    if kind in ("INTEGRATOR_S", "RATE_LIMITER_S"):
        return [F(b.get("x0", 0))], F(b.get("x0", 0))
    if kind == "MOVING_AVERAGE":
        return [F(b["u0"])] * (b["N"] - 1), none
    if kind == "FIR":
        return [none] * (len(b["coefficients"]) - 1), none
    if kind == "SAMPLE_HOLD":
        return [none, F(b["initial"])], F(b["initial"])
    if kind == "PRBS_S":
        bits = register(b["order"], b["seed"])
        return [none], F(b["amplitude"]) * (2 * bits[0] - 1)
    sizes = {"DERIV_S": 1, "LTI_SISO_S": 2, "COUNTER": 1, "CUMULATIVE_MAX": 2, "PID_S": 2}
    return [none] * sizes[kind], none


def ticked(b: dict[str, Any], x: State, u: list[Fraction], T: Fraction) -> tuple[Fraction, State]:
    """What a tick shows, and the next state."""
    kind = b["type"]
    if kind == "ZOH":
        return u[0], [u[0]]
    if kind == "UNIT_DELAY":
        return x[-1], [u[0], *x[:-1]]
    if kind == "INTEGRATOR_S":
        after = x[0] + F(b.get("gain", 1)) * T * u[0]
        return x[0], [min(max(after, F(b["min"])), F(b["max"]))]
    if kind == "RATE_LIMITER_S":
        y = x[0] + min(max(u[0] - x[0], F(b["falling"]) * T), F(b["rising"]) * T)
        return y, [y]
    if kind == "DERIV_S":
        return F(b["gain"]) * (u[0] - x[0]) / T, [u[0]]
    if kind == "MOVING_AVERAGE":
        return (u[0] + sum(x)) / b["N"], [u[0], *x[:-1]]
    if kind == "FIR":
        weights = [F(c) for c in b["coefficients"]]
        return sum(c * v for c, v in zip(weights, [u[0], *x], strict=True)), [u[0], *x[:-1]]
    if kind == "LTI_SISO_S":  # of first order: y(k) = -a y(k-1) + n0 u(k) + n1 u(k-1)
        n = [F(c) for c in b["N"]]
        n = [Fraction(0)] * (2 - len(n)) + n
        y = -F(b["D"][1]) * x[0] + n[0] * u[0] + n[1] * x[1]
        return y, [y, u[0]]
    if kind == "COUNTER":
        count = x[0] + (u[0] > 0)
        count = Fraction(0) if count > b["upper"] else count
        return count, [count]
    if kind == "SAMPLE_HOLD":
        y = u[0] if u[1] > 0 and x[0] <= 0 else x[1]
        return y, [u[1], y]
    if kind == "CUMULATIVE_MAX":
        y = max(x[1], u[0]) if x[0] and not u[1] > 0 else u[0]
        return y, [Fraction(1), y]
    if kind == "PRBS_S":
        bits = register(b["order"], b["seed"])
        return F(b["amplitude"]) * (2 * bits[int(x[0]) % len(bits)] - 1), [x[0] + 1]
    assert kind == "PID_S", kind
    error, most = u[1] - u[0], F(b["I_limit"])  # of the integral times I
    y = F(b["P"]) * error + x[0] + F(b["D"]) * (error - x[1]) / T
    return y, [min(max(x[0] + F(b["I"]) * T * error, -most), most), error]


def machine(b: dict[str, Any], x: State, u: Fraction, T: Fraction) -> State:
    """A chart of flat states at a tick; x: the number of the state from 1, 0 before the first
    tick, the ticks since it was entered, and y. At most one transition at a tick."""
    names = list(b["states"])
    if not x[0]:
        return entered(b, names, b["initial"])
    for way in b["transitions"]:
        if names[int(x[0]) - 1] == way["from"] and allowed(way, u, (x[1] + 1) * T):
            return entered(b, names, way["to"])
    return [x[0], x[1] + 1, x[2]]


def entered(b: dict[str, Any], names: list[str], name: str) -> State:
    return [Fraction(names.index(name) + 1), Fraction(0), F(b["states"][name]["entry"]["y"])]


def allowed(way: dict[str, Any], u: Fraction, age: Fraction) -> bool:
    """Whether a transition can be taken: `after` is over, and one of the comparisons of `when`
    holds."""
    if "after" in way and age < F(way["after"]):
        return False
    parts = [text.split() for text in way.get("when", "").split(" or ") if text]
    return not parts or any(COMPARED[how](u, Fraction(c)) for _, how, c in parts)


EXACT = {"CONSTANT", "STEP", "PULSE", "WAVEFORM", "PIECEWISE", "PRBS", "PRBS_S", "COMPARE", "LOGIC",
         "COUNTER", "STATE_MACHINE_S"}  # fmt: skip
"""Blocks that show values of the file, or whole numbers."""
PASSING = {"ZOH", "UNIT_DELAY", "SAMPLE_HOLD", "SWITCH", "MINMAX", "CLIP", "CUMULATIVE_MAX"}
"""Blocks that show one of their inputs, or a value of the file."""


def compared(b: dict[str, Any]) -> list[tuple[int, Fraction]]:
    """The inputs of a block that it compares, each with the value it is compared with."""
    kind, none = b["type"], Fraction(0)
    if kind == "STATE_MACHINE_S":
        whens = [way.get("when", "") for way in b["transitions"]]
        parts = [text.split() for when in whens for text in when.split(" or ") if text]
        return [(0, Fraction(c)) for _, _, c in parts]
    if kind in ("SWITCH", "COMPARE"):
        return [(1, F(b["threshold"])) if kind == "SWITCH" else (0, F(b["constant"]))]
    ports = {"COUNTER": (0,), "SAMPLE_HOLD": (1,), "CUMULATIVE_MAX": (1,), "LOGIC": (0, 1)}
    return [(k, none) for k in ports.get(kind, ())]


# --- the run -----------------------------------------------------------------------------------


class Reference:
    """A diagram, run. rows: (t, left values, values) for each instant, by block; y of a machine."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.blocks: dict[str, dict[str, Any]] = content["blocks"]
        self.T = F(content["run"]["T"])
        self.clocks = {
            name: (F(c["T"]), F(c.get("offset", 0))) for name, c in content["clocks"].items()
        }
        self.inputs = inputs_of(self.blocks, content["wires"])
        self.states: dict[str, State] = {}
        self.shown: dict[str, Fraction] = {}
        for name, b in self.blocks.items():
            if b["type"] == "STATE_MACHINE_S":
                self.states[name], self.shown[name] = [Fraction(0)] * 3, Fraction(0)
            elif "clock" in b:
                self.states[name], self.shown[name] = start(b)
        self.tie = Fraction(1)
        """How close a comparison came to being equal, of values that arithmetic rounds."""
        self.rough = {n for n, b in self.blocks.items() if b["type"] not in EXACT | PASSING}
        found = set(self.rough)
        while found:
            found = {
                n for n, b in self.blocks.items()
                if b["type"] in PASSING and not self.rough.isdisjoint(self.inputs[n])
            } - self.rough  # fmt: skip
            self.rough |= found

    def instants(self) -> list[Fraction]:
        """All instants from 0 to T at which something may change."""
        found = {Fraction(0), self.T}
        for period, offset in self.clocks.values():
            found |= {offset + k * period for k in range(int(self.T / period) + 1)}
        for b in self.blocks.values():
            found |= set(edges(b, self.T))
        return sorted(t for t in found if 0 <= t <= self.T)

    def run(self) -> list[Row]:
        """Of each instant the values since the last one, somewhere between, just before and at
        it."""
        rows, last = [], Fraction(0)
        for t in self.instants():
            between = self.values(last + (t - last) * Fraction(3, 7), True, set())[0]
            before = self.values(t, True, set())[0]
            due = {
                name for name, (period, offset) in self.clocks.items()
                if t >= offset and not (t - offset) % period
            }  # fmt: skip
            now, after = self.values(t, False, due)
            self.states |= after
            rows.append((t, between, before, now))
            last = t
        return rows

    def note(self, name: str, u: list[Fraction]) -> None:
        """Note how close the comparisons of a block are: arithmetic in doubles may decide them
        either way."""
        for k, limit in compared(self.blocks[name]):
            if k < len(u) and self.inputs[name][k] in self.rough:
                self.tie = min(self.tie, abs(u[k] - limit))

    def values(self, t: Fraction, left: bool, due: set[str]) -> tuple[Values, dict[str, State]]:
        """The value of each block at an instant or just before it, and the next states of those
        that are due."""
        found: dict[str, Fraction] = {}
        after: dict[str, State] = {}

        def value(name: str) -> Fraction:
            if name not in found:
                found[name] = evaluated(name)
            return found[name]

        def evaluated(name: str) -> Fraction:
            b = self.blocks[name]
            if "clock" not in b:
                u = [value(one) for one in self.inputs[name]]
                self.note(name, u)
                return function(b, u) if u else source(b, t, left)
            if b["clock"] not in due:
                return self.shown[name]
            x, T = self.states[name], self.clocks[b["clock"]][0]
            if b["type"] in ("UNIT_DELAY", "INTEGRATOR_S", "PRBS_S") or not through(b):
                # It shows its state; what it reads may depend on it.
                later.append(name)
                self.shown[name] = ticked(b, x, [Fraction(0)] * 3, T)[0]
                return self.shown[name]
            u = [value(one) for one in self.inputs[name]]
            self.note(name, u)
            if b["type"] == "STATE_MACHINE_S":
                after[name] = machine(b, x, u[0], T)
                self.shown[name] = after[name][2]
            else:
                self.shown[name], after[name] = ticked(b, x, [*u, Fraction(0), Fraction(0)], T)
            return self.shown[name]

        later: list[str] = []
        for name in self.blocks:
            value(name)
        for name in later:
            b = self.blocks[name]
            u = [value(one) for one in self.inputs[name]]
            after[name] = ticked(b, self.states[name], u, self.clocks[b["clock"]][0])[1]
        return found, after


def through(b: dict[str, Any]) -> bool:
    """Whether an LTI_SISO_S feeds through."""
    return b["type"] != "LTI_SISO_S" or len(b["N"]) == len(b["D"])


def inputs_of(blocks: dict[str, Any], wires: list[str]) -> dict[str, list[str]]:
    """For each block the blocks that it reads, by port."""
    found: dict[str, dict[int, str]] = {name: {} for name in blocks}
    for wire in wires:
        one, _, other = wire.partition(" -> ")
        name, _, port = other.partition(".")
        number = {"": 0, "clear": 1}.get(port)
        found[name][int(port) if number is None else number] = one.partition(".")[0]
    return {name: [ports[k] for k in sorted(ports)] for name, ports in found.items()}


def edges(b: dict[str, Any], T: Fraction) -> list[Fraction]:
    """The times up to T at which a source jumps or bends."""
    kind = b["type"]
    if kind in ("STEP", "RAMP"):
        return [F(b["T"])]
    if kind == "PIECEWISE":
        return [F(t) for t, _ in b["seq"]]
    if kind == "PULSE":
        period, delay = F(b["period"]), F(b.get("delay", 0))
        first = [delay, delay + F(b["width"]) * period]
    elif kind == "WAVEFORM":
        period = 1 / F(b["freq"])
        first = [F(b.get("phase", 0)) * period - period * k / 2 for k in (0, 1, 2)]
    elif kind == "REPEATING":
        period, first = F(b["times"][-1]), [F(t) for t in b["times"]]
    elif kind == "PRBS":
        period, first = F(b["interval"]), [Fraction(0)]
    else:
        return []
    return [t + k * period for t in first for k in range(int(T / period) + 2)]
