"""What each type of Simulink block becomes here: one function for each, which returns the arguments
of a block, or raises NotCarriedError with the reason. Defaults are those of Simulink's libraries,
for files that leave them out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from spart_blocks.diagram.converted.draft import plain_name
from spart_blocks.diagram.converted.matlab import UnreadableError, formula_of


class NotCarriedError(Exception):
    """A block, or one of its parameters, that has no counterpart; the message says why."""


@dataclass(frozen=True)
class Carried:
    """A block here. remark: what differs. wire: whether it is nothing but a wire."""

    arguments: dict[str, Any]
    remark: str = ""
    wire: bool = False


class Given(Protocol):
    """A block of a model."""

    def text(self, key: str, default: str = "") -> str:
        """A parameter as it is written."""

    def on(self, key: str) -> bool:
        """Whether a parameter is `on`."""

    def value(self, key: str, default: str = "") -> Any:
        """The value of a parameter. Raises NotCarriedError if it is not known."""

    def param(self, key: str, default: str = "") -> Any:
        """A parameter for the file: its value, or `$name` of a variable."""

    def clock(self, default: str = "-1") -> str:
        """The name of the clock of its sample time. Raises NotCarriedError if it has none."""

    @property
    def inputs(self) -> int:
        """The number of its inputs."""

    @property
    def outputs(self) -> int:
        """The number of its outputs."""

    @property
    def takes_vector(self) -> bool:
        """Whether its first input comes out of a Mux."""

    def computed(self, text: str) -> Any:
        """The value of an expression. Raises NotCarriedError if it is not known."""

    def line_names(self) -> list[str]:
        """The names of the lines at its inputs."""


Rule = Callable[[Given], Carried]


def _made(kind: str, remark: str = "", **arguments: Any) -> Carried:
    return Carried({"type": kind, **arguments}, remark)


def _signs(given: Given, sign: str, default: str) -> str:
    """The signs of a Sum or a Product: `2` are two inputs, `|` is a gap."""
    text = given.text("Inputs", default).replace("|", "").replace(" ", "")
    if re.fullmatch(rf"[{re.escape('+-*/')}]+", text):
        return text
    return sign * _count(given, "Inputs", default)


def _count(given: Given, key: str, default: str) -> int:
    count = given.value(key, default)
    if np.ndim(count) or not 1 <= count <= 1000:
        raise NotCarriedError(f"{key} is {given.text(key)}")
    return int(count)


def _only(given: Given, key: str, default: str, *allowed: str) -> None:
    """Refuse other choices of a parameter."""
    if given.text(key, default).casefold() not in [one.casefold() for one in allowed]:
        raise NotCarriedError(f"{key} is {given.text(key)!r}")


# --- sources and sinks ------------------------------------------------------------------------


def _sine(g: Given) -> Carried:
    _only(g, "SineType", "Time based", "Time based")
    _only(g, "TimeSource", "Use simulation time", "Use simulation time")
    turns = np.asarray(g.value("Phase", "0")) / (2 * math.pi)
    if turns.ndim:
        raise NotCarriedError("Phase is a vector")
    return _made("WAVEFORM", wave="sine", freq=g.param("Frequency", "1"), unit="rad/s",
                 phase=float(-turns % 1), amplitude=g.param("Amplitude", "1"),
                 offset=g.param("Bias", "0"))  # fmt: skip


def _generator(g: Given) -> Carried:
    wave = g.text("WaveForm", "sine")
    if wave not in ("sine", "square"):
        raise NotCarriedError(f"WaveForm is {wave}")
    unit = "Hz" if g.text("Units", "Hertz") == "Hertz" else "rad/s"
    remark = "check the sign of its first half period" if wave == "square" else ""
    return _made("WAVEFORM", remark, wave=wave, freq=g.param("Frequency", "1"), unit=unit,
                 amplitude=g.param("Amplitude", "1"))  # fmt: skip


def _pulse(g: Given) -> Carried:
    period, width = g.value("Period", "10"), g.value("PulseWidth", "5")
    delay = g.value("PhaseDelay", "0")
    if g.text("PulseType", "Time based") == "Sample based":
        step = g.value("SampleTime", "1")
        if step <= 0:
            raise NotCarriedError("it is sample based, and its sample time is inherited")
        period, width, delay = period * step, 100 * width / period, delay * step
    return _made("PULSE", amplitude=g.param("Amplitude", "1"), period=period, width=width / 100,
                 delay=delay)  # fmt: skip


def _noise(distribution: str) -> Rule:
    def rule(g: Given) -> Carried:
        if distribution == "normal":
            given = {"mean": g.value("Mean", "0"), "std": np.sqrt(g.value("Variance", "1"))}
        else:
            given = {"low": g.value("Minimum", "-1"), "high": g.value("Maximum", "1")}
        return _made("NOISE", "other random numbers", clock=g.clock("0.1"),
                     distribution=distribution, **given)  # fmt: skip

    return rule


def _scope(g: Given) -> Carried:
    return _made("SCOPE", nin=max(g.inputs, 1))


# --- continuous and discrete --------------------------------------------------------------------


def _integrator(g: Given) -> Carried:
    _only(g, "ExternalReset", "none", "none")
    _only(g, "InitialConditionSource", "internal", "internal")
    if g.on("ShowSaturationPort") or g.on("ShowStatePort") or g.on("WrapState"):
        raise NotCarriedError("it has a port of its state or its saturation, or wraps")
    return _made("INTEGRATOR", x0=g.param("InitialCondition", "0"), **_limits(g))


def _limits(g: Given) -> dict[str, Any]:
    if not g.on("LimitOutput"):
        return {}
    found = {"min": g.value("LowerSaturationLimit", "-inf"),
             "max": g.value("UpperSaturationLimit", "inf")}  # fmt: skip
    return {key: value for key, value in found.items() if np.all(np.isfinite(value))}


def _second_order(g: Given) -> Carried:
    found = {"x0": g.param("ICX", "0"), "v0": g.param("ICDXDT", "0")}
    for switch, low, high, names in (
        ("LimitX", "LowerLimitX", "UpperLimitX", ("lower", "upper")),
        ("LimitDXDT", "LowerLimitDXDT", "UpperLimitDXDT", ("v_lower", "v_upper")),
    ):
        if g.on(switch):
            found |= {names[0]: g.value(low, "-inf"), names[1]: g.value(high, "inf")}
    return _made("SECOND_ORDER_INTEGRATOR", **found)


def _derivative(g: Given) -> Carried:
    return _made("DERIV", "a filter of 1000 rad/s; Simulink takes differences", alpha=1000.0)


def _transfer(g: Given) -> Carried:
    return _made("TRANSFER_FUNCTION", num=_row(g, "Numerator", "[1]"),
                 den=g.param("Denominator", "[1 1]"))  # fmt: skip


def _row(g: Given, key: str, default: str) -> Any:
    if np.ndim(g.value(key, default)) > 1:
        raise NotCarriedError(f"{key} is a matrix")
    return g.param(key, default)


def _system(kind: str) -> Rule:
    def rule(g: Given) -> Carried:
        clock = {"clock": g.clock(), "method": "none"} if kind.endswith("_S") else {}
        start = "X0" if g.text("X0") else "InitialCondition"
        found = {key: g.value(key, "1") for key in "ABCD"}
        n = np.shape(np.atleast_2d(found["A"]))[0]
        for key, shape in (("A", (n, n)), ("B", (n, -1)), ("C", (-1, n))):
            found[key] = np.reshape(found[key], shape)
        found["D"] = np.reshape(found["D"], (len(found["C"]), -1))
        if not np.any(found["D"]):
            del found["D"]
        return _made(kind, **clock, **found, x0=g.param(start, "0"))

    return rule


def _zero_pole(kind: str) -> Rule:
    def rule(g: Given) -> Carried:
        clock = {"clock": g.clock(), "method": "none"} if kind.endswith("_S") else {}
        lists: dict[str, Any] = {
            name: [_complex(v) for v in np.ravel(g.value(key, default))]
            for name, key, default in (("zeros", "Zeros", "[]"), ("poles", "Poles", "[0 -1]"))
        }
        return _made(kind, **clock, **lists, gain=g.param("Gain", "1"))  # fmt: skip

    return rule


def _complex(value: Any) -> Any:
    return float(np.real(value)) if not np.imag(value) else f"{np.real(value)}{np.imag(value):+}j"


def _discrete_transfer(of_delays: bool) -> Rule:
    """of_delays: whether the coefficients are of powers of 1/z."""

    def rule(g: Given) -> Carried:
        num = np.atleast_1d(g.value("Numerator", "[1]"))
        den = np.atleast_1d(g.value("Denominator", "[1 0.5]"))
        if num.ndim > 1:
            raise NotCarriedError("Numerator is a matrix")
        if of_delays:
            size = max(len(num), len(den))
            num, den = (np.pad(row, (0, size - len(row))) for row in (num, den))
        return _made("TRANSFER_FUNCTION_S", clock=g.clock(), num=num, den=den, method="none")

    return rule


def _discrete_integrator(g: Given) -> Carried:
    _only(g, "ExternalReset", "none", "none")
    _only(g, "InitialConditionSource", "internal", "internal")
    _only(g, "IntegratorMethod", "Integration: Forward Euler", "Integration: Forward Euler",
          "ForwardEuler")  # fmt: skip
    return _made("INTEGRATOR_S", clock=g.clock(), x0=g.param("InitialCondition", "0"),
                 gain=g.param("gainval", "1"), **_limits(g))  # fmt: skip


def _unit_delay(g: Given) -> Carried:
    key = "X0" if g.text("X0") else "InitialCondition"
    return _made("UNIT_DELAY", clock=g.clock(), initial=g.param(key, "0"))


def _delay(g: Given) -> Carried:
    _only(g, "DelayLengthSource", "Dialog", "Dialog")
    _only(g, "InitialConditionSource", "Dialog", "Dialog")
    return _made("UNIT_DELAY", clock=g.clock(), N=_count(g, "DelayLength", "2"),
                 initial=g.param("InitialCondition", "0"))  # fmt: skip


def _memory(g: Given) -> Carried:
    key = "X0" if g.text("X0") else "InitialCondition"
    return _made("UNIT_DELAY", "delays by a period of its clock, not by a step of the solver",
                 clock=g.clock(), initial=g.param(key, "0"))  # fmt: skip


def _fir(g: Given) -> Carried:
    key = "Coefficients" if g.text("Coefficients") else "NumCoeffs"
    return _made("FIR", clock=g.clock(), coefficients=g.param(key, "[0.5 0.5]"))


# --- discontinuities ------------------------------------------------------------------------------


def _saturation(g: Given) -> Carried:
    return _made("SATURATION", lower=g.param("LowerLimit", "-0.5"),
                 upper=g.param("UpperLimit", "0.5"))  # fmt: skip


def _relay(g: Given) -> Carried:
    return _made("RELAY", on=g.param("OnSwitchValue", "eps"), off=g.param("OffSwitchValue", "eps"),
                 on_value=g.param("OnOutputValue", "1"),
                 off_value=g.param("OffOutputValue", "0"))  # fmt: skip


def _rate_limiter(g: Given) -> Carried:
    given = {
        "rising": g.value("RisingSlewLimit", "1"),
        "falling": g.value("FallingSlewLimit", "-1"),
    }
    return _made("RATE_LIMITER", "it follows with a lag of 0.01 s within its limits", **given)


def _hit(g: Given) -> Carried:
    direction = g.text("HitCrossingDirection", "either")
    return _made("HIT_CROSSING", "its output is 1 for 1 ms", direction=direction,
                 level=g.param("HitCrossingOffset", "0"))  # fmt: skip


def _coulomb(g: Given) -> Carried:
    params = {"offset": g.param("offset", "[1 3 2 0]"), "gain": g.param("gain", "1")}
    return _made("FCN", expression="sign(u) * (gain * abs(u) + offset)", params=params)


# --- mathematics ----------------------------------------------------------------------------------


def _sum(g: Given) -> Carried:
    signs = _signs(g, "+", "++")
    if len(signs) > 1:
        return _made("SUM", signs=signs)
    return _made("ELEMENT_SUM") if signs == "+" else _made("FCN", expression="-u")


def _product(g: Given) -> Carried:
    ops = _signs(g, "*", "2")
    if g.text("Multiplication").startswith("Matrix"):
        return _made("PROD", ops=ops)
    if ops == "*":
        return _made("ELEMENT_PRODUCT")
    names = [f"u{k + 1}" for k in range(len(ops))]
    written = "".join(f" {op} {name}" for op, name in zip(ops, names, strict=True))
    text = f"1{written}" if ops[0] == "/" else written[3:]
    return _made("FCN", expression=text, arguments=names)


def _gain(g: Given) -> Carried:
    gain, kind = g.param("Gain", "1"), g.text("Multiplication", "Element-wise(K.*u)")
    if kind.startswith("Matrix(K*u"):
        return _made("GAIN", K=gain, premul=True)
    if kind.startswith("Matrix") or not np.ndim(_quiet(g, "Gain")):
        return _made("GAIN", K=gain)
    return _made("FCN", expression="K * u", params={"K": gain})


def _quiet(g: Given, key: str) -> Any:
    """A parameter's value; 0 if it is unknown."""
    try:
        return g.value(key, "1")
    except NotCarriedError:
        return 0.0


