"""The blocks of mathematics: values, symbols, runs, C, and the times of their kinks and jumps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from output_cases import BlockCase, check_c, check_engines, check_fmu, check_symbols, check_values

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError, RunError
from spart_blocks.block_support.units import unit_of
from spart_blocks.blocks.mathematics import MATHEMATICS, ROUNDINGS, TRIGONOMETRY

A, B = 0.7, -2.3
V, W = [0.6, -1.25, 2.2], [1.3, 0.4, -0.7]
M = [[1.5, 2.25, -3.3], [0.4, 5.5, 6.75]]


def of(kind, function, *inputs, want):
    return BlockCase(kind, {"function": function}, inputs, want)


CASES = [
    BlockCase("ABS", {}, (B,), 2.3),
    BlockCase("ABS", {}, (M,), np.abs(M)),
    BlockCase("SIGN", {}, (V,), [1, -1, 1]),
    BlockCase("MINMAX", {}, (A, B), B),
    BlockCase("MINMAX", {"function": "max", "nin": 3}, (V, W, 0.5), [1.3, 0.5, 2.2]),
    BlockCase("MINMAX", {"nin": 1}, (V,), -1.25),
    BlockCase("MINMAX", {"function": "max", "nin": 1}, (M,), 6.75),
    BlockCase("MINMAX", {"nin": 1}, (A,), A),
    of("MATH", "exp", V, want=[math.exp(v) for v in V]),
    of("MATH", "log", 2.0, want=math.log(2)),
    of("MATH", "log2", 8.0, want=3),
    of("MATH", "log10", [1000.0, 0.5], want=[3, math.log10(0.5)]),
    of("MATH", "10^u", -2.0, want=0.01),
    of("MATH", "square", W, want=[w * w for w in W]),
    of("MATH", "sqrt", 2.25, want=1.5),
    of("MATH", "cube_root", -8.0, want=-2),
    of("MATH", "signed_sqrt", [-4.0, 9.0], want=[-2, 3]),
    of("MATH", "reciprocal_sqrt", 4.0, want=0.5),
    of("MATH", "reciprocal", [-4.0, 0.5], want=[-0.25, 2]),
    of("MATH", "pow", [2.0, 3.0], -1.5, want=[2**-1.5, 3**-1.5]),
    of("MATH", "hypot", 3.0, [-4.0, 4.0], want=[5, 5]),
    of("MATH", "mod", [5.3, -5.3, 5.3, -5.3], [3.0, 3.0, -3.0, -3.0], want=[2.3, 0.7, -0.7, -2.3]),
    of("MATH", "rem", [5.3, -5.3, 5.3, -5.3], [3.0, 3.0, -3.0, -3.0], want=[2.3, -2.3, 2.3, -2.3]),
    *(of("TRIG", name, A, want=getattr(math, name)(A)) for name in TRIGONOMETRY
      if name not in ("acosh", "atan2")),
    of("TRIG", "acosh", 2.0, want=math.acosh(2)),
    of("TRIG", "atan2", [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0],
       want=np.array([1, -1, 3, -3]) * math.pi / 4),
    of("ROUND", "floor", [2.4, -2.4], want=[2, -3]),
    of("ROUND", "ceil", [2.4, -2.4], want=[3, -2]),
    of("ROUND", "fix", [2.4, -2.4], want=[2, -2]),
    of("ROUND", "round", [2.3, -2.3, 2.7, -2.7], want=[2, -2, 3, -3]),
    BlockCase("ELEMENT_SUM", {}, (M,), np.sum(M)),
    BlockCase("ELEMENT_SUM", {}, (A,), A),
    BlockCase("ELEMENT_SUM", {"axis": 0}, (M,), np.sum(M, axis=0)),
    BlockCase("ELEMENT_SUM", {"axis": 1}, (M,), np.sum(M, axis=1)),
    BlockCase("ELEMENT_PRODUCT", {}, (V,), 0.6 * -1.25 * 2.2),
    BlockCase("ELEMENT_PRODUCT", {"axis": 1}, (M,), np.prod(M, axis=1)),
    BlockCase("DOT", {}, (V, W), 0.6 * 1.3 - 1.25 * 0.4 - 2.2 * 0.7),
    BlockCase("DOT", {}, (A, B), A * B),
    BlockCase("CROSS", {}, (V, W), np.cross(V, W)),
    BlockCase("POLYNOMIAL", {"coefficients": [1.0, -2.0, 0.5]}, (V,),
              [v * v - 2 * v + 0.5 for v in V]),
    BlockCase("POLYNOMIAL", {"coefficients": 3.0}, (A,), 3),
    BlockCase("UNIT_CONVERSION", {"from_unit": "deg", "to_unit": "rad"}, ([180.0, -90.0],),
              [math.pi, -math.pi / 2]),
    BlockCase("UNIT_CONVERSION", {"from_unit": "degF", "to_unit": "degC"}, (212.0,), 100),
]  # fmt: skip


def named(case):
    told = " ".join(str(value) for value in case.given.values())
    return f"{case.type} {told} {[np.shape(value) for value in case.inputs]}"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_block_gives_its_formula_s_value(case):
    check_values(case)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_traced_block_is_the_block(case):
    check_symbols(case)


def test_every_function_is_in_the_table():
    told = {(case.type, case.given.get("function")) for case in CASES}
    tables = {"MATH": MATHEMATICS, "TRIG": TRIGONOMETRY, "ROUND": ROUNDINGS}
    assert {(kind, name) for kind, table in tables.items() for name in table} <= told


def test_both_engines_give_the_same_signals(tmp_path):
    check_engines(CASES, tmp_path)


@pytest.mark.parametrize("real", ["double", "float"])
def test_the_c_of_the_blocks_is_the_program_s(tmp_path, real):
    check_c(CASES, tmp_path, real)


def test_an_fmu_of_the_blocks_is_the_program(tmp_path):
    check_fmu(CASES, tmp_path)


def output(kind, *inputs, **given):
    return BlockCase(kind, given, (), 0.0).block.output(0.0, list(inputs), None)[0]


def test_rounding_halves_is_matlab_s():
    u = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])
    np.testing.assert_array_equal(output("ROUND", u, function="round"), [-3, -2, -1, 1, 2, 3])


def test_whole_numbers_are_taken_as_floats():
    assert output("MATH", 2, function="reciprocal") == 0.5
    assert output("MATH", 2, -1, function="pow") == 0.5
    assert output("MATH", -7, 0, function="mod") == -7.0
    assert output("MATH", 0, function="reciprocal") == np.inf


# --- in a run ------------------------------------------------------------------------------

# Integrals over two seconds of sin(pi t), of t and of angles, by their kinks and jumps.
BENT = """
name: bent
blocks:
  t: {type: TIME}
  wave: {type: WAVEFORM, wave: sine, freq: 0.5}
  half: {type: FCN, expression: "0.6*u", arguments: [u]}
  ramps: {type: FCN, expression: ["u", "1.3 - u", "0.4"]}
  turn: {type: FCN, expression: "3*sin(0.4 + 3*u)"}
  along: {type: FCN, expression: "3*cos(0.4 + 3*u)"}
  third: {type: CONSTANT, value: 0.3}
  abs: {type: ABS}
  sign: {type: SIGN}
  min: {type: MINMAX, function: min, nin: 2}
  max: {type: MINMAX, function: max, nin: 1}
  mod: {type: MATH, function: mod}
  rem: {type: MATH, function: rem}
  angle: {type: TRIG, function: atan2}
  floor: {type: ROUND, function: floor}
  fix: {type: ROUND, function: fix}
  sums: {type: MUX, nin: 9}
  of: {type: INTEGRATOR, x0: [0, 0, 0, 0, 0, 0, 0, 0, 0]}
  fives: {type: GAIN, K: 5}
