# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A tool mounted on an arm for good: a body of its URDF, with mass and a box that things can touch.

What is identified afterwards is the arm with its tool. A payload that is found by itself
(`model.payload`) stays out of the URDF.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import indent, SubElement, tostring

import numpy as np
from robot_identification.errors import UsageError
from robot_identification.model.robot_xml import parse_robot_xml
from robot_identification.model.urdf_elements import numbers_text

TOOL_LINK = 'mounted_tool'
# More than any arm here carries is a mass in gram [kg]; more is a length in millimetre [m].
HEAVIEST, LONGEST = 100.0, 3.0


@dataclass(frozen=True)
class Tool:
    """A box fixed to the flange, with its mass distributed evenly about the centre of mass."""

    mass: float  # [kg]
    # In the tool's frame, whose z axis leaves the flange [m].
    center_of_mass: tuple[float, float, float]
    # Edges of the box along the axes of that frame [m]; it begins at the flange and has the z axis
    # in its middle.
    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        if not 0.0 < self.mass <= HEAVIEST:
            raise UsageError(
                f'the mass of the tool is {self.mass:g} kg, it must be above 0 and at most '
                f'{HEAVIEST:g}: give it in kg'
            )
        for what, lengths in (('centre of mass', self.center_of_mass), ('size', self.size)):
            if not (np.all(np.isfinite(lengths)) and np.max(np.abs(lengths)) <= LONGEST):
                raise UsageError(
                    f'the {what} of the tool is {list(lengths)}, at most {LONGEST:g} m is '
                    'allowed: give it in m'
                )
        if min(self.size) <= 0.0:
            raise UsageError(
                f'the size of the tool is {list(self.size)} m, every edge must be positive'
            )


def mount_tool(text: str, source: str, frame: str, tool: Tool) -> str:
    """
    Return the text of a URDF with a tool on it.

    `text` is the URDF of the arm, `source` its name in errors, `frame` the link that the tool is
    fixed to. Raises DescriptionError if the text is no URDF, UsageError if the arm already has a
    body of the tool's name.
    """
    root: Any = parse_robot_xml(text, source)
    if any(link.get('name') == TOOL_LINK for link in root.findall('link')):
        raise UsageError(f'{source} has a link {TOOL_LINK} already: take the arm without it')
    link = SubElement(root, 'link', name=TOOL_LINK)
    inertial = SubElement(link, 'inertial')
    SubElement(inertial, 'origin', xyz=numbers_text(tool.center_of_mass), rpy='0 0 0')
    SubElement(inertial, 'mass', value=repr(tool.mass))
    x, y, z = (edge**2 / 12.0 * tool.mass for edge in tool.size)
    SubElement(
        inertial, 'inertia', ixx=repr(y + z), iyy=repr(x + z), izz=repr(x + y),
        ixy='0', ixz='0', iyz='0',
    )
    collision = SubElement(link, 'collision')
    SubElement(collision, 'origin', xyz=numbers_text((0.0, 0.0, 0.5 * tool.size[2])), rpy='0 0 0')
    SubElement(SubElement(collision, 'geometry'), 'box', size=numbers_text(tool.size))
    joint = SubElement(root, 'joint', name=f'{frame}-{TOOL_LINK}', type='fixed')
    SubElement(joint, 'parent', link=frame)
    SubElement(joint, 'child', link=TOOL_LINK)
    SubElement(joint, 'origin', xyz='0 0 0', rpy='0 0 0')
    indent(root)
    return '<?xml version="1.0"?>\n' + str(tostring(root, encoding='unicode')) + '\n'
