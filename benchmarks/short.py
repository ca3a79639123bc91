# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
What a person waits for with a short recording: half a minute at 125 Hz, automatic choices.

Processes of their own, in turn; each is compared with one that imports Pinocchio, NumPy and
SciPy's linear algebra, without which no identification would begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
import json
from pathlib import Path
import subprocess
import sys
import tempfile
import time

from .figures import Figure, ratio

REPEATS = 3
SECONDS, RATE = 27.5, 125.0  # of the recording: those of a published one of a UR10 [s], [Hz]
LIBRARIES = 'import numpy, pinocchio, scipy.linalg'
STAGES = (
    'start and imports', 'reading, choices and fit', 'bodies and verdict', 'report and files',
)


def measure(repeats: int) -> list[Figure]:
    """Return times of whole processes, and those of the stages of one."""
    # It loads the simulator, which the process whose stages are timed is to do without.
    from . import recordings

    command = ['-m', 'robot_identification.cli.main']
    own: dict[str, list[float]] = {name: [] for name in ('libraries', '--help', 'identify')}
    stages: list[list[float]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_recording(folder / 'bag')
        for repeat in range(-1, repeats):
            found = {
                'libraries': _run(['-c', LIBRARIES])[0],
                '--help': _run([*command, '--help'])[0],
                'identify': _run([
                    *command, 'identify', str(folder / 'bag'), *recordings.OPTIONS,
                    '-o', str(folder / f'{repeat}'),
                ])[0],
            }
            _, text = _run([
                '-m', 'benchmarks.short', str(folder / 'bag'), str(folder / 'own'),
                *recordings.OPTIONS[3:],
            ])
            # The first round compiles modules and fills caches of the disk.
            if repeat >= 0:
                for key, seconds in found.items():
                    own[key].append(seconds)
                stages.append(json.loads(text.splitlines()[-1]))
    reference = own['libraries']
    return [
        Figure('import of NumPy, Pinocchio and scipy.linalg', 's', tuple(reference)),
        Figure('the list of commands (--help)', 's', tuple(own['--help'])),
        Figure('the list of commands / imports', '', ratio(own['--help'], reference)),
        Figure('identify, report included', 's', tuple(own['identify'])),
        Figure('identify, report included / imports', '', ratio(own['identify'], reference)),
        *(
            Figure(f'share of {stage}', '', tuple(own[at] / sum(own) for own in stages))
            for at, stage in enumerate(STAGES)
        ),
    ]


def write_recording(path: Path) -> None:
    """Write a bag of a simulated arm with noisy velocities and currents."""
    import numpy as np

    from . import recordings

    step = round(recordings.RATE / RATE)
    states = tuple(
        values[::step][: round(SECONDS * RATE)] for values in recordings.simulate_minute()
    )
    recordings.write_states(path, states, RATE, np.random.default_rng(1))


def _run(arguments: Sequence[str]) -> tuple[float, str]:
    """Return seconds and output of a process of Python."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True,
        cwd=Path(__file__).resolve().parents[1],
    )
    return time.monotonic() - started, done.stdout


def identify_by_stage(
    bag: Path, output: Path, gains: Sequence[float], started: float
) -> list[float]:
    """Return how long each of STAGES takes in this process [s]."""
    from robot_identification.estimation import IdentifyOptions
    from robot_identification.model import load_robot
    from robot_identification.pipeline import identify
    from robot_identification.report import save_identification

    marks = [started, time.monotonic()]

    def report(share: float, stage: str) -> None:
        if stage == 'enforcing physical consistency':
            marks.append(time.monotonic())

    robot = load_robot('ur5e').with_drive_gains(list(gains))
    found = identify(robot, [bag], IdentifyOptions(), report=report)
    marks.append(time.monotonic())
    save_identification(found, output, '', force=True)
    marks.append(time.monotonic())
    return [after - before for before, after in pairwise(marks)]


if __name__ == '__main__':
    print(json.dumps(identify_by_stage(
        Path(sys.argv[1]), Path(sys.argv[2]), list(map(float, sys.argv[3:])),
        # Of this process, by the same clock.
        float(Path('/proc/self/stat').read_text().rpartition(')')[2].split()[19]) / 100.0,
    )))
