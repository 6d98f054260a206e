"""Former names of `subdiagram`, for code that imports them."""

from spart_blocks.program.subdiagram import Subdiagram as Part
from spart_blocks.program.subdiagram import subdiagram_of as part_of

__all__ = ["Part", "part_of"]
