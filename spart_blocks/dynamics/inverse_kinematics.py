"""Inverse kinematics: joint positions that bring a link frame to a pose.

Damped least squares with the damping of Sugihara, which vanishes with the error, so that it
converges like Newton's method if the pose can be reached, and to a minimum of the error if not.
Joints at a limit that would leave it are held (active set). Source: T. Sugihara,
"Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics
27 (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.base.spatial import (
    Array,
    array,
    eye,
    filled,
    quaternion_rotation,
    solve_spd,
    transpose,
)
from spart_blocks.dynamics.jacobians import jacobian
from spart_blocks.dynamics.kinematics import diff_kinematics, frame_of_link, kinematics
from spart_blocks.dynamics.screws import COMPONENTS, rows_of
from spart_blocks.robot import JointType, Robot
from spart_blocks.robot.coordinates import checked_configuration

_TRANSLATION = ("vx", "vy", "vz")
_BIAS = 1e-10
"""Damping that stays, in squares of Jacobian entries: the equations are never singular."""
_LEAST = 1e-150
"""Below which a length counts as zero; its square is still a number."""


@dataclass(frozen=True)
class IKResult:
    """The result of inverse kinematics. qm (nq,) [rad, m]: joint positions. position_error [m],
    rotation_error [rad]: remaining errors between frame and pose, in the chosen components.
    iterations: in all attempts.
    restarts: attempts after the first one. converged: whether both errors are within the
    tolerance; otherwise qm is the closest found.
    """

    qm: Array
    position_error: float
    rotation_error: float
    iterations: int
    restarts: int
    converged: bool


def ik(
    robot: Robot,
    frame: str | int,
    pose: Any,
    *,
    q0: Any = None,
    R0: Any = None,
    r0: Any = None,
    limits: bool = True,
    components: str | Sequence[str] | None = None,
    tolerance: float = 1e-10,
    iterations: int = 100,
    restarts: int = 30,
    seed: int = 0,
    strict: bool = False,
) -> IKResult:
    """Joint positions that bring a link frame to a pose.

    frame: a link by name or id; its URDF link frame is moved. pose, inertial: a homogeneous matrix
    (4,4) [m]; a pair of a position (3,) [m] and a unit quaternion (4,), scalar last, or a rotation
    (3,3); or a position (3,) alone. q0 (nq,) [rad, m]: the start; by default the middle of the
    limits, or zero. R0 (3,3), r0 (3,) [m]: rotation and centre of mass of the base-link; those of a
    plant at its default pose where not given. limits: keep within the joints' position limits.
    components: the errors to bring to zero, such as "wz vx vy" for a planar arm; for a
    position alone "vx vy vz". tolerance: of the errors in [m] and [rad]. iterations: in one
    attempt. restarts: attempts from seeded random positions within the limits (half a turn, or 1 m,
    to each side where there are none), until one converges.

    Returns an IKResult: check `converged`. A pose out of reach gives the closest configuration
    found, by the larger of the two errors; with `strict` an InputError with the remaining error.
    For redundant arms it gives one of the solutions, near the start of the attempt. Raises
    InputError for an unknown frame, an invalid pose, and wrong shapes.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"ik takes a Robot, not {robot!r}")
    link, target = frame_id(robot, frame), pose_of(pose)
    rows = rows_of(_chosen(components, pose))
    lower, upper = joint_limits(robot) if limits else _unlimited(robot)
    base = (
        eye(3) if R0 is None else array(R0, (3, 3), "R0"),
        np.zeros(3) if r0 is None else array(r0, (3,), "r0"),
    )
    begin = _home(lower, upper, robot) if q0 is None else array(q0, (robot.nq,), "q0").astype(float)
    _need_rotation(base[0], "R0")
    if not all(isinstance(count, (int, np.integer)) for count in (iterations, restarts, seed)):
        raise InputError("ik takes whole numbers for iterations, restarts and seed")
    if iterations < 1 or restarts < 0 or not tolerance > 0 or not np.isfinite(begin).all():
        raise InputError(
            "ik takes 1 or more iterations, 0 or more restarts, a tolerance above "
            "zero and a finite q0"
        )
    begin = checked_configuration(begin, robot.layout, "q0")
    task = _Task(robot, link, target, rows, base, (lower, upper), tolerance)
    result = _attempts(task, np.clip(begin, lower, upper), iterations, restarts, seed)
    if strict and not result.converged:
        raise _out_of_reach(robot, frame, result)
    return result


