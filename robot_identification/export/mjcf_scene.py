# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A MuJoCo scene as it is written: its files, and their elements as one tree."""

from dataclasses import dataclass
import os
from pathlib import Path
from typing import Any

from robot_identification.errors import DescriptionError
from robot_identification.export.xml_editor import XmlEditor
from robot_identification.files import read_text


@dataclass(eq=False)
class Scene:
    """The files of a scene, the one that was named first, and their elements as one tree."""

    editors: dict[Path, XmlEditor]
    root: Any  # of lxml; what a file includes stands where it is included

    def joints(self) -> dict[str, Any]:
        """Return the joints in the tree of bodies by name; others are of classes."""
        return {
            name: joint for joint in self.root.iter('joint')
            if (name := joint.get('name'))
            and next(joint.iterancestors('body'), None) is not None
        }

    def editor_of(self, element: Any) -> XmlEditor:
        """Return the editor of the file in which an element stands."""
        return next(editor for editor in self.editors.values() if element in editor.places)


def read_scene(path: Path) -> Scene:
    """Return a scene with its includes; raises UsageError or DescriptionError for a bad file."""
    editors: dict[Path, XmlEditor] = {}
    root = _read(path, editors)
    if root.tag != 'mujoco':
        raise DescriptionError(
            f'{path} is no MJCF model: its root element is <{root.tag:.40}> and must be <mujoco>'
        )
    return Scene(editors, root)


def _read(path: Path, editors: dict[Path, XmlEditor]) -> Any:
    """Return the root element of a file, with what it includes in the place of its includes."""
    read_text(path)  # Says what is wrong with the file.
    if any(path.samefile(known) for known in editors):
        raise DescriptionError(
            f'{path} is included more than once: MuJoCo takes a file once; take out one <include>'
        )
    editors[path] = XmlEditor(path.read_bytes(), str(path), 'an MJCF model')
    root = editors[path].root
    for include in list(root.iterdescendants('include')):
        included = _read(_included_path(include, path, next(iter(editors))), editors)
        parent = include.getparent()
        at = parent.index(include)
        parent[at: at + 1] = list(included)
    return root


def _included_path(include: Any, file: Path, first: Path) -> Path:
    """Return where an included file is: beside the scene, else beside what includes it."""
    name = include.get('file', '')
    for folder in (first.parent, file.parent):
        path = Path(os.path.normpath(folder / name))
        if name and path.is_file():
            return path
    raise DescriptionError(
        f'{file} includes {name!r:.200}, which is no file in the folder of {first}: name the '
        'scene that MuJoCo reads'
    )
