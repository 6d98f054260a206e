"""What each type of Simulink block becomes here: a rule for each, or the reason why there is none.
Defaults are those of Simulink's libraries, for files that leave them out.
"""

from __future__ import annotations

import re

from spart_blocks.diagram.check.other_names import OTHER_NAMES
from spart_blocks.diagram.converted.simulink.dynamics import (
    delay,
    derivative,
    difference,
    discrete_integrator,
    discrete_transfer,
    fir,
    first_order,
    integrator,
    memory,
    pid,
    second_order,
    system,
    tapped_delay,
    transfer,
    transport_delay,
    unit_delay,
    variable_delay,
    zero_pole,
)
from spart_blocks.diagram.converted.simulink.given import (
    Carried,
    Rule,
    formula,
    made,
    nothing,
    wire,
)
from spart_blocks.diagram.converted.simulink.mathematics import (
    backlash,
    combinatorial,
    compare,
    coulomb,
    dead_zone,
    detect,
    diagonal,
    extreme,
    formula_block,
    gain,
    hit,
    identity,
    if_block,
    interpreted,
    interval,
    interval_dynamic,
    logic,
    mathematical,
    of_angle,
    product,
    rate_limiter,
    rate_limiter_dynamic,
    relay,
    running_extreme,
    saturation,
    submatrix,
    switch_case,
    time_math,
    total,
    trigonometry,
    within_inputs,
    wrap_to_zero,
)
from spart_blocks.diagram.converted.simulink.routing import (
    assignment,
    bus_assignment,
    bus_creator,
    bus_selector,
    concatenate,
    demux,
    direct_lookup,
    goto,
    interpolation,
    lookup_1d,
    lookup_2d,
    lookup_dynamic,
    lookup_nd,
    manual_switch,
    merge,
    multiport,
    mux,
    permute,
    prelookup,
    reshape,
    selector,
    store_read,
    store_write,
    switch,
    unit_conversion,
    variant_source,
    width,
)
from spart_blocks.diagram.converted.simulink.sources import (
    assertion,
    check_formula,
    check_gradient,
    check_range,
    chirp,
    constant,
    counter,
    digital_clock,
    generator,
    interpolated,
    noise,
    pulse,
    repeating,
    scope,
    sine,
    stair,
    white_noise,
    workspace,
)

