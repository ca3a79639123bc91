# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Drive gains: joint torque per motor current, with their absolute scale.

Currents alone say nothing of it: gains and inertial parameters grow together. It takes torques
that something else knows: the controller's own target torques at rest [1]_, the gravity of a model
that is trusted, or what a payload of known mass adds to the currents (`motion`).

References
----------
.. [1] A. Tika, J. Ulmen, N. Bajcinca, "Dynamic parameter estimation utilizing optimized
   trajectories", IEEE/RSJ IROS, 2020, eq. 32.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
import math
from pathlib import Path

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError, NotIdentifiableError, UsageError
from robot_identification.estimation import COMMAND
from robot_identification.model import (
    joint_parameters, NamedJoints, Payload, RobotModel, static_regressor, tool_frame,
)
from robot_identification.options import option
from robot_identification.recording import Recording
from robot_identification.studies.drive_gains.static_poses import (
    group_poses, mean_of_approaches, static_poses_of,
)
from robot_identification.studies.reading import ReadingOptions

# Poses that runs without and with a payload must share; chosen: with fewer the motion says more.
FEWEST_SHARED_POSES = 3
# Relative standard error above which a gain is not one; chosen: above the 8 % that published
# gains of one arm differ by.
LARGEST_ERROR = 0.1
# Factor to the gain known before from which a note questions it; chosen: published gains of one
# arm differ by 8 %, those of a wrong unit by far more.
FAR_OFF = 1.3
# Torques below this are rounding [N m].
LEAST_TORQUE = 1.0e-6


@dataclass(frozen=True)
class DriveGainsOptions(ReadingOptions):
    """
    Options of the study of drive gains.

    Raises UsageError if an option is out of its range, or only one of payload and bags with it is
    given.
    """

    smallest_current: float = option(
        float, 'smallest current [A]; poses with less are left out for the joint',
        default=0.05, minimum=0.0, metavar='A',
    )
    intercept: bool = option(bool, 'allow the current an offset at rest', default=False)
    shortest_rest: float = option(
        float, 'minimum rest to count as a static pose [s]; its last half is averaged',
        default=2.0, minimum=0.0, metavar='S', key='shortest_dwell',
    )
    torque_from: str = option(
        str, "torques at rest: target, the controller's target torques; urdf, the gravity of the "
        'masses in the URDF; or the gravity of an identified_model.yaml', default='target',
        metavar='SOURCE',
    )
    current: str | None = option(
        str, 'currents at rest', choices=('target', 'measured'),
        otherwise='target where torques are targets and it was recorded, else measured',
    )
    payload: tuple[float, ...] | None = option(
        float, 'a known payload instead: mass [kg] and centre of mass [m]; bags with it follow '
        '--loaded', count=4, metavar=('MASS', 'X', 'Y', 'Z'),
    )
    payload_inertia: tuple[float, ...] = option(
        float, 'inertia of the payload about its centre of mass [kg m^2]', count=6,
        metavar=('IXX', 'IYY', 'IZZ', 'IXY', 'IXZ', 'IYZ'), default=(0.0,) * 6,
        otherwise='that of a point',
    )
    payload_frame: str | None = option(
        str, 'link that the payload is stated in', otherwise="the tool's (tool0, flange, ..)",
        metavar='LINK',
    )
    loaded: tuple[Path, ...] = option(
        Path, 'bags with the payload', count='+', metavar='BAG', default=(),
    )
    use: str = option(
        str, 'part of the effect of a payload that is used: that at poses that both runs have, '
        f'or that in motion; auto: poses where there are {FEWEST_SHARED_POSES}',
        choices=('auto', 'poses', 'motion'), default='auto',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.payload is None) != (not self.loaded):
            raise UsageError(
                '--payload and --loaded go together: what it weighs, and bags with it'
            )

    @property
    def gain_unit(self) -> str:
        """Unit of the gains: joint torque per motor current, or per position error of a servo."""
        return 'N m/rad' if self.effort_from == COMMAND else 'N m/A'

    def known_payload(self, robot: RobotModel) -> Payload | None:
        """Return the known payload, if any; raises UsageError if it cannot be a rigid body."""
        if self.payload is None:
            return None
        mass, *center = self.payload
        if not mass > 0.0:
            raise UsageError(f'the mass of the payload is {mass:g} kg, it must be positive')
        xx, yy, zz, xy, xz, yz = self.payload_inertia
        payload = Payload(
            mass, np.array(center), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
            tool_frame(robot, self.payload_frame),
        )
        if not payload.is_possible:
            raise UsageError(
                'no rigid body has this --payload-inertia: none of Ixx, Iyy, Izz is negative, or '
                'more than the sum of the others'
            )
        return payload


