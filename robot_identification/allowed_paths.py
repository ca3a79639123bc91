# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Path allow-list: files are read and written inside folders that were allowed beforehand.

A node's parameters can be set by any node of its graph, so what they name is resolved, symbolic
links included, before it is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
import os
from pathlib import Path
import stat

from robot_identification.errors import UsageError

OWN_FOLDER = Path('.ros') / 'robot_identification'


def root_folders(given: Sequence[str]) -> list[Path]:
    """
    Return the allowed folders that a list names, empty texts left out.

    Without any, these are ``~/.ros/robot_identification`` and the working directory, unless that
    is ``/``: a service manager starts programs there, and it would allow everything. Raises
    UsageError if one is no absolute path of a folder; a folder need not exist.
    """
    texts = [text for text in given if text]
    if not texts:
        return _default_roots()
    roots = [_expanded(_printable(text)) for text in texts]
    for root in roots:
        if not root.is_absolute() or (root.exists() and not root.is_dir()):
            raise UsageError(f'{root} is no absolute path of a folder')
    return roots


def _default_roots() -> list[Path]:
    own = _expanded('~') / OWN_FOLDER
    roots = [own] if own.is_absolute() else []
    try:
        working_directory = Path.cwd()
    except FileNotFoundError:
        return roots
    return roots if working_directory == Path('/') else [*roots, working_directory]


def _expanded(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:
        # An account without a home: what begins with "~" then is no absolute path.
        return Path(text)


def inside_roots(path: str | Path, roots: Sequence[Path]) -> Path:
    """
    Return the resolved path if it is inside one of the roots.

    A relative path starts at the working directory. The file need not exist; what exists must be a
    regular file or a folder, and so must a folder's own entries, which must not lead out of the
    roots, because a bag is read as one. Raises UsageError if any of this fails, or it cannot be a
    path.
    """
    given = Path(_checked_text(str(path)))
    resolved = _resolve(given)
    allowed = [_resolve(root) for root in roots]
    if not any(resolved.is_relative_to(root) for root in allowed):
        where = f' (it leads to {resolved})' if resolved != given else ''
        raise UsageError(
            f'{given}{where} is outside of the allowed folders '
            f'{", ".join(str(root) for root in allowed) or "(none)"}'
        )
    _check_kind(resolved)
    if resolved.is_dir():
        _check_entries(resolved, allowed)
    return resolved


def _resolve(path: Path) -> Path:
    try:
        return path.resolve()
    # A ring of links is the one or the other, by Python's version.
    except (OSError, RuntimeError) as error:
        raise UsageError(f'{path} cannot be resolved: {error}') from error


def _printable(text: str) -> str:
    """Return a text without NUL, newlines and what steers a terminal."""
    if not text.isprintable():
        raise UsageError(f'{text[:80]!r} has characters that cannot be printed')
    return text


def _checked_text(text: str) -> str:
    """Return a text that can name a file; what would only confuse logs is refused."""
    if not text:
        raise UsageError('an empty text names no file')
    if _printable(text).startswith('~'):
        raise UsageError(f'{text[:80]}: "~" is not expanded here, write the home folder in full')
    return text


def _check_kind(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f'{str(path)[:80]} cannot be used: {error.strerror}') from error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise UsageError(f'{path} is neither a regular file nor a folder')


def _check_entries(folder: Path, allowed: Sequence[Path]) -> None:
    try:
        with os.scandir(folder) as entries:
            odd = [
                Path(entry.path) for entry in entries
                if not entry.is_file(follow_symlinks=False)
                and not entry.is_dir(follow_symlinks=False)
            ]
    except OSError as error:
        raise UsageError(f'{folder} cannot be listed: {error.strerror}') from error
    for path in odd:
        target = _resolve(path)
        if not any(target.is_relative_to(root) for root in allowed):
            raise UsageError(f'{path} leads to {target}, which is outside of the allowed folders')
        _check_kind(target)
