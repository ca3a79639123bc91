# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Drive gains: joint torque per motor current, with their absolute scale.

Currents alone say nothing of it: gains and inertial parameters grow together. It takes torques
that something else knows: the controller's own target torques at rest [1]_, the gravity of a model
that is trusted, or what a payload of known mass adds to the currents [2]_.

References
----------
.. [1] A. Tika, J. Ulmen, N. Bajcinca, "Dynamic parameter estimation utilizing optimized
   trajectories", IEEE/RSJ IROS, 2020, eq. 32.
.. [2] M. Gautier, S. Briot, "Global identification of joint drive gains and dynamic parameters of
   robots", J. Dynamic Systems, Measurement, and Control 136(5), 2014.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
import math

import numpy as np
from robot_identification.arrays import FloatArray, IntArray, triangle_of
from robot_identification.errors import DataError, NotIdentifiableError, UsageError
from robot_identification.estimation import Observations, RowTreatment, TIME_BLOCKS, TrainingData
from robot_identification.model import (
    block_slices, inertial_regressor, joint_parameters, make_standard_parameters, Motion,
    parse_friction, Payload, PLAIN_FRICTION, reduce_to_base, RobotModel, static_regressor,
)
from robot_identification.processing import Dataset
from robot_identification.recording import Recording
from robot_identification.studies.drive_gains.static_poses import (
    describe_too_few, group_poses, mean_of_approaches, static_poses_of, StaticPoseOptions,
)

# Relative standard error above which a gain is not one.
LARGEST_ERROR = 0.1
# Published gains of one arm differ by 8 %; those of a wrong unit by far more than this factor.
FAR_OFF = 1.3
# Singular values of scaled columns below this part of the largest are rounding.
ROUNDING = 1.0e-8
# Torques below this are rounding [N m].
LEAST_TORQUE = 1.0e-6
# What friction does below this is not Coulomb's law: such rows of a joint are left out [rad/s].
SLOWEST = 0.05
# Gauss-Newton steps, and the relative change that ends them.
MOST_STEPS, STEP = 50, 1.0e-6


@dataclass(frozen=True)
class GainOptions:
    """
    Options of the estimate of drive gains.

    Attributes
    ----------
    smallest_current : float
        Poses at which a joint has less are left out for it [A].
    intercept : bool
        Whether the current may have an offset.
    dwells : StaticPoseOptions
        What counts as a rest.

    """

    smallest_current: float = 0.05
    intercept: bool = False
    dwells: StaticPoseOptions = field(default_factory=StaticPoseOptions)

    def __post_init__(self) -> None:
        if not self.smallest_current >= 0.0:
            raise UsageError(
                f'the smallest current is {self.smallest_current:g} A, it must not be negative'
            )


@dataclass(frozen=True, eq=False)
class Readings:
    """
    Torque and current at rest.

    Attributes
    ----------
    q : ndarray, shape (D, n)
        Position [rad].
    approach : ndarray, shape (D, n)
        1 where a joint came from below, -1 from above, 0 where that is not known.
    torque : ndarray, shape (D, n)
        Joint torque [N m].
    current : ndarray, shape (D, n)
        Motor current [A].

    """

    q: FloatArray
    approach: FloatArray
    torque: FloatArray
    current: FloatArray


@dataclass(frozen=True)
class GainPoint:
    """
    Torque and current of one joint at one pose.

    Attributes
    ----------
    torque : float
        Joint torque [N m].
    current : float
        Motor current, mean of both approaches [A].
    holding : float
        Half of what the approaches differ by: what static friction holds [A]; NaN of one side.
    side : int
        0 if it was reached from both sides; else the side, 1 from below.

    """

    torque: float
    current: float
    holding: float = math.nan
    side: int = 0

    @property
    def both(self) -> bool:
        """Return whether static friction cancels."""
        return math.isfinite(self.holding)


