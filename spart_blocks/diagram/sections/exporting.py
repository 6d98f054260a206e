"""The `export:` section of a diagram: the exported subdiagram, and its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    PositiveFloat,
    StrictStr,
    model_validator,
)

from spart_blocks.base.errors import Fault, did_you_mean
from spart_blocks.base.tableaus import RECOMMENDED, FixedStepMethod
from spart_blocks.diagram.sections.ros2_control_section import Ros2ControlOptions
from spart_blocks.diagram.sections.section import Section

if TYPE_CHECKING:
    from spart_blocks.diagram.build.wiring import Wiring


def _one_or_more(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Names = Annotated[tuple[StrictStr, ...], BeforeValidator(_one_or_more)]
Bound = Annotated[tuple[float, float], Field(description="least and largest value")]


class ExportOptions(Section):
    """What `spart export` and `spart realtime` take of the diagram where they are not told
    otherwise."""

    part: Names = Field((), description="the blocks and subsystems that become code; all without")
    name: StrictStr | None = Field(
        None, description="what the code is called; by default as the diagram and the blocks"
    )
    outputs: Names = Field((), description="signals that are outputs besides those that leave it")
    rate: PositiveFloat | None = Field(
        None, description="steps per second [Hz]; by default those of its clocks, 1000 without"
    )
    method: FixedStepMethod = Field(
        RECOMMENDED, description="how continuous states are integrated, one step at a time"
    )
    precision: Literal["double", "float"] = Field("double", description="the numbers of the C code")
    bounds: dict[StrictStr, Bound] = Field(
        default_factory=dict, description="what parameters must lie between: ctrl.kp: [0, 500]"
    )
    ros2_control: Ros2ControlOptions = Field(
        default_factory=lambda: Ros2ControlOptions.model_validate({}),
        description="the interfaces of a controller, for `spart export ros2_control`",
    )

    @model_validator(mode="after")
    def _bounds_in_order(self) -> ExportOptions:
        for name, (low, high) in self.bounds.items():
            if low > high:
                raise ValueError(f"the bounds of {name} are [{low:g}, {high:g}]: low above high")
        return self


def check_export(section: ExportOptions, wiring: Wiring) -> None:
    """Check that its blocks and signals exist; parameters are known only after tracing."""
    for number, name in enumerate(section.part):
        if name.partition("/")[0] not in wiring.kinds:
            place = wiring.document.place("export", "part", number)
            hint = did_you_mean(name, wiring.kinds)
            wiring.faults.append(Fault(f"export: there is no block {name[:60]!r}", place, hint))
    for number, signal in enumerate(section.outputs):
        wiring.check_signal(signal, ("export", "outputs", number), "export: outputs")
    for name in section.bounds:
        wiring.places[f"export.bounds.{name}"] = wiring.document.key_place("export", "bounds", name)
    if section.ros2_control.package:
        keys = ("export", "ros2_control", "package")
        wiring.places[".".join(keys)] = wiring.document.place(*keys)
    for side in ("inputs", "outputs"):
        for name in getattr(section.ros2_control, side):
            path = ("export", "ros2_control", side, name)
            place = wiring.document.key_place(*path)
            wiring.check_signal(name, path, f"export: ros2_control: {side}", place)
            wiring.places[".".join(path)] = place