@dataclass(frozen=True)
class _Task:
    """A link frame, the target (4,4) for it, and the rows of the error that shall vanish;
    rotation and position of the base; lower and upper limits (nq,)."""

    robot: Robot
    link: int
    target: Array
    rows: list[int]
    base: tuple[Array, Array]
    limits: tuple[Array, Array]
    tolerance: float


@dataclass(frozen=True)
class _Found:
    """The nearest joint positions of an attempt, the errors left [m, rad], the steps taken."""

    qm: Array
    errors: tuple[float, float]
    count: int

    @property
    def error(self) -> float:
        return max(self.errors)


def _attempts(task: _Task, begin: Array, iterations: int, restarts: int, seed: int) -> IKResult:
    """Solve from `begin`, then up to `restarts` times from random positions, until one attempt
    converges. If none does, the best is continued until it gains nothing more."""
    rng = np.random.default_rng(seed)
    best = _descend(task, begin, iterations)
    total, attempt = best.count, 0
    while best.error > task.tolerance and attempt < restarts:
        attempt += 1
        found = _descend(task, _random(rng, *task.limits, task.robot), iterations)
        total += found.count
        best = min(best, found, key=lambda one: one.error)
    if best.error > task.tolerance:
        best = _descend(task, best.qm, 10 * iterations, gain=1e-9)
        total += best.count
    return IKResult(best.qm, *best.errors, total, attempt, best.error <= task.tolerance)


def _out_of_reach(robot: Robot, frame: str | int, result: IKResult) -> InputError:
    near = f"{result.position_error:.3g} m and {result.rotation_error:.3g} rad away"
    hint = "give more restarts, another q0, fewer components, or a pose within reach"
    return InputError(
        Fault(f"{frame} of {robot.name} does not reach the pose: at best {near}", hint=hint)
    )


def _descend(task: _Task, q: Array, iterations: int, gain: float = 1e-3) -> _Found:
    """The nearest joint positions on the way down from q. It ends early where ten steps
    together gain less than this part of the error."""
    best, history = _Found(q, (np.inf, np.inf), 0), [np.inf] * 10
    for count in range(iterations + 1):
        e, J = pose_error(task.target, task.link, *task.base, q, task.robot)
        way, turn = error_norms(e, task.rows)
        if max(way, turn) < best.error:
            best = _Found(q, (float(way), float(turn)), count)
        history.append(best.error)
        if best.error <= task.tolerance or history[-1] > (1 - gain) * history[-11]:
            break
        q = damped_step(e[task.rows], J[task.rows], q, task.limits, task.robot, _BIAS)
    return replace(best, count=count)


# --- the step, on numbers and symbols -------------------------------------------------------


def pose_error(target: Array, link: int, R0: Any, r0: Any, qm: Any, robot: Robot) -> Any:
    """e (6,) [rad, m]: the rotation and translation from a link frame to the target (4,4),
    inertial; Jm (6,nu): the Jacobian of the frame's origin.
    """
    K = kinematics(R0, r0, qm, robot)
    D = diff_kinematics(R0, r0, K.rL, K.e, K.g, robot)
    T = frame_of_link(link, R0, r0, K.RL, K.rL, robot)
    turn = rotation_vector(target[:3, :3] @ transpose(T[:3, :3]))
    e = np.concatenate([turn, target[:3, 3] - T[:3, 3]])
    return e, jacobian(T[:3, 3], r0, K.rL, D.P0, D.pm, link, robot).Jm