_MATH = {"exp": "exp", "log": "log", "log10": "log10", "10^u": "10^u", "magnitude^2": "square",
         "square": "square", "sqrt": "sqrt", "pow": "pow", "hypot": "hypot", "rem": "rem",
         "mod": "mod", "reciprocal": "reciprocal", "signedSqrt": "signed_sqrt",
         "rSqrt": "reciprocal_sqrt", "1/sqrt": "reciprocal_sqrt"}  # fmt: skip


def _math(default: str) -> Rule:
    def rule(g: Given) -> Carried:
        name = g.text("Operator", default) or g.text("Function", default)
        if name in ("transpose", "hermitian"):
            return _made("TRANSPOSE")
        if name not in _MATH:
            raise NotCarriedError(f"Operator is {name}")
        return _made("MATH", function=_MATH[name])

    return rule


def _trig(g: Given) -> Carried:
    name = g.text("Operator", "sin")
    if name not in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh",
                    "asinh", "acosh", "atanh"):  # fmt: skip
        raise NotCarriedError(f"Operator is {name}")
    return _made("TRIG", function=name)


def _minmax(g: Given) -> Carried:
    count = _count(g, "Inputs", "1")
    if count == 1:
        raise NotCarriedError("it is of the entries of one input")
    return _made("MINMAX", function=g.text("Function", "min"), nin=count)


