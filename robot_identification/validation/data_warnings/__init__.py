# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Errors of a recording or a description, as named tests of hypotheses.

Each test is a function of the same evidence and returns the warnings that it would raise; the best
supported ones are named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import RobotModel
from robot_identification.processing import Dataset
from robot_identification.validation.data_warnings.assumptions import list_assumptions
from robot_identification.validation.data_warnings.axis import (
    find_reversed_axes, find_reversed_motions,
)
from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.clipping import find_clipping
from robot_identification.validation.data_warnings.computed import find_computed
from robot_identification.validation.data_warnings.delay import find_delays
from robot_identification.validation.data_warnings.encoder_zero import find_encoder_zeros
from robot_identification.validation.data_warnings.evidence import Evidence, gather
from robot_identification.validation.data_warnings.filtering import find_filtering
from robot_identification.validation.data_warnings.gravity import find_gravity
from robot_identification.validation.data_warnings.joint_order import find_exchanged_joints
from robot_identification.validation.data_warnings.one_direction import find_one_direction
from robot_identification.validation.data_warnings.payload_change import find_payload_change
from robot_identification.validation.data_warnings.scale import (
    find_common_factor, find_driving_friction, find_joint_factors, find_wrong_signs,
)
from robot_identification.validation.data_warnings.structure import find_structure
from robot_identification.validation.data_warnings.thresholds import MOST_NAMED, NEARLY_AS_GOOD
from robot_identification.validation.data_warnings.time_scale import find_time_scale
from robot_identification.validation.data_warnings.tool import find_tool
from robot_identification.validation.verdict import DataWarning, Findings

TESTS: Mapping[str, Callable[[Evidence], list[Candidate]]] = {
    'clipping': find_clipping,
    'computed': find_computed,
    'time_scale': find_time_scale,
    'sign': find_wrong_signs,
    'axis': find_reversed_axes,
    'motion_sign': find_reversed_motions,
    'joint_order': find_exchanged_joints,
    'delay': find_delays,
    'filtering': find_filtering,
    'gravity': find_gravity,
    'joint_factor': find_joint_factors,
    'common_factor': find_common_factor,
    'encoder_zero': find_encoder_zeros,
    'payload_change': find_payload_change,
}
# Hypotheses that explain friction which drives their joints.
EXPLAIN_DRIVING = ('sign', 'joint_order')
# The same of other joints than those they name.
MAKE_DRIVING = (*EXPLAIN_DRIVING, 'axis')


def examine_data(
    robot: RobotModel,
    datasets: Sequence[Dataset],
    sigma: FloatArray,
    *,
    relative_scale: bool = False,
) -> Findings:
    """
    Test training data for errors of the recording and the description.

    The arm has its drive gains where effort is in ampere; `sigma` (n,) is the standard deviation
    of each joint's residual by the model [N m]. With `relative_scale` torques are per unknown
    drive gain.
    """
    beside = find_one_direction(robot, datasets)
    evidence = gather(robot, datasets, relative_scale=relative_scale)
    if evidence is None:
        return Findings((*find_structure(robot, datasets, sigma), *beside), (
            'too few samples follow each other for tests of joint order, signs, delays, gravity '
            'and drive gains',
        ))
    candidates = _test(evidence)
    tool = find_tool(evidence)
    if tool is not None and _explains_most(tool, candidates):
        # Other hypotheses would explain the tool.
        evidence = gather(robot, datasets, relative_scale=relative_scale, with_tool=True)
        assert evidence is not None
        candidates = [tool, *_test(evidence)]
    small = tuple(str(one.warning) for one in candidates if not one.matters)
    warnings = choose([one for one in candidates if one.matters])
    explained = {
        joint for warning in warnings if warning.name in EXPLAIN_DRIVING
        for joint in warning.joints
    }
    driving = find_driving_friction(evidence, explained)
    # A wrong sign or order of some joint makes the friction of others drive: it is to be corrected
    # first.
    is_named = any(warning.name in MAKE_DRIVING for warning in warnings)
    warnings = (*warnings, *driving) if is_named else (*driving, *warnings)
    return Findings(
        (*(warnings or find_structure(robot, datasets, sigma)), *beside),
        (*small, *list_assumptions(evidence)),
    )


def describe_tool(robot: RobotModel, datasets: Sequence[Dataset]) -> str:
    """Return what training data show of a tool that the URDF lacks, empty if nothing."""
    evidence = gather(robot, datasets)
    tool = None if evidence is None else find_tool(evidence)
    if evidence is None or tool is None or not _explains_most(tool, _test(evidence)):
        return ''
    return tool.warning.suspicion


def _test(evidence: Evidence) -> list[Candidate]:
    return [one for test in TESTS.values() for one in test(evidence)]


def _explains_most(tool: Candidate, candidates: Sequence[Candidate]) -> bool:
    return all(one.gain < tool.gain for one in candidates if one.matters)


def choose(candidates: Sequence[Candidate]) -> tuple[DataWarning, ...]:
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
