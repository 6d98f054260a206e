"""Opened files: their sheets, edits and forms."""

from __future__ import annotations

from spart_blocks.studio.client import Handler

HANDLERS: dict[str, Handler] = {}
