# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""An XML text as lxml reads it, in which single elements change and all else stays as written."""

import codecs
from collections.abc import Collection, Mapping
import re
from typing import Any, NamedTuple

from lxml import etree
from robot_identification.errors import DescriptionError

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


class _Place(NamedTuple):
    """Place of an element or a comment in the bytes."""

    # Its first byte; the byte after its start tag, or after itself where one tag is all there is;
    # the first of its end tag; and the one after itself.
    start: int
    opened: int
    closed: int
    end: int


class XmlEditor:
    """Changes single elements of an XML text in UTF-8, in the style in which it is written."""

    def __init__(self, data: bytes, source: str, kind: str) -> None:
        self.data = data
        self.root = parse_xml(data, source, kind)
        # lxml knows lines, not bytes. The elements are kept here: lxml makes others else.
        self.places: dict[Any, _Place] = self._find_places()
        self._changes: list[tuple[int, int, bytes]] = []
        self._newline = b'\r\n' if b'\r\n' in data else b'\n'
        self._unit = self._find_unit()
        self._end_of_tag = ' />' if 2 * data.count(b' />') > data.count(b'/>') else '/>'

    def _find_places(self) -> dict[Any, _Place]:
        """Return the place of every element and comment: both have the order of the text."""
        places, nodes, around = {}, self.root.iter(), list[tuple[Any, int, int]]()
        for match in _MARKUP.finditer(self.data):
            text, (start, end) = match[0], match.span()
            if text.startswith(b'</'):
                node, first, opened = around.pop()
                places[node] = _Place(first, opened, start, end)
            elif text.startswith((b'<!--', b'<?')):
                if around:
                    places[next(nodes)] = _Place(start, end, end, end)
            elif text.endswith(b'/>'):
                places[next(nodes)] = _Place(start, end, end, end)
            elif not text.startswith(b'<!'):
                around.append((next(nodes), start, end))
        return places

    def _find_unit(self) -> str:
        """Return by how much an element is indented more than the one around it."""
        for around in (*self.root, self.root):
            outer = self._indent(around)
            for child in around:
                inner = self._indent(child)
                if outer is not None and inner is not None and inner.startswith(outer):
                    if inner != outer:
                        return inner.removeprefix(outer).decode()
        return '  '

    def _indent(self, element: Any) -> bytes | None:
        """Return the blanks before an element, None where it does not begin its line."""
        start = self.places[element].start
        before = self.data[self.data.rfind(b'\n', 0, start) + 1: start]
        before = before.removeprefix(codecs.BOM_UTF8)
        return None if before.strip(b' \t') else before

    def set_attributes(
        self, element: Any, values: Mapping[str, str], instead_of: Collection[str] = ()
    ) -> None:
        """
        Give an element attributes, and leave all others of its start tag as they are written.

        New ones stand after the last; those of `instead_of` are taken out.
        """
        place, left = self.places[element], dict(values)
        last = self.data.index(element.tag.encode(), place.start) + len(element.tag.encode())
        for match in _ATTRIBUTE.finditer(self.data, last, place.opened):
            name, last = match[1].decode(), match.end()
            if name in instead_of:
                self._changes.append((*match.span(), b''))
            elif name in left:
                value = left.pop(name)
                if value != element.get(name):
                    self._changes.append((match.start(2) + 1, last - 1, value.encode()))
        mark = self._quote(element)
        new = ''.join(f' {name}={mark}{value}{mark}' for name, value in left.items())
        self._changes.append((last, last, new.encode()))

    def _quote(self, element: Any) -> str:
        place = self.places[element]
        tag = self.data[place.start: place.opened]
        return "'" if tag.count(b"'") > tag.count(b'"') else '"'

    def insert(self, into: Any, new: Any, *, last: bool = False) -> None:
        """Put a new element or comment first into another one, or last."""
        place, indent, before_end = self.places[into], self._indent(into), b''
        inside = [child for child in into if child in self.places]  # others are of other files
        if inside:
            indent = self._indent(inside[-1 if last else 0])
        elif indent is not None:
            if b'\n' not in self.data[place.opened: place.closed]:
                before_end = self._newline + indent
            indent += self._unit.encode()
        text = b'' if indent is None else self._newline + indent
        text += self._written(new, into, indent)
        if place.opened == place.end:  # it closes itself, and has to open
            tag = self.data[place.start: place.end].removesuffix(b'/>').rstrip()
            self._changes.append((
                place.start, place.end,
                tag + b'>' + text + before_end + f'</{into.tag}>'.encode(),
            ))
            return
        at = self.places[inside[-1]].end if last and inside else place.opened
        self._changes.append((at, at, text + before_end))

    def _written(self, new: Any, like: Any, indent: bytes | None) -> bytes:
        """Return the text of a new element in the style of another one, on lines or on one."""
        text: str
        if new.tag is etree.Comment:
            text = etree.tostring(new, encoding='unicode')
            return text.encode()
        if indent is not None:
            etree.indent(new, self._unit)
        text = etree.tostring(new, encoding='unicode').replace('"', self._quote(like))
        text = text.replace('/>', self._end_of_tag)
        return text.encode().replace(b'\n', self._newline + (indent or b''))

    def replace(self, old: Any, new: Any) -> None:
        """Put a new element or comment in the place of another one."""
        place = self.places[old]
        text = self._written(new, old, self._indent(old))
        self._changes.append((place.start, place.end, text))

    def result(self) -> bytes:
        """Return the text with all changes."""
        parts, position = [], 0
        for start, end, text in sorted(self._changes, key=lambda change: change[:2]):
            parts += [self.data[position: start], text]
            position = end
        return b''.join([*parts, self.data[position:]])
