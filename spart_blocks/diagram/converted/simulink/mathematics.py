"""Rules of mathematics, of discontinuities and of logic."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from spart_blocks.diagram.converted.matlab import UnreadableError, formula_of
from spart_blocks.diagram.converted.simulink.given import (
    Carried,
    Given,
    NotCarriedError,
    Rule,
    block,
    count,
    entries,
    formula,
    made,
    signs,
    together,
)

# --- mathematics ----------------------------------------------------------------------------------


def total(g: Given) -> Carried:
    of = signs(g, "+", "++")
    if len(of) > 1:
        return made("SUM", signs=of)
    if of == "+":
        return made("ELEMENT_SUM")
    it = block("GAIN", K=-1.0)
    return together("in.1 -> sum; sum -> it; it -> out.1", it, sum=block("ELEMENT_SUM"))


def product(g: Given) -> Carried:
    ops = signs(g, "*", "2")
    if g.text("Multiplication").startswith("Matrix"):
        return made("PROD", ops=ops)
    if ops == "*":
        return made("ELEMENT_PRODUCT")
    names = [f"u{k + 1}" for k in range(len(ops))]
    written = "".join(f" {op} {name}" for op, name in zip(ops, names, strict=True))
    text = f"1{written}" if ops[0] == "/" else written[3:]
    return made("FCN", expression=text, arguments=names)


def gain(g: Given) -> Carried:
    factor, kind = g.param("Gain", "1"), g.text("Multiplication", "Element-wise(K.*u)")
    if kind.startswith("Matrix(K*u"):
        return made("GAIN", K=factor, premul=True)
    if kind.startswith("Matrix") or not np.ndim(_quiet(g, "Gain")):
        return made("GAIN", K=factor)
    return Carried(formula("K * u", K=factor))


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


def mathematical(default: str) -> Rule:
    def rule(g: Given) -> Carried:
        name = g.text("Operator", default) or g.text("Function", default)
        if name in ("transpose", "hermitian"):
            return made("TRANSPOSE")
        if name not in _MATH:
            raise NotCarriedError(f"Operator is {name}")
        return made("MATH", function=_MATH[name])

    return rule


def trigonometry(g: Given) -> Carried:
    name = g.text("Operator", "sin")
    if name == "sincos":
        return together("in.1 -> it, cosine; it -> out.1; cosine -> out.2",
                        block("TRIG", function="sin"),
                        cosine=block("TRIG", function="cos"))  # fmt: skip
    if name not in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh",
                    "asinh", "acosh", "atanh"):  # fmt: skip
        raise NotCarriedError(f"Operator is {name}")
    return made("TRIG", function=name)


def extreme(g: Given) -> Carried:
    return made("MINMAX", function=g.text("Function", "min"), nin=count(g, "Inputs", "1"))


def running_extreme(g: Given) -> Carried:
    """The greatest value since the reset, at ticks."""
    name = {"max": "max", "min": "min"}.get(g.text("Function", g.text("func", "max")), "max")
    start = g.param("vinit", "0")
    it = formula(f"x0 if clear > 0 else {name}(u, before)", "u", "clear", "before", x0=start)
    return together("in.1 -> it.0; in.2 -> it.1; before -> it.2; it -> before, out.1", it,
                    before=block("UNIT_DELAY", clock=g.clock(), initial=start))  # fmt: skip


def of_angle(name: str) -> Rule:
    """The Sine and Cosine of the Lookup Tables, whose input is in turns."""
    return lambda g: Carried(formula(f"{name}(2*pi*u)"), "it is exact, not a table")


def formula_block(g: Given) -> Carried:
    return made("FCN", expression=_formula(g.text("Expr", "u"), g))


def interpreted(g: Given) -> Carried:
    """A function of MATLAB that is a formula of u."""
    return made("FCN", expression=_formula(g.text("MATLABFcn", "sin"), g, True))


def _formula(text: str, g: Given, named: bool = False) -> str:
    """A formula of Simulink here: u(1) is u[0], or u of a scalar; a variable is its number.
    named: whether a lone name is a function of u."""
    if named and re.fullmatch(r"\w+", text.strip()) and text.strip() != "u":
        text = f"{text.strip()}(u)"
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


def condition(text: str, g: Given) -> str:
    """A condition of an If block: u1, u2 and so on are its inputs, u1(2) an entry of one."""

    def entry(name: str, indices: tuple[Any, ...]) -> str:
        if re.fullmatch(r"u\d+", name):
            if len(indices) == 1 and indices[0][0] == "number":
                return f"{name}[{int(float(indices[0][1])) - 1}]"
            if not indices:
                return name
        if indices:
            raise UnreadableError(f"{name}(...) is not known here")
        return f"({float(g.computed(name))!r})"

    try:
        return formula_of(text, entry)
    except (UnreadableError, TypeError) as error:
        raise NotCarriedError(f"its condition {text}: {error}") from None


def time_math(g: Given) -> Carried:
    """Arithmetic with the weighted sample time."""
    time = g.period() * float(g.value("weightValue", g.text("weight", "1")))
    kind = g.text("TsampMathOp", "+").strip()
    if kind.startswith(("1/Ts", "Ts")):
        return made("CONSTANT", value=1 / time if kind.startswith("1") else time)
    kind = {"Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/"}.get(kind, kind)
    if kind not in ("+", "-", "*", "/"):
        raise NotCarriedError(f"TsampMathOp is {kind}")
    return Carried(formula(f"u {kind} w", w=time))


# --- matrices -------------------------------------------------------------------------------------


def identity(g: Given) -> Carried:
    found = g.value("M", g.text("OutputDimensions", g.text("Dimensions", "2")))
    sizes = [int(n) for n in np.ravel(found)]
    return made("CONSTANT", value=np.eye(sizes[0], sizes[-1]))


def diagonal(g: Given) -> Carried:
    return made("CONSTANT", value=np.diag(np.atleast_1d(g.value("D", g.text("Value", "1")))))


def submatrix(g: Given) -> Carried:
    found = {}
    for name, key in (("rows", "Row"), ("cols", "Col")):
        span = g.text(f"{key}Span", f"All {'rows' if key == 'Row' else 'columns'}")
        if span.startswith("All"):
            continue
        first = _index(g, key, "Start", "First")
        last = first if span.startswith("One") else _index(g, key, "End", "Last")
        found[name] = [first, last if last is None else last + 1]
    if any(None in span for span in found.values()):
        raise NotCarriedError("its last row or column is not given by a number")
    return made("SLICE2", **found)


def _index(g: Given, key: str, end: str, default: str) -> int | None:
    mode = g.text(f"{key}{end}Mode", default)
    if mode == "First":
        return 0
    return int(g.value(f"{key}{end}Index", "1")) - 1 if mode == "Index" else None


# --- discontinuities ------------------------------------------------------------------------------


def saturation(g: Given) -> Carried:
    return made("SATURATION", lower=g.param("LowerLimit", "-0.5"),
                upper=g.param("UpperLimit", "0.5"))  # fmt: skip


def dead_zone(g: Given) -> Carried:
    return made("DEADZONE", lower=g.param("LowerValue", "-0.5"), upper=g.param("UpperValue", "0.5"))


def within_inputs(expression: str) -> Rule:
    """A formula of the inputs up, u and lo, in this order."""
    return lambda g: Carried(formula(expression, "up", "u", "lo"))


def relay(g: Given) -> Carried:
    return made("RELAY", on=g.param("OnSwitchValue", "eps"), off=g.param("OffSwitchValue", "eps"),
                on_value=g.param("OnOutputValue", "1"),
                off_value=g.param("OffOutputValue", "0"))  # fmt: skip


def rate_limiter(g: Given) -> Carried:
    rates = {
        "rising": g.value("RisingSlewLimit", "1"),
        "falling": g.value("FallingSlewLimit", "-1"),
    }
    start = g.param("InitialCondition", "0")
    return made("RATE_LIMITER", "it follows with a lag of 0.01 s within its limits", **rates,
                x0=start)  # fmt: skip


def rate_limiter_dynamic(g: Given) -> Carried:
    """At ticks: no faster than both inputs say."""
    step = g.period()
    it = formula("y + min(max(u - y, lo*T), up*T)", "up", "u", "lo", "y", T=step)
    return together("in.1 -> it.0; in.2 -> it.1; in.3 -> it.2; y -> it.3; it -> y, out.1", it,
                    y=block("UNIT_DELAY", clock=g.clock()))  # fmt: skip


def hit(g: Given) -> Carried:
    direction = g.text("HitCrossingDirection", "either")
    it = block("HIT_CROSSING", direction=direction, level=g.param("HitCrossingOffset", "0"))
    return together("in.1 -> it; it.0 -> out.1", it, "its output is 1 for 1 ms")


def coulomb(g: Given) -> Carried:
    params = {"offset": g.param("offset", "[1 3 2 0]"), "gain": g.param("gain", "1")}
    return made("FCN", expression="sign(u) * (gain * abs(u) + offset)", params=params)


def backlash(g: Given) -> Carried:
    return made("BACKLASH", "with a lag of 1 ms at the contact", gap=g.param("BacklashWidth", "1"),
                y0=g.param("InitialOutput", "0"))  # fmt: skip


def wrap_to_zero(g: Given) -> Carried:
    return Carried(formula("0*u if u > limit else u", limit=g.param("Threshold", "255")))


# --- logic ----------------------------------------------------------------------------------------


def logic(g: Given) -> Carried:
    operator = g.text("Operator", "AND").lower()
    nin = 1 if operator == "not" else count(g, "Inputs", "2")
    if operator == "nxor":
        given = "; ".join(f"in.{k} -> xor.{k - 1}" for k in range(1, nin + 1))
        return together(f"{given}; xor -> it; it -> out.1", block("LOGIC", operator="not", nin=1),
                        xor=block("LOGIC", operator="xor", nin=nin))  # fmt: skip
    if operator not in ("and", "or", "not", "nand", "nor", "xor"):
        raise NotCarriedError(f"Operator is {operator}")
    return made("LOGIC", operator=operator, nin=nin)


def combinatorial(g: Given) -> Carried:
    """The row of a truth table; the first input is the highest bit."""
    table = np.asarray(g.value("TruthTable", "[0 0;0 1;0 1;1 0;0 1;1 0;1 0;1 1]"))
    table = table.reshape(len(table), -1)
    bits = max(len(table) - 1, 1).bit_length()
    if len(table) != 2**bits:
        raise NotCarriedError(f"TruthTable has {len(table)} rows")
    text = " + ".join(f"{2 ** (bits - 1 - k)}*(u[{k}] != 0)" for k in range(bits))
    it = block("LOOKUP", x=np.arange(len(table), dtype=float), y=np.squeeze(table),
               interpolation="nearest")  # fmt: skip
    row = formula(text if bits > 1 else "u != 0")
    return together("in.1 -> row; row -> it; it -> out.1", it, row=row)


def compare(g: Given, constant: Any = None, key: str = "Operator", default: str = "<=") -> Carried:
    operator = g.text(key, default).replace("~=", "!=")
    if operator not in ("==", "!=", "<", "<=", ">", ">="):
        raise NotCarriedError(f"{key} is {operator}")
    return made(
        "COMPARE", operator=operator, **({} if constant is None else {"constant": constant})
    )


def interval(g: Given) -> Carried:
    left, right = (
        "<=" if g.text(f"IntervalClosed{side}", "on") == "on" else "<" for side in ("Left", "Right")
    )
    limits = {"lower": g.param("lowlimit", "-0.5"), "upper": g.param("uplimit", "0.5")}
    return Carried(formula(f"lower {left} u and u {right} upper", **limits))


def interval_dynamic(g: Given) -> Carried:
    left, right = (
        "<=" if g.text(f"IntervalClosed{side}", "on") == "on" else "<" for side in ("Left", "Right")
    )
    return Carried(formula(f"lo {left} u and u {right} up", "up", "u", "lo"))


def detect(expression: str) -> Rule:
    """Whether a signal, or a comparison of it, has changed since the tick before.

    expression: a comparison of u and `before`, or of u with 0, which is true now and was not.
    """

    def rule(g: Given) -> Carried:
        before = block("UNIT_DELAY", clock=g.clock(), initial=g.param("vinit", "0"))
        if "before" in expression:
            return together("in.1 -> it.0, before; before -> it.1; it -> out.1",
                            formula(expression, "u", "before"), before=before)  # fmt: skip
        it = formula("now and not before", "now", "before")
        return together("in.1 -> now; now -> it.0, before; before -> it.1; it -> out.1", it,
                        now=formula(expression), before=before)  # fmt: skip

    return rule


def if_block(g: Given) -> Carried:
    """Its outputs enable subsystems."""
    texts = [g.text("IfExpression", "u1 > 0"), *entries(g.text("ElseIfExpressions"))]
    names = [f"u{k + 1}" for k in range(count(g, "NumInputs", "1"))]
    return made("IF", conditions=[condition(text, g) for text in texts], arguments=names)


def switch_case(g: Given) -> Carried:
    cases: list[Any] = []
    for text in entries(g.text("CaseConditions", "{1}")):
        numbers = [int(n) for n in np.ravel(g.computed(text))]
        cases.append(numbers[0] if len(numbers) == 1 else numbers)
    whole = block("ROUND", function="fix")
    outs = "; ".join(f"it.{k} -> out.{k + 1}" for k in range(len(cases) + 1))
    return together(f"in.1 -> whole; whole -> it; {outs}", block("CASE", cases=cases), whole=whole)
