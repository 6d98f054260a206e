"""Rules of continuous and discrete blocks, of delays and of PID controllers."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.diagram.converted.simulink.given import (
    Carried,
    Given,
    NotCarriedError,
    Rule,
    block,
    count,
    finite,
    formula,
    made,
    off,
    only,
    together,
    wire,
)

ONCE = 1e9
"""Period [s] of a clock that ticks at the start of a run alone."""

# --- integrators ----------------------------------------------------------------------------------

_EDGES = ("none", "rising", "falling", "either", "level", "level hold", "sampled level")


def _start(g: Given, number: int) -> tuple[Any, bool]:
    """The initial value, and whether it is that of an input whose value is not known here."""
    if g.text("InitialConditionSource", "internal") == "internal":
        return g.param("InitialCondition", "0"), False
    found = g.beginning(number)
    return (0.0, True) if found is None else (found, False)


def integrator(g: Given) -> Carried:
    """Its ports: the rate, the reset if it has one, the initial value if that is external."""
    reset = g.text("ExternalReset", "none")
    if reset not in _EDGES:
        raise NotCarriedError(f"ExternalReset is {reset!r}")
    external = g.text("InitialConditionSource", "internal") != "internal"
    start, moves = _start(g, 2 + (reset != "none"))
    if moves and g.on("LimitOutput"):
        raise NotCarriedError("it has limits, and an initial value that is no Constant")
    parts: dict[str, dict[str, Any]] = {}
    wires = []
    remark = ""
    limits = _limits(g, ("min", "max") if reset == "none" else ("lower", "upper"))
    if reset == "none":
        it = block("INTEGRATOR", x0=start, **limits)
        wires.append("in.1 -> it")
    else:
        edge = "either" if "level" in reset else reset
        it = block("RESET_INTEGRATOR", edge=edge, x0=start, **limits)
        value = f"in.{3}" if moves or external else "value"
        if "level" in reset:  # held from the edge to zero until the edge back
            parts["level"] = block("ABS")
            parts["rate"] = formula("u if level == 0 else 0*u", "u", "level")
            wires += ["in.2 -> level", "level -> it.trigger, rate.level", "in.1 -> rate.u"]
            wires.append("rate -> it.u")
            remark = "it holds the value of the edge" if external else ""
        else:
            wires += ["in.1 -> it.u", "in.2 -> it.trigger"]
        if value == "value":
            parts["value"] = block("CONSTANT", value=start)
        if not moves:
            wires.append(f"{value} -> it.value")
    source = "it"
    if moves:  # the integral from the start is added to the value there
        source = "sum"
        parts["start"] = block("ZOH", clock=g.every(ONCE))
        parts["sum"] = block("SUM", signs="++")
        given = f"in.{3 if reset != 'none' else 2}"
        wires += [f"{given} -> start", "it -> sum.0", "start -> sum.1"]
        if reset != "none":
            parts["back"] = block("SUM", signs="+-")
            wires += [f"{given} -> back.0", "start -> back.1", "back -> it.value"]
    return _outputs(g, it, source, parts, wires, remark)


def _outputs(
    g: Given, it: dict[str, Any], source: str, parts: dict[str, dict[str, Any]],
    wires: list[str], remark: str,
) -> Carried:  # fmt: skip
    """An integrator with its other outputs: its saturation, and its state."""
    if g.on("WrapState"):
        lower = g.value("WrappedStateLowerValue", "-pi")
        span = g.value("WrappedStateUpperValue", "pi") - lower
        parts["wrapped"] = formula("u - span*floor((u - lower)/span)", lower=lower, span=span)
        wires.append(f"{source} -> wrapped")
        source = "wrapped"
    wires += [f"{source} -> out.1", f"{source} -> out.state"]
    if g.on("ShowSaturationPort"):
        given = {"lower": g.value("LowerSaturationLimit", "-inf"),
                 "upper": g.value("UpperSaturationLimit", "inf")}  # fmt: skip
        known = {k: v for k, v in given.items() if np.all(np.isfinite(v))}
        terms = [text for key, text in (("upper", "(u >= upper)"), ("lower", "-(u <= lower)"))
                 if key in known]  # fmt: skip
        parts["saturated"] = formula(" ".join(terms) if terms else "0*u", **known)
        wires += ["it -> saturated", "saturated -> out.2"]
    if not parts and len(wires) == 3:
        return Carried(it, remark, wires=("in.1 -> it", "it -> out.1, out.state"))
    return Carried(it, remark, parts, tuple(wires))


def _limits(g: Given, names: tuple[str, str]) -> dict[str, Any]:
    if not g.on("LimitOutput"):
        return {}
    return finite(g, "LowerSaturationLimit", "UpperSaturationLimit", names)


def second_order(g: Given) -> Carried:
    only(g, "ExternalReset", "none", "none")
    only(g, "ICSourceX", "internal", "internal")
    only(g, "ICSourceDXDT", "internal", "internal")
    found = {"x0": g.param("ICX", "0"), "v0": g.param("ICDXDT", "0")}
    for switch, low, high, names in (
        ("LimitX", "LowerLimitX", "UpperLimitX", ("lower", "upper")),
        ("LimitDXDT", "LowerLimitDXDT", "UpperLimitDXDT", ("v_lower", "v_upper")),
    ):
        if g.on(switch):
            found |= finite(g, low, high, names)
    it = block("SECOND_ORDER_INTEGRATOR", **found)
    return together("in.1 -> it; it.0 -> out.1; it.1 -> out.2", it)


def discrete_integrator(g: Given) -> Carried:
    """y = b + w K T u, and the state becomes y + (1 - w) K T u, with w 0, 1 or 1/2 of the forward,
    the backward and the trapezoidal rule; b is the state, or at a reset the initial value."""
    kind, _, rule = g.text("IntegratorMethod", "Integration: Forward Euler").partition(":")
    rule = (rule or kind).replace(" ", "")
    weights = {"ForwardEuler": 0.0, "BackwardEuler": 1.0, "Trapezoidal": 0.5}
    reset = g.text("ExternalReset", "none")
    if rule not in weights or reset not in _EDGES:
        raise NotCarriedError(f"IntegratorMethod is {kind}:{rule}, ExternalReset {reset}")
    off(g, "ShowSaturationPort")
    start, moves = _start(g, 2 + (reset != "none"))
    if moves:
        raise NotCarriedError("its initial value is an input that is no Constant")
    remark = ""
    if g.triggered and kind == "Integration":
        remark = "it counts 1 s from edge to edge; Simulink the time that has passed"
    if not weights[rule] and reset == "none" and kind == "Integration":
        it = block("INTEGRATOR_S", clock=g.clock(), x0=start, gain=g.param("gainval", "1"),
                   **_limits(g, ("min", "max")))  # fmt: skip
        return Carried(it, remark, wires=("in.1 -> it", "it -> out.1, out.state"))
    step = (1.0 if kind == "Accumulation" else g.period()) * g.value("gainval", "1")
    limits = _limits(g, ("lower", "upper"))

    def limited(text: str) -> str:
        text = f"max({text}, lower)" if "lower" in limits else text
        return f"min({text}, upper)" if "upper" in limits else text

    base, inputs, wires = "x", ["u", "x"], ["in.1 -> it.u, next.u"]
    parts: dict[str, dict[str, Any]] = {}
    if reset != "none":
        base, inputs = "(x0 if again else x)", ["u", "x", "again"]
        sees = "it.again, next.again"
        if "level" in reset:
            parts["again"] = formula("u != 0")
        else:
            parts["again"] = block("EDGE", clock=g.clock(), direction=reset)
        wires += ["in.2 -> again", f"again -> {sees}"]
    params = {"step": step, **limits, **({"x0": start} if reset != "none" else {})}
    now, rest = weights[rule], 1.0 - weights[rule]
    output = limited(f"{base} + {now!r}*step*u" if now else base)
    wanted = [name for name in inputs if name != "u" or now]
    it = formula(output, *wanted, **{k: v for k, v in params.items() if k != "step" or now})
    parts["next"] = formula(limited(f"{output} + {rest!r}*step*u" if rest else output), *inputs,
                            **params)  # fmt: skip
    parts["x"] = block("UNIT_DELAY", clock=g.clock(), initial=start)
    wires = [one.replace("it.u, ", "") if not now else one for one in wires]
    wires += ["x -> it.x, next.x", "next -> x", "it -> out.1, out.state"]
    return Carried(it, remark, parts, tuple(wires))


# --- linear systems -------------------------------------------------------------------------------


def derivative(g: Given) -> Carried:
    return made("DERIV", "a filter of 1000 rad/s; Simulink takes differences", alpha=1000.0)


def transfer(g: Given) -> Carried:
    if np.ndim(g.value("Numerator", "[1]")) > 1:
        raise NotCarriedError("Numerator is a matrix")
    return made("TRANSFER_FUNCTION", num=g.param("Numerator", "[1]"),
                den=g.param("Denominator", "[1 1]"))  # fmt: skip


def system(kind: str) -> Rule:
    def rule(g: Given) -> Carried:
        clock = {"clock": g.clock(), "method": "none"} if kind.endswith("_S") else {}
        start = "X0" if g.text("X0") else "InitialCondition"
        found = {key: g.value(key, "1") for key in "ABCD"}
        n = np.shape(np.atleast_2d(found["A"]))[0]
        for key, shape in (("A", (n, n)), ("B", (n, -1)), ("C", (-1, n))):
            found[key] = np.reshape(found[key], shape)
        found["D"] = np.reshape(found["D"], (len(found["C"]), -1))
        if g.text("E"):  # E x' = A x + B u
            try:
                mass = np.linalg.inv(np.reshape(g.value("E"), (n, n)))
            except np.linalg.LinAlgError:
                raise NotCarriedError("its matrix E is singular") from None
            found |= {"A": mass @ found["A"], "B": mass @ found["B"]}
        if not np.any(found["D"]):
            del found["D"]
        return made(kind, **clock, **found, x0=g.param(start, "0"))

    return rule


def zero_pole(kind: str) -> Rule:
    def rule(g: Given) -> Carried:
        clock = {"clock": g.clock(), "method": "none"} if kind.endswith("_S") else {}
        lists: dict[str, Any] = {
            name: [_complex(v) for v in np.ravel(g.value(key, default))]
            for name, key, default in (("zeros", "Zeros", "[]"), ("poles", "Poles", "[0 -1]"))
        }
        return made(kind, **clock, **lists, gain=g.param("Gain", "1"))

    return rule


def _complex(value: Any) -> Any:
    return float(np.real(value)) if not np.imag(value) else f"{np.real(value)}{np.imag(value):+}j"


def discrete_transfer(of_delays: bool) -> Rule:
    """of_delays: whether the coefficients are of powers of 1/z."""

    def rule(g: Given) -> Carried:
        only(g, "NumeratorSource", "Dialog", "Dialog")
        only(g, "DenominatorSource", "Dialog", "Dialog")
        only(g, "ExternalReset", "none", "none")
        num = np.atleast_1d(g.value("Numerator", "[1]"))
        den = np.atleast_1d(g.value("Denominator", "[1 0.5]"))
        if num.ndim > 1:
            raise NotCarriedError("Numerator is a matrix")
        if np.any(g.value("InitialStates", "0")):
            raise NotCarriedError("its initial states are not zero")
        if of_delays:
            size = max(len(num), len(den))
            num, den = (np.pad(row, (0, size - len(row))) for row in (num, den))
        return _sampled(g, num, den)

    return rule


def _sampled(g: Given, num: Any, den: Any, remark: str = "") -> Carried:
    return made("TRANSFER_FUNCTION_S", remark, clock=g.clock(), num=num, den=den, method="none")


def first_order(zero: str, pole: str) -> Rule:
    """(z - zero) / (z - pole); without a zero the gain at rest is 1."""

    def rule(g: Given) -> Carried:
        p = g.value(pole, "0.95") if pole else 0.0
        num = [1.0, -g.value(zero, "0.75")] if zero else [1.0 - p, 0.0]
        started = any(np.any(g.value(key, "0")) for key in ("ICPrevOutput", "ICPrevInput"))
        return _sampled(g, num, [1.0, -p], "it starts from zero" if started else "")

    return rule


def difference(of_time: bool) -> Rule:
    """u - before; of_time: times K / T."""

    def rule(g: Given) -> Carried:
        key = "ICPrevScaledInput" if of_time else "ICPrevInput"
        scale = g.value("gainval", "1") / g.period() if of_time else 1.0
        it = formula("scale*(u - before)", "u", "before", scale=scale)
        start = g.value(key, g.text("vinit", "0")) / (scale or 1.0)
        return together("in.1 -> it.u, before; before -> it.before; it -> out.1", it,
                        before=block("UNIT_DELAY", clock=g.clock(), initial=start))  # fmt: skip

    return rule


def fir(g: Given) -> Carried:
    only(g, "CoefSource", "Dialog parameters", "Dialog parameters")
    key = "Coefficients" if g.text("Coefficients") else "NumCoeffs"
    return made("FIR", clock=g.clock(), coefficients=g.param(key, "[0.5 0.5]"))


# --- delays ---------------------------------------------------------------------------------------


def unit_delay(g: Given) -> Carried:
    key = "X0" if g.text("X0") else "InitialCondition"
    return made("UNIT_DELAY", clock=g.clock(), initial=g.param(key, "0"))


def memory(g: Given) -> Carried:
    key = "X0" if g.text("X0") else "InitialCondition"
    remark = "" if g.triggered else "delays by a period of its clock, not by a step of the solver"
    return made("UNIT_DELAY", remark, clock=g.clock(), initial=g.param(key, "0"))


def delay(g: Given) -> Carried:
    """Of a number of samples; with an input of this number, or with one that enables or resets."""
    only(g, "InitialConditionSource", "Dialog", "Dialog")
    start = g.param("InitialCondition", "0")
    reset = g.text("ExternalReset", "None")
    if g.text("DelayLengthSource", "Dialog") == "Dialog":
        length = int(g.value("DelayLength", "2"))
        if length < 0:
            raise NotCarriedError(f"DelayLength is {length}")
        if length == 0:
            return wire()
        if not g.on("ShowEnablePort") and reset == "None":
            return made("UNIT_DELAY", clock=g.clock(), N=length, initial=start)
        return _switched_delay(g, length, reset, start)
    off(g, "ShowEnablePort")
    only(g, "ExternalReset", "None", "None")
    period, most = g.period(), g.value("DelayLengthUpperLimit", "100")
    it = block("VARIABLE_DELAY", clock=g.clock(), max_delay=period * most, initial=start)
    return together(
        "in.1 -> it.u; in.2 -> time; time -> it.delay; it -> held; held -> out.1", it,
        "it delays by a period at least",
        time=formula("T*u", T=period), held=block("ZOH", clock=g.clock()),
    )  # fmt: skip


def _switched_delay(g: Given, length: int, reset: str, start: Any) -> Carried:
    """A chain of delays whose samples move on while enabled, and return to the start at a reset:
    ports u, enable, reset."""
    if length > 100:
        raise NotCarriedError(f"DelayLength is {length}, with an input that enables or resets")
    direction = reset.casefold()
    if direction not in ("none", "rising", "falling", "either", "level", "level hold"):
        raise NotCarriedError(f"ExternalReset is {reset}")
    enabled = g.on("ShowEnablePort")
    inputs = ["u", *(["x", "on"] if enabled else []), *(["again"] if direction != "none" else [])]
    moved = "(u if on > 0 else x)" if enabled else "u"
    kept = f"x0 if again else {moved}" if direction != "none" else moved
    parts: dict[str, dict[str, Any]] = {}
    wires, port = [], 2
    if enabled:
        wires.append("in.2 -> " + ", ".join(f"next_{k}.on" for k in range(length)))
        port = 3
    if direction != "none":
        again = formula("u != 0") if "level" in direction else block(
            "EDGE", clock=g.clock(), direction=direction)  # fmt: skip
        parts["again"] = again
        ends = ", ".join(["it.again", *(f"next_{k}.again" for k in range(length))])
        wires += [f"in.{port} -> again", f"again -> {ends}"]
    params = {"x0": start} if direction != "none" else {}
    for k in range(length):
        parts[f"next_{k}"] = formula(kept, *inputs, **params)
        parts[f"x_{k}"] = block("UNIT_DELAY", clock=g.clock(), initial=start)
        wires += [f"{'in.1' if k == 0 else f'x_{k - 1}'} -> next_{k}.u", f"next_{k} -> x_{k}"]
        wires += [f"x_{k} -> next_{k}.x"] if enabled else []
    last = f"x_{length - 1}"
    if direction != "none":
        it = formula("x0 if again else x", "x", "again", **params)
        wires += [f"{last} -> it.x", "it -> out.1"]
    else:
        it = parts.pop(last)
        wires = [one.replace(last, "it") for one in wires] + ["it -> out.1"]
    return Carried(it, "", parts, tuple(wires))


def tapped_delay(g: Given) -> Carried:
    """Samples of some ticks before, the oldest first by default, as a vector."""
    taps, start = count(g, "NumDelays", "4"), g.param("vinit", "0")
    current = g.text("includeCurrent", "off") == "on"
    parts = {f"x_{k}": block("UNIT_DELAY", clock=g.clock(), initial=start) for k in range(taps)}
    wires = [f"{'in.1' if k == 0 else f'x_{k - 1}'} -> x_{k}" for k in range(taps)]
    order = [*(["in.1"] if current else []), *parts]
    if g.text("DelayOrder", "Oldest").startswith("Oldest"):
        order.reverse()
    wires += [f"{one} -> it.{k}" for k, one in enumerate(order)]
    return Carried(block("MUX", nin=len(order)), "", parts, (*wires, "it -> out.1"))


def transport_delay(g: Given) -> Carried:
    time = float(g.value("DelayTime", "1"))
    if time <= 0:
        return wire()
    start = g.param("InitialOutput", g.text("InitialInput", "0"))
    remark = f"sampled 100 times in its {time:g} s, with straight lines between"
    return made("TRANSPORT_DELAY", remark, clock=g.every(time / 100), delay=time, initial=start)


def variable_delay(g: Given) -> Carried:
    """Simulink's transport delay takes the delay with which a sample enters, the time delay that
    with which it leaves, as ours."""
    most = float(g.value("MaximumDelay", "10"))
    start = g.param("InitialOutput", g.text("InitialInput", "0"))
    remark = f"sampled every {most / 1000:g} s, and delayed by this time at least"
    if g.text("VariableDelayType", "Variable time delay") != "Variable time delay":
        remark += "; the delay is that of the end of the way, in Simulink of its beginning"
    return made("VARIABLE_DELAY", remark, clock=g.every(most / 1000), max_delay=most, initial=start)


# --- controllers ----------------------------------------------------------------------------------


def pid(g: Given, two: bool = False) -> Carried:
    """Its ports: the error, or reference and measurement; then the tracked signal."""
    discrete = g.text("TimeDomain", "Continuous-time") != "Continuous-time"
    only(g, "ControllerParametersSource", "internal", "internal")
    only(g, "InitialConditionSource", "internal", "internal")
    only(g, "ExternalReset", "none", "none")
    only(g, "SatLimitsSource", "internal", "internal")
    off(g, "UseExternalTs", "UseExternalDerivativeSource", "LimitIntegrator", "UseKiTs")
    terms = g.text("Controller", "PID")
    gains: dict[str, Any] = {
        key: g.param(key, default) if key in terms else 0.0
        for key, default in (("P", "1"), ("I", "1"), ("D", "0"))
    }
    if g.text("Form", "Parallel") == "Ideal":
        gains |= {key: g.value("P", "1") * g.value(key, "0") for key in "ID" if key in terms}
    remarks = []
    if "D" in terms:
        gains["N"] = g.param("N", "100")
        if g.text("UseFilter", "on") == "off":
            gains["N"] = 1000.0
            remarks.append("its derivative has a filter of 1000 rad/s")
    for key, name in (("InitialConditionForIntegrator", "i0"), ("InitialConditionForFilter", "z0")):
        start = g.value(key, "0")
        if np.any(start):
            scale = g.value("D", "0") if name == "z0" else 1.0
            gains[name] = start / scale if np.all(scale) else 0.0
    if g.on("LimitOutput"):
        gains |= finite(g, "LowerSaturationLimit", "UpperSaturationLimit", ("lower", "upper"))
        gains["anti_windup"] = g.text("AntiWindupMode", "none")
        if gains["anti_windup"] == "back-calculation":
            gains["Kb"] = g.param("Kb", "1")
    if discrete and "I" in terms and "Forward" not in g.text("IntegratorMethod", "Forward Euler"):
        remarks.append("its integral is of the forward rule")
    if discrete and "D" in terms and "Backward" not in g.text("FilterMethod", "Forward Euler"):
        remarks.append("its filter is of the backward rule")
    tracked = {"tracking": True, "Kt": g.param("Kt", "1")} if g.on("TrackingMode") else {}
    weights = {"b": g.param("b", "1"), "c": g.param("c", "1")} if two else {"b": 1.0, "c": 1.0}
    clock = {"clock": g.clock()} if discrete else {}
    it = block("PID_2DOF_S" if discrete else "PID_2DOF", **clock, **gains, **weights, **tracked)
    wires = ["in.1 -> it.r", "in.2 -> it.y" if two else "zero -> it.y", "it -> out.1"]
    if tracked:
        wires.append(f"in.{3 if two else 2} -> it.tr")
    parts = {} if two else {"zero": block("CONSTANT", value=0.0)}
    return Carried(it, "; ".join(remarks), parts, tuple(wires))
