# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""XML of robots from files and topics: nothing in it makes the parser read, grow or recurse."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder
from xml.parsers.expat import errors

from defusedxml import DefusedXmlException, DTDForbidden
import defusedxml.ElementTree
from robot_identification.errors import DescriptionError
from robot_identification.model.xacro import MAXIMUM_URDF_CHARACTERS

_UNBOUND_PREFIX = errors.codes[errors.XML_ERROR_UNBOUND_PREFIX]
_PREFIX = re.compile(r'[<\s]([A-Za-z_][\w.-]*):[A-Za-z_]', re.ASCII)
_DECLARED = re.compile(r'xmlns:([\w.-]+)\s*=', re.ASCII)
_ROOT = re.compile(r'<robot\b')
MAXIMUM_DEPTH = 100  # levels of elements, chosen: far more than any URDF has


class _ShallowTreeBuilder(TreeBuilder):
    """Builds a tree that is not deep: what walks over trees later does so by recursion."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self._source = source
        self._depth = 0

    def start(self, tag: str, attributes: dict[str, str], /) -> Element:
        self._depth += 1
        if self._depth > MAXIMUM_DEPTH:
            raise DescriptionError(
                f'{self._source}: element <{tag:.80}> is nested more than the {MAXIMUM_DEPTH} '
                'levels allowed; links and joints stand side by side in a URDF'
            )
        return super().start(tag, attributes)

    def end(self, tag: str, /) -> Element:
        self._depth -= 1
        return super().end(tag)


def _parse(text: str, source: str) -> Element:
    parser: Any = defusedxml.ElementTree.DefusedXMLParser(
        target=_ShallowTreeBuilder(source), forbid_dtd=True
    )
    try:
        parser.feed(text)
        root: Element = parser.close()
    except ParseError as error:
        declared = _declare_prefixes(text)
        if error.code != _UNBOUND_PREFIX or declared == text:
            raise
        return _parse(declared, source)
    return root


def _declare_prefixes(text: str) -> str:
    """Return a text whose root declares every prefix of its elements, as URDF parsers assume."""
    prefixes = set(_PREFIX.findall(text)) - set(_DECLARED.findall(text)) - {'xml', 'xmlns'}
    names = ''.join(f' xmlns:{prefix}="urn:{prefix}"' for prefix in sorted(prefixes))
    return _ROOT.sub(lambda match: match[0] + names, text, count=1)


def _drop_default_namespace(root: Element) -> None:
    """Take the namespace of the root off all names, as URDF parsers know of none."""
    space, closing, name = root.tag.rpartition('}')
    if not closing or name != 'robot':
        return
    for element in root.iter():
        element.tag = element.tag.removeprefix(space + closing)


def parse_robot_xml(text: str, source: str) -> Element:
    """
    Return the <robot> of a URDF text.

    Raises DescriptionError if the text is too long or too deep, has entities, is no XML, or xacro
    not expanded.
    """
    if len(text) > MAXIMUM_URDF_CHARACTERS:
        raise DescriptionError(
            f'{source}: {len(text)} characters, more than the {MAXIMUM_URDF_CHARACTERS} allowed'
        )
    try:
        root = _parse(text, source)
    except DTDForbidden as error:
        raise DescriptionError(
            f'{source} is not a URDF that parses: it has a DOCTYPE {error.name!r:.80}, and '
            'entities are not read; remove it'
        ) from error
    except (ParseError, ValueError, DefusedXmlException) as error:
        raise DescriptionError(f'{source} is not a URDF that parses: {error}') from error
    _drop_default_namespace(root)
    if root.tag != 'robot':
        raise DescriptionError(
            f'{source}: the root element is <{root.tag:.80}>, a URDF starts with <robot>'
        )
    for element in root.iter():
        if element.tag.startswith('{') and 'xacro' in element.tag.partition('}')[0]:
            raise DescriptionError(
                f'{source}: <xacro:{element.tag.partition("}")[2]:.80}> is not expanded: '
                'files are, a topic must carry the URDF'
            )
    return root
