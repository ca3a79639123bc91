# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Serialized ROS 2 messages (CDR), many of one layout at once.

Where the bytes of a field lie depends on the strings and list lengths before it. The messages of
one publisher repeat these, so offsets are found once, from one message, and the others only have
to hold the same bytes there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import struct
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import FloatArray, IndexArray
from robot_identification.recording.raw_bag import Damage, LARGEST_MESSAGE, unpack, ZSTD_MAGIC

# Layouts of a block that are looked for in all of its messages; further ones are decoded singly.
LARGEST_LAYOUTS = 16
_HEADER = 4  # in front of each message [bytes]
_WORD = 8  # what is compared at once [bytes]

ByteArray = NDArray[np.uint8]
FieldsT = TypeVar('FieldsT')


class Walker:
    """
    Walks through one message and notes which bytes its layout depends on.

    Plain CDR (XCDR1): every number is aligned to its size, counted from the end of the header.

    Raise Damage if it is not plain CDR.
    """

    def __init__(self, payload: bytes) -> None:
        if len(payload) < _HEADER or payload[0] != 0 or payload[1] > 1:
            raise Damage(f'a message that is not plain CDR (begins {payload[:_HEADER].hex()!r})')
        self.byte_order = '<' if payload[1] else '>'
        self._length = struct.Struct(self.byte_order + 'I')
        self.fixed = [slice(0, 2)]
        self._payload = payload
        self._position = _HEADER

    def number(self, size: int) -> int:
        """Step over a number of some bytes; return its offset."""
        self._position += -(self._position - _HEADER) % size
        offset = self._position
        self._step(size)
        return offset

    def length(self) -> int:
        """Return a length of text or list."""
        offset = self.number(4)
        self.fixed.append(slice(offset, offset + 4))
        return int(self._length.unpack_from(self._payload, offset)[0])

    def skip_text(self) -> None:
        """Step over a text that may differ from message to message in all but its length."""
        self._step(self.length())

    def text(self) -> str:
        """Return a text."""
        size = self.length()
        start = self._position
        self._step(size)
        self.fixed.append(slice(start, start + size))
        try:
            return self._payload[start:start + size].rstrip(b'\0').decode()
        except UnicodeDecodeError as error:
            raise Damage(f'a message with a name that is not UTF-8: {error}') from None

    def texts(self) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple([self.text() for _ in range(self.count(4))])

    def numbers(self, size: int = 8) -> IndexArray:
        """Return the offsets of a list of numbers."""
        count = self.count(size)
        if not count:
            return np.empty(0, dtype=np.intp)
        first = self.number(size)
        self._step((count - 1) * size)
        return np.arange(first, first + count * size, size, dtype=np.intp)

    def count(self, smallest: int) -> int:
        """Return the length of a list whose elements take at least so many bytes."""
        count = self.length()
        if count * smallest > len(self._payload) - self._position:
            raise Damage(
                f'a message of {len(self._payload)} bytes with a list of {count} elements'
            )
        return count

    def _step(self, size: int) -> None:
        self._position += size
        if self._position > len(self._payload):
            raise Damage(f'a message of {len(self._payload)} bytes that ends too early')

    def finish(self) -> None:
        """Raise Damage if more than padding is left."""
        left = len(self._payload) - self._position
        # A writer may fill up the last word.
        if left >= _WORD:
            raise Damage(f'a message of another type: {left} bytes are left over')


class Packer:
    """Packs one message in little-endian plain CDR."""

    def __init__(self) -> None:
        self.data = bytearray(b'\0\1\0\0')

    def words(self, *values: int) -> None:
        """Add numbers of 32 bits, such as a stamp or the length of a list."""
        self._align(4)
        self.data += struct.pack(f'<{len(values)}I', *values)

    def texts(self, texts: Sequence[str]) -> None:
        """Add texts one after the other."""
        for text in texts:
            encoded = text.encode() + b'\0'
            self.words(len(encoded))
            self.data += encoded

    def numbers(self, values: FloatArray) -> None:
        """Add a list of float64."""
        self.words(len(values))
        if len(values):
            self._align(8)
            self.data += np.asarray(values, dtype='<f8').tobytes()

    def _align(self, size: int) -> None:
        self.data += bytes(-(len(self.data) - _HEADER) % size)


