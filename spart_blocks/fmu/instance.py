"""A running FMU: FMPy's calls, in the order in which FMI has them, and what it logs."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import SpartError, readable
from spart_blocks.fmu.archive import INTEGERS, FmuVariable, Model

Floats = NDArray[np.float64]
Log = deque[str]

_TOLD, _LONGEST = 5, 300
"""Of the messages of an FMU, how many an error has, and how many characters of each."""
_WARNING, _DISCARD, _FATAL = 1, 2, 4
_RANGES = {kind: np.iinfo({"Integer": "int32"}.get(kind, kind.lower())) for kind in INTEGERS}


class FmuError(SpartError):
    """A call of an FMU that failed, with its status, if that is why.

    fatal: the instance cannot even be freed. discarded: it can be called again, with other
    numbers.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        self.fatal, self.discarded = status == _FATAL, status == _DISCARD
        super().__init__(message)


@dataclass(frozen=True)
class Channel:
    """Variables of one kind, which one call sets or gets: where their numbers lie in the
    flat vector of a side."""

    kind: str
    references: tuple[int, ...]
    names: tuple[str, ...]
    places: NDArray[np.intp]


def channels_of(
    variables: Sequence[FmuVariable], chosen: Callable[[FmuVariable], bool] = lambda _: True
) -> tuple[Channel, ...]:
    """The channels of the chosen variables, out of a flat vector in which these variables are
    concatenated.
    """
    starts = np.cumsum([0, *(v.size for v in variables)])
    found = []
    for kind in dict.fromkeys(v.kind for v in variables if chosen(v)):
        mine = [k for k, v in enumerate(variables) if v.kind == kind and chosen(v)]
        places = [np.arange(starts[k], starts[k + 1]) for k in mine]
        names = [v.name for k in mine for v in [variables[k]] * variables[k].size]
        references = tuple(variables[k].reference for k in mine)
        found.append(Channel(kind, references, tuple(names), np.concatenate(places)))
    return tuple(found)


@dataclass
class Instance:
    """An FMU that has been initialised at time `start` [s].

    folder: where its file is unpacked. values: start values by variable. Raises FmuError;
    the caller closes it, also after an error.
    """

    model: Model
    folder: Path
    name: str
    inputs: tuple[Channel, ...]
    outputs: tuple[Channel, ...]
    values: Mapping[str, Any]
    start: float
    log: Log = field(default_factory=lambda: deque(maxlen=_TOLD))
    classes: ClassVar[tuple[str, str]]
    """FMPy's classes for FMI 2 and 3."""
    survives: ClassVar[bool] = False
    """Whether it can be used after it has discarded a call."""
    _slave: Any = None
    _key: int = 0
    _running: bool = False

    def __post_init__(self) -> None:
        try:
            with self._calling("cannot be started"):
                self._slave = _loaded(self)
                self._instantiate()
                self._begin()
        except FmuError as error:
            self.close(error.fatal)
            raise

    def _instantiate(self) -> None:
        # Some FMUs report the reason of a failure only if all logging is on.
        if self.model.major == 2:
            self._key = next(_KEYS)
            _LOGS[self._key] = self.log
            self._slave.instantiate(callbacks=_callbacks(self._key), loggingOn=True)
        else:
            self._slave.instantiate(logMessage=_keeper(self.log), loggingOn=True)

    def _begin(self) -> None:
        slave = self._slave
        for name, value in self.values.items():
            self._set_start(self.model.variables[name], value)
        if self.model.major == 2:
            slave.setupExperiment(startTime=self.start)
            slave.enterInitializationMode()
        else:
            slave.enterInitializationMode(startTime=self.start)
        slave.exitInitializationMode()
        self._running = True

    def _set_start(self, variable: FmuVariable, value: Any) -> None:
        if variable.of == "String":
            self._slave.setString([variable.reference], [value])
            return
        flat = np.broadcast_to(np.asarray(value, float), variable.shape).ravel()
        for channel in channels_of([variable]):
            self._set(channel, flat)

    def read(self) -> Floats:
        """The current outputs, concatenated."""
        out = np.empty(sum(len(channel.places) for channel in self.outputs))
        with self._calling("does not give its outputs"):
            for channel in self.outputs:
                out[channel.places] = self._get(channel)
        return out

    def close(self, fatal: bool = False) -> None:
        """Terminate and free the instance. After a fatal error FMI forbids further calls."""
        slave, self._slave = self._slave, None
        if slave is None:
            return
        _LOGS.pop(self._key, None)
        if fatal:
            return
        with suppress(Exception):  # nobody can be informed any more
            if self._running:
                slave.terminate()
        with suppress(Exception):
            if slave.component:
                slave.freeInstance()  # and unloads the library
            else:
                slave.freeLibrary()

    def _get(self, channel: Channel) -> Any:
        get = getattr(self._slave, f"get{channel.kind}")
        if self.model.major == 2:
            return get(channel.references)
        return get(channel.references, len(channel.places))

    def _set(self, channel: Channel, u: Floats) -> None:
        values: Any = u[channel.places]
        if channel.kind == "Boolean":
            values = [bool(value) for value in values]
        elif channel.kind in _RANGES:
            values = [
                _integer(*pair, channel.kind) for pair in zip(values, channel.names, strict=True)
            ]
        else:
            values = values.tolist()
        getattr(self._slave, f"set{channel.kind}")(channel.references, values)

    @contextmanager
    def _calling(self, what: str) -> Iterator[None]:
        """Turn exceptions of calls into FmuError, with the FMU's log messages."""
        self.log.clear()
        try:
            yield
        except Exception as error:
            status = getattr(error, "status", None)
            if status != _DISCARD or not self.survives:
                self._running = False  # from here on, FMI only allows freeing it
            told = "\n".join(f"  {line}" for line in self.log)
            text = f"the FMU {self.model.path.name} {what}: {_first_line(error)}"
            raise FmuError(f"{text}\n{told}" if told else text, status) from error


