/* The whole state of an instance as a copy, and as bytes. */

#ifndef SB_FMU_SAVED_H
#define SB_FMU_SAVED_H

/* The token detects bytes that are not from this FMU. */
typedef struct {
  char token[sizeof SB_TOKEN];
  int32_t exchange;
  sb_state state;
} sb_saved;

static int sb_save(const sb_fmu *m, void **saved) {
  sb_saved *copy = *saved ? *saved : calloc(1, sizeof *copy);
  if (!copy) return sb_log(m, SB_ERROR, "there is no memory for a copy of the state");
  memcpy(copy->token, SB_TOKEN, sizeof copy->token);
  copy->exchange = m->exchange;
  copy->state = m->s;
  *saved = copy;
  return SB_OK;
}

static int sb_restore(sb_fmu *m, const void *saved) {
  const sb_saved *copy = saved;
  if (!copy) return sb_log(m, SB_ERROR, "there is no state to return to");
  if (memcmp(copy->token, SB_TOKEN, sizeof copy->token) != 0 || copy->exchange != m->exchange)
    return sb_log(m, SB_ERROR, "that state is one of another FMU or another interface");
  m->s = copy->state;
  m->fresh = 0;
  return SB_OK;
}

static int sb_to_bytes(const sb_fmu *m, const void *saved, void *bytes, size_t size) {
  if (!saved || size != sizeof(sb_saved))
    return sb_log(m, SB_ERROR, "a state has %lu bytes", (unsigned long)sizeof(sb_saved));
  memcpy(bytes, saved, size);
  return SB_OK;
}

static int sb_from_bytes(const sb_fmu *m, const void *bytes, size_t size, void **saved) {
  sb_saved *copy;
  if (size != sizeof(sb_saved))
    return sb_log(m, SB_ERROR, "a state has %lu bytes", (unsigned long)sizeof(sb_saved));
  if (memcmp(bytes, SB_TOKEN, sizeof SB_TOKEN) != 0)
    return sb_log(m, SB_ERROR, "these bytes are no state of this FMU");
  copy = *saved ? *saved : malloc(sizeof *copy);
  if (!copy) return sb_log(m, SB_ERROR, "there is no memory for a copy of the state");
  memcpy(copy, bytes, size);
  if (!(copy->state.rtol >= SB_FINEST)) copy->state.rtol = SB_RTOL;
  for (int c = 0; c < SB_NC; c++)
    if (copy->state.ticks[c] < 0 || copy->state.ticks[c] > SB_TICK_EXACT) copy->state.ticks[c] = 0;
#if SB_SLIDES
  if (!sb_sound(&copy->state.holds)) memset(&copy->state.holds, 0, sizeof copy->state.holds);
#endif
  *saved = copy;
  return SB_OK;
}

#endif
