"""From a part of a diagram to code that runs without this package."""

from spart_blocks.export.links import live_links
from spart_blocks.export.package import package_files, write_package
from spart_blocks.export.step import StepCode, step_code
from spart_blocks.export.verify import Verification, recorded_inputs, verify

__all__ = [
    "StepCode",
    "Verification",
    "live_links",
    "package_files",
    "recorded_inputs",
    "step_code",
    "verify",
    "write_package",
]
