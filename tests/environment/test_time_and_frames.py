"""Time scales and frames against published examples and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.environment import frames, kepler
from spart_blocks.environment.constants import EARTH_RADIUS
from spart_blocks.environment.time import Epoch, epoch_of, mean_sidereal_time

ARCSEC = np.deg2rad(1 / 3600)


def rotation_angle(R):
    return np.linalg.norm(R - R.T) / np.sqrt(8)


# --- time ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("day", "seconds"),
    [
        ("1972-01-01", 10), ("1980-06-01", 19), ("1998-12-31", 31), ("1999-01-01", 32),
        ("2016-12-31T23:59:59", 36), ("2017-01-01", 37), ("2026-03-20", 37),
    ],
)  # fmt: skip
def test_leap_seconds_are_those_of_iers(day, seconds):
    """Source: IERS Bulletin C."""
    assert epoch_of(day).tai_utc == seconds


def test_julian_dates_are_vallado_s():
    """Vallado (2013), example 3-4: 1996-10-26 14:20:00 UT is JD 2450383.09722222; example 3-7:
    2004-05-14 16:43:00 UTC is 2453140.19722... UT1, and TT is 64.184 s ahead of UTC.
    """
    at = epoch_of("1996-10-26T14:20:00")
    assert at.day + at.ut1_days(0.0) == pytest.approx(2450383.09722222, abs=1e-8)
    at = epoch_of("2004-05-14T16:43:00", -0.463326)
    assert at.day + at.utc_days(0.0) == pytest.approx(2453140.196527778, abs=1e-9)
    assert 86400 * (at.tt_days(0.0) - at.utc_days(0.0)) == pytest.approx(64.184, abs=1e-9)
    assert 86400 * (at.ut1_days(0.0) - at.utc_days(0.0)) == pytest.approx(-0.463326, abs=1e-9)
    assert at.tt_centuries(0.0) == pytest.approx(0.043674121031, abs=1e-12)


def test_two_parts_keep_a_nanosecond():
    at = epoch_of("2026-03-20T12:00:00.25")
    assert (at.tt_days(1e-6) - at.tt_days(0.0)) * 86400 == pytest.approx(1e-6, abs=2e-11)


def test_a_leap_second_during_a_run_holds_utc_back():
    at = epoch_of("2016-12-31T23:59:50")
    assert at.later_leaps() == [10.0]
    assert [at.leaps(t) for t in (9.9, 10.0)] == [36, 37]
    # At t = 11 s the clock reads 00:00:00 of the next day; TT and UT1 run on.
    assert at.utc_days(11.0) == pytest.approx(1.0, abs=1e-12)
    assert 86400 * (at.tt_days(11.0) - at.tt_days(0.0)) == pytest.approx(11.0, abs=1e-9)
    assert epoch_of("2020-01-01").later_leaps() == []


def test_offsets_and_fractions_are_read():
    assert epoch_of("2026-03-20T14:00:00+02:00") == epoch_of("2026-03-20T12:00:00Z")
    assert epoch_of("2026-03-20T12:00:00.5").seconds == 43200.5
    assert epoch_of("2026-07-02T12:00:00").year == 2026.5


@pytest.mark.parametrize(
    ("text", "dut1", "told"),
    [
        ("20 March", 0.0, "epoch must be a time in UTC"),
        (2026, 0.0, "epoch must be a time in UTC"),
        ("1971-12-31", 0.0, "1972-01-01 or later"),
        ("2026-03-20", 3.0, "within 0.9 s"),
        ("2026-03-20", float("nan"), "within 0.9 s"),
    ],
)
def test_wrong_epochs_are_refused(text, dut1, told):
    with pytest.raises(InputError, match=told):
        epoch_of(text, dut1)


def test_sidereal_time_is_vallado_s():
    """Example 3-5: 1992-08-20 12:14 UT1 has 152.578787886 degree."""
    at = epoch_of("1992-08-20T12:14:00")
    assert np.rad2deg(mean_sidereal_time(at, 0.0)) == pytest.approx(152.578787886, abs=5e-8)


def test_sidereal_time_does_not_jump():
    at = epoch_of("2026-03-20T12:00:00")
    assert 0 <= mean_sidereal_time(at, 0.0) < 2 * np.pi
    day = mean_sidereal_time(at, 86400.0) - mean_sidereal_time(at, 0.0)
    # Vallado (2013), 3.5.1: a sidereal day has 86164.090524 s of UT1.
    assert day == pytest.approx(2 * np.pi * 86400 / 86164.090524, rel=1e-10)


# --- frames -------------------------------------------------------------------------------------

AT = epoch_of("2004-04-06T07:51:28.386009", -0.4399619)
PEF = 1e3 * np.array([-1033.4750313, 7901.3055856, 6380.3445328])


def test_the_reduction_is_vallado_s():
    """Vallado (2013), example 3-15, from PEF on, after polar motion. Its nutation has 106 terms."""
    at = frames.EarthFrames.at(AT)
    of_date = 1e3 * np.array([5094.5147804, 6127.3664612, 6380.3445328])
    mean = 1e3 * np.array([5094.02837450, 6127.87081640, 6380.24851640])
    j2000 = 1e3 * np.array([5102.50960000, 6123.01152000, 6378.13630000])
    far = np.linalg.norm(PEF)
    turned = frames.turned_about(2, at.sidereal_time(0.0)).T @ PEF
    assert np.linalg.norm(turned - of_date) < 0.2 * ARCSEC * far
    np.testing.assert_allclose(at.mean @ j2000, mean, atol=0.5)  # printed to 1 cm, and rounded
    assert np.linalg.norm(at.rotation(0.0) @ PEF - j2000) < 0.2 * ARCSEC * far


def test_the_rotation_is_that_of_iau_2006():
    """The matrix from GCRS to ITRS by ERFA's c2t06a (IAU 2006/2000A), without polar motion, of
    2026-03-20 12:00 UTC, UT1 = UTC: within 0.2", a week later within 1.3".
    """
    at = frames.EarthFrames.at(epoch_of("2026-03-20T12:00:00"))
    found = {0.0: C2T_NOW, 7 * 86400.0: C2T_LATER}
    for (t, want), most in zip(found.items(), (0.2, 1.3), strict=True):
        assert rotation_angle(at.rotation(t) @ want) < most * ARCSEC


C2T_NOW = np.array(
    [
        [0.9991899190803106, -0.040161847411904025, -0.002555703571456797],
        [0.04016162204145444, 0.9991931868587142, -0.00013946370888935858],
        [0.0025592427164260268, 3.670953111295505e-05, 0.9999967244591997],
    ]
)
C2T_LATER = np.array(
    [
        [0.9967790113436571, 0.08015652063023695, -0.002556314772485931],
        [-0.0801563489629174, 0.9967822886279554, 0.00016970135767207828],
        [0.002561691959749199, 3.5750107438392575e-05, 0.9999967182227315],
    ]
)


def test_the_pole_precesses():
    """By 2004.31" a century towards the equinox (IAU 1976)."""
    pole = frames.EarthFrames.at(epoch_of("2026-03-20")).pole
    assert pole[0] == pytest.approx(2004.31 * 0.2622 * ARCSEC, abs=10 * ARCSEC)
    assert np.linalg.norm(pole) == pytest.approx(1.0, abs=1e-15)


