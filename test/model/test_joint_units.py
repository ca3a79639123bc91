# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Units are those of the joint: a joint that slides has metres and newtons."""

from builders import turn_and_slide_urdf
import pytest
from robot_identification.model import make_robot_model, parse_urdf
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import (
    make_standard_parameters, unit_of_joint, unit_of_joints,
)


@pytest.mark.parametrize(('about', 'along'), [
    ('rad', 'm'), ('rad/s^2', 'm/s^2'), ('N m', 'N'), ('Nm', 'N'), ('mNm', 'mN'),
    ('N m s/rad', 'N s/m'), ('N m s^3/rad^3', 'N s^3/m^3'), ('N m/rad', 'N/m'),
    ('N m s/(rad K)', 'N s/(m K)'), ('N m/A', 'N per A'), ('kg m^2', 'kg'),
    # What has nothing to do with the axis.
    ('A', 'A'), ('1', '1'), ('kg m', 'kg m'), ('kg', 'kg'), ('s', 's'),
])
def test_units_along_an_axis(about, along):
    assert unit_of_joint(about, 'm') == along
    assert unit_of_joint(about, 'rad') == about
    assert unit_of_joints(about, ['rad', 'rad']) == about
    assert unit_of_joints(about, ['m']) == along
    assert unit_of_joints(about, ['rad', 'm', 'rad']) == (
        about if about == along else f'{about} or {along}'
    )


def test_parameters_have_the_units_of_their_joints():
    """Of friction and rotors; those of bodies are the same behind every joint."""
    robot = make_robot_model(parse_urdf(turn_and_slide_urdf(), 'both'))
    assert robot.position_units == ('rad', 'm')
    assert robot.joints.unit('N m', 1) == robot.unit('N m', 1) == 'N'
    assert robot.joints.units('rad/s') == robot.units('rad/s')
    assert robot.encoders.slides.tolist() == [False, True]
    assert robot.units('rad/s') == 'rad/s or m/s'
    assert robot.units('rad/s', [0]) == 'rad/s'
    reduction = reduce_to_base(robot, make_standard_parameters(
        2, parse_friction('coulomb,viscous,offset'), True
    ))
    units = dict(zip(reduction.names, reduction.units_of(robot), strict=True))
    plain = dict(zip(reduction.parameters.names, reduction.parameters.units, strict=True))
    assert {name: unit for name, unit in units.items() if unit != plain[name]} == {
        'fv2': 'N s/m', 'fc2': 'N', 'f02': 'N', 'Ia2': 'kg',
    }
