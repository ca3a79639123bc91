# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Positions of the elements of an XML text in bytes, so that one can be changed alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
import re
from typing import NoReturn
from xml.parsers import expat

from robot_identification.errors import DescriptionError

COMMENT = '#comment'
BYTE_ORDER_MARK = b'\xef\xbb\xbf'
# A start tag; what stands between quotes may be anything.
_TAG = re.compile(rb'<[^"\'>]*(?:"[^"]*"[^"\'>]*|\'[^\']*\'[^"\'>]*)*>')
# An attribute of a start tag with the blanks before it; its name, and its value in quotes.
_ATTRIBUTE = re.compile(rb'\s+([^\s=/>"\']+)\s*=\s*("[^"]*"|\'[^\']*\')')
_END_OF_COMMENT = b'-->'
# What is said of a text that is no XML.
URDF = 'not a URDF that parses'
MJCF = 'not an MJCF model that parses'


@dataclass(frozen=True, eq=False)
class XmlSpan:
    """An element, or a comment, as a part of the bytes."""

    # Name of the element, with its namespace and a space before it if it has one; or `COMMENT`.
    tag: str
    name: str  # its attribute `name`; empty without one
    # First byte, and the one after the last.
    start: int
    end: int
    # The byte after the start tag, and the first one of the end tag; both are `end` where one tag
    # is all there is.
    opened: int
    closed: int
    children: list[XmlSpan] = field(default_factory=list)  # elements and comments within, in order
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def is_one_tag(self) -> bool:
        """Return whether the element is empty and closes itself."""
        return self.opened == self.end

    def find(self, tag: str) -> XmlSpan | None:
        """Return the first child with a tag."""
        return next((child for child in self.children if child.tag == tag), None)


class _SpanReader:
    """Receives the parser's events, and where they are."""

    def __init__(self, data: bytes, source: str, kind: str) -> None:
        self._data, self._source, self._kind = data, source, kind
        self._open: list[tuple[str, dict[str, str], int, list[XmlSpan]]] = []
        self._root: XmlSpan | None = None
        # As text is read elsewhere: what an XML declaration says of the encoding does not count.
        self._parser = expat.ParserCreate('UTF-8', ' ')
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CommentHandler = self._comment
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.EntityDeclHandler = self._refuse

    def read(self) -> XmlSpan:
        try:
            self._parser.Parse(self._data, True)
        except expat.ExpatError as error:
            raise DescriptionError(f'{self._source} is {self._kind}: {error}') from error
        if self._root is None:
            raise DescriptionError(f'{self._source} is {self._kind}: it is empty')
        return self._root

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._open.append((tag, attributes, self._parser.CurrentByteIndex, []))

    def _end(self, _: str) -> None:
        tag, attributes, start, children = self._open.pop()
        match = _TAG.match(self._data, start)
        opened = start if match is None else match.end()
        if self._data[opened - 2: opened] == b'/>':
            closed = end = opened
        else:
            closed = self._parser.CurrentByteIndex
            end = self._data.index(b'>', closed) + 1
        name = attributes.get('name', '')
        self._keep(XmlSpan(tag, name, start, end, opened, closed, children, attributes))

    def _comment(self, _: str) -> None:
        start = self._parser.CurrentByteIndex
        end = self._data.index(_END_OF_COMMENT, start) + len(_END_OF_COMMENT)
        if self._open:
            self._keep(XmlSpan(COMMENT, '', start, end, end, end))

    def _keep(self, span: XmlSpan) -> None:
        if self._open:
            self._open[-1][-1].append(span)
        else:
            self._root = span

    def _refuse(self, name: str, *_: object) -> NoReturn:
        raise DescriptionError(
            f'{self._source} is {self._kind}: it has a DOCTYPE or entity {name!r:.80}, '
            'and entities are not read; remove it'
        )


def find_spans(data: bytes, source: str, kind: str = URDF) -> XmlSpan:
    """Return the root element of an XML text; `kind` says in errors what it should have been."""
    return _SpanReader(data, source, kind).read()


def comment_text(text: str) -> str:
    """Return what stands in a comment: XML allows no double hyphen, and names may have them."""
    return re.sub('-+', '-', f' {text} ')


