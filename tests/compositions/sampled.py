"""Blocks at the ticks of clocks, and functions."""

from __future__ import annotations

from compositions.drafting import Draft, Signal


def add_delay(d: Draft) -> None:
    """A sampled block whose output is of its state alone; its input comes last."""
    kind = d.draw.choice(["UNIT_DELAY", "UNIT_DELAY", "INTEGRATOR_S", "LTI_SISO_S"])
    at = {"clock": d.clock()}
    if kind == "UNIT_DELAY":
        given = {"initial": d.coarse(), "N": d.draw.choice([1, 1, 1, 2, 3])}
    elif kind == "INTEGRATOR_S":
        given = {"gain": d.coarse(), "min": -0.9, "max": 0.9, "x0": d.draw.choice([0.0, 0.25])}
    else:
        given = {"N": [0.5], "D": [1.0, d.draw.choice([-0.5, 0.25])]}
    name = d.add(kind, **at, **given)
    d.late.append((name, "sampled"))
    d.give(name, ticks=True)


def add_sampled(d: Draft) -> None:
    """A sampled block whose output depends on its input at the tick."""
    u, at = d.pick(), {"clock": d.clock()}
    draw = d.draw
    kinds = [
        "ZOH", "ZOH", "RATE_LIMITER_S", "DERIV_S", "MOVING_AVERAGE", "FIR", "LTI_SISO_S",
        "COUNTER", "SAMPLE_HOLD", "CUMULATIVE_MAX", "PID_S",
    ]  # fmt: skip
    kind = draw.choice(kinds)
    if kind == "ZOH":
        name = d.add(kind, u, **at, x0=d.coarse())
    elif kind == "RATE_LIMITER_S":
        name = d.add(kind, u, **at, rising=draw.choice([0.5, 2.0]), falling=-1.0)
    elif kind == "DERIV_S":
        name = d.add(kind, u, **at, gain=round(0.4 * period(d, at["clock"]), 6))
    elif kind == "MOVING_AVERAGE":
        name = d.add(kind, u, **at, N=draw.randint(2, 4), u0=d.coarse())
    elif kind == "FIR":
        name = d.add(kind, u, **at, coefficients=[0.5, -0.25, 0.125])
    elif kind == "LTI_SISO_S":
        name = d.add(kind, u, **at, N=[0.25, 0.25], D=[1.0, -0.5])
    elif kind == "COUNTER":
        count = d.add(kind, u, **at, upper=draw.randint(2, 5), overflow="wrap")
        name = d.add("GAIN", count, K=0.125)
    elif kind == "SAMPLE_HOLD":
        name = d.add(kind, u, d.pick(), **at, initial=d.coarse())
    elif kind == "CUMULATIVE_MAX":
        name = d.add(kind, u, **at)
        d.wires.append(f"{d.pick().name} -> {name}.clear")
    else:
        gains = {"P": 0.25, "I": 0.5, "D": round(0.1 * period(d, at["clock"]), 6)}
        name = d.add(kind, u, d.pick(), **at, **gains, I_limit=0.5)
    d.give(name, ticks=True)


def period(d: Draft, clock: str) -> float:
    given = d.clocks[clock]
    return given["T"] if "T" in given else 1 / given["rate"]


def add_function(d: Draft) -> None:
    """A function of signals."""
    a, b, draw = d.pick(), d.pick(), d.draw
    kinds = ["GAIN", "SUM", "SUM", "SWITCH", "COMPARE", "LOGIC", "MINMAX", "CLIP", "PROD"]
    kind = draw.choice(kinds if d.pure else [*kinds, "FCN", "QUANTIZER", "DEADZONE"])
    if kind == "GAIN":
        d.give(d.add(kind, a, K=d.coarse()), (a,))
    elif kind == "SUM":
        total = d.add(kind, a, b, signs=draw.choice(["++", "+-"]))
        d.give(d.add("GAIN", total, K=0.5), (a, b))
    elif kind == "SWITCH":
        control = d.pick(ticks=d.pure)
        name = d.add(kind, a, control, b, threshold=d.number(0.8))
        d.give(name, (a, b, control), jumps=jumping(a, b) or not control.ticks)
    elif kind == "COMPARE":
        a = d.pick(ticks=d.pure)
        name = d.add(kind, a, operator=draw.choice(["<", ">="]), constant=d.number(0.8))
        d.give(name, (a,), jumps=not a.ticks)
    elif kind == "LOGIC":
        parts = [truth(d) for _ in range(2)]
        name = d.add(kind, *parts, operator=draw.choice(["and", "or", "xor"]))
        d.give(name, tuple(parts))
    elif kind == "MINMAX":
        d.give(d.add(kind, a, b, function=draw.choice(["min", "max"])), (a, b))
    elif kind == "CLIP":
        d.give(d.add(kind, a, min=-0.6173, max=0.7391), (a,))
    elif kind == "PROD":
        d.give(d.add(kind, a, b, ops="**"), (a, b))
    elif kind == "FCN":
        text = draw.choice(["tanh(a)*cos(b)", "0.5*a - 0.4*b**2", "a*b/(1 + b**2)"])
        d.give(d.add(kind, a, b, expression=text, arguments=["a", "b"]), (a, b))
    elif kind == "QUANTIZER":
        d.give(d.add(kind, a, interval=0.2371), (a,), jumps=not a.ticks)
    else:
        d.give(d.add(kind, a, lower=-0.2113, upper=0.3117), (a,))


def truth(d: Draft) -> Signal:
    """A signal of 0 and 1."""
    a = d.pick(ticks=d.pure)
    return d.give(
        d.add("COMPARE", a, operator=">", constant=d.number(0.7)), (a,), jumps=not a.ticks
    )


def jumping(*signals: Signal) -> bool:
    return any(signal.jumps for signal in signals)
