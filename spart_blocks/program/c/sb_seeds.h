/* Numbers of SB_SEEDS seeds of linear functions side by side. SB_SEEDS is defined ahead. */

#ifndef SB_SEEDS_H
#define SB_SEEDS_H

#if SB_SEEDS == 1
typedef double sb_seeds;
#define SB_LANE(a, l) (a)
#else
typedef double sb_seeds __attribute__((vector_size(SB_SEEDS * sizeof(double)), aligned(8)));
#define SB_LANE(a, l) ((a)[l])
#endif
#if defined(__clang__)
#define SB_SEEDS_APART __attribute__((noinline, unused))
#elif defined(__GNUC__)
#define SB_SEEDS_APART __attribute__((noipa, unused))
#else
#define SB_SEEDS_APART
#endif
#define SB_ALL_SEEDS(value) ((value) - (sb_seeds){0})
/* A macro, since compilers warn of vectors as results where the processor may have none. */
#define SB_SEEDS_IF(condition, a) ((condition) != 0 ? (a) : (sb_seeds){0})

#endif