# --- geodetic coordinates -----------------------------------------------------------------------


def test_geodetic_coordinates_are_vallado_s():
    """Example 3-3: 34.352496 degree, 46.4464 degree, 5085.22 km."""
    found = frames.geodetic(1e3 * np.array([6524.834, 6862.875, 6448.296]))
    assert np.rad2deg(found[:2]) == pytest.approx([34.352496, 46.4464], abs=5e-5)
    assert found[2] == pytest.approx(5085.22e3, abs=5)


@pytest.mark.parametrize("height", [-5e3, 0.0, 4e5, 3.6e7, 4e8])
@pytest.mark.parametrize("latitude", [-90, -89.9999, -45, -1e-9, 0, 30, 60, 89.9, 90])
def test_there_and_back_is_exact(latitude, height):
    angles = np.deg2rad([latitude, 120.0])
    r = frames.ecef_position(*angles, height)
    found = frames.geodetic(r)
    np.testing.assert_allclose(found[0], angles[0], atol=2e-15)
    np.testing.assert_allclose(found[2], height, atol=1e-15 * (2e7 + 4 * height))
    if abs(latitude) < 90:
        np.testing.assert_allclose(found[1], angles[1], atol=1e-9 if latitude < -89 else 2e-15)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_pole_itself_is_not_singular(side):
    latitude, longitude, height = frames.geodetic(np.array([0.0, 0.0, side * 6.4e6]))
    assert (latitude, longitude) == pytest.approx((side * np.pi / 2, 0.0), abs=1e-15)
    assert height == pytest.approx(6.4e6 - EARTH_RADIUS * (1 - 1 / 298.257223563), abs=1e-6)


def test_the_height_along_the_radius_is_nearly_the_geodetic_one():
    for latitude in np.deg2rad([-80, -45, 0, 20, 45, 90]):
        r = frames.ecef_position(latitude, 1.0, 1e6)
        assert 0 <= frames.ellipsoid_height(r) - 1e6 + 1e-8 < 6e-6 * 1e6


