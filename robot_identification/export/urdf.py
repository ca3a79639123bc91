# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Write a URDF with the identified inertials and friction."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Comment
from xml.etree.ElementTree import Element
from xml.etree.ElementTree import indent
from xml.etree.ElementTree import SubElement
from xml.etree.ElementTree import tostring

import defusedxml.ElementTree
import numpy as np
from numpy.typing import NDArray
import pinocchio as pin
from robot_identification.errors import InconsistentModelError
from robot_identification.model.consistency import smallest_eigenvalues
from robot_identification.model.friction.nearest import nearest_plain_friction
from robot_identification.model.friction.nearest import sliding_speeds
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.robot_model import RobotModel
from robot_identification.model.urdf import parse_urdf

FloatArray = NDArray[np.float64]

# URDF knows these two; the law whose coefficient each takes as it is. Of any other law it takes
# the nearest Coulomb and viscous friction.
FRICTION_ATTRIBUTES = {'viscous': 'damping', 'coulomb': 'friction', 'coulomb_sign': 'friction'}
# Where the model does not say up to which speed its friction is known [rad/s].
UNKNOWN_SPEED = 1.0


def export_urdf(model: IdentifiedModel) -> str:
    """
    Return the robot's URDF with the identified inertials.

    Bodies that are fixed to a link, or stand on a locked joint, keep their own inertials; what is
    left of the identified one is the link's. If that would be no body, the link takes those that
    are fixed to it as its own, which moves alike, and a comment names them. Reflected inertia has
    no place in a URDF and stands in a comment. Friction is Coulomb and viscous; of other laws it
    is the nearest to them in steady sliding, over the speeds and at the mean load that the model
    was identified at.

    Raises
    ------
    InconsistentModelError
        If the model has no physically consistent parameters, or a link would be left with
        impossible ones.

    """
    theta = model.theta_consistent
    if theta is None:
        raise InconsistentModelError(
            f'the model of {model.robot.name} is not exported: {model.consistency_note}; '
            'simulators would refuse it or blow up. Record a richer motion, or check drive gains '
            'and units'
        )
    root: Any = defusedxml.ElementTree.fromstring(model.robot.urdf.text, forbid_dtd=True)
    links = {link.get('name'): link for link in root.findall('link')}
    joints = {joint.get('name'): joint for joint in root.findall('joint')}
    n = model.robot.n
    lumped = theta[: 10 * n].reshape(n, 10)
    prior = prior_inertial_parameters(model.robot).reshape(n, 10)
    taken = []
    for index, name in enumerate(model.robot.joint_names):
        joint = joints[name]
        link = links[joint.find('child').get('link')]
        own = lumped[index] - (prior[index] - _own_parameters(link))
        if not smallest_eigenvalues(own)[0] > 0.0:
            fixed = _take_fixed_bodies(root, link.get('name'))
            taken += fixed
            own = lumped[index] - (_prior_of(root, model.robot)[index] - _own_parameters(link))
        if not smallest_eigenvalues(own)[0] > 0.0:
            raise InconsistentModelError(
                f'the link after {name} is left with impossible inertia when the bodies on '
                'joints that are locked keep theirs: check their inertials in the URDF'
            )
        _write_inertial(link, own)
        _write_dynamics(joint, model, theta, index)
    reflected = theta[model.parameters.reflected_inertia_slice]
    text = ', '.join(
        f'{name} {value:.6g}'
        for name, value in zip(model.robot.joint_names, reflected, strict=False)
    )
    # XML allows no double hyphen in a comment, and names may have them.
    root.insert(0, Comment(re.sub('-+', '-', (
        ' Identified by robot_identification. Reflected rotor inertias, which URDF has no place '
        f'for [kg m^2]: {text} '
        + (f'Part of the moving link before them: {", ".join(taken)} ' if taken else '')
    ))))
    indent(root)
    return '<?xml version="1.0"?>\n' + str(tostring(root, encoding='unicode')) + '\n'