@dataclass(frozen=True, eq=False)
class Readings:
    """Torque and current at D rests."""

    q: FloatArray  # (D, n) position [rad]
    approach: FloatArray  # (D, n) 1 where a joint came from below, -1 from above, 0 if unknown
    torque: FloatArray  # (D, n) joint torque [N m]
    current: FloatArray  # (D, n) motor current [A]


@dataclass(frozen=True)
class GainPoint:
    """Torque and current of one joint at one pose."""

    torque: float  # [N m]
    current: float  # mean of both approaches [A]
    holding: float = math.nan  # half of what the approaches differ by [A]; NaN of one side
    side: int = 0  # 0 if it was reached from both sides; else the side, 1 from below

    @property
    def both(self) -> bool:
        """Return whether static friction cancels."""
        return math.isfinite(self.holding)


@dataclass(frozen=True)
class DriveGain:
    """The drive gain of one joint."""

    joint: str
    gain: float = math.nan  # joint torque per motor current [N m/A]; NaN if not identifiable
    standard_error: float = math.nan  # [N m/A]; NaN where it is not known
    # Most that static friction can shift the gain by [N m/A]; 0 if every pose was reached from
    # both sides, NaN if it is not known.
    bias_bound: float = math.nan
    # Relative standard deviation of torque over current between poses; NaN of a motion.
    standard_deviation: float = math.nan
    intercept: float = 0.0  # current without torque [A]; 0 if there was to be none
    points: int = 0  # poses, or parts of the motion
    both_sides: int = 0  # poses among them that were reached from both sides
    holding_torque: float = math.nan  # mean static friction held at rest [N m]; NaN if not known
    largest_torque: float = 0.0  # of those that the gain rests on [N m]
    reason: str = ''  # why it is not identifiable; empty if it is

    @property
    def is_seen(self) -> bool:
        """Return whether there is a gain."""
        return not self.reason


@dataclass(frozen=True, eq=False)
class DriveGains:
    """The drive gains of an arm."""

    method: str  # 'poses', 'payload_poses' or 'payload_motion'
    torque_from: str  # where torques came from, in words
    current_from: str  # where currents came from, in words
    joints: tuple[DriveGain, ...]  # kinematic order
    points: tuple[tuple[GainPoint, ...], ...] = ()  # of each joint, but for 'payload_motion'
    notes: tuple[str, ...] = ()

    @property
    def unseen(self) -> tuple[str, ...]:
        """Joints whose gain is not identifiable."""
        return tuple(joint.joint for joint in self.joints if not joint.is_seen)

    @property
    def values(self) -> FloatArray:
        """Gains, shape (n,) [N m/A]; NaN where they are not identifiable."""
        return np.array([joint.gain for joint in self.joints])


def read_rests(
    recordings: Sequence[Recording], shortest: float,
    torque: str | Callable[[FloatArray], FloatArray], current: str, start: float | None = None,
) -> Readings:
    """
    Return torques and currents of every rest in some recordings.

    Rests last `shortest` [s] at least; those before `start` [s] are left out. `current` is a
    channel or 'effort', `torque` too, or a function of poses (D, n). Raise DataError if none of it
    was recorded at rest.
    """
    found = static_poses_of(recordings, shortest, start)
    q = np.array([pose.q for _, pose in found])
    currents = np.array([pose.mean(*_signal(recording, current)) for recording, pose in found])
    torques = torque(q) if callable(torque) else np.array([
        pose.mean(*_signal(recording, torque)) for recording, pose in found
    ])
    kept = np.all(np.isfinite(torques) & np.isfinite(currents), axis=1)
    if not kept.any():
        raise DataError(
            f'{recordings[0].source}: no {current} was recorded during any of {len(found)} rests: '
            'record the topic with the joint states'
        )
    approach = np.array([pose.approach for _, pose in found])
    return Readings(q[kept], approach[kept], torques[kept], currents[kept])


