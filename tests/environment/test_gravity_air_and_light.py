"""Gravity, air, sunlight and shadow against gradients, published examples and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import eval_legendre

from spart_blocks.environment import atmosphere, gravity, plates, sun
from spart_blocks.environment.constants import (
    AU,
    EARTH_RADIUS,
    GRAVITY_RADIUS,
    MU_EARTH,
    MU_MOON,
    SUN_RADIUS,
    ZONALS,
)
from spart_blocks.environment.time import epoch_of

RNG = np.random.default_rng(8)


def gradient(potential, r, step):
    steps = step * np.eye(3)
    return np.array([(potential(r + s) - potential(r - s)) / (2 * step) for s in steps])


# --- gravity ------------------------------------------------------------------------------------


def test_zonal_coefficients_are_vallado_s():
    """Vallado (2013), appendix D.6, EGM-96 to seven digits."""
    want = [0.0010826267, -0.0000025327, -0.0000016196, -0.00000022730, 0.00000054068]
    np.testing.assert_allclose(ZONALS, want, rtol=2e-4)
    assert ZONALS[0] == pytest.approx(1.0826266835e-3, rel=1e-9)


@pytest.mark.parametrize("n", range(2, 7))
@pytest.mark.parametrize(
    "r", [[7e6, 1e6, 2e6], [0.0, 0.0, 7e6], [0.0, 0.0, -7e6], [0.0, -7e6, 0.0]]
)
def test_a_zonal_term_is_the_gradient_of_its_potential(n, r):
    axis = np.array([0.6, 0.0, 0.8])
    J = np.zeros(n - 1)
    J[-1] = 1e-3

    def potential(r):
        size = np.linalg.norm(r)
        # In units of mu J / R, so that differences keep their digits.
        return -((GRAVITY_RADIUS / size) ** (n + 1)) * eval_legendre(n, r @ axis / size)

    want = MU_EARTH * 1e-3 / GRAVITY_RADIUS * gradient(potential, np.array(r), 300.0)
    found = gravity.zonal_acceleration(np.array(r), MU_EARTH, GRAVITY_RADIUS, J, axis)
    np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-9)


def test_stacked_positions_are_each_their_own():
    many = RNG.normal(0, 7e6, (4, 3))
    for law in (
        lambda r: gravity.central_acceleration(r, MU_EARTH),
        lambda r: gravity.zonal_acceleration(r, MU_EARTH, 6e6, ZONALS, np.eye(3)[2]),
        lambda r: gravity.differential_attraction(r, np.ones(3), MU_EARTH),
    ):
        np.testing.assert_allclose(law(many), [law(r) for r in many], rtol=1e-13)


def test_a_third_body_is_the_difference_of_two_attractions():
    r, moon = np.array([7e6, 1e6, -2e6]), np.array([2e8, 3e8, -1e8])
    d = moon - r
    want = MU_MOON * (d / np.linalg.norm(d) ** 3 - moon / np.linalg.norm(moon) ** 3)
    found = gravity.third_body_acceleration(r, moon, MU_MOON)
    np.testing.assert_allclose(found, want, rtol=1e-12)


def test_a_small_difference_keeps_its_digits():
    """One metre towards the Earth and across: -mu / r^3 (s - 3 u (u . s)), to order |s| / r."""
    r, step = np.array([7e6, 0.0, 0.0]), np.array([1.0, 0.5, 0.0])
    found = gravity.differential_attraction(r, step, MU_EARTH)
    np.testing.assert_allclose(found, MU_EARTH / 7e6**3 * np.array([2.0, -0.5, 0.0]), rtol=1e-6)
    half = gravity.differential_attraction(r, step * 1e-8, MU_EARTH)
    np.testing.assert_allclose(half, 1e-8 * MU_EARTH / 7e6**3 * np.array([2.0, -0.5, 0.0]),
                               rtol=1e-12)  # fmt: skip


def test_the_gradient_torque_is_that_of_many_points():
    """A rigid body of point masses, pulled one by one."""
    points, masses = RNG.normal(0, 5.0, (12, 3)), RNG.uniform(1, 2, 12)
    points -= masses @ points / masses.sum()
    inertia = sum(
        m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True)
    )
    r = np.array([5e6, 4e6, -3e6])
    pull = gravity.differential_attraction(r, points, MU_EARTH)
    want = np.sum(np.cross(points, masses[:, None] * pull), axis=0)
    np.testing.assert_allclose(gravity.gradient_torque(r, inertia, MU_EARTH), want, rtol=1e-5)


# --- air ----------------------------------------------------------------------------------------


def test_the_density_is_vallado_s():
    """Example 8-4: 2.1219854e-14 kg/m^3 at 747.2119 km."""
    found = atmosphere.EXPONENTIAL.density(747211.9)
    assert found == pytest.approx(2.1219854e-14, rel=1e-4)


@pytest.mark.parametrize("row", atmosphere.VALLADO.tolist())
def test_each_band_begins_with_its_density(row):
    height, density, scale = row
    assert atmosphere.EXPONENTIAL.density(1e3 * height) == density
    here = atmosphere.EXPONENTIAL.density(1e3 * height + 100.0)
    assert here == pytest.approx(density * np.exp(-0.1 / scale))


def test_the_bands_nearly_meet():
    """The table's scale heights close its gaps to 1 %, beyond 900 km to 2 %."""
    for low, high in zip(atmosphere.VALLADO[:-1], atmosphere.VALLADO[1:], strict=True):
        end = low[1] * np.exp(-(high[0] - low[0]) / low[2])
        assert end == pytest.approx(high[1], rel=2e-2)


