/* Sines and cosines of several angles together, in the lanes of vectors: with the bits that each has
   in runs in lanes (sb_elementary.h), whatever flags the rest is compiled with. The including file
   defines SB_LANES. */

#ifndef SB_TURNS_H
#define SB_TURNS_H

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC push_options
#pragma GCC optimize("O2", "fp-contract=off", "no-tree-slp-vectorize")
#endif

#include "sb_numbers.h"
#include "sb_elementary.h"

/* Of n vectors of angles. */
SB_APART void sb_turns(int n, const sb_real *a, sb_lanes *sines, sb_lanes *cosines) {
  for (int k = 0; k < n; k++) sb_sincos(a[k], &sines[k].all, &cosines[k].all);
}

#ifdef __clang__
#pragma STDC FP_CONTRACT DEFAULT
#else
#pragma GCC pop_options
#endif

#endif
