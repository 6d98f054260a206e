"""Blocks of Simulink do here what they do there; each case is a formula of its documentation."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from simulink_models import Model

import spart_blocks as sb
from spart_blocks.diagram.converted.convert import convert
from spart_blocks.diagram.converted.simulink.rules import MARKED, read_as, reason

DOCS = Path(__file__).parents[2] / "docs"


def converted(model, folder, name="m.mdl", values=()):
    draft, _ = convert(model.write(folder / name), values)
    (folder / "m.yaml").write_text(draft.text())
    return draft


def output(model, folder, t, name="m.mdl", **options):
    """The signal at the Outport `y` of a model at times, which are multiples of 0.05 s."""
    converted(model, folder, name)
    given = {"engine": "interpreter", "rtol": 1e-9, "atol": 1e-11, "every": 0.05, **options}
    results = sb.simulate(folder / "m.yaml", T=max(*t, 0.1), **given)
    y = np.asarray(results["y"])
    last = np.searchsorted(results.t, np.asarray(t) + 1e-9) - 1
    return y[last].reshape(len(t), -1).squeeze()


def fed(kind, values, *sources, ports=None, **settings):
    """A model of one block between sources, (type, values) each, and the Outport `y`."""
    model = Model(StopTime="2", **settings)
    names = [model.block(one, f"s{k}", (0, 1), **given) for k, (one, given) in enumerate(sources)]
    library = {"SourceBlock": f"simulink/Any/{kind}"} if kind.islower() else {}
    name = "Reference" if library else kind
    model.block(name, "f", ports or (len(sources), 1), **library, **values)
    for k, source in enumerate(names):
        model.line(source, ("f", k + 1))
    model.block("Outport", "y", (1, 0))
    model.line("f", "y")
    return model


def step(time=1.0, after=1.0, before=0.0):
    return ("Step", {"Time": str(time), "After": str(after), "Before": str(before)})


def number(value):
    return ("Constant", {"Value": str(value)})


RAMP = ("Clock", {})
TICKS = ("DigitalClock", {"SampleTime": "0.5"})


@pytest.mark.parametrize(
    ("values", "sources", "t", "want"),
    [
        # x' = 1 from 0.5, back to it at 1
        ({"ExternalReset": "rising", "InitialCondition": "0.5"}, [number(1), step(1)],
         [0.9, 1.5, 2], [1.4, 1.0, 1.5]),
        # from 3 + 0, to the clock at the edge of 1
        ({"ExternalReset": "either", "InitialConditionSource": "external"},
         [number(1), step(1), RAMP], [0.5, 0.9, 1.5], [0.5, 0.9, 1.5]),
        # the initial value is the step's value at the start, 3
        ({"ExternalReset": "falling", "InitialConditionSource": "external"},
         [number(1), step(1, 0, 1), step(0.5, 7, 3)], [0.9, 1.5], [3.9, 7.5]),
        ({"InitialConditionSource": "external"}, [number(2), number(3)], [0.0, 1.0], [3.0, 5.0]),
        ({"InitialConditionSource": "external"}, [number(2), step(1, 7, 3)],
         [0.0, 1.5], [3.0, 6.0]),
        # held at 0.5 from 0.5 to 1, and let go
        ({"ExternalReset": "level", "InitialCondition": "0.5"},
         [number(1), ("DiscretePulseGenerator", {"PulseType": "Time based", "Period": "4",
                                                "PulseWidth": "12.5", "PhaseDelay": "0.5"})],
         [0.4, 0.75, 1.5], [0.9, 0.5, 1.0]),
        ({"ExternalReset": "level", "InitialCondition": "0.5"}, [number(1), step(1, 0, -2)],
         [0.75, 1.5], [0.5, 1.0]),
        ({"ExternalReset": "rising", "LimitOutput": "on", "UpperSaturationLimit": "0.8"},
         [number(1), step(1)], [0.9, 1.5, 2], [0.8, 0.5, 0.8]),
        ({"WrapState": "on", "WrappedStateUpperValue": "1", "WrappedStateLowerValue": "-1"},
         [number(1)], [0.5, 1.5], [0.5, -0.5]),
    ],
)  # fmt: skip
def test_integrators_reset_and_begin_as_their_ports_say(values, sources, t, want, tmp_path):
    got = output(fed("Integrator", values, *sources), tmp_path, t)
    np.testing.assert_allclose(got, want, atol=1e-6)


def test_a_bouncing_ball_of_the_state_port_and_a_reset_keeps_its_energy(tmp_path):
    """As Simulink's example: the rate is set to -e times the state before it. e is 1."""
    model = Model(StopTime="2")
    model.block("Constant", "g", (0, 1), Value="-9.81")
    model.block("Integrator", "v", (3, 1), ExternalReset="rising", ShowStatePort="on",
                InitialConditionSource="external")  # fmt: skip
    model.block("InitialCondition", "start", Value="0")
    model.block("Gain", "back", Gain="-1")
    model.block("Integrator", "x", (1, 1), InitialCondition="1")
    model.block("RelationalOperator", "hits", (2, 1), Operator="<")
    model.block("Constant", "ground", (0, 1), Value="0")
    model.block("Outport", "y", (1, 0))
    model.line("g", ("v", 1))
    model.line("v", "x")
    model.line(("v", "state"), "back")
    model.line("back", "start")
    model.line("start", ("v", 3))
    model.line("x", ("hits", 1), "y")
    model.line("ground", ("hits", 2))
    model.line("hits", ("v", 2))
    fall = np.sqrt(2 / 9.81)
    t = np.array([0.5, 1.0, 1.5, 2.0])
    since = (t + fall) % (2 * fall) - fall  # the time from the top
    got = output(model, tmp_path, t, rtol=1e-8)
    np.testing.assert_allclose(got, 1 - 9.81 / 2 * since**2, atol=1e-5)


