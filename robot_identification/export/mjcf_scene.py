# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A MuJoCo scene as it is written: its files, their elements as one tree, and their classes."""

from dataclasses import dataclass
import os
from pathlib import Path
from typing import Any

from robot_identification.errors import DescriptionError
from robot_identification.export.xml_editor import XmlEditor
from robot_identification.files import read_text

# Name of the class of everything that names no other.
MAIN_CLASS = 'main'


@dataclass(eq=False)
class Scene:
    """The files of a scene, the one that was named first, and their elements as one tree."""

    editors: dict[Path, XmlEditor]
    root: Any  # of lxml; what a file includes stands where it is included

    def joint(self, name: str) -> Any:
        """Return the joint of a name in the tree of bodies; None if there is none."""
        return next((joint for joint in self.joints() if joint.get('name') == name), None)

    def joints(self) -> list[Any]:
        """Return the joints in the tree of bodies; others are of classes."""
        return [
            joint for joint in self.root.iter('joint')
            if next(joint.iterancestors('body'), None) is not None
        ]

    def editor_of(self, element: Any) -> XmlEditor:
        """Return the editor of the file in which an element stands."""
        return next(editor for editor in self.editors.values() if element in editor.places)

    def default_of(self, element: Any, attribute: str) -> tuple[str, str] | None:
        """
        Return the class that gives an element an attribute, and the value; None without one.

        An element takes the class that it names, else the `childclass` around it, else that of
        all; a class takes what it does not say from the one around it.
        """
        around = (outer.get('childclass') for outer in element.iterancestors())
        name = element.get('class') or next(filter(None, around), MAIN_CLASS)
        while True:
            classes = [
                default for default in self.root.iter('default')
                if default.get('class', MAIN_CLASS) == name
            ]
            for default in classes:
                for child in default.iterchildren(element.tag, reversed=True):
                    if attribute in child.attrib:
                        return name, child.get(attribute)
            outer = classes[0].getparent() if classes else None
            if outer is None or outer.tag != 'default':
                return None
            name = outer.get('class', MAIN_CLASS)


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
