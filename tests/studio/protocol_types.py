"""Whether what the studio says to its page is of the types of its protocol."""

from __future__ import annotations

import types
from typing import (
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from spart_blocks.studio.protocol.messages import ANSWERS, Told
from spart_blocks.studio.protocol.problems import Answer

_NUMBERS = {int: int, float: (int, float), str: str, bool: bool}


def check_answer(what, found):
    """An answer to a request, {"ok"} or {"problem"}."""
    check({"n": 0, **found}, Answer, what)
    if "ok" in found and what in ANSWERS:
        check(found["ok"], ANSWERS[what], what)


def check_told(message):
    """A message that is no answer."""
    check(message, Told, f"told {message.get('tell')}")


def check(value, kind, at):
    """AssertionError where a value, as JSON has it, is not of a type."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return
    if is_typeddict(kind):
        _check_fields(value, kind, at)
    elif origin in (Union, types.UnionType):
        _check_any(value, inner, at)
    elif origin is Literal:
        assert value in inner, f"{at}: {value!r} is not one of {inner}"
    elif origin is list:
        assert isinstance(value, list), f"{at}: {value!r} is no list"
        for k, one in enumerate(value):
            check(one, inner[0], f"{at}[{k}]")
    elif origin is tuple:
        assert len(value) == len(inner), f"{at}: {value!r} has not {len(inner)} entries"
        for one, of in zip(value, inner, strict=True):
            check(one, of, at)
    elif origin is dict:
        assert isinstance(value, dict), f"{at}: {value!r} is no mapping"
        for key, one in value.items():
            check(key, inner[0], at)
            check(one, inner[1], f"{at}.{key}")
    elif kind in (None, types.NoneType):
        assert value is None, f"{at}: {value!r} is not null"
    else:
        fits = isinstance(value, _NUMBERS[kind]) and (kind is bool or not isinstance(value, bool))
        assert fits, f"{at}: {value!r} is no {kind.__name__}"


def _check_fields(value, kind, at):
    assert isinstance(value, dict), f"{at}: {value!r} is no {kind.__name__}"
    hints = get_type_hints(kind, include_extras=True)
    unknown = value.keys() - hints.keys()
    assert not unknown, f"{at}: {kind.__name__} has no {sorted(unknown)}"
    for name, of in hints.items():
        optional = get_origin(of) is NotRequired
        if name in value:
            check(value[name], get_args(of)[0] if optional else of, f"{at}.{name}")
        else:
            assert optional, f"{at}: {kind.__name__} lacks {name}"


def _check_any(value, kinds, at):
    """One of several types; of messages with a `tell`, the one that it names."""
    if isinstance(value, dict) and "tell" in value:
        tells = {get_args(get_type_hints(kind)["tell"])[0]: kind for kind in kinds}
        assert value["tell"] in tells, f"{at}: it is not in the protocol"
        check(value, tells[value["tell"]], at)
        return
    errors = []
    for kind in kinds:
        try:
            check(value, kind, at)
        except AssertionError as error:
            errors.append(str(error))
        else:
            return
    raise AssertionError("; ".join(errors))