def _fcn(g: Given) -> Carried:
    return _made("FCN", expression=_formula(g.text("Expr", "u"), g))


def _formula(text: str, g: Given) -> str:
    """A formula of Simulink here: u(1) is u[0], or u of a scalar; a variable is its number."""
    text = re.sub(r"\bu\[(\d+)\]", r"u(\1)", text)
    scalar = not g.takes_vector and set(re.findall(r"\bu\((\d+)\)", text)) <= {"1"}

    def entry(name: str, indices: tuple[Any, ...]) -> str:
        if name == "u" and len(indices) == 1 and indices[0][0] == "number":
            return "u" if scalar else f"u[{int(float(indices[0][1])) - 1}]"
        if indices:
            raise UnreadableError(f"{name}(...) is not known here")
        if name in ("u", "pi"):
            return name
        return f"({float(g.computed(name))!r})"

    try:
        return formula_of(text, entry)
    except (UnreadableError, TypeError) as error:
        raise NotCarriedError(f"its formula: {error}") from None


# --- logic, tables and routing --------------------------------------------------------------------


def _logic(g: Given) -> Carried:
    operator = g.text("Operator", "AND").lower()
    if operator not in ("and", "or", "not", "nand", "nor", "xor"):
        raise NotCarriedError(f"Operator is {operator}")
    return _made("LOGIC", operator=operator,
                 nin=1 if operator == "not" else _count(g, "Inputs", "2"))  # fmt: skip


