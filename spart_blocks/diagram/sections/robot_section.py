"""The section of a diagram that names its robots."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    StrictBool,
    StrictStr,
    WithJsonSchema,
    model_validator,
)

from spart_blocks.base.document import Document
from spart_blocks.base.errors import Fault, brief, did_you_mean, near_names
from spart_blocks.diagram.sections.section import Section
from spart_blocks.robot import ALL_EFFECTS, EFFECTS, Effect

SOURCES = ("urdf", "dh", "spart", "links", "bodies")


def _effects(value: Any) -> Any:
    """The list that `all`, `none` and `limits` stand for."""
    if isinstance(value, str):
        if value not in ("all", "none", "limits"):
            raise ValueError(
                f"it is all, none, limits, or a list of {', '.join(EFFECTS)}, not {brief(value)}"
            )
        return {"all": ALL_EFFECTS, "none": (), "limits": ("limits",)}[value]
    return value


_LIST = {"type": "array", "items": {"enum": [*EFFECTS], "type": "string"}}
_WORD = {"enum": ["all", "none", "limits"], "type": "string"}
Effects = Annotated[
    tuple[Effect, ...], BeforeValidator(_effects), WithJsonSchema({"anyOf": [_WORD, _LIST]})
]


class RobotSection(Section):
    """The source of a robot: one of urdf, dh, spart, links and bodies, a path relative to this
    file; and the effects at its joints.
    """

    urdf: StrictStr | None = Field(None, description="a URDF file")
    dh: StrictStr | None = Field(None, description="a YAML file of Denavit-Hartenberg data")
    spart: StrictStr | None = Field(None, description="a JSON file of SPART's robot structure")
    links: StrictStr | None = Field(None, description="a YAML file of links with their motors")
    bodies: StrictStr | None = Field(
        None, description="a YAML file of bodies and joints, which may form loops"
    )
    loops: StrictStr | None = Field(
        None, description="a YAML file of what closes the loops of a urdf"
    )
    mimic: StrictBool = Field(
        True, description="couple the mimic joints of a urdf to theirs, or let them move freely"
    )
    base: Literal["fixed", "floating"] | None = Field(None, description="how the base is held")
    strict: StrictBool = Field(False, description="refuse doubtful inertias instead of warning")
    drives: StrictStr | None = Field(
        None, description="a YAML file of the joints' motors, friction and limits"
    )
    effects: Effects | None = Field(
        None,
        description="what acts at the joints: all, none, or a list; motors and friction by "
        "default where drives or links are given, nothing otherwise",
    )
    kinematic: tuple[StrictStr, ...] = Field(
        (), description="joints that are prescribed: their accelerations are inputs"
    )

    @model_validator(mode="after")
    def _one_source(self) -> RobotSection:
        given = [name for name in SOURCES if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            listed = "urdf, dh, spart, links and bodies"
            raise ValueError(f"a robot needs exactly one of {listed}; it has {found}")
        if self.strict and self.urdf is None and self.bodies is None:
            raise ValueError("strict applies to a urdf or bodies only")
        if self.loops is not None and self.urdf is None:
            raise ValueError("loops applies to a urdf only; a file of bodies has its own")
        if not self.mimic and self.urdf is None:
            raise ValueError("mimic applies to a urdf only")
        if self.base is not None and self.bodies is not None:
            raise ValueError("base does not apply to bodies: their joints to the ground hold them")
        return self

    @property
    def source(self) -> tuple[str, str]:
        """What kind of file it comes from, and its path as it is written."""
        kind = next(name for name in SOURCES if getattr(self, name) is not None)
        return kind, getattr(self, kind)


# --- The `tunable:` section -----------------------------------------------------------------------


QUANTITIES = ("mass", "com", "inertia")
"""Of a robot: mass (n+1,) [kg], centres of mass (n+1, 3) [m], inertia (n+1, 3, 3) [kg m^2], the
base-link first."""


def read_tunable(
    entries: Mapping[int, str], robots: Collection[str], document: Document, faults: list[Fault]
) -> tuple[str, ...]:
    """The quantities listed in a file, as written; one fault for each wrong entry.

    entries: by their number in the section. robots: the names of the file's robots.
    """
    found: list[str] = []
    for number, text in entries.items():
        problem = ("is given twice", None) if text in found else _problem(text, robots)
        if problem is not None:
            message, hint = problem
            place = document.place("tunable", number)
            faults.append(Fault(f"tunable {text[:60]!r} {message}", place, hint))
        found.append(text)
    return tuple(found)


def _problem(text: str, robots: Collection[str]) -> tuple[str, str | None] | None:
    robot, dot, quantity = text.rpartition(".")
    if not dot:
        robot, quantity = text, ""
    if robot not in robots:
        listed = did_you_mean(robot, robots)
        hint = listed or "there are no robots; blocks' parameters are tunable as they are"
        return f"names no robot: there is no {robot[:60]!r}", hint
    if quantity not in QUANTITIES:
        choices = [f"{robot}.{name}" for name in QUANTITIES]
        near = near_names(text, choices) if dot else None
        hint = near or f"write one of {', '.join(choices)}"
        return "names no quantity of a robot", hint
    return None
