"""SPART's kinematics and dynamics as pure functions, for floats and for symbols.

Arrays over links put link i at index i-1, the link axis first. Functions follow the
number type of their inputs: floats in, floats out; object arrays of SymPy or CasADi
scalars in, expressions out.
"""

from spart_blocks.dynamics.actuated import (
    ActuatedForces,
    actuated_forces,
    actuated_inertia,
    actuated_map,
    actuated_places,
    actuated_rates,
)
from spart_blocks.dynamics.applied_forces import (
    Applied,
    applied_forces,
    dissipation,
    port_widths,
    spring_energy,
)
from spart_blocks.dynamics.articulated import (
    HybridRates,
    MultibodyRates,
    hybrid_rates,
    multibody_rates,
)
from spart_blocks.dynamics.assembly import Assembly, assemble
from spart_blocks.dynamics.base_control import base_control_free_joints
from spart_blocks.dynamics.closed_chain import ClosedRates, closed_rates
from spart_blocks.dynamics.closed_ik import Follow, Target, closed_ik
from spart_blocks.dynamics.closed_projection import Projected, closed_projection
from spart_blocks.dynamics.composite import multibody_inertia
from spart_blocks.dynamics.end_effector import (
    EndEffector,
    end_effector,
    link_quaternion,
)
from spart_blocks.dynamics.forward import (
    ForwardDynamics,
    fixed_forward_dynamics,
    forward_dynamics,
)
from spart_blocks.dynamics.inertia import (
    CompositeBodies,
    ConvectiveMatrix,
    InertiaMatrix,
    Inertias,
    convective_inertia,
    convective_inertia_noc,
    generalized_inertia,
    generalized_inertia_noc,
    inertias,
    mass_composite_body,
)
from spart_blocks.dynamics.inverse import (
    FloatingInverse,
    GeneralizedForces,
    floating_inverse_dynamics,
    inverse_dynamics,
)
from spart_blocks.dynamics.jacobians import (
    Jacobian,
    JacobianRate,
    jacobian,
    jacobian_dot,
    noc,
    noc_dot,
)
from spart_blocks.dynamics.joint_effects import (
    JointEffects,
    friction_load,
    joint_effects,
    motor_energy,
    stop_forces,
)
from spart_blocks.dynamics.kinematics import (
    DiffKinematics,
    Kinematics,
    TwistRates,
    Twists,
    accelerations,
    center_of_mass,
    diff_kinematics,
    frame_of_link,
    kinematics,
    velocities,
)
from spart_blocks.dynamics.loops import (
    dropped_rows,
    kept_rows,
    loop_bias,
    loop_errors,
    loop_jacobian,
    loop_jacobian_dot,
    row_names,
)
from spart_blocks.dynamics.mobility import Mobility, mobility
from spart_blocks.dynamics.momentum import (
    GravityWrenches,
    Momentum,
    gravity_wrenches,
    kinetic_energy,
    momentum,
    potential_energy,
)
from spart_blocks.dynamics.newton_euler import multibody_forces
from spart_blocks.dynamics.resolved_motion import (
    MotionEquations,
    base_momentum,
    base_rates_from_momentum,
    desired_reaction,
    drift_twist,
    floating_inertia,
    generalized_jacobian,
    reaction_equations,
    resolved_rate,
    resolved_rate_min_energy,
)
from spart_blocks.dynamics.semidefinite import row_space
from spart_blocks.dynamics.sticking import modes_of_rates, next_modes, unfit_modes
from spart_blocks.dynamics.task import (
    BaseAnswer,
    FrameMotion,
    JointEquations,
    base_answer,
    frame_motion,
    joint_equations,
    joint_jacobian,
)

__all__ = [
    "ActuatedForces",
    "Applied",
    "Assembly",
    "BaseAnswer",
    "ClosedRates",
    "CompositeBodies",
    "ConvectiveMatrix",
    "DiffKinematics",
    "EndEffector",
    "FloatingInverse",
    "Follow",
    "ForwardDynamics",
    "FrameMotion",
    "GeneralizedForces",
    "GravityWrenches",
    "HybridRates",
    "InertiaMatrix",
    "Inertias",
    "Jacobian",
    "JacobianRate",
    "JointEffects",
    "JointEquations",
    "Kinematics",
    "Mobility",
    "Momentum",
    "MotionEquations",
    "MultibodyRates",
    "Projected",
    "Target",
    "TwistRates",
    "Twists",
    "accelerations",
    "actuated_forces",
    "actuated_inertia",
    "actuated_map",
    "actuated_places",
    "actuated_rates",
    "applied_forces",
    "assemble",
    "base_answer",
    "base_control_free_joints",
    "base_momentum",
    "base_rates_from_momentum",
    "center_of_mass",
    "closed_ik",
    "closed_projection",
    "closed_rates",
    "convective_inertia",
    "convective_inertia_noc",
    "desired_reaction",
    "diff_kinematics",
    "dissipation",
    "drift_twist",
    "dropped_rows",
    "end_effector",
    "fixed_forward_dynamics",
    "floating_inertia",
    "floating_inverse_dynamics",
    "forward_dynamics",
    "frame_motion",
    "frame_of_link",
    "friction_load",
    "generalized_inertia",
    "generalized_inertia_noc",
    "generalized_jacobian",
    "gravity_wrenches",
    "hybrid_rates",
    "inertias",
    "inverse_dynamics",
    "jacobian",
    "jacobian_dot",
    "joint_effects",
    "joint_equations",
    "joint_jacobian",
    "kept_rows",
    "kinematics",
    "kinetic_energy",
    "link_quaternion",
    "loop_bias",
    "loop_errors",
    "loop_jacobian",
    "loop_jacobian_dot",
    "mass_composite_body",
    "mobility",
    "modes_of_rates",
    "momentum",
    "motor_energy",
    "multibody_forces",
    "multibody_inertia",
    "multibody_rates",
    "next_modes",
    "noc",
    "noc_dot",
    "port_widths",
    "potential_energy",
    "reaction_equations",
    "resolved_rate",
    "resolved_rate_min_energy",
    "row_names",
    "row_space",
    "spring_energy",
    "stop_forces",
    "unfit_modes",
    "velocities",
]