def _compare(g: Given, constant: Any = None, key: str = "Operator", default: str = "<=") -> Carried:
    operator = g.text(key, default).replace("~=", "!=")
    if operator not in ("==", "!=", "<", "<=", ">", ">="):
        raise NotCarriedError(f"{key} is {operator}")
    return _made(
        "COMPARE", operator=operator, **({} if constant is None else {"constant": constant})
    )


def _switch(g: Given) -> Carried:
    criteria = g.text("Criteria", "u2 >= Threshold")
    found = re.fullmatch(r"u2\s*(>=|>|~=)\s*(Threshold|0)", criteria)
    if found is None:
        raise NotCarriedError(f"Criteria is {criteria!r}")
    threshold = 0.0 if found[2] == "0" else g.param("Threshold", "0")
    return _made("SWITCH", criterion=found[1].replace("~=", "!="), threshold=threshold)


def _multiport(g: Given) -> Carried:
    _only(g, "DataPortOrder", "One-based contiguous", "One-based contiguous")
    count = _count(g, "Inputs", "3")
    if count < 2:
        raise NotCarriedError("it selects from the entries of one input")
    return _made("MULTIPORT_SWITCH", nin=count)


def _lookup_1d(x: str, y: str, method: str) -> Rule:
    def rule(g: Given) -> Carried:
        kind = g.text(method).lower()
        smooth = "flat" not in kind and "nearest" not in kind
        if "spline" in kind or "akima" in kind:
            raise NotCarriedError(f"{method} is {g.text(method)!r}")
        outside = g.text("ExtrapMethod", "Linear") if method == "InterpMethod" else kind
        beyond = "extrap" in outside.lower() or outside == "Linear"
        return _made("LOOKUP", x=g.value(x, "[-5:5]"), y=g.value(y, "tanh([-5:5])"),
                     interpolation="linear" if smooth else "previous",
                     outside="extrapolate" if beyond and smooth else "clip")  # fmt: skip

    return rule


