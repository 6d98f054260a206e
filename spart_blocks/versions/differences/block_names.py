"""Blocks and sheets as changes name them."""

from __future__ import annotations

from spart_blocks.base.document import Keys
from spart_blocks.diagram.written.sheets import Name, is_slot

SLOT = "(variants)"
"""The type of the block that stands for a slot of variants."""


def shown(name: Name) -> str:
    """A block's name in changes: `p`, `servo/gain` in a subsystem, `controller=pd` for a choice of
    a slot."""
    sheet, block = name
    return f"{sheet[-1]}{'=' if is_slot(sheet) else '/'}{block}" if sheet else block


def called(sheet: Keys) -> str:
    """A sheet's name in changes: that of its subsystem or slot, or `the diagram`."""
    return str(sheet[-1]) if sheet else "the diagram"
