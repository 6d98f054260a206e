"""FMUs of diagrams with `sliding: filippov` against closed forms: sliding modes and balls at rest,
in co-simulation and by every importer's model exchange."""

import zipfile

import importers
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu
from fmus import instance, references

import spart_blocks as sb
from spart_blocks.diagram import as_diagram
from spart_blocks.export import export_fmu, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of

RUN = "run: {T: %s, sliding: filippov, rtol: 1.0e-9, atol: 1.0e-11, max_step: 0.04}\n"
TIGHT = {"rtol": 1e-9, "atol": 1e-11, "max_step": 0.04, "sliding": "filippov"}

SIGN = """
name: sign
blocks:
  f: {type: FCN, expression: "-sign(u)"}
  x: {type: INTEGRATOR, x0: 0.5}
wires: [f -> x, x -> f]
"""
RELAY = """
name: relay
blocks:
  t: {type: TIME}
  r: {type: RELAY, on: 0, off: 0, on_value: -1, off_value: 1, initial: auto}
  f: {type: FCN, expression: "a + s/2", arguments: [a, s]}
  x: {type: INTEGRATOR, x0: 0.25}
wires: [f -> x, x -> r, r -> f.a, t -> f.s]
"""
DOUBLE = """
name: double
blocks:
  f: {type: FCN, expression: "-sign(x + v)", arguments: [x, v]}
  v: {type: INTEGRATOR, x0: 0.5}
  x: {type: INTEGRATOR, x0: 1}
wires: [f -> v, v -> x, x -> f.x, v -> f.v]
"""
LEAVES = """
name: leaves
blocks:
  f: {type: FCN, expression: "-sign(x) + t/2", arguments: [x]}
  x: {type: INTEGRATOR, x0: 0.25}
wires: [f -> x, x -> f.x]
"""
STEPPED = """
name: stepped
blocks:
  r: {type: STEP, T: 1, on: 1}
  f: {type: FCN, expression: "-sign(x - r)", arguments: [x, r]}
  x: {type: INTEGRATOR, x0: 0.25}
wires: [f -> x, x -> f.x, r -> f.r]
"""
COUPLED = """
name: coupled
blocks:
  f: {type: FCN, expression: "-sign(x) + 0.5*sign(y)", arguments: [x, y]}
  g: {type: FCN, expression: "-0.5*sign(x) - sign(y) + 0.2", arguments: [x, y]}
  h: {type: FCN, expression: "1 + sign(x)*sign(y) + sign(x)", arguments: [x, y]}
  x: {type: INTEGRATOR, x0: 0.3}
  y: {type: INTEGRATOR, x0: 0.2}
  z: {type: INTEGRATOR}
wires: [f -> x, g -> y, h -> z, "x -> f.x, g.x, h.x", "y -> f.y, g.y, h.y"]
"""
JUMPS = """
name: jumps
blocks:
  x: {type: INTEGRATOR, x0: 10}
  v: {type: INTEGRATOR}
  pull: {type: GAIN, K: -1}
  f: {type: FCN, expression: "atan2(-0.1, 9.4 - x - 0.1*v)", arguments: [x, v]}
wires: [v -> x, x -> pull, pull -> v, x -> f.x, v -> f.v]
"""
FALL = np.sqrt(0.2)
"""From 1 m at 10 m/s^2."""


def double(t):
    """x = 1 + t / 2 - t^2 / 2 until x + v = 0, and x' = -x from there."""
    start = (-0.5 + np.sqrt(3.25)) / 1.0
    x = 1 + 0.5 * np.minimum(t, start) - np.minimum(t, start) ** 2 / 2
    return x * np.exp(-np.maximum(t - start, 0))


def leaves(t):
    """x = 0.25 - t + t^2 / 4 down to zero at 2 - sqrt 3, and x' = t / 2 - 1 from t = 2 on."""
    return np.where(t < 1, np.maximum(0.25 - t + t**2 / 4, 0), np.maximum(t - 2, 0) ** 2 / 4)