@pytest.mark.parametrize(
    ("rule", "want"),
    [("Forward Euler", [1.5, 2.0, 2.5]), ("Backward Euler", [2.0, 2.5, 3.0]),
     ("Trapezoidal", [1.75, 2.25, 2.75])],
)  # fmt: skip
@pytest.mark.parametrize("limited", [False, True])
def test_the_rules_of_discrete_integrators_differ(rule, want, limited, tmp_path):
    """x0 = 1 and u = 1 at ticks of 0.5 s."""
    values = {"IntegratorMethod": f"Integration: {rule}", "InitialCondition": "1",
              "SampleTime": "0.5", "UpperSaturationLimit": "2.4"}  # fmt: skip
    values |= {"LimitOutput": "on"} if limited else {}
    model = fed("DiscreteIntegrator", values, number(1))
    got = output(model, tmp_path, [0.5, 1.0, 1.5])
    np.testing.assert_allclose(got, np.minimum(want, 2.4) if limited else want, atol=1e-12)


@pytest.mark.parametrize(
    ("reset", "want"), [("rising", [2.0, 1.0, 1.5]), ("level", [2.0, 1.0, 1.0])]
)
def test_a_discrete_integrator_is_reset_at_its_tick(reset, want, tmp_path):
    """Back to 1 at the tick of 1.0 s; a level keeps it there."""
    values = {"InitialCondition": "1", "SampleTime": "0.5", "ExternalReset": reset,
              "IntegratorMethod": "Integration: Forward Euler", "gainval": "2"}  # fmt: skip
    want = [2.0, 1.0, 2.0] if reset == "rising" else want
    got = output(fed("DiscreteIntegrator", values, number(1), step(1)), tmp_path, [0.5, 1.0, 1.5])
    np.testing.assert_allclose(got, want, atol=1e-12)


SAMPLED = {"SampleTime": "0.5"}
OLD = {"samptime": "0.5"}


