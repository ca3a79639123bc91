# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Stages of a first execution: a dry run, a slow run, and only then full speed.

Each stage is noted in a file next to the trajectory, for this file, arm and serial number
only. It is a record, not a signature: write permission for the folder suffices to change it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.excitation import SLOW_SPEED, SLOW_TOOL_SPEED
from robot_identification.files import (
    check_keys, check_schema_version, dump_yaml, read_yaml, write_atomically,
)

SCHEMA_VERSION = 2  # of the record, without unit; counts up when its keys change
# Of records that called a stage a rung; they are still read.
FIRST_VERSION = 1
DRY_RUN, SLOW, FULL = STAGES = ('dry run', 'slow', 'full')


@dataclass(frozen=True)
class CommissioningKey:
    """Key of a commissioning record: what it is valid for, and nothing else."""

    sha256: str  # of the trajectory
    robot: str  # name of the arm
    urdf_sha256: str  # of its description, as the certificate has it
    # Of where its joints are, calibration included, as its driver describes it.
    kinematics_sha256: str
    serial: str  # its serial number; may be empty for a simulated arm
    # What it carries: mass [kg], and centre [m] where there is one.
    payload: tuple[float, ...] = (0.0,)


def stage_of(*, dry_run: bool, speed: float, slow: float) -> str:
    """Return the stage of an execution at a share of the planned speed; up to `slow` is slow."""
    if dry_run:
        return DRY_RUN
    return SLOW if speed <= slow * (1.0 + 1e-9) else FULL


def slow_speed(tool_speed: float, share: float = SLOW_SPEED) -> float:
    """
    Return the largest share of the planned speed that counts as slow.

    It is `share`, or less where the tool, at `tool_speed` [m/s] at full speed, has its own limit.
    """
    return min(share, SLOW_TOOL_SPEED / tool_speed) if tool_speed > 0.0 else share


def record_path(trajectory_file: Path) -> Path:
    """Return where the stages of a trajectory file are noted."""
    return trajectory_file.with_name(f'{trajectory_file.name}.runs')


def completed_stages(trajectory_file: Path, key: CommissioningKey) -> set[str]:
    """Return the stages on record; raise DescriptionError if the record is damaged."""
    return {
        run['stage'] for run in _read(record_path(trajectory_file))
        if all(run[name] == value for name, value in _content(key).items())
    }


def check_stage(trajectory_file: Path, key: CommissioningKey, stage: str, slow: float) -> None:
    """Raise UnsafeMotionError if a lower stage is not on record; `slow` is for the message."""
    completed = completed_stages(trajectory_file, key)
    needed = [one for one in STAGES[: STAGES.index(stage)] if one not in completed]
    if needed:
        first = {
            DRY_RUN: 'a dry run (dry_run true)',
            SLOW: f'a slow run (dry_run false, speed at most {slow:.3g})',
        }[needed[0]]
        raise UnsafeMotionError(
            f'before {_in_words(stage)} this file needs {first} on this arm, noted in '
            f'{record_path(trajectory_file)}'
        )


def note_stage(
    trajectory_file: Path, key: CommissioningKey, stage: str, *, speed: float, periods: int,
    worst_tracking_error: float,
) -> None:
    """Record a completed stage with its share of the planned speed and tracking error [rad]."""
    path = record_path(trajectory_file)
    runs = [*_read(path), {
        **_content(key),
        'stage': stage,
        'speed': speed,
        'periods': periods,
        'worst_tracking_error': round(worst_tracking_error, 6),
    }]
    write_atomically(path, dump_yaml({'schema_version': SCHEMA_VERSION, 'runs': runs}))


def _content(key: CommissioningKey) -> dict[str, Any]:
    return {**asdict(key), 'payload': list(key.payload)}


def _in_words(stage: str) -> str:
    return {SLOW: 'a slow run', FULL: 'a run at this speed'}.get(stage, stage)


def _read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    content = read_yaml(path)
    is_first = content.get('schema_version') == FIRST_VERSION
    check_schema_version(content, str(path), FIRST_VERSION if is_first else SCHEMA_VERSION)
    check_keys(content, str(path), {'schema_version', 'runs'}, set())
    keys = {
        *CommissioningKey.__dataclass_fields__, 'stage', 'speed', 'periods', 'worst_tracking_error'
    }
    runs = content['runs']
    if is_first and isinstance(runs, list):
        runs = [
            {'stage' if name == 'rung' else name: value for name, value in run.items()}
            if isinstance(run, dict) else run
            for run in runs
        ]
    if not isinstance(runs, list) or not all(
        isinstance(run, dict) and set(run) == keys and run['stage'] in STAGES for run in runs
    ):
        raise DescriptionError(
            f'{path} is damaged: remove it, and begin with a dry run again'
        )
    return runs
