# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Meshes and textures of a description: never opened, and named where they point outside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
import re
from urllib.parse import unquote
from xml.etree.ElementTree import Element

_SCHEME = re.compile(r'([A-Za-z][A-Za-z0-9+.-]*):')
_PACKAGE_SCHEMES = ('package', 'model')
_PACKAGE_FILE = re.compile(r'/share/[^/]+/+[^/]')


def _resources(root: Element) -> Iterator[tuple[str, str]]:
    """Yield where a mesh or texture is named, and its address."""
    for part in root:
        where = f'{part.tag} {part.get("name", "")!r:.80}'
        for tag in ('mesh', 'texture'):
            for element in part.iter(tag):
                if 'filename' in element.attrib:
                    yield f'{tag} of {where}', element.attrib['filename']


def describe_foreign_resources(root: Element, folder: Path | None) -> list[str]:
    """
    Return what to say of meshes and textures that lie in no package and not beside the file.

    They are never opened, so it is a remark; `folder` is that of the description.
    """
    foreign = [
        (what, address, fault) for what, address in _resources(root)
        if (fault := _fault_of_address(address, folder)) is not None
    ]
    if not foreign:
        return []
    what, address, fault = foreign[0]
    more = f', and {len(foreign) - 1} more such' if len(foreign) > 1 else ''
    return [f'{what} is {address!r:.200}, {fault}{more}: meshes and textures are not opened']


def _host_and_path(path: str) -> tuple[str, str]:
    """Return host and path of a file: address, without its scheme; the host may be empty."""
    if not path.startswith('//'):
        return '', path
    host, _, path = path[2:].partition('/')
    return host, f'/{path}'


def _fault_of_address(address: str, folder: Path | None) -> str | None:
    """Return why a mesh's address is refused, in words; None if it is not."""
    decoded = unquote(address)
    path = decoded.replace('\\', '/')
    scheme = _SCHEME.match(path)
    if scheme is not None:
        path = path[scheme.end():]
    if '..' in path.split('/'):
        return 'which climbs out of its folder by ..'
    kind = None if scheme is None else scheme[1].lower()
    if kind in _PACKAGE_SCHEMES:
        return None
    host = ''
    if kind == 'file':
        host, path = _host_and_path(path)
    elif kind is not None:
        return f'and {kind}: leads elsewhere'
    elif decoded.startswith(('\\\\', '//')):
        return 'which lies on another machine'
    elif not path.startswith(('/', '~')):
        return None
    if host not in ('', 'localhost'):
        return f'which lies on another machine, {host!r:.80}'
    own = () if folder is None else (folder.absolute(), folder.resolve())
    if _PACKAGE_FILE.search(path) or any(
        PurePosixPath(path).is_relative_to(place) for place in own
    ):
        return None
    return "which lies in no package's share/<package>/ and not beside the description"