def coupled(t):
    """z: from where both x and y are zero, its slope is 1 + u v + u with the mean signs u, v of
    -u + v / 2 = 0 and -u / 2 - v + 1 / 5 = 0. Before, y falls at 1.3 to zero, and x at 0.5 + u."""
    v = 0.2 / 1.25
    u = v / 2
    y0 = 0.2 / 1.3
    mean = -0.3  # of the sign of y on y = 0 beside x > 0
    x0 = y0 + (0.3 - 0.5 * y0) / (1 - 0.5 * mean)
    z = 3 * np.minimum(t, y0) + (2 + mean) * np.clip(t - y0, 0, x0 - y0)
    return z + (1 + u * v + u) * np.maximum(t - x0, 0)


CASES = {
    "sign": (SIGN, "x", 2.0, lambda t: np.maximum(0.5 - t, 0), ["slides"]),
    "relay": (RELAY, "x", 4.0, leaves, ["slides", "leaves"]),
    "double": (DOUBLE, "x", 4.0, double, ["slides"]),
    "leaves": (LEAVES, "x", 4.0, leaves, ["slides", "leaves"]),
    "stepped": (
        *(STEPPED, "x", 3.0),
        lambda t: np.interp(t, [0, 0.25, 1, 2, 3], [0.25, 0, 0, 1, 1]),
        ["slides", "leaves", "slides"],
    ),
    "coupled": (COUPLED, "z", 2.0, coupled, ["slides", "slides"]),
    "jumps": (JUMPS, "x", 7.0, lambda t: 10 * np.cos(t), []),
}


def ball(keeps, gravity="constant"):
    """A ball on a floor, which keeps this part of its speed at a bounce."""

    def bounce(event, states):
        (speed,) = (x for block, x in states.items() if block.name == "v")
        speed[:] = -keeps * speed

    d = sb.new_diagram("ball")
    turning = gravity == "turns"
    g = d.STEP(T=1.0, off=-10.0, on=2.0, name="g") if turning else d.CONSTANT(-10.0, name="g")
    v, y = d.INTEGRATOR(x0=0.0, name="v"), d.INTEGRATOR(x0=1.0, name="y")
    ground = d.EVENT("-", bounce, name="ground")
    d.connect(g, v)
    d.connect(v, y)
    d.connect(y, ground)
    return d