class XmlEditor:
    """Changes single elements of an XML text in UTF-8, in the style in which it is written."""

    def __init__(self, data: bytes, source: str, kind: str = URDF) -> None:
        self._data = data
        self.root = find_spans(data, source, kind)
        self._changes: list[tuple[int, int, bytes]] = []
        self._newline = b'\r\n' if b'\r\n' in data else b'\n'
        self._unit = self._find_unit()
        end_with_space = 2 * data.count(b' />') > data.count(b'/>')
        self._end_of_tag = ' />' if end_with_space else '/>'

    def _find_unit(self) -> bytes:
        """Return by how much an element is indented more than the one around it."""
        for around in (*self.root.children, self.root):
            outer = self._indent(around)
            for child in around.children:
                inner = self._indent(child)
                if outer is not None and inner is not None and inner.startswith(outer):
                    if inner != outer:
                        return inner.removeprefix(outer)
        return b'  '

    def _indent(self, span: XmlSpan) -> bytes | None:
        """Return the blanks before an element, None where it does not begin its line."""
        line = self._data.rfind(b'\n', 0, span.start) + 1
        before = self._data[line: span.start]
        if line == 0:
            before = before.removeprefix(BYTE_ORDER_MARK)
        return None if before.strip(b' \t') else before

    def tag(self, name: str, like: XmlSpan, **attributes: str) -> str:
        """Return an empty element, quoted like the first tag of another one."""
        mark = self._quote(like)
        inside = ''.join(f' {key}={mark}{value}{mark}' for key, value in attributes.items())
        return f'<{name}{inside}{self._end_of_tag}'

    def _quote(self, span: XmlSpan) -> str:
        first_tag = self._data[span.start: span.opened]
        return "'" if first_tag.count(b"'") > first_tag.count(b'"') else '"'

    def replace(self, old: XmlSpan, name: str, children: list[str]) -> None:
        """Put an element with such children in the place of another one, on as many lines."""
        around = self._indent(old)
        inner = next(iter(map(self._indent, old.children)), None)
        if around is None or (inner is None and not old.is_one_tag):
            text = self._one_line(name, children)
        else:
            text = self._lines(name, children, around, inner)
        self._changes.append((old.start, old.end, text))

    def replace_tag(self, old: XmlSpan, tag: str) -> None:
        """Put an empty element, or a comment, in the place of another one."""
        self._changes.append((old.start, old.end, tag.encode()))

    def set_attributes(
        self, span: XmlSpan, values: dict[str, str], instead_of: tuple[str, ...] = ()
    ) -> None:
        """
        Give an element attributes, and leave all others of its start tag as they are written.

        New ones stand after the last; those of `instead_of` are taken out.
        """
        left = dict(values)
        end = span.start + 1 + len(span.tag.encode())
        for match in _ATTRIBUTE.finditer(self._data, end, span.opened):
            name, end = match[1].decode(), match.end()
            if name in instead_of:
                self._changes.append((match.start(), match.end(), b''))
            elif name in left:
                quote = match[2][:1]
                value = quote + left.pop(name).encode() + quote
                if value != match[2]:
                    self._changes.append((match.start(2), match.end(2), value))
        mark = self._quote(span)
        text = ''.join(f' {name}={mark}{value}{mark}' for name, value in left.items())
        self._changes.append((end, end, text.encode()))

    def remove(self, old: XmlSpan) -> None:
        """Take an element out, with its line if it has one of its own."""
        start, indent = old.start, self._indent(old)
        if indent is not None:
            start -= len(indent) + 1
            start -= self._data[start - 1: start + 1] == b'\r\n'
        self._changes.append((max(start, 0), old.end, b''))

    def insert(self, into: XmlSpan, name: str, children: list[str]) -> None:
        """Put an element with such children first into another one."""
        self._insert(into, self._one_line(name, children), lambda indent: self._lines(
            name, children, indent, None
        ))

    def insert_tag(self, into: XmlSpan, tag: str) -> None:
        """Put an empty element first into another one."""
        self._insert(into, tag.encode(), lambda indent: tag.encode())

    def _insert(self, into: XmlSpan, one_line: bytes, lines: Callable[[bytes], bytes]) -> None:
        """Put an element first into another one, on lines of its own where others are."""
        outer = self._indent(into)
        inner = next(iter(map(self._indent, into.children)), None)
        if outer is None or (into.children and inner is None):
            self._open(into, one_line, b'')
            return
        indent = outer + self._unit if inner is None else inner
        self._open(into, self._newline + indent + lines(indent), self._newline + outer)

    def _open(self, into: XmlSpan, text: bytes, before_end: bytes) -> None:
        """Put a text first into an element, which may close itself or hold nothing."""
        if into.is_one_tag:
            tag = self._data[into.start: into.end].removesuffix(b'/>').rstrip() + b'>'
            closing = f'</{into.tag}>'.encode()
            self._changes.append((into.start, into.end, tag + text + before_end + closing))
            return
        holds_lines = b'\n' in self._data[into.opened: into.closed] or into.children
        self._changes.append(
            (into.opened, into.opened, text + (b'' if holds_lines else before_end))
        )

    def append_tag(self, into: XmlSpan, tag: str) -> None:
        """Put an empty element after the last child of another one."""
        last = into.children[-1]
        indent = self._indent(last)
        start = b'' if indent is None else self._newline + indent
        self._changes.append((last.end, last.end, start + tag.encode()))

    def insert_comment(self, comment: str) -> None:
        """Put a comment first into the root element."""
        indent = next(iter(map(self._indent, self.root.children)), None)
        start = b'' if indent is None else self._newline + indent
        self._changes.append((self.root.opened, self.root.opened, start + comment.encode()))

    def _one_line(self, name: str, children: list[str]) -> bytes:
        return f'<{name}>{"".join(children)}</{name}>'.encode()

    def _lines(
        self, name: str, children: list[str], around: bytes, inner: bytes | None
    ) -> bytes:
        inside = self._newline + (around + self._unit if inner is None else inner)
        body = b''.join(inside + child.encode() for child in children)
        return f'<{name}>'.encode() + body + self._newline + around + f'</{name}>'.encode()

    def result(self) -> bytes:
        """Return the text with all changes."""
        parts, position = [], 0
        for start, end, text in sorted(self._changes, key=lambda change: change[:2]):
            parts += [self._data[position: start], text]
            position = end
        return b''.join([*parts, self._data[position:]])