def _take_fixed_bodies(root: Any, link: str) -> list[str]:
    """Remove the inertials of links that are fixed to another; return their names."""
    found, new = [], [link]
    while new:
        new = [
            joint.find('child').get('link') for joint in root.findall('joint')
            if joint.get('type') == 'fixed' and joint.find('parent').get('link') in new
        ]
        found += new
    taken = []
    for body in root.findall('link'):
        inertial = body.find('inertial')
        if body.get('name') in found and inertial is not None:
            body.remove(inertial)
            taken.append(str(body.get('name')))
    return taken


def _prior_of(root: Any, robot: RobotModel) -> FloatArray:
    """Return the inertial parameters of an arm's URDF as it stands, shape (n, 10)."""
    urdf = parse_urdf(str(tostring(root, encoding='unicode')), robot.urdf.name)
    arm = make_robot_model(urdf, joints=robot.joint_names, locked=robot.locked)
    return prior_inertial_parameters(arm).reshape(robot.n, 10)


def _own_parameters(link: Any) -> FloatArray:
    """Return the inertial parameters of a URDF link in its own frame, shape (10,)."""
    inertial = link.find('inertial')
    if inertial is None:
        return np.zeros(10)
    origin = inertial.find('origin')
    values = {'xyz': '0 0 0', 'rpy': '0 0 0'} if origin is None else dict(origin.attrib)
    centre = np.array([float(x) for x in values.get('xyz', '0 0 0').split()])
    rotation = pin.rpy.rpyToMatrix(
        *(float(x) for x in values.get('rpy', '0 0 0').split())
    )
    tensor = {k: float(v) for k, v in inertial.find('inertia').attrib.items()}
    about_centre = np.array([
        [tensor['ixx'], tensor['ixy'], tensor['ixz']],
        [tensor['ixy'], tensor['iyy'], tensor['iyz']],
        [tensor['ixz'], tensor['iyz'], tensor['izz']],
    ])
    body = pin.Inertia(
        float(inertial.find('mass').get('value')), centre, rotation @ about_centre @ rotation.T
    )
    parameters: FloatArray = body.toDynamicParameters()
    return parameters


def _write_inertial(link: Element, parameters: FloatArray) -> None:
    body = pin.Inertia.FromDynamicParameters(parameters)
    old = link.find('inertial')
    if old is not None:
        link.remove(old)
    inertial = Element('inertial')
    link.insert(0, inertial)
    SubElement(inertial, 'origin', xyz=_numbers(body.lever), rpy='0 0 0')
    SubElement(inertial, 'mass', value=repr(float(body.mass)))
    tensor = body.inertia
    SubElement(
        inertial,
        'inertia',
        {
            f'i{a}{b}': repr(float(tensor[i, j]))
            for i, a in enumerate('xyz')
            for j, b in enumerate('xyz')
            if i <= j
        },
    )


def _write_dynamics(
    joint: Element, model: IdentifiedModel, theta: FloatArray, index: int
) -> None:
    values = dict.fromkeys(FRICTION_ATTRIBUTES.values(), 0.0)
    for term, columns in zip(
        model.parameters.friction, model.parameters.friction_slices, strict=True
    ):
        if term.joint != index:
            continue
        if term.law.name in FRICTION_ATTRIBUTES:
            values[FRICTION_ATTRIBUTES[term.law.name]] += float(theta[columns][0])
            continue
        coulomb, viscous = nearest_plain_friction(
            term.law,
            theta[columns],
            sliding_speeds(_covered(model, 'speeds', index) or UNKNOWN_SPEED),
            _covered(model, 'loads', index),
        )
        values['friction'] += coulomb
        values['damping'] += viscous
    old = joint.find('dynamics')
    if old is not None:
        joint.remove(old)
    # A negative friction would feed energy into a simulation.
    SubElement(
        joint, 'dynamics', {key: repr(max(value, 0.0)) for key, value in values.items()}
    )


def _covered(model: IdentifiedModel, what: str, index: int) -> float:
    """Return a quality figure of one joint, zero where the model does not have it."""
    values = model.quality.get(what)
    return 0.0 if values is None else float(values[index])


def _numbers(vector: FloatArray) -> str:
    return ' '.join(repr(float(value)) for value in vector)
