# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Hypotheses about the arm: signs, axes, order, factors, zeros, gravity, and what it carries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.model import inertial_regressor, Motion
from robot_identification.processing import friction_columns, MOVING_SPEED
from robot_identification.validation.hypotheses.evidence import add_load, Evidence
from robot_identification.validation.hypotheses.posterior import (
    BodyFit, fit_bodies, reduce_rows, tool_deviation,
)
from robot_identification.validation.hypotheses.thresholds import (
    Candidate, DISSIPATED, DRIVING, LEAST_BODY_GAIN, LEAST_CARRIED, LEAST_CHANGE_GAIN,
    LEAST_COMMON_FACTOR, LEAST_FACTOR, LEAST_FALL, LEAST_GAIN, LEAST_GRAVITY_RATIO,
    LEAST_ORDER_GAIN, LEAST_TILT, LEAST_TOOL_GAIN, LEAST_ZERO,
)
from robot_identification.validation.verdict import DataWarning

COMMON_FACTORS, JOINT_FACTORS = np.geomspace(0.1, 10.0, 33), np.geomspace(0.2, 5.0, 29)
# Of the difference quotient by an encoder's zero [rad], chosen between rounding and curvature; how
# far the search for a zero goes in all [rad], and what of the least gain its first step promises.
ZERO_STEP, LARGEST_ZERO, PROMISING = 0.01, 1.0, 0.3
# Steps of the searches for gravity and for a zero.
GRAVITY_STEPS, ZERO_STEPS = 6, 4
# Gravity per axis of which the torque is a multiple [m/s^2]. No arm stands where gravity is larger
# than that of the Earth, 9.83 m/s^2 at the poles, but for a tenth, as masses make it uncertain.
UNIT, LARGEST_GRAVITY = 9.81, 10.8
# A payload may change between so many parts of all samples; of less motion each part has too few
# poses to distinguish bodies from friction [s].
PARTS, SHORTEST = 8, 10.0
EXCHANGES = {
    'names': 'the names of {} and {} may be exchanged',
    'positions': 'the positions and velocities of {} and {} may be exchanged',
    'efforts': 'the efforts of {} and {} may be exchanged',
}


def find_common_factor(evidence: Evidence) -> list[Candidate]:
    """Return the factor of all efforts that makes the bodies those of the URDF, if it is far."""
    if not evidence.prior.side.size:
        return []
    factor, fit = _best_factor(evidence, COMMON_FACTORS, np.ones(evidence.robot.n, dtype=bool))
    if not evidence.supports(fit, LEAST_BODY_GAIN) or _is_near(factor, LEAST_COMMON_FACTOR):
        return []
    return [Candidate(DataWarning(
        'common_factor', (),
        f'all efforts may be {factor:.2g} times what they should be, or all masses of the URDF '
        'wrong by that factor',
        'factor against the URDF', '', factor, LEAST_COMMON_FACTOR ** np.sign(np.log(factor)),
        'check effort unit, drive gains and the masses of the URDF',
    ), evidence.gain(fit))]


def find_joint_factors(evidence: Evidence) -> list[Candidate]:
    """Return the factors of the efforts of single joints that explain the data better."""
    found = []
    for joint, name in enumerate(evidence.robot.joint_names):
        # Of a joint that hardly carries a body the factor would be that of its small body.
        if evidence.carried[joint] < LEAST_CARRIED:
            continue
        factor, fit = _best_factor(evidence, JOINT_FACTORS, evidence.only(joint))
        if not evidence.supports(fit, LEAST_BODY_GAIN) or _is_near(factor, LEAST_FACTOR):
            continue
        found.append(Candidate(DataWarning(
            'joint_factor', (name,),
            f'the effort of {name} may be {factor:.2g} times what it should be compared with the '
            'others',
            'factor', '', factor, LEAST_FACTOR ** np.sign(np.log(factor)),
            f'check drive gain and unit of {name}',
        ), evidence.gain(fit)))
    return found


def _is_near(ratio: float, limit: float) -> bool:
    return bool(abs(np.log(ratio)) < np.log(limit))


def _best_factor(
    evidence: Evidence, factors: FloatArray, joints: BoolArray
) -> tuple[float, BodyFit]:
    """Return the most likely of some factors of the efforts of joints, and its fit."""
    fits = [evidence.explain(scale=np.where(joints, factor, 1.0)) for factor in factors]
    at = int(np.argmin([fit.score for fit in fits]))
    if at in (0, len(factors) - 1):
        # An effort that vanishes or dwarfs the others is not off by a factor.
        return 1.0, evidence.fit
    return float(factors[at]), fits[at]


