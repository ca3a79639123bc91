# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Kinds of files that are named as recordings and are none, by their first bytes."""

from __future__ import annotations

from pathlib import Path
import re

from robot_identification.errors import BagError

# What Git LFS leaves in the place of a file until it is fetched begins so.
_POINTER_START = b'version https://git-lfs.github.com/spec/'
POINTER = 'a Git LFS pointer, not the file: fetch it by `git lfs pull`'
# Bytes that are looked at; chosen: the root of a description comes behind a long comment.
HEAD = 1 << 16
NEEDED = (
    'name a recording of the arm in its place, a rosbag2 bag (its folder, .mcap or .db3) or a '
    'table (.csv, .txt, .npz, .mat, .h5, .json, .parquet, ..)'
)
_DESCRIPTIONS = {
    'robot': 'a robot description (URDF or xacro)', 'mujoco': 'a robot description (MJCF)',
    'sdf': 'a robot description (SDF)',
}
# Keys that one kind of YAML files has at the start of a line.
_KEYS = {
    'base_parameters': 'an identified model', 'coefficients': 'a trajectory',
    'trajectory': 'an experiment', 'urdf': 'the configuration of a robot',
    'links': 'a table of links', 'arms': 'a campaign',
}
# What files begin with, what they are, and what to do with them first.
_BEGINNINGS = {
    b'PK\x03\x04': ('a ZIP archive', 'unpack it'),
    b'\x1f\x8b': ('packed by gzip', 'unpack it'),
    b'PAR1': ('a Parquet table', 'let its name end in .parquet'),
    b'MATLAB ': ('a MATLAB file', 'let its name end in .mat'),
    b'\x93NUMPY': ('a NumPy array', 'put arrays with their names into an .npz file'),
    # Protocols 2 to 5; the older ones are text, and out of use.
    **dict.fromkeys((b'\x80\x02', b'\x80\x03', b'\x80\x04', b'\x80\x05'), (
        'a Python pickle (never read, as reading one may run any program)',
        "write its arrays with numpy.savez('log.npz', time=.., q=.., dq=.., tau=..)",
    )),
    b'\x89HDF': ('an HDF5 file', 'let its name end in .h5'),
}


def is_pointer(path: Path) -> bool:
    """Return whether a file is what Git LFS leaves in the place of one."""
    with path.open('rb') as stream:
        return stream.read(len(_POINTER_START)) == _POINTER_START


def check_fetched(path: Path) -> None:
    """Raise BagError where a file is what Git LFS leaves in the place of one, or no file."""
    try:
        pointer = is_pointer(path)
    except OSError as error:
        raise BagError(f'{path} cannot be read: {error.strerror}') from error
    if pointer:
        raise BagError(f'{path} is {POINTER}')


def describe_other(path: Path) -> str:
    """Return what a file is that is no bag, and what to do; empty if its start does not tell."""
    with path.open('rb') as stream:
        kind, remedy = _find_kind(stream.read(HEAD), path.suffix.lower())
    return kind and f'{path} is {kind} and no recording that can be read: {remedy}'


def _find_kind(head: bytes, suffix: str) -> tuple[str, str]:
    """Return what a file is by its first bytes, and what to do with it; empty if unknown."""
    for beginning, (kind, remedy) in _BEGINNINGS.items():
        if head.startswith(beginning):
            return kind, f'{remedy}, or {NEEDED}'
    text = _text_of(head)
    if text is None:
        return '', ''
    if text.lstrip('\ufeff \t\r\n').startswith('<'):
        # Comments may name anything.
        root = re.search(r'<([A-Za-z]\w*)', re.sub(r'(?s)<!--.*?(-->|$)', '', text))
        kind = _DESCRIPTIONS.get(root.group(1), '') if root is not None else ''
        if not kind:
            return 'an XML file', NEEDED
        return kind, f'{NEEDED}; the arm is described by --robot or --urdf, or by the model'
    if suffix in ('.yaml', '.yml'):
        keys = set(re.findall(r'(?m)^(\w+):', text))
        return next((words for key, words in _KEYS.items() if key in keys), 'a YAML file'), NEEDED
    return 'a text file', f'if it is a table, let its name end in .csv; else {NEEDED}'


def _text_of(head: bytes) -> str | None:
    """Return the first bytes of a file as text, None where they are none."""
    try:
        # The last character may be cut.
        text = head.decode() if len(head) < HEAD else head[:-3].decode(errors='ignore')
    except UnicodeDecodeError:
        return None
    return None if '\0' in text or not text.strip() else text
