/* The constants of a run: of its steps, of the location of crossings, of resets, of stiffness and of
   sliding. Those of the same names in Python stand in constants.py beside the loop there, and a test
   compares both. */

#ifndef SB_CONSTANTS_H
#define SB_CONSTANTS_H

/* Steps and their lengths. */
#define SB_SHORTEN 0.2 /* least ratio of a step to the one before it */
#define SB_LENGTHEN 10 /* largest ratio of a step to the one before it */
#define SB_SAFETY_OF_STEPS 0.9
#define SB_INSIDE 16 /* units in the last place: the ends of a segment lie inside its stops by this,
                        the accuracy of switching times */
#define SB_TOO_SHORT 10 /* units in the last place of time: the shortest step */
#define SB_SAME_STOP 1e-12 /* of the time: two stops that differ by less differ by rounding */
#define SB_MISFIT 0.25 /* of the mean moduli of the slopes at both ends of an implicit step: a state that
                          moves by another way than they tell, by more than this, goes straight */

/* Crossings. */
#define SB_BEFORE 5e-11 /* s: stages of a step to a crossing stay before it by this, or */
#define SB_PART 1e-3 /* by this fraction of the step, whichever is larger */
#define SB_FIRST_GAP 1e-2 /* of the way: a step that is repeated to end before a crossing stays before it
                             by this; where it lies is known to less, as stages lay beyond it */
#define SB_ROUGH 1e-7 /* s: a way that is longer leaves room for this gap */
#define SB_WIDEN 8 /* a step that is repeated once more stays before it by so many times as much, */
#define SB_WIDEST 0.1 /* at most by this fraction */
#define SB_LOCATED 2.5e-11 /* s: tolerance of the time of a crossing */
#define SB_LEAST_PART 1e-15 /* of a step: a crossing is located no further */
#define SB_MOVED 5e-3 /* of the width of the interval, and of its part of the first one: by this an
                         estimate of where a crossing lies is moved towards the middle */
#define SB_EARLY 0.99 /* fraction of the way: a stage that crosses before has made the step's end
                         wrong */
#define SB_AHEAD 1e-9 /* s: time over which a signal is checked for an immediate return */
#define SB_NEARBY 10 /* a surface is looked at if it is no further than this many times the change
                        of its value by a step */
#define SB_LAST_LINE 2e-10 /* s: a line leads over a surface that is no further, or than 16 units in
                              the last place, for no step is shorter than 10 */
#define SB_LAST_LINE_AT(t) SB_MAX(SB_OF(SB_LAST_LINE), 3.6e-15 * (t))
#define SB_SHORT_OF 1e-10 /* s: a step along a line ends before the surface by this */
#ifndef SB_MOST_SWITCHES
#define SB_MOST_SWITCHES 1000 /* of modes at one time */
#endif
#define SB_RAPID 1e-8 /* s: three switches within this time may be a sliding motion */

/* Resets. */
#ifndef SB_PROBED
#define SB_PROBED 1e-3 /* of the longest step: over this the rates of signals are differenced */
#endif
#define SB_TURNED 1e-9 /* of its rate: a reset that leaves less turns a signal back */
#define SB_FLIGHT 1e-9 /* s: a signal that is back sooner rests at zero */

/* Stiffness: see stiffness.py. */
#define SB_TESTED_EVERY 1000 /* the test begins every so many steps */
#define SB_STIFF_STEPS 15 /* so many steps at the border of stability mean stiff, */
#define SB_CALM_STEPS 6 /* and so many in a row within it not */
#define SB_COMPILED 50000 /* explicit steps that cost as much as the change to an implicit method */
#define SB_DEARER 20 /* and as one step of it, of which each stop needs one */

/* Runs that make no progress. */
#define SB_SLOW 1e-6 /* mean steps that are a shorter part of the run are looked at */
#define SB_CHATTER 1000 /* so many crossings within */
#define SB_CHATTERED 1e-7 /* this part of the run are too many */

/* Sliding. */
#define SB_BESIDE 1e-8 /* of the states: distance at which a surface's sides are evaluated */
#define SB_NEAR_SURFACE 1e-6 /* of the states: largest distance at which they are on a surface */
#define SB_DIFFERENCE 6e-6 /* of the states: step of the differences of watched values, */
#define SB_CLOSER 1e-2 /* and the fraction of it over which a jump is steeper by more than */
#define SB_STEEPER 30.0
#define SB_PARALLEL 1e-8
#define SB_NO_RATE 1e-10 /* of what single states contribute to a rate towards a surface: none */
#define SB_MOST_SETTLED 100
#define SB_RATES_APART 1e-5 /* s, and of the states: step of the differences of rates */
#define SB_CLEAR 1e-11 /* of the states: distance at which a motion beside a surface starts */

#endif
