"""Models of Simulink become diagram files that do the same; what cannot is marked."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from scipy.io import savemat
from simulink_models import Model

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError
from spart_blocks.diagram.converted.convert import convert
from spart_blocks.diagram.converted.draft import table
from spart_blocks.diagram.converted.matlab import UnreadableError, value_of
from spart_blocks.diagram.converted.simulink import files
from spart_blocks.diagram.converted.simulink.rules import TYPES
from spart_blocks.diagram.converted.workspace import read_workspace

FORMS = ("m.mdl", "m.slx", "m.one.slx", "m.package.mdl")


def run_of(model, folder, name="m.mdl", values=(), **options):
    draft, _ = convert(model.write(folder / name), values)
    (folder / "m.yaml").write_text(draft.text())
    return draft, sb.simulate(folder / "m.yaml", **options)


def servo():
    """x' = k (goal - x), with the gain k = 2 Kp in a masked subsystem and a step at 0.5 s."""
    inner = Model()
    inner.block("Inport", "e", (0, 1))
    inner.block("Gain", "P", Gain="k")
    inner.block("Outport", "u", (1, 0))
    inner.chain("e", "P", "u")
    model = Model(StopTime="Tend", Solver="ode45")
    model.block("Step", "goal", (0, 1), Time="0.5", After="2")
    model.block("Sum", "error", (2, 1), Inputs="|+-")
    mask = {"MaskVariables": "k=@1;", "MaskValueString": "2*Kp"}
    model.block("SubSystem", "The law", (1, 1), inner, **mask)
    model.block("Integrator", "x", InitialCondition="x0")
    model.block("Scope", "scope", (2, 0), Position="[400, 100, 430, 130]")
    model.chain("goal", "error", "The law", "x")
    model.line("x", ("error", 2), ("scope", 1))
    model.line("goal", ("scope", 2))
    return model


@pytest.mark.parametrize("form", FORMS)
def test_a_loop_of_every_form_of_file_has_its_closed_form(form, tmp_path):
    (tmp_path / "v.m").write_text("% gains\nKp = 1.5; Tend = 2*2;\nx0 = ...\n 1/4\n")
    draft, results = run_of(servo(), tmp_path, form, [tmp_path / "v.m"], rtol=1e-9, atol=1e-11)
    t, x = results.t, results["x"].ravel()
    want = np.where(
        t < 0.5, 0.25 * np.exp(-3 * t), 2 + (0.25 * np.exp(-1.5) - 2) * np.exp(-3 * (t - 0.5))
    )
    assert t[-1] == 4
    np.testing.assert_allclose(x, want, atol=1e-7)
    assert "x: {type: INTEGRATOR, x0: $x0}" in draft.text()
    assert table(draft.rows) == ["6 blocks: 6 carried over, 0 changed, 0 not converted"]
    assert draft.top.spots == {"scope": (400, 100)}


