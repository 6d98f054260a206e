/* CVODE of SUNDIALS over the functions of a program, for stiff.py: `go` integrates from 0 to T and
   returns the seconds of its calls; states at T are written into x. */

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <stddef.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <time.h>

static const double *held;
static long long integers[LARGEST + 1];
static double room[LARGEST + 1], entries[NONZEROS + 1];

static int call(int (*f)(const double **, double **, long long *, double *, int), double t, const double *x,
                double *out) {
  const double *arg[8] = {&t, x, held, held};
  double *res[2] = {out};
  return f(arg, res, integers, room, 0);
}

static int rates_of(realtype t, N_Vector x, N_Vector out, void *user) {
  (void)user;
  return call(program_rates, t, N_VGetArrayPointer(x), N_VGetArrayPointer(out));
}

static int jacobian_of(realtype t, N_Vector x, N_Vector f, SUNMatrix J, void *user, N_Vector a, N_Vector b,
                       N_Vector c) {
  (void)f, (void)user, (void)a, (void)b, (void)c;
  if (SPARSE) {
    sunindextype *starts = SUNSparseMatrix_IndexPointers(J), *rows = SUNSparseMatrix_IndexValues(J);
    call(program_jacobian, t, N_VGetArrayPointer(x), SUNSparseMatrix_Data(J));
    for (int k = 0; k <= STATES; k++) starts[k] = column_starts[k];
    for (int k = 0; k < NONZEROS; k++) rows[k] = row_numbers[k];
    return 0;
  }
  call(program_jacobian, t, N_VGetArrayPointer(x), entries);
  SUNMatZero(J);
  for (int j = 0; j < STATES; j++)
    for (int k = column_starts[j]; k < column_starts[j + 1]; k++)
      SUNDenseMatrix_Column(J, j)[row_numbers[k]] = entries[k];
  return 0;
}

static int roots_of(realtype t, N_Vector x, realtype *out, void *user) {
  (void)user;
  return call(program_roots, t, N_VGetArrayPointer(x), out);
}

double go(double *x, const double *p, double T, double rtol, double atol, long *steps) {
  SUNContext context;
  struct timespec begun, ended;
  double t = 0;
  held = p;
  SUNContext_Create(NULL, &context);
  N_Vector state = N_VMake_Serial(STATES, x, context);
  void *solver = CVodeCreate(CV_BDF, context);
  SUNMatrix matrix =
      SPARSE ? SUNSparseMatrix(STATES, STATES, NONZEROS, CSC_MAT, context) : SUNDenseMatrix(STATES, STATES, context);
  CVodeInit(solver, rates_of, 0, state);
  CVodeSStolerances(solver, rtol, atol);
  SUNLinearSolver linear = SPARSE ? SUNLinSol_KLU(state, matrix, context) : SUNLinSol_Dense(state, matrix, context);
  CVodeSetLinearSolver(solver, linear, matrix);
  CVodeSetJacFn(solver, jacobian_of);
  CVodeSetMaxNumSteps(solver, 10000000);
  CVodeSetStopTime(solver, T);
  if (ROOTS) CVodeRootInit(solver, ROOTS, roots_of);
  clock_gettime(CLOCK_MONOTONIC, &begun);
  int flag;
  long before = 0;
  *steps = 0;
  while ((flag = CVode(solver, T, state, &t, CV_NORMAL)) == CV_ROOT_RETURN) {
    CVodeGetNumSteps(solver, &before);
    *steps += before;
    CVodeReInit(solver, t, state);
  }
  clock_gettime(CLOCK_MONOTONIC, &ended);
  CVodeGetNumSteps(solver, &before);
  *steps += before;
  if (flag < 0) *steps = flag;
  CVodeFree(&solver);
  SUNLinSolFree(linear);
  SUNMatDestroy(matrix);
  N_VDestroy(state);
  SUNContext_Free(&context);
  return (double)(ended.tv_sec - begun.tv_sec) + 1e-9 * (double)(ended.tv_nsec - begun.tv_nsec);
}