_TABLE: dict[str, Rule] = {
    # sources
    "Constant": constant,
    "Ground": lambda g: made("CONSTANT", value=0.0),
    "Step": lambda g: made("STEP", T=g.param("Time", "1"), off=g.param("Before", "0"),
                           on=g.param("After", "1")),
    "ramp": lambda g: made("RAMP", T=g.param("start", "0"), slope=g.param("slope", "1"),
                           off=g.param("X0" if g.text("X0") else "InitialOutput", "0")),
    "Sin": sine, "SignalGenerator": generator, "DiscretePulseGenerator": pulse,
    "chirp signal": chirp, "Clock": lambda g: made("TIME"), "DigitalClock": digital_clock,
    "RandomNumber": noise("normal"), "UniformRandomNumber": noise("uniform"),
    "band-limited white noise": white_noise,
    "counter free-running": counter(bits=True), "counter limited": counter(bits=False),
    "repeating table": repeating, "repeating sequence": repeating,
    "repeating sequence stair": stair, "repeating sequence interpolated": interpolated,
    "FromWorkspace": workspace,
    # sinks and checks
    "Scope": scope, "XYGraph": lambda g: made("SCOPEXY"), "Record": lambda g: made("RECORD"),
    "Display": lambda g: made("RECORD", "RECORD keeps the signal"),
    "ToWorkspace": lambda g: made("RECORD"),
    "ToFile": lambda g: made("RECORD", "`spart run --out` writes the file"),
    "Terminator": lambda g: made("NULL"), "Stop": lambda g: made("STOP"),
    "Assertion": assertion,
    "check static lower bound": check_range("lower"),
    "check static upper bound": check_range("upper"),
    "check static range": check_range("lower", "upper"),
    "check static gap": check_formula("u < low or u > high"),
    "check input resolution": check_formula("abs(u - step*round(u/step)) <= 1e-9*step"),
    "check dynamic lower bound": check_formula("lower < u", "lower", "u"),
    "check dynamic upper bound": check_formula("u < upper", "upper", "u"),
    "check dynamic range": check_formula("lower < u and u < upper", "upper", "lower", "u"),
    "check dynamic gap": check_formula("u < lower or u > upper", "upper", "lower", "u"),
    "check discrete gradient": check_gradient,
    # continuous and discrete
    "Integrator": integrator, "SecondOrderIntegrator": second_order, "Derivative": derivative,
    "TransferFcn": transfer, "StateSpace": system("STATE_SPACE"),
    "DescriptorStateSpace": system("STATE_SPACE"), "ZeroPole": zero_pole("ZERO_POLE"),
    "FirstOrderHold": lambda g: made("FIRST_ORDER_HOLD", clock=g.clock("1")),
    "UnitDelay": unit_delay, "Delay": delay, "Memory": memory, "tapped delay": tapped_delay,
    "ZeroOrderHold": lambda g: made("ZOH", clock=g.clock("1")),
    "DiscreteIntegrator": discrete_integrator,
    "DiscreteTransferFcn": discrete_transfer(False), "DiscreteFilter": discrete_transfer(True),
    "DiscreteStateSpace": system("STATE_SPACE_S"), "DiscreteZeroPole": zero_pole("ZERO_POLE_S"),
    "DiscreteFir": fir, "difference": difference(of_time=False),
    "discrete derivative": difference(of_time=True),
    "transfer fcn first order": first_order("", "PoleZ"),
    "transfer fcn lead or lag": first_order("ZeroZ", "PoleZ"),
    "transfer fcn real zero": first_order("ZeroZ", ""),
    "TransportDelay": transport_delay, "VariableTransportDelay": variable_delay,
    "pid controller": pid, "pid controller (2dof)": lambda g: pid(g, two=True),
    "discrete pid controller": pid, "discrete pid controller (2dof)": lambda g: pid(g, two=True),
    # discontinuities
    "Saturate": saturation, "Relay": relay, "RateLimiter": rate_limiter, "HitCross": hit,
    "DeadZone": dead_zone, "Backlash": backlash, "coulomb & viscous friction": coulomb,
    "Quantizer": lambda g: made("QUANTIZER", interval=g.param("QuantizationInterval", "0.5")),
    "saturation dynamic": within_inputs("min(max(u, lo), up)"),
    "dead zone dynamic": within_inputs("max(u - up, 0) + min(u - lo, 0)"),
    "rate limiter dynamic": rate_limiter_dynamic, "wrap to zero": wrap_to_zero,
    # mathematics
    "Sum": total, "Gain": gain, "Product": product, "Abs": lambda g: made("ABS"),
    "UnaryMinus": lambda g: made("GAIN", K=-1.0), "Signum": lambda g: made("SIGN"),
    "slider gain": lambda g: made("GAIN", K=g.param("gain", "1")),
    "Math": mathematical("exp"), "Sqrt": mathematical("sqrt"), "Trigonometry": trigonometry,
    "MinMax": extreme, "minmax running resettable": running_extreme,
    "Rounding": lambda g: made("ROUND", function=g.text("Operator", "floor")),
    "Bias": lambda g: Carried(formula("u + bias", bias=g.param("Bias", "0"))),
    "Polyval": lambda g: made("POLYNOMIAL", coefficients=g.param("Coefs", "[1]")),
    "Fcn": formula_block, "MATLABFcn": interpreted, "sine": of_angle("sin"),
    "cosine": of_angle("cos"), "DotProduct": lambda g: made("DOT"),
    "cross product": lambda g: made("CROSS"), "3x3 cross product": lambda g: made("CROSS"),
    "algebraic constraint": lambda g: made(
        "ALGEBRAIC_CONSTRAINT", initial=g.param("z0" if g.text("z0") else "InitialGuess", "0")),
    "SampleTimeMath": time_math, "determinant of 3x3 matrix": lambda g: made("DET"),
    "invert 3x3 matrix": lambda g: _first_of("INVERSE"),
    "matrix inverse": lambda g: _first_of("INVERSE"),
    "pseudoinverse": lambda g: _first_of("INVERSE", pinv=True),
    "matrix transpose": lambda g: made("TRANSPOSE"), "identity matrix": identity,
    "diagonal matrix": diagonal, "submatrix": submatrix,
    # logic
    "Logic": logic, "RelationalOperator": compare, "CombinatorialLogic": combinatorial,
    "compare to constant": lambda g: compare(g, g.param("const", "3"), "relop"),
    "compare to zero": lambda g: compare(g, 0.0, "relop"),
    "interval test": interval, "interval test dynamic": interval_dynamic,
    "detect change": detect("u != before"), "detect increase": detect("u > before"),
    "detect decrease": detect("u < before"), "detect rise positive": detect("u > 0"),
    "detect rise nonnegative": detect("u >= 0"), "detect fall negative": detect("u < 0"),
    "detect fall nonpositive": detect("u <= 0"), "If": if_block, "SwitchCase": switch_case,
    # tables
    "Lookup": lookup_1d("InputValues", "Table", "LookUpMeth"), "Lookup_n-D": lookup_nd,
    "Lookup2D": lookup_2d, "lookup table dynamic": lookup_dynamic, "LookupNDDirect": direct_lookup,
    "PreLookup": prelookup, "Interpolation_n-D": interpolation,
    # routing and attributes
    "Switch": switch, "MultiPortSwitch": multiport, "ManualSwitch": manual_switch,
    "VariantSource": variant_source, "ManualVariantSource": variant_source,
    "Mux": mux, "Demux": demux, "Concatenate": concatenate, "Merge": merge, "Selector": selector,
    "Assignment": assignment, "Reshape": reshape, "PermuteDimensions": permute,
    "Squeeze": lambda g: made("FLATTEN"), "Width": width,
    "BusCreator": bus_creator, "BusSelector": bus_selector, "BusAssignment": bus_assignment,
    "BusToVector": lambda g: made("MUX"),
    "Goto": goto, "From": lambda g: made("FROM", tag=g.text("GotoTag", "A")),
    "GotoTagVisibility": lambda g: nothing(),
    "DataStoreRead": store_read, "DataStoreWrite": store_write,
    "DataStoreMemory": lambda g: nothing(),
    "DataTypeConversion": lambda g: wire("signals are doubles"),
    "SignalConversion": lambda g: wire(), "SignalSpecification": lambda g: wire(),
    "RateTransition": lambda g: wire("signals are read when they are due"),
    "InitialCondition": lambda g: wire("its value at the start counts for an integrator alone"),
    "UnitConversion": unit_conversion, "angle conversion": unit_conversion,
    "unit system configuration": lambda g: nothing("units are SI"),
}  # fmt: skip

