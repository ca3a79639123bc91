# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Reading of bags: joint states decoded in blocks, whole recordings, and the memory of a long one.

The long one is read in a process of its own (`python -m benchmarks.reading BAG`).
"""

from __future__ import annotations

from collections.abc import Sequence
import json
from pathlib import Path
import resource
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
from robot_identification.errors import DataError, MissingDependencyError, needing
from robot_identification.model.robot_model import plain_encoders
from robot_identification.recording import read_recording
from robot_identification.recording.bag_files import open_bag
from robot_identification.recording.bag_writer import write_joint_states
from robot_identification.recording.joint_states import (
    JOINT_STATE, JointColumns, JointTable, quantities_of,
)
from robot_identification.recording.raw_bag import RawBlock
from robot_identification.recording.rosbag2_file import rosbags_library

from .figures import alternate, Figure, ratio

REPEATS = 7
# One minute, and twenty, of a driver at 500 Hz.
MESSAGES = 30_000
LONG_MESSAGES = 600_000
PERIOD = 0.002
JOINTS = tuple(f'joint_{number}' for number in range(6))


def measure(repeats: int) -> list[Figure]:
    """Return what a joint state costs, decoded and read, and the memory of many."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bag = write_bag(folder / 'bag', MESSAGES)
        with open_bag(bag) as opened:
            blocks = list(opened.blocks(['/joint_states']))
        singly, in_blocks, before, after = alternate(
            (
                lambda: decode_singly(blocks),
                lambda: decode_in_blocks(blocks),
                lambda: read_singly(bag),
                lambda: read_recording(bag, JOINTS),
            ),
            repeats,
        )
        long_bag = folder / 'long.mcap'
        write_long_bag(long_bag, blocks)
        runs = [read_in_process(long_bag) for _ in range(repeats)]
    micro = 1e6 / MESSAGES
    return [
        Figure('decoding message by message', 'us', tuple(micro * t for t in singly)),
        Figure('decoding in blocks, per message', 'us', tuple(micro * t for t in in_blocks)),
        Figure('message by message / in blocks', '', ratio(singly, in_blocks)),
        Figure('reading message by message', 'us', tuple(micro * t for t in before)),
        Figure('reading a recording, per message', 'us', tuple(micro * t for t in after)),
        Figure('reading message by message / a recording', '', ratio(before, after)),
        Figure(f'memory before reading {LONG_MESSAGES} joint states', 'MB',
               tuple(run['before'] for run in runs)),
        Figure('memory at most while reading them', 'MB', tuple(run['most'] for run in runs)),
        Figure('time of reading them', 's', tuple(run['seconds'] for run in runs)),
        Figure('the same, per joint state', 'us',
               tuple(1e6 * run['seconds'] / LONG_MESSAGES for run in runs)),
    ]


def write_bag(path: Path, count: int) -> Path:
    """Write a bag as `simulate` does: six joints, uncompressed."""
    rng = np.random.default_rng(0)
    write_joint_states(
        path, JOINTS, 1.0 + PERIOD * np.arange(count),
        {'/joint_states': tuple(rng.normal(size=(count, len(JOINTS))) for _ in range(3))},
        {'robot': 'benchmark', 'effort_unit': 'A'},
    )
    return path


def write_long_bag(path: Path, blocks: Sequence[RawBlock]) -> None:
    """Write the same messages over and over, stamped on and on, in chunks packed by zstd."""
    try:
        from mcap.writer import Writer
    except ImportError:
        raise MissingDependencyError('mcap', 'this benchmark', 'pip install mcap') from None
    payloads = [payload for block in blocks for payload in block.payloads]
    with path.open('wb') as stream:
        writer = Writer(stream)
        writer.start(profile='ros2')
        schema = writer.register_schema(JOINT_STATE, 'ros2msg', b'')
        channel = writer.register_channel('/joint_states', 'cdr', schema)
        for number in range(LONG_MESSAGES):
            stamp = 1_000_000_000 + round(1e9 * PERIOD) * number
            payload = payloads[number % len(payloads)]
            # The stamp is the first field behind the header of the serialization.
            data = payload[:4] + struct.pack('<iI', *divmod(stamp, 1_000_000_000)) + payload[12:]
            writer.add_message(channel, stamp, data, stamp)
        writer.finish()


def read_singly(bag: Path) -> None:
    """Read and decode every message by itself, by rosbags."""
    with needing('rosbags', 'this benchmark'):
        from rosbags.rosbag2 import Reader
    with Reader(bag) as reader:
        for connection, _, data in reader.messages():
            rosbags_library().types.deserialize_cdr(data, connection.msgtype)


def decode_singly(blocks: Sequence[RawBlock]) -> None:
    """Decode every message by itself, as rosbags does."""
    for block in blocks:
        for payload in block.payloads:
            rosbags_library().types.deserialize_cdr(payload, JOINT_STATE)


def decode_in_blocks(blocks: Sequence[RawBlock]) -> None:
    """Decode messages of one layout at once, as `read_recording` does."""
    table = JointTable(
        JOINT_STATE, JointColumns('benchmark', JOINTS, {}), plain_encoders(len(JOINTS)),
        quantities_of(JOINT_STATE),
    )
    for block in blocks:
        table.add(block)
    table.finish()


def read_in_process(bag: Path) -> dict[str, float]:
    """Read a bag in a process of its own; return its memory [MB] and time [s]."""
    completed = subprocess.run(
        [sys.executable, '-m', 'benchmarks.reading', str(bag)],
        cwd=Path(__file__).resolve().parents[1], capture_output=True, text=True, timeout=600,
    )
    if completed.returncode != 0:
        raise DataError(f'{bag} was not read: {completed.stderr}')
    found: dict[str, float] = json.loads(completed.stdout)
    return found


def report(bag: Path) -> dict[str, float]:
    """Read a bag and return what it took."""
    before = _peak()
    started = time.perf_counter()
    recording = read_recording(bag, JOINTS)
    elapsed = time.perf_counter() - started
    if len(recording) != LONG_MESSAGES:
        raise DataError(f'{bag} gives {len(recording)} of {LONG_MESSAGES} joint states')
    return {'before': before, 'most': _peak(), 'seconds': elapsed}


def _peak() -> float:
    """Return the most memory that this process ever had [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == '__main__':
    print(json.dumps(report(Path(sys.argv[1]))))