def _signal(recording: Recording, name: str) -> tuple[FloatArray, FloatArray]:
    """Return stamps and values of a channel, or of the effort."""
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
    Return the points of each joint, one for each pose, the approaches from both sides averaged.

    Static friction holds the joint with one sign where it came from below and with the other
    where it came from above; the mean is free of it.
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
    Return what a payload adds to the current of each joint, at each pose that both runs have.

    Rests are compared that were reached from the same side, so that static friction cancels. The
    torques of the readings are not used: the payload's follows from gravity and geometry.
    """
    poses = [*bare.q, *loaded.q]
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
            points[joint].append(_payload_point(
                float(torque[joint]),
                (bare.current[without, joint], bare.approach[without, joint]),
                (loaded.current[carrying, joint], loaded.approach[carrying, joint]),
            ))
    return tuple(tuple(of_joint) for of_joint in points)


def _payload_point(
    torque: float, bare: tuple[FloatArray, FloatArray], loaded: tuple[FloatArray, FloatArray]
) -> GainPoint:
    """Return a point of currents and sides (D,) at one pose, without and with the payload."""
    (before, came_before), (after, came_after) = bare, loaded
    change = [
        float(np.mean(after[came_after == side])) - float(np.mean(before[came_before == side]))
        for side in (-1.0, 0.0, 1.0)
        if np.any(came_before == side) and np.any(came_after == side)
    ]
    if change:
        return GainPoint(torque, float(np.mean(change)), 0.5 * (change[-1] - change[0]))
    return GainPoint(
        torque, float(np.mean(after) - np.mean(before)), side=int(np.sign(came_after.sum()))
    )


def fit_gain(
    joint: str, points: Sequence[GainPoint], options: DriveGainsOptions | None = None,
    unit: str = 'N m',
) -> DriveGain:
    """
    Fit the gain of one joint to its poses, whose torques have a unit.

    The noise is in the currents, so that ``current = torque / gain (+ intercept)`` is fitted by
    least squares; where all poses agree, this is the mean of Tika et al., eq. 32.
    """
    options = DriveGainsOptions() if options is None else options
    used = [
        point for point in points
        if abs(point.current) > options.smallest_current and abs(point.torque) > LEAST_TORQUE
    ]
    largest = max((abs(point.torque) for point in points), default=0.0)
    if points and largest <= LEAST_TORQUE:
        return DriveGain(joint, reason='nothing pulls at it at any of these poses')
    unseen = partial(DriveGain, joint, points=len(used), largest_torque=largest)
    unknowns = 1 + options.intercept
    if len(used) < unknowns:
        return unseen(reason=(
            f'its current is above {options.smallest_current:g} A at {len(used)} of '
            f'{len(points)} poses, too few; its torque there is at most {largest:.3g} {unit}'
        ))
    torque = np.array([point.torque for point in used])
    current = np.array([point.current for point in used])
    matrix = np.column_stack([torque, np.ones_like(torque)])[:, :unknowns]
    if np.linalg.matrix_rank(matrix / np.linalg.norm(matrix, axis=0)) < unknowns:
        return unseen(
            reason='all poses have the same torque, so that the intercept cannot be '
            'distinguished from it'
        )
    orthogonal, triangle = np.linalg.qr(matrix)
    solution = np.linalg.solve(triangle, orthogonal.T @ current)
    if solution[0] == 0.0:
        return unseen(reason='its current does not follow the torque')
    gain = 1.0 / float(solution[0])
    freedom = len(used) - unknowns
    reach = np.linalg.solve(triangle, orthogonal.T)[0]
    error = math.nan
    if freedom > 0:
        residual = current - matrix @ solution
        error = gain**2 * math.sqrt(float(residual @ residual) / freedom) * float(
            np.linalg.norm(reach)
        )
    intercept = float(solution[1]) if options.intercept else 0.0
    ratios = torque / (current - intercept)
    one_sided = np.array([not point.both for point in used])
    bias = 0.0
    if one_sided.any():
        bias = gain**2 * _holding_current(points) * float(np.sum(np.abs(reach[one_sided])))
    pairs = [abs(point.holding) for point in points if point.both]
    return check_error(DriveGain(
        joint, gain, error, bias,
        standard_deviation=(
            float(np.std(ratios, ddof=1) / abs(gain)) if len(used) > 1 else math.nan
        ),
        intercept=intercept, points=len(used), both_sides=int(np.count_nonzero(~one_sided)),
        holding_torque=abs(gain) * float(np.mean(pairs)) if pairs else math.nan,
        largest_torque=float(np.abs(torque).max()),
    ), unit)


def check_error(found: DriveGain, unit: str = 'N m') -> DriveGain:
    """Return a gain, or why it is not known well enough to be one; its torque has a unit."""
    if found.standard_error > LARGEST_ERROR * abs(found.gain):
        return _refuse(found, (
            f'its standard error is {found.standard_error / abs(found.gain):.0%}, more than '
            f'{LARGEST_ERROR:.0%}; the largest torque was {found.largest_torque:.3g} {unit}'
        ))
    return found


def _refuse(found: DriveGain, reason: str) -> DriveGain:
    """Return a joint without the gain that was found."""
    return DriveGain(
        found.joint, points=found.points, both_sides=found.both_sides,
        largest_torque=found.largest_torque, reason=reason,
    )


def compare_with_known(
    robot: RobotModel, found: DriveGains, options: DriveGainsOptions
) -> DriveGains:
    """
    Return drive gains as far as they can be those of an arm whose gains were known before.

    A gain of the other sign is not one: bags may be swapped. A note names those that are far off.
    Raise NotIdentifiableError if not one gain is left.
    """
    joints, far_off = [], []
    for index, (joint, known) in enumerate(
        zip(found.joints, robot.drives.drive_gain, strict=True)
    ):
        unit = robot.unit(options.gain_unit, index)
        ratio = joint.gain / known
        if ratio < 0.0:
            joint = _refuse(joint, (
                f'its current goes against the torque ({joint.gain:.3g} {unit}, before '
                f'{known:.3g}): are the bags without and with the payload swapped, or is its '
                'axis turned the other way?'
            ))
        elif not (1.0 / FAR_OFF < ratio < FAR_OFF or math.isnan(ratio)):
            far_off.append(f'{joint.joint} ({joint.gain:.3g} {unit}, before {known:.3g})')
        joints.append(joint)
    check_any_gain(joints)
    notes = () if not far_off else (
        f'far from the gains known before: {", ".join(far_off)}; check that currents are in A '
        f'(position errors in {robot.units("rad")}), torques in {robot.units("N m")}, and a '
        'payload in kg and m',
    )
    return replace(found, joints=tuple(joints), notes=(*notes, *found.notes))


def _holding_current(points: Sequence[GainPoint]) -> float:
    """
    Return the largest part of the current that static friction holds [A], NaN if not known.

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


