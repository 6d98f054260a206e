/* Adjoint derivatives of FMI 3.0. */

#ifndef SB_FMU_ADJOINT_H
#define SB_FMU_ADJOINT_H

/* d knowns = (d unknowns / d knowns)^T seed. */
static int sb_backward(sb_fmu *m, const uint32_t *unknowns, size_t n_unknowns,
                       const uint32_t *knowns, size_t n_knowns, const double *seed,
                       size_t n_seed, double *sensitivity, size_t room) {
  double out[1 + SB_NX + SB_NXD + SB_NP], *a = m->sensitivity;
  const double *xd = sb_discrete(m);
  if (SB_SLIDES) return sb_log(m, SB_ERROR, SB_NO_DERIVATIVES);
  if (!sb_seeded(m, unknowns, n_unknowns, seed, n_seed)) return SB_ERROR;
  if (m->s.mode & (SB_INSTANTIATED | SB_INITIALIZING)) sb_take_start(m);
  memcpy(a, m->seed, sizeof m->sensitivity);
  sb_model_backward(sb_within(m, m->s.t), sb_continuous(m), xd, m->s.p, m->s.start,
                    m->seed + SB_AT_DX, m->seed + SB_AT_Y, m->seed + SB_AT_G, out);
  a[0] += out[0];
  for (int i = 0; i < SB_NX; i++) a[SB_AT_X + i] += out[1 + i];
  for (int i = 0; i < SB_NXD; i++) a[SB_AT_XD + i] += out[1 + SB_NX + i];
  for (int i = 0; i < SB_NP; i++) a[SB_AT_P + i] += out[1 + SB_NX + SB_NXD + i];
  if (m->s.mode & (SB_INSTANTIATED | SB_INITIALIZING)) {
    for (int i = 0; i < SB_NX; i++) a[SB_AT_P + sb_start_of_x[i]] += a[SB_AT_X + i];
    for (int i = 0; i < SB_NXD; i++)
      if (sb_start_of_xd[i] >= 0) a[SB_AT_P + sb_start_of_xd[i]] += a[SB_AT_XD + i];
  }
  return sb_sensitive(m, knowns, n_knowns, sensitivity, room);
}

#endif
