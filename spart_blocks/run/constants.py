"""The constants of a run, in Python; sb_constants.h has those of C under the same names."""

from __future__ import annotations

# --- steps and their lengths ---------------------------------------------------------------

SHORTEN = 0.2
"""Least ratio of a step to the one before it."""
LENGTHEN = 10.0
"""Largest ratio of a step to the one before it."""
SAFETY_OF_STEPS = 0.9
INSIDE = 16
"""The ends of a segment lie inside its stops by so many units in the last place, which is the
accuracy of switching times."""
SAME_STOP = 1e-12
"""Two stops that differ by less than this fraction of the time differ by rounding."""

# --- crossings -----------------------------------------------------------------------------

BEFORE = 5e-11
"""Least time [s] by which the stages of a step to a crossing stay before it."""
PART = 1e-3
"""The same as a fraction of the step; the larger counts. Both exceed the error of location."""
WIDEN = 8.0
"""A step that is repeated once more stays before the crossing by so many times as much,"""
WIDEST = 0.1
"""at most by this fraction."""
LOCATED = 2.5e-11
"""Tolerance [s] of the time of a crossing: a quarter of LOCATED_WITHIN."""
EARLY = 0.99
"""A stage that crosses at or before this fraction of the way to the crossing of the step's end has
made that end wrong."""
AHEAD = 1e-9
"""Time [s] over which a signal is checked for an immediate return."""
NEARBY = 10.0
"""A surface is near if it is no further than this many times the change of its value by a step."""
LAST_LINE = 2e-10
"""A line leads over a surface that is no further [s], since below it no solver steps."""
SHORT_OF = 1e-10
"""A step along a line ends before the surface by this [s]."""
MOST_SWITCHES = 1_000
"""Largest number of mode switches at one time."""
RAPID = 1e-8
"""Three switches within this time [s] are checked for a sliding motion."""

# --- resets --------------------------------------------------------------------------------

PROBED = 1e-3
"""Fraction of the longest step over which a signal's rates are differenced."""
TURNED = 1e-9
"""A reset turns a signal back if it leaves less than this fraction of the signal's rate."""
FLIGHT = 1e-9
"""Time [s] on the old side below which a signal rests at zero."""

# --- stiffness: see solvers/stiffness.py -----------------------------------------------------

TESTED_EVERY, STIFF_STEPS, CALM_STEPS = 1000, 15, 6
"""The test begins every so many steps; so many at the stability border mean stiff, and so many
consecutive ones within it not stiff."""
BORDER = 3.25
"""The border of the method that compiled runs and lanes choose by themselves."""
COMPILED = 1_000
"""Number of compiled explicit steps that cost as much as one restart of an implicit method."""
STARTS = 50
"""Cost of the steps of an implicit method, in restarts, in addition to its restarts at every
stop."""

# --- runs that make no progress --------------------------------------------------------------

SLOW = 1e-6
"""Mean steps shorter than this fraction of the run are checked for jumps."""
CHATTERED = 1e-7
"""Too many crossings within this fraction of the run are an error."""

# --- sliding -------------------------------------------------------------------------------

BESIDE = 1e-8
"""Distance from a surface at which its sides are evaluated, relative to the size of the states."""
NEAR_SURFACE = 1e-6
"""Largest distance of a state from a surface on which it counts as lying, relative likewise."""
DIFFERENCE = 6e-6
"""Distance over which derivatives are differenced, relative to the states, of which those below 1
count as 1."""
CLOSER = 1e-2
"""Fraction of that distance over which they are differenced again, to find jumps."""
STEEPER = 30.0
"""Ratio of both differences above which there is a jump: 100 at a jump, 10 of a square root."""
PARALLEL = 1e-8
"""Normals whose product is within this of 1 are those of one surface."""
NO_RATE = 1e-10
"""A rate towards a surface counts as zero below this fraction of what the rates of single states
contribute to it."""
MOST_SETTLED = 100
"""Largest number of mode switches beside a surface."""
RATES_APART = 1e-5
"""Time [s], and fraction of the states, over which the rate of a signal's rate is differenced."""
CLEAR = 1e-11
"""Distance beside a surface at which a motion that leaves it begins, relative to the states."""
