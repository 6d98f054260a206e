"""Rules of sources, sinks and checks."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from spart_blocks.diagram.converted.simulink.given import (
    Carried,
    Given,
    NotCarriedError,
    Rule,
    block,
    count,
    formula,
    made,
    nothing,
    only,
    together,
)


def constant(g: Given) -> Carried:
    return made("CONSTANT", value=g.param("Value", "1"))


def sine(g: Given) -> Carried:
    only(g, "SineType", "Time based", "Time based")
    if g.text("TimeSource", "Use simulation time") != "Use simulation time":
        given = {"a": g.param("Amplitude", "1"), "w": g.param("Frequency", "1"),
                 "phase": g.param("Phase", "0"), "offset": g.param("Bias", "0")}  # fmt: skip
        return Carried(formula("a * sin(w*u + phase) + offset", **given))
    turns = np.asarray(g.value("Phase", "0")) / (2 * math.pi)
    if turns.ndim:
        raise NotCarriedError("Phase is a vector")
    return made("WAVEFORM", wave="sine", freq=g.param("Frequency", "1"), unit="rad/s",
                phase=float(-turns % 1), amplitude=g.param("Amplitude", "1"),
                offset=g.param("Bias", "0"))  # fmt: skip


def generator(g: Given) -> Carried:
    wave = g.text("WaveForm", "sine")
    if wave not in ("sine", "square"):
        raise NotCarriedError(f"WaveForm is {wave}")
    unit = "Hz" if g.text("Units", "Hertz") == "Hertz" else "rad/s"
    remark = "check the sign of its first half period" if wave == "square" else ""
    return made("WAVEFORM", remark, wave=wave, freq=g.param("Frequency", "1"), unit=unit,
                amplitude=g.param("Amplitude", "1"))  # fmt: skip


def pulse(g: Given) -> Carried:
    period, width = g.value("Period", "10"), g.value("PulseWidth", "5")
    delay = g.value("PhaseDelay", "0")
    if g.text("PulseType", "Time based") == "Sample based":
        step = g.value("SampleTime", "1")
        if step <= 0:
            raise NotCarriedError("it is sample based, and its sample time is inherited")
        period, width, delay = period * step, 100 * width / period, delay * step
    return made("PULSE", amplitude=g.param("Amplitude", "1"), period=period, width=width / 100,
                delay=delay)  # fmt: skip


def chirp(g: Given) -> Carried:
    remark = "after its target time the frequency stays; in Simulink it goes on"
    return made("CHIRP", remark, f0=g.param("f1", "0.1"), f1=g.param("f2", "1"),
                duration=g.param("T", "100"))  # fmt: skip


def noise(distribution: str) -> Rule:
    def rule(g: Given) -> Carried:
        if distribution == "normal":
            given = {"mean": g.value("Mean", "0"), "std": np.sqrt(g.value("Variance", "1"))}
        else:
            given = {"low": g.value("Minimum", "-1"), "high": g.value("Maximum", "1")}
        return made("NOISE", "other random numbers", clock=g.clock("0.1"),
                    distribution=distribution, **given)  # fmt: skip

    return rule


def white_noise(g: Given) -> Carried:
    return made("BAND_LIMITED_NOISE", "other random numbers", clock=g.clock("0.1"),
                power=g.param("Cov", "[0.1]"))  # fmt: skip


def counter(bits: bool) -> Rule:
    """A count from 0 at each tick. Our first count would be 1: it starts at the upper limit."""

    def rule(g: Given) -> Carried:
        top = 2 ** count(g, "NumBits", "16") - 1 if bits else int(g.value("uplimit", "7"))
        it = block("COUNTER", clock=g.clock(), upper=top, initial=top)
        return together("one -> it.up; it -> out.1", it, one=block("CONSTANT", value=1.0))

    return rule


def repeating(g: Given) -> Carried:
    return made("REPEATING", times=g.value("rep_seq_t", "[0 2]"),
                values=g.value("rep_seq_y", "[0 2]"))  # fmt: skip


def stair(g: Given) -> Carried:
    values, step = np.atleast_1d(g.value("OutValues", "[3 1 4 2 1]")), g.period()
    return made("REPEATING", times=step * np.arange(len(values) + 1.0),
                values=np.append(values, values[0]), interpolation="previous")  # fmt: skip


def interpolated(g: Given) -> Carried:
    kind = g.text("LookUpMeth", "Interpolation-Use End Values")
    if not kind.startswith("Interpolation") and kind != "Use Input Below":
        raise NotCarriedError(f"LookUpMeth is {kind}")
    it = block("REPEATING", times=g.value("TimeValues", "[0 0.1 0.5 0.6 1]"),
               values=g.value("OutValues", "[3 1 4 2 1]"),
               interpolation="linear" if kind.startswith("Interp") else "previous")  # fmt: skip
    return together("it -> held; held -> out.1", it, held=block("ZOH", clock=g.clock("0.01")))


def digital_clock(g: Given) -> Carried:
    held = block("ZOH", clock=g.clock("1"))
    return together("it -> held; held -> out.1", block("TIME"), held=held)


def workspace(g: Given) -> Carried:
    """A table of times and values, a row for each time."""
    name = g.text("VariableName", "simin")
    table = np.asarray(g.value("VariableName", "simin"), float)
    if table.ndim != 2 or len(table) < 2 or table.shape[1] < 2:
        raise NotCarriedError(f"{name} is no matrix with a row for each time")
    times, values = table[:, 0], table[:, 1:].squeeze()
    if np.any(np.diff(times) <= 0):
        raise NotCarriedError(f"the times of {name} do not increase")
    after = g.text("OutputAfterFinalValue", "Extrapolation")
    kind = "previous" if g.text("Interpolate", "on") == "off" else "linear"
    if after == "Cyclic repetition":
        return made("REPEATING", times=times - times[0], values=values, interpolation=kind)
    look = {"x": times, "y": values, "interpolation": kind}
    beyond = "extrapolate" if after == "Extrapolation" and kind == "linear" else "clip"
    parts = {"time": block("TIME")}
    it = block("LOOKUP", **look, outside=beyond)
    if after != "Setting to zero":
        return together("time -> it; it -> out.1", it, **parts)
    ends = formula("y if t <= end else 0*y", "y", end=float(times[-1]))
    return together("time -> it; it -> ends; ends -> out.1", it, **parts, ends=ends)


def scope(g: Given) -> Carried:
    return nothing("it floats") if g.on("Floating") else made("SCOPE", nin=max(g.inputs, 1))


# --- checks -------------------------------------------------------------------------------------


def _action(g: Given, key: str) -> dict[str, Any]:
    return {"action": "error" if g.text(key, "on") == "on" else "warn"}


def assertion(g: Given) -> Carried:
    if g.text("Enabled", "on") == "off":
        return nothing("it is not enabled")
    return made("ASSERT", **_action(g, "StopWhenAssertionFail"))


def check_range(*sides: str) -> Rule:
    """sides: of `lower` and `upper`."""

    def rule(g: Given) -> Carried:
        if g.text("enabled", "on") == "off":
            return nothing("it is not enabled")
        names = {"lower": "min", "upper": "max"}
        limits = {side: g.param(names[side], "0" if side == "lower" else "100") for side in sides}
        return made("CHECK_RANGE", **limits, **_action(g, "stopWhenAssertionFail"))

    return rule


def check_formula(expression: str, *arguments: str, remark: str = "") -> Rule:
    """A check of a formula of the inputs by name, and of the parameters `min`, `max` and
    `resolution`, which are its low, high and step."""

    def rule(g: Given) -> Carried:
        if g.text("enabled", "on") == "off":
            return nothing("it is not enabled")
        params = {
            name: g.param(key, default)
            for name, key, default in (
                ("low", "min", "0"), ("high", "max", "100"), ("step", "resolution", "1"),
            )
            if re.search(rf"\b{name}\b", expression)
        }  # fmt: skip
        given = "; ".join(f"in.{k} -> holds.{k - 1}" for k in range(1, len(arguments) + 1))
        given = given if len(arguments) > 1 else "in.1 -> holds"
        return together(f"{given}; holds -> it; it -> out.1",
                        block("ASSERT", **_action(g, "stopWhenAssertionFail")), remark,
                        holds=formula(expression, *arguments, **params))  # fmt: skip

    return rule


def check_gradient(g: Given) -> Carried:
    if g.text("enabled", "on") == "off":
        return nothing("it is not enabled")
    return made("CHECK_RATE", clock=g.clock(), limit=g.value("gradient", "1") / g.period(),
                **_action(g, "stopWhenAssertionFail"))  # fmt: skip