wires:
  - wave -> abs, sign, min.0
  - t -> half, ramps, turn, along, mod.0, rem.0, fives
  - half -> min.1
  - ramps -> max
  - third -> mod.1, rem.1
  - turn -> angle.0
  - along -> angle.1
  - fives -> floor, fix
  - abs -> sums.0
  - sign -> sums.1
  - min -> sums.2
  - max -> sums.3
  - mod -> sums.4
  - rem -> sums.5
  - angle -> sums.6
  - floor -> sums.7
  - fix -> sums.8
  - sums -> of
run: {T: 2, rtol: 1.0e-10, atol: 1.0e-12, log: [of]}
"""


def closed_forms():
    # sin(pi t) = 0.6 t at `meet`; before it 0.6 t is smaller.
    from scipy.optimize import brentq

    meet = brentq(lambda t: np.sin(np.pi * t) - 0.6 * t, 0.5, 1)
    smaller = 0.3 * meet**2 + (np.cos(np.pi * meet) - 1) / np.pi
    # max(t, 1.3 - t): they meet at 0.65.
    largest = (1.3 * 0.65 - 0.65**2 / 2) + (4 - 0.65**2) / 2
    saw = 6 * 0.3**2 / 2 + 0.2**2 / 2
    jump = (np.pi - 0.4) / 3
    angle = 0.4 * 2 + 6 - 2 * np.pi * (2 - jump)
    return [4 / np.pi, 0, smaller, largest, saw, saw, angle, sum(range(10)) / 5, sum(range(10)) / 5]


@pytest.mark.parametrize("solver", ["RK45", "Radau", "RK4"])
def test_integrals_of_bent_signals_have_their_closed_forms(tmp_path, solver):
    (tmp_path / "bent.yaml").write_text(BENT)
    got = sb.simulate(tmp_path / "bent.yaml", solver=solver, engine="native", max_step=0.01)
    # A fixed step that ends at each kink is as exact as one without.
    np.testing.assert_allclose(got["of"][-1], closed_forms(), atol=1e-7)


def test_the_interpreter_gives_the_same_integrals(tmp_path):
    (tmp_path / "bent.yaml").write_text(BENT)
    got = sb.simulate(tmp_path / "bent.yaml", engine="interpreter")
    np.testing.assert_allclose(got["of"][-1], closed_forms(), atol=1e-6)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_value_outside_a_function_s_domain_ends_the_run(tmp_path, engine):
    (tmp_path / "log.yaml").write_text(
        "blocks:\n  t: {type: FCN, expression: 0.5 - u}\n  u: {type: TIME}\n"
        "  log: {type: MATH, function: log}\n  x: {type: INTEGRATOR}\n"
        "wires: [u -> t, t -> log, log -> x]\nrun: {T: 1}\n"
    )
    with pytest.raises(RunError, match="log"):
        sb.simulate(tmp_path / "log.yaml", engine=engine)


# --- units ---------------------------------------------------------------------------------

# From, to, and the value of one of the first: NIST SP 811 (2008), appendix B.8.
FACTORS = [
    ("deg", "rad", 1.745329e-2), ("arcsec", "rad", 4.848137e-6), ("rev", "rad", 6.283185),
    ("rpm", "rad/s", 1.047198e-1), ("rpm", "deg/s", 6.0), ("km", "m", 1000.0),
    ("ft", "m", 0.3048), ("mi", "km", 1.609344), ("nmi", "m", 1852.0), ("au", "m", 1.495979e11),
    ("lb", "kg", 4.535924e-1), ("slug", "kg", 14.59390), ("lbf", "N", 4.448222),
    ("lbf ft", "N m", 1.355818), ("lbf/ft", "N/m", 14.59390), ("psi", "Pa", 6894.757),
    ("psi", "kPa", 6.894757), ("atm", "Pa", 1.01325e5), ("bar", "Pa", 1e5),
    ("mi/h", "m/s", 4.4704e-1), ("kn", "m/s", 5.144444e-1), ("km/h", "m/s", 1 / 3.6),
    ("hp", "W", 745.6999), ("Wh", "J", 3600.0), ("cal", "J", 4.184), ("eV", "J", 1.602177e-19),
    ("h", "s", 3600.0), ("d", "s", 86400.0), ("min", "s", 60.0), ("us", "s", 1e-6),
    ("G", "T", 1e-4), ("uT", "nT", 1000.0), ("lb ft^2", "kg m^2", 4.214011e-2),
    ("l/min", "m^3/s", 1.666667e-5), ("g0", "m/s^2", 9.80665), ("%", "1", 0.01),
    ("N m s^2", "kg*m^2", 1.0), ("V A", "W", 1.0), ("kHz", "1/s", 1000.0),
    ("Ohm F", "s", 1.0), ("H/Ohm", "s", 1.0), ("m s^-2", "m/s^2", 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "value"), FACTORS)
def test_units_convert_by_the_published_factors(one, other, value):
    assert output("UNIT_CONVERSION", 1.0, from_unit=one, to_unit=other) == pytest.approx(
        value, rel=1e-6
    )
    assert output("UNIT_CONVERSION", value, from_unit=other, to_unit=one) == pytest.approx(
        1, rel=1e-6
    )


def test_temperatures_have_their_zeros():
    def at(value, one, other):
        return output("UNIT_CONVERSION", value, from_unit=one, to_unit=other)

    assert at(0.0, "degC", "K") == 273.15
    assert at(-40.0, "degC", "degF") == pytest.approx(-40)
    assert at(0.0, "K", "degF") == pytest.approx(-459.67)


def test_the_ports_have_the_units():
    block = BlockCase("UNIT_CONVERSION", {"from_unit": "km/h", "to_unit": "m/s"}, (), 0.0).block
    assert (block.in_ports[0].unit, block.out_ports[0].unit) == ("km/h", "m/s")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("feet", "'feet', which is no unit"),
        ("m//s", "a slash stands between two units"),
        ("/s", "a slash stands between two units"),
        ("m/", "a slash stands between two units"),
        ("m^1.5", "'m^1.5', which is no unit"),
        ("m^99", "'m^99', which is no unit"),
        ("degC/s", "degC in a product"),
        ("", "must be a unit"),
        ("m " * 60, "must be a unit"),
        (3, "must be a unit"),
    ],
)
def test_what_is_no_unit_is_refused(text, told):
    with pytest.raises(InputError) as refused:
        unit_of(text, "from_unit")
    assert told in str(refused.value)
    assert "from_unit" in str(refused.value)


# --- what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("MINMAX, function: mean", "function must be one of min, max"),
        ("MINMAX, nin: 0", "nin of b (MINMAX) is 0; it must be 1 to 1000"),
        ("MATH, function: exq", "did you mean 'exp'"),
        ("TRIG, function: arctan", "function must be one of sin, cos"),
        ("ROUND, function: up", "function must be one of floor, ceil, fix, round"),
        ("ELEMENT_SUM, axis: 2", "axis must be 0 or 1"),
        ("ELEMENT_SUM, axis: [0]", "axis must be 0 or 1"),
        ("ELEMENT_PRODUCT, axis: 0.5", "axis must be 0 or 1"),
        ("POLYNOMIAL, coefficients: []", "coefficients must be a number or a list"),
        ("POLYNOMIAL, coefficients: [.nan]", "coefficients must be finite"),
        ("UNIT_CONVERSION, from_unit: deg, to_unit: m", "deg is rad in SI units, and m is m"),
        ("UNIT_CONVERSION, from_unit: N m, to_unit: W", "kg m^2/s^2 in SI units, and W is"),
        ("UNIT_CONVERSION, from_unit: rpm, to_unit: Hz", "rpm is rad/s in SI units, and Hz is 1/s"),
    ],
)  # fmt: skip
def test_a_wrong_parameter_is_refused_where_it_is_written(tmp_path, block, told):
    path = tmp_path / "diagram.yaml"
    path.write_text(f"blocks:\n  u: {{type: TIME}}\n  b: {{type: {block}}}\n")
    with pytest.raises(DiagramError) as refused:
        sb.load(path)
    assert told in str(refused.value)
    assert "diagram.yaml:3:" in str(refused.value)


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("CROSS", r"u is \(2,\), b.a takes \(3,\)"),
        ("ELEMENT_SUM, axis: 1", r"u is \(2,\), it has no axis 1"),
    ],
)
def test_a_signal_of_a_wrong_shape_is_refused(tmp_path, block, told):
    second = ", v -> b.1" if block == "CROSS" else ""
    path = tmp_path / "diagram.yaml"
    path.write_text(
        "blocks:\n  u: {type: CONSTANT, value: [1, 2]}\n  v: {type: CONSTANT, value: [1, 2, 3]}\n"
        f"  b: {{type: {block}}}\nwires: [u -> b.0{second}]\n"
    )
    with pytest.raises(sb.SpartError, match=told):
        sb.simulate(path, T=0.1)
