# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of efforts that are a multiple of the expected ones, or have the other sign."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.model import Motion
from robot_identification.processing import MOVING_SPEED
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import Evidence
from robot_identification.validation.data_warnings.likelihood import JointFit
from robot_identification.validation.data_warnings.thresholds import (
    DISSIPATED, DRIVING, LEAST_BODY_GAIN, LEAST_CARRIED, LEAST_COMMON_FACTOR, LEAST_FACTOR,
    LEAST_FALL, LEAST_GAIN,
)
from robot_identification.validation.verdict import DataWarning

COMMON_FACTORS = np.geomspace(0.1, 10.0, 33)
JOINT_FACTORS = np.geomspace(0.2, 5.0, 29)
# Of the smooth sign of a velocity [rad/s].
SLIDING_WIDTH = 0.02


def find_common_factor(evidence: Evidence) -> list[Candidate]:
    """Return the factor of all efforts that makes the bodies those of the URDF, if it is far."""
    if not evidence.prior.side.size:
        return []
    factor, fit = _best(evidence, COMMON_FACTORS, np.ones(evidence.robot.n, dtype=bool))
    gain = evidence.gain(fit)
    if gain < LEAST_BODY_GAIN or abs(np.log(factor)) < np.log(LEAST_COMMON_FACTOR):
        return []
    warning = DataWarning(
        'common_factor', (),
        f'all efforts may be {factor:.2g} times what they should be, or all masses of the URDF '
        'wrong by that factor',
        'factor against the URDF', '', factor, LEAST_COMMON_FACTOR ** np.sign(np.log(factor)),
        'check effort unit, drive gains and the masses of the URDF',
    )
    return [Candidate(warning, gain)]


def find_joint_factors(evidence: Evidence) -> list[Candidate]:
    """Return the factors of the efforts of single joints that explain the data better."""
    found = []
    for joint, name in enumerate(evidence.robot.joint_names):
        # Of a joint that hardly carries a body the factor would be that of its small body.
        if evidence.carried[joint] < LEAST_CARRIED:
            continue
        factor, fit = _best(evidence, JOINT_FACTORS, np.arange(evidence.robot.n) == joint)
        gain = evidence.gain(fit)
        if gain < LEAST_BODY_GAIN or abs(np.log(factor)) < np.log(LEAST_FACTOR):
            continue
        warning = DataWarning(
            'joint_factor', (name,),
            f'the effort of {name} may be {factor:.2g} times what it should be beside the others',
            'factor', '', factor, LEAST_FACTOR ** np.sign(np.log(factor)),
            f'check drive gain and unit of {name}',
        )
        found.append(Candidate(warning, gain))
    return found


def find_wrong_signs(evidence: Evidence) -> list[Candidate]:
    """Return the joints whose friction would drive them, or whose bodies ask for another sign."""
    power = dissipated_power(evidence)
    driven = power < -DISSIPATED
    if driven.any() and np.sum(driven) == np.count_nonzero(np.abs(power) > DISSIPATED):
        return [Candidate(_driving(
            evidence, driven, power, DISSIPATED,
            'the efforts of all joints may have the wrong sign',
        ), np.inf)]
    # Exchanged joints drive their friction, too, and a joint with little of it neither drives nor
    # brakes: the bodies decide. Friction that brakes, and would drive with the other sign, shows
    # that the sign is right.
    found = []
    if driven.any() and (gain := _gain_of_sign(evidence, driven)) > 0.0:
        names = ', '.join(_names(evidence, driven))
        found.append(Candidate(_driving(
            evidence, driven, power, DISSIPATED,
            f'the effort of {names} may have the wrong sign',
        ), LEAST_BODY_GAIN + gain))
    for joint, name in enumerate(evidence.robot.joint_names):
        own = np.arange(evidence.robot.n) == joint
        gain = _gain_of_sign(evidence, own)
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
    names = ', '.join(_names(evidence, driven))
    return (_driving(
        evidence, driven, power, DRIVING,
        f'the friction of {names} drives, as if the effort had the wrong sign or were that of '
        'another joint',
    ),)


def _gain_of_sign(evidence: Evidence, joints: BoolArray) -> float:
    """Return how much more likely the data are with the other sign of some joints' efforts."""
    return evidence.gain(evidence.explain(scale=_turned(joints)))


def _brakes_turned(evidence: Evidence, joints: BoolArray) -> bool:
    """
    Return whether friction takes energy with the other sign, too, and the residual falls clearly.

    Bodies that the effort contradicts leave so much of it that what looks like friction is none.
    """
    scale = _turned(joints)
    fit = evidence.explain(scale=scale)
    power = dissipated_power(evidence, torque=evidence.torque * scale, fit=fit)
    return evidence.fall(fit) >= LEAST_FALL and bool(np.all(power[joints] > -DISSIPATED))


def _turned(joints: BoolArray) -> FloatArray:
    return np.where(joints, -1.0, 1.0)


def _names(evidence: Evidence, joints: BoolArray) -> tuple[str, ...]:
    return evidence.names([int(joint) for joint in np.flatnonzero(joints)])


def _driving(
    evidence: Evidence, joints: BoolArray, power: FloatArray, threshold: float, suspicion: str
) -> DataWarning:
    return DataWarning(
        'sign', _names(evidence, joints), suspicion,
        'power that friction takes, over that of torque and speed', '',
        float(power[joints].min()), -threshold,
        'friction takes energy: check the signs of effort, drive gains, position and velocity, '
        'and the axes of the URDF',
    )


def dissipated_power(
    evidence: Evidence, motion: Motion | None = None, torque: FloatArray | None = None,
    fit: JointFit | None = None,
) -> FloatArray:
    """
    Return the power that friction takes, over that of torque and speed, shape (n,).

    It is zero of a joint that does not move, or whose effort does not change. Motion, torque
    (M, n) and fit are those of a hypothesis, by default those that were recorded.
    """
    motion = evidence.motion if motion is None else motion
    torque = evidence.torque if torque is None else torque
    fit = evidence.fit if fit is None else fit
    rest = torque - np.einsum('knb,b->kn', evidence.regressor(motion), fit.theta)
    power = np.zeros(evidence.robot.n)
    for joint in range(evidence.robot.n):
        dq, ddq = motion.dq[:, joint], motion.ddq[:, joint]
        columns = np.column_stack([
            np.tanh(dq / SLIDING_WIDTH), dq, np.ones_like(dq), ddq,
        ])
        coefficients = np.linalg.lstsq(columns, rest[:, joint], rcond=1e-9)[0]
        size = evidence.deviation[joint] * np.std(dq)
        if np.abs(dq).max() > MOVING_SPEED and np.ptp(torque[:, joint]) > 0.0:
            power[joint] = np.mean(columns[:, :2] @ coefficients[:2] * dq) / size
    return power


def _best(
    evidence: Evidence, factors: FloatArray, joints: np.ndarray
) -> tuple[float, JointFit]:
    """Return the most likely of some factors of the efforts of joints, and its fit."""
    fits = [
        evidence.explain(scale=np.where(joints, factor, 1.0)) for factor in factors
    ]
    at = int(np.argmin([fit.score for fit in fits]))
    if at in (0, len(factors) - 1):
        # An effort that vanishes or dwarfs the others is not off by a factor.
        return 1.0, evidence.fit
    return float(factors[at]), fits[at]