@pytest.mark.parametrize(
    ("kind", "values", "sources", "t", "want"),
    [
        ("difference", OLD, [TICKS], [0.5, 1.2], [0.5, 0.5]),
        ("discrete derivative", {**OLD, "gainval": "3"}, [TICKS], [0.5, 1.2], [3.0, 3.0]),
        # y = (1 - p) u + p y of the tick before
        ("transfer fcn first order", {**OLD, "PoleZ": "0.5"}, [number(1)], [0, 0.5, 1],
         [0.5, 0.75, 0.875]),
        ("transfer fcn lead or lag", {**OLD, "PoleZ": "0.5", "ZeroZ": "0.25"}, [number(1)],
         [0, 0.5, 1], [1, 1.25, 1.375]),
        ("transfer fcn real zero", {**OLD, "ZeroZ": "0.25"}, [number(1)], [0, 0.5], [1, 0.75]),
        ("tapped delay", {**OLD, "NumDelays": "2", "vinit": "9"}, [TICKS], [0, 0.5, 1],
         [[9, 9], [9, 0], [0, 0.5]]),
        ("Delay", {**SAMPLED, "DelayLength": "2", "InitialCondition": "7"}, [TICKS],
         [0, 0.5, 1.0, 1.5], [7, 7, 0, 0.5]),
        ("Delay", {**SAMPLED, "DelayLength": "1", "ExternalReset": "Rising",
                   "InitialCondition": "7"}, [TICKS, step(1)], [0, 0.5, 1.0, 1.5], [7, 0, 7, 7]),
        ("Delay", {**SAMPLED, "DelayLength": "1", "ShowEnablePort": "on"},
         [TICKS, step(1)], [0.5, 1.0, 1.5, 2.0], [0, 0, 1.0, 1.5]),
        ("Delay", {**SAMPLED, "DelayLengthSource": "Input port"}, [TICKS, number(2)],
         [1.0, 1.5], [0, 0.5]),
        ("detect change", OLD, [("Step", {"Time": "1", "SampleTime": "0.5"})], [0, 0.5, 1, 1.5],
         [0, 0, 1, 0]),
        ("detect rise positive", OLD, [step(1, 1, -1)], [0, 0.5, 1, 1.5], [0, 0, 1, 0]),
        ("detect fall nonpositive", OLD, [step(1, 0, 1)], [0, 0.5, 1, 1.5], [0, 0, 1, 0]),
        ("detect increase", OLD, [TICKS], [0, 0.5, 1], [0, 1, 1]),
        ("counter limited", {"uplimit": "2", "tsamp": "0.5"}, [], [0, 0.5, 1, 1.5], [0, 1, 2, 0]),
        ("repeating sequence stair", {"OutValues": "[3 1].'", "tsamp": "0.5"}, [],
         [0, 0.6, 1.1], [3, 1, 3]),
        ("minmax running resettable", {**SAMPLED, "Function": "max", "vinit": "0.2"},
         [TICKS, step(1.5)], [0, 0.5, 1, 1.5], [0.2, 0.5, 1, 0.2]),
        ("rate limiter dynamic", SAMPLED, [number(1), number(5), number(-1)], [0.5, 1.0],
         [1.0, 1.5]),
        ("FirstOrderHold", {"Ts": "0.5"}, [("Clock", {})], [1.25, 1.4], [1.25, 1.4]),
        ("SampleTimeMath", {**SAMPLED, "TsampMathOp": "*"}, [number(3)], [1.0], [1.5]),
    ],
)  # fmt: skip
def test_blocks_at_ticks_follow_their_recurrences(kind, values, sources, t, want, tmp_path):
    got = output(fed(kind, values, *sources), tmp_path, t)
    np.testing.assert_allclose(got, np.squeeze(want), atol=1e-9)


VECTOR = number("[1 2 3 4]")
MATRIX = number("[1 2 3; 4 5 6]")


