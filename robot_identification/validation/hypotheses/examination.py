# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Examination of training data: all hypotheses are compared, the best supported ones are named.

Each hypothesis is a function of the same evidence and returns the warnings that it would raise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import RobotModel
from robot_identification.processing import Dataset
from robot_identification.validation.hypotheses import arm, signals
from robot_identification.validation.hypotheses.evidence import Evidence, gather
from robot_identification.validation.hypotheses.thresholds import (
    Candidate, LEAST_BODY_GAIN, LEAST_CARRIED, LEAST_COMMON_FACTOR, MOST_NAMED, NEARLY_AS_GOOD,
    TRIED_FACTOR, TRIED_ZERO,
)
from robot_identification.validation.verdict import DataWarning, Findings

HYPOTHESES: Mapping[str, Callable[[Evidence], list[Candidate]]] = {
    'clipping': signals.find_clipping,
    'computed': signals.find_computed,
    'time_scale': signals.find_time_scale,
    'sign': arm.find_wrong_signs,
    'axis': arm.find_reversed_joints,
    'joint_order': arm.find_exchanged_joints,
    'delay': signals.find_delays,
    'filtering': signals.find_filtering,
    'gravity': arm.find_gravity,
    'joint_factor': arm.find_joint_factors,
    'common_factor': arm.find_common_factor,
    'encoder_zero': arm.find_encoder_zeros,
    'payload_change': arm.find_payload_change,
}
# Warnings that explain friction which drives their joints, and those that explain that of others.
EXPLAIN_DRIVING = ('sign', 'joint_order')
MAKE_DRIVING = (*EXPLAIN_DRIVING, 'axis')


@dataclass(frozen=True)
class Examination:
    """Findings in training data before any fit."""

    findings: Findings
    tool: str = ''  # what they show of a tool that the URDF lacks; empty if nothing


def examine_data(
    robot: RobotModel, datasets: Sequence[Dataset], *, relative_scale: bool = False
) -> Examination:
    """
    Test training data for errors of the recording and the description.

    The arm has its drive gains where effort is in ampere; with `relative_scale` torques are per
    unknown drive gain.
    """
    of_motion = signals.find_one_direction(robot, datasets)
    evidence = gather(robot, datasets, relative_scale=relative_scale)
    if evidence is None:
        return Examination(Findings(of_motion, (
            'too few samples follow each other for tests of joint order, signs, delays, gravity '
            'and drive gains',
        )))
    candidates, tool = _test(evidence), ''
    for one in arm.find_tool(evidence):
        if all(other.gain < one.gain for other in candidates if other.matters):
            # Other hypotheses would explain the tool.
            evidence, tool = replace(evidence, prior=evidence.tool_prior), one.warning.suspicion
            candidates = [one, *_test(evidence)]
    warnings = choose_warnings([one for one in candidates if one.matters])
    explained = {
        joint for warning in warnings if warning.name in EXPLAIN_DRIVING
        for joint in warning.joints
    }
    driving = arm.find_driving_friction(evidence, explained)
    # A wrong sign or order of some joint makes the friction of others drive: it is to be corrected
    # first.
    is_named = any(warning.name in MAKE_DRIVING for warning in warnings)
    warnings = (*warnings, *driving) if is_named else (*driving, *warnings)
    small = (str(one.warning) for one in candidates if not one.matters)
    return Examination(
        Findings((*warnings, *of_motion), (*small, *list_assumptions(evidence))), tool
    )


def with_structure(
    findings: Findings, robot: RobotModel, datasets: Sequence[Dataset], sigma: FloatArray
) -> Findings:
    """
    Return findings with a warning of structured residuals, where no hypothesis explains them.

    `sigma` (n,) is the standard deviation of each joint's residual by the model [N m].
    """
    if any(one.name != 'one_direction' for one in findings.warnings):
        return findings
    structure = signals.find_structure(robot, datasets, sigma)
    return replace(findings, warnings=(*structure, *findings.warnings))


def _test(evidence: Evidence) -> list[Candidate]:
    return [one for find in HYPOTHESES.values() for one in find(evidence)]


def choose_warnings(candidates: Sequence[Candidate]) -> tuple[DataWarning, ...]:
    """
    Return the warnings that are best supported.

    What the signals show by themselves comes first, and alone: other hypotheses are tested again
    when it is corrected.
    """
    plain = [one.warning for one in candidates if np.isinf(one.gain)]
    if plain:
        return tuple(plain)
    ranked = sorted(candidates, key=lambda one: -one.gain)[:MOST_NAMED]
    return tuple(one.warning for one in ranked if one.gain >= NEARLY_AS_GOOD * ranked[0].gain)


def list_assumptions(evidence: Evidence) -> tuple[str, ...]:
    """Return what is assumed because these data cannot tell, in words."""
    if evidence.relative_scale:
        scale = (
            'drive gains are unknown: a common factor of all efforts, and signs of all of them '
            'together, cannot be found'
        )
    elif not evidence.prior.side.size:
        scale = (
            'the URDF has no masses, or all in the joints: a common factor of all efforts cannot '
            'be distinguished from other masses'
        )
    else:
        scale = (
            'effort unit and drive gains: a common factor of all efforts below '
            f'{LEAST_COMMON_FACTOR:g} cannot be distinguished from wrong masses of the URDF'
        )
    found = [scale]
    joints = range(evidence.robot.n)
    blind = [joint for joint in joints if not _shows_factor(evidence, joint)]
    if blind:
        found.append(
            f'drive gain of {", ".join(evidence.names(blind))}: a factor of {TRIED_FACTOR:g} '
            'would be taken for other masses'
        )
    blind = [joint for joint in joints if not _shows_zero(evidence, joint)]
    if blind:
        found.append(
            f'encoder zero of {", ".join(evidence.names(blind))}: an offset of {TRIED_ZERO:g} '
            f'{evidence.robot.units("rad", blind)} would be taken for other bodies'
        )
    return tuple(found)


def _shows_factor(evidence: Evidence, joint: int) -> bool:
    if evidence.carried[joint] < LEAST_CARRIED:
        return False
    scale = np.where(evidence.only(joint), TRIED_FACTOR, 1.0)
    return evidence.gain(evidence.explain(scale=scale)) < -LEAST_BODY_GAIN


def _shows_zero(evidence: Evidence, joint: int) -> bool:
    moved = evidence.reduce(evidence.regressor(evidence.with_offset(joint, TRIED_ZERO)))
    return evidence.gain(evidence.explain(moved)) < -LEAST_BODY_GAIN
