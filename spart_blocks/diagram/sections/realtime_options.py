"""The `realtime:` section of a diagram: options of its real-time loop."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, StrictBool

from spart_blocks.diagram.sections.section import Section

Policy = Literal["skip", "catch-up", "stop"]


class RealtimeOptions(Section):
    """What `spart realtime` takes of the diagram where it is not told otherwise; which
    blocks run, at what rate and by which method is said under `export:`."""

    T: PositiveFloat | None = Field(
        None, description="how long it runs [s]; by default until it is interrupted"
    )
    policy: Policy = Field(
        "skip",
        description="what is done where a step is not over at the next deadline: the deadlines "
        "that have passed are left out, the missed steps are done at once, or the loop ends",
    )
    watchdog: PositiveFloat = Field(
        0.2, description="without a sign of life for so long, the safe outputs are sent [s]"
    )
    wait: StrictBool = Field(
        True, description="let time stand still until a frame has come over every link"
    )
    priority: Annotated[int, Field(strict=True, ge=0, le=99)] = Field(
        80, description="priority under SCHED_FIFO, where that is permitted; 0 does not ask"
    )
    cpu: Annotated[int, Field(strict=True, ge=0)] | None = Field(
        None, description="the processor that the loop stays on; by default any"
    )
