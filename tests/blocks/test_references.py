"""References for joints and frames: closed forms, and rates that are derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from output_cases import sampled
from robots import rate
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, Slerp

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.build.registry import find_type

TIMES = [0.0, 0.4, 1.0, 1.3, 2.1]
POINTS = [[0.0, 0.3], [0.5, -0.2], [0.4, 0.9], [1.2, 0.1], [1.0, 0.0]]
AXIS = np.array([1.0, -2.0, 0.5])

# Every kind of reference, all moving from 0.2 s to 2.5 s at most.
CASES = {
    "quintic": ("QUINTIC", {"q0": [0.1, -0.2], "qf": [1.0, 2.0], "duration": 2.0, "T": 0.2}),
    "quintic with rates": (
        "QUINTIC",
        {"q0": 0.1, "qf": [1.0, 2.0], "duration": 1.5, "rate0": [0.3, 0.0], "ratef": -0.4},
    ),
    "quintic of a scalar": ("QUINTIC", {"q0": 0.1, "qf": 1.0, "duration": 2.0}),
    "trapezoidal": (
        "TRAPEZOID",
        {"q0": [0, 1], "qf": [1.0, 0.5], "velocity": 0.8, "acceleration": [2.0, 3.0], "T": 0.2},
    ),
    "trapezoidal, short": (
        "TRAPEZOID",
        {"q0": [0, 1], "qf": [0.1, 1], "velocity": 0.8, "acceleration": [2.0, 3.0], "T": 0.2},
    ),
    "trapezoidal, at rest": (
        "TRAPEZOID",
        {"q0": [0.0, 1.0], "qf": [0.0, 1.0], "velocity": 0.8, "acceleration": 2.0, "T": 0.2},
    ),
    "trapezoidal in a time": (
        "TRAPEZOID", {"q0": 0.0, "qf": 1.0, "duration": 2.0, "blend": 0.25, "T": 0.2},
    ),
    "via points": ("VIA_POINTS", {"points": POINTS, "times": TIMES}),
    "via points, natural": ("VIA_POINTS", {"points": POINTS, "times": TIMES, "method": "natural"}),
    "via points, quintic": ("VIA_POINTS", {"points": POINTS, "times": TIMES, "method": "quintic"}),
    "via points in limits": ("VIA_POINTS", {"points": [0, 1, 0.5], "velocity": 2.0, "T": 0.3}),
    "circle": (
        "CIRCLE",
        {"centre": [1, 2, 3], "radius": 0.5, "normal": AXIS, "period": 2.0, "phase": 0.3},
    ),
    "circle with a smooth start": (
        "CIRCLE", {"centre": [1, 2, 3], "radius": 0.5, "rate": -2.0, "T": 0.2, "rise": 0.7},
    ),
    "pose": (
        "CARTESIAN_QUINTIC",
        {
            "r0": [1, 2, 3], "rf": [0, 2, 5], "duration": 2.0, "T": 0.2,
            "attitude0": [0.5, 0.5, 0.5, 0.5], "attitudef": [0, 0, 0.6, 0.8],
        },
    ),
}  # fmt: skip


def built(name, **changes):
    kind, parameters = CASES[name]
    bd = sb.new_diagram("references")
    return bd, find_type(kind).construct(bd, "reference", {**parameters, **changes})


def switching(block):
    return np.array([first for first, _ in block.edges()])


def between_switches(block, margin=0.01):
    t = np.linspace(-0.3, 3.0, 67)
    return t[np.abs(t[:, None] - switching(block)).min(axis=1) > margin]


@pytest.mark.parametrize("name", CASES)
def test_rate_and_acceleration_are_the_derivatives(name):
    _, block = built(name)
    first, second = (3, 4) if name == "pose" else (1, 2)
    for t in between_switches(block):
        out = block.output(t, [], None)
        value = rate(lambda h, t=t: block.output(t + h, [], None)[0])
        if name == "pose":
            R = out[1]
            omega = rate(lambda h, t=t: block.output(t + h, [], None)[1]) @ R.T
            value = np.concatenate([[omega[2, 1], omega[0, 2], omega[1, 0]], value])
        np.testing.assert_allclose(out[first], value, rtol=0, atol=1e-9)
        slope = rate(lambda h, t=t: block.output(t + h, [], None)[first])
        np.testing.assert_allclose(out[second], slope, rtol=0, atol=1e-9)


JUMPS = {"trapezoidal", "trapezoidal, short", "trapezoidal in a time", "via points",
         "via points, natural", "via points in limits", "circle"}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_acceleration_is_continuous_where_it_should_be(name):
    _, block = built(name)
    jumps = []
    for t in switching(block):
        before, after = (block.output(t + s, [], None) for s in (-1e-9, 1e-9))
        np.testing.assert_allclose(before[0], after[0], atol=1e-8)
        jumps.append(
            max(np.abs(np.subtract(a, b)).max() for a, b in zip(before, after, strict=True))
        )
    # A jerk of some hundred in 2 ns is no jump.
    assert (max(jumps) > 1e-2) == (name in JUMPS), jumps


def test_both_engines_give_the_same():
    bd = sb.new_diagram("all")
    for k, (kind, parameters) in enumerate(CASES.values()):
        find_type(kind).construct(bd, f"reference{k}", parameters)
    bd.connect(bd.blocknames["reference0"][0], bd.INTEGRATOR(x0=[0.0, 0.0], name="sum"))
    names = [f"reference{k}.{port.name}" for k in range(len(CASES))
             for port in bd.blocknames[f"reference{k}"].out_ports]  # fmt: skip
    one, other = (
        sb.simulate(bd, T=2.5, every=0.02, log=names, engine=engine)
        for engine in ("native", "interpreter")
    )
    assert one.info["engine"] == "native"
    for k, name in enumerate(CASES):
        for port in bd.blocknames[f"reference{k}"].out_ports:
            signal = f"reference{k}.{port.name}"
            assert one[signal].shape[1:] == port.shape, name
            np.testing.assert_allclose(one[signal], other[signal], rtol=1e-10, atol=1e-12)


# --- each in closed form ---------------------------------------------------------------------


def test_a_quintic_meets_its_boundary_values():
    # Siciliano et al. (2009), sec. 4.2.1: six conditions fix six coefficients.
    _, block = built("quintic with rates", T=0.5)
    for t, want in ((0.5, (0.1, [0.3, 0.0], 0.0)), (2.0, ([1.0, 2.0], -0.4, 0.0))):
        for got, value in zip(block.output(t, [], None), want, strict=True):
            np.testing.assert_allclose(got, np.broadcast_to(value, 2), atol=1e-13)
    q, u, a = block.output(3.0, [], None)
    np.testing.assert_allclose(q, [0.6, 1.6], atol=1e-13)  # on at the rate of its end
    np.testing.assert_allclose(u, -0.4)
    np.testing.assert_allclose(a, 0.0, atol=1e-12)


def test_a_quintic_is_fastest_half_way_at_15_eighths_of_the_mean_rate():
    # Lynch and Park (2017), 9.2.2.1: for 10 s^3 - 15 s^4 + 6 s^5 the largest rate is 15/8.
    _, block = built("quintic of a scalar")
    q, u, a = block.output(1.0, [], None)
    assert (q, u, a) == (pytest.approx(0.55), pytest.approx(15 / 8 * 0.45), pytest.approx(0))


def test_a_trapezoid_has_the_area_of_the_way_and_keeps_to_its_limits():
    _, block = built("trapezoidal")
    start, cruise, _, end = block.marks()
    # |way| (1, 0.5), limits 0.8 and (2, 3): the first joint is slowest in both.
    assert (cruise - start, end - start) == (pytest.approx(0.4), pytest.approx(1 / 0.8 + 0.4))
    t = np.linspace(start, end, 4001)
    q, u, a = sampled(block, t)
    np.testing.assert_allclose(np.trapezoid(u, t, axis=0), [1.0, -0.5], atol=1e-6)
    np.testing.assert_allclose(np.abs(u).max(axis=0), [0.8, 0.4])
    np.testing.assert_allclose(np.abs(a).max(axis=0), [2.0, 1.0])
    np.testing.assert_allclose(q[:, 1] - 1, -0.5 * q[:, 0], atol=1e-14)  # a straight line
    np.testing.assert_allclose(q[[0, -1]], [[0, 1], [1, 0.5]], atol=1e-15)


def test_a_trapezoid_too_short_for_its_rate_is_a_triangle():
    # sqrt(way / acceleration) = sqrt(0.05) s up, and as much down.
    _, block = built("trapezoidal, short")
    start, cruise, brake, end = block.marks()
    assert cruise == pytest.approx(brake, abs=1e-12)
    assert end - start == pytest.approx(2 * np.sqrt(0.05))
    assert block.output(cruise, [], None)[1][0] == pytest.approx(np.sqrt(0.1 * 2))


def test_a_trapezoid_in_a_given_time_cruises_between_its_blends():
    _, block = built("trapezoidal in a time")
    assert block.marks() == pytest.approx((0.2, 0.7, 1.7, 2.2))
    assert block.output(1.2, [], None)[1] == pytest.approx(1 / 1.5)
    _, block = built("trapezoidal in a time", blend=None)
    assert block.output(1.2, [], None)[1] == pytest.approx(1.5 / 2)  # lspb's own, 1.5 way/time


@pytest.mark.parametrize(("name", "ends"), [("via points", "clamped"),
                                            ("via points, natural", "natural")])  # fmt: skip
def test_splines_are_those_of_scipy(name, ends):
    _, block = built(name)
    t = np.linspace(TIMES[0], TIMES[-1], 301)[:-1]
    spline = CubicSpline(TIMES, POINTS, bc_type=ends)
    for order, values in enumerate(sampled(block, t)):
        want = spline(t, order)
        np.testing.assert_allclose(values, want, rtol=0, atol=1e-12 * np.abs(want).max())


def test_quintic_pieces_pass_their_points_at_the_rates_of_their_neighbours():
    _, block = built("via points, quintic")
    q, u, a = sampled(block, TIMES)
    slopes = np.diff(POINTS, axis=0) / np.diff(TIMES)[:, None]
    np.testing.assert_allclose(q, POINTS, atol=1e-13)
    np.testing.assert_allclose(a, 0.0, atol=1e-11)
    np.testing.assert_allclose(u[[0, -1]], 0.0, atol=1e-13)
    assert slopes[0, 0] > 0 > slopes[1, 0]  # the first joint turns back at the second point
    np.testing.assert_allclose(u[1, 0], 0.0, atol=1e-13)
    np.testing.assert_allclose(u[3, 1], (slopes[2, 1] + slopes[3, 1]) / 2)
    rates = np.arange(10.0).reshape(5, 2)
    _, block = built("via points, quintic", rates=rates)
    np.testing.assert_allclose(sampled(block, TIMES[:-1])[1], rates[:-1], atol=1e-12)


@pytest.mark.parametrize("method", ["clamped", "natural", "quintic"])
def test_points_without_times_are_passed_within_the_limits(method):
    bd = sb.new_diagram("via")
    block = bd.VIA_POINTS(POINTS, velocity=[1.0, 2.0], method=method, T=0.5)
    assert block.times[0] == 0.5
    t = np.linspace(block.times[0], np.nextafter(block.times[-1], 0), 4001)
    _, u, _ = sampled(block, t)
    assert np.max(np.abs(u) / [1.0, 2.0]) == pytest.approx(1.0, abs=1e-5)
    slow = bd.VIA_POINTS(POINTS, velocity=[1.0, 2.0], acceleration=0.5, method=method)
    t = np.linspace(slow.times[0], np.nextafter(slow.times[-1], 0), 4001)
    _, u, a = sampled(slow, t)
    assert np.abs(a).max() == pytest.approx(0.5, rel=1e-3)
    assert np.max(np.abs(u) / [1.0, 2.0]) < 1


def test_a_hundred_points_are_traced():
    rng = np.random.default_rng(3)
    points = np.cumsum(rng.normal(size=(100, 3)), axis=0)
    bd = sb.new_diagram("via")
    bd.VIA_POINTS(points, times=np.arange(100.0) / 50, name="via")
    runs = [sb.simulate(bd, T=2, engine=engine) for engine in ("native", "interpreter")]
    np.testing.assert_allclose(runs[0]["via.a"], runs[1]["via.a"], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("method", ["clamped", "quintic"])
@pytest.mark.parametrize("even", [True, False])
def test_many_points_are_called_as_tables(method, even):
    times = 0.1 + np.arange(300.0) / 50
    times += 0 if even else 0.003 * np.sin(np.arange(300.0))
    points = np.stack([np.sin(times), np.cos(times)], axis=1)
    bd = sb.new_diagram("via")
    bd.VIA_POINTS(points, times=times, method=method, name="via")
    names = ["via.q", "via.u", "via.a"]
    runs = [sb.simulate(bd, T=7, every=0.01, log=names, engine=engine)
            for engine in ("native", "interpreter")]  # fmt: skip
    assert runs[0].info["engine"] == "native"
    for name in names:
        np.testing.assert_allclose(runs[0][name], runs[1][name], rtol=1e-10, atol=1e-12)
    t = np.clip(runs[0].t, times[0], times[-1])
    want = np.stack([np.sin(t), np.cos(t)], axis=1)  # but at its ends, where it starts and stops
    np.testing.assert_allclose(runs[0]["via.q"], want, atol=5e-3)


def test_a_circle_stays_in_its_plane_at_its_radius():
    _, block = built("circle")
    t = np.linspace(0, 2, 41)
    r, v, a = sampled(block, t)
    out, axis = r - [1, 2, 3], AXIS / np.linalg.norm(AXIS)
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), 0.5)
    np.testing.assert_allclose(out @ axis, 0.0, atol=1e-15)
    np.testing.assert_allclose(np.cross(out, v), np.outer(np.full(41, 0.25 * np.pi), axis))
    np.testing.assert_allclose(a, -(np.pi**2) * out, atol=1e-13)
    np.testing.assert_allclose(r[-1], r[0])
    across = np.array([1.0, 0, 0]) - axis[0] * axis  # x is further from this axis than y
    want = np.cos(0.3) * across / np.linalg.norm(across)
    np.testing.assert_allclose(out[0] / 0.5 @ across, want @ across)


def test_a_smooth_start_takes_half_its_rise_of_the_way():
    _, block = built("circle with a smooth start", zero=[0, 1, 0])
    for t, angle in ((0.2, 0.0), (0.9, -0.7), (1.9, -2.7)):  # rate (t - T - rise/2)
        r, v, _ = block.output(t, [], None)
        np.testing.assert_allclose(r - [1, 2, 3], [-0.5 * np.sin(angle), 0.5 * np.cos(angle), 0],
                                   atol=1e-14)  # fmt: skip
        assert np.linalg.norm(v) == pytest.approx(0.0 if t == 0.2 else 1.0)


def test_a_pose_turns_about_one_axis_as_slerp_does():
    _, block = built("pose")
    t = np.linspace(0.2, 2.2, 21)
    r, R, quaternion, twist, _ = sampled(block, t)
    s = ((r - r[0]) @ (r[-1] - r[0])) / 5.0
    ends = Rotation.from_quat([[0.5, 0.5, 0.5, 0.5], [0, 0, 0.6, 0.8]])
    np.testing.assert_allclose(R, Slerp([0, 1], ends)(np.clip(s, 0, 1)).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(R, Rotation.from_quat(quaternion).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(quaternion, axis=1), 1.0)
    np.testing.assert_allclose(r[-1], [0, 2, 5])
    omega = twist[1:-1, :3] / np.linalg.norm(twist[1:-1, :3], axis=1)[:, None]
    np.testing.assert_allclose(omega, np.tile(omega[0], (19, 1)), atol=1e-12)


def test_a_pose_takes_the_shorter_way_and_rotations_as_well():
    one, other = Rotation.from_rotvec([0.3, 0, 0]), Rotation.from_rotvec([0, 2.5, 1.0])
    bd = sb.new_diagram("pose")
    for sign in (1, -1):
        block = bd.CARTESIAN_QUINTIC([0, 0, 0], [1, 0, 0], 1.0, attitude0=one.as_quat(),
                                     attitudef=sign * other.as_quat())  # fmt: skip
        assert block.angle == pytest.approx((one.inv() * other).magnitude())
        np.testing.assert_allclose(block.output(1.0, [], None)[1], other.as_matrix(), atol=1e-14)
    block = bd.CARTESIAN_QUINTIC([0, 0, 0], [1, 0, 0], 1.0, attitude0=one.as_matrix())
    np.testing.assert_allclose(block.output(0.3, [], None)[1], one.as_matrix(), atol=1e-14)
    half = bd.CARTESIAN_QUINTIC([0, 0, 0], [1, 0, 0], 1.0, attitudef=[0, 0, 1, 0])
    assert half.angle == pytest.approx(np.pi)


# --- parameters -----------------------------------------------------------------------------

OTHER = {
    "quintic": {"q0": [0.5, 0.6], "qf": [-1.0, 0.3], "duration": 1.1, "T": 0.9, "rate0": [1.0, -1],
                "ratef": [0.2, 0.1]},
    "trapezoidal": {"q0": [0.5, 0.6], "qf": [-1.0, 0.3], "velocity": [0.3, 0.2],
                    "acceleration": [0.5, 0.1], "T": 0.9},
    "trapezoidal in a time": {"duration": 1.0, "blend": 0.5},
    "circle": {"centre": [0, 1, 0], "radius": 2.0, "period": 0.7, "phase": -1.0, "T": 0.6},
    "circle with a smooth start": {"rate": 3.0, "T": 0.9},
    "pose": {"r0": [0, 1, 0], "rf": [1, 0, 1], "duration": 1.0, "T": 0.9},
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "tunable"), [(name, key) for name, values in OTHER.items() for key in values]
)
def test_a_changed_parameter_is_a_block_built_anew(name, tunable):
    value = OTHER[name][tunable]
    program = sb.trace(built(name)[0])
    moved = program.with_parameters({f"reference.{tunable}": value})
    anew = sb.trace(built(name, **{tunable: value})[0])
    t = np.linspace(0.05, 2.9, 58)

    def signals(found):
        return np.array(
            [np.array(found.outputs(s, found.x0, found.xd0, found.p)).ravel() for s in t]
        )

    def edges(found):
        return np.array(found.edges(found.p)).ravel()

    np.testing.assert_allclose(signals(moved), signals(anew), rtol=0, atol=1e-12)
    np.testing.assert_allclose(edges(moved), edges(anew), rtol=0, atol=1e-12)
    assert np.abs(signals(program) - signals(anew)).max() > 1e-3


# --- what is refused ------------------------------------------------------------------------

WRONG = {
    "QUINTIC": [
        ({"duration": 0.0}, "duration must be above zero, not 0 s"),
        ({"duration": np.nan}, "duration must be finite"),
        ({"duration": [1.0, 2.0]}, r"duration has shape \(2,\), it takes \(\)"),
        ({"qf": [1.0, 2.0, 3.0]}, r"q0 \(2,\), qf \(3,\)"),
        ({"q0": "here"}, "q0 must be a number or a list of numbers, not 'here'"),
    ],
    "TRAPEZOID": [
        ({"velocity": None}, "needs velocity and acceleration, or duration"),
        ({"velocity": [1.0, -1.0]}, r"velocity must be above zero, not \[1, -1\]"),
        ({"acceleration": [1.0, 1.0, 1.0]}, r"acceleration has shape \(3,\), it takes \(2,\)"),
        ({"duration": 1.0}, "give duration or velocity, not both"),
        ({"blend": 0.3}, "blend is a part of the duration"),
        ({"velocity": None, "acceleration": None, "duration": 1.0, "blend": 0.6}, "at most 0.5"),
    ],
    "VIA_POINTS": [
        ({"times": [0.0, 1.0, 1.0, 2.0, 3.0]}, r"times must increase: 1 s \(number 2\) follows 1"),
        ({"times": [0.0, 1.0]}, r"times has shape \(2,\), it takes \(5,\)"),
        ({"points": [[0.0, 1.0]]}, "it takes two or more rows"),
        ({"method": "natral"}, "method must be one of .*, not 'natral'"),
        ({"rates": POINTS}, "rates are for the method quintic"),
        ({"times": None}, "needs times, or a limit"),
        ({"velocity": 1.0}, "give times, or velocity"),
        ({"times": None, "velocity": 1.0, "points": [0, 1, 1]}, "points 1 and 2 are the same"),
    ],
    "CIRCLE": [
        ({"rate": 1.0}, "takes period or rate: one of them"),
        ({"period": None}, "takes period or rate: one of them"),
        ({"radius": -1.0}, "radius must be above zero, not -1 m"),
        ({"normal": [0, 0, 0]}, "normal is zero"),
        ({"zero": AXIS}, "zero has the direction of the normal"),
        ({"rise": -1.0}, "rise is -1 s"),
    ],
    "CARTESIAN_QUINTIC": [
        ({"attitudef": [0, 0, 1, 1]}, "attitudef has length 1.414"),
        ({"attitude0": np.diag([1, 1, -1])}, "attitude0 is not a rotation: its determinant is -1"),
        ({"attitude0": 2 * np.eye(3)}, "attitude0 is not a rotation: R R' differs from 1 by 3"),
        ({"attitude0": [0, 0, 1]}, r"takes a quaternion \(4,\) or \(3, 3\)"),
        ({"r0": [0, 0]}, r"r0 has shape \(2,\), it takes \(3,\)"),
    ],
}  # fmt: skip
FIRST = {"QUINTIC": "quintic", "TRAPEZOID": "trapezoidal", "VIA_POINTS": "via points",
         "CIRCLE": "circle", "CARTESIAN_QUINTIC": "pose"}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "changes", "text"), [(k, *case) for k, cases in WRONG.items() for case in cases]
)
def test_wrong_parameters_are_refused(kind, changes, text):
    with pytest.raises((ValueError, InputError), match=text):
        built(FIRST[kind], **changes)


def test_a_wrong_parameter_of_a_file_is_told_with_its_place(tmp_path):
    file = tmp_path / "diagram.yaml"
    file.write_text("blocks:\n  q: {type: QUINTIC, q0: [0, 0], qf: [1, 1], duration: -2}\n")
    told = r"diagram.yaml:2:\d+: .*duration must be above zero, not -2 s"
    with pytest.raises(InputError, match=told):
        sb.load(file)
