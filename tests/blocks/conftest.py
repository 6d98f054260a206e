"""Blocks by themselves."""

from __future__ import annotations

import pytest


@pytest.fixture
def make(bdsim_runtime):
    """make("DEADZONE", ...): a block of this type by itself."""
    return lambda name, *given, **named: bdsim_runtime._blocklibrary[name]["class"](*given, **named)