def _lookup_nd(g: Given) -> Carried:
    count = int(g.value("NumberOfTableDimensions", "1"))
    if count == 1:
        return _lookup_1d("BreakpointsForDimension1", "Table", "InterpMethod")(g)
    if count != 2 or "linear" not in g.text("InterpMethod", "Linear").lower():
        raise NotCarriedError(f"it has {count} dimensions, or is not linear")
    return _table_2d(g, "BreakpointsForDimension1", "BreakpointsForDimension2", "Table",
                     g.text("ExtrapMethod", "Linear"))  # fmt: skip


def _table_2d(g: Given, x: str, y: str, z: str, beyond: str) -> Carried:
    extrapolates = beyond.lower() == "linear" or "extrap" in beyond.lower()
    return _made("LOOKUP_2D", x=g.value(x), y=g.value(y), z=g.value(z),
                 outside="extrapolate" if extrapolates else "clip")  # fmt: skip


def _demux(g: Given) -> Carried:
    outputs = g.value("Outputs", "2")
    if np.ndim(outputs) and np.any(np.asarray(outputs) != 1):
        raise NotCarriedError("its outputs are vectors")
    return _made("DEMUX", nout=int(np.size(outputs) if np.ndim(outputs) else outputs))


def _bus_creator(g: Given) -> Carried:
    names = [_signal(name) or f"signal{k + 1}" for k, name in enumerate(g.line_names())]
    if len(set(names)) < len(names):
        raise NotCarriedError("two of its signals have one name")
    return _made("BUS_CREATOR", signals=names)


def _signal(name: str) -> str:
    """The name of a signal of a bus, with a dot before that of a bus within it."""
    return ".".join(plain_name(part) for part in name.split(".") if part.strip())