def find_wrong_signs(evidence: Evidence) -> list[Candidate]:
    """Return the joints whose friction would drive them, or whose bodies ask for another sign."""
    power = dissipated_power(evidence)
    driven = power < -DISSIPATED
    if driven.any() and np.sum(driven) == np.count_nonzero(np.abs(power) > DISSIPATED):
        return [Candidate(_driving(
            evidence, driven, power, DISSIPATED,
            'the efforts of all joints may have the wrong sign',
        ))]
    # Exchanged joints drive their friction, too, and a joint with little of it neither drives nor
    # brakes: the bodies decide. Friction that brakes, and would drive with the other sign, shows
    # that the sign is right.
    found = []
    if driven.any() and (gain := gain_of_sign(evidence, driven)) > 0.0:
        names = ', '.join(evidence.names(np.flatnonzero(driven)))
        found.append(Candidate(_driving(
            evidence, driven, power, DISSIPATED,
            f'the effort of {names} may have the wrong sign',
        ), LEAST_BODY_GAIN + gain))
    for joint, name in enumerate(evidence.robot.joint_names):
        own = evidence.only(joint)
        gain = gain_of_sign(evidence, own)
        if gain >= LEAST_GAIN and (
            power[joint] <= DISSIPATED or _brakes_turned(evidence, own)
        ):
            found.append(Candidate(DataWarning(
                'sign', (name,), f'the effort of {name} may have the wrong sign',
                'gain in log likelihood with the other sign', '', gain, LEAST_GAIN,
                f'check the signs of effort and drive gain of {name}, and its axis in the URDF',
            ), gain))
    return sorted(found, key=lambda one: -one.gain)[:1]


def find_driving_friction(
    evidence: Evidence, explained: Collection[str]
) -> tuple[DataWarning, ...]:
    """
    Return a warning of joints whose friction clearly drives them, except `explained` ones.

    Friction never drives: that holds also where the bodies of the URDF contradict the other sign.
    """
    power = dissipated_power(evidence)
    driven = (power < -DRIVING) & ~np.isin(evidence.robot.joint_names, list(explained))
    if not driven.any():
        return ()
    return (_driving(
        evidence, driven, power, DRIVING,
        f'the friction of {", ".join(evidence.names(np.flatnonzero(driven)))} drives, as if the '
        'effort had the wrong sign or were that of another joint',
    ),)


def gain_of_sign(evidence: Evidence, joints: BoolArray) -> float:
    """Return how much more likely the data are with the other sign of some joints' efforts."""
    return evidence.gain(evidence.explain(scale=np.where(joints, -1.0, 1.0)))


def _brakes_turned(evidence: Evidence, joints: BoolArray) -> bool:
    """
    Return whether friction takes energy with the other sign, too, and the residual falls clearly.

    Bodies that the effort contradicts leave so much of it that what looks like friction is none.
    """
    scale = np.where(joints, -1.0, 1.0)
    fit = evidence.explain(scale=scale)
    power = dissipated_power(evidence, torque=evidence.torque * scale, fit=fit)
    return evidence.fall(fit) >= LEAST_FALL and bool(np.all(power[joints] > -DISSIPATED))


def _driving(
    evidence: Evidence, joints: BoolArray, power: FloatArray, threshold: float, suspicion: str
) -> DataWarning:
    return DataWarning(
        'sign', evidence.names(np.flatnonzero(joints)), suspicion,
        'power that friction takes, over that of torque and speed', '',
        float(power[joints].min()), -threshold,
        'friction takes energy: check the signs of effort, drive gains, position and velocity, '
        'and the axes of the URDF',
    )


def dissipated_power(
    evidence: Evidence, motion: Motion | None = None, torque: FloatArray | None = None,
    fit: BodyFit | None = None,
) -> FloatArray:
    """
    Return the power that friction takes, over that of torque and speed, shape (n,).

    It is zero of a joint that does not move, or whose effort does not change. Motion, torque
    (M, n) and fit are those of a hypothesis, by default those that were recorded.
    """
    motion = evidence.motion if motion is None else motion
    torque = evidence.torque if torque is None else torque
    fit = evidence.fit if fit is None else fit
    rest = torque - evidence.body_torque(motion, fit.theta)
    power = np.zeros(evidence.robot.n)
    for joint in range(evidence.robot.n):
        dq, columns = motion.dq[:, joint], friction_columns(motion, joint)
        coefficients = np.linalg.lstsq(columns, rest[:, joint], rcond=1e-9)[0]
        size = evidence.deviation[joint] * np.std(dq)
        if np.abs(dq).max() > MOVING_SPEED and np.ptp(torque[:, joint]) > 0.0:
            # Of viscous and dry friction.
            power[joint] = np.mean(columns[:, 1:3] @ coefficients[1:3] * dq) / size
    return power


