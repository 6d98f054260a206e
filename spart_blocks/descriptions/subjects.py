"""The subjects of blocks: the headings of the page of blocks, of lists and of palettes."""

from __future__ import annotations

from types import MappingProxyType

SUBJECTS = MappingProxyType(
    {
        "Sources": ("sources", "noise", "data", "trajectory_file"),
        "Sinks": ("sinks", "displays", "recording"),
        "Mathematics": ("functions", "mathematics", "expression", "linalg"),
        "Continuous": ("continuous", "second_order", "linear_systems", "lags"),
        "Sampled": ("sampled", "sampled_signals"),
        "Delays and filters": ("delays", "filters"),
        "Nonlinear": ("nonlinear", "rate_limiters", "backlash", "friction", "clutch"),
        "Tables": ("tables",),
        "Logic and events": ("logic", "conditional", "crossings", "state_machine"),
        "Routing": ("connections", "routing", "buses", "tags", "algebraic_constraint"),
        "Checks": ("checks", "audit"),
        "Control": ("pid_2dof", "gain_schedule", "lqr", "lqg", "predictive_control"),
        "Estimation": ("kalman", "nonlinear_filters", "observers"),
        "Multibody plants": ("multibody", "closed_chain", "body_poses", "flexible", "docking"),
        "Robot kinematics": (
            "kinematics",
            "end_effector",
            "jacobians",
            "inverse_kinematics",
            "loops",
        ),
        "Robot dynamics": ("forces", "inertia", "gravity", "base_reaction"),
        "References": ("references", "cartesian_references"),
        "Robot control": (
            "controllers",
            "joint_control",
            "task_control",
            "resolved_motion",
            "closed_control",
            "effort_limit",
            "base_control",
        ),
        "Rotations and poses": ("attitude", "spatial"),
        "Attitude": ("attitude_control", "attitude_estimation"),
        "Actuators": ("reaction_wheels", "gyroscopes", "thrusters", "magnetic_control"),
        "Sensors": ("attitude_sensors", "inertial_sensors"),
        "Orbits": ("orbits", "orbital_gravity", "earth_frames"),
        "Space environment": ("air_drag", "magnetic_field", "sunlight"),
        "Links and FMUs": (
            "udp",
            "tcp",
            "mqtt",
            "zmq",
            "serial",
            "shared_memory",
            "fmu",
            "fmu_me",
        ),
    }
)
"""For each subject the modules of its blocks, bdsim's and ours, in the order of lists."""
_OF_MODULES = {module: subject for subject, modules in SUBJECTS.items() for module in modules}
_PLACES = {subject: place for place, subject in enumerate(SUBJECTS)}


def subject_of(module: str) -> str:
    """The subject of the blocks of a module of bdsim or of this package."""
    return _OF_MODULES.get(module, module.capitalize().replace("_", " "))


def place_of(subject: str) -> int:
    """Where a subject stands in lists; those of users' packages are last."""
    return _PLACES.get(subject, len(_PLACES))