def test_a_table_is_a_line_in_its_logarithm():
    heights, densities = np.array([4e5, 5e5, 7e5]), np.array([3e-12, 6e-13, 4e-14])
    bands = atmosphere.tabulated(heights, densities)
    for h in (4e5, 4.3e5, 5e5, 6.9e5, 7e5):
        want = np.exp(np.interp(h, heights, np.log(densities)))
        assert bands.density(h) == pytest.approx(want, rel=1e-12)
    assert bands.density(9e5) == pytest.approx(4e-14 * 4e-14 / 6e-13)  # its law goes on
    assert bands.density(-1e9) == 3e-12


def test_still_air_turns_with_the_earth():
    r = np.array([7e6, -2e6, 1e6])
    spin = np.array([0.0, 0.0, 7e-5])
    np.testing.assert_allclose(
        atmosphere.relative_wind(r, np.cross(spin, r), 7e-5), np.zeros(3), atol=1e-12
    )


# --- Sun, Moon, shadow --------------------------------------------------------------------------


def test_the_sun_is_vallado_s():
    """Example 5-1, 2006-04-02 0 h, with UT1 for TT: 146186212, 28788976, 12481064 km. Its mean
    longitude has the rate 36000.77; here it is the Almanac's 0.9856474 degree a day.
    """
    T = (2453827.5 - 2451545.0) / 36525
    want = 1e3 * np.array([146186212.0, 28788976.0, 12481064.0])
    np.testing.assert_allclose(sun.sun_position(T), want, rtol=1e-5)


def test_the_moon_is_vallado_s():
    """Example 5-3, 1994-04-28 0 h: -134240.626, -311571.590, -126693.785 km."""
    T = (2449470.5 - 2451545.0) / 36525
    want = 1e3 * np.array([-134240.626, -311571.590, -126693.785])
    np.testing.assert_allclose(sun.moon_position(T), want, rtol=3e-5)


def test_seasons_begin_when_they_begin():
    """The equinox of 2026-03-20 14:46 UTC and the solstice of 2026-06-21 08:25 UTC (Astronomical
    Almanac), in equinox and equator of date.
    """
    x, y, z = sun.sun_position(epoch_of("2026-03-20T14:46:00").tt_centuries(0.0))
    assert np.rad2deg(np.arctan2(y, x)) == pytest.approx(0.0, abs=0.013)
    assert z / x == pytest.approx(0.0, abs=1e-4)
    x, y, z = sun.sun_position(epoch_of("2026-06-21T08:25:00").tt_centuries(0.0))
    assert np.rad2deg(np.arctan2(x, y)) == pytest.approx(0.0, abs=0.013)


def cone_radii(x):
    """The radii of penumbra and umbra x [m] behind the Earth's centre, the Sun at 1 au.
    Source: Montenbruck and Gill (2000), eq. 3.81 to 3.84.
    """
    f1 = np.arcsin((SUN_RADIUS + EARTH_RADIUS) / AU)
    f2 = np.arcsin((SUN_RADIUS - EARTH_RADIUS) / AU)
    penumbra = (x + EARTH_RADIUS / np.sin(f1)) * np.tan(f1)
    return penumbra, (EARTH_RADIUS / np.sin(f2) - x) * np.tan(f2)


def lit(x, aside):
    at = np.array([-x, 0.6 * aside, 0.8 * aside])
    return sun.visible_fraction(*sun.apparent_discs(at, np.array([AU, 0.0, 0.0])))