@dataclass(frozen=True)
class DriveGain:
    """
    The drive gain of one joint.

    Attributes
    ----------
    joint : str
        Its name.
    gain : float
        Joint torque per motor current [N m/A]; NaN if it cannot be seen.
    standard_error : float
        Of `gain` [N m/A]; NaN where it is not known.
    bias_bound : float
        Most that static friction can shift it [N m/A]; 0 if every pose was reached from both
        sides, NaN if it is not known.
    spread : float
        Relative standard deviation of torque over current between poses; NaN of a motion.
    intercept : float
        Current without torque [A]; 0 if there was to be none.
    points : int
        Poses, or parts of the motion.
    both_sides : int
        Poses among them that were reached from both sides.
    holding_torque : float
        Mean static friction held at rest, at the joint [N m]; NaN if it is not known.
    largest_torque : float
        Of those that the gain rests on [N m].
    reason : str
        Why it cannot be seen; empty if it can.

    """

    joint: str
    gain: float = math.nan
    standard_error: float = math.nan
    bias_bound: float = math.nan
    spread: float = math.nan
    intercept: float = 0.0
    points: int = 0
    both_sides: int = 0
    holding_torque: float = math.nan
    largest_torque: float = 0.0
    reason: str = ''

    @property
    def is_seen(self) -> bool:
        """Return whether there is a gain."""
        return not self.reason


