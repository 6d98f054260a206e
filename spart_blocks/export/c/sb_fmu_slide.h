/* Sliding in an FMU, besides what all hosts share (sb_slide.h): saved bytes, and the points at which an
   importer's solver evaluates. */

#ifndef SB_FMU_SLIDE_H
#define SB_FMU_SLIDE_H

/* Whether data read from bytes are valid. */
static int sb_sound(const sb_holds *holds) {
  int sound = holds->surfaces >= 0 && holds->surfaces <= SB_SURFACES && holds->contacts >= 0 &&
              holds->contacts <= SB_CONTACTS && holds->met >= 0;
  for (int j = 0; j < holds->surfaces && sound; j++)
    sound = holds->surface[j].k >= 0 && holds->surface[j].k < SB_CROSSINGS;
  for (int c = 0; c < holds->contacts && sound; c++)
    sound = holds->contact[c].k >= 0 && holds->contact[c].k < SB_CROSSINGS;
  return sound;
}

/* x, or, if it is beyond surfaces that were not crossed at the last check, the point just on their
   old sides, where rates continue smoothly. A jump would slow down the importer's solver, and an
   implicit solver would never step over it. */
static const double *sb_this_side(const SB_SELF *m, const double *x, const double *xd,
                                  double *moved) {
  sb_geometry at;
  double g[SB_ROOM(SB_CROSSINGS)];
  int ks[SB_SURFACES], n = 0;
  sb_signals(m, SB_T(m), x, xd, g);
  for (int k = 0; k < SB_CROSSINGS && n < SB_SURFACES; k++)
    if (SB_KIND(m, k) == SB_BEND && !sb_leads(m, k) && SB_G0(m)[k] != 0 &&
        (SB_G0(m)[k] > 0) != (g[k] > 0))
      ks[n++] = k;
  if (!n) return x;
  sb_look_around(m, SB_T(m), x, xd, ks, n, &at);
  sb_onto(&at, x, moved);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < SB_NX; i++)
      moved[i] += (SB_G0(m)[ks[j]] > 0 ? 1 : -1) * SB_BESIDE * at.size[j] *
                  at.along[j * SB_WIDE + i];
  sb_signals(m, SB_T(m), moved, xd, g);
  for (int j = 0; j < n; j++)
    if ((SB_G0(m)[ks[j]] > 0) != (g[ks[j]] > 0)) return x; /* it jumps: no slope leads back */
  return moved;
}

/* Whether the importer's solver has drifted so far off a surface that the states must be projected
   onto it. */
static int sb_strays(const SB_SELF *m) {
  sb_geometry at;
  int ks[SB_SURFACES] = {0}, n = sb_leaders(m, ks), strays = 0;
  if (n) sb_look_around(m, SB_T(m), SB_X(m), SB_XD(m), ks, n, &at);
  for (int j = 0; j < n; j++)
    strays |= fabs(at.g[j]) > 0.1 * SB_NEAR_SURFACE * fabs(at.per[j]) * at.size[j];
  return strays;
}

#endif