def damped_step(
    e: Array, J: Array, qm: Any, limits: tuple[Array, Array], robot: Robot, bias: float
) -> Array:
    """Joint positions (nq,) after one damped least-squares step against the error e (k,).

    J (k,nu). The damping is e'e/2 + bias. A joint at a limit (lower, upper) (nq,) that e
    drives out of it is held; the others are cut off at theirs. Spherical joints have none.
    Source: Sugihara (2011), with (J'J + damping)^-1 J' written as J'(J J' + damping)^-1.
    """
    lower, upper = limits
    uphill = J.T @ e
    free: list[Any] = [1.0] * robot.nu
    for entry in robot.layout:
        if not entry.spherical:
            q, k = entry.q.start, entry.u.start
            free[k] = _free(qm[q], uphill[k], lower[q], upper[q])
    moving = J * filled(free, J)
    size = e.reshape(1, -1) @ e
    damped = moving @ moving.T + (size / 2 + bias) * eye(len(e), J)
    step = moving.T @ solve_spd(damped, e, "the damped Jacobian")
    after = robot.integrate(qm, step)
    return filled([_cut(*entry) for entry in zip(after, lower, upper, strict=True)], J)


def _free(q: Any, uphill: Any, lower: float, upper: float) -> Any:
    """1, or 0 for a joint at a limit that the error drives out of it."""
    free: Any = 1.0
    if np.isfinite(lower):
        free = free * np.where(np.logical_and(q <= lower, uphill < 0), 0.0, 1.0)
    if np.isfinite(upper):
        free = free * np.where(np.logical_and(q >= upper, uphill > 0), 0.0, 1.0)
    return free


def _cut(q: Any, lower: float, upper: float) -> Any:
    q = np.maximum(q, lower) if np.isfinite(lower) else q
    return np.minimum(q, upper) if np.isfinite(upper) else q


def error_norms(e: Any, rows: list[int]) -> tuple[Any, Any]:
    """The norms of the translation [m] and of the rotation [rad] in the components of these
    rows.
    """
    way, turn = ([e[k] for k in rows if (k >= 3) == linear] for linear in (True, False))
    return tuple(np.sqrt(sum((x * x for x in part), 0.0)) for part in (way, turn))


def rotation_vector(R: Array) -> Array:
    """The axis (3,) of a rotation (3,3) times its angle [rad], up to half a turn.

    It goes by the quaternion, whose products stand in a symmetric matrix: the column with
    the largest diagonal entry is the exact one, at half a turn too. Source: S. Shepperd,
    "Quaternion from rotation matrix", J. Guidance and Control 1 (1978).
    """
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    a, b, c = R[0, 0], R[1, 1], R[2, 2]
    columns = [[x, y, z, 1 + a + b + c], [1 + a - b - c, xy, xz, x], [xy, 1 - a + b - c, yz, y],
               [xz, yz, 1 - a - b + c, z]]  # fmt: skip
    column, largest = columns[0], columns[0][3]
    for k in range(3):
        other = columns[k + 1]
        larger = other[k] > largest
        column = [np.where(larger, u, v) for u, v in zip(other, column, strict=True)]
        largest = np.maximum(largest, other[k])
    length = np.sqrt(_LEAST**2 + sum(u * u for u in column[:3]))
    angle = 2 * np.arctan2(length, np.abs(column[3]))
    scale = np.where(column[3] < 0, -1.0, 1.0) * angle / length
    return filled([u * scale for u in column[:3]], R)


# --- what the user gives ------------------------------------------------------------------


def frame_id(robot: Robot, frame: str | int) -> int:
    """The id of a link by name or id. Raises InputError with near names."""
    ids = robot.robot_keys.link_id
    if isinstance(frame, str):
        if frame not in ids:
            hint = did_you_mean(frame, ids)
            raise InputError(Fault(f"no link {frame!r} on {robot.name}", hint=hint))
        return ids[frame]
    if isinstance(frame, bool) or frame not in range(robot.n_links_joints + 1):
        raise InputError(
            f"frame is {brief(frame)}; ids of {robot.name} run from 0 to {len(robot.links)}"
        )
    return int(frame)


