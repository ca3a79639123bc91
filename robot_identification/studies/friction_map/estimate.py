# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The friction map: friction of a joint at constant velocity, by payload and temperature.

At each speed both ways are compared at matching positions (`segments`). Half the
difference is the friction that turns around with the velocity; no model of the arm takes part.
What friction is more one way than the other stands in half the sum, together with gravity, and is
known once gravity is: from an identified model, or, as a single joint that turns sees
gravity as ``a cos q + b sin q`` exactly, from the recording itself.

References
----------
.. [1] A. C. Bittencourt and S. Gunnarsson, "Static friction in a robot joint: modeling and
   identification of load and temperature effects", ASME Journal of Dynamic Systems, Measurement,
   and Control 134(5), 2012.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import math
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError, UsageError
from robot_identification.model import (
    IdentifiedModel, joint_axes, NamedJoints, RobotModel, static_regressor,
)
from robot_identification.processing import Dataset
from robot_identification.report import sliding_text
from robot_identification.studies.friction_map.curves import (
    choose_curve, CurvePoints, FrictionCurve, standard_errors,
)
from robot_identification.studies.friction_map.segments import (
    BinnedWay, BINS, find_segments, group_segments, pair_segments, robust_mean, SHORTEST, STILL,
    TRANSIENT,
)

# Where gravity is from: an identified model, the recording itself, or not known.
MODEL, HARMONIC, UNKNOWN = 'model', 'harmonic', 'none'
GRAVITY_WORDS: Mapping[str, str] = {
    MODEL: 'gravity of the identified model',
    HARMONIC: 'gravity as a cos q + b sin q, fitted to the sums of both ways',
    UNKNOWN: 'gravity is not known: friction is taken as alike both ways',
}
# Friction of each direction is stated if its median error is below this share of the friction; of
# segments in pairs a smaller one, as half the difference of both ways is nearer to either of them
# otherwise; chosen.
LARGEST_SHARE = 0.1
LARGEST_PAIRED_SHARE = 0.03
# A note names a curve that could not be tried, but leaves less than this share of what the chosen
# one leaves; chosen.
FAR_BETTER = 0.5
# Share of the segments that show gravity which must go either way; chosen
# (docs/measuring_friction.md).
LEAST_OF_A_DIRECTION = 0.25
# Masses nearer than this are one payload [kg]; chosen: what scales and notes are rounded to.
SAME_MASS = 0.02


@dataclass(frozen=True)
class FrictionPoint:
    """Friction of one joint at one speed, in one direction."""

    bag: str
    joint: str
    speed: float  # velocity [rad/s]
    friction: float  # torque against it, with its sign [N m]
    error: float  # standard error of `friction` [N m]
    # Size of the part that turns around with the velocity [N m]; NaN of a segment without a pair.
    odd: float
    odd_error: float
    # Part that does not turn around [N m]; NaN where gravity is not known. A constant error of the
    # measured torque is in it.
    even: float
    even_error: float
    load: float  # mean size of the torque that the joint held against gravity [N m]
    temperature: float  # [deg C]; NaN where not recorded
    payload: float  # [kg]; NaN where it is not stated
    bins: int  # positions behind it
    gravity: str  # MODEL, HARMONIC or UNKNOWN


@dataclass(frozen=True, eq=False)
class FrictionMap:
    """Friction of an arm at constant velocity."""

    robot: str  # name of the arm
    joint_names: tuple[str, ...]  # kinematic order
    points: tuple[FrictionPoint, ...]  # joint by joint, recording by recording, by speed
    # By joint; without those of which there is too little.
    curves: Mapping[str, FrictionCurve] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    position_units: tuple[str, ...] = ()  # of the joints, 'rad' or 'm'; empty: all turn

    def unit(self, unit: str, joint: str) -> str:
        """Return a unit, written as that of a joint that turns, as that of a joint."""
        joints = NamedJoints(self.joint_names, self.position_units)
        return joints.unit(unit, self.joint_names.index(joint))

    def of_joint(self, joint: str) -> tuple[FrictionPoint, ...]:
        """Return the points of a joint."""
        return tuple(point for point in self.points if point.joint == joint)


