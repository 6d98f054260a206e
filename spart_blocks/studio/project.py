"""The diagrams of a project, for its first page."""

from __future__ import annotations

from spart_blocks.studio.client import Handler

HANDLERS: dict[str, Handler] = {}
