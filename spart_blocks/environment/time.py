"""Time scales: UTC, TAI, TT and UT1, Julian dates in two parts, and sidereal time.

t counts SI seconds from an epoch that is given in UTC. TAI - UTC are the leap seconds, TT = TAI +
32.184 s, and UT1 = UTC + dut1. UT1 runs on smoothly with t: a leap second during a run changes UTC
and dut1, not the angle of the Earth.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief

DAY = 86400.0
J2000 = 2451545.0
"""Julian date of 2000-01-01 12:00."""
CENTURY = 36525.0
"""Days of a Julian century."""
TT_TAI = 32.184
LEAP_SECONDS = (
    ("1972-01-01", 10), ("1972-07-01", 11), ("1973-01-01", 12), ("1974-01-01", 13),
    ("1975-01-01", 14), ("1976-01-01", 15), ("1977-01-01", 16), ("1978-01-01", 17),
    ("1979-01-01", 18), ("1980-01-01", 19), ("1981-07-01", 20), ("1982-07-01", 21),
    ("1983-07-01", 22), ("1985-07-01", 23), ("1988-01-01", 24), ("1990-01-01", 25),
    ("1991-01-01", 26), ("1992-07-01", 27), ("1993-07-01", 28), ("1994-07-01", 29),
    ("1996-01-01", 30), ("1997-07-01", 31), ("1999-01-01", 32), ("2006-01-01", 33),
    ("2009-01-01", 34), ("2012-07-01", 35), ("2015-07-01", 36), ("2017-01-01", 37),
)  # fmt: skip
"""TAI - UTC [s] from each date on. Source: IERS Bulletin C, complete until the end of 2025; later
epochs take the last value.
"""


def _julian(day: date) -> float:
    """Julian date of 0 h of a day."""
    return day.toordinal() + 1721424.5


_STEPS = tuple((_julian(date.fromisoformat(day)), float(s)) for day, s in LEAP_SECONDS)


def leap_seconds(julian_day: float) -> float:
    """TAI - UTC [s] on the day that begins at a Julian date of UTC, from 1972 on."""
    return max(s for first, s in _STEPS if first <= julian_day)


@dataclass(frozen=True)
class Epoch:
    """An instant in UTC: the Julian date of 0 h of its day, the seconds since, TAI - UTC [s] and
    UT1 - UTC [s].
    """

    day: float
    seconds: float
    tai_utc: float
    dut1: float = 0.0

    @property
    def since(self) -> float:
        """Days from J2000 to 0 h of the day; a half-integer, exact."""
        return self.day - J2000

    def ut1_days(self, t: Any) -> Any:
        """Days of UT1 from 0 h of the epoch's day to t [s] after the epoch."""
        return (self.seconds + self.dut1 + t) / DAY

    def tt_days(self, t: Any) -> Any:
        """Days of TT from 0 h of the epoch's day to t [s] after the epoch."""
        return (self.seconds + self.tai_utc + TT_TAI + t) / DAY

    def utc_days(self, t: Any) -> Any:
        """Days of UTC from 0 h of the epoch's day to t [s] after the epoch; after a leap second it
        is the reading of a clock that has had it.
        """
        return (self.seconds + t - (self.leaps(t) - self.tai_utc)) / DAY

    def tt_centuries(self, t: Any) -> Any:
        """Julian centuries of TT since J2000."""
        return (self.since + self.tt_days(t)) / CENTURY

    def later_leaps(self) -> list[float]:
        """The times of the leap seconds after the epoch [s]."""
        later = [(day, s) for day, s in _STEPS if day > self.day]
        return [(day - self.day) * DAY - self.seconds + s - 1 - self.tai_utc for day, s in later]

    def leaps(self, t: Any) -> Any:
        """TAI - UTC [s] at t [s] after the epoch."""
        passed = [np.where(t >= at, 1.0, 0.0) for at in self.later_leaps()]
        return sum(passed, self.tai_utc + 0.0 * t)

    @property
    def year(self) -> float:
        """The epoch as a decimal year of the calendar."""
        calendar = date.fromordinal(int(self.day - 1721424.5)).year
        first, last = (_julian(date(year, 1, 1)) for year in (calendar, calendar + 1))
        return calendar + (self.day - first + self.seconds / DAY) / (last - first)


def epoch_of(text: Any, dut1: float = 0.0) -> Epoch:
    """The epoch of a text such as 2026-03-20T12:00:00, UTC unless it names an offset. dut1 [s] is
    UT1 - UTC, from IERS Bulletin A, within 0.9 s. Raises InputError before 1972.
    """
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        fault = f"epoch must be a time in UTC, not {brief(text)}"
        raise InputError(Fault(fault, hint="write it as 2026-03-20T12:00:00")) from None
    if not abs(dut1) <= 0.9:
        raise InputError(f"dut1, UT1 - UTC, must be within 0.9 s, not {brief(dut1)}")
    utc = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    day = _julian(utc.date())
    if day < _STEPS[0][0]:
        raise InputError(f"epoch must be 1972-01-01 or later, when leap seconds began, not {text}")
    seconds = utc.hour * 3600.0 + utc.minute * 60.0 + utc.second + utc.microsecond * 1e-6
    return Epoch(day, seconds, leap_seconds(day), float(dut1))


def mean_sidereal_time(epoch: Epoch, t: Any) -> Any:
    """Greenwich mean sidereal time [rad] at t [s] after the epoch: below one turn at the epoch, and
    rising from there without a jump.

    Source: IAU 1982; Vallado, "Fundamentals of Astrodynamics and Applications", 4th ed. (2013),
    eq. 3-47.
    """
    return 2 * np.pi * (_turns(epoch, t) - np.floor(_turns(epoch, 0.0)))


def _turns(epoch: Epoch, t: Any) -> Any:
    part = epoch.ut1_days(t)
    T = (epoch.since + part) / CENTURY
    excess = 67310.54841 + (8640184.812866 + (0.093104 - 6.2e-6 * T) * T) * T  # s
    # The formula's 876600 h for each century are a turn for each day: whole days make no angle.
    return epoch.since % 1.0 + part + excess / DAY