def map_friction(
    robot: RobotModel,
    runs: Sequence[tuple[Dataset, float]],
    bins: int = BINS,
    model: IdentifiedModel | None = None,
) -> FrictionMap:
    """
    Return the friction map of some recordings of an arm with its drive gains.

    A run is its dataset and the mass that the flange carries [kg], NaN where that is not stated.
    Both directions are compared at no more positions than `bins`.
    The gravity of a model is used in recordings with the payload that it knows. Raise DataError
    if no joint moves alone at constant velocity, both ways, UsageError if the model is of other
    joints.
    """
    if model is not None and model.robot.joint_names != robot.joint_names:
        raise UsageError(
            f'the model is of the joints {", ".join(model.robot.joint_names)}, the arm has '
            f'{", ".join(robot.joint_names)}: name the model of this arm, or none'
        )
    points: list[FrictionPoint] = []
    notes = [text for text in [sliding_text(robot)] if text]
    for dataset, payload in runs:
        found, messages = _points_of_run(robot, dataset, payload, bins, model)
        points += found
        notes += messages
    notes += _without_directions(points)
    if not points:
        raise DataError(
            f'{", ".join(dataset.source for dataset, _ in runs)}: no joint moves alone at '
            f'constant velocity for {SHORTEST + 2.0 * TRANSIENT:g} s, both ways: record '
            'segments of one joint after the other (`friction-map --plan` makes them)'
        )
    order = {name: number for number, name in enumerate(robot.joint_names)}
    bags = {dataset.source: number for number, (dataset, _) in enumerate(runs)}
    points.sort(key=lambda point: (order[point.joint], bags[point.bag], point.speed))
    curves: dict[str, FrictionCurve] = {}
    missing = [name for name in robot.joint_names if all(p.joint != name for p in points)]
    if missing:
        notes.append(f'no segments, and so no friction map, of {", ".join(missing)}')
    for joint in dict.fromkeys(point.joint for point in points):
        own = [point for point in points if point.joint == joint]
        if np.median([point.friction * np.sign(point.speed) for point in own]) < 0.0:
            notes.append(
                f'{joint}: friction is negative at most speeds, as if it drove the joint: the '
                'sign of its effort or of its velocity is wrong, or joint names are mixed up'
            )
        try:
            curves[joint] = choose_curve(
                _curve_points(own), robot.position_units[order[joint]]
            )
        except DataError as error:
            notes.append(f'{joint}: {error}')
            continue
        notes += _untried(joint, curves[joint], robot.unit('N m', order[joint]))
    return FrictionMap(
        robot.name, robot.joint_names, tuple(points), curves, tuple(notes), robot.position_units
    )


def _without_directions(points: Sequence[FrictionPoint]) -> list[str]:
    """State in which recordings the directions of a joint are not distinguished."""
    bags: dict[str, dict[str, None]] = {}
    for point in points:
        if point.gravity == UNKNOWN:
            bags.setdefault(point.joint, {})[point.bag] = None
    return [
        f'{joint}: gravity is not known well enough to distinguish the directions in '
        f'{", ".join(names)}: friction is half the difference of both ways; longer segments or a '
        'model (--model) would tell'
        for joint, names in bags.items()
    ]


def _untried(joint: str, curve: FrictionCurve, unit: str) -> list[str]:
    """State which curve would fit far better, but could not be tried at speeds left out."""
    (chosen,) = (trial for trial in curve.trials if trial.name == curve.name)
    return [
        f'{joint}: {trial.name} leaves {trial.deviation:.3g} {unit} of the points, {curve.name} '
        f'{chosen.deviation:.3g} {unit}; there are too few speeds to try it at speeds left out, '
        'so the simpler one is taken: record segments at more speeds'
        for trial in curve.trials
        if np.isnan(trial.left_out) and trial.deviation < FAR_BETTER * chosen.deviation
    ][:1]


