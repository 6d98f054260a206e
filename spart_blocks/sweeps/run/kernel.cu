/* The kernel of a sweep: each thread is one run after another from the queue. */

SB_KERNEL void sb_runs(sb_work w, long long last, long long *next) {
  sb_crew crew;
  sb_go_through(&crew, &w, &last, next);
}
