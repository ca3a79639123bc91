# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Kind of the effort of a recording: motor current, joint torque, or torque without gravity.

Decided from the recording and the URDF, joint by joint; see `effort_hypotheses` for the evidence.
Between a current and a torque the scale decides, between torques with and without gravity the
share of gravity does. For recordings that leave it open the motion that would decide is stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import (
    describe_placeholders, EFFORT_UNITS, massless_joints, Motion, rigid_torque, RobotModel,
)
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.effort_hypotheses import (
    body_columns, CURRENT, Hypotheses, joint_signals, JointSignals, KINDS, log_mean, Nuisance,
    nuisances, sample_weights, TORQUE, without_friction, WITHOUT_GRAVITY,
)

# Enough samples of all recordings together, and of each of many; chosen: the evidence of some
# minutes does not change with more.
MOST_SAMPLES, FEWEST_SAMPLES = 1000, 100
# A kind is decided where every other is this much less likely: 50 to 1; chosen: on simulated arms
# the likelier kind is often wrong by small factors where the motion shows little.
MARGIN = float(np.log(50.0))
VOTE = float(np.log(10.0))  # the same for the vote of one joint; chosen
# A recording that all kinds explain this much worse than none of them is not judged; chosen, so
# that one joint of an arm may be at fault.
LEAST_FIT = -7.0
# How likely each of five other mountings is before anything is seen; chosen: most are as stated.
OTHER_MOUNTING = 0.02
# Other mountings are looked at closely where a first look has them as likely as the stated one, up
# to this factor; chosen.
NEAR = float(np.log(1.0e5))
# An effort shows the torque of bodies where one scale is so many of its standard errors [1];
# chosen.
SHOWN = 3.0
# Gravity that turns a joint by less than this share of what turns any joint is not seen; chosen.
LEAST_GRAVITY = 1.0e-3
POSES = 400  # in which the motion that would decide is looked for; chosen
ACCELERATION = 2.0  # of that motion [rad/s^2 or m/s^2]; chosen: most arms can do more


@dataclass(frozen=True)
class JointEvidence:
    """Evidence of one joint for what the effort is."""

    joint: str
    # Effort per torque of the URDF [effort unit/(N m)] with standard errors, of gravity and of
    # the rest, after friction; NaN where the motion shows none.
    gravity_scale: float
    gravity_error: float
    inertial_scale: float
    inertial_error: float
    gravity: float  # standard deviation of the URDF's gravity torque in the recording [N m]
    # RMS of what each kind leaves of the effort with the URDF's own bodies, over the effort's
    # after friction [1].
    residuals: Mapping[str, float]
    likelihoods: Mapping[str, float]  # log-likelihood of each kind over that of the best
    vote: str  # the kind that this joint alone speaks for; empty where it does not

    @property
    def is_shown(self) -> bool:
        """Return whether the effort depends on what the URDF's bodies ask for."""
        return (
            abs(self.gravity_scale) > SHOWN * self.gravity_error
            or abs(self.inertial_scale) > SHOWN * self.inertial_error
        )

    @property
    def scale(self) -> float:
        """Return the size of the effort per torque of the URDF that the motion shows best."""
        scales = np.abs([self.gravity_scale, self.inertial_scale])
        errors = np.array([self.gravity_error, self.inertial_error])
        known = np.flatnonzero(np.isfinite(scales))
        return float(scales[known[np.argmin(errors[known])]]) if known.size else np.nan