def _points_of_run(
    robot: RobotModel, dataset: Dataset, payload: float, bins: int, model: IdentifiedModel | None
) -> tuple[list[FrictionPoint], list[str]]:
    torque = dataset.effort * dataset.torque_per_effort(robot)
    segments, moved = find_segments(dataset, torque)
    notes = []
    if moved:
        notes.append(
            f'{dataset.source}: {moved} motions at constant velocity are left out, as another '
            f'joint moved by more than {STILL:g} {robot.units("rad")} meanwhile'
        )
    points: list[FrictionPoint] = []
    for group in group_segments(segments):
        ways = pair_segments(group, bins)
        gravity, even = _even_friction(robot, ways, model, payload)
        joint = robot.joint_names[group[0].joint]
        lone = sum(not way.is_pair for way in ways)
        if gravity == UNKNOWN and 0 < lone < len(ways):
            notes.append(
                f'{dataset.source}: {joint}: {lone} segments are left out, as none goes back over '
                'the same positions at the same speed'
            )
        for way, (value, error) in zip(ways, even, strict=True):
            if gravity != UNKNOWN or way.is_pair:
                points += _points_of_way(
                    way, value, error, bag=dataset.source, joint=joint, payload=payload,
                    gravity=gravity,
                )
    return points, notes


def _even_friction(
    robot: RobotModel, ways: Sequence[BinnedWay], model: IdentifiedModel | None, payload: float
) -> tuple[str, list[tuple[float, float]]]:
    """Return where gravity is from, and the friction of each way that is alike both ways."""
    if not ways:
        return UNKNOWN, []
    joint = ways[0].segments[0].joint
    if model is not None and _is_loaded_so(model, payload):
        return MODEL, [robust_mean(way.gravity - _model_gravity(model, way)) for way in ways]
    _, _, slides = joint_axes(robot.pinocchio)
    if not slides[joint] and _goes_both_ways(ways):
        even, errors = _fit_harmonic(ways)
        sizes = np.abs([
            float(np.median(way.odd)) if way.is_pair else value
            for way, value in zip(ways, even, strict=True)
        ])
        paired = 2 * sum(way.is_pair for way in ways) >= len(ways)
        share = LARGEST_PAIRED_SHARE if paired else LARGEST_SHARE
        if np.median(errors) <= share * np.median(sizes):
            return HARMONIC, list(zip(even.tolist(), errors.tolist(), strict=True))
    return UNKNOWN, [(math.nan, math.nan)] * len(ways)


def _goes_both_ways(ways: Sequence[BinnedWay]) -> bool:
    """
    Return whether friction cancels in the gravity that all ways show together.

    Of one direction alone, friction that grows with the load looks like gravity.
    """
    ahead = [segment.speed > 0.0 for way in ways for segment in way.segments]
    share = sum(ahead) / len(ahead)
    return min(share, 1.0 - share) >= LEAST_OF_A_DIRECTION


def _is_loaded_so(model: IdentifiedModel, payload: float) -> bool:
    """Return whether a payload is the one that the model has in its parameters."""
    known = sum(body.mass for body in model.payloads)
    return bool(np.isnan(payload)) or abs(payload - known) <= SAME_MASS


def _model_gravity(model: IdentifiedModel, way: BinnedWay) -> FloatArray:
    """Return the model's gravity torque of the joint along a way, shape (b,) [N m]."""
    robot = model.robot
    segment = way.segments[0]
    q = np.tile(segment.pose, (len(way.q), 1))
    q[:, segment.joint] = way.q
    torque = static_regressor(robot, q) @ model.theta_lifted[: 10 * robot.n]
    return torque.reshape(q.shape)[:, segment.joint]


