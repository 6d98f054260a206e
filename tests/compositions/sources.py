"""Sources, with edges on ticks and off them."""

from __future__ import annotations

from compositions.drafting import Draft, decimal


def add_source(d: Draft) -> None:
    """One source of any kind."""
    kinds = (constant, step, step, pulse, pulse, repeating, square, prbs, prbs_s, pieces, ramp)
    d.draw.choice(kinds if d.pure else (*kinds, wave, table, clock_time))(d)


def constant(d: Draft) -> None:
    d.give(d.add("CONSTANT", value=d.coarse()), ticks=True)


def edge(d: Draft) -> float:
    """A time: mostly of the lattice, where ticks are."""
    return d.time(1, 12) if d.draw.random() < 0.75 else decimal(d.time(1, 12) + 0.0137)


def step(d: Draft) -> None:
    d.give(d.add("STEP", T=edge(d), on=d.coarse(), off=d.coarse()), ticks=True)


def pulse(d: Draft) -> None:
    """Rises and falls on the lattice."""
    parts = d.draw.choice([2, 4, 5])
    given = {"period": decimal(parts * d.base * d.draw.choice([1, 1, 2]))}
    given["width"] = d.draw.choice([0.5, 0.25, 0.2, 0.6])
    if d.draw.random() < 0.5:
        given["delay"] = d.time(1, 5)
    d.give(d.add("PULSE", amplitude=d.coarse(), **given), ticks=True)


def repeating(d: Draft) -> None:
    times = [0.0]
    for _ in range(d.draw.randint(2, 4)):
        times.append(decimal(times[-1] + d.time(1, 3)))
    held = d.draw.random() < 0.6
    how = {"interpolation": "previous" if held else "linear"}
    d.give(d.add("REPEATING", times=times, values=[d.coarse() for _ in times], **how), ticks=held)


def square(d: Draft) -> None:
    """A square wave; its frequency need not be a decimal."""
    period = d.base * d.draw.choice([2, 4, 5, 8])
    given = {"wave": "square", "freq": 1 / period, "phase": d.draw.choice([0, 0, 0.25, 0.5])}
    if d.pure:  # frequencies that a decimal says
        given["freq"] = d.draw.choice([0.5, 1.0, 1.25, 2.0, 2.5])
    d.give(d.add("WAVEFORM", amplitude=d.coarse(), **given), ticks=True)


def prbs(d: Draft) -> None:
    given = {"order": d.draw.randint(2, 6), "seed": d.draw.randint(0, 9)}
    d.give(d.add("PRBS", interval=d.time(1, 3), amplitude=d.coarse(), **given), ticks=True)


def prbs_s(d: Draft) -> None:
    given = {"order": d.draw.randint(2, 6), "seed": d.draw.randint(0, 9)}
    d.give(d.add("PRBS_S", clock=d.clock(), amplitude=d.coarse(), **given), ticks=True)


def pieces(d: Draft) -> None:
    """A table over time."""
    t, seq = 0.0, [[0.0, d.coarse()]]
    for _ in range(d.draw.randint(2, 6)):
        t = decimal(t + d.time(1, 4))
        seq.append([t, d.coarse()])
    d.give(d.add("PIECEWISE", seq=seq), ticks=True)


def ramp(d: Draft) -> None:
    """It stays small: the slope is for the longest run."""
    d.give(d.add("RAMP", T=edge(d), slope=d.draw.choice([-0.125, 0.125, 0.0625]), off=0.25))


def wave(d: Draft) -> None:
    kind = d.draw.choice(["sine", "triangle"])
    freq = d.draw.choice([0.5, 1.0, 1.7, 2.0])
    d.give(d.add("WAVEFORM", wave=kind, freq=freq, amplitude=d.number()))


def table(d: Draft) -> None:
    """A lookup of time, with kinks at times of the lattice."""
    x = [0.0, d.base, decimal(3 * d.base), decimal(8 * d.base), 50.0]
    d.give(d.add("INTERPOLATE", x=x, y=[d.coarse() for _ in x], time=True))


def clock_time(d: Draft) -> None:
    name = d.add("TIME")
    d.give(d.add("FCN", name, expression="sin(1.3*u)"))