def find_reversed_joints(evidence: Evidence) -> list[Candidate]:
    """
    Return the joints whose axis, or whose position and velocity, are better reversed.

    Position, velocity and effort of a joint with a reversed axis agree with each other, so that it
    has the right friction: only the torques that its position causes elsewhere show it. Of one
    whose effort is not reversed, friction drives then; other hypotheses, such as exchanged joints,
    explain a part of either, and the best one is returned.
    """
    axes, motions = [], []
    for joint, name in enumerate(evidence.robot.joint_names):
        with_effort, without = _gains_reversed(evidence, joint)
        look = f'move {name} to a positive position, look which way it turns, and correct'
        if with_effort >= LEAST_BODY_GAIN:
            axes.append(Candidate(DataWarning(
                'axis', (name,), f'{name} may turn the other way than its axis in the URDF',
                'gain in log likelihood when it is reversed', '', with_effort, LEAST_BODY_GAIN,
                f'{look} its axis in the URDF or the sign of its position, velocity and effort in '
                'the driver',
            ), with_effort))
        if without >= LEAST_GAIN:
            motions.append(Candidate(DataWarning(
                'sign', (name,), f'position and velocity of {name} may have the wrong sign',
                'gain in log likelihood with the other sign', '', without, LEAST_GAIN,
                f'{look} the sign of its position and velocity in the driver, or its axis in the '
                'URDF and the sign of its effort',
            ), without))
    return [*axes, *sorted(motions, key=lambda one: -one.gain)[:1]]


def _gains_reversed(evidence: Evidence, joint: int) -> tuple[float, float]:
    """
    Return by how much more likely the data are with a joint reversed, with its effort and without.

    It is 0 where that is little better, or the friction of the joint would drive it then.
    """
    motion = evidence.motion
    sign = np.where(evidence.only(joint), -1.0, 1.0)
    other = Motion(motion.q * sign, motion.dq * sign, motion.ddq * sign)
    rows = evidence.regressor(other)
    # Friction turns with the joint: its columns span the same either way.
    friction = add_load(evidence.unloaded, evidence.robot, other, evidence.windows)
    gains = []
    for torque in (evidence.torque * sign, evidence.torque):
        fit = evidence.explain(
            evidence.reduce(rows, evidence.in_band(torque)[:, :, None], friction)
        )
        better = evidence.fall(fit) >= LEAST_FALL and evidence.gain(fit) > 0.0 and (
            dissipated_power(evidence, other, torque, fit)[joint] >= -DISSIPATED
        )
        gains.append(evidence.gain(fit) if better else 0.0)
    return gains[0], gains[1]


def find_exchanged_joints(evidence: Evidence) -> list[Candidate]:
    """Return the exchanges of two joints that explain the data better."""
    found = []
    # An effort in ampere belongs to the drive of the joint that it is given to.
    gain_of = evidence.datasets[0].torque_per_effort(evidence.robot)
    effort, deviation = evidence.in_band(evidence.torque) / gain_of, evidence.deviation / gain_of
    measured = np.flatnonzero(evidence.independent > 0.0).tolist()
    straight, motion = np.arange(evidence.robot.n), evidence.motion
    for i, j in combinations(measured, 2):
        order = straight.copy()
        order[[i, j]] = order[[j, i]]
        exchanged = Motion(motion.q[:, order], motion.dq[:, order], motion.ddq[:, order])
        other = evidence.regressor(exchanged), add_load(
            [evidence.unloaded[k] for k in order], evidence.robot, exchanged, evidence.windows
        )
        independent = evidence.independent.copy()
        independent[[i, j]] = independent[[i, j]].mean()
        fit = fit_bodies(
            evidence.reduced, evidence.reduced.targets[:, :, 0], evidence.prior, independent
        )
        for kind, (rows, friction), of_torque in (
            ('names', other, order), ('positions', other, straight),
            ('efforts', (evidence.rows, evidence.friction), order),
        ):
            reduced = reduce_rows(
                rows, friction, (effort[:, of_torque] * gain_of)[:, :, None],
                np.abs(deviation[of_torque] * gain_of),
            )
            trial = fit_bodies(reduced, reduced.targets[:, :, 0], evidence.prior, independent)
            gain = fit.score - trial.score
            if gain > LEAST_ORDER_GAIN and evidence.fall(trial) > LEAST_FALL:
                names = evidence.names((i, j))
                found.append(Candidate(DataWarning(
                    'joint_order', names, EXCHANGES[kind].format(*names),
                    'gain in log likelihood when they are exchanged back', '', gain,
                    LEAST_ORDER_GAIN,
                    'compare the joint names of the driver with the joints that move on the '
                    'robot, one by one',
                ), gain))
    return found


