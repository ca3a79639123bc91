# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Time of a whole `identify`: a minute and an hour of a UR5e at 500 Hz, by the command line.

The arm is MuJoCo's; the hour is the minute again and again with other noise. Memory is that of the
process at its peak, of which the libraries themselves are some 200 MB.
"""

from __future__ import annotations

from pathlib import Path
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import Motion
from robot_identification.recording.bag_writer import BagWriter, write_joint_states
from robot_identification.recording.joint_states import JOINT_STATE
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics

from .figures import Figure

REPEATS = 1
RATE = 500.0
MINUTE = 60.0
MINUTES = 60
GAINS = (13.0, 13.0, 13.0, 10.0, 10.0, 10.0)
OPTIONS = ('--robot', 'ur5e', '--drive-gains', *(f'{gain:g}' for gain in GAINS))


def measure(repeats: int) -> list[Figure]:
    """Return times and peak memory."""
    minutes, hours, peaks, rates = [], [], [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        states = simulate_minute()
        write_minute(folder / 'minute', states)
        write_hour(folder / 'minute', folder / 'hour')
        for repeat in range(repeats):
            seconds, _ = identify(folder / 'minute', folder / f'minute{repeat}')
            minutes.append(seconds)
            seconds, peak = identify(
                folder / 'hour', folder / f'hour{repeat}', '--estimator', 'wls', '--friction',
                'coulomb_sign,viscous,offset', '--cutoff', '9',
            )
            hours.append(seconds)
            peaks.append(peak)
            rates.append(1e6 * seconds / (MINUTES * MINUTE * RATE))
    return [
        Figure('identify a minute at 500 Hz, automatic, report included', 's', tuple(minutes)),
        Figure('identify an hour at 500 Hz, WLS, report included', 's', tuple(hours)),
        Figure('the same, per sample', 'us', tuple(rates)),
        Figure('peak memory of the hour', 'MB', tuple(peaks)),
    ]


def simulate_minute() -> tuple[np.ndarray, ...]:
    """Return positions, velocities and currents of a minute of motion, shape (N, n)."""
    robot = load_robot('ur5e').with_drive_gains(list(GAINS))
    truth = draw_truth(robot, seed=1)
    form = FourierParametrization(harmonics=8, base_period=MINUTE / 4.0)
    coefficients = np.random.default_rng(0).normal(size=(robot.n, form.n_coefficients))
    bases = form.basis(np.arange(round(MINUTE * RATE)) / RATE)
    # Within a turn to either side of the middle.
    coefficients *= 2.5 / np.abs(bases[0] @ coefficients.T).max(axis=0)[:, None]
    q, dq, ddq = (basis @ coefficients.T for basis in bases)
    current = inverse_dynamics(robot, truth, Motion(q, dq, ddq)) / truth.drive_gain
    return q, dq, current


def write_minute(path: Path, states: tuple[np.ndarray, ...], rate: float = RATE) -> None:
    """Write a bag with noisy velocities and currents, so many samples a second [Hz]."""
    rng = np.random.default_rng(1)
    q, dq, current = states
    write_joint_states(
        path, load_robot('ur5e').joint_names, 1.0 + np.arange(len(q)) / rate,
        {'/joint_states': (
            q + 1e-5 * rng.standard_normal(q.shape),
            dq + 1e-3 * rng.standard_normal(q.shape),
            current + 0.02 * current.std(axis=0) * rng.standard_normal(q.shape),
        )},
        {'robot': 'ur5e', 'effort_unit': 'A'},
    )


def write_hour(minute: Path, path: Path) -> None:
    """Write the minute's messages sixty times, each with its own stamp."""
    from rosbags.rosbag2 import Reader

    with Reader(minute) as reader:
        messages = [(log_time, bytearray(raw)) for _, log_time, raw in reader.messages()]
    writer = BagWriter(path, {'robot': 'ur5e', 'effort_unit': 'A'})
    writer.add_topic('/joint_states', JOINT_STATE)
    for number in range(MINUTES):
        shift = round(number * MINUTE * 1e9)
        for log_time, raw in messages:
            stamp = log_time + shift
            # Seconds and nanoseconds follow the four bytes that say how it is encoded.
            raw[4:12] = np.array(divmod(stamp, 10**9), dtype='<i4').tobytes()
            writer.write('/joint_states', stamp, bytes(raw))
    writer.close()


def identify(bag: Path, output: Path, *options: str) -> tuple[float, float]:
    """Return seconds and peak memory [MB] of the command, in a process of its own."""
    started = time.monotonic()
    completed = subprocess.run(
        [sys.executable, '-m', 'benchmarks.whole', str(bag), str(output), *options],
        capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[1],
    )
    return time.monotonic() - started, float(completed.stdout.splitlines()[-1])


if __name__ == '__main__':
    from robot_identification.cli.main import main

    code = main(['identify', sys.argv[1], *OPTIONS, '-o', *sys.argv[2:]])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000.0)
    sys.exit(code)
