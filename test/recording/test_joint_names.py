# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Names of joints that differ: what can be said of them by their words, and what cannot."""

import shlex

import pytest
from robot_identification.recording.joint_names import parse_joint_names, recommend_names

PSM = ('_outer_yaw', '_pitch', '_outer_insertion', '_outer_roll')
UR = ('shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint')


@pytest.mark.parametrize(('recorded', 'wanted', 'given', 'expected'), [
    (PSM[:3], PSM, {}, '--joints _outer_yaw _pitch _outer_insertion'),
    (('yaw', 'pitch', 'insertion'), PSM,
     {}, '--joints _outer_yaw _pitch _outer_insertion '
     '--joint-names yaw=_outer_yaw,pitch=_pitch,insertion=_outer_insertion'),
    # Words count more than places: this order is that of the alphabet.
    (('elbow', 'lift', 'pan'), UR, {},
     '--joint-names pan=shoulder_pan_joint,lift=shoulder_lift_joint,elbow=elbow_joint'),
    (('fer_joint1', 'fer_joint2'), ('panda_joint1', 'panda_joint2'), {},
     '--joint-names fer_joint1=panda_joint1,fer_joint2=panda_joint2'),
    # Without a word in common, the order is all there is.
    (('a', 'b', 'c'), UR, {},
     '--joint-names a=shoulder_pan_joint,b=shoulder_lift_joint,c=elbow_joint'),
    # What was given stays, and is completed.
    (('a', 'lift', 'elbow'), UR, {'a': 'shoulder_pan_joint'},
     '--joint-names a=shoulder_pan_joint,lift=shoulder_lift_joint,elbow=elbow_joint'),
    # A gripper in the recording is not the joint that it lacks.
    ((*UR[:2], 'finger'), UR, {}, '--joints shoulder_pan_joint shoulder_lift_joint'),
    # Another arm: numbers in some names say nothing.
    (('wrist_1', 'wrist_2', 'pan', 'lift'), tuple(f'panda_joint{k}' for k in range(1, 8)), {}, ''),
    (UR, UR, {}, ''),
    (('a b', 'c'), ('x', 'y'), {}, "--joint-names 'a b=x,c=y'"),
])
def test_options_that_make_names_fit(recorded, wanted, given, expected):
    assert recommend_names(recorded, wanted, given) == expected


@pytest.mark.parametrize('recorded', [('elbow', 'lift', 'pan'), ('a', 'b', 'c')])
def test_what_is_recommended_can_be_given(recorded):
    option, text = shlex.split(recommend_names(recorded, UR))
    assert option == '--joint-names'
    assert sorted(parse_joint_names(text)) == sorted(recorded)
    assert set(parse_joint_names(text).values()) == set(UR)
