# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The links and joints of a description that matter to the joints of an arm."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import defusedxml.ElementTree


@dataclass(frozen=True)
class Reach:
    """Names by their place relative to the joints of an arm."""

    carried_links: frozenset[str]  # links that one of them moves
    carried_joints: frozenset[str]  # joints that one of them moves
    supporting_joints: frozenset[str]  # joints between the root and one of them, both included


def reach_of_joints(text: str, joints: Iterable[str]) -> Reach:
    """Return what joints of a checked URDF text carry and stand on; unknown ones carry nothing."""
    root: Any = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    parent_of: dict[str, str] = {}
    child_of: dict[str, str] = {}
    for joint in root.findall('joint'):
        name = str(joint.get('name'))
        parent_of[name] = str(joint.find('parent').get('link'))
        child_of[name] = str(joint.find('child').get('link'))
    on_link: dict[str, list[str]] = {}
    for name, link in parent_of.items():
        on_link.setdefault(link, []).append(name)
    above = {child: name for name, child in child_of.items()}
    wanted = [name for name in joints if name in child_of]
    carried_links = {child_of[name] for name in wanted}
    carried_joints: set[str] = set()
    new = list(carried_links)
    while new:
        after = [name for link in new for name in on_link.get(link, [])]
        carried_joints.update(after)
        new = [child_of[name] for name in after if child_of[name] not in carried_links]
        carried_links.update(new)
    supporting: set[str] = set()
    for wanted_joint in wanted:
        place: str | None = wanted_joint
        while place is not None and place not in supporting:
            supporting.add(place)
            place = above.get(parent_of[place])
    return Reach(frozenset(carried_links), frozenset(carried_joints), frozenset(supporting))
