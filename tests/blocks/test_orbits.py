"""Motions in orbit against closed forms: Kepler's orbits, the turn of the nodes by J2, libration by
the gravity gradient, and the decay by drag.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks.environment.constants import GRAVITY_RADIUS, MU_EARTH, ZONALS
from spart_blocks.environment.kepler import state_of_elements


def run(folder, blocks, wires=(), robots=None, **options):
    file = folder / "orbit.yaml"
    run = {"rtol": 1e-11, "atol": 1e-9, **options}
    file.write_text(json.dumps({
        "robots": robots or {}, "blocks": blocks, "wires": list(wires), "run": run,
    }))  # fmt: skip
    return sb.simulate(file)


def period(a):
    return 2 * np.pi * np.sqrt(a**3 / MU_EARTH)


def orbit(**elements):
    return {"type": "ORBIT", "initial": elements}


ELLIPSE = {"a": 1.2e7, "e": 0.4, "i": 0.7, "raan": 1.0, "argp": 2.0, "nu": 0.5}


def test_an_orbit_closes_and_keeps_its_energy(tmp_path):
    T = period(ELLIPSE["a"])
    results = run(tmp_path, {"o": orbit(**ELLIPSE)}, T=T, log=["o.r", "o.v"])
    r, v = results["o.r"], results["o.v"]
    np.testing.assert_allclose(r[-1], r[0], atol=1e-2)
    energy = np.sum(v * v, 1) / 2 - MU_EARTH / np.linalg.norm(r, axis=1)
    np.testing.assert_allclose(energy, -MU_EARTH / (2 * ELLIPSE["a"]), rtol=1e-9)
    h = np.cross(r, v)
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), rtol=1e-9)


def test_the_anomaly_obeys_kepler_s_equation(tmp_path):
    T, e = period(ELLIPSE["a"]), ELLIPSE["e"]
    results = run(
        tmp_path,
        {"o": orbit(**ELLIPSE), "e": {"type": "ORBITAL_ELEMENTS"}},
        ["o.r -> e.r", "o.v -> e.v"], T=2 * T, every=T / 40, log=["e.nu", "e.a", "e.argp"],
    )  # fmt: skip
    E = 2 * np.arctan(np.sqrt((1 - e) / (1 + e)) * np.tan(results["e.nu"] / 2))
    M = E - e * np.sin(E)
    turned = M - M[0] - 2 * np.pi * results.t / T
    np.testing.assert_allclose(np.sin(turned / 2), 0.0, atol=1e-9)
    np.testing.assert_allclose(results["e.a"], ELLIPSE["a"], rtol=1e-9)
    np.testing.assert_allclose(results["e.argp"], ELLIPSE["argp"], atol=1e-9)


@pytest.mark.parametrize("part", [1.0, 0.01])
def test_j2_turns_the_nodes(part, tmp_path):
    """raan' = -3/2 J2 n (R / p)^2 cos i, argp' = 3/4 J2 n (R / p)^2 (5 cos^2 i - 1): to first order
    in J2, so within a few J2 of it. The mean over whole draconic turns.
    """
    J2 = part * ZONALS[0]
    start = {"a": 7.2e6, "e": 0.05, "i": 1.1, "raan": 1.0, "argp": 0.5, "nu": 0.0}
    n, p = 2 * np.pi / period(start["a"]), start["a"] * (1 - start["e"] ** 2)
    turns = 10
    slope = J2 * n * (GRAVITY_RADIUS / p) ** 2
    # From one passage of a latitude to the next, argp and M move too (Vallado (2013), 9.6).
    c = np.cos(start["i"])
    argp = 0.75 * slope * (5 * c**2 - 1)
    mean = n + 0.75 * slope * np.sqrt(1 - start["e"] ** 2) * (3 * c**2 - 1)
    T = turns * 2 * np.pi / (argp + mean)
    results = run(
        tmp_path,
        {"o": orbit(**start), "g": {"type": "ZONAL_GRAVITY", "J": [J2]},
         "e": {"type": "ORBITAL_ELEMENTS"}},
        ["o.r -> g, e.r", "o.v -> e.v", "g.a_zonal -> o.a"], T=T, log=["e.raan", "e.argp"],
    )  # fmt: skip
    turned = np.diff(results["e.raan"][[0, -1]])[0]
    assert turned / T == pytest.approx(-1.5 * slope * c, rel=6 * J2)


def test_the_sun_synchronous_orbit_follows_the_sun(tmp_path):
    """At 7178 km and 98.6 degree the nodes turn by 0.9856 degree a day (Vallado (2013), 11.4.1)."""
    start = {"a": 7178e3, "e": 0.001, "i": np.deg2rad(98.6)}
    results = run(
        tmp_path,
        {"o": orbit(**start, raan=1.0), "g": {"type": "ZONAL_GRAVITY", "degree": 6},
         "e": {"type": "ORBITAL_ELEMENTS"}},
        ["o.r -> g, e.r", "o.v -> e.v", "g.a_zonal -> o.a"],
        T=86400, rtol=1e-9, log=["e.raan"],
    )  # fmt: skip
    assert np.rad2deg(np.ptp(results["e.raan"])) == pytest.approx(0.9856, abs=0.02)


def test_drag_takes_the_work_of_its_force(tmp_path):
    """A circular orbit in air of one density sinks by da/dt = -rho Cd A / m sqrt(mu a)."""
    a, rho = 6.8e6, 1e-11
    results = run(
        tmp_path,
        {"o": {**orbit(a=a, e=0.0), "mass": 50}, "e": {"type": "ORBITAL_ELEMENTS"},
         "rho": {"type": "CONSTANT", "value": rho},
         "d": {"type": "DRAG", "area": 2.0, "Cd": 2.5, "omega": 0.0}},
        ["o.r -> d.r, e.r", "o.v -> d.v, e.v", "rho -> d.rho", "d -> o.f"],
        T=period(a), log=["e.a"],
    )  # fmt: skip
    want = -rho * 2.5 * 2.0 / 50 * np.sqrt(MU_EARTH * a) * results.t[-1]
    assert results["e.a"][-1] - a == pytest.approx(want, rel=1e-3)


# --- robots in orbit ----------------------------------------------------------------------------

INERTIA = [8.0, 10.0, 4.0]  # roll, pitch, yaw [kg m^2]
SAT = {"bodies": {"bus": {"mass": 100, "inertia": INERTIA}}}
DUMBBELL = {
    "bodies": {
        "bus": {"mass": 50, "inertia": [8.0, 10.0, 4.0]},
        "boom": {"mass": 5, "com": [0, 0, 3], "inertia": [0.1, 0.1, 0.01]},
    },
    "joints": {"hinge": {"type": "Ry", "parent": "bus", "child": "boom", "q": 0.2}},
}


def plant(folder, bodies, tilt, centred, T, **options):
    """A robot released along a circular orbit with LVLH's rates, its pitch tilted [rad]: in ECI, or
    in coordinates that orbit.
    """
    (folder / "bodies.yaml").write_text(json.dumps(bodies))
    a = 7e6
    rate = 2 * np.pi / period(a)
    r, v = state_of_elements(a, 0.0, 0.0, 0.0, 0.0, 0.0, MU_EARTH)
    # At the start LVLH's x is y of ECI, its y is -z, its z is -x; pitch is about its y.
    lvlh = Rotation.from_matrix(np.array([[0, 1, 0], [0, 0, -1], [-1, 0, 0]]).T)
    turned = (lvlh * Rotation.from_rotvec([0, tilt, 0])).as_quat().tolist()
    place = {"r0": r.tolist(), "v0": v.tolist()} if centred else {}
    initial = {"quaternion": turned, "omega0": [0.0, -rate, 0.0], **place}
    blocks = {
        "plant": {"type": "MULTIBODY", "robot": "sat", "initial": initial},
        "weight": {"type": "ORBITAL_GRAVITY", "robot": "sat", "orbiting": not centred},
        "o": orbit(a=a, e=0.0),
        "frame": {"type": "ORBIT_FRAME"},
        "rest": {"type": "CONSTANT", "value": np.zeros(len(bodies.get("joints", {}))).tolist()},
    }
    wires = [
        "plant.R0 -> weight.R0", "plant.r0 -> weight.r0", "plant.qm -> weight.qm",
        "weight.wF0 -> plant.wF0", "weight.wFm -> plant.wFm", "o.r -> frame.r", "o.v -> frame.v",
        *(["rest -> plant.taum"] if "joints" in bodies else []),
        *([] if centred else ["o.r -> weight.r"]),
    ]  # fmt: skip
    if "joints" not in bodies:
        del blocks["rest"]
    log = ["plant.R0", "plant.r0", "plant.qm", "plant.u0", "frame.R_lvlh", "o.r", "o.v"]
    options = {"rtol": 1e-10, "atol": 1e-10, "T": T, "every": T / 200, "log": log, **options}
    return run(folder, blocks, wires, {"sat": {"bodies": "bodies.yaml"}}, **options), rate


@pytest.mark.parametrize("centred", [True, False], ids=["in ECI", "in orbit"])
def test_the_gravity_gradient_swings_a_satellite(centred, tmp_path):
    """Pitch about the vertical: theta'' = -3 n^2 (Ix - Iz) / Iy theta, Wertz (1978), eq. 18-37,
    with roll x, pitch y, yaw z. For small angles a cosine.
    """
    tilt = 1e-3
    roll, pitch, yaw = INERTIA
    rate = 2 * np.pi / period(7e6)
    swing = rate * np.sqrt(3 * (roll - yaw) / pitch)
    results, _ = plant(tmp_path, SAT, tilt, centred, T=2 * 2 * np.pi / swing)
    R = np.einsum("kji,kjl->kil", results["frame.R_lvlh"], results["plant.R0"])
    angle = np.arcsin(R[:, 0, 2])
    np.testing.assert_allclose(angle, tilt * np.cos(swing * results.t), atol=1e-4 * tilt)
    for entry in (R[:, 0, 1], R[:, 1, 2]):  # roll and yaw stay at rest
        np.testing.assert_allclose(entry, 0.0, atol=1e-8)


def test_a_robot_in_eci_moves_as_in_coordinates_that_orbit(tmp_path):
    """A boom on a free hinge for a third of an orbit: 7,000 km cost less than 1e-7 rad."""
    eci, _ = plant(tmp_path, DUMBBELL, 0.3, True, T=2000.0)
    near, _ = plant(tmp_path, DUMBBELL, 0.3, False, T=2000.0)
    assert np.ptp(near["plant.qm"]) > 0.1
    np.testing.assert_allclose(eci["plant.qm"], near["plant.qm"], atol=1e-7)
    np.testing.assert_allclose(eci["plant.R0"], near["plant.R0"], atol=1e-7)
    np.testing.assert_allclose(eci["plant.r0"] - eci["o.r"], near["plant.r0"], atol=1e-2)
