# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of efforts that are a multiple of the expected ones, or have the other sign."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import Evidence
from robot_identification.validation.data_warnings.likelihood import JointFit
from robot_identification.validation.data_warnings.thresholds import (
    DISSIPATED, LEAST_BODY_GAIN, LEAST_COMMON_FACTOR, LEAST_FACTOR,
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
    """Return the joints whose friction would drive them, or whose bodies would weigh nothing."""
    power = dissipated_power(evidence)
    driven = [joint for joint in range(evidence.robot.n) if power[joint] < -DISSIPATED]
    if not driven:
        return []
    everything = len(driven) == np.count_nonzero(np.abs(power) > DISSIPATED)
    names = evidence.names(driven)
    warning = DataWarning(
        'sign', names,
        'the efforts of all joints may have the wrong sign' if everything
        else f'the effort of {", ".join(names)} may have the wrong sign',
        'power that friction takes, over that of torque and speed', '',
        float(power[driven].min()), -DISSIPATED,
        'friction takes energy: check the signs of effort and drive gains, and the axes of the '
        'URDF',
    )
    if everything:
        return [Candidate(warning, np.inf)]
    # Exchanged joints drive their friction, too: the bodies decide.
    gain = evidence.gain(evidence.explain(scale=np.where(power < -DISSIPATED, -1.0, 1.0)))
    return [Candidate(warning, LEAST_BODY_GAIN + gain)] if gain > 0.0 else []


def dissipated_power(evidence: Evidence) -> FloatArray:
    """Return the power that friction takes, over that of torque and speed, shape (n,)."""
    rest = evidence.torque - np.einsum(
        'knb,b->kn', evidence.regressor(), evidence.fit.theta
    )
    power = np.zeros(evidence.robot.n)
    for joint in range(evidence.robot.n):
        dq, ddq = evidence.motion.dq[:, joint], evidence.motion.ddq[:, joint]
        columns = np.column_stack([
            np.tanh(dq / SLIDING_WIDTH), dq, np.ones_like(dq), ddq,
        ])
        coefficients = np.linalg.lstsq(columns, rest[:, joint], rcond=1e-9)[0]
        size = evidence.deviation[joint] * np.std(dq)
        if size > 0.0:
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