@pytest.mark.parametrize(
    ("kind", "values", "sources", "want"),
    [
        ("saturation dynamic", {}, [number(2), number(3), number(0)], 2),
        ("dead zone dynamic", {}, [number(2), number(3), number(0)], 1),
        ("wrap to zero", {"Threshold": "2"}, [number("[1 2 3]")], [1, 2, 0]),
        ("interval test", {"uplimit": "2", "lowlimit": "1", "IntervalClosedRight": "off"},
         [number("[0 1 2]")], [0, 1, 0]),
        ("CombinatorialLogic", {"TruthTable": "[0;1;1;0]"}, [number("[1 0]")], 1),
        ("Logic", {"Operator": "NXOR", "Inputs": "2"}, [number(1), number(1)], 1),
        ("Sum", {"Inputs": "-"}, [VECTOR], -10),
        ("MinMax", {"Inputs": "1", "Function": "max"}, [VECTOR], 4),
        ("Rounding", {"Operator": "fix"}, [number("[-1.5 1.5]")], [-1, 1]),
        ("MATLABFcn", {"MATLABFcn": "sqrt"}, [number(4)], 2),
        ("Sin", {"TimeSource": "Use external signal", "Frequency": "2", "Amplitude": "3"},
         [number(0.25)], 3 * np.sin(0.5)),
        ("sine", {}, [number(0.25)], 1),
        ("MultiPortSwitch", {"Inputs": "2"}, [number(2.7), number(5), number(6)], 6),
        ("MultiPortSwitch", {"Inputs": "2", "DataPortOrder": "Zero-based contiguous"},
         [number(0), number(5), number(6)], 5),
        ("MultiPortSwitch", {"Inputs": "2", "DataPortOrder": "Specify indices",
                             "DataPortIndices": "{[1 4],7}"}, [number(4), number(5), number(6)], 5),
        ("MultiPortSwitch", {"Inputs": "2", "DataPortOrder": "Specify indices",
                             "DataPortIndices": "{[1 4],7}",
                             "DataPortForDefault": "Additional data port"},
         [number(9), number(5), number(6), number(8)], 8),
        ("MultiPortSwitch", {"Inputs": "1"}, [number(3), VECTOR], 3),
        ("Selector", {"Indices": "2", "IndexOptions": "Starting index (dialog)",
                      "OutputSizes": "2"}, [VECTOR], [2, 3]),
        ("Selector", {"NumberOfDimensions": "2", "Indices": "[2],[1 3]",
                      "IndexOptions": "Index vector (dialog),Index vector (dialog)"},
         [MATRIX], [4, 6]),
        ("Selector", {"NumberOfDimensions": "2", "Indices": "1,[3 1]",
                      "IndexOptions": "Select all,Index vector (dialog)"}, [MATRIX], [3, 1, 6, 4]),
        ("Assignment", {"Indices": "[2 4]"}, [VECTOR, number("[8 9]")], [1, 8, 3, 9]),
        ("Assignment", {"Indices": "[0 1]", "IndexMode": "Zero-based"}, [VECTOR, number(7)],
         [7, 7, 3, 4]),
        ("Reshape", {"OutputDimensionality": "1-D array"}, [MATRIX], [1, 4, 2, 5, 3, 6]),
        ("Reshape", {"OutputDimensionality": "Customize", "OutputDimensions": "[3,2]"}, [MATRIX],
         [1, 5, 4, 3, 2, 6]),
        ("Concatenate", {"Mode": "Multidimensional array", "ConcatenateDimension": "1",
                         "NumInputs": "2"}, [MATRIX, MATRIX], [1, 2, 3, 4, 5, 6] * 2),
        ("PermuteDimensions", {"Order": "[2 1]"}, [MATRIX], [1, 4, 2, 5, 3, 6]),
        ("Demux", {"Outputs": "[3 1]"}, [VECTOR], [1, 2, 3]),
        ("Demux", {"Outputs": "2"}, [VECTOR], [1, 2]),
        ("Width", {}, [VECTOR], 4),
        ("Lookup_n-D", {"Table": "[0 1 4]", "BreakpointsForDimension1": "[0 1 2]",
                        "ExtrapMethod": "Clip"}, [number("[0.5 9]")], [0.5, 4]),
        ("Lookup_n-D", {"Table": "[0 1 4]", "BreakpointsSpecification": "Even spacing",
                        "BreakpointsForDimension1FirstPoint": "10",
                        "BreakpointsForDimension1Spacing": "5"}, [number(17.5)], 2.5),
        ("Lookup_n-D", {"Table": "[0 1 4]", "BreakpointsForDimension1": "[0 1 2]",
                        "InterpMethod": "Nearest"}, [number(1.6)], 4),
        ("Lookup_n-D", {"NumberOfTableDimensions": "2", "Table": "[1 2; 3 4]",
                        "BreakpointsForDimension1": "[0 1]", "BreakpointsForDimension2": "[0 1]"},
         [number(0.5), number(0.5)], 2.5),
        ("LookupNDDirect", {"Table": "[4 5; 6 7]"}, [number(1), number(0)], 6),
        ("lookup table dynamic", {"LookUpMeth": "Interpolation-Use End Values"},
         [number(1.5), number("[1 2]"), number("[10 20]")], 15),
        ("Interpolation_n-D", {"NumberOfTableDimensions": "1", "Table": "[0 1 4]"},
         [number(1), number(0.5)], 2.5),
        ("DescriptorStateSpace", {"E": "2", "A": "-2", "B": "4", "C": "1", "D": "3",
                                  "InitialCondition": "2"}, [number(1)], 5),
        ("VariantSource", {"VariantControls": "{'one','two'}", "LabelModeActiveChoice": "two",
                           "VariantControlMode": "label"}, [number(1), number(2)], 2),
        ("FromWorkspace", {"VariableName": "[0 5; 1 6]",
                           "OutputAfterFinalValue": "Setting to zero"}, [], 5.0),
    ],
)  # fmt: skip
def test_blocks_of_formulas_give_what_those_of_simulink_give(kind, values, sources, want, tmp_path):
    outputs = 2 if kind == "Demux" else 1
    model = fed(kind, values, *sources, ports=(len(sources), outputs))
    got = output(model, tmp_path, [0.0])
    np.testing.assert_allclose(np.ravel(got), np.ravel(np.asarray(want, float)), atol=1e-12)