@dataclass(frozen=True, eq=False)
class DriveGains:
    """
    The drive gains of an arm.

    Attributes
    ----------
    method : str
        'poses', 'payload_poses' or 'payload_motion'.
    torque_from, current_from : str
        Where torques and currents came from, in words.
    joints : tuple of DriveGain
        Kinematic order.
    points : tuple of tuple of GainPoint
        Of each joint, what the gain of 'poses' and 'payload_poses' rests on.
    notes : tuple of str
        What a reader should know.

    """

    method: str
    torque_from: str
    current_from: str
    joints: tuple[DriveGain, ...]
    points: tuple[tuple[GainPoint, ...], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def unseen(self) -> tuple[str, ...]:
        """Joints whose gain cannot be seen."""
        return tuple(joint.joint for joint in self.joints if not joint.is_seen)

    @property
    def values(self) -> FloatArray:
        """Gains, shape (n,) [N m/A]; NaN where they cannot be seen."""
        return np.array([joint.gain for joint in self.joints])


def mixed_total_least_squares(
    exact: FloatArray, noisy: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """
    Return the coefficients with which noisy columns are a combination of exact ones.

    Orthogonal transformations remove the exact columns; what is left of the noisy ones is singular
    but for their noise, and the last right singular vector says how.

    Parameters
    ----------
    exact : ndarray, shape (m, k)
        Columns without noise, linearly independent.
    noisy : ndarray, shape (m, l)
        Columns with equal noise.

    Returns
    -------
    of_exact : ndarray, shape (k,)
        Coefficients, so that ``noisy @ of_noisy`` is about ``exact @ of_exact``.
    of_noisy : ndarray, shape (l,)
        Of unit length.

    """
    scale = np.linalg.norm(exact, axis=0)
    left, values, right = np.linalg.svd(exact / scale, full_matrices=False)
    rest = noisy - left @ (left.T @ noisy)
    of_noisy = np.linalg.svd(rest, full_matrices=False)[2][-1]
    of_exact = right.T @ ((left.T @ (noisy @ of_noisy)) / values) / scale
    return of_exact, of_noisy


def read_rests(
    recordings: Sequence[Recording],
    options: GainOptions,
    torque: str | Callable[[FloatArray], FloatArray],
    current: str,
) -> Readings:
    """
    Return torques and currents of every rest in some recordings.

    Parameters
    ----------
    recordings : sequence of Recording
        With the channels that are asked for.
    options : GainOptions
        What counts as a rest.
    torque : str or callable
        A channel, or what returns torques (D, n) of poses (D, n).
    current : str
        A channel, or 'effort'.

    Raises
    ------
    NotIdentifiableError
        If the arm never rests.
    DataError
        If none of what was asked for was recorded at rest.

    """
    found = static_poses_of(recordings, options.dwells)
    if not found:
        raise NotIdentifiableError(describe_too_few(recordings, options.dwells))
    q = np.array([dwell.q for _, dwell in found])
    currents = np.array([
        dwell.mean(*_signal(recording, current)) for recording, dwell in found
    ])
    torques = torque(q) if callable(torque) else np.array([
        dwell.mean(*_signal(recording, torque)) for recording, dwell in found
    ])
    kept = np.all(np.isfinite(torques) & np.isfinite(currents), axis=1)
    if not kept.any():
        raise DataError(
            f'{recordings[0].source}: no {current} was recorded during any of {len(found)} rests: '
            'record the topic with the joint states'
        )
    approach = np.array([dwell.approach for _, dwell in found])
    return Readings(q[kept], approach[kept], torques[kept], currents[kept])


def _signal(recording: Recording, name: str) -> tuple[FloatArray, FloatArray]:
    """
    Return stamps and values of a channel, or of the effort.

    Raises
    ------
    DataError
        If the recording does not have it.

    """
    if name == 'effort':
        return recording.stamps, recording.effort
    channel = recording.channels.get(name)
    if channel is None or not len(channel):
        raise DataError(
            f'{recording.source} has no {name.replace("_", " ")} of the joints: record the topic '
            f'{"target_moment" if name == "target_torque" else name} with the joint states'
        )
    return channel.stamps, channel.values


def average_approaches(readings: Readings) -> tuple[tuple[GainPoint, ...], ...]:
    """
    Return torque and current of each joint by pose, the approaches from both sides averaged.

    Static friction holds the joint with one sign where it came from below and with the other
    where it came from above; the mean is free of it.

    Returns
    -------
    tuple of tuple of GainPoint, length n
        Of each joint, one for each pose.

    """
    n = readings.q.shape[1]
    points: list[list[GainPoint]] = [[] for _ in range(n)]
    for group in group_poses(list(readings.q)):
        for joint in range(n):
            sides = readings.approach[group, joint]
            torque, _ = mean_of_approaches(readings.torque[group, joint], sides)
            current, holding = mean_of_approaches(readings.current[group, joint], sides)
            side = int(np.sign(sides.sum())) if math.isnan(holding) else 0
            points[joint].append(GainPoint(torque, current, holding, side))
    return tuple(tuple(of_joint) for of_joint in points)


def payload_differences(
    robot: RobotModel, bare: Readings, loaded: Readings, payload: Payload
) -> tuple[tuple[GainPoint, ...], ...]:
    """
    Return what a payload adds to the current of each joint, by pose.

    Rests are compared that were reached from the same side, so that static friction cancels.

    Parameters
    ----------
    robot : RobotModel
        The arm, whose gravity and geometry the payload's torque follows from.
    bare, loaded : Readings
        Without and with it; their torques are not used.
    payload : Payload
        The known body.

    Returns
    -------
    tuple of tuple of GainPoint, length n
        Of each joint, one for each pose that both have.

    """
    poses = list(bare.q) + list(loaded.q)
    first = len(bare.q)
    points: list[list[GainPoint]] = [[] for _ in range(robot.n)]
    parameters = joint_parameters(robot, payload)
    for group in group_poses(poses):
        without = np.array([at for at in group if at < first], dtype=int)
        carrying = np.array([at - first for at in group if at >= first], dtype=int)
        if not without.size or not carrying.size:
            continue
        q = np.mean([poses[at] for at in group], axis=0)
        torque = static_regressor(robot, q[None])[:, -10:] @ parameters
        for joint in range(robot.n):
            sides = [
                side for side in (-1.0, 0.0, 1.0)
                if np.any(bare.approach[without, joint] == side)
                and np.any(loaded.approach[carrying, joint] == side)
            ]
            change = [
                float(np.mean(loaded.current[carrying][
                    loaded.approach[carrying, joint] == side, joint]))
                - float(np.mean(bare.current[without][
                    bare.approach[without, joint] == side, joint]))
                for side in sides
            ]
            if change:
                holding = 0.5 * (change[-1] - change[0])
                points[joint].append(GainPoint(float(torque[joint]), float(np.mean(change)),
                                               holding))
            else:
                points[joint].append(GainPoint(
                    float(torque[joint]),
                    float(np.mean(loaded.current[carrying, joint])
                          - np.mean(bare.current[without, joint])),
                    side=int(np.sign(loaded.approach[carrying, joint].sum())),
                ))
    return tuple(tuple(of_joint) for of_joint in points)


def fit_gain(
    joint: str, points: Sequence[GainPoint], options: GainOptions | None = None
) -> DriveGain:
    """
    Fit the gain of one joint to its poses.

    The noise is in the currents, so that ``current = torque / gain (+ intercept)`` is fitted by
    least squares; where all poses agree, this is the mean of Tika et al., eq. 32.

    Parameters
    ----------
    joint : str
        Its name.
    points : sequence of GainPoint
        By pose.
    options : GainOptions, optional
        How.

    """
    options = GainOptions() if options is None else options
    used = [
        point for point in points
        if abs(point.current) > options.smallest_current and abs(point.torque) > LEAST_TORQUE
    ]
    largest = max((abs(point.torque) for point in points), default=0.0)
    if points and largest <= LEAST_TORQUE:
        return DriveGain(joint, reason='nothing pulls at it at any of these poses')
    unknowns = 1 + options.intercept
    if len(used) < unknowns:
        return DriveGain(
            joint, points=len(used), largest_torque=largest,
            reason=(
                f'its current is above {options.smallest_current:g} A at {len(used)} of '
                f'{len(points)} poses, too few; its torque there is at most {largest:.3g} N m'
            ),
        )
    torque = np.array([point.torque for point in used])
    current = np.array([point.current for point in used])
    matrix = np.column_stack([torque, np.ones_like(torque)])[:, :unknowns]
    if np.linalg.matrix_rank(matrix / np.linalg.norm(matrix, axis=0)) < unknowns:
        return DriveGain(
            joint, points=len(used), largest_torque=largest,
            reason='all poses have the same torque, so that the intercept cannot be told from it',
        )
    orthogonal, triangle = np.linalg.qr(matrix)
    solution = np.linalg.solve(triangle, orthogonal.T @ current)
    inverse = float(solution[0])
    if inverse == 0.0:
        return DriveGain(joint, points=len(used), largest_torque=largest,
                         reason='its current does not follow the torque')
    gain = 1.0 / inverse
    freedom = len(used) - unknowns
    reach = np.linalg.solve(triangle, orthogonal.T)[0]
    error = math.nan
    if freedom > 0:
        residual = current - matrix @ solution
        error = gain**2 * math.sqrt(float(residual @ residual) / freedom) * float(
            np.linalg.norm(reach)
        )
    ratios = torque / (current - (solution[1] if options.intercept else 0.0))
    spread = float(np.std(ratios, ddof=1) / abs(gain)) if len(used) > 1 else math.nan
    one_sided = np.array([not point.both for point in used])
    holding = _holding_current(points)
    bias = 0.0
    if one_sided.any():
        bias = gain**2 * holding * float(np.sum(np.abs(reach[one_sided])))
    pairs = [abs(point.holding) for point in points if point.both]
    found = DriveGain(
        joint, gain, error, bias, spread,
        float(solution[1]) if options.intercept else 0.0, len(used),
        int(np.count_nonzero(~one_sided)),
        abs(gain) * float(np.mean(pairs)) if pairs else math.nan, float(np.abs(torque).max()),
    )
    return _checked(found)


def _checked(found: DriveGain) -> DriveGain:
    """Return a gain, or why it is not known well enough to be one."""
    if found.standard_error > LARGEST_ERROR * abs(found.gain):
        return DriveGain(
            found.joint, points=found.points, both_sides=found.both_sides,
            largest_torque=found.largest_torque,
            reason=(
                f'its standard error is {found.standard_error / abs(found.gain):.0%}, more than '
                f'{LARGEST_ERROR:.0%}; the largest torque was {found.largest_torque:.3g} N m'
            ),
        )
    return found


def compare_with_known(robot: RobotModel, found: DriveGains) -> DriveGains:
    """
    Return drive gains as far as they can be those of an arm whose gains were known before.

    A gain of the other sign is not one: bags may be swapped. One that is far off is doubted in a
    note.

    Parameters
    ----------
    robot : RobotModel
        The arm; where it does not know a gain, nothing is said.
    found : DriveGains
        Of its joints.

    Raises
    ------
    NotIdentifiableError
        If not one gain is left.

    """
    joints, doubtful = [], []
    for joint, known in zip(found.joints, robot.drives.drive_gain, strict=True):
        ratio = joint.gain / known
        if ratio < 0.0:
            joint = DriveGain(
                joint.joint, points=joint.points, both_sides=joint.both_sides,
                largest_torque=joint.largest_torque,
                reason=(
                    f'its current goes against the torque ({joint.gain:.3g} N m/A, before '
                    f'{known:.3g}): are the bags without and with the payload swapped, or is its '
                    'axis turned the other way?'
                ),
            )
        elif not (1.0 / FAR_OFF < ratio < FAR_OFF or math.isnan(ratio)):
            doubtful.append(f'{joint.joint} ({joint.gain:.3g} N m/A, before {known:.3g})')
        joints.append(joint)
    _refuse_nothing(joints)
    notes = () if not doubtful else (
        f'far from the gains known before: {", ".join(doubtful)}; check that currents are in A, '
        'torques in N m, and a payload in kg and m',
    )
    return replace(found, joints=tuple(joints), notes=(*notes, *found.notes))


def _holding_current(points: Sequence[GainPoint]) -> float:
    """
    Return the most that static friction holds of the current [A], NaN if it cannot be told.

    Poses reached from both sides show it. Without any, those reached from different sides do as
    far as the line through them leaves a difference between the sides.
    """
    pairs = [abs(point.holding) for point in points if point.both]
    if pairs:
        return max(pairs)
    sides = np.array([point.side for point in points], dtype=float)
    if len(points) < 3 or not {-1.0, 1.0} <= set(sides):
        return math.nan
    torque = np.array([point.torque for point in points])
    matrix = np.column_stack([torque, sides])
    current = np.array([point.current for point in points])
    scale = np.linalg.norm(matrix, axis=0)
    if not np.all(scale > 0.0) or np.linalg.matrix_rank(matrix / scale) < 2:
        return math.nan
    orthogonal, triangle = np.linalg.qr(matrix)
    return abs(float(np.linalg.solve(triangle, orthogonal.T @ current)[1]))


def gains_from_poses(
    joint_names: Sequence[str],
    points: Sequence[Sequence[GainPoint]],
    options: GainOptions,
    *,
    method: str,
    torque_from: str,
    current_from: str,
    notes: Sequence[str] = (),
) -> DriveGains:
    """
    Fit the gains of all joints to their poses.

    Raises
    ------
    NotIdentifiableError
        If not one gain can be seen.

    """
    joints = tuple(
        fit_gain(name, of_joint, options)
        for name, of_joint in zip(joint_names, points, strict=True)
    )
    _refuse_nothing(joints)
    warnings = [
        f'{gain.joint}: {gain.points - gain.both_sides} of {gain.points} poses were reached from '
        'one side only; static friction can shift the gain by '
        + (f'{gain.bias_bound:.3g} N m/A' if math.isfinite(gain.bias_bound)
           else 'an amount that these poses do not tell')
        for gain in joints if gain.is_seen and gain.both_sides < gain.points
    ]
    return DriveGains(
        method, torque_from, current_from, joints,
        tuple(tuple(of_joint) for of_joint in points), (*notes, *warnings),
    )


def _refuse_nothing(joints: Sequence[DriveGain]) -> None:
    if not any(joint.is_seen for joint in joints):
        reasons = '; '.join(f'{joint.joint}: {joint.reason}' for joint in joints)
        raise NotIdentifiableError(f'no drive gain can be seen ({reasons})')


def payload_torque(robot: RobotModel, payload: Payload, motion: Motion) -> FloatArray:
    """Return the joint torques that a payload alone needs along a motion, (N, n) [N m]."""
    parameters = joint_parameters(robot, payload)
    torque = np.empty(motion.q.shape)
    for rows in block_slices(len(motion)):
        W = inertial_regressor(robot, motion.part(rows))
        torque[rows] = (W[:, -10:] @ parameters).reshape(-1, robot.n)
    return torque


def gains_from_motion(
    robot: RobotModel, bare: Sequence[Dataset], loaded: Sequence[Dataset], payload: Payload,
    current_from: str = 'measured current',
) -> DriveGains:
    """
    Estimate drive gains from motions without and with a known payload [2]_.

    For every joint, ``gain * current = W @ theta + payload's torque``, with the bare arm's base
    parameters theta unknown and the second term zero without the payload. The noise is in the
    currents, which are columns of the unknown gains: total least squares with the other columns
    exact give a start, from which the squares of the currents' own errors are minimised, joints
    weighted by their noise. The motions need not be the same.

    Parameters
    ----------
    robot : RobotModel
        The arm; neither its inertial parameters nor its gains are used.
    bare, loaded : sequence of Dataset
        With currents as their effort.
    payload : Payload
        The known body.
    current_from : str
        Where the currents came from, in words.

    Raises
    ------
    NotIdentifiableError
        If the scale cannot be seen, or not one gain.

    """
    parameters = make_standard_parameters(
        robot.n, parse_friction(PLAIN_FRICTION), reflected_inertia=True
    )
    reduction = reduce_to_base(robot, parameters)
    datasets = [*bare, *loaded]
    observations = Observations(robot, reduction, [
        TrainingData(
            dataset, np.ones(robot.n),
            dataset.fitted & np.all(np.isfinite(dataset.effort), axis=1),
        )
        for dataset in datasets
    ], treatment=RowTreatment(slowest=SLOWEST))
    added = [
        np.zeros(dataset.effort.shape) if number < len(bare)
        else payload_torque(robot, payload, dataset.motion)
        for number, dataset in enumerate(datasets)
    ]
    starts = np.cumsum([0] + [len(dataset) for dataset in datasets])
    parts: dict[int, list[FloatArray]] = {}
    samples = np.zeros(robot.n, dtype=int)
    width = reduction.rank + robot.n * (len(datasets) - 1) + 2
    for block in observations.blocks():
        for joint, rows in enumerate(block.joints):
            table = np.zeros((len(rows.samples), width))
            table[:, observations.columns(joint)] = rows.table[:, :-1]
            table[:, -2], table[:, -1] = added[block.bag][rows.samples, joint], rows.tau
            samples[joint] += len(table)
            label = (starts[block.bag] + rows.samples) * TIME_BLOCKS // starts[-1]
            for part in np.unique(label):
                pile = parts.setdefault(
                    int(part), [np.zeros((0, width)) for _ in range(robot.n)]
                )
                pile[joint] = triangle_of(np.asfortranarray(
                    np.vstack([pile[joint], table[label == part]])
                ))
    moved = np.flatnonzero(samples > width)
    if not moved.size:
        raise NotIdentifiableError(_NO_SCALE)
    largest = np.max([np.abs(torques).max(axis=0) for torques in added], axis=0)
    found = _ScaledProblem(
        [robot.joint_names[joint] for joint in moved],
        [[part[joint] for joint in moved] for part in parts.values()],
        samples[moved],
    ).solve(largest[moved])
    by_name = {gain.joint: gain for gain in found}
    joints = tuple(
        by_name.get(name, DriveGain(
            name, reason=f'it hardly moved faster than {SLOWEST:g} rad/s'
        ))
        for name in robot.joint_names
    )
    _refuse_nothing(joints)
    return DriveGains(
        'payload_motion', 'known payload', current_from, joints,
        notes=tuple(note for dataset in datasets for note in dataset.notes),
    )


class _ScaledProblem:
    """
    Currents of all joints, ``current_j = (W_j theta + payload_j) / gain_j + noise``.

    Parameters
    ----------
    names : sequence of str
        The joints.
    parts : list of list of ndarray, shape (k + 2, k + 2)
        Of each part of the motions and each joint, the triangular factor of W_j, the payload's
        torque and the current.
    samples : ndarray of int, shape (n,)
        Rows of each joint.

    """

    def __init__(
        self, names: Sequence[str], parts: list[list[FloatArray]], samples: IntArray
    ) -> None:
        self.names = names
        self.samples = samples
        self.n = len(names)
        whole = [
            triangle_of(np.asfortranarray(np.vstack([part[joint] for part in parts])))
            for joint in range(self.n)
        ]
        # Coordinates of what the base parameters can do in these motions: joints that stand do
        # not show all of them, and none of them is asked for.
        stacked = np.vstack(whole)[:, :-2]
        scale = np.maximum(np.linalg.norm(stacked, axis=0), np.finfo(float).tiny)
        _, values, right = np.linalg.svd(stacked / scale, full_matrices=False)
        basis = right[values > ROUNDING * values[0]].T / scale[:, None]
        self.whole = [_in_basis(triangle, basis) for triangle in whole]
        self.parts = [[_in_basis(triangle, basis) for triangle in part] for part in parts]

    def solve(self, largest: FloatArray) -> tuple[DriveGain, ...]:
        """
        Return the gains; `largest` is the payload's largest torque at each joint [N m].

        Raises
        ------
        NotIdentifiableError
            If the payload does not show the scale.

        """
        theta, inverse = self._start()
        weights = np.ones(self.n)
        for _ in range(MOST_STEPS):
            residual, jacobian = self._rows(self.whole, theta, inverse, weights)
            scale = np.maximum(np.linalg.norm(jacobian, axis=0), np.finfo(float).tiny)
            left, values, right = np.linalg.svd(jacobian / scale, full_matrices=False)
            self._check(values)
            step = -(right.T @ ((left.T @ residual) / values)) / scale
            theta, inverse = theta + step[: len(theta)], inverse + step[len(theta):]
            deviation = self._deviation(theta, inverse)
            changed = np.abs(deviation * weights - 1.0).max()
            weights = 1.0 / np.maximum(deviation, ROUNDING * np.abs(inverse) * largest.max())
            if np.abs(step[len(theta):]).max() < STEP * np.abs(inverse).max() and changed < STEP:
                break
        _, jacobian = self._rows(self.whole, theta, inverse, weights)
        scale = np.maximum(np.linalg.norm(jacobian, axis=0), np.finfo(float).tiny)
        _, values, right = np.linalg.svd(jacobian / scale, full_matrices=False)
        root = (right.T / values) / scale[:, None]
        scores = []
        for part in self.parts:
            residual, of_part = self._rows(part, theta, inverse, weights)
            scores.append(root.T @ (of_part.T @ residual))
        count = len(scores)
        spread = root @ np.array(scores).T
        variance = np.maximum(
            np.sum(spread**2, axis=1) * count / max(count - 1, 1), np.sum(root**2, axis=1)
        )[len(theta):]
        return tuple(
            _checked(DriveGain(
                name, 1.0 / one, math.sqrt(of_one) / one**2, 0.0, points=count,
                both_sides=count, largest_torque=float(torque),
            ))
            for name, one, of_one, torque in zip(
                self.names, inverse, variance, largest, strict=True
            )
        )

    def _start(self) -> tuple[FloatArray, FloatArray]:
        """Return base parameters and inverse gains by total least squares."""
        exact = np.vstack([triangle[:, :-1] for triangle in self.whole])
        height = len(self.whole[0])
        noisy = np.zeros((len(exact), self.n))
        for joint, triangle in enumerate(self.whole):
            noisy[joint * height: (joint + 1) * height, joint] = triangle[:, -1]
        norms = np.linalg.norm(exact, axis=0)
        self._check(np.linalg.svd(
            exact / np.maximum(norms, np.finfo(float).tiny), compute_uv=False
        ))
        of_exact, of_noisy = mixed_total_least_squares(exact, noisy)
        if abs(of_exact[-1]) * norms[-1] < ROUNDING or np.any(of_noisy == 0.0):
            raise NotIdentifiableError(_NO_SCALE)
        return of_exact[:-1] / of_exact[-1], of_exact[-1] / of_noisy

    @staticmethod
    def _check(values: FloatArray) -> None:
        if not values[-1] > ROUNDING * values[0]:
            raise NotIdentifiableError(_NO_SCALE)

    def _rows(
        self, triangles: Sequence[FloatArray], theta: FloatArray, inverse: FloatArray,
        weights: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return weighted errors of the currents, and their derivatives."""
        residuals, jacobians = [], []
        for joint, triangle in enumerate(triangles):
            torque = triangle[:, :-2] @ theta + triangle[:, -2]
            residuals.append(weights[joint] * (inverse[joint] * torque - triangle[:, -1]))
            of_gains = np.zeros((len(triangle), self.n))
            of_gains[:, joint] = torque
            jacobians.append(weights[joint] * np.hstack([
                inverse[joint] * triangle[:, :-2], of_gains,
            ]))
        return np.concatenate(residuals), np.vstack(jacobians)

    def _deviation(self, theta: FloatArray, inverse: FloatArray) -> FloatArray:
        """Return the standard deviation of the currents' errors, shape (n,) [A]."""
        squares = [
            float(np.sum((
                one * (triangle[:, :-2] @ theta + triangle[:, -2]) - triangle[:, -1]
            ) ** 2))
            for one, triangle in zip(inverse, self.whole, strict=True)
        ]
        freedom = np.maximum(self.samples - (len(theta) + self.n) / self.n, 1.0)
        deviation: FloatArray = np.sqrt(np.array(squares) / freedom)
        return deviation


def _in_basis(triangle: FloatArray, basis: FloatArray) -> FloatArray:
    return np.hstack([triangle[:, :-2] @ basis, triangle[:, -2:]])


_NO_SCALE = (
    "the payload's torque cannot be told from the arm's own: record a motion without it and one "
    'with it, both of every joint'
)
