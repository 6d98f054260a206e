"""Three versions of a diagram's file become one."""

from spart_blocks.versions.merge.merge_texts import Merged, is_diagram, merge
from spart_blocks.versions.merge.three_way import Conflict

__all__ = ["Conflict", "Merged", "is_diagram", "merge"]