def test_a_sampled_loop_is_that_of_its_twin_written_by_hand(tmp_path):
    """The delay inherits the sample time of the hold; the tags and the bus are wires."""
    model = Model(StopTime="2")
    model.block("Constant", "r", (0, 1), Value="1")
    model.block("BusCreator", "bus", (2, 1))
    model.block("BusSelector", "pick", (1, 2), OutputSignals="x,r")
    model.block("Sum", "e", (2, 1), Inputs="-+")
    model.block("ZeroOrderHold", "hold", SampleTime="0.1")
    model.block("UnitDelay", "late", SampleTime="-1", InitialCondition="0.5")
    model.block("DiscreteTransferFcn", "D", Numerator="[2 -1]", Denominator="[1 -0.3]")
    model.block("Integrator", "x")
    model.block("Goto", "put", (1, 0), GotoTag="X")
    model.block("From", "get", (0, 1), GotoTag="X")
    model.block("DataTypeConversion", "cast")
    model.line("r", ("bus", 1), name="r")
    model.line("get", ("bus", 2), name="x")
    model.chain("bus", "pick")
    model.line(("pick", 1), ("e", 1))
    model.line(("pick", 2), "cast")
    model.line("cast", ("e", 2))
    model.chain("e", "hold", "late", "D", "x", "put")
    model.block("Scope", "scope", (1, 0))
    model.line("bus", "scope")  # a scope of two signals
    _, results = run_of(model, tmp_path)
    (tmp_path / "twin.yaml").write_text(
        "clocks: {c: {T: 0.1}}\n"
        "blocks:\n"
        "  r: {type: CONSTANT, value: 1}\n"
        '  e: {type: SUM, signs: "+-"}\n'
        "  hold: {type: ZOH, clock: c}\n"
        "  late: {type: UNIT_DELAY, clock: c, initial: 0.5}\n"
        "  D: {type: LTI_SISO_S, clock: c, N: [2, -1], D: [1, -0.3]}\n"
        "  x: {type: INTEGRATOR}\n"
        "wires: [r -> e.0, x -> e.1, e -> hold, hold -> late, late -> D, D -> x]\n"
    )
    twin = sb.simulate(tmp_path / "twin.yaml", T=2)
    grid = np.linspace(0.05, 1.95, 20)
    got, want = (np.interp(grid, r.t, r["x"].ravel()) for r in (results, twin))
    np.testing.assert_allclose(got, want, atol=1e-8)
    assert np.ptp(want) > 0.1


@pytest.mark.parametrize(
    ("kind", "values", "want"),
    [
        ("Sin", {"Amplitude": "2", "Frequency": "3", "Phase": "pi/3", "Bias": "1"},
         lambda t: 1 + 2 * np.sin(3 * t + np.pi / 3)),
        ("DiscretePulseGenerator",
         {"PulseType": "Time based", "Period": "1", "PulseWidth": "25", "Amplitude": "3"},
         lambda t: 3.0 * (t % 1 < 0.25)),
        ("Reference", {"SourceBlock": "simulink/Sources/Ramp", "slope": "2", "start": "0.3"},
         lambda t: 2 * np.maximum(t - 0.3, 0)),
    ],
)  # fmt: skip
def test_sources_give_what_those_of_simulink_give(kind, values, want, tmp_path):
    model = Model(StopTime="1.9")
    model.block(kind, "source", (0, 1), **values)
    model.block("Outport", "y", (1, 0))
    model.chain("source", "y")
    _, results = run_of(model, tmp_path, every=0.07)
    np.testing.assert_allclose(results["source"].ravel(), want(results.t), atol=1e-9)


