# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""XML files as lxml reads them, in which single elements change and all else stays as written."""

import codecs
from collections.abc import Collection, Mapping
from dataclasses import dataclass
import os
from pathlib import Path
import re
from typing import Any

from lxml import etree
from robot_identification.errors import DescriptionError
from robot_identification.files import read_text

# Start and end tags; comments and the like, in which a tag is none.
_MARKUP = re.compile(
    rb'<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>'
    rb'|<[^<>"\']*(?:"[^"]*"[^<>"\']*|\'[^\']*\'[^<>"\']*)*>', re.DOTALL,
)
# An attribute of a start tag with the blanks before it; its name, and its value in quotes.
_ATTRIBUTE = re.compile(rb'\s+([^\s=/>"\']+)\s*=\s*("[^"]*"|\'[^\']*\')')


def parse_xml(data: bytes, source: str, kind: str) -> Any:
    """
    Return the root element of a text in UTF-8; `kind` is what it should be, as 'a URDF'.

    Nothing outside the text is read. Raises DescriptionError if it is no XML, or has a DOCTYPE.
    """
    # What an XML declaration says of the encoding does not count, as where text is read.
    parser = etree.XMLParser(
        encoding='utf-8', resolve_entities=False, no_network=True, load_dtd=False
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise DescriptionError(f'{source} is not {kind} that parses: {error.msg}') from error
    doctype = root.getroottree().docinfo.doctype
    if doctype:
        raise DescriptionError(
            f'{source} is not {kind} that parses: it has {doctype:.80}, and entities are not '
            'read; remove it'
        )
    return root


def xml_text(root: Any) -> str:
    """Return a new tree as text, one element a line."""
    etree.indent(root)
    return f'{etree.tostring(root, encoding="unicode")}\n'


def comment_text(text: str) -> str:
    """Return what stands in a comment: XML allows no double hyphen, and names may have them."""
    return re.sub('-+', '-', f' {text} ')


class XmlEditor:
    """Changes single elements of an XML text in UTF-8, in the style in which it is written."""

    def __init__(self, data: bytes, source: str, kind: str) -> None:
        self.data = data
        self.root = parse_xml(data, source, kind)
        # Begin and end of the tags of an element, or of a comment: lxml knows lines, not bytes.
        # The elements are kept here: lxml makes others else.
        self.places: dict[Any, list[tuple[int, int]]] = {}
        self._edits: list[tuple[int, int, bytes]] = []  # begin, end, and what comes there
        self._find_places()
        self._newline = b'\r\n' if b'\r\n' in data else b'\n'
        self._end_of_tag = ' />' if 2 * data.count(b' />') > data.count(b'/>') else '/>'
        # By how much an element is indented more than the one around it.
        inner = next((self._indent(child) for child in self.root), None) or b''
        self._unit = inner.removeprefix(self._indent(self.root) or b'').decode() or '  '

    def _find_places(self) -> None:
        """Find the place of every element and comment: both have the order of the text."""
        nodes, around = self.root.iter(), list[Any]()
        for match in _MARKUP.finditer(self.data):
            markup = match[0]
            if markup.startswith(b'</'):
                self.places[around.pop()].append(match.span())
            elif markup.startswith((b'<!--', b'<?')):
                if around:
                    self.places[next(nodes)] = [match.span()]
            elif not markup.startswith(b'<!'):
                node = next(nodes)
                self.places[node] = [match.span()]
                if not markup.endswith(b'/>'):
                    around.append(node)

    def _indent(self, element: Any) -> bytes | None:
        """Return the blanks before an element, None where it does not begin its line."""
        begin = self.places[element][0][0]
        line = self.data.rfind(b'\n', 0, begin) + 1
        before = self.data[line: begin].removeprefix(codecs.BOM_UTF8)
        return None if before.strip(b' \t') else before

    def _quote(self, element: Any) -> str:
        tag = self.data[slice(*self.places[element][0])]
        return "'" if tag.count(b"'") > tag.count(b'"') else '"'

    def set_attributes(
        self, element: Any, values: Mapping[str, str], instead_of: Collection[str] = ()
    ) -> None:
        """
        Give an element attributes, and leave all others of its start tag as they are written.

        New ones stand after the last; those of `instead_of` are taken out.
        """
        begin, end = self.places[element][0]
        last, left = begin + len(element.tag) + 1, dict(values)
        for match in _ATTRIBUTE.finditer(self.data, last, end):
            name, last = match[1].decode(), match.end()
            if name in instead_of:
                self._edits.append((match.start(), last, b''))
            elif name in left and left[name] != element.get(name):
                self._edits.append((match.start(2) + 1, last - 1, left[name].encode()))
            left.pop(name, None)
        mark = self._quote(element)
        new = ''.join(f' {name}={mark}{value}{mark}' for name, value in left.items())
        self._edits.append((last, last, new.encode()))

    def insert(self, into: Any, new: Any, *, last: bool = False) -> None:
        """Put a new element or comment first into another one, or last."""
        (begin, end), (end_tag, _) = self.places[into][0], self.places[into][-1]
        indent, before_end = self._indent(into), b''
        inside = [child for child in into if child in self.places]  # others are of other files
        if inside:
            indent = self._indent(inside[-1 if last else 0])
        elif indent is not None:
            if b'\n' not in self.data[end: end_tag]:
                before_end = self._newline + indent
            indent += self._unit.encode()
        text = b'' if indent is None else self._newline + indent
        text += self._written(new, into, indent) + before_end
        if begin == end_tag:  # it closes itself, and has to open
            tag = self.data[begin: end].removesuffix(b'/>').rstrip()
            text = b'>' + text + f'</{into.tag}>'.encode()
            self._edits.append((begin + len(tag), end, text))
        else:
            at = self.places[inside[-1]][-1][1] if last and inside else end
            self._edits.append((at, at, text))

    def replace(self, old: Any, new: Any) -> None:
        """Put a new element or comment in the place of another one."""
        begin, end = self.places[old][0][0], self.places[old][-1][1]
        self._edits.append((begin, end, self._written(new, old, self._indent(old))))

    def _written(self, new: Any, like: Any, indent: bytes | None) -> bytes:
        """Return the text of a new element in the style of another one, on lines or on one."""
        if new.tag is etree.Comment:
            return bytes(etree.tostring(new, encoding='utf-8'))
        if indent is not None:
            etree.indent(new, self._unit)
        text = etree.tostring(new, encoding='unicode').replace('"', self._quote(like))
        text = text.replace('/>', self._end_of_tag)
        return bytes(text.encode().replace(b'\n', self._newline + (indent or b'')))

    def result(self) -> bytes:
        """Return the text with all changes."""
        parts, position = [], 0
        for begin, end, text in sorted(self._edits, key=lambda edit: edit[:2]):
            parts += [self.data[position: begin], text]
            position = end
        return b''.join([*parts, self.data[position:]])


@dataclass(eq=False)
class Scene:
    """The files of a MuJoCo scene, the named one first, and their elements as one tree."""

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