class CoSimulated(Instance):
    """An FMU that steps with its own solver."""

    classes = ("FMU2Slave", "FMU3Slave")

    def step(self, t: float, h: float, u: Floats) -> float | None:
        """Step from t to t + h [s] with the concatenated inputs u. Returns the time reached if its
        model requests the end of the run.
        """
        with self._calling(f"failed in its step from t = {t:.9g} s to {t + h:.9g} s"):
            for channel in self.inputs:
                self._set(channel, u)
            reached = self._step_2(t, h) if self.model.major == 2 else self._step_3(t, h)
        return None if reached is None else min(max(reached, t), t + h)

    def _step_2(self, t: float, h: float) -> float | None:
        from fmpy.fmi2 import fmi2LastSuccessfulTime, fmi2Terminated

        slave = self._slave
        try:
            slave.doStep(t, h)
        except Exception as error:
            if getattr(error, "status", None) != _DISCARD or not _told(
                slave.getBooleanStatus, fmi2Terminated
            ):
                raise
            reached = _told(slave.getRealStatus, fmi2LastSuccessfulTime)
            return t if reached is None else float(reached)
        return None

    def _step_3(self, t: float, h: float) -> float | None:
        _, ended, early, reached = self._slave.doStep(t, h)
        if ended:
            return float(reached)
        if early:
            raise FmuError(f"it returned early, at t = {reached:.9g} s")
        return None


def _told(ask: Callable[[int], Any], kind: int) -> Any:
    """The FMU's status of its last step; None if it gives none."""
    with suppress(Exception):  # FMI makes the answer optional
        return ask(kind)
    return None


def _integer(value: float, name: str, kind: str) -> int:
    number = int(np.rint(value))
    limits = _RANGES[kind]
    if not limits.min <= number <= limits.max:
        raise FmuError(f"{name} is {number}, it takes {limits.min} to {limits.max}")
    return number


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0].removesuffix(".") if text else type(error).__name__


# --- FMPy ----------------------------------------------------------------------------------


_LOGS: dict[int, Log] = {}
"""Log messages of the running FMI 2.0 instances, by instance number."""
_KEYS = itertools.count(1)


def _loaded(instance: Instance) -> Any:
    """FMPy's object for the library, which it loads."""
    from fmpy import fmi2, fmi3

    model, (two, three) = instance.model, instance.classes
    made = getattr(fmi2, two) if model.major == 2 else getattr(fmi3, three)
    here = os.getcwd()
    try:
        return made(
            guid=model.token,
            modelIdentifier=model.identifier,
            unzipDirectory=str(instance.folder),
            instanceName=instance.name,
        )
    except AttributeError as error:  # dlsym's words
        raise FmuError(f"its library is not one of FMI {model.major}: {error}") from error
    finally:
        os.chdir(here)  # FMPy leaves the working directory in the library's folder if loading fails


def _keeper(log: Log) -> Callable[..., None]:
    """The log callback of FMI 3.0."""

    def keep(environment: Any, status: int, category: bytes, message: bytes) -> None:
        _note(log, status, message)

    return keep


def _note(log: Log, status: int, message: bytes | None) -> None:
    if status >= _WARNING and message:
        text = readable(message.decode("utf-8", "replace").strip())
        log.append(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...")


def _callbacks(key: int) -> Any:
    """The callbacks of an instance. Their logger is FMPy's proxy, which formats a message like C
    and passes it on to one function per process: the last that was added. FMPy adds its own for an
    FMU that it simulates, so ours is added for each instance.
    """
    from fmpy import fmi2
    from fmpy.logging import addLoggerProxy

    made = fmi2.fmi2CallbackFunctions()
    made.logger = _logger()
    made.allocateMemory = fmi2.defaultCallbacks.allocateMemory
    made.freeMemory = fmi2.defaultCallbacks.freeMemory
    made.componentEnvironment = key
    addLoggerProxy(fmi2.byref(made))
    return made


@cache
def _logger() -> Any:
    """The function that gets the messages of all instances, kept alive. It distinguishes them, and
    passes those of FMPy's own instances to FMPy's function.
    """
    from fmpy import fmi2

    def keep(environment: int | None, name: bytes, status: int, kind: bytes, text: bytes) -> None:
        if environment is None:
            fmi2.printLogMessage(environment, name, status, kind, text)
        elif environment in _LOGS:
            _note(_LOGS[environment], status, text)

    return fmi2.fmi2CallbackLoggerTYPE(keep)
