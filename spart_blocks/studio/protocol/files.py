"""The project, and a file with its sheets."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from spart_blocks.studio.protocol.charts import Chart
from spart_blocks.studio.protocol.problems import Point, Problem, WrapOperation
from spart_blocks.studio.protocol.types import Colour, Facing, Field, Look


class Project(TypedDict):
    """do: "project". do: "named" -> string | null: the file that the command line named."""

    name: str
    diagrams: list[ProjectDiagram]
    # Where a new diagram goes: "diagrams/", or "" for the root.
    folder: str


class ProjectDiagram(TypedDict):
    # From the project's root, with slashes.
    path: str
    name: str
    description: str
    blocks: int
    # Its picture: GET /thumbnail?path=...
    problem: str | None


class Opened(TypedDict):
    """do: "open" {path}; also the answer of what changes a file. do: "new" {path, name} writes the
    file of a diagram without blocks, which is not there yet, and opens it. do: "close" {path}."""

    path: str
    name: str
    description: str
    # Of the text; edits name the one they were made for.
    revision: str
    # Mistakes of the diagram as it is; it runs when there are none.
    problems: list[Problem]
    undo: str | None
    redo: str | None
    # Slots of variants.
    variants: list[Slot]
    # Names of subsystems of the file, each a definition that blocks may be of.
    subsystems: list[str]
    params: list[Field]
    # Its robots and clocks, each a section as text.
    robots: list[Field]
    clocks: list[Field]
    run: RunOptions


class Slot(TypedDict):
    """A slot of variants."""

    slot: str
    choices: list[str]
    # The one that is shown and run, and the file's own.
    chosen: str
    default: str


class RunOptions(TypedDict):
    """How a file is run."""

    T: float
    solver: str


class Sheet(TypedDict):
    """do: "sheet" {path, at}: the blocks of the whole (at = "") or of a subsystem's instance
    ("arm/servo"), laid out. Lengths are in pixels at zoom 1."""

    at: str
    # The definition that edits name in `within`; null where the sheet is of another file, and so
    # cannot be edited here.
    within: str | None
    # Another one after each change.
    version: int
    # When the subsystem runs, and how many copies of it there are, in words.
    runs: list[str]
    blocks: list[SheetBlock]
    wires: list[SheetWire]
    # Of a state machine, which has no blocks: its chart.
    chart: NotRequired[Chart]
    notes: list[SheetNote]
    areas: list[SheetArea]


class SheetNote(TypedDict):
    """A text on a sheet. index: of the note in the file."""

    index: int
    text: str
    # Its upper left corner.
    x: float
    y: float
    # The block that it stays with, or null.
    by: str | None


class SheetArea(TypedDict):
    """A coloured rectangle around blocks. index: of the area in the file."""

    index: int
    title: str
    colour: Colour
    blocks: list[str]


class SheetBlock(TypedDict):
    name: str
    type: str
    # What it looks like: its class.
    look: Look
    x: float
    y: float
    width: float
    height: float
    # Whether a person has put it there.
    moved: bool
    inputs: list[SheetPort]
    outputs: list[SheetPort]
    # Outputs that it gets when a wire begins at them: "umdot", "audit.p".
    further: list[str]
    # The sheet that it opens, or null.
    opens: str | None
    # Of a subsystem from another file: the file, to open it.
    file: str | None
    clock: str | None
    face: BlockFace
    # The middle of its name and face, from its left edge: between the texts at its ports.
    centre: float
    # The side to which its outputs lead.
    facing: Facing
    # Its own colour; null for that of its class.
    colour: Colour | None
    # Whether its name is shown.
    named: bool
    problems: list[Problem]


class BlockFace(TypedDict):
    """What a block shows of its function in its box: a drawing, a text, or a fraction."""

    # The name of a drawing, or empty.
    glyph: str
    # A text, or the numerator of a fraction.
    over: str
    # The denominator of a fraction; else empty.
    under: str


class SheetPort(TypedDict):
    name: str
    # The text at the port: its name, or the operator of a sum or product; may be empty.
    label: str
    # From the block's upper edge; from its left edge where it faces up or down.
    offset: float
    wired: bool
    # Shape and unit where they are known: "3", "[rad/s]".
    shape: str
    unit: str
    doc: str
    # Whether it stands for all signals of a bus.
    bus: bool


class BusSignal(TypedDict):
    """A signal of a bus. A dot in its name makes a bus within the bus."""

    name: str
    shape: str
    unit: str


class Bus(TypedDict):
    """do: "bus" {path, at, block}: the form of a block of buses."""

    # The block's path for "set"; "" where it cannot be edited.
    path: str
    # The signals of the bus that is wired to a selector or an assignment.
    incoming: list[BusSignal]
    # The signals of a creator, and the buses within its bus.
    own: list[str]
    # Those that the block names.
    signals: list[str]
    outputs: list[str]


class WireEnd(TypedDict):
    """A port of a block on a sheet."""

    block: str
    port: str


_WireFrom = TypedDict("_WireFrom", {"from": WireEnd})  # a keyword of Python


class SheetWire(_WireFrom):
    # Source and target in the notation of wires: "plant.qm", "ctrl.qm".
    source: str
    target: str
    to: WireEnd
    points: list[Point]
    # The signal that `values` names, `*` for the numbers of copies; null where it has none.
    signal: str | None
    # The signals of a wire that is a bus, by their names in it; else empty.
    bus: list[BusSignal]
    problems: list[Problem]


# The numbers of the first one, and of the one after the last.
Range = tuple[int, int]


class SheetChange(TypedDict):
    """What has changed of a sheet: what is new or different, and ranges of what is as before."""

    at: str
    within: str | None
    runs: list[str]
    version: int
    # The version of the sheet whose blocks and wires the ranges are of.
    base: int
    blocks: list[SheetBlock | Range]
    wires: list[SheetWire | Range]
    notes: list[SheetNote]
    areas: list[SheetArea]


class Changed(TypedDict):
    """The answer of "edit", "undo", "redo", "place", "tidy", "choose". With `version`, that of the
    sheet that the page has, only what has changed of it is given."""

    opened: Opened
    sheet: Sheet | SheetChange


# do: "edit" {path, at, revision, operations, places?}; do: "try" with the same arguments writes
# nothing. places: {[block]: Point} to which blocks of the sheet are moved in the same step.
# do: "undo" | "redo" {path, at}. do: "place" {path, at, places: {[block]: Point}} moves blocks;
# do: "tidy" {path, at} forgets where they were put. Both are undone like edits; neither changes
# the file. do: "choose" {path, at, slot, choice} chooses a variant for looking and running.
class Tried(TypedDict):
    """The answer of "try": the mistakes of the diagram as it would be."""

    problems: list[Problem]
    # Whether it has no new ones, apart from inputs without a wire.
    right: bool


class SetOperation(TypedDict):
    """Write a value as YAML: blocks.ctrl.kp, params.kp, expect.final[1].value."""

    op: Literal["set"]
    path: str
    text: str


class UnsetOperation(TypedDict):
    op: Literal["unset"]
    path: str


class RenamePort(TypedDict):
    """A port of a subsystem gets another name, also where it is wired. within: the subsystem, ""
    for the file itself."""

    op: Literal["rename-port"]
    name: str
    to: str
    side: Literal["inputs", "outputs"]
    within: str


class RemovePort(TypedDict):
    """A port of a subsystem goes, with its wires."""

    op: Literal["remove-port"]
    name: str
    side: Literal["inputs", "outputs"]
    within: str


class RenameParameter(TypedDict):
    """Rename a parameter of params, with all its uses."""

    op: Literal["rename-parameter"]
    name: str
    to: str


class RenameEntry(TypedDict):
    """Rename a clock or a robot, with all its uses."""

    op: Literal["rename-entry"]
    section: Literal["clocks", "robots"]
    name: str
    to: str


class RenameState(TypedDict):
    """A state of a machine gets another name, also in transitions and formulas. path: of the state:
    blocks.modes.states.idle."""

    op: Literal["rename-state"]
    path: str
    to: str


class RenameValue(TypedDict):
    """An argument, an output, a variable or a parameter of a machine gets another name, also in its
    formulas and wires. path: blocks.modes.arguments.rate."""

    op: Literal["rename-value"]
    path: str
    to: str


class RemoveState(TypedDict):
    """A state goes, with its substates and the transitions to them and from them."""

    op: Literal["remove-state"]
    path: str


class MoveState(TypedDict):
    """A state goes into another, or into the machine: into is the path of that, or of the block.
    before: the state there before which it comes."""

    op: Literal["move-state"]
    path: str
    into: str
    before: NotRequired[str]


class MoveItem(TypedDict):
    """An item of a list goes to another index: blocks.modes.transitions[2]."""

    op: Literal["move-item"]
    path: str
    index: int


class AppendOperation(TypedDict):
    """Append to a list, which may not be there yet: expect.final."""

    op: Literal["append"]
    path: str
    text: str


class AddOperation(TypedDict):
    op: Literal["add"]
    name: str
    type: str
    parameters: NotRequired[dict[str, str]]
    within: str
    place: NotRequired[Point]


class RemoveOperation(TypedDict):
    op: Literal["remove"]
    names: list[str]
    within: str


class RenameOperation(TypedDict):
    op: Literal["rename"]
    name: str
    to: str
    within: str


class RetypeOperation(TypedDict):
    """Change the type of a block; parameters that the new type has not are left out."""

    op: Literal["retype"]
    name: str
    type: str
    within: str


class WireOperation(TypedDict):
    op: Literal["wire", "unwire"]
    source: str
    target: str
    within: str


class SubsystemOperation(TypedDict):
    """A new subsystem, and a block of it with its name."""

    op: Literal["subsystem"]
    name: str
    within: str
    place: NotRequired[Point]


class RenameSignal(TypedDict):
    """A signal of a bus gets another name, wherever the bus leads and where it is named. block: one
    of buses; name: as the bus has it, "arm.qm"; to: without the bus within the bus, "angle"."""

    op: Literal["rename-signal"]
    block: str
    name: str
    to: str
    within: str


class RenameSubsystem(TypedDict):
    """A subsystem gets another name, also where it is the type of a block."""

    op: Literal["rename-subsystem"]
    name: str
    to: str


class ConditionOperation(TypedDict):
    """A subsystem, within, runs on a condition, or no longer does. kind: enabled, triggered or
    reset. by: the input, which is added unless it is there."""

    op: Literal["condition", "uncondition"]
    kind: str
    within: str
    by: NotRequired[str]


class ForEachOperation(TypedDict):
    """A block has a copy of its subsystem for each entry of its inputs."""

    op: Literal["for-each"]
    name: str
    within: str


class DrawOperation(TypedDict):
    """Change the drawing of a sheet: `looks.BLOCK.facing`, `notes[0].text`; `notes` and `areas`
    append. text: YAML; null removes the entry."""

    op: Literal["draw"]
    path: str
    text: str | None
    within: str


class GroupOperation(TypedDict):
    op: Literal["group"]
    name: str
    names: list[str]
    within: str


# The lines first to last - 1 of the text, counted from 0, and what stands there instead.
LineChange = tuple[int, int, list[str]]


class TextOperation(TypedDict):
    """Replace lines of the text of the file, in their order."""

    op: Literal["text"]
    changes: list[LineChange]


class VaryOperation(TypedDict):
    """Make a slot of variants of a block of the whole diagram; choice: the name of what it was."""

    op: Literal["vary"]
    name: str
    choice: str


class AddChoiceOperation(TypedDict):
    """Add a choice to a slot: of a type, or like another choice."""

    op: Literal["add-choice"]
    slot: str
    choice: str
    type: NotRequired[str]
    like: NotRequired[str]


class RenameChoiceOperation(TypedDict):
    op: Literal["rename-choice"]
    slot: str
    choice: str
    to: str


class ChoiceOperation(TypedDict):
    """fix: make a block of a slot again, which is one of its choices."""

    op: Literal["remove-choice", "fix"]
    slot: str
    choice: str


Operation = (
    SetOperation
    | UnsetOperation
    | RenameParameter
    | RenameEntry
    | RenamePort
    | RemovePort
    | RenameState
    | RenameValue
    | RemoveState
    | MoveState
    | MoveItem
    | AppendOperation
    | AddOperation
    | RemoveOperation
    | RenameOperation
    | RetypeOperation
    | WireOperation
    | GroupOperation
    | SubsystemOperation
    | RenameSubsystem
    | RenameSignal
    | ConditionOperation
    | ForEachOperation
    | DrawOperation
    | WrapOperation
    | TextOperation
    | VaryOperation
    | AddChoiceOperation
    | RenameChoiceOperation
    | ChoiceOperation
)

# do: "panels" {path}; do: "keep-panels" {path, panels}: the layout of the panels, the dashboard and
# the sliders that the user set up for a file. The server keeps them and does not read them.
Panels = dict[str, Any]

# do: "fits" {path, at, from: {block, port}, output: boolean}: for each port on the other side,
# "block.port", null where a wire fits, or the reason why not.
Fits = dict[str, str | None]

# do: "unfit" {path, at, from: {block, port}, output: boolean}: for each type of which no port
# surely takes the wire, the reason.
Unfit = dict[str, str]


class Content(TypedDict):
    """do: "contents" {path} -> Content[]: the blocks of all sheets, to search in: the whole first,
    then subsystem by subsystem."""

    at: str
    block: str
    type: str
    # Those that have names.
    ports: list[str]
    # As YAML in one line; long ones are cut.
    parameters: dict[str, str]
    # Of a machine: the names of its states by their paths.
    states: NotRequired[dict[str, str]]


class FileText(TypedDict):
    """do: "text" {path, at}: the text of the file in which a sheet is written."""

    # The file, from the project's root.
    path: str
    # Of the text; "" where it is another file, which cannot be edited here.
    revision: str
    text: str


class Completion(TypedDict):
    """do: "complete" {path, keys, kind, given, typed} -> Completion[]: what can be written in the
    text. keys: the path of the mapping, list or value; kind: "key" or "value"; given: the texts of
    the entries beside it; typed: what stands there already."""

    label: str
    # What it is: a unit, a type, "input".
    detail: str
    doc: str


class ModelFile(TypedDict):
    """do: "models" {path}: files of the project that describe robots, with the section that names
    each in that diagram."""

    path: str
    name: str
    text: str
