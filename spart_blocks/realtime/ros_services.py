"""The services of a running loop as a node of ROS: start, stop, reset and parameters; its clock.

Parameters are those of `spart live`, set through the same door and within the same bounds.
Source: rcl_interfaces and std_srvs of ROS 2, and REP 2017 (time) for /clock and use_sim_time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from threading import Event, Thread
from typing import Any

import numpy as np

from spart_blocks.base.errors import InputError, counted
from spart_blocks.realtime.live_answers import set_values
from spart_blocks.realtime.loop import Loop
from spart_blocks.ros.cdr import encode
from spart_blocks.ros.graph import Qos
from spart_blocks.ros.library import bundled
from spart_blocks.transports.ros_node import RosNode

CLOCK_PERIOD = 0.01
"""Interval of /clock [s]."""
USE_SIM_TIME = "use_sim_time"
_CLOCK = "rosgraph_msgs/Clock"
# rcl_interfaces/msg/ParameterType
_NOT_SET, _BOOL, _INTEGER, _DOUBLE, _INTEGERS, _DOUBLES = 0, 1, 2, 3, 7, 8
_OF_NUMBERS = {_INTEGER: "integer_value", _DOUBLE: "double_value",
               _INTEGERS: "integer_array_value", _DOUBLES: "double_array_value"}  # fmt: skip

Message = dict[str, Any]


class RosServices:
    """Serves while its context is entered. A parameter of several numbers is an array, row by
    row."""

    def __init__(self, node: RosNode, loop: Loop, *, recorded: bool) -> None:
        """recorded: whether the steps of the loop are recorded, whose replay knows no reset."""
        self.node, self.loop, self.recorded = node, loop, recorded
        self._of_run = node.options.clock == "run"
        self._kept = ExitStack()

    def __enter__(self) -> RosServices:
        services: dict[str, tuple[str, Callable[[Message], Message]]] = {
            "start": ("std_srvs/Trigger", lambda _: self._hold(False)),
            "stop": ("std_srvs/Trigger", lambda _: self._hold(True)),
            "reset": ("std_srvs/Trigger", lambda _: self._reset()),
            "list_parameters": ("rcl_interfaces/ListParameters", self._list),
            "get_parameters": ("rcl_interfaces/GetParameters", self._get),
            "get_parameter_types": ("rcl_interfaces/GetParameterTypes", self._types),
            "describe_parameters": ("rcl_interfaces/DescribeParameters", self._describe),
            "set_parameters": ("rcl_interfaces/SetParameters", self._set),
            "set_parameters_atomically": ("rcl_interfaces/SetParametersAtomically", self._set_all),
        }
        with ExitStack() as kept:
            for name, (kind, answer) in services.items() if self.node.serves else ():
                service = self.node.serve(f"~/{name}", bundled().service(kind), answer)
                kept.callback(service.close)
            if self._of_run:
                kept.callback(self._publish_clock())
            self._kept = kept.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.close()

    # --- running ------------------------------------------------------------------------

    def _publish_clock(self) -> Callable[[], None]:
        """Start to publish /clock; returns what ends it."""
        of = bundled().message(_CLOCK)
        publisher = self.node.publisher("/clock", of, Qos("best_effort", "volatile", 1))
        over = Event()

        def publish() -> None:
            sequence = 0
            while not over.wait(CLOCK_PERIOD):
                sequence += 1
                seconds, rest = divmod(round(self.loop.time * 1e9), 10**9)
                stamp = {"clock": {"sec": seconds, "nanosec": rest}}
                publisher.put(encode(stamp, of), sequence)

        thread = Thread(target=publish, name="spart /clock", daemon=True)
        thread.start()

        def end() -> None:
            over.set()
            thread.join()
            publisher.close()

        return end

    def _hold(self, held: bool) -> Message:
        self.loop.hold(held)
        told = "it sends its safe outputs" if held else "it runs"
        return {"success": True, "message": told}

    def _reset(self) -> Message:
        if self.recorded:
            told = "its steps are recorded, and a replay could not follow a reset"
            return {"success": False, "message": told}
        self.loop.begin_anew()
        return {"success": True, "message": "its next step begins at the initial state"}

    # --- parameters ---------------------------------------------------------------------

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.loop.parameters.names, USE_SIM_TIME)

    def _list(self, request: Message) -> Message:
        """Names below the prefixes, with at most `depth` parts behind them; 0 is any number."""
        prefixes, depth = request["prefixes"], int(request["depth"])
        names = [
            name
            for name in self._names
            if any(_below(name, prefix, depth) for prefix in prefixes or [""])
        ]
        above = sorted({name.rpartition(".")[0] for name in names} - {""})
        return {"result": {"names": names, "prefixes": above}}

    def _get(self, request: Message) -> Message:
        return {"values": [self._value(name) for name in request["names"]]}

    def _value(self, name: str) -> Message:
        if name == USE_SIM_TIME:
            return {"type": _BOOL, "bool_value": self._of_run}
        value = self.loop.parameters.values.get(name)
        if value is None:
            return {"type": _NOT_SET}
        if value.shape == ():
            return {"type": _DOUBLE, "double_value": float(value)}
        return {"type": _DOUBLES, "double_array_value": value.ravel()}

    def _types(self, request: Message) -> Message:
        return {"types": [self._value(name)["type"] for name in request["names"]]}

    def _describe(self, request: Message) -> Message:
        return {"descriptors": [self._descriptor(name) for name in request["names"]]}

    def _descriptor(self, name: str) -> Message:
        told = {"name": name, "type": self._value(name)["type"]}
        if name not in self.loop.parameters.names:
            return {**told, "read_only": name == USE_SIM_TIME}
        low, high = self.loop.parameters.bounds(name)
        shape = self.loop.parameters.shape(name)
        if len(shape) > 1:
            told["description"] = f"shape {'x'.join(map(str, shape))}, row by row"
        if np.isfinite(low) or np.isfinite(high):
            told["floating_point_range"] = [{"from_value": low, "to_value": high}]
        return told

    def _set(self, request: Message) -> Message:
        return {"results": [self._result([one]) for one in request["parameters"]]}

    def _set_all(self, request: Message) -> Message:
        return {"result": self._result(request["parameters"])}

    def _result(self, parameters: Sequence[Message]) -> Message:
        """Set parameters, all or none."""
        try:
            set_values(self.loop, {one["name"]: self._numbers(one) for one in parameters})
        except InputError as error:
            return {"successful": False, "reason": "; ".join(f.message for f in error.faults)}
        return {"successful": True}

    def _numbers(self, parameter: Message) -> Any:
        """The numbers of a parameter in its shape."""
        name, value = parameter["name"], parameter["value"]
        if name == USE_SIM_TIME:
            raise InputError(f"{name} follows from realtime: {{ros: {{clock: }}}} of the diagram")
        if value["type"] not in _OF_NUMBERS:
            raise InputError(f"{name} takes numbers")
        given = np.asarray(value[_OF_NUMBERS[value["type"]]], dtype=float)
        if name not in self.loop.parameters.names:
            return given.tolist()
        shape = self.loop.parameters.shape(name)
        count = int(np.prod(shape, dtype=int))
        if given.size != count:
            raise InputError(f"{name} takes {counted(count, 'number')}, not {given.size}")
        return given.reshape(shape).tolist()


def _below(name: str, prefix: str, depth: int) -> bool:
    """Whether a name is a prefix, or has at most `depth` parts behind it."""
    if prefix and name != prefix and not name.startswith(f"{prefix}."):
        return False
    behind = name[len(prefix) :].strip(".")
    return depth == 0 or len(behind.split(".")) <= depth
