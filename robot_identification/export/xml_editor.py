# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""An XML text as lxml reads it, in which single elements change and all else stays as written."""

import codecs
from collections.abc import Collection, Mapping
import re
from typing import Any

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


class XmlEditor:
    """Changes single elements of an XML text in UTF-8, in the style in which it is written."""

    def __init__(self, data: bytes, source: str, kind: str) -> None:
        self.data = data
        self.root = parse_xml(data, source, kind)
        # Texts, and at odd places the markup between them.
        self._tokens = [b'']
        # First and last token of an element or a comment: lxml knows lines, not bytes. The
        # elements are kept here: lxml makes others else.
        self.places: dict[Any, tuple[int, int]] = {}
        self._find_places()
        self._added = [b''] * len(self._tokens)  # what comes after each token
        self._newline = b'\r\n' if b'\r\n' in data else b'\n'
        self._unit = self._find_unit()
        self._end_of_tag = ' />' if 2 * data.count(b' />') > data.count(b'/>') else '/>'

    def _find_places(self) -> None:
        """Find the place of every element and comment: both have the order of the text."""
        nodes, around, position = self.root.iter(), list[tuple[Any, int]](), 0
        for match in _MARKUP.finditer(self.data):
            markup, number = match[0], len(self._tokens)
            self._tokens[-1] = self.data[position: match.start()]
            self._tokens += [markup, b'']
            position = match.end()
            if markup.startswith(b'</'):
                node, first = around.pop()
                self.places[node] = first, number
            elif markup.startswith((b'<!--', b'<?')):
                if around:
                    self.places[next(nodes)] = number, number
            elif markup.endswith(b'/>'):
                self.places[next(nodes)] = number, number
            elif not markup.startswith(b'<!'):
                around.append((next(nodes), number))
        self._tokens[-1] = self.data[position:]

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
        first, _ = self.places[element]
        _, newline, before = self._tokens[first - 1].rpartition(b'\n')
        before = before.removeprefix(codecs.BOM_UTF8)
        return None if before.strip(b' \t') or not (newline or first == 1) else before

    def set_attributes(
        self, element: Any, values: Mapping[str, str], instead_of: Collection[str] = ()
    ) -> None:
        """
        Give an element attributes, and leave all others of its start tag as they are written.

        New ones stand after the last; those of `instead_of` are taken out.
        """
        first, _ = self.places[element]
        tag, left = self._tokens[first], dict(values)
        # The name, and where an attribute ended, with what became of it.
        end = len(element.tag) + 1
        parts = [tag[:end]]
        for match in _ATTRIBUTE.finditer(tag, end):
            name, end = match[1].decode(), match.end()
            if name in left and left[name] != element.get(name):
                parts.append(tag[match.start(): match.start(2) + 1])
                parts.append(left[name].encode() + tag[end - 1: end])
            elif name not in instead_of:
                parts.append(match[0])
            left.pop(name, None)
        mark = self._quote(element)
        parts += [f' {name}={mark}{value}{mark}'.encode() for name, value in left.items()]
        self._tokens[first] = b''.join([*parts, tag[end:]])

    def _quote(self, element: Any) -> str:
        tag = self._tokens[self.places[element][0]]
        return "'" if tag.count(b"'") > tag.count(b'"') else '"'

    def insert(self, into: Any, new: Any, *, last: bool = False) -> None:
        """Put a new element or comment first into another one, or last."""
        (first, end), indent, before_end = self.places[into], self._indent(into), b''
        inside = [child for child in into if child in self.places]  # others are of other files
        if inside:
            indent = self._indent(inside[-1 if last else 0])
        elif indent is not None:
            if b'\n' not in b''.join(self._tokens[first + 1: end]):
                before_end = self._newline + indent
            indent += self._unit.encode()
        text = b'' if indent is None else self._newline + indent
        text += self._written(new, into, indent) + before_end
        if first == end:  # it closes itself, and has to open
            self._tokens[first] = self._tokens[first].removesuffix(b'/>').rstrip() + b'>'
            text += f'</{into.tag}>'.encode()
        self._added[self.places[inside[-1]][1] if last and inside else first] += text

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
        first, end = self.places[old]
        text = self._written(new, old, self._indent(old))
        self._tokens[first: end + 1] = [text, *[b''] * (end - first)]

    def result(self) -> bytes:
        """Return the text with all changes."""
        return b''.join(
            part for pair in zip(self._tokens, self._added, strict=True) for part in pair
        )