def pose_of(pose: Any) -> Array:
    """A pose (4,4) from an argument of `ik`. Raises InputError."""
    out = np.eye(4)
    if _is_pair(pose):
        position, attitude = pose
        if not np.ndim(position):
            raise InputError("a pose of two is a position (3,) and a quaternion or rotation")
        out[:3, 3] = _numbers(position, (3,), "the position of the pose")
        out[:3, :3] = _rotation(attitude)
    elif _is_position(pose):
        out[:3, 3] = array(pose, (3,), "the position of the pose")
    else:
        out = _numbers(pose, (4, 4), "pose")
    if not np.isfinite(out).all():
        raise InputError("the pose is not finite")
    _need_rotation(out[:3, :3], "the pose")
    if (out[3] != [0, 0, 0, 1]).any():
        raise InputError("the last row of the pose must be 0 0 0 1")
    return out


def _need_rotation(R: Array, what: str) -> None:
    off, mirrored = np.abs(R @ R.T - np.eye(3)).max(), np.linalg.det(R) < 0
    if not off < 1e-6:
        raise InputError(f"{what} has no rotation: R R' differs from 1 by {off:.3g}")
    if mirrored:
        raise InputError(f"{what} has no rotation: it mirrors, the determinant of R is -1")


def _rotation(attitude: Any) -> Array:
    """The rotation (3,3) of a unit quaternion (4,), or as it is."""
    if len(np.atleast_1d(_numbers(attitude, None, "the attitude of the pose"))) != 4:
        return _numbers(attitude, (3, 3), "the rotation of the pose")
    quaternion = _numbers(attitude, (4,), "the quaternion of the pose")
    length = np.linalg.norm(quaternion)
    if not abs(length - 1) < 1e-6:
        raise InputError(f"the quaternion of the pose has length {length:g}")
    return quaternion_rotation(quaternion / length)


def _numbers(value: Any, shape: tuple[int, ...] | None, name: str) -> Array:
    """An array of floats, of this shape where one is given. Raises InputError."""
    try:
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers, not {brief(value)}") from None
    return found if shape is None else array(found, shape, name)


def _is_position(pose: Any) -> bool:
    return not _is_pair(pose) and _numbers(pose, None, "pose").shape == (3,)


def _is_pair(pose: Any) -> bool:
    return isinstance(pose, (tuple, list)) and len(pose) == 2


def _chosen(components: str | Sequence[str] | None, pose: Any) -> str | Sequence[str]:
    """The chosen components: by default those that the pose contains."""
    alone = _is_position(pose)
    if components is None:
        return _TRANSLATION if alone else COMPONENTS
    if alone and any(row < 3 for row in rows_of(components)):
        raise InputError("a position alone has no rotation: give a pose, or vx vy vz")
    return components


def joint_limits(robot: Robot) -> tuple[Array, Array]:
    """The lower and upper position limits (nq,) [rad, m] of the active joints; infinite
    where there are none, as for quaternions."""
    lower, upper = _unlimited(robot)
    for entry in robot.layout:
        limits = robot.joints[entry.joint_id - 1].limits
        if limits is not None and not entry.spherical:
            lower[entry.q], upper[entry.q] = limits.lower, limits.upper
    return lower, upper


def _unlimited(robot: Robot) -> tuple[Array, Array]:
    return np.full(robot.nq, -np.inf), np.full(robot.nq, np.inf)


def _home(lower: Array, upper: Array, robot: Robot) -> Array:
    """The middle between limits, or the position nearest to zero, at which it displaces
    nothing."""
    both = np.isfinite(lower) & np.isfinite(upper)
    middle = np.where(
        both, (np.where(both, lower, 0) + np.where(both, upper, 0)) / 2, robot.neutral
    )
    return np.clip(middle, lower, upper)


def _random(rng: np.random.Generator, lower: Array, upper: Array, robot: Robot) -> Array:
    reach = np.ones(robot.nq)
    for entry in robot.layout:
        if robot.joints[entry.joint_id - 1].type is JointType.REVOLUTE:
            reach[entry.q] = np.pi
    low = np.where(np.isfinite(lower), lower, np.minimum(-reach, upper - 2 * reach))
    high = np.where(np.isfinite(upper), upper, np.maximum(reach, low + 2 * reach))
    q = rng.uniform(low, np.maximum(low, high))
    for entry in robot.layout:
        if entry.spherical:  # any turn, all alike
            q[entry.q] = rng.normal(size=4)
    turned: Array = robot.with_unit_quaternions(q)
    return turned
