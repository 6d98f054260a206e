"""The constants of a run, in Python; sb_constants.h has those of C under the same names."""

from __future__ import annotations

# --- steps and their lengths ---------------------------------------------------------------

SHORTEN = 0.2
"""Least ratio of a step to the one before it."""
LENGTHEN = 10.0
"""Largest ratio of a step to the one before it."""
SAFETY_OF_STEPS = 0.9
INSIDE = 16
"""A segment ends this many units in the last place inside its stops. Switching times are known to
this accuracy.
"""
SAME_STOP = 1e-12
"""Two stops are the same up to rounding if they differ by less than this fraction of the time."""

MISFIT = 0.25
"""A state goes straight between both ends of an implicit step if it moves by another way than its
slopes there tell, by more than this fraction of their mean moduli.
"""

# --- crossings -----------------------------------------------------------------------------

BEFORE = 5e-11
"""The stages of a step that ends at a crossing stay at least this time [s] before it."""
PART = 1e-3
"""The same as a fraction of the step; the larger of the two is used. Both exceed the error of the
located time.
"""
FIRST_GAP = 1e-2
"""Fraction of the way by which a step that is repeated to end before a crossing stays before it.
Where this lies is known to less, as stages lay beyond it.
"""
WIDEN = 8.0
"""A step that is repeated again stays before the crossing by this factor more than before,"""
WIDEST = 0.1
"""at most by this fraction of the way to it."""
LOCATED = 2.5e-11
"""Tolerance [s] of the time of a crossing: a quarter of LOCATED_WITHIN."""
LEAST_PART = 1e-15
"""Fraction of a step below which a crossing is located no further."""
MOVED = 5e-3
"""An estimate of where a crossing lies in an interval is moved towards the middle by this fraction
of its width, times the ratio of this to that of the first interval.
"""
EARLY = 0.99
"""If a stage crosses at or before this fraction of the way to the crossing of the step's end, that
end is wrong.
"""
AHEAD = 1e-9
"""Time [s] over which a signal is checked for an immediate return."""
NEARBY = 10.0
"""A motion along a straight line crosses a surface that is at most this far away [s], since no
solver takes such short steps.
"""
LAST_LINE = 2e-10
"""A line leads over a surface that is no further [s], since below it no solver steps."""
SHORT_OF = 1e-10
"""A step along a line ends this time [s] before the surface."""
MOST_SWITCHES = 1_000
"""Largest number of mode switches at one time."""
RAPID = 1e-8
"""Three switches within this time [s] are checked for a sliding motion."""

# --- resets --------------------------------------------------------------------------------

PROBED = 1e-3
"""Fraction of the longest step over which rates of a signal are differenced."""
TURNED = 1e-9
"""A reset turns a signal back if the signal's rate after it is below this fraction of the rate
before.
"""
FLIGHT = 1e-9
"""A signal that would be on its old side for less than this time [s] rests at zero."""

# --- stiffness: see solvers/stiffness.py -----------------------------------------------------

TESTED_EVERY, STIFF_STEPS, CALM_STEPS = 1000, 15, 6
"""A stiffness test starts every TESTED_EVERY steps. STIFF_STEPS steps at the stability border mean
stiff; CALM_STEPS consecutive steps within it mean not stiff.
"""
COMPILED = 50_000
"""Number of compiled explicit steps that cost as much as the change to an implicit method, which
may have to be compiled, and its steps.
"""
DEARER = 20
"""An implicit step, of which each stop needs one, costs as much as so many explicit ones."""

# --- runs that make no progress --------------------------------------------------------------

SLOW = 1e-6
"""Mean steps shorter than this fraction of the run are checked for jumps."""
CHATTER = 1_000
CHATTERED = 1e-7
"""CHATTER crossings within the fraction CHATTERED of the run are an error."""

# --- sliding -------------------------------------------------------------------------------

BESIDE = 1e-8
"""Distance from a surface at which its sides are evaluated, relative to the size of the states."""
NEAR_SURFACE = 1e-6
"""Largest distance of a state from a surface at which it counts as on the surface, relative to the
size of the states.
"""
DIFFERENCE = 6e-6
"""Step of finite differences, relative to each state, or to 1 for states below 1."""
CLOSER = 1e-2
"""Fraction of that step for a second difference, which shows jumps."""
STEEPER = 30.0
"""A ratio of the two differences above this means a jump. The ratio is 100 at a jump, and 10 for a
square root.
"""
PARALLEL = 1e-8
"""Two surfaces are the same if the product of their unit normals differs from 1 by
less than this.
"""
NO_RATE = 1e-10
"""A rate towards a surface counts as zero below this fraction of the sum of contributions of
single states to it.
"""
MOST_SETTLED = 100
"""Largest number of mode switches in the evaluation of one side of a surface."""
RATES_APART = 1e-5
"""Time [s], and fraction of the states, over which a signal's acceleration is differenced."""
CLEAR = 1e-11
"""Distance from a surface at which a motion that leaves it starts, relative to the size of the
states.
"""