def _bus_selector(g: Given) -> Carried:
    names = [_signal(name) for name in g.text("OutputSignals", "").split(",") if name.strip()]
    if g.on("OutputAsBus") or not names:
        raise NotCarriedError("its output is a bus")
    return _made("BUS_SELECTOR", signals=names)


def _selector(g: Given) -> Carried:
    dims = int(g.value("NumberOfDimensions", "1"))
    options = g.text("IndexOptions", "Index vector (dialog)")
    if dims != 1 or options != "Index vector (dialog)":
        raise NotCarriedError(f"its indices are {options}")
    key = next((k for k in ("Indices", "IndexParamArray", "Elements") if g.text(k)), "Indices")
    found = np.asarray(g.value(key, "1"), int)
    first = 0 if g.text("IndexMode", "One-based") == "Zero-based" else 1
    return _made("SELECTOR", indices=(found - first).tolist())


def _goto(g: Given) -> Carried:
    scope = {"scope": "global"} if g.text("TagVisibility", "local") != "local" else {}
    return _made("GOTO", tag=g.text("GotoTag", "A"), **scope)


def _wire(remark: str) -> Rule:
    return lambda g: Carried({}, remark, wire=True)


def _pid(g: Given, two: bool = False) -> Carried:
    discrete = g.text("TimeDomain", "Continuous-time") != "Continuous-time"
    _only(g, "Form", "Parallel", "Parallel")
    terms = g.text("Controller", "PID")
    gains = {
        key: g.param(key, default) if key in terms else 0.0
        for key, default in (("P", "1"), ("I", "1"), ("D", "0"))
    }
    found = {**gains, **({"N": g.param("N", "100")} if "D" in terms else {})}  # fmt: skip
    if g.on("LimitOutput"):
        found |= {"upper": g.value("UpperSaturationLimit", "inf"),
                  "lower": g.value("LowerSaturationLimit", "-inf"),
                  "anti_windup": g.text("AntiWindupMode", "none")}  # fmt: skip
        if found["anti_windup"] == "back-calculation":
            found["Kb"] = g.param("Kb", "1")
    clock = {"clock": g.clock()} if discrete else {}
    weights = {"b": g.param("b", "1"), "c": g.param("c", "1")} if two else {"b": 1.0, "c": 1.0}
    remark = "its integral is of another rule" if discrete else ""
    return _made("PID_2DOF_S" if discrete else "PID_2DOF", remark, **clock, **found, **weights)