def test_a_prelookup_and_its_interpolation_are_the_table(tmp_path):
    model = Model(StopTime="1")
    model.block("Constant", "u", (0, 1), Value="27.5")
    model.block("PreLookup", "at", (1, 2), BreakpointsData="[10 20 40]")
    model.block("Interpolation_n-D", "table", (2, 1), NumberOfTableDimensions="1", Table="[1 2 6]")
    model.block("Outport", "y", (1, 0))
    model.line("u", "at")
    model.line(("at", 1), ("table", 1))
    model.line(("at", 2), ("table", 2))
    model.line("table", "y")
    np.testing.assert_allclose(output(model, tmp_path, [0.0]), 3.5)


@pytest.mark.parametrize(
    ("kind", "delay"), [("TransportDelay", 0.5), ("VariableTransportDelay", 1)]
)
def test_delays_give_the_signal_of_before(kind, delay, tmp_path):
    values = {"DelayTime": "0.5", "MaximumDelay": "2", "InitialOutput": "-1"}
    sources = [RAMP, number(1)][: 1 if kind == "TransportDelay" else 2]
    got = output(fed(kind, values, *sources), tmp_path, [0.25, 1.5, 2])
    np.testing.assert_allclose(got, [-1, 1.5 - delay, 2 - delay], atol=1e-2)


@pytest.mark.parametrize("library", ["simulink/Continuous", "pid_lib", "slpidlib"])
@pytest.mark.parametrize(
    ("form", "want"), [("Parallel", lambda t: 2 + 3 * t), ("Ideal", lambda t: 2 + 6 * t)]
)
def test_a_pid_controller_of_each_library_has_its_gains(library, form, want, tmp_path):
    """P = 2 and I = 3 of the error 1; in the ideal form I counts times P."""
    model = Model(StopTime="1")
    model.block("Constant", "e", (0, 1))
    model.block("Reference", "C", (1, 1), SourceBlock=f"{library}/PID Controller", Form=form,
                SourceType="PID 1dof", Controller="PI", P="2", I="3")  # fmt: skip
    model.block("Outport", "y", (1, 0))
    model.chain("e", "C", "y")
    np.testing.assert_allclose(output(model, tmp_path, [0, 0.5, 1]), want(np.array([0, 0.5, 1])))


FORMS = ("m.mdl", "m.slx", "m.one.slx", "m.package.mdl")


def part(gain, port, **values):
    """A subsystem y = gain u with a block that makes it conditional."""
    inner = Model()
    inner.block("Inport", "u", (0, 1))
    inner.block(port, "if", (0, 0), **values)
    inner.block("Gain", "k", Gain=str(gain))
    inner.block("Outport", "y", (1, 0))
    inner.chain("u", "k", "y")
    return inner


