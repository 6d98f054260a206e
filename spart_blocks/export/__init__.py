"""Export of a subdiagram as code that runs without this package."""

from spart_blocks.export.exported_links import linked_inputs, live_links
from spart_blocks.export.fmu.archive import export_fmu
from spart_blocks.export.fmu.verify import FmuVerification, verify_fmu
from spart_blocks.export.package import check_folder, package_files, write_package
from spart_blocks.export.ros2_control.files import controller_files
from spart_blocks.export.ros2_control.plan import Plan, plan_of
from spart_blocks.export.step import StepCode, step_code
from spart_blocks.export.verify import Verification, moving_inputs, recorded_inputs, verify

__all__ = [
    "FmuVerification",
    "Plan",
    "StepCode",
    "Verification",
    "check_folder",
    "controller_files",
    "linked_inputs",
    "live_links",
    "export_fmu",
    "package_files",
    "moving_inputs",
    "plan_of",
    "recorded_inputs",
    "step_code",
    "verify",
    "verify_fmu",
    "write_package",
]