_NO_COMPLEX = "signals are real"
_NO_BITS = "signals are numbers without bits"
_NO_CODE = "it is code, which is not run"
_FILE = "its file is not read"
_MARKED: dict[str, str] = {
    "EntityTransportDelay": "there are no entities",
    **dict.fromkeys(
        ("bit clear", "bit set", "bitwise operator", "extract bits", "ArithShift",
         "bit to integer converter", "integer to bit converter"), _NO_BITS),
    **dict.fromkeys(
        ("ComplexToMagnitudeAngle", "ComplexToRealImag", "MagnitudeAngleToComplex",
         "RealImagToComplex"), _NO_COMPLEX),
    "Find": "the size of a signal is fixed",
    "function-call subsystem": "it is called by functions",
    "ForIterator": "its inside runs several times a step",
    "WhileIterator": "its inside runs several times a step",
    "ModelReference": "it is another model",
    "Probe": "its outputs are no signals here",
    "VariantSink": "its choices are on the side of the receivers",
    "ParameterWriter": "parameters do not change in a run",
    "StateReader": "its owner's state is not looked for",
    "StateWriter": "a state has one writer",
    "enumerated constant": "values have no names",
    "FromFile": _FILE, "FromSpreadsheet": _FILE, "Playback": _FILE, "SignalEditor": _FILE,
    "WaveformGenerator": "its waveforms are a language of their own",
    "Chart": _NO_CODE, "State Transition Table": _NO_CODE, "Truth Table": _NO_CODE,
    "MATLAB Function": _NO_CODE, "MATLABSystem": _NO_CODE, "S-Function": _NO_CODE,
    "CCaller": _NO_CODE, "CFunction": _NO_CODE, "PythonImporter": _NO_CODE,
    "FunctionCaller": "it is called by functions", "Simulink Function": "it is called by functions",
    "Initialize Function": "it is called by functions",
    "Terminate Function": "it is called by functions",
    "Reset Function": "it is called by functions",
}  # fmt: skip
"""Types that have no rule, with the reason."""