def settled(diagram, sliding, T=2.0):
    """The diagram, with how it meets surfaces."""
    diagram = as_diagram(diagram)
    run = diagram.run.model_copy(update={**TIGHT, "sliding": sliding, "T": T})
    return diagram.with_sections(run=run)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The part of a diagram and its FMU, each of them once."""
    folder, done = tmp_path_factory.mktemp("sliding"), {}

    def make(key, source, version=3, **options):
        name = f"{key}{version}{''.join(map(str, options.values()))}"
        if name not in done:
            diagram = source()
            if isinstance(diagram, str):
                path = folder / f"{name}.yaml"
                path.write_text(diagram)
                diagram = path
            part = subdiagram_of(diagram)
            done[name] = part, export_fmu(part, folder / f"{name}.fmu", version, **options)
        return done[name]

    return make


def of_case(made, case, *arguments, **options):
    text, *rest = CASES[case]
    return *made(case, lambda: text + RUN % rest[1], *arguments, **options), *rest


def stepped(fmu, part, times, names):
    """The states of these blocks at times of co-simulation."""
    at, rows = references(part), []
    get = fmu.getFloat64 if hasattr(fmu, "getFloat64") else fmu.getReal
    for k, t in enumerate(times):
        if k:
            fmu.doStep(times[k - 1], t - times[k - 1])
        rows.append([get([at[f"the state of {name}"]])[0] for name in names])
    return np.array(rows)


@pytest.mark.parametrize("options", [{}, {"rate": 100.0}], ids=["controlled", "equal steps"])
@pytest.mark.parametrize("case", CASES)
def test_co_simulation_slides_as_the_closed_form(case, options, made):
    part, path, name, T, exact, told = of_case(made, case, **options)
    times = np.linspace(0, T, 51)
    with instance(path) as fmu:
        found = stepped(fmu, part, times, [name])[:, 0]
        said = [line.split()[2] for line in fmu.said]
    assert said == told
    assert np.abs(found - exact(times)).max() < 1e-8


@pytest.mark.parametrize("way", importers.WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("case", CASES)
def test_model_exchange_slides_as_the_closed_form(case, way, made):
    version = 2 if case in ("double", "stepped") else 3
    _, path, name, T, exact, _ = of_case(made, case, version)
    times = np.linspace(0, T, 41)
    found = importers.run(way, path, times, [name])[:, 0]
    assert np.abs(found - exact(times)).max() < 1e-7


def test_it_stays_at_zero_exactly(made):
    part, path, *_ = of_case(made, "sign")
    with instance(path) as fmu:
        found = stepped(fmu, part, [0.0, 0.7, 1.0, 1.9, 5.0], ["x"])
    assert np.all(found[1:] == 0)


def test_any_communication_step_leaves_at_the_same_time(made):
    part, path, *_ = of_case(made, "leaves")
    ends = []
    for times in ([0.0, 4.0], np.linspace(0, 4, 37), [0.0, 0.268, 1.9999, 2.0001, 4.0]):
        with instance(path) as fmu:
            ends.append(stepped(fmu, part, times, ["x"])[-1, 0])
            left = float(fmu.said[-1].split()[-2])
        assert left == pytest.approx(2, abs=1e-8)
    assert ends == pytest.approx([1.0] * 3, abs=1e-8)


@pytest.mark.parametrize("case", ["double", "coupled"])
def test_an_fmu_agrees_with_a_simulation(case, made, tmp_path):
    part, path, _, T, *_ = of_case(made, case)
    times = np.array([0.0, 0.1, 0.35, 1.3, 1.31, T])
    names = [slot.name for slot in part.program.states]
    got = sb.simulate(part.program, T=T, every=0.01, log=names, **TIGHT).at(times)
    with instance(path) as fmu:
        found = stepped(fmu, part, times, names)
    want = np.stack([np.ravel(got[name]) for name in names], axis=1)
    assert np.abs(found - want).max() < 1e-6


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_a_state_taken_while_it_slides_goes_on_sliding(kind, made):
    part, path, *_ = of_case(made, "leaves")
    at = references(part)
    with instance(path, kind) as fmu:
        if kind == "ModelExchange":
            model = importers.Model(fmu, importers.fmpy.read_model_description(str(path)), ["x"])
            run = importers.never_beyond(model, [0.0, 1.0], model.settle())
            assert next(iter(run))[0] == pytest.approx(0, abs=1e-12)
        else:
            stepped(fmu, part, [0.0, 1.0], ["x"])
        kept = fmu.getFMUState()
        data = fmu.serializeFMUState(kept)
        fmu.reset()
        if kind == "ModelExchange":
            fmu.enterInitializationMode()
            fmu.exitInitializationMode()
            assert model.settle().next == np.inf
            slope = [at["the derivative of the state of x"]]
            assert fmu.getFloat64(slope)[0] == pytest.approx(-1)
            fmu.setFMUState(fmu.deserializeFMUState(data))
            assert fmu.getFloat64(slope)[0] == pytest.approx(0, abs=1e-12)
        else:
            fmu.enterInitializationMode()
            fmu.exitInitializationMode()
            assert stepped(fmu, part, [0.0, 0.1], ["x"])[-1, 0] == pytest.approx(0.1525)
            for _ in range(2):
                fmu.setFMUState(kept)
                assert stepped(fmu, part, [1.0, 1.5, 3.0], ["x"])[:, 0] == pytest.approx(
                    [0, 0, 0.25], abs=1e-8
                )
            fmu.setFMUState(fmu.deserializeFMUState(data))
            assert stepped(fmu, part, [1.0, 3.0], ["x"])[-1, 0] == pytest.approx(0.25, abs=1e-8)
        fmu.freeFMUState(kept)


def test_a_motion_along_surfaces_has_no_derivatives_to_give(made):
    part, path, *_ = of_case(made, "sign")
    with zipfile.ZipFile(path) as archive:
        assert b"Derivatives=" not in archive.read("modelDescription.xml")
    at = references(part)["the state of x"]
    with instance(path) as fmu:
        with pytest.raises(FMICallException):
            fmu.getDirectionalDerivative([at], [at], [1.0])
        assert "no directional derivatives" in fmu.said[-1]


# --- balls --------------------------------------------------------------------------------


@pytest.mark.parametrize("keeps", [0.5, 0.0])
def test_a_ball_rests_after_its_last_bounce(keeps, made):
    source = lambda: settled(ball(keeps), "filippov")  # noqa: E731
    part, path = made(f"ball{keeps}", source)
    times = np.linspace(0, 4, 41)
    end = FALL * (1 + keeps) / (1 - keeps)
    with instance(path) as fmu:
        found = stepped(fmu, part, times, ["y", "v"])
        assert fmu.said[-1].startswith("block ground rests at zero")
        assert float(fmu.said[-1].split()[-2]) == pytest.approx(end, abs=1e-7)
    assert np.abs(found[times > end]).max() < 1e-12
    assert found[:, 0].min() > -1e-9


def test_a_ball_at_rest_is_lifted_off_by_what_pulls_it(made):
    part, path = made("lifted", lambda: settled(ball(0.0, "turns"), "filippov"))
    with instance(path) as fmu:
        found = stepped(fmu, part, [0.0, 0.8, 1.0, 1.5, 2.0], ["y"])[:, 0]
        assert [line.split(" at t")[0] for line in fmu.said] == [
            "block ground rests at zero",
            "block ground leaves zero",
        ]
    assert found == pytest.approx([1, 0, 0, 0.25, 1], abs=1e-7)


@pytest.mark.parametrize("way", importers.WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("tolerance", [1e-6, 1e-10])
def test_a_ball_rests_by_every_way_of_solving(tolerance, way, made):
    _, path = made("ball0.5", lambda: settled(ball(0.5), "filippov"))
    times = np.linspace(0, 4, 41)
    found = importers.run(way, path, times, ["y"], tolerance=tolerance)[:, 0]
    assert np.abs(found[times > 1.4]).max() < 1e-12
    assert found.min() > -100 * tolerance


@pytest.mark.parametrize("keeps", [0.5, 0.8])
@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
def test_a_ball_ends_with_an_error_where_its_bounces_accumulate(tolerance, keeps, made):
    _, path = made(f"error{keeps}", lambda: settled(ball(keeps), "error"))
    said = []
    with pytest.raises(FMICallException):
        importers.fmpy.simulate_fmu(
            str(path),
            fmi_type="ModelExchange",
            stop_time=8.0,
            relative_tolerance=tolerance,
            debug_logging=True,
            fmi_call_logger=None,
            logger=lambda *arguments: said.append(arguments[-1].decode()),
        )
    assert said[-1].startswith("the resets of block ground accumulate (Zeno)")
    at = float(said[-1].split(" at t = ")[1].split()[0])
    assert at == pytest.approx(FALL * (1 + keeps) / (1 - keeps), abs=20 * tolerance**0.5)


@pytest.mark.parametrize(("case", "version"), [("sign", 3), ("double", 2)])
def test_it_is_an_fmu_that_other_tools_find_right(case, version, made):
    part, path, *_ = of_case(made, case, version)
    assert validate_fmu(str(path)) == []
    found = verify_fmu(path, part, horizon=2.0)
    assert found.passed, found
