"""Kalman filters of nonlinear plants at the ticks of a clock: extended and unscented."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import SampledBlock

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.estimation import (
    cholesky,
    corrected,
    covariance,
    gain_of,
    scalar_or,
)
from spart_blocks.block_support.filters import Filter
from spart_blocks.block_support.of_formulas import WithParams
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.plants.model_source import FormulaModel, PlantModel
from spart_blocks.block_support.ports import Port, port_arguments
from spart_blocks.block_support.values import names_of
from spart_blocks.formulas.reader import read_formula
from spart_blocks.formulas.values import input_names, parameter_values

_METHODS = ("rk4", "none")


class _Nonlinear(Filter, WithParams):
    """A filter whose model is found before a run: `model_source` says where, `found` gets it.

    :arg Q: intensity of the process noise w, with `none` its covariance at a tick: a number, n
        numbers or a matrix
    :arg R: covariance of the measurement noise v, positive definite
    :arg P0: covariance of the initial estimate
    :arg f: a formula for the rate of each state, or for the next state
    :arg h: a formula for each measurement
    :arg states: names of the states in the formulas
    :arg controls: names of the entries of u in the formulas, or of the inputs of the plant
    :arg params: numbers and arrays of the formulas by name; each is a parameter of the block
    :arg plant: in the place of formulas, the block or blocks of a diagram
    :arg outputs: the signals of the plant that are measured, such as plant.qm
    :arg model: the diagram that has the plant, this one by default
    :arg x0: estimate before the first measurement; zeros, or the initial state of the plant
    :arg method: rk4 or none
    :arg steps: steps of Runge-Kutta's method between ticks
    :arg current: whether the outputs use the measurement of the tick
    """

    nin = 3
    nout = 3

    Q = tunable("float or n, n")
    R = tunable("float or p, p")
    P0 = fixed("float or n, n")
    f = fixed("str or list of str", "", None)
    h = fixed("str or list of str", "", None)
    states = fixed("list of str", "", None)
    controls = fixed("list of str", "", None)
    params = fixed("mapping", "", None)
    plant = fixed("str or list of str", "", None)
    outputs = fixed("list of str", "", None)
    model = fixed("path", "", None)
    x0 = fixed("float or n", "", None)
    method = fixed("str", "", "rk4", choices=_METHODS)
    steps = fixed("int", "", 1, least=1, most=100)
    current = fixed("bool", "", True)
    T: float
    model_source: FormulaModel | PlantModel

    def build(
        self, Q: Any, R: Any, P0: Any, x0: Any, controls: Any, plant: Any, outputs: Any, model: Any,
        method: str, steps: int, current: bool, **formulas: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """Keep what is given; returns the arguments of the constructor."""
        self._noise, self._x0_given, self.current = (Q, R, P0), x0, current
        self._model: Any = None
        self.steps = steps
        continuous = method == "rk4"
        self._params = {}
        if plant is None:
            if any(formulas[name] is None for name in ("f", "h", "states")):
                hint = "or plant and outputs, for blocks of a diagram"
                raise InputError(Fault("it takes f, h and states", hint=hint))
            for name, value in (("outputs", outputs), ("model", model)):
                if value is not None:
                    raise InputError(f"{name} is of a plant of a diagram; name that as plant")
            self.model_source = self._of_formulas(
                controls=controls, continuous=continuous, **formulas
            )
            self.tunable = ("Q", "R", *self._params)
            n, m, p = (len(getattr(self.model_source, key)) for key in ("states", "inputs", "h"))
            return self._sized(n, m, p, np.zeros(n))
        if not all(value is None for value in formulas.values()):
            raise InputError("it takes f, h, states and params, or plant; not both")
        if not continuous:
            raise InputError("method none is for formulas; a plant of a diagram has rates")
        self.model_source = PlantModel(
            names_of(plant, "plant"), names_of(controls or (), "controls"),
            names_of(outputs or (), "outputs"), model,
        )  # fmt: skip
        if not self.model_source.outputs:
            raise InputError("outputs: name the signals that are measured, as [plant.qm]")
        # Their shapes are not known before the model is.
        self.in_ports, self.out_ports = (
            tuple(Port(spec.name, optional=spec.optional) for spec in side)
            for side in (self.takes, self.gives)
        )
        ports = port_arguments(self.in_ports, self.out_ports)
        return {"x0": np.zeros(1), "feedthrough": current, **ports}

    def _of_formulas(
        self, f: Any, h: Any, states: Any, controls: Any, params: Any, continuous: bool
    ) -> FormulaModel:
        names = input_names(states, "states")
        given = () if controls is None else input_names(controls, "controls")
        input_names((*names, *given), "states and controls")
        self._params = parameter_values(params, (*names, *given))
        known = {*names, *given, *self._params}
        sides = []
        for name, texts in (("f", f), ("h", h)):
            texts = [texts] if isinstance(texts, str) else texts
            if not isinstance(texts, (list, tuple)) or not texts:
                raise InputError(f"{name} is a formula or a list of them, not {brief(texts)}")
            sides.append(tuple(read_formula(text, known) for text in texts))
        if len(sides[0]) != len(names):
            raise InputError(f"f has {len(sides[0])} formulas, there are {len(names)} states")
        shapes = {name: np.shape(value) for name, value in self._params.items()}
        f_read, h_read = sides
        return FormulaModel(f_read, h_read, names, given, shapes, continuous)

    def _sized(self, n: int, m: int, p: int, x0: Array) -> dict[str, Any]:
        """Keep the covariances; returns the arguments of the constructor."""
        Q, R, P0 = self._noise
        self._n = n
        self.Q, self.R = covariance(Q, "Q", n), covariance(R, "R", p, definite=True)
        start = self.begin(x0 if self._x0_given is None else self._x0_given, P0, p)
        ports = self.resolve_ports(n=n, m=scalar_or(max(m, 1)), p=scalar_or(p))
        return {"x0": start, "feedthrough": self.current, **ports}

    @property
    def pending(self) -> bool:
        """Whether the model still has to be found."""
        return self._model is None

    def found(self, model: Any) -> None:
        """Take the model, and of a diagram's plant the sizes."""
        if isinstance(self.model_source, PlantModel):
            self._x0 = self._sized(model.n, model.m, model.q, model.x0)["x0"]
            self.ndstates = len(self._x0)
        self._model = model

    def _seen(self, t: Any, mean: Any, u: Any) -> tuple[Any, Any]:
        """The measurements of a state, and their derivative."""
        found: tuple[Any, Any] = self._known.seen(*self._at(t, mean, u))
        return found

    def _moved(self, t: Any, mean: Any, u: Any) -> tuple[Any, Any]:
        """The state at the next tick, and its derivative."""
        found: tuple[Any, Any] = self._known.moved(*self._at(t, mean, u))
        return found

    @property
    def _known(self) -> Any:
        if self.pending:
            raise RuntimeError("its model is not found yet; sb.simulate and the like find it")
        return self._model

    def _at(self, t: Any, mean: Any, u: Any) -> tuple[Any, Any, Any, Any]:
        """The arguments of the model."""
        values = [np.ravel(self.__dict__[name]) for name in self._params]
        return t, mean, u[: self._model.m], np.concatenate([np.zeros(0), *values])

    @property
    def _added(self) -> Any:
        """The covariance of the process noise from tick to tick."""
        of_rates = not isinstance(self.model_source, FormulaModel) or self.model_source.continuous
        return self.Q * self.T if of_rates else self.Q