@pytest.mark.parametrize(
    ("kind", "values", "want"),
    [
        ("Gain", {"Gain": "[2 3]"}, [0.8, -3.0]),
        ("Gain", {"Gain": "[1 2; 3 4]", "Multiplication": "Matrix(K*u)"}, [-1.6, -2.8]),
        ("Product", {"Inputs": "*/"}, [1.0, 1.0]),
        ("Bias", {"Bias": "[1 2]"}, [1.4, 1.0]),
        ("Fcn", {"Expr": "u(1)^2 + sin(u[2])*k"}, 0.16 + 2 * np.sin(-1)),
        ("Selector", {"Indices": "[2 1]"}, [-1.0, 0.4]),
        ("Saturate", {"UpperLimit": "0.1", "LowerLimit": "-0.2"}, [0.1, -0.2]),
    ],
)
def test_vectors_pass_as_in_simulink(kind, values, want, tmp_path):
    (tmp_path / "v.m").write_text("k = 2;")
    model = Model(StopTime="0.1")
    model.block("Constant", "a", (0, 1), Value="0.4")
    model.block("Constant", "b", (0, 1), Value="-1")
    model.block("Mux", "mux", (2, 1), Inputs="2")
    model.line("a", ("mux", 1))
    model.line("b", ("mux", 2))
    inputs = 2 if kind == "Product" else 1
    model.block(kind, "f", (inputs, 1), **values)
    model.block("Outport", "y", (1, 0))
    model.line("mux", *(("f", k + 1) for k in range(inputs)))
    model.chain("f", "y")
    _, results = run_of(model, tmp_path, values=[tmp_path / "v.m"])
    np.testing.assert_allclose(np.ravel(results["f"][-1]), np.ravel(want), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_enabled_subsystems_stay_enabled(form, tmp_path):
    """The integral of 1 over the pulse, which is on for 0.4 s of each second."""
    inner = Model()
    inner.block("Inport", "rate", (0, 1))
    inner.block("EnablePort", "Enable", (0, 0), StatesWhenEnabling="held")
    inner.block("Integrator", "sum")
    inner.block("Outport", "total", (1, 0))
    inner.chain("rate", "sum", "total")
    model = Model(StopTime="1.7")
    model.block("Constant", "one", (0, 1))
    model.block("DiscretePulseGenerator", "on", (0, 1), PulseType="Time based", Period="1",
                PulseWidth="40")  # fmt: skip
    model.block("SubSystem", "watch", (1, 1), inner)
    model.block("Outport", "y", (1, 0))
    model.chain("one", "watch", "y")
    model.line("on", ("watch", "enable"))
    _, results = run_of(model, tmp_path, form)
    np.testing.assert_allclose(results["watch.total"].ravel()[-1], 0.8, atol=1e-6)


def test_what_cannot_be_carried_over_is_a_marked_hole_with_its_ports(tmp_path):
    model = Model()
    model.block("Constant", "c", (0, 1), Value="3*Kp")
    model.block("S-Function", "my filter", (1, 2), FunctionName="sfun")
    model.block("Integrator", "x", (2, 1), InitialConditionSource="external",
                LimitOutput="on")  # fmt: skip
    model.block("Terminator", "end", (1, 0))
    model.chain("c", "my filter", "x", "end")
    draft, _ = convert(model.write(tmp_path / "m.slx"))
    text = draft.text()
    (tmp_path / "m.yaml").write_text(text)
    assert "# NOT CONVERTED: my filter (S-Function): it is code, which is not run; here: " in text
    assert "inputs: [u1]\n    outputs: [y1, y2]" in text
    assert "# NOT CONVERTED: c_Value: 3*Kp, Value of c; Kp has no value" in text
    assert table(draft.rows)[0] == "4 blocks: 2 carried over, 0 changed, 2 not converted"
    with pytest.raises(DiagramError) as error:
        sb.load(tmp_path / "m.yaml")
    assert "c_Value" in str(error.value)
    filled = text.replace("Value: ", "Value: ").replace("params: {}", "params: {c_Value: 6}")
    (tmp_path / "m.yaml").write_text(filled)
    with pytest.raises(DiagramError) as error:
        sb.load(tmp_path / "m.yaml")
    lines = text.splitlines()
    for fault in error.value.faults:  # each is at a hole
        hole = [line for line in lines[: fault.place.line] if line.startswith("  hole_")]
        assert hole, str(fault)


def test_every_rule_gives_a_block_that_loads(tmp_path):
    """With the defaults of the library, and a signal at each input."""
    by_inputs = {
        2: "Sum Product DotProduct RelationalOperator Logic XYGraph Merge Concatenate Mux "
        "ManualSwitch Lookup2D VariableTransportDelay BusAssignment Assignment VariantSource "
        "ManualVariantSource LookupNDDirect",
        3: "Switch",
        4: "MultiPortSwitch Interpolation_n-D",
    }
    inputs = {kind: n for n, kinds in by_inputs.items() for kind in kinds.split()}
    inputs |= dict.fromkeys(
        ("cross product", "3x3 cross product", "minmax running resettable",
         "check dynamic lower bound", "check dynamic upper bound", "pid controller (2dof)",
         "discrete pid controller (2dof)"), 2)  # fmt: skip
    inputs |= dict.fromkeys(
        ("saturation dynamic", "dead zone dynamic", "rate limiter dynamic",
         "interval test dynamic", "check dynamic range", "check dynamic gap",
         "lookup table dynamic"), 3)  # fmt: skip
    inputs |= dict.fromkeys(
        ("Constant", "Ground", "Step", "ramp", "Sin", "SignalGenerator", "Clock", "DigitalClock",
         "DiscretePulseGenerator", "RandomNumber", "UniformRandomNumber", "repeating table",
         "repeating sequence", "repeating sequence stair", "repeating sequence interpolated",
         "From", "chirp signal", "band-limited white noise", "counter free-running",
         "counter limited", "FromWorkspace", "DataStoreRead", "identity matrix",
         "diagonal matrix", "GotoTagVisibility", "DataStoreMemory",
         "unit system configuration"), 0)  # fmt: skip
    labels = {"VariantControls": "{'a','b'}", "LabelModeActiveChoice": "b"}
    units = {"IU": "deg", "OU": "rad"}
    given = {
        "BusSelector": {"OutputSignals": "signal1"},
        "BusAssignment": {"AssignedSignals": "signal1"},
        "Lookup2D": {"RowIndex": "[1 2]", "ColumnIndex": "[1 2]", "Table": "[1 2; 3 4]"},
        "FromWorkspace": {"VariableName": "[0 1; 1 3]"},
        "VariantSource": labels, "ManualVariantSource": labels,
        "angle conversion": units, "UnitConversion": units,
    }  # fmt: skip
    model = Model(FixedStep="0.1")
    model.block("Constant", "c", (0, 1), Value="0.7")
    model.block("Constant", "v", (0, 1), Value="[0.7 1 2]")
    model.block("Constant", "w", (0, 1), Value="[0.7 1]")
    model.block("Constant", "m", (0, 1), Value="[2 1 0; 1 3 1; 0 1 4]")
    model.block("BusCreator", "bus", (1, 1))
    model.line("c", "bus")
    model.line("bus", "f BusSelector", "f BusToVector", ("f BusAssignment", 1))
    model.line("w", "f Demux")
    model.line("v", "f CombinatorialLogic", ("f Assignment", 1), ("f lookup table dynamic", 2),
               ("f lookup table dynamic", 3))  # fmt: skip
    wired = {end for _, ends, _ in model.lines for end in ends}
    for kind in TYPES:
        library = {"SourceBlock": f"simulink/Any/{kind}"} if kind.islower() else {}
        name = "Reference" if library else kind
        n = inputs.get(kind, 1)
        model.block(name, f"f {kind}", (n, 1), **{**library, **given.get(kind, {})})
        for k in range(n):
            end = (f"f {kind}", k + 1)
            if end not in wired:
                many = "cross" in kind or kind == "DotProduct"
                whole = "matrix" in kind or kind == "PermuteDimensions"
                model.line("v" if many else "m" if whole else "c", end)
    draft, _ = convert(model.write(tmp_path / "m.mdl"))
    assert not [row for row in draft.rows if row.state == "left"]
    (tmp_path / "m.yaml").write_text(draft.text())
    sb.load(tmp_path / "m.yaml")


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("2*[1 -2]", [2, -4]),
        ("[1 - 2, 3]", [-1, 3]),
        ("[1 2; 3 4]'", [[1, 3], [2, 4]]),
        ("[1 2; 3 4] * [1; 1]", [3, 7]),
        ("-2^2", -4),
        ("2^-1", 0.5),
        ("0:0.1:0.3", [0, 0.1, 0.2, 0.3]),
        ("eye(2)*sqrt(4)", [[2, 0], [0, 2]]),
        ("m(2,1) + p.k", 8),
        ("m(:,2)", [2, 4]),
        ("[zeros(1,2) pi]", [0, 0, np.pi]),
        ("1e3 > 5", 1),
    ],
)
def test_expressions_have_the_values_of_matlab(text, want):
    known = {"m": np.array([[1.0, 2.0], [3.0, 4.0]]), "p.k": 5.0}
    np.testing.assert_allclose(value_of(text, known), want, rtol=1e-15)