STRUCTURE = ("SubSystem", "Inport", "Outport", "EnablePort", "TriggerPort", "ActionPort",
             "ResetPort", "ForEach")  # fmt: skip
"""Types that the conversion of systems reads."""

_OTHERWISE: dict[str, str] = {
    "Integrator Limited": "Integrator", "Variable Time Delay": "VariableTransportDelay",
    "Second-Order Integrator Limited": "SecondOrderIntegrator", "Hit Crossing": "HitCross",
    "Saturation": "Saturate", "Discrete FIR Filter": "DiscreteFir",
    "Discrete-Time Integrator": "DiscreteIntegrator", "Enabled Delay": "Delay",
    "Resettable Delay": "Delay", "Variable Integer Delay": "Delay", "Logical Operator": "Logic",
    "Shift Arithmetic": "ArithShift", "1-D Lookup Table": "Lookup_n-D",
    "2-D Lookup Table": "Lookup_n-D", "n-D Lookup Table": "Lookup_n-D",
    "Direct Lookup Table (n-D)": "LookupNDDirect",
    "Interpolation Using Prelookup": "Interpolation_n-D",
    **dict.fromkeys(("Add", "Subtract", "Sum of Elements"), "Sum"),
    **dict.fromkeys(("Divide", "Product of Elements", "Matrix Multiply"), "Product"),
    "Math Function": "Math", "Matrix Concatenate": "Concatenate",
    "Vector Concatenate": "Concatenate", "Polynomial": "Polyval", "Reciprocal Sqrt": "Sqrt",
    "Signed Sqrt": "Sqrt", "Rounding Function": "Rounding", "Sign": "Signum",
    "Sine Wave Function": "Sin", "Sine Wave": "Sin", "Trigonometric Function": "Trigonometry",
    "Weighted Sample Time Math": "SampleTimeMath", "Weighted Sample Time": "SampleTimeMath",
    "Find Nonzero Elements": "Find",
    **dict.fromkeys(
        ("Atomic Subsystem", "Enabled Subsystem", "Enabled and Triggered Subsystem",
         "For Each Subsystem", "If Action Subsystem", "Resettable Subsystem",
         "Switch Case Action Subsystem", "Triggered Subsystem", "Variant Subsystem"), "SubSystem"),
    "For Iterator Subsystem": "ForIterator", "While Iterator Subsystem": "WhileIterator",
    "Enable": "EnablePort", "Trigger": "TriggerPort", "Model": "ModelReference",
    "Variant Model": "ModelReference", "IC": "InitialCondition", "Index Vector": "MultiPortSwitch",
    "Floating Scope": "Scope", "Stop Simulation": "Stop",
    "Pulse Generator": "DiscretePulseGenerator", "Interpreted MATLAB Function": "MATLABFcn",
}  # fmt: skip
"""The type by which models name a block, by its name in the libraries, where they differ."""


def _first_of(kind: str, **arguments: object) -> Carried:
    """A block of whose outputs the first counts."""
    return Carried({"type": kind, **arguments}, wires=("in.1 -> it", "it.0 -> out.1"))


def bare(name: str) -> str:
    """A type reduced to letters and digits, so that those of all releases are equal."""
    return re.sub(r"[\W_]+", "", name).casefold()


RULES: dict[str, Rule] = {bare(name): rule for name, rule in _TABLE.items()}
"""By type of block; blocks of libraries by their name; reduced to letters and digits."""
TYPES = tuple(_TABLE)
MARKED = {bare(name): why for name, why in _MARKED.items()}


def type_of(name: str) -> str:
    """The type by which models name a block of the libraries, reduced."""
    return bare(_OTHERWISE.get(name, name))


def reason(kind: str) -> str:
    """Why a type is not converted, and what does the same here."""
    key = bare(kind)
    why = MARKED.get(key, f"there is no rule for {kind}")
    names = (other for other in OTHER_NAMES if other.tool == "Simulink")
    found = next((other for other in names if type_of(other.name) == key), None)
    return f"{why}; here: {found.here.removeprefix('not here: ')}" if found else why


def read_as(name: str) -> str:
    """How a block of the libraries is read: `rule`, `structure`, `marked`, or `unknown`."""
    key = type_of(name)
    for how, kinds in (("rule", RULES), ("marked", MARKED), ("structure", map(bare, STRUCTURE))):
        if key in kinds:
            return how
    return "unknown"
