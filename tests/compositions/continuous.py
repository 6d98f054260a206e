"""Blocks with continuous states, and blocks that switch."""

from __future__ import annotations

from compositions.drafting import Draft


def add_state(d: Draft) -> None:
    """A block whose output is of its state alone; its input comes last."""
    kind = d.draw.choice(["LTI_SISO", "LTI_SISO", "INTEGRATOR", "SECOND", "RELAY", "DELAY"])
    jumps, reads = False, "calm"
    if kind == "LTI_SISO":
        a = d.draw.choice([0.5, 2.0, 5.0])
        name = d.add(kind, N=[a], D=[1.0, a])
    elif kind == "SECOND":
        w, z = d.draw.choice([1.0, 3.0]), d.draw.choice([1.0, 1.4])
        name = d.add("LTI_SISO", N=[w * w], D=[1.0, 2 * z * w, w * w])
    elif kind == "INTEGRATOR":
        limits = {"min": -0.8, "max": 0.8} if d.draw.random() < 0.4 else {}
        gain = d.draw.choice([0.25, -0.25, 0.125])
        name = d.add(kind, gain=gain, x0=d.draw.choice([0.0, 0.1, -0.2]), **limits)
    elif kind == "RELAY":
        values = {"on_value": d.coarse(), "off_value": d.coarse()}
        # What comes before it alone: no relay can contradict itself.
        d.give(d.add(kind, d.pick(), on=0.3141, off=-0.2718, **values))
        return
    else:
        clock = d.clock()
        parts = d.clocks[clock]
        period = parts["T"] if "T" in parts else 1 / parts["rate"]
        delay = round(period * d.draw.choice([1.0, 1.5, 2.0, 3.0]), 10)
        name = d.add("TRANSPORT_DELAY", clock=clock, delay=max(delay, period))
        reads = "any"
    d.late.append((name, reads))
    d.give(name, jumps=jumps)


def add_continuous(d: Draft) -> None:
    """A block that follows its input at once."""
    u = d.pick(calm=True)
    kind = d.draw.choice(["PID_2DOF", "LEAD", "RATE_LIMITER", "BACKLASH"])
    if kind == "LEAD":
        name = d.add("LTI_SISO", u, N=[0.5, 1.0], D=[1.0, 4.0])
    elif kind == "RATE_LIMITER":
        name = d.add(kind, u, rising=1.5, falling=-0.7, bandwidth=20.0)
    elif kind == "BACKLASH":
        name = d.add(kind, u, gap=0.1237, bandwidth=50.0)
    else:
        name = d.add("LTI_SISO", u, N=[0.25, 0.5, 1.0], D=[1.0, 3.0, 2.0])
    d.give(name)