def test_north_east_down_are_directions_of_motion():
    at = np.deg2rad([50.0, -70.0]), 2e5
    R = frames.ned_rotation(*at[0])
    for column, (dlat, dlon, dh) in zip(R.T, ((1, 0, 0), (0, 1, 0), (0, 0, -1e7)), strict=True):
        step = 1e-6 * np.array([dlat, dlon, dh])
        ends = [frames.ecef_position(*(at[0] + s * step[:2]), at[1] + s * step[2]) for s in (1, -1)]
        way = ends[0] - ends[1]
        np.testing.assert_allclose(column, way / np.linalg.norm(way), atol=1e-7)


# --- orbits -------------------------------------------------------------------------------------

MU = 3.986004418e14
R = 1e3 * np.array([6524.834, 6862.875, 6448.296])
V = 1e3 * np.array([4.901327, 5.533756, -1.976341])


def test_elements_are_vallado_s():
    """Example 2-5: a 36127.343 km, e 0.832853, and the angles 87.870, 227.898, 53.38, 92.335
    degree; example 2-6 goes back.
    """
    a, e, *angles = kepler.elements_of_state(R, V, MU)
    assert a == pytest.approx(36127.343e3, rel=1e-6)
    assert e == pytest.approx(0.832853, abs=1e-6)
    assert np.rad2deg(angles) == pytest.approx([87.870, 227.898, 53.38, 92.335], abs=1e-2)
    np.testing.assert_allclose(np.r_[kepler.state_of_elements(a, e, *angles, MU)], np.r_[R, V],
                               rtol=1e-12)  # fmt: skip


@pytest.mark.parametrize(
    "elements",
    [
        (7e6, 0.1, 1.0, 2.0, 3.0, 4.0),
        (7e6, 0.1, 2.5, 6.0, 0.1, 0.1),
        (-2e7, 1.5, 0.3, 0.2, 0.1, 1.0),  # a hyperbola
        (7e6, 0.0, 1.0, 2.0, 0.0, 4.0),  # circular
        (7e6, 0.1, 0.0, 0.0, 3.0, 4.0),  # equatorial
        (7e6, 0.0, 0.0, 0.0, 0.0, 4.0),  # both
        (7e6, 0.1, np.pi, 0.0, 3.0, 4.0),  # equatorial and retrograde
    ],
)
def test_elements_come_back(elements):
    r, v = kepler.state_of_elements(*elements, MU)
    found = kepler.elements_of_state(r, v, MU)
    np.testing.assert_allclose(found, elements, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("e", [0.0, 0.01, 0.4, 0.99])
def test_true_anomalies_solve_kepler_s_equation(e):
    for mean in np.linspace(-7.0, 7.0, 41):
        nu = kepler.true_anomaly(mean, e)
        half = np.arctan2(np.sqrt(1 - e) * np.sin(nu / 2), np.sqrt(1 + e) * np.cos(nu / 2))
        E = 2 * half
        assert np.sin(E - e * np.sin(E) - mean) == pytest.approx(0.0, abs=1e-12)
        assert abs(nu - mean) < np.pi


def test_orbit_frames_follow_the_orbit():
    lvlh, rsw, omega = frames.orbit_frames(R, V)
    h = np.cross(R, V)
    radial, normal = R / np.linalg.norm(R), h / np.linalg.norm(h)
    np.testing.assert_allclose(rsw, np.column_stack([radial, np.cross(normal, radial), normal]))
    np.testing.assert_allclose(lvlh, np.column_stack([rsw[:, 1], -normal, -radial]))
    assert np.linalg.det([lvlh, rsw]) == pytest.approx([1.0, 1.0])
    # The rate of the radial axis along an undisturbed orbit, by differences.
    step = 1e-2
    ends = [R + s * step * V - step**2 / 2 * MU * R / np.linalg.norm(R) ** 3 for s in (1, -1)]
    rate = (ends[0] / np.linalg.norm(ends[0]) - ends[1] / np.linalg.norm(ends[1])) / (2 * step)
    np.testing.assert_allclose(np.cross(omega, radial), rate, atol=1e-11)


def test_orbit_frames_without_an_orbit_are_rotations_at_rest():
    for lvlh_or_rsw in frames.orbit_frames(np.zeros(3), np.zeros(3))[:2]:
        np.testing.assert_array_equal(lvlh_or_rsw @ lvlh_or_rsw.T, np.eye(3))
        assert np.linalg.det(lvlh_or_rsw) == 1
    np.testing.assert_array_equal(frames.orbit_frames(np.zeros(3), np.zeros(3))[2], np.zeros(3))


def test_epochs_are_dates_of_the_calendar():
    assert epoch_of("2000-01-01T12:00:00").since + 0.5 == 0.0
    assert Epoch(2451544.5, 0.0, 32.0).year == 2000.0