@dataclass(frozen=True)
class EffortMeaning:
    """Kind of the effort of recordings, with the evidence."""

    kind: str | None  # one of EFFORT_UNITS; None where the recording leaves it open
    likelihoods: Mapping[str, float]  # log-likelihood of each kind over that of the best
    joints: tuple[JointEvidence, ...]
    mounting: str = ''  # where gravity fits another mounting than the stated one: which
    undecided: str = ''  # why it is open
    motion: str = ''  # that would decide, where several kinds explain the effort

    @property
    def open_kinds(self) -> tuple[str, ...]:
        """Return the kinds that the recording does not rule out, the likeliest first."""
        return _open_kinds(self.likelihoods)

    def contradicts(self, unit: str) -> bool:
        """Return whether the recording shows another kind than a unit says."""
        return self.kind is not None and unit in self.likelihoods and self.kind != unit

    @property
    def scale(self) -> float:
        """
        Return the effort per torque of the URDF of the joints that speak for the kind.

        It is the median of the joints, in units of effort per N m; NaN where none is seen.
        """
        scales = [one.scale for one in _telling(self.joints, self.kind)]
        return float(np.nanmedian(scales)) if np.isfinite(scales).any() else np.nan

    def describe(self) -> str:
        """Return the finding in a sentence, with the scales that it rests on."""
        if self.kind is None:
            return self.undecided + (self.motion and f': to decide, {self.motion}')
        return f'effort is {EFFORT_UNITS[self.kind].description} ({self.evidence()})'

    def evidence(self) -> str:
        """Return the scales of the joints that speak for the kind."""
        return 'effort per torque of the URDF: ' + '; '.join(
            f'{one.joint} {_scale(one.gravity_scale, one.gravity_error)} of gravity, '
            f'{_scale(one.inertial_scale, one.inertial_error)} of inertia'
            for one in _telling(self.joints, self.kind)
        )


def _telling(joints: Sequence[JointEvidence], kind: str | None) -> Sequence[JointEvidence]:
    """Return the joints that speak for a kind; all if none does."""
    return [one for one in joints if one.vote == kind] or joints


def _ranked(likelihoods: Mapping[str, float]) -> list[str]:
    """Return kinds, the likeliest first."""
    return sorted(likelihoods, key=lambda kind: -likelihoods[kind])