@pytest.mark.parametrize("x", [1e6, 5e6, 4e7, 3e8])
def test_light_ends_at_the_cones(x):
    penumbra, umbra = cone_radii(x)
    width = 1e-6 * EARTH_RADIUS
    assert lit(x, penumbra + width) == 1.0
    assert 0.99 < lit(x, penumbra - width) < 1.0
    assert lit(x, umbra - width) == 0.0
    assert 0.0 < lit(x, umbra + width) < 0.01


@pytest.mark.parametrize("x", [1e6, 4e7])
def test_contacts_keep_their_digits(x):
    """Where the edges touch, the light is between 0 and 1, whatever the last digits."""
    for edge in cone_radii(x):
        near = [lit(x, edge * (1 + k * 2e-16)) for k in range(-40, 41)]
        assert np.ptp([0.0, 1.0, *near]) == 1.0
        assert np.ptp(near) < 1e-9


def test_light_falls_evenly_across_the_penumbra():
    """The Earth's edge is nearly straight: half of the disc is left at its centre."""
    penumbra, umbra = cone_radii(2e6)
    across = np.array([lit(2e6, a) for a in np.linspace(umbra, penumbra, 101)])
    assert np.all(np.diff(across) >= 0)
    assert across[50] == pytest.approx(0.5, abs=1e-2)


def test_beyond_the_umbra_the_sun_is_a_ring():
    """At 2e9 m the Earth covers (earth / sun)^2 of the Sun's disc."""
    at = np.array([-2e9, 0.0, 0.0])
    s, e, apart = sun.apparent_discs(at, np.array([AU, 0.0, 0.0]))
    assert sun.visible_fraction(s, e, apart) == pytest.approx(1 - (e / s) ** 2, abs=1e-12)
    assert 0.5 < 1 - (e / s) ** 2 < 1


def test_the_cylinder_is_behind_the_earth_alone():
    at = np.array([AU, 0.0, 0.0])
    assert sun.behind_cylinder(np.array([-7e6, 0.0, 0.0]), at) == pytest.approx(-EARTH_RADIUS)
    assert sun.behind_cylinder(np.array([7e6, 0.0, 0.0]), at) == pytest.approx(7e6 - EARTH_RADIUS)
    assert sun.behind_cylinder(np.array([-7e6, 0.0, EARTH_RADIUS]), at) == pytest.approx(0.0)


# --- plates -------------------------------------------------------------------------------------


def box(specular, diffuse, size=2.0):
    normals = np.concatenate([np.eye(3), -np.eye(3)])
    each = np.ones(6)
    return plates.Plates(size**2 * each, normals, size / 2 * normals, specular * each,
                         diffuse * each)  # fmt: skip


def test_a_black_box_takes_the_light_of_its_shadow():
    s = np.array([0.36, 0.48, 0.8])
    force = plates.light_forces(box(0.0, 0.0), 2.0, s)
    np.testing.assert_allclose(force.sum(0), -2.0 * 4.0 * s.sum() * s, rtol=1e-12)


def test_a_mirror_is_pushed_along_its_normal():
    one = box(1.0, 0.0)
    s = np.array([0.6, 0.0, 0.8])
    force = plates.light_forces(one, 2.0, s)
    np.testing.assert_allclose(force[0], [-2.0 * 4.0 * 2 * 0.36, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(force[3], np.zeros(3))  # it faces away


def test_a_diffuse_plate_is_pushed_by_five_thirds():
    force = plates.light_forces(box(0.0, 1.0), 1.0, np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(force.sum(0), [0.0, 0.0, -4.0 * 5 / 3], rtol=1e-12)


def test_light_weakens_with_the_square_of_the_distance():
    """4.54e-6 N/m^2 at 1 au: 1361 W/m^2 by the speed of light."""
    assert plates.light_pressure(AU, 1361.0) == pytest.approx(4.5398e-6, rel=1e-4)
    assert plates.light_pressure(2 * AU, 1361.0) == plates.light_pressure(AU, 1361.0) / 4


def test_drag_of_a_box_and_its_torque():
    one = box(0.0, 0.0)
    wind = np.array([0.0, 3.0, -4.0])
    force = plates.drag_forces(one, 0.5, wind, 2.0)
    np.testing.assert_allclose(force.sum(0), -0.5 * 0.5 * 2.0 * 4.0 * (3.0 + 4.0) * wind)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    torque, sum_ = one.wrench(force, turn).reshape(2, 3)
    np.testing.assert_allclose(sum_, turn @ force.sum(0))
    np.testing.assert_allclose(torque, turn @ np.cross(one.centre, force).sum(0))
