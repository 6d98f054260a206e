"""The `realtime:` section of a diagram: options of its real-time loop."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, PositiveFloat, StrictBool, model_validator

from spart_blocks.diagram.sections.section import Section
from spart_blocks.ros.graph import MOST_DOMAIN, read_locator, read_namespace, read_node

Policy = Literal["skip", "catch-up", "stop"]


Locators = tuple[Annotated[str, AfterValidator(read_locator)], ...]


class RosOptions(Section):
    """The node that a diagram with links to ROS is among the others."""

    node: Annotated[str, AfterValidator(read_node)] | None = Field(
        None, description="its name; by default that of the diagram"
    )
    namespace: Annotated[str, AfterValidator(read_namespace)] = Field(
        "/", description="its namespace, in which topics are that do not begin with /"
    )
    domain: Annotated[int, Field(strict=True, ge=0, le=MOST_DOMAIN)] | None = Field(
        None, description="its domain; by default ROS_DOMAIN_ID of the environment, or 0"
    )
    carrier: Literal["zenoh", "dds"] = Field(
        "zenoh",
        description="how messages go: as those of rmw_zenoh, or of rmw_cyclonedds and rmw_fastrtps",
    )
    connect: Locators = Field(
        ("tcp/localhost:7447",),
        description="addresses of a router of Zenoh or of peers that it connects to, now or when "
        "they start",
    )
    listen: Locators = Field(
        ("tcp/localhost:0",),
        description="addresses at which peers of Zenoh connect to it; 0: any free port",
    )
    clock: Literal["system", "run"] = Field(
        "system",
        description="what stamps tell: the system's clock, or the time since the first step, which "
        "it publishes as /clock",
    )

    attachments: Literal["plain", "labelled"] = Field(
        "plain",
        description="form of what goes with messages over Zenoh; labelled: that of rmw_zenoh in "
        "2024. Both are read",
    )

    @model_validator(mode="after")
    def _of_the_carrier(self) -> Self:
        fields = type(self).model_fields
        keys = ("connect", "listen", "attachments")
        changed = any(getattr(self, key) != fields[key].default for key in keys)
        if self.carrier == "dds" and changed:
            raise ValueError(
                "connect, listen and attachments are of Zenoh: CYCLONEDDS_URI says where DDS goes"
            )
        return self


_NODE = RosOptions.model_validate({})


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
    ros: RosOptions = Field(default=_NODE, description="its node, if it has links to ROS")
