"""The subjects of blocks: the headings of the page of blocks, of lists and of palettes."""

from __future__ import annotations

from types import MappingProxyType

SUBJECTS = MappingProxyType(
    {
        "Sources": ("sources", "noise", "data"),
        "Sinks": ("sinks", "displays", "recording"),
        "Mathematics": ("functions", "mathematics", "expression", "linalg"),
        "Continuous": (
            "continuous",
            "second_order",
            "reset_integrator",
            "hybrid_system",
            "linear_systems",
            "lags",
        ),
        "Sampled": ("sampled", "sampled_signals", "converters"),
        "Delays and filters": ("delays", "filters", "spectrum"),
        "Nonlinear": ("nonlinear", "friction"),
        "Tables": ("tables",),
        "Logic and events": ("logic", "conditional", "crossings", "state_machine"),
        "Routing": ("connections", "routing", "buses"),
        "Checks": ("checks", "audit"),
        "Control": ("pid_2dof", "gain_schedule", "lqr", "lqg", "predictive_control"),
        "Estimation": ("kalman", "nonlinear_filters", "observers"),
        "Multibody plants": ("multibody", "closed_chain", "body_poses", "flexible", "docking"),
        "Robot kinematics": ("robot_kinematics", "inverse_kinematics"),
        "Robot dynamics": ("robot_dynamics",),
        "References": ("references", "cartesian_references"),
        "Robot control": ("joint_control", "task_control", "resolved_motion", "closed_control"),
        "Rotations and poses": ("attitude", "spatial"),
        "Attitude": ("attitude_control", "attitude_estimation"),
        "Actuators": ("stored_momentum", "thrusters", "magnetic_control"),
        "Sensors": ("attitude_sensors", "inertial_sensors"),
        "Orbits": ("orbits", "orbital_gravity", "earth_frames"),
        "Space environment": ("space_environment",),
        "Links and FMUs": ("links", "fmu"),
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