@pytest.mark.parametrize("form", FORMS)
def test_actions_of_if_and_switch_case_are_merged(form, tmp_path):
    """|u| by an If and the number of quarters by a Switch Case, of u from -1 to 1."""
    model = Model(StopTime="2")
    model.block("Clock", "t", (0, 1))
    model.block("Bias", "u", Bias="-1")
    model.block("If", "if", (1, 2), IfExpression="u1 >= 0")
    model.block("SubSystem", "same", (1, 1), part(1, "ActionPort"))
    model.block("SubSystem", "other", (1, 1), part(-1, "ActionPort"))
    model.block("Merge", "y1", (2, 1), Inputs="2")
    model.block("SwitchCase", "which", (1, 2), CaseConditions="{[-1, 0], 1}")
    model.block("Gain", "double", Gain="2")
    model.block("SubSystem", "few", (1, 1), part(10, "ActionPort"))
    model.block("SubSystem", "many", (1, 1), part(20, "ActionPort"))
    model.block("Merge", "y2", (2, 1), Inputs="2")
    model.block("Sum", "sum", (2, 1))
    model.block("Outport", "y", (1, 0))
    model.line("t", "u", "double")
    model.line("u", "if", "same", "other", "few", "many")
    model.line(("if", 1), ("same", "ifaction"))
    model.line(("if", 2), ("other", "ifaction"))
    model.line("same", ("y1", 1))
    model.line("other", ("y1", 2))
    model.line("double", "which")
    model.line(("which", 1), ("few", "ifaction"))
    model.line(("which", 2), ("many", "ifaction"))
    model.line("few", ("y2", 1))
    model.line("many", ("y2", 2))
    model.line("y1", ("sum", 1))
    model.line("y2", ("sum", 2))
    model.line("sum", "y")
    t = np.array([0.2, 0.4, 0.75, 1.25])  # u = t - 1, cases of 2 t: 0, 0, 1, 2
    u, tens = t - 1, np.array([10, 10, 20, 0])
    want = np.abs(u) + tens * u
    want[-1] = 0.25 + 20 * 0.0  # beyond the cases the output is the last one, at t = 1
    np.testing.assert_allclose(output(model, tmp_path, t, form), want, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_a_reset_port_is_found_by_its_own_spelling(form, tmp_path):
    """Lines name it Reset, with a capital. The integral of 1 begins anew at 1 s."""
    inner = Model()
    inner.block("ResetPort", "Reset", (0, 0), ResetTriggerType="rising")
    inner.block("Inport", "u", (0, 1))
    inner.block("Integrator", "x")
    inner.block("Outport", "y", (1, 0))
    inner.chain("u", "x", "y")
    model = fed("SubSystem", {}, number(1), step(1), ports=(1, 1))
    model.blocks = [
        (kind, name, ports, values, inner if name == "f" else inside)
        for kind, name, ports, values, inside in model.blocks
    ]
    model.lines[1] = (model.lines[1][0], (("f", "Reset"),), "")
    np.testing.assert_allclose(output(model, tmp_path, [0.9, 1.5], form), [0.9, 0.5], atol=1e-6)


@pytest.mark.parametrize(
    ("values", "want"),
    [({}, [-1, 1]), ({"OutputWhenDisabled": "reset", "InitialOutput": "-5"}, [-5, 1])],
)
def test_outputs_of_enabled_subsystems_are_held_or_reset(values, want, tmp_path):
    """u = 1 while it is enabled, from 1 s on."""
    inner = part(1, "EnablePort")
    inner.blocks[-1] = ("Outport", "y", (1, 0), {"InitialOutput": "-1", **values}, None)
    model = fed("SubSystem", {}, number(1), step(1), ports=(1, 1))
    model.blocks[2] = (*model.blocks[2][:4], inner)
    model.lines[1] = (model.lines[1][0], (("f", "enable"),), "")
    np.testing.assert_allclose(output(model, tmp_path, [0.5, 1.5]), want)


def test_sampled_blocks_of_a_triggered_subsystem_take_its_edges_for_ticks(tmp_path):
    """A count of edges with a delay that inherits its sample time."""
    inner = Model()
    inner.block("TriggerPort", "go", (0, 0), TriggerType="rising")
    inner.block("Inport", "u", (0, 1))
    inner.block("Sum", "sum", (2, 1))
    inner.block("UnitDelay", "before", SampleTime="-1")
    inner.block("Outport", "y", (1, 0))
    inner.line("u", ("sum", 1))
    inner.line("before", ("sum", 2))
    inner.line("sum", "before", "y")
    wave = ("Sin", {"Frequency": "2*pi", "Phase": "-pi/2"})
    model = fed("SubSystem", {}, number(1), wave, ports=(1, 1))
    model.blocks[2] = (*model.blocks[2][:4], inner)
    model.lines[1] = (model.lines[1][0], (("f", "trigger"),), "")
    np.testing.assert_allclose(output(model, tmp_path, [0.2, 0.5, 1.5]), [0, 1, 2])


@pytest.mark.parametrize("form", FORMS)
def test_a_for_each_subsystem_takes_its_partitioned_inputs_apart(form, tmp_path):
    inner = part(2, "ForEach")
    inner.blocks[1] = ("ForEach", "each", (0, 0), {"InputPartition": ["on"]}, None)
    model = fed("SubSystem", {}, VECTOR)
    model.blocks[1] = (*model.blocks[1][:4], inner)
    np.testing.assert_allclose(output(model, tmp_path, [0.0], form), [2, 4, 6, 8])


@pytest.mark.parametrize("form", FORMS)
def test_parameters_of_a_mask_are_those_of_the_subsystem(form, tmp_path):
    """k is used two levels below; w is computed by the mask's code; Kp is a variable."""
    deep = Model()
    deep.block("Inport", "u", (0, 1))
    deep.block("Gain", "k", Gain="k")
    deep.block("Outport", "y", (1, 0))
    deep.chain("u", "k", "y")
    inner = Model()
    inner.block("Inport", "u", (0, 1))
    inner.block("SubSystem", "deep", (1, 1), deep)
    inner.block("Bias", "w", Bias="w")
    inner.block("Outport", "y", (1, 0))
    inner.chain("u", "deep", "w", "y")
    mask = {"MaskVariables": "k=@1;a=@2;", "MaskValueString": "Kp|10",
            "MaskInitialization": "w = 2*a; % of the mask"}  # fmt: skip
    model = fed("SubSystem", mask, number(3))
    model.blocks[1] = (*model.blocks[1][:4], inner)
    model.settings["PreLoadFcn"] = "Kp = 4; disp(Kp); G = tf(1);"
    draft = converted(model, tmp_path, form)
    text = draft.text()
    assert "k: $Kp" in text
    assert "K: $k" in text
    assert "left out: PreLoadFcn:1: G was left out: tf is not known here" in text
    results = sb.simulate(tmp_path / "m.yaml", T=0.1, engine="interpreter")
    np.testing.assert_allclose(np.ravel(results["y"])[-1], 3 * 4 + 20)
    other = sb.simulate(
        tmp_path / "m.yaml", T=0.1, engine="interpreter", overrides={"params.Kp": 5}
    )
    np.testing.assert_allclose(np.ravel(other["y"])[-1], 3 * 5 + 20)


def test_a_block_of_a_library_beside_the_model_is_read_there(tmp_path):
    inner = Model()
    inner.block("Inport", "u", (0, 1))
    inner.block("Gain", "K", Gain="k")
    inner.block("Outport", "y", (1, 0))
    inner.chain("u", "K", "y")
    library = Model()
    mask = {"MaskVariables": "k=@1;", "MaskValueString": "1"}
    library.block("SubSystem", "My gain", (1, 1), inner, **mask)
    library.write(tmp_path / "mine.slx")
    model = Model(StopTime="1")
    model.block("Constant", "u", (0, 1), Value="2")
    model.block("Reference", "f", (1, 1), SourceBlock="mine/My\ngain", k="7")
    model.block("Outport", "y", (1, 0))
    model.chain("u", "f", "y")
    np.testing.assert_allclose(output(model, tmp_path, [0.0], "m.slx"), 14)
    (tmp_path / "mine.slx").unlink()
    draft = converted(model, tmp_path, "m.slx")
    why = next(row.why for row in draft.rows if row.state == "left")
    assert why == (
        "it is of the library mine, which is not here: put mine.slx or mine.mdl beside the model"
    )


@pytest.mark.parametrize(
    ("values", "want"),
    [({"LabelModeActiveChoice": "B"}, 30), ({"OverrideUsingVariant": "A"}, 20), ({}, 30)],
)
def test_the_active_choice_of_a_variant_subsystem_takes_its_place(values, want, tmp_path):
    """By its label, or by a condition that holds: V is 2."""
    outer = Model()
    outer.block("Inport", "u", (0, 1))
    for name, gain, when in (("A", 2, "V == 1"), ("B", 3, "V == 2")):
        inner = Model()
        inner.block("Inport", "u", (0, 1))
        inner.block("Gain", "k", Gain=str(gain))
        inner.block("Outport", "y", (1, 0))
        inner.chain("u", "k", "y")
        control = {"VariantControl": name if values else when}
        outer.block("SubSystem", name, (1, 1), inner, **control)
    outer.block("Outport", "y", (1, 0))
    model = fed("SubSystem", {"Variant": "on", **values}, number(10))
    model.blocks[1] = (*model.blocks[1][:4], outer)
    model.settings["InitFcn"] = "V = 2;"
    np.testing.assert_allclose(output(model, tmp_path, [0.0]), want)


def test_a_data_store_gives_what_was_written_at_the_tick_before(tmp_path):
    """A counter: A becomes A + 1 at ticks of 0.5 s, from 3."""
    model = Model(StopTime="2")
    model.block("DataStoreMemory", "A", (0, 0), DataStoreName="A", InitialValue="3")
    model.block("DataStoreRead", "get", (0, 1), DataStoreName="A")
    model.block("Bias", "more", Bias="1")
    model.block("DataStoreWrite", "put", (1, 0), DataStoreName="A", SampleTime="0.5")
    model.block("Outport", "y", (1, 0))
    model.line("get", "more", "y")
    model.line("more", "put")
    np.testing.assert_allclose(output(model, tmp_path, [0, 0.5, 1.0]), [3, 4, 5])


def test_blocks_that_are_commented_out_are_no_blocks(tmp_path):
    model = fed("Gain", {"Gain": "5", "Commented": "through"}, number(2))
    model.block("S-Function", "code", (1, 1), Commented="on")
    draft = converted(model, tmp_path)
    assert not [row for row in draft.rows if row.state == "left"]
    assert output(model, tmp_path, [0.0]) == 2


@pytest.mark.parametrize("form", FORMS)
def test_charts_and_code_are_marked_with_what_does_the_same_here(form, tmp_path):
    model = Model()
    inner = Model()
    model.block("SubSystem", "logic", (1, 1), inner, SFBlockType="Chart")
    model.block("SubSystem", "code", (1, 1), inner, SFBlockType="MATLAB Function")
    model.block("S-Function", "own", (2, 1))
    model.block("ModelReference", "inner", (1, 1), ModelNameDialog="plant.slx", ModelName="plant")
    why = {row.name: row.why for row in converted(model, tmp_path, form).rows}
    assert why["logic"].endswith("here: STATE_MACHINE or STATE_MACHINE_S")
    assert "FCN" in why["code"]
    assert why["own"].endswith("a block of your own in a Python file: docs/own_blocks.md")
    assert why["inner"] == "it is the model plant: convert it too, and write `use: plant.yaml`"


def test_a_width_is_looked_for_along_each_way_once(tmp_path):
    """Forty sums of a signal with itself: 2^40 ways. Beyond the limit it is not known."""
    model = Model()
    model.block("Constant", "s0", (0, 1), Value="[1 2 3]")
    for k in range(400):
        model.block("Sum", f"s{k + 1}", (2, 1))
        model.line(f"s{k}", (f"s{k + 1}", 1), (f"s{k + 1}", 2))
    for k in (40, 400):
        model.block("Width", f"w{k}", (1, 1))
        model.line(f"s{k}", f"w{k}")
    draft = converted(model, tmp_path)
    assert "w40: {type: CONSTANT, value: 3.0}" in draft.text()
    assert "its input is not known here" in next(r.why for r in draft.rows if r.name == "w400")


def test_a_sample_time_is_inherited_through_a_chain_of_any_length(tmp_path):
    model = Model()
    model.block("Constant", "u", (0, 1))
    model.block("ZeroOrderHold", "g0", SampleTime="0.5")
    for k in range(1100):
        model.block("Gain", f"g{k + 1}")
    model.block("UnitDelay", "late", SampleTime="-1")
    model.chain("u", *(f"g{k}" for k in range(1101)), "late")
    draft = converted(model, tmp_path)
    assert draft.clocks == {"clock_1": {"T": 0.5}}
    assert not [row for row in draft.rows if row.state == "left"]


def test_the_reader_and_its_page_tell_the_same_of_each_block_of_the_libraries():
    libraries = runpy.run_path(str(DOCS / "make_simulink_page.py"))["LIBRARIES"]
    names = [name for some in libraries.values() for name in some.split(", ")]
    ways = {name: read_as(name) for name in names}
    assert [name for name, how in ways.items() if how == "unknown"] == []
    marked = [name for name, how in ways.items() if how == "marked"]
    assert len(marked) <= len(MARKED) + 2
    page = (DOCS / "from_simulink.md").read_text()
    for name in names:
        row = next(line for line in page.splitlines() if line.startswith(f"| {name} |"))
        assert row.endswith("| marked |" if name in marked else "| yes |"), name


def test_each_reason_names_what_does_the_same_here():
    assert reason("S-Function").startswith("it is code, which is not run; here: ")
    assert reason("Unheard") == "there is no rule for Unheard"
