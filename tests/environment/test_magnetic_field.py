"""IGRF-14 against the numbers of ppigrf 2.1.0, whose coefficients are those of IAGA."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.environment import frames, magnetic
from spart_blocks.environment.time import epoch_of

# Day; radius [km], colatitude and longitude [degree]; radial, south and east [nT].
SPHERICAL = [
    ("2025-01-01", (6371.2, 10.0, 30.0), (-55317.54575, -5526.13966, 2436.65322)),
    ("2025-01-01", (6771.2, 45.0, -75.0), (-40914.96660, -15046.39824, -3179.10015)),
    ("2025-01-01", (6871.2, 90.0, 120.0), (8633.58968, -31028.76043, -63.50955)),
    ("2025-01-01", (7371.2, 170.0, 240.0), (33015.80670, -4259.41739, 8652.30271)),
    ("2020-01-01", (6371.2, 10.0, 30.0), (-55096.77442, -5700.67605, 2236.15661)),
    ("2020-01-01", (6771.2, 45.0, -75.0), (-41387.40618, -14840.64922, -3215.83154)),
    ("2020-01-01", (6871.2, 90.0, 120.0), (8868.31448, -30983.24987, 76.57880)),
    ("2020-01-01", (7371.2, 170.0, 240.0), (33264.18759, -4180.10168, 8667.06888)),
    ("1975-01-01", (6371.2, 10.0, 30.0), (-54430.01660, -6765.90870, 1167.66441)),
    ("1975-01-01", (6771.2, 45.0, -75.0), (-45662.78974, -13184.78244, -2848.98167)),
    ("1975-01-01", (6871.2, 90.0, 120.0), (10209.43920, -30509.80380, 768.76446)),
    ("1975-01-01", (7371.2, 170.0, 240.0), (35613.56329, -3959.30059, 8639.75555)),
    ("2022-07-02", (6371.2, 10.0, 30.0), (-55207.09967, -5613.45563, 2336.35004)),
    ("2022-07-02", (6771.2, 45.0, -75.0), (-41151.31568, -14943.46742, -3197.47590)),
    ("2022-07-02", (6871.2, 90.0, 120.0), (8751.01632, -31005.99269, 6.57296)),
    ("2022-07-02", (7371.2, 170.0, 240.0), (33140.06512, -4219.73783, 8659.68984)),
]
# Day; geodetic latitude, longitude [degree], height [km]; north, east, down [nT].
GEODETIC = [
    ("2025-01-01", (80.0, 0.0, 100.0), (6220.5487, 89.1350, 52590.7899)),
    ("2025-01-01", (0.0, 120.0, 400.0), (32455.2995, -69.1913, -8968.7253)),
    ("2025-01-01", (-80.0, 240.0, 600.0), (4963.1203, 10915.1424, -39344.5285)),
    ("2025-01-01", (45.0, -75.0, 0.0), (18374.8593, -4227.4816, 49696.0603)),
    ("2020-01-01", (80.0, 0.0, 100.0), (6267.9206, -189.1996, 52431.3769)),
    ("2020-01-01", (0.0, 120.0, 400.0), (32408.1213, 81.9804, -9220.8123)),
    ("2020-01-01", (-80.0, 240.0, 600.0), (4856.9440, 10931.3146, -39661.3981)),
    ("2020-01-01", (45.0, -75.0, 0.0), (18107.4512, -4282.6873, 50293.8957)),
]
# The same between the years of the model, also by ppigrf 2.1.0: igrf_gc(r, theta, phi, day).
BETWEEN = [
    ("1997-03-10T07:30:00", (6371.2, 40.0, 75.0), (-52758.51914, -19788.32049, 2924.21502)),
    ("1997-03-10T07:30:00", (6771.2, 100.0, 300.0), (-225.22632, -20800.76171, -4153.91033)),
    ("2011-09-09T09:09:09", (6371.2, 40.0, 75.0), (-53492.84828, -19420.69618, 2886.78130)),
    ("2011-09-09T09:09:09", (6771.2, 100.0, 300.0), (1088.91605, -20002.33550, -4701.30570)),
    ("2020-12-31T18:00:00", (6371.2, 40.0, 75.0), (-54226.38887, -19090.15925, 2919.10984)),
    ("2020-12-31T18:00:00", (6771.2, 100.0, 300.0), (2191.10413, -19449.33184, -5030.88024)),
    ("2024-06-15T00:00:00", (6371.2, 40.0, 75.0), (-54507.29219, -19040.33293, 2909.85279)),
    ("2024-06-15T00:00:00", (6771.2, 100.0, 300.0), (2598.32810, -19242.20660, -5154.76551)),
    ("2028-12-31T00:00:00", (6371.2, 40.0, 75.0), (-54832.25991, -19020.12069, 2904.52323)),
    ("2028-12-31T00:00:00", (6771.2, 100.0, 300.0), (3127.60013, -18965.17529, -5310.93717)),
]


def model(day, degree=13):
    return magnetic.field_model(epoch_of(day), degree)


def spherical(day, place):
    """The field radial, south and east [nT]."""
    radius, theta, phi = place[0] * 1e3, *np.deg2rad(place[1:])
    st, ct, sp, cp = np.sin(theta), np.cos(theta), np.sin(phi), np.cos(phi)
    axes = np.array([[st * cp, st * sp, ct], [ct * cp, ct * sp, -st], [-sp, cp, 0.0]])
    return 1e9 * axes @ model(day).field(radius * axes[0], 0.0)


def in_days(day):
    """The date whose decimal year is as far between those of the model, in years of the calendar,
    as the day is in days.
    """
    day = datetime.fromisoformat(day)
    begin = day.year // 5 * 5
    start, end = datetime(begin, 1, 1), datetime(begin + 5, 1, 1)
    year = begin + 5 * ((day - start) / (end - start))
    first, last = datetime(int(year), 1, 1), datetime(int(year) + 1, 1, 1)
    return (first + (year - int(year)) * (last - first)).isoformat()


@pytest.mark.parametrize(("day", "place", "want"), SPHERICAL)
def test_the_field_is_igrf_s(day, place, want):
    """In the middle of five years ppigrf takes days, this the years of the calendar: 1e-4 nT."""
    np.testing.assert_allclose(
        spherical(day, place), want, atol=2e-4 if day.endswith("07-02") else 1e-5
    )


@pytest.mark.parametrize(("day", "place", "want"), BETWEEN)
def test_between_the_years_of_the_model_the_field_is_linear_in_years_of_the_calendar(
    day, place, want
):
    """ppigrf is linear in days: at the day that this makes of the year, the fields are the same."""
    assert np.abs(spherical(day, place) - want).max() < 0.33
    np.testing.assert_allclose(spherical(in_days(day), place), want, atol=1e-5)


def test_the_coefficients_are_linear_in_the_decimal_year():
    """P. Alken et al., "IGRF: the thirteenth generation", Earth, Planets and Space 73 (2021) 49:
    g(T0) + (t - T0) dg/dt with t in years. 1 January 2021 is a fifth of the way to 2025."""
    r = np.array([4e6, 5e6, 3e6])
    first, last, at = (model(f"{year}-01-01").field(r, 0.0) for year in (2020, 2025, 2021))
    np.testing.assert_allclose(at, first + (last - first) / 5, rtol=1e-13)


@pytest.mark.parametrize(("day", "place", "want"), GEODETIC)
def test_the_field_on_the_ellipsoid_is_igrf_s(day, place, want):
    latitude, longitude = np.deg2rad(place[:2])
    r = frames.ecef_position(latitude, longitude, place[2] * 1e3)
    B = 1e9 * frames.ned_rotation(latitude, longitude).T @ model(day).field(r, 0.0)
    np.testing.assert_allclose(B, want, atol=1e-3)


def test_the_dipole_of_2025():
    """g10 = -29350.0, g11 = -1410.3, h11 = 4545.5 nT (IGRF-14): on the axis -2 g10, on the equator
    -g10 down."""
    at = model("2025-01-01", 1)
    a = magnetic.REFERENCE_RADIUS
    pole = 1e9 * at.field(np.array([0.0, 0.0, a]), 0.0)
    np.testing.assert_allclose(pole, [1410.3, -4545.5, -58700.0], rtol=1e-12)
    equator = 1e9 * at.field(np.array([2 * a, 0.0, 0.0]), 0.0)
    np.testing.assert_allclose(equator, [-2 * 1410.3 / 8, -4545.5 / 8, 29350.0 / 8], rtol=1e-12)


@pytest.mark.parametrize("degree", range(1, 14))
def test_the_field_has_no_sources(degree):
    """Its divergence and its curl vanish above the ground, by differences."""
    at, r, step = model("2026-03-20", degree), np.array([2e6, -3e6, 5.8e6]), 100.0
    slopes = np.array(
        [(at.field(r + s, 0.0) - at.field(r - s, 0.0)) / (2 * step) for s in step * np.eye(3)]
    )
    small = 1e-7 * np.abs(slopes).max()
    assert abs(np.trace(slopes)) < small
    np.testing.assert_allclose(slopes, slopes.T, atol=small)


def test_the_poles_are_regular():
    """The field at the pole is the mean of that around it."""
    at, far = model("2026-03-20"), 6.8e6
    pole = at.field(np.array([0.0, 0.0, far]), 0.0)
    near = [at.field(np.array([x, y, far]), 0.0) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    np.testing.assert_allclose(pole, np.mean(near, axis=0), rtol=1e-10)
    assert np.isfinite(pole).all()


def test_it_changes_along_the_line_of_its_years():
    r = np.array([4e6, 5e6, 3e6])
    year = magnetic.YEAR
    one = model("2025-01-01").field(r, 5 * year)
    other = model("2029-12-31T23:59:59").field(r, 0.0)
    np.testing.assert_allclose(one, other, rtol=1e-5)
    assert not np.allclose(one, model("2025-01-01").field(r, 0.0), rtol=1e-3)


def test_degrees_are_parts_of_the_whole():
    r = np.array([4e6, 5e6, 3e6])
    whole = [model("2026-03-20", n).field(r, 0.0) for n in (1, 2, 6, 10, 13)]
    steps = np.linalg.norm(np.diff(whole, axis=0), axis=1)
    assert np.all(steps[1:] < steps[:-1])


def test_it_ends_in_2030():
    with pytest.raises(
        InputError, match=r"IGRF-14 holds from 1900 to 2030, the epoch is in 2030.5"
    ):
        model("2030-07-02T12:00:00")


def test_the_file_is_whole():
    years, table = magnetic.coefficients()
    assert list(years) == list(range(1900, 2031, 5))
    assert np.count_nonzero(table[list(years).index(2005)]) == 195
    assert table[list(years).index(2020), 13, 13] == -0.40
