"""Runs of opened files, which pages start, steer and look at."""

from __future__ import annotations

from spart_blocks.studio.client import Handler

HANDLERS: dict[str, Handler] = {}
