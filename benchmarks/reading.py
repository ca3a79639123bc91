# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Reading of bags: joint states decoded in blocks and one by one, and whole recordings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
import tempfile

import numpy as np
from robot_identification.errors import needing
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
# One minute of a driver at 500 Hz.
MESSAGES = 30_000
PERIOD = 0.002
JOINTS = tuple(f'joint_{number}' for number in range(6))


def measure(repeats: int) -> list[Figure]:
    """Return what a joint state costs, decoded and read."""
    with tempfile.TemporaryDirectory() as name:
        bag = write_bag(Path(name) / 'bag', MESSAGES)
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
    micro = 1e6 / MESSAGES
    return [
        Figure('decoding message by message', 'us', tuple(micro * t for t in singly)),
        Figure('decoding in blocks, per message', 'us', tuple(micro * t for t in in_blocks)),
        Figure('message by message / in blocks', '', ratio(singly, in_blocks)),
        Figure('reading message by message', 'us', tuple(micro * t for t in before)),
        Figure('reading a recording, per message', 'us', tuple(micro * t for t in after)),
        Figure('reading message by message / a recording', '', ratio(before, after)),
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
