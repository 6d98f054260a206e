"""Files that a page saves: the results of its runs."""

from __future__ import annotations

from spart_blocks.errors import InputError
from spart_blocks.studio.client import Session


async def download(session: Session, path: str, run: str, kind: str) -> tuple[str, str, bytes]:
    """A file of a run: its name, its media type, its bytes. Raises InputError."""
    raise InputError("there is no such run")