RULES: dict[str, Rule] = {
    "Constant": lambda g: _made("CONSTANT", value=g.param("Value", "1")),
    "Ground": lambda g: _made("CONSTANT", value=0.0),
    "Step": lambda g: _made("STEP", T=g.param("Time", "1"), off=g.param("Before", "0"),
                            on=g.param("After", "1")),
    "ramp": lambda g: _made("RAMP", T=g.param("start", "0"), slope=g.param("slope", "1"),
                            off=g.param("X0" if g.text("X0") else "InitialOutput", "0")),
    "Sin": _sine, "SignalGenerator": _generator, "DiscretePulseGenerator": _pulse,
    "Clock": lambda g: _made("TIME"),
    "RandomNumber": _noise("normal"), "UniformRandomNumber": _noise("uniform"),
    "repeating table": lambda g: _made("REPEATING", times=g.value("rep_seq_t", "[0 2]"),
                                       values=g.value("rep_seq_y", "[0 2]")),
    "repeating sequence": lambda g: _made("REPEATING", times=g.value("rep_seq_t", "[0 2]"),
                                          values=g.value("rep_seq_y", "[0 2]")),
    "Scope": _scope, "XYGraph": lambda g: _made("SCOPEXY"), "xy graph": lambda g: _made("SCOPEXY"),
    "Display": lambda g: _made("RECORD", "RECORD keeps the signal"),
    "ToWorkspace": lambda g: _made("RECORD"),
    "ToFile": lambda g: _made("RECORD", "`spart run --out` writes the file"),
    "Terminator": lambda g: _made("NULL"), "Stop": lambda g: _made("STOP"),
    "Integrator": _integrator, "SecondOrderIntegrator": _second_order, "Derivative": _derivative,
    "TransferFcn": _transfer, "StateSpace": _system("STATE_SPACE"),
    "ZeroPole": _zero_pole("ZERO_POLE"),
    "UnitDelay": _unit_delay, "Delay": _delay, "Memory": _memory,
    "ZeroOrderHold": lambda g: _made("ZOH", clock=g.clock("1")),
    "DiscreteIntegrator": _discrete_integrator,
    "DiscreteTransferFcn": _discrete_transfer(False), "DiscreteFilter": _discrete_transfer(True),
    "DiscreteStateSpace": _system("STATE_SPACE_S"),
    "DiscreteZeroPole": _zero_pole("ZERO_POLE_S"), "DiscreteFir": _fir,
    "Saturate": _saturation, "Relay": _relay, "RateLimiter": _rate_limiter, "HitCross": _hit,
    "DeadZone": lambda g: _made("DEADZONE", lower=g.param("LowerValue", "-0.5"),
                                upper=g.param("UpperValue", "0.5")),
    "Quantizer": lambda g: _made("QUANTIZER", interval=g.param("QuantizationInterval", "0.5")),
    "Backlash": lambda g: _made("BACKLASH", "with a lag of 1 ms at the contact",
                                gap=g.param("BacklashWidth", "1"),
                                y0=g.param("InitialOutput", "0")),
    "coulomb & viscous friction": _coulomb,
    "Sum": _sum, "Gain": _gain, "Product": _product, "Abs": lambda g: _made("ABS"),
    "UnaryMinus": lambda g: _made("GAIN", K=-1.0), "Signum": lambda g: _made("SIGN"),
    "slider gain": lambda g: _made("GAIN", K=g.param("gain", "1")),
    "Math": _math("exp"), "Sqrt": _math("sqrt"), "Trigonometry": _trig, "MinMax": _minmax,
    "Rounding": lambda g: _made("ROUND", function=g.text("Operator", "floor")),
    "Bias": lambda g: _made("FCN", expression="u + bias", params={"bias": g.param("Bias", "0")}),
    "Polyval": lambda g: _made("POLYNOMIAL", coefficients=g.param("Coefs", "[1]")),
    "Fcn": _fcn, "DotProduct": lambda g: _made("DOT"), "cross product": lambda g: _made("CROSS"),
    "Logic": _logic, "RelationalOperator": _compare, "Switch": _switch,
    "compare to constant": lambda g: _compare(g, g.param("const", "3"), "relop"),
    "compare to zero": lambda g: _compare(g, 0.0, "relop"),
    "MultiPortSwitch": _multiport,
    "ManualSwitch": lambda g: _made("MANUAL_SWITCH", choice=2 - (g.text("sw", "1") == "1")),
    "Lookup": _lookup_1d("InputValues", "Table", "LookUpMeth"), "Lookup_n-D": _lookup_nd,
    "Lookup2D": lambda g: _table_2d(g, "RowIndex", "ColumnIndex", "Table", g.text("LookUpMeth")),
    "Mux": lambda g: _made("MUX", nin=max(g.inputs, 1)), "Demux": _demux,
    "Concatenate": lambda g: _made("CONCATENATE", nin=_count(g, "NumInputs", "2")),
    "Merge": lambda g: _made("MERGE", nin=_count(g, "Inputs", "2")),
    "BusCreator": _bus_creator, "BusSelector": _bus_selector, "Selector": _selector,
    "Goto": _goto, "From": lambda g: _made("FROM", tag=g.text("GotoTag", "A")),
    "DataTypeConversion": _wire("signals are doubles"), "SignalConversion": _wire(""),
    "SignalSpecification": _wire(""), "RateTransition": _wire("signals are read when they are due"),
    "BusToVector": lambda g: _made("MUX"),
    "pid controller": _pid, "pid controller (2dof)": lambda g: _pid(g, two=True),
}  # fmt: skip
"""By type of block; blocks of libraries by their name in small letters."""