def find_encoder_zeros(evidence: Evidence) -> list[Candidate]:
    """Return the offsets of single encoders that explain the data better."""
    found = []
    for joint, name in enumerate(evidence.robot.joint_names):
        offset, fit = _search_zero(evidence, joint)
        if not evidence.supports(fit, LEAST_BODY_GAIN) or abs(offset) < LEAST_ZERO:
            continue
        found.append(Candidate(DataWarning(
            'encoder_zero', (name,), f'the zero of {name} may be off', 'offset',
            evidence.robot.position_units[joint], -offset, LEAST_ZERO,
            f'move {name} to its zero and compare with the drawing that the URDF was made from',
        ), evidence.gain(fit)))
    return found


def _search_zero(evidence: Evidence, joint: int) -> tuple[float, BodyFit]:
    """Return the offset of an encoder by Gauss-Newton steps [rad], and its fit."""
    offset, best = 0.0, evidence.fit
    for count in range(ZERO_STEPS):
        after, before = (
            evidence.regressor(evidence.with_offset(joint, offset + step))
            for step in (ZERO_STEP, -ZERO_STEP)
        )
        slope = (after - before) @ best.theta / (2.0 * ZERO_STEP)
        promised = _with_columns(
            evidence, 0.5 * (after + before), slope[:, :, None], LARGEST_ZERO
        )
        if count == 0 and evidence.gain(promised) < PROMISING * LEAST_BODY_GAIN:
            break
        tried = float(np.clip(offset + promised.theta[-1], -LARGEST_ZERO, LARGEST_ZERO))
        trial = evidence.explain(
            evidence.reduce(evidence.regressor(evidence.with_offset(joint, tried)))
        )
        if not trial.score < best.score - 0.05:
            break
        offset, best = tried, trial
    return offset, best


def _with_columns(
    evidence: Evidence, rows: FloatArray, columns: FloatArray, size: FloatArray | float
) -> BodyFit:
    """Return the fit with more columns (m, n, k), whose unknowns are steps of about `size`."""
    return evidence.explain(
        evidence.reduce(np.concatenate([rows, columns], axis=2)),
        prior=evidence.prior.with_steps(columns.shape[2], size),
    )


def find_gravity(evidence: Evidence) -> list[Candidate]:
    """Return the gravity that explains the data better than the stated one, if it is far."""
    stated = np.asarray(evidence.robot.gravity, dtype=float)
    size = float(np.linalg.norm(stated))
    if size == 0.0:
        return []
    still = evidence.regressor(robot=evidence.robot.with_gravity(np.zeros(3)))
    weights = np.array([
        evidence.regressor(robot=evidence.robot.with_gravity(UNIT * axis)) - still
        for axis in np.eye(3)
    ])

    def search(
        directions: FloatArray, starts: Sequence[FloatArray]
    ) -> tuple[FloatArray, BodyFit]:
        tried = [_search_gravity(evidence, still, weights, one, directions) for one in starts]
        return min(tried, key=lambda one: one[1].score)

    # Noise turns any gravity that is fitted. Where its size is off, the size explains the data
    # with any direction: the direction must explain more than the size alone. The searches begin
    # at the stated gravity and next to none of it.
    along, starts = stated / size, [stated, 0.2 * stated]
    sized, of_size = search(along[:, None], starts)
    turned, of_turn = search(np.eye(3), [sized, *starts])
    found = float(np.linalg.norm(turned))
    angle = 0.0 if found == 0.0 else float(np.arccos(np.clip(turned @ along / found, -1.0, 1.0)))
    if min(evidence.gain(of_turn), of_size.score - of_turn.score) >= LEAST_BODY_GAIN and (
        angle > LEAST_TILT
    ):
        return [Candidate(DataWarning(
            'gravity', (), 'gravity may have another direction than was stated', 'angle', 'rad',
            angle, LEAST_TILT, _check_gravity(turned),
        ), evidence.gain(of_turn))]
    ratio = float(sized @ along) / size
    # A larger one is another factor or sign of efforts, or other masses.
    is_possible = 0.0 < ratio <= max(1.0, LARGEST_GRAVITY / size)
    if not is_possible or not evidence.supports(of_size, LEAST_BODY_GAIN) or (
        _is_near(ratio, LEAST_GRAVITY_RATIO)
    ):
        return []
    return [Candidate(DataWarning(
        'gravity', (), 'gravity may have another size than was stated',
        'ratio', '', ratio, LEAST_GRAVITY_RATIO ** np.sign(np.log(ratio)), _check_gravity(sized),
    ), evidence.gain(of_size))]


