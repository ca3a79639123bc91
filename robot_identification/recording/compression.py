# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Compressed parts of bags, never unpacked to more than they should hold."""

from __future__ import annotations

from functools import cache
import importlib
from typing import Any, BinaryIO

from robot_identification.errors import MissingDependencyError, needing
from robot_identification.recording.raw_bag import Damage

ZSTD_MAGIC = b'\x28\xb5\x2f\xfd'
_PIECE = 1 << 20  # of a file that is unpacked at a time [bytes]


@cache
def _zstd() -> Any:
    """Return Python's own module, or the one that older Pythons have from PyPI."""
    for name in ('compression.zstd', 'backports.zstd'):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise MissingDependencyError(
        'backports.zstd', 'reading a bag compressed with zstd', 'pip install backports.zstd'
    )


@cache
def _lz4() -> Any:
    with needing('lz4', 'reading a bag compressed with lz4'):
        from lz4 import frame
    return frame


def unpack(kind: str, data: bytes, size: int) -> bytes:
    """Return the first `size` bytes of what was compressed; raise Damage if it was not so."""
    if kind == 'zstd':
        make, error_type = _zstd().ZstdDecompressor, _zstd().ZstdError
    elif kind == 'lz4':
        make, error_type = _lz4().LZ4FrameDecompressor, RuntimeError
    else:
        raise Damage(f'unknown compression {kind!r:.40}')
    frames: list[bytes] = []
    while data and size > 0:
        frame = make()
        try:
            frames.append(frame.decompress(data, max_length=size))
        except (error_type, EOFError, MemoryError) as error:
            raise Damage(f'{kind} data that cannot be unpacked: {error}') from error
        size -= len(frames[-1])
        data = (frame.unused_data or b'') if frame.eof else b''
    return frames[0] if len(frames) == 1 else b''.join(frames)


def unpack_file(source: BinaryIO, target: BinaryIO) -> str:
    """
    Unpack a zstd file into another one; return what is wrong with it, if anything is.

    What comes before the damage is unpacked.
    """
    frame = _zstd().ZstdDecompressor()
    piece = source.read(_PIECE)
    while piece:
        try:
            target.write(frame.decompress(piece, max_length=_PIECE))
            while not (frame.eof or frame.needs_input):
                target.write(frame.decompress(b'', max_length=_PIECE))
        except _zstd().ZstdError as error:
            return f'its compressed data are damaged: {error}'
        rest = frame.unused_data if frame.eof else b''
        piece = rest or source.read(_PIECE)
        if frame.eof and piece:
            frame = _zstd().ZstdDecompressor()
    return '' if frame.eof else 'its compressed data end too early'