def fit_gains(
    named: NamedJoints, points: Sequence[Sequence[GainPoint]], options: DriveGainsOptions
) -> tuple[tuple[DriveGain, ...], tuple[str, ...]]:
    """Fit the gains of all joints to their poses; return them with notes on one-sided poses."""
    joints = tuple(
        fit_gain(name, of_joint, options, named.unit('N m', index))
        for index, (name, of_joint) in enumerate(zip(named.names, points, strict=True))
    )
    check_any_gain(joints)
    return joints, tuple(
        f'{gain.joint}: {gain.points - gain.both_sides} of {gain.points} poses were reached from '
        'one side only; static friction can shift the gain by '
        + (f'{gain.bias_bound:.3g} {named.unit(options.gain_unit, index)}'
           if math.isfinite(gain.bias_bound)
           else 'an amount that these poses do not determine')
        for index, gain in enumerate(joints)
        if gain.is_seen and gain.both_sides < gain.points
    )


def check_any_gain(joints: Sequence[DriveGain]) -> None:
    """Raise NotIdentifiableError if not one gain is identifiable."""
    if not any(joint.is_seen for joint in joints):
        reasons = '; '.join(f'{joint.joint}: {joint.reason}' for joint in joints)
        raise NotIdentifiableError(f'no drive gain can be seen ({reasons})')