def _check_gravity(gravity: FloatArray) -> str:
    listed = ', '.join(f'{value + 0.0:.2f}' for value in gravity)
    return (
        f'the data are nearer to gravity ({listed}) m/s^2 in the root frame: check --mounting or '
        '--gravity, and how the base stands'
    )


def _search_gravity(
    evidence: Evidence, still: FloatArray, weights: FloatArray, start: FloatArray,
    directions: FloatArray,
) -> tuple[FloatArray, BodyFit]:
    """
    Return a gravity (3,) and the fit with it, by Gauss-Newton steps from a start.

    The steps are in the span of some orthonormal `directions` (3, d).
    """
    count = directions.shape[1]

    def rows_of(gravity: FloatArray) -> FloatArray:
        rows: FloatArray = still + np.tensordot(gravity / UNIT, weights, axes=1)
        return rows

    gravity, best = start.copy(), evidence.explain(evidence.reduce(rows_of(start)))
    for _ in range(GRAVITY_STEPS):
        columns = np.stack([weight @ best.theta / UNIT for weight in weights], axis=2) @ directions
        # Unbounded, gravity could go anywhere.
        step = _with_columns(evidence, rows_of(gravity), columns, UNIT).theta[-count:]
        tried = gravity + directions @ step
        trial = evidence.explain(evidence.reduce(rows_of(tried)))
        if not trial.score < best.score - 0.01:
            break
        gravity, best = tried, trial
    return gravity, best


def find_tool(evidence: Evidence) -> list[Candidate]:
    """
    Return the finding that the last link carries what the URDF lacks, if that is likely.

    It is no fault: an arm is identified with its tool.
    """
    gain = evidence.gain(evidence.explain(prior=evidence.tool_prior))
    if gain < LEAST_TOOL_GAIN:
        return []
    last = evidence.robot.joint_names[-1]
    return [Candidate(DataWarning(
        'tool', (last,),
        f'the link behind {last} is another body than in the URDF, as with a tool',
        'gain in log likelihood', '', gain, LEAST_TOOL_GAIN,
        'the parameters are those of the arm with what it carried',
    ), gain, matters=False)]


def find_payload_change(evidence: Evidence) -> list[Candidate]:
    """Return the change of the last link that explains the data better, if there is one."""
    seconds = sum((part.stop - part.start) / rate for part, rate in evidence.parts)
    # Without masses and drive gains a payload has no size.
    if seconds < SHORTEST or not evidence.prior.side.size:
        return []
    rows, n = evidence.rows, evidence.robot.n
    last = evidence.in_band(
        inertial_regressor(evidence.robot, evidence.motion).reshape(-1, n, 10 * n)[:, :, -10:]
    )
    tried = []
    for first in (part * len(rows) // PARTS for part in range(1, PARTS)):
        changed = np.where(np.arange(len(rows))[:, None, None] >= first, last, 0.0)
        tried.append((
            _with_columns(evidence, rows, changed, tool_deviation(evidence.robot)), first
        ))
    fit, first = min(tried, key=lambda one: one[0].score)
    if not evidence.supports(fit, LEAST_CHANGE_GAIN, LEAST_FALL):
        return []
    source, start = evidence.place_in_band(first)
    name = evidence.robot.joint_names[-1]
    return [Candidate(DataWarning(
        'payload_change', (name,),
        f'the link behind {name} may carry something else from about {start:.0f} s of {source} '
        'on',
        'gain in log likelihood', '', evidence.gain(fit), LEAST_CHANGE_GAIN,
        'identify from recordings with one payload, or a part of them by --start and --stop',
    ), evidence.gain(fit))]