def _open_kinds(likelihoods: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(kind for kind in _ranked(likelihoods) if likelihoods[kind] > -MARGIN)


def _scale(value: float, error: float) -> str:
    if not np.isfinite(value):
        return 'none seen'
    digits = int(np.clip(1 - np.floor(np.log10(max(error, 1e-9))), 0, 4))
    return f'{value:.{digits}f} +- {error:.{digits}f}'


class _Samples(NamedTuple):
    motion: Motion
    effort: FloatArray
    weights: FloatArray


def judge_effort(robot: RobotModel, datasets: Sequence[Dataset]) -> EffortMeaning:
    """
    Return what the effort of recordings is.

    The unit that they state is not looked at. Gravity is that of the robot's mounting, others are
    taken for unlikely. A kind is decided only with a margin; else `undecided` says why.
    """
    reason = describe_placeholders(robot)
    if len(massless_joints(robot)) == robot.n:
        reason = 'the URDF has no masses, so that it says nothing of torques'
    if reason:
        return EffortMeaning(None, dict.fromkeys(KINDS, 0.0), (), undecided=reason)
    robot = robot.with_gravity(robot.mounting_gravity)
    samples = _gather(datasets)
    joints = [
        joint for joint in range(robot.n)
        if len(samples.effort) and np.ptp(samples.effort[:, joint]) > 0.0
    ]
    if not joints:
        return EffortMeaning(
            None, dict.fromkeys(KINDS, 0.0), (), undecided='the effort of no joint changes'
        )
    return _conclude(robot, samples, joints, _weigh_mountings(robot, samples, joints))


def _conclude(
    robot: RobotModel, samples: _Samples, joints: Sequence[int], found: Mapping[str, _Weighed]
) -> EffortMeaning:
    """Return the kind that all mountings together speak for, where it is clear."""
    stated, best = found[''], max(found, key=lambda name: found[name].best)
    likelihoods = {
        kind: float(np.logaddexp.reduce([one.kinds[kind] for one in found.values()]))
        for kind in stated.kinds
    }
    here = robot if not best else robot.with_gravity(_mountings(robot)[best])
    evidence = _joint_evidence(here, samples, joints, found[best])
    mounting = best if found[best].best > stated.best + MARGIN else ''
    top = max(likelihoods.values())
    kind, undecided, motion = _clear_kind(likelihoods), '', ''
    if top < LEAST_FIT:
        undecided = (
            'neither current nor torque of the bodies of the URDF explains the effort: check the '
            'mounting (gravity), the signs and the joint names, and whether it is the URDF of '
            f'this arm ({_worst(evidence)})'
        )
    elif kind is not None and not any(one.is_shown for one in _telling(evidence, kind)):
        undecided = (
            'no effort was seen to follow the torque of the bodies of the URDF: record a motion '
            'that needs more of it'
        )
    elif kind is None:
        undecided = _open_question(likelihoods)
        motion = _deciding_motion(here, evidence)
    elif mounting and _clear_kind(stated.kinds) != kind:
        undecided = (
            f'{mounting} fits better than the stated mounting, and with it the effort looks like '
            f'{EFFORT_UNITS[kind].description} ({kind}): state the mounting (--mounting or '
            '--gravity)'
        )
    return EffortMeaning(
        None if undecided else kind, {one: value - top for one, value in likelihoods.items()},
        evidence, mounting, undecided, motion,
    )


def _clear_kind(likelihoods: Mapping[str, float]) -> str | None:
    """Return the kind that all others are behind by the margin; None where there is none."""
    best, *others = _ranked(likelihoods)
    clear = all(likelihoods[best] - likelihoods[kind] > MARGIN for kind in others)
    return best if clear else None


def _gather(datasets: Sequence[Dataset]) -> _Samples:
    most = max(MOST_SAMPLES // max(len(datasets), 1), FEWEST_SAMPLES)
    motions, efforts, weights = [], [], []
    for dataset in datasets:
        motion, effort = dataset.thinned(most)
        count = int(np.count_nonzero(dataset.fitted))
        motions.append(motion)
        efforts.append(effort)
        weights.append(sample_weights(motion, count / max(len(motion), 1) / dataset.rate))
    joined = Motion(*(
        np.concatenate([getattr(motion, name) for motion in motions])
        for name in ('q', 'dq', 'ddq')
    ))
    return _Samples(joined, np.concatenate(efforts), np.concatenate(weights))


@dataclass(frozen=True, eq=False)
class _Weighed:
    """Evidence in one mounting."""

    kinds: Mapping[str, float]  # log-likelihood of each kind, over that of none
    # (joints,) of each kind, with what is the same for all joints at its best.
    joints: Mapping[str, FloatArray]

    @property
    def best(self) -> float:
        return max(self.kinds.values())


def _mountings(robot: RobotModel) -> dict[str, FloatArray]:
    """Return gravity in the root frame for other mountings than the stated one."""
    gravity = robot.gravity
    aside = np.cross(gravity, np.eye(3)[int(np.argmin(np.abs(gravity)))])
    aside = aside / (np.linalg.norm(aside) or 1.0) * np.linalg.norm(gravity)
    other = np.cross(gravity, aside) / (np.linalg.norm(gravity) or 1.0)
    vectors = (-gravity, aside, -aside, other, -other)
    return {
        'gravity along ({}) m/s^2'.format(', '.join(
            f'{round(value, 3) + 0.0:.3g}' for value in vector.tolist()
        )): vector for vector in vectors
    }


def _weigh_mountings(
    robot: RobotModel, samples: _Samples, joints: Sequence[int]
) -> dict[str, _Weighed]:
    """Return the evidence in the stated mounting, under an empty name, and in likely others."""
    kinds = KINDS if _sees_gravity(robot) else (CURRENT, TORQUE)
    every = {kind: nuisances(kind) for kind in kinds}
    bodies = body_columns(robot, samples.motion)
    signals = joint_signals(robot, samples.motion, bodies, samples.effort, samples.weights)
    found = {'': _weigh(robot, signals, joints, every, 1.0 - 5.0 * OTHER_MOUNTING)}
    if len(kinds) < len(KINDS):
        return found
    bare = {kind: nuisances(kind)[:1] for kind in kinds}
    for name, gravity in _mountings(robot).items():
        turned = robot.with_gravity(gravity)
        signals = joint_signals(
            turned, samples.motion, bodies, samples.effort, samples.weights
        )
        first = _weigh(turned, signals, joints, bare, OTHER_MOUNTING)
        if first.best > found[''].best - NEAR:
            found[name] = _weigh(turned, signals, joints, every, OTHER_MOUNTING)
    return found


def _weigh(
    robot: RobotModel, signals: Sequence[JointSignals], joints: Sequence[int],
    of: Mapping[str, Sequence[Nuisance]], weight: float,
) -> _Weighed:
    hypotheses = Hypotheses(robot)
    each = [
        hypotheses.log_likelihoods(joint, signals[joint], of) for joint in joints
    ]
    kinds, at_best = {}, {}
    for kind, some in of.items():
        table = np.array([one[kind] for one in each])
        total = table.sum(axis=0) + np.log([nuisance.weight for nuisance in some])
        kinds[kind] = log_mean(total, np.ones_like(total)) + float(np.log(weight))
        at_best[kind] = table[:, int(np.argmax(total))]
    return _Weighed(kinds, at_best)


def _sees_gravity(robot: RobotModel) -> bool:
    """Return whether gravity turns any joint in some pose: not where all are upright."""
    gravity, rest = _torques_of_poses(robot)
    return bool(np.abs(gravity).max() > LEAST_GRAVITY * np.abs(rest).max())


def _poses(robot: RobotModel) -> FloatArray:
    lower, upper = (
        np.where(np.isfinite(limit), limit, bound)
        for limit, bound in ((robot.limits.lower, -np.pi), (robot.limits.upper, np.pi))
    )
    rng = np.random.default_rng(0)
    poses: FloatArray = rng.uniform(np.maximum(lower, -np.pi), np.minimum(upper, np.pi),
                                    (POSES, robot.n))
    return poses


def _torques_of_poses(robot: RobotModel) -> tuple[FloatArray, FloatArray]:
    """Return gravity and what accelerates each joint alone, of the URDF, both (POSES, n) [N m]."""
    q = _poses(robot)
    zero = np.zeros_like(q)
    gravity = rigid_torque(robot, Motion(q, zero, zero))
    needed = np.empty_like(q)
    for joint in range(robot.n):
        ddq = zero.copy()
        ddq[:, joint] = ACCELERATION
        needed[:, joint] = (rigid_torque(robot, Motion(q, zero, ddq)) - gravity)[:, joint]
    return gravity, needed


def _joint_evidence(
    robot: RobotModel, samples: _Samples, joints: Sequence[int], weighed: _Weighed
) -> tuple[JointEvidence, ...]:
    motion = samples.motion
    zero = np.zeros_like(motion.q)
    static = rigid_torque(robot, Motion(motion.q, zero, zero))
    moving = rigid_torque(robot, motion) - static
    found = []
    for row, joint in enumerate(joints):
        columns, count = without_friction(
            motion, joint,
            np.column_stack([static[:, joint], moving[:, joint], samples.effort[:, joint]]),
            samples.weights[:, joint],
        )
        likelihoods = {kind: float(values[row]) for kind, values in weighed.joints.items()}
        top = max(likelihoods.values())
        likelihoods = {kind: value - top for kind, value in likelihoods.items()}
        order = _ranked(likelihoods)
        decided = len(order) > 1 and likelihoods[order[1]] < -VOTE
        found.append(JointEvidence(
            robot.joint_names[joint], *_scales(columns, count),
            float(np.linalg.norm(columns[:, 0])) / np.sqrt(count),
            _residuals(columns), likelihoods, order[0] if decided else '',
        ))
    return tuple(found)


def _scales(columns: FloatArray, count: float) -> tuple[float, float, float, float]:
    """Return scale and error of gravity and of inertia, NaN where the joint sees none."""
    torque, effort = columns[:, :2], columns[:, 2]
    size = np.linalg.norm(torque, axis=0)
    seen = size > LEAST_GRAVITY * max(float(size.max()), 1.0e-9)
    values = np.full((2, 2), np.nan)
    if seen.any():
        part = torque[:, seen]
        fit = np.linalg.lstsq(part, effort, rcond=None)[0]
        left = effort - part @ fit
        variance = float(left @ left) / max(count - part.shape[1], 1.0)
        values[seen] = np.column_stack([
            fit, np.sqrt(variance * np.diag(np.linalg.pinv(part.T @ part)))
        ])
    return (float(values[0, 0]), float(values[0, 1]), float(values[1, 0]), float(values[1, 1]))


def _residuals(columns: FloatArray) -> dict[str, float]:
    """Return what each kind leaves of the effort with the URDF's own bodies, as a share."""
    static, moving, effort = columns.T
    whole = static + moving
    size = float(whole @ whole)
    left = {
        CURRENT: effort - whole * (max(float(effort @ whole), 0.0) / size if size else 0.0),
        TORQUE: effort - whole,
        WITHOUT_GRAVITY: effort - moving,
    }
    level = float(np.linalg.norm(effort)) or 1.0
    return {kind: float(np.linalg.norm(values)) / level for kind, values in left.items()}


def _worst(evidence: Sequence[JointEvidence]) -> str:
    worst = max(evidence, key=lambda one: min(one.residuals.values()))
    return (
        f'the best kind leaves {min(worst.residuals.values()):.0%} of the effort of {worst.joint}'
    )


def _open_question(likelihoods: Mapping[str, float]) -> str:
    """Return which kinds are open."""
    near = _open_kinds(likelihoods)
    if not near:
        return 'the effort fits none of the kinds'
    names = [f'{EFFORT_UNITS[kind].description} ({kind})' for kind in near]
    return f'the effort may be {" or ".join(names)}'


def _deciding_motion(robot: RobotModel, evidence: Sequence[JointEvidence]) -> str:
    """Return the motion that shows of the joint which carries most what has not been seen."""
    gravity, needed = _torques_of_poses(robot)
    joint = int(np.argmax(np.abs(gravity).max(axis=0)))
    name, unit = robot.joint_names[joint], robot.position_units[joint]
    torque = 'N' if unit == 'm' else 'N m'
    units = 'rad' if 'm' not in robot.position_units else 'rad (m)'
    of_joint = {one.joint: one for one in evidence}.get(name)
    rests_decide = of_joint is None or not (
        of_joint.gravity > 0.5 * float(np.std(gravity[:, joint]))
    )
    q = _poses(robot)
    if rests_decide and _sees_gravity(robot):
        high, low = int(np.argmax(gravity[:, joint])), int(np.argmin(gravity[:, joint]))
        return (
            f'rest for 2 s each with {name} in several poses between those of most gravity, of '
            f'which the URDF says {gravity[high, joint]:.3g} and {gravity[low, joint]:.3g} '
            f'{torque}: {_pose(q[high])} and {_pose(q[low])} {units}, and move it between them'
        )
    best = int(np.argmax(np.abs(needed[:, joint])))
    return (
        f'accelerate {name} by {ACCELERATION:g} {unit}/s^2 or more with the arm near '
        f'{_pose(q[best])} {units}, where the URDF says this takes '
        f'{abs(needed[best, joint]):.3g} {torque}, while the joints after it move'
    )


def _pose(q: FloatArray) -> str:
    return f'({", ".join(f"{value:.1f}" for value in q)})'