class Ekf_S(_Nonlinear, SampledBlock):
    """The extended Kalman filter of a plant x' = f(t, x, u) + w, y = h(t, x, u) + v at the ticks of
    a clock.

    The plant is given by formulas, as of FCN, or is that of a diagram: `plant` names blocks of
    this diagram, or of the diagram `model`, whose loop is opened at `controls`; all that moves them
    without a clock is part of the model. x is then the state of all of them, in the order of the
    diagram. Rates are integrated from tick to tick by Runge-Kutta's method of order 4 with u held;
    with `none` f gives the next state. The derivatives of f and h are exact.

    x_hat and P are corrected by the measurement of the tick, in Joseph's form, and the block feeds
    through. With `current: false` they are the predictions from the ticks before, and innovation is
    that of the last tick: then it may close a loop. At a tick with `skip` above zero there is
    no measurement. All outputs are held.

    Source: A. Gelb, "Applied Optimal Estimation" (1974), sec. 6.1; D. Simon, "Optimal State
    Estimation" (2006), sec. 13.2.

    """

    def correct(self, t: Any, mean: Any, P: Any, u: Any, y: Any) -> tuple[Any, Any, Any]:
        expected, C = self._seen(t, mean, u)
        e = y - expected
        return (*corrected(mean, P, e, C, self.R), e)

    def predict(self, t: Any, mean: Any, P: Any, u: Any) -> tuple[Any, Any]:
        moved, F = self._moved(t, mean, u)
        return moved, F @ P @ F.T + self._added


