"""The mapping of states that the function of an EVENT block reads and writes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.diagram.network.gates import ungated


class BlockStates(MutableMapping[Any, Any]):
    """States by block, as writable arrays; `states[block] = value` also checks the shape. Keys are
    blocks or their names.
    """

    def __init__(self, states: Mapping[Any, Any]) -> None:
        self._states = dict(states)
        self._named = {getattr(block, "name", block): block for block in states}
        self._gated = {id(plain): b for b in states if (plain := ungated(b)) is not b}

    def __getitem__(self, block: Any) -> Any:
        return self._states[self._key(block)]

    def __setitem__(self, block: Any, value: Any) -> None:
        key = self._key(block)
        state = self._states[key]
        try:
            given = np.shape(value)
        except ValueError:
            given = None  # lists of several lengths
        one = given is not None and state.shape == (1,) and int(np.prod(given)) == 1
        if given != state.shape and not one:
            raise InputError(
                Fault(
                    f"its function gives {brief(value)} for the state of {_name(key)}, "
                    f"which has shape {state.shape}",
                    hint="give as many numbers as the block has states",
                )
            )
        try:
            state[...] = np.reshape(value, state.shape)
        except (TypeError, ValueError):
            text = f"its function gives {brief(value)} for the state of {_name(key)}, not numbers"
            raise InputError(text) from None

    def __delitem__(self, block: Any) -> None:
        text = f"its function deletes the state of {_name(self._key(block))}; a state stays"
        raise InputError(text)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    def __contains__(self, block: object) -> bool:
        return block in self._states or block in self._named

    def _key(self, block: Any) -> Any:
        if isinstance(block, str):
            block = self._named.get(block, block)
        block = self._gated.get(id(block), block)
        if block in self._states:
            return block
        hint = did_you_mean(_name(block), [str(name) for name in self._named])
        raise InputError(Fault(f"its function asks for the state of {_name(block)}", hint=hint))


def _name(block: Any) -> str:
    return str(getattr(block, "name", None) or brief(block))


def call_event(block: Any, states: BlockStates) -> None:
    """Call the function of an EVENT block with the block and the states; or with the block only,
    as bdsim does, if it accepts no more.
    """
    try:
        inspect.signature(block.func).bind(block, states, *block.args, **block.kwargs)
    except TypeError:
        block.func(block, *block.args, **block.kwargs)
    except ValueError:  # a built-in function without a signature
        block.func(block, states, *block.args, **block.kwargs)
    else:
        block.func(block, states, *block.args, **block.kwargs)
