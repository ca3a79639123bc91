# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Variants of a description's text for other programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import defusedxml.ElementTree
import numpy as np
import pinocchio as pin
from robot_identification.model.urdf_elements import MOVING_JOINT_TYPES

# Pinocchio gives a continuous joint two position coordinates (cosine, sine); as a revolute joint
# with limits that nothing reaches it has one, and positions stay vectors of n angles.
UNLIMITED_POSITION = 1.0e6


def for_pinocchio(text: str, locked: Mapping[str, float] | None = None) -> str:
    """
    Return the URDF text with continuous joints written as revolute ones without end.

    `locked` has the position of each joint that is to be a fixed one [rad or m].
    """
    root = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    for joint in root.findall('joint'):
        if joint.get('name') in (locked or {}):
            _fix(joint, (locked or {})[str(joint.get('name'))])
    for joint in root.findall('joint'):
        if joint.get('type') in MOVING_JOINT_TYPES:
            limit = joint.find('limit')
            if limit is None:
                limit = Element('limit')
                joint.append(limit)
            for key in ('effort', 'velocity'):
                limit.set(key, limit.get(key, '0'))
            if joint.get('type') == 'continuous':
                joint.set('type', 'revolute')
                limit.set('lower', str(-UNLIMITED_POSITION))
                limit.set('upper', str(UNLIMITED_POSITION))
    return str(tostring(root, encoding='unicode'))


def for_simulation(text: str, locked: Mapping[str, float]) -> str:
    """
    Return the URDF text for a physics engine: no shapes, some joints fixed.

    `text` is a checked description; `locked` has the position of each joint that does not move
    [rad or m].
    """
    root = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    for link in root.findall('link'):
        for collision in link.findall('collision'):
            link.remove(collision)
    for joint in root.findall('joint'):
        if joint.get('name') in locked:
            _fix(joint, locked[str(joint.get('name'))])
        mimic = joint.find('mimic')
        if mimic is not None:
            joint.remove(mimic)
    return str(tostring(root, encoding='unicode'))


def _fix(joint: Any, position: float) -> None:
    """Make a joint a fixed one that stands at a position, in place."""
    origin = joint.find('origin')
    if origin is None:
        origin = SubElement(joint, 'origin')
    element = joint.find('axis')
    axis = _floats('1 0 0' if element is None else element.get('xyz', '1 0 0'))
    axis = position * axis / np.linalg.norm(axis)
    moved = (
        pin.SE3(np.eye(3), axis) if joint.get('type') == 'prismatic'
        else pin.SE3(pin.exp3(axis), np.zeros(3))
    )
    pose = pin.SE3(
        pin.rpy.rpyToMatrix(*_floats(origin.get('rpy', '0 0 0'))),
        _floats(origin.get('xyz', '0 0 0')),
    ) * moved
    origin.set('xyz', ' '.join(repr(float(value)) for value in pose.translation))
    origin.set('rpy', ' '.join(repr(float(value)) for value in pin.rpy.matrixToRpy(pose.rotation)))
    joint.set('type', 'fixed')


def _floats(text: str) -> Any:
    return np.array([float(part) for part in text.split()])