class Ukf_S(_Nonlinear, SampledBlock):
    """The unscented Kalman filter of a plant x' = f(t, x, u) + w, y = h(t, x, u) + v at the ticks
    of a clock.

    Mean and covariance are those of 2 n + 1 sigma points, on which the model acts: x and x plus and
    minus the columns of the Cholesky factor of (n + lambda) P, with lambda = alpha^2 (n + kappa) -
    n. They are drawn anew for the measurement. The plant, the ports and the other parameters are
    as of EKF_S.

    Source: S. Julier and J. Uhlmann, "Unscented Filtering and Nonlinear Estimation", Proc. IEEE 92
    (2004); E. Wan and R. van der Merwe, "The Unscented Kalman Filter for Nonlinear Estimation"
    (2000), table 7.3.

    :arg alpha: spread of the sigma points
    :arg beta: weight of the central point in covariances; 2 is best for Gaussian noise
    :arg kappa: second parameter of the spread, above -n
    """

    alpha = fixed("float", "", 0.1, above=0)
    beta = fixed("float", "", 2.0)
    kappa = fixed("float", "", 0.0)

    def build(  # type: ignore[override]
        self, alpha: Any, beta: Any, kappa: Any, **given: Any
    ) -> dict[str, Any]:
        self._alpha, self._beta, self._kappa = alpha, beta, kappa
        return super().build(**given)

    def _sized(self, n: int, m: int, p: int, x0: Array) -> dict[str, Any]:
        if n + self._kappa <= 0:
            raise InputError(f"kappa must be above -{n}, less the number of states")
        self._spread = self._alpha**2 * (n + self._kappa)
        self.rounding_gain = 1.0 / self._spread  # of the differences of points close together
        return super()._sized(n, m, p, x0)

    def _points(self, mean: Any, P: Any) -> tuple[list[Any], Any]:
        """The sigma points, the mean first, and the differences of the others from it (2 n, n)."""
        columns = np.sqrt(self._spread) * cholesky(P).T
        off = np.concatenate([columns, -columns])
        return [mean, *(mean + one for one in off)], off

    def _moments(self, values: list[Any]) -> tuple[Any, Any, Any]:
        """The mean of the model's values (2 n + 1, m) at the points, the differences of the others
        from the first (2 n, m), and their covariance (m, m).

        The weights are W = 1 / (2 alpha^2 (n + kappa)), and for the first 1 - 2 n W, of the
        covariance 2 - 2 n W - alpha^2 + beta. They are large where alpha is small, and their sum is
        1: with d_i = y_i - y_0 and s = W sum d_i the mean is y_0 + s, and the covariance W sum d_i
        d_i' + (beta - alpha^2) s s', without the loss of digits.
        """
        rows = np.stack(values)
        off, weight = rows[1:] - rows[0], 0.5 / self._spread
        shift = weight * np.sum(off, axis=0)
        beyond = (self._beta - self._alpha**2) * shift[:, None] * shift[None, :]
        return rows[0] + shift, off, weight * (off.T @ off) + beyond

    def correct(self, t: Any, mean: Any, P: Any, u: Any, y: Any) -> tuple[Any, Any, Any]:
        points, dx = self._points(mean, P)
        expected, dy, spread = self._moments([self._seen(t, x, u)[0] for x in points])
        S = spread + self.R
        K = gain_of(0.5 / self._spread * (dx.T @ dy), S)
        e = y - expected
        return mean + K @ e, P - K @ S @ K.T, e

    def predict(self, t: Any, mean: Any, P: Any, u: Any) -> tuple[Any, Any]:
        points, _ = self._points(mean, P)
        moved, _, spread = self._moments([self._moved(t, x, u)[0] for x in points])
        return moved, spread + self._added
