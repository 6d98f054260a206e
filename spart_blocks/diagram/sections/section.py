"""The base of all models of a diagram's file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """What a file gives by name: nothing else, no infinite numbers, and it stays as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