def _fit_harmonic(ways: Sequence[BinnedWay]) -> tuple[FloatArray, FloatArray]:
    """
    Return the constant of each way next to ``a cos q + b sin q``, and its standard error.

    Of a pair it is the friction that does not turn around, of a single segment all its friction.
    """
    number = np.concatenate([np.full(len(way.q), k) for k, way in enumerate(ways)])
    q = np.concatenate([way.q for way in ways])
    torque = np.concatenate([way.gravity for way in ways])
    A = np.zeros((len(q), len(ways) + 2))
    A[np.arange(len(q)), number] = 1.0
    # The same two columns, turned to where they are least alike.
    about = q - 0.5 * (q.min() + q.max())
    A[:, -2], A[:, -1] = np.cos(about), np.sin(about)
    if len(q) <= A.shape[1]:
        return np.full(len(ways), np.nan), np.full(len(ways), np.inf)
    x = np.linalg.lstsq(A, torque, rcond=None)[0]
    errors = standard_errors(A, torque - A @ x, 0)
    return x[:-2], errors[:-2]


def _points_of_way(
    way: BinnedWay, even: float, even_error: float, **place: Any
) -> list[FrictionPoint]:
    """Return the points of the segments of a way; the even part is NaN where it is not known."""
    stated = math.isfinite(even)
    held = np.abs(way.gravity - (even if stated else 0.0))
    odd = odd_error = math.nan
    if way.is_pair:
        # Gears rub more under load: what follows it along the way is no scatter.
        odd, odd_error = robust_mean(way.odd, held)
    # What is compared is friction at the mean of both ways.
    size = float(np.mean([abs(segment.speed) for segment in way.segments]))
    points = []
    for segment in way.segments:
        friction, error = even, even_error
        if way.is_pair:
            friction = math.copysign(1.0, segment.speed) * odd + (even if stated else 0.0)
            error = math.hypot(odd_error, even_error if stated else 0.0)
        points.append(FrictionPoint(
            speed=math.copysign(size, segment.speed), friction=friction, error=error, odd=odd,
            odd_error=odd_error, even=even, even_error=even_error, load=float(held.mean()),
            temperature=float(np.mean([segment.temperature for segment in way.segments])),
            bins=len(way.q), **place,
        ))
    return points


def _curve_points(points: Sequence[FrictionPoint]) -> CurvePoints:
    """
    Return what a curve is laid through: of pairs the odd part, with one offset for all of them.

    Gravity is found once for each recording, and its error is the same in all points of one: it
    would pull the curve more than the noise does.
    """
    stated = all(point.gravity != UNKNOWN for point in points)
    offset, common = _common_offset(points) if stated else (0.0, 0.0)
    speed, friction, error, load, temperature = np.array([
        (
            point.speed,
            point.friction if np.isnan(point.odd)
            else float(np.sign(point.speed)) * point.odd + offset,
            point.error if np.isnan(point.odd) else point.odd_error,
            point.load,
            point.temperature,
        )
        for point in points
    ]).T
    pairs = sum(np.isfinite(point.odd) for point in points) // 2
    return CurvePoints(speed, friction, error, load, temperature, stated, common, int(pairs))


def _common_offset(points: Sequence[FrictionPoint]) -> tuple[float, float]:
    """Return the mean even part of pairs over all recordings, and its standard error."""
    pairs = [point for point in points if np.isfinite(point.odd)]
    bags = dict.fromkeys(point.bag for point in pairs)
    if not bags:
        return 0.0, 0.0
    means = np.array([
        [
            np.mean([point.even for point in pairs if point.bag == bag]),
            np.mean([point.even_error for point in pairs if point.bag == bag]),
        ]
        for bag in bags
    ])
    weights = 1.0 / np.maximum(means[:, 1], np.finfo(float).eps) ** 2
    offset = float(np.average(means[:, 0], weights=weights))
    return offset, float(1.0 / np.sqrt(weights.sum()))
