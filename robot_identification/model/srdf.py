# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""SRDF beside a URDF: which joints it counts to an end effector."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from defusedxml import DefusedXmlException
import defusedxml.ElementTree
from robot_identification.errors import IdentificationError
from robot_identification.files import read_text


def read_fingers(path: Path, robot: str) -> tuple[str, ...]:
    """
    Return the joints of the end effectors in the SRDFs of a robot; none where there is none.

    They lie beside the URDF at `path`, or in a folder srdf or config beside its own.
    """
    found: list[str] = []
    for folder in (path.parent, path.parent / 'srdf', path.parent.parent / 'srdf',
                   path.parent.parent / 'config'):
        for file in sorted(folder.glob('*.srdf')):
            try:
                root: Any = defusedxml.ElementTree.fromstring(read_text(file), forbid_dtd=True)
            except (IdentificationError, DefusedXmlException, SyntaxError, ValueError):
                # What is no SRDF says nothing of the arm.
                continue
            if robot == root.get('name') or file.stem == path.stem:
                found += _end_effector_joints(root)
    return tuple(dict.fromkeys(found))


def _end_effector_joints(root: Any) -> list[str]:
    wanted = {effector.get('group') for effector in root.findall('end_effector')}
    return [
        str(joint.get('name'))
        for group in root.findall('group') if group.get('name') in wanted
        for joint in group.findall('joint')
    ]
