"""The former names of `subdiagram`, for programs that import them."""

from spart_blocks.program.subdiagram import Subdiagram as Part
from spart_blocks.program.subdiagram import subdiagram_of as part_of

__all__ = ["Part", "part_of"]