@pytest.mark.parametrize(
    "text",
    ["", "1 +", "[1 2", "system('ls')", "zeros(1e9)", "1:1e12", "(" * 300,
     "ones(400)*ones(400,999)", "[1 2] + [1 2 3]", "m(0)", "inv(zeros(2))",
     "a = 3", "ones(1e3,1) + ones(1,1e3)"],
)  # fmt: skip
def test_expressions_that_grow_or_fail_are_refused(text):
    with pytest.raises(UnreadableError):
        value_of(text, {"m": np.ones(3)})


def test_a_script_gives_its_assignments_and_tells_the_rest(tmp_path):
    path = tmp_path / "v.m"
    path.write_text(
        "clear all; clc\n%{\nq = 1;\n%}\na = [1, 2; ... rows\n 3, 4];\nb = a(1,2)*2; c = 'text';\n"
        "s.k = b + 1 % of b\nG = tf(1, [1 1]);\nfor i = 1:3, end\n"
    )
    found, left = read_workspace(path)
    assert found["b"] == 4
    assert found["s.k"] == 5
    assert "q" not in found
    np.testing.assert_array_equal(found["a"], [[1, 2], [3, 4]])
    assert any(":9: G was left out: tf is not known" in line for line in left)
    assert any(":10: no assignment of numbers" in line for line in left)


