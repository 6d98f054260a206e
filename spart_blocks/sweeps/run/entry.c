/* What a library of lanes exports. */

size_t sb_size(void) { return sizeof(sb_crew); }
size_t sb_work_size(void) { return sizeof(sb_work); }

/* Work off a queue of runs, which several threads may share. memory: sb_size() bytes for each
   thread, aligned to 64. */
void sb_go(void *memory, const sb_work *w, const long long *last, long long *next) {
  memset(memory, 0, sizeof(sb_crew));
  sb_go_through((sb_crew *)memory, w, last, next);
}
