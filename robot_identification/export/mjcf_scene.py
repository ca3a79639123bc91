# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A MuJoCo scene as it is written: its files, the elements in them, and their classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
import os
from pathlib import Path

from robot_identification.errors import DescriptionError
from robot_identification.export.xml_editor import COMMENT, MJCF, XmlEditor, XmlSpan
from robot_identification.files import read_text

INCLUDE = 'include'
# Name of the class of everything that names no other.
MAIN_CLASS = 'main'
# Chosen: far above any scene, and an end to files that include one another by other names.
MOST_FILES = 200


@dataclass(eq=False)
class SceneFile:
    """One XML file of a scene."""

    path: Path
    data: bytes
    editor: XmlEditor


@dataclass(eq=False)
class Element:
    """An element of a scene, where includes are what they include."""

    span: XmlSpan
    file: SceneFile
    parent: Element | None
    children: list[Element] = field(default_factory=list)

    @property
    def tag(self) -> str:
        """Return the name of the element."""
        return self.span.tag

    @property
    def attributes(self) -> dict[str, str]:
        """Return the attributes as they are written."""
        return self.span.attributes

    def walk(self) -> Iterator[Element]:
        """Yield the element and all within, in the order of the text."""
        yield self
        for child in self.children:
            yield from child.walk()

    def around(self) -> Iterator[Element]:
        """Yield what the element stands in, from the inside out."""
        if self.parent is not None:
            yield self.parent
            yield from self.parent.around()


@dataclass(eq=False)
class Scene:
    """The files of a scene, the one that was named first, and their elements as one tree."""

    files: list[SceneFile]
    root: Element
    # Elements <default> by the name of their class.
    classes: dict[str, list[Element]]

    def joint(self, name: str) -> Element | None:
        """Return the joint of a name in the tree of bodies."""
        return next((
            element for element in self.root.walk()
            if element.tag == 'joint' and element.attributes.get('name') == name
            and any(outer.tag == 'body' for outer in element.around())
        ), None)

    def default_of(self, element: Element, attribute: str) -> tuple[str, str] | None:
        """
        Return the class that gives an element an attribute, and the value; None without one.

        An element takes the class that it names, else the `childclass` around it, else that of
        all; a class takes what it does not say from the one around it.
        """
        name = element.attributes.get('class') or next((
            outer.attributes['childclass'] for outer in element.around()
            if 'childclass' in outer.attributes
        ), MAIN_CLASS)
        while True:
            for default in self.classes.get(name, []):
                for child in reversed(default.children):
                    if child.tag == element.tag and attribute in child.attributes:
                        return name, child.attributes[attribute]
            outer = self.classes[name][0].parent if name in self.classes else None
            if outer is None or outer.tag != 'default':
                return None
            name = outer.attributes.get('class', MAIN_CLASS)


def read_scene(path: Path) -> Scene:
    """Return a scene with its includes; raises UsageError or DescriptionError for a bad file."""
    files: list[SceneFile] = []
    first = _read(path, files)
    if first.editor.root.tag != 'mujoco':
        raise DescriptionError(
            f'{path} is no MJCF model: its root element is <{first.editor.root.tag:.40}> and must '
            'be <mujoco>'
        )
    root = Element(first.editor.root, first, None)
    _grow(root, files)
    classes: dict[str, list[Element]] = {}
    for element in root.walk():
        if element.tag == 'default':
            classes.setdefault(element.attributes.get('class', MAIN_CLASS), []).append(element)
    return Scene(files, root, classes)


def _read(path: Path, files: list[SceneFile]) -> SceneFile:
    read_text(path)  # Says what is wrong with the file.
    if len(files) >= MOST_FILES or any(path.samefile(known.path) for known in files):
        raise DescriptionError(
            f'{path} is included more than once: MuJoCo takes a file once; take out one <include>'
        )
    data = path.read_bytes()
    file = SceneFile(path, data, XmlEditor(data, str(path), MJCF))
    files.append(file)
    return file


def _grow(element: Element, files: list[SceneFile]) -> None:
    """Fill in the children of an element; those of an included file stand for its include."""
    for span in element.span.children:
        if span.tag == COMMENT:
            continue
        if span.tag != INCLUDE:
            child = Element(span, element.file, element)
            element.children.append(child)
            _grow(child, files)
            continue
        included = _read(_included_path(span, element.file, files[0]), files)
        inner = Element(included.editor.root, included, None)
        _grow(inner, files)
        for child in inner.children:
            child.parent = element
        element.children += inner.children


def _included_path(span: XmlSpan, file: SceneFile, first: SceneFile) -> Path:
    """Return where an included file is: beside the scene, else beside what includes it."""
    name = span.attributes.get('file', '')
    for folder in (first.path.parent, file.path.parent):
        path = Path(os.path.normpath(folder / name))
        if name and path.is_file():
            return path
    raise DescriptionError(
        f'{file.path} includes {name!r:.200}, which is no file beside {first.path}: name the '
        'scene that MuJoCo reads'
    )
