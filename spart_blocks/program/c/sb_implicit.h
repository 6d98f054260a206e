/* Stages of a linearly implicit step: see sb_step.h, which includes this, and Implicit in
   base/tableaus.py. */

#ifdef SB_LINEARISES

/* L U = I / gamma - h J, with the derivatives at SB_X. Rows are in the order of the pattern, and not
   exchanged: as gamma h goes to zero the diagonal wins, and a pivot without digits gives a step whose
   error is too large. Of U's diagonal the inverse is kept. What is not finite, as the slope of a root at
   zero, counts as none: the error of the step tells whether it may. */
SB_FUNCTION void sb_factor(SB_SELF *m, SB_REAL h) {
  const int n = (int)SB_N(m);
  const int *starts = SB_ROW_STARTS(m), *columns = SB_COLUMNS(m), *diagonal = SB_DIAGONAL(m);
  SB_REAL *J = SB_J(m);
  SB_REAL *SB_RESTRICT lu = SB_LU(m), *SB_RESTRICT row = SB_ROW(m);
  sb_derivatives(m, SB_T(m), SB_X(m), J);
  for (int k = 0; k < (int)SB_ENTRIES(m) + n; k++) J[k] = SB_SELECT(J[k] - J[k] == 0, J[k], SB_OF(0));
  for (int i = 0; i < n; i++) {
    for (int k = starts[i]; k < starts[i + 1]; k++) row[columns[k]] = -h * J[k];
    row[i] += 1 / SB_GAMMA(m);
    for (int k = starts[i]; k < diagonal[i]; k++) {
      const int j = columns[k];
      const SB_REAL factor = row[j] * lu[diagonal[j]];
      lu[k] = factor;
      for (int q = diagonal[j] + 1; q < starts[j + 1]; q++) row[columns[q]] -= factor * lu[q];
    }
    lu[diagonal[i]] = 1 / row[i];
    for (int k = diagonal[i] + 1; k < starts[i + 1]; k++) lu[k] = row[columns[k]];
  }
}

/* Solve with these factors, in place. */
SB_FUNCTION void sb_solve(SB_SELF *m, SB_REAL *SB_RESTRICT b) {
  const int n = (int)SB_N(m);
  const int *starts = SB_ROW_STARTS(m), *columns = SB_COLUMNS(m), *diagonal = SB_DIAGONAL(m), *order = SB_ROW_STATES(m);
  const SB_REAL *SB_RESTRICT lu = SB_LU(m);
  SB_REAL *SB_RESTRICT y = SB_ROW(m);
  for (int i = 0; i < n; i++) {
    SB_REAL sum = b[order[i]];
    for (int k = starts[i]; k < diagonal[i]; k++) sum -= lu[k] * y[columns[k]];
    y[i] = sum;
  }
  for (int i = n - 1; i >= 0; i--) {
    SB_REAL sum = y[i];
    for (int k = diagonal[i] + 1; k < starts[i + 1]; k++) sum -= lu[k] * y[columns[k]];
    y[i] = sum * lu[diagonal[i]];
    b[order[i]] = y[i];
  }
}

/* The slope of implicit stage s of a step of length h. The first is along the slope at SB_X. */
SB_INLINE void sb_implicit_stage(SB_SELF *m, int s, SB_REAL h) {
  const int n = (int)SB_N(m), stages = (int)SB_STAGES_OF(m);
  const SB_REAL *drift = SB_J(m) + SB_ENTRIES(m), part = h * SB_GAMMA_SUMS(m)[s];
  SB_REAL *K = SB_K(m) + s * n, *more = SB_ROW(m); /* free until it is solved */
  if (s == 1) {
    for (int i = 0; i < n; i++) K[i] = SB_K(m)[i] + part * drift[i];
  } else {
    sb_stage(m, s, h);
    sb_slope(m, SB_T(m) + SB_C(m)[s] * h, SB_XT(m), K);
    sb_combine(m, SB_GAMMAS(m) + s * stages, s, more);
    for (int i = 0; i < n; i++) K[i] += more[i] + part * drift[i];
  }
  sb_solve(m, K);
}

#if defined(SB_CONTROLS) && defined(SB_LOCATES)

SB_FUNCTION SB_REAL sb_norm(const SB_SELF *m, const SB_REAL *v, const SB_REAL *x, const SB_REAL *y);
SB_FUNCTION void sb_dense(SB_SELF *m, SB_REAL h, SB_REAL theta, SB_REAL *SB_RESTRICT out);

/* Of the step of length h just tried, its error or, if this is larger, that of its middle: by how much
   dense output misses the rates there, solved with the factors, so that what decays fast counts by its
   size. It is right at the end of any step, however long, but not within. */
SB_FUNCTION SB_REAL sb_error_within(SB_SELF *m, SB_REAL h, SB_REAL error) {
  const int n = (int)SB_N(m), stages = (int)SB_STAGES_OF(m), order = SB_DENSE_ORDER(m);
  const SB_MASK looks = error < 1;
  SB_REAL *off = SB_XM(m), within;
  if (!SB_ANY(looks)) return error;
  sb_dense(m, h, SB_OF((SB_SCALAR)0.5), SB_XT(m));
  sb_slope(m, SB_T(m) + (SB_SCALAR)0.5 * h, SB_XT(m), off);
  for (int j = 0; j < stages; j++) { /* what is left of P in the middle, differentiated */
    const SB_SCALAR weight = SB_P(m)[j * order] + SB_P(m)[j * order + 1];
    for (int i = 0; i < n; i++) off[i] -= weight * SB_K(m)[j * n + i];
  }
  for (int i = 0; i < n; i++) off[i] *= h;
  sb_solve(m, off);
  within = sb_norm(m, off, SB_X(m), SB_XN(m));
  return SB_SELECT(SB_NOT(looks) | (within < error), error, within); /* also what is no number */
}

#endif

#endif
