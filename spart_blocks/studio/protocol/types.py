"""Types of blocks and their parameters."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

# The class of a block, by which it is drawn.
Look = Literal[
    "source", "sink", "function", "continuous", "sampled", "subsystem", "border", "variant"
]

# The colours of areas and of blocks that have their own.
Colour = Literal["red", "orange", "yellow", "green", "blue", "violet", "grey"]

# The side to which the outputs of a block lead.
Facing = Literal["right", "down", "left", "up"]


class BlockType(TypedDict):
    """do: "types" -> BlockType[], by subjects in the order of lists."""

    name: str
    # The heading under which it stands in docs/blocks.md and in the palette.
    subject: str
    summary: str
    # What other tools call it; found by search too.
    elsewhere: list[str]
    inputs: list[str]
    outputs: list[str]
    look: Look


class Form(TypedDict):
    """do: "form" {path, at, block}"""

    block: str
    type: str
    summary: str
    description: list[str]
    fields: list[Field]
    ports: list[FormPort]


class FormPort(TypedDict):
    """A port of a block, as its form shows it."""

    name: str
    output: bool
    shape: str
    unit: str
    doc: str


class Kinds(TypedDict):
    """do: "kinds" {path, at, block}: on which conditions a subsystem runs, and whether it has
    copies. block "": that of the sheet."""

    block: str
    # The definition that conditions are edited in; null where it is of another file.
    within: str | None
    # The sheet on which its block is.
    sheet: str | None
    # How many blocks are of this definition.
    used: int
    inputs: list[str]
    kinds: list[Kind]


class Kind(TypedDict):
    kind: Literal["enabled", "triggered", "reset", "for_each"]
    doc: str
    # Whether the subsystem is of this kind.
    given: bool
    fields: list[Field]


class Field(TypedDict):
    name: str
    # What "set" names.
    path: str
    doc: str
    unit: str
    # "actions": an assignment on each line, y = 2*u.
    kind: Literal["number", "integer", "flag", "choice", "text", "array", "any", "actions"]
    choices: list[str]
    # Whether it is a text, such as a formula, or a list of them.
    lines: bool
    # The bounds that the file declares of a parameter of its own.
    min: NotRequired[float | None]
    max: NotRequired[float | None]
    required: bool
    # YAML text of the default; "" where there is none.
    default: str
    # YAML text as the file has it; null where it does not.
    text: str | None
    # Whether it can be changed while a run goes on, and its name for "tune".
    tunable: str | None