def test_a_mat_file_gives_its_numbers(tmp_path):
    savemat(tmp_path / "v.mat", {"Kp": 1.5, "x0": [0.25], "Tend": 4.0, "word": "no"})
    found, left = read_workspace(tmp_path / "v.mat")
    assert found == {"Kp": 1.5, "x0": 0.25, "Tend": 4.0}
    assert left == [f"{tmp_path / 'v.mat'}: word holds no real numbers"]


# --- files that are not trusted -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [("Model {\n  System {\n", 2), ("}\n", 1), ('Model {\n a "b\n}\n', 2), ("Model {\n}\n", 1),
     ('"a"\n', 1), ("Model {\n ???\n}\n", 2), ("x {\n" * 300, 101)],
)  # fmt: skip
def test_damaged_text_is_refused_with_its_line(text, line, tmp_path):
    (tmp_path / "m.mdl").write_text(text)
    with pytest.raises(InputError) as error:
        convert(tmp_path / "m.mdl")
    assert error.value.faults[0].place.line == line


BOMB = '<!DOCTYPE a [<!ENTITY b "bbbb">]><M><Model><System/>&b;</Model></M>'


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"simulink/blockdiagram.xml": BOMB}, "DOCTYPE"),
        ({"simulink/blockdiagram.xml": "<a><b></a>"}, "not well-formed"),
        ({"simulink/blockdiagram.xml": '<M><Model><System Ref="../../x"/></Model></M>'}, "missing"),
        (
            {
                "simulink/blockdiagram.xml": '<M><Model><System Ref="s"/></Model></M>',
                "simulink/systems/s.xml": '<System><Block><System Ref="s"/></Block></System>',
            },
            "contains itself",
        ),
        ({"simulink/blockdiagram.xml": "<M>" + "<a>" * 150 + "</a>" * 150 + "</M>"}, "deeply"),
        ({"other.xml": "<a/>"}, "no model of Simulink"),
    ],
)
def test_hostile_packages_are_refused(parts, problem, tmp_path):
    with zipfile.ZipFile(tmp_path / "m.slx", "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    with pytest.raises(InputError, match=problem):
        convert(tmp_path / "m.slx")


def test_what_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 100_000)
    with zipfile.ZipFile(tmp_path / "m.slx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("simulink/blockdiagram.xml", " " * 10**7)
    with pytest.raises(InputError, match="it unpacks to more than"):
        convert(tmp_path / "m.slx")


def test_files_that_are_none_are_refused(tmp_path):
    (tmp_path / "m.slx").write_bytes(b"PK\3\4 and no more")
    (tmp_path / "m.mdl").write_bytes(bytes(range(256)))
    (tmp_path / "m.txt").write_text("Model {")
    for name in ("m.slx", "m.mdl", "m.txt", "no.slx"):
        with pytest.raises(InputError):
            convert(tmp_path / name)
    (tmp_path / "m.slx").write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match=r"it is no \.slx file: .*not a zip"):
        convert(tmp_path / "m.slx")