@dataclass(frozen=True, eq=False)
class Group(Generic[FieldsT]):
    """Messages of one layout."""

    rows: IndexArray  # shape (m,); which messages of the block they are, ascending
    data: ByteArray  # shape (m, size); their bytes, and zeros up to a multiple of eight
    byte_order: str  # '<' or '>'
    fields: FieldsT  # Names and offsets, as the walk through one of them found them

    def before(self, row: int) -> Group[FieldsT]:
        """Return those of the messages before one of the block."""
        count = int(np.searchsorted(self.rows, row))
        return Group(self.rows[:count], self.data[:count], self.byte_order, self.fields)

    def numbers(self, offsets: IndexArray, kind: str = 'f8') -> NDArray[np.float64]:
        """
        Return the numbers at offsets (k,) as float64, shape (m, k); NaN at a negative offset.

        Offsets are apart by multiples of the size of the number, which NumPy calls `kind`.
        """
        values = np.full((len(self.rows), len(offsets)), np.nan)
        there = offsets >= 0
        if there.any():
            dtype = np.dtype(self.byte_order + kind)
            first = int(offsets[there].min())
            last = int(offsets[there].max()) + dtype.itemsize
            span = np.ascontiguousarray(self.data[:, first:last]).view(dtype)
            values[:, there] = span[:, (offsets[there] - first) // dtype.itemsize]
        return values

    def stamps(self, offset: int) -> NDArray[np.int64]:
        """Return builtin_interfaces/Time at an offset [ns], shape (m,)."""
        dtype = np.dtype([('sec', self.byte_order + 'i4'), ('nanosec', self.byte_order + 'u4')])
        times = np.ascontiguousarray(self.data[:, offset:offset + 8]).view(dtype)[:, 0]
        seconds: NDArray[np.int64] = times['sec'].astype(np.int64)
        return seconds * 1_000_000_000 + times['nanosec'].astype(np.int64)


def group_by_layout(
    payloads: Sequence[bytes], walk: Callable[[Walker], FieldsT]
) -> tuple[list[Group[FieldsT]], Damage | None]:
    """Sort messages of one topic by layout, all before the first damaged one; say what it has."""
    payloads, damage = _unpack(payloads)
    sizes = np.fromiter(map(len, payloads), dtype=np.intp, count=len(payloads))
    done = np.zeros(len(payloads), dtype=bool)
    left = np.arange(len(payloads))
    stacks: dict[int, tuple[IndexArray, ByteArray]] = {}
    groups: list[Group[FieldsT]] = []
    while left.size:
        first, size = int(left[0]), int(sizes[left[0]])
        try:
            walker = Walker(payloads[first])
            fields = walk(walker)
            walker.finish()
        except Damage as found:
            return [group.before(first) for group in groups], found
        if len(groups) < LARGEST_LAYOUTS:
            if size not in stacks:
                rows = np.flatnonzero(sizes == size)
                alike = (
                    payloads if len(rows) == len(payloads)
                    else [payloads[row] for row in rows.tolist()]
                )
                stacks[size] = rows, _stack(alike, size)
            rows, data = stacks[size]
            same = _hold_the_same(data, int(rows.searchsorted(first)), walker.fixed)
            same &= ~done[rows]
            if not same.all():
                rows, data = rows[same], data[same]
            done[rows] = True
            left = np.flatnonzero(~done)
        else:
            rows, data = left[:1], _stack([payloads[first]], size)
            left = left[1:]
        groups.append(Group(rows, data, walker.byte_order, fields))
    return groups, damage


def _unpack(payloads: Sequence[bytes]) -> tuple[Sequence[bytes], Damage | None]:
    """Return messages that rosbag2 compressed one by one as they were, up to the first damage."""
    # None in CDR begins so.
    if not (payloads and payloads[0].startswith(ZSTD_MAGIC)):
        return payloads, None
    unpacked: list[bytes] = []
    for payload in payloads:
        data, problem = unpack('zstd', payload, LARGEST_MESSAGE)
        if problem:
            return unpacked, Damage(f'a message: {problem}')
        unpacked.append(data)
    return unpacked, None


def _stack(payloads: Sequence[bytes], size: int) -> ByteArray:
    """Return messages of one size as rows, filled up to whole words."""
    padding = bytes(-size % _WORD)
    joined = np.frombuffer(padding.join([*payloads, b'']), dtype=np.uint8)
    return joined.reshape(len(payloads), size + len(padding))


def _hold_the_same(data: ByteArray, row: int, fixed: Sequence[slice]) -> NDArray[np.bool_]:
    """Return which rows of bytes hold the same as one of them in the fixed parts."""
    mask = np.zeros(data.shape[1], dtype=np.uint8)
    for part in fixed:
        mask[part] = 0xFF
    words, masks = data.view(np.uint64), mask.view(np.uint64)
    same = np.ones(len(data), dtype=bool)
    edges = np.flatnonzero(np.diff(masks != 0, prepend=False, append=False))
    for start, stop in edges.reshape(-1, 2):
        differing = (words[:, start:stop] ^ words[row, start:stop]) & masks[start:stop]
        same &= ~differing.any(axis=1)
    return same
