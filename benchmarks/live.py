# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The live nodes behind a driver: processor time, latency, losses and memory.

A driver (`benchmarks.live_driver`, a process of its own) publishes a simulated arm's joint states
over and over: six joints at 500 Hz, seven at 1 kHz. It is answered in turn by a bare relay of
rclpy and by `torque_predictor` with all its topics, without and with the payload, on the machine
as it is and with a busy process for every core. The predicted torques are compared with the causal
prediction of the same samples.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
import json
from pathlib import Path
import subprocess
import sys
import tempfile

import numpy as np
from robot_identification.cli.processes import (
    check_ros, isolated_environment, NodeProcess, own_domain, running,
)
from robot_identification.errors import DataError
from robot_identification.estimation import IdentifyOptions
from robot_identification.excitation import FourierParametrization
from robot_identification.files import dump_yaml, file_sha256
from robot_identification.model import dump_model, load_model, load_robot, Motion, RobotModel
from robot_identification.monitoring import CollisionCalibration, CollisionThresholds
from robot_identification.pipeline import identify
from robot_identification.prediction import compare_effort
from robot_identification.recording import write_simulated_bag
from robot_identification.simulation import (
    draw_truth, driver_period, MujocoRobot, record_motion, Sensors, with_static_friction,
)

from .figures import Figure
from .processes import busy_cores
from .recordings import GAINS
from .relay import TOPICS
from .scaling import chain_urdf

REPEATS = 3
SECONDS = 20.0
# What a machine does that has nothing else to do is the same at any time [s].
LONGEST_IDLE = 60.0
DEADLINE = 30.0
# Of a published motion, which is a whole number of its periods, and of what is identified [s].
PUBLISHED, TRAINING = 10.0, 30.0
RELAY, PREDICTOR, PAYLOAD = 'bare relay', 'torque_predictor', 'torque_predictor with payload'
PREDICTED = tuple(
    f'/torque_predictor/{name}' for name in (
        'torque', 'residual', 'standard_deviation', 'external_torque', 'external_torque_band',
        'feed_forward',
    )
)
ANSWERS = {RELAY: TOPICS, PREDICTOR: PREDICTED, PAYLOAD: PREDICTED}
FIGURES = (
    ('joint states', '', 'states'),
    ('joint states lost', '', 'lost'),
    ('latency, median', 'ms', 'p50'),
    ('latency, 99 of 100 are below', 'ms', 'p99'),
    ('latency, longest', 'ms', 'longest'),
    ('CPU, of one core', '%', 'cpu'),
    ('memory at the start', 'MB', 'memory_start'),
    ('memory at the end', 'MB', 'memory_end'),
    ('latest publication of the driver', 'ms', 'latest'),
    ('largest difference from `predict --causal`', 'N m', 'difference'),
)


@dataclass(frozen=True)
class Case:
    """An arm and the rate of its driver."""

    joints: int
    rate: float  # [Hz]

    @property
    def name(self) -> str:
        """Its name in the figures."""
        return f'{self.joints} joints at {self.rate:g} Hz'

    def robot(self, folder: Path) -> RobotModel:
        """Return a UR5e, or a chain whose files are written to a folder."""
        if self.joints == len(GAINS):
            return load_robot('ur5e').with_drive_gains(list(GAINS))
        (folder / 'chain.urdf').write_text(chain_urdf(self.joints))
        (folder / 'chain.yaml').write_text(dump_yaml({
            'schema_version': 1, 'name': 'chain', 'urdf': 'chain.urdf', 'effort_unit': 'A',
            'sampling_rate': self.rate,
            'joints': {
                f'joint{index}': {'gear_ratio': 100.0, 'torque_constant': 0.12}
                for index in range(self.joints)
            },
        }))
        return load_robot(str(folder / 'chain.yaml'))


CASES = (Case(6, 500.0), Case(7, 1000.0))


class _Relay(NodeProcess):
    """The relay, which is none of our nodes."""

    def _start(
        self, arguments: list[str], environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, '-m', 'benchmarks.relay', *arguments], env=environment,
            stdout=self._stream, stderr=subprocess.STDOUT, start_new_session=True,
        )


def measure(repeats: int, seconds: float = SECONDS) -> list[Figure]:
    """Return latencies, losses and what each node takes, in runs of so many seconds."""
    check_ros()
    figures = []
    with tempfile.TemporaryDirectory() as name:
        for case in CASES:
            folder = Path(name) / str(case.joints)
            folder.mkdir()
            make_files(case, folder)
            for busy in (False, True):
                length = seconds if busy else min(seconds, LONGEST_IDLE)
                results: dict[str, list[dict[str, float]]] = {node: [] for node in ANSWERS}
                for _ in range(repeats):
                    for node, found in results.items():
                        with busy_cores() if busy else nullcontext():
                            found.append(run(node, case, folder, length))
                figures += _figures(case.name + (', cores busy' if busy else ''), results)
        zero_phase = _difference_from_zero_phase(Path(name) / str(CASES[0].joints))
    figures.append(Figure(
        'causal less zero-phase prediction, RMS over that of the torque', '%', (zero_phase,)
    ))
    return figures


def _figures(condition: str, results: dict[str, list[dict[str, float]]]) -> list[Figure]:
    """Return what a condition gave, node by node, and processor times against the relay's."""
    figures = [
        Figure(
            f'{node}, {condition}: {name}', unit, tuple(result[key] for result in found)
        )
        for node, found in results.items() for name, unit, key in FIGURES if key in found[0]
    ]
    relay = results[RELAY]
    for node in (PREDICTOR, PAYLOAD):
        ratios = (one['cpu'] / bare['cpu'] for one, bare in zip(results[node], relay, strict=True))
        figures.append(Figure(f'{node} / bare relay, {condition}: CPU', '', tuple(ratios)))
    return figures


def make_files(case: Case, folder: Path) -> None:
    """Write a recording of a simulated arm, and what `identify` makes of it."""
    robot = case.robot(folder)
    truth = with_static_friction(draw_truth(robot, 1))
    period = driver_period(robot)
    for name, length in (('training', TRAINING), ('published', PUBLISHED)):
        motion = _motion(robot.n, period * np.arange(round(length / period)))
        simulator = MujocoRobot(robot, truth, Sensors(), motion.q[0], round(length))
        run = record_motion(
            robot, simulator, motion, period * np.arange(float(len(motion))), period
        )
        write_simulated_bag(folder / name, robot, run)
    model = identify(robot, [folder / 'training'], IdentifyOptions()).model
    path = folder / 'identified_model.yaml'
    path.write_text(dump_model(model))
    # Of no meaning but that contacts are looked for.
    calibration = CollisionCalibration(
        robot.name, file_sha256(path), ('none',), 60.0, 0.1, 25.0,
        CollisionThresholds(np.full(robot.n, 10.0)), tuple(robot.joint_names),
        np.full(robot.n, 9.0),
    )
    (folder / 'collision.yaml').write_text(dump_yaml(calibration.content()))


def _motion(n: int, times: np.ndarray) -> Motion:
    """Return a lively motion of `n` joints, bent at rest, with the period of what is published."""
    form = FourierParametrization(harmonics=5, base_period=PUBLISHED)
    coefficients = np.random.default_rng(0).normal(size=(n, form.n_coefficients))
    within = form.basis(np.arange(0.0, PUBLISHED, 0.01))
    fastest, farthest = (np.abs(within[k] @ coefficients.T).max(axis=0) for k in (1, 0))
    coefficients *= np.minimum(1.5 / fastest, 1.2 / farthest)[:, None]
    q, dq, ddq = (basis @ coefficients.T for basis in form.basis(times))
    return Motion(q + 0.6 * (-1.0)**np.arange(n), dq, ddq)


def _difference_from_zero_phase(folder: Path) -> float:
    model = load_model(folder / 'identified_model.yaml')
    causal, smooth = (
        compare_effort(model, folder / 'published', causal=kind)[0] for kind in (True, False)
    )
    _, first, second = np.intersect1d(causal.stamps, smooth.stamps, return_indices=True)
    difference = causal.predicted[first] - smooth.predicted[second]
    known = np.all(np.isfinite(difference), axis=1)
    spread = causal.measured[first][known]
    return float(
        100.0 * np.sqrt(np.mean(difference[known]**2) / np.mean(spread**2))
    )


def run(name: str, case: Case, folder: Path, seconds: float) -> dict[str, float]:
    """Return what a node made of a driver's joint states, and took for it."""
    parameters = {} if name == RELAY else {
        'model_file': str(folder / 'identified_model.yaml'), 'feed_forward': 'break_away',
        'collision_file': str(folder / 'collision.yaml'), 'allowed_read_roots': [str(folder)],
        'payload': name == PAYLOAD,
    }
    kind, executable = (_Relay, RELAY) if name == RELAY else (NodeProcess, PREDICTOR)
    nodes: list[NodeProcess] = []
    with own_domain() as domain, running(nodes):
        environment = isolated_environment(domain)
        node = kind(executable, parameters, environment, folder / f'{name}.log')
        nodes.append(node)
        driver = subprocess.run(
            [sys.executable, '-m', 'benchmarks.live_driver', str(node.process.pid), str(folder),
             str(case.rate), str(seconds), *ANSWERS[name]],
            env=environment, cwd=Path(__file__).resolve().parents[1],
            capture_output=True, text=True, timeout=2.0 * seconds + 4.0 * DEADLINE,
        )
        if driver.returncode != 0:
            raise DataError(f'the driver failed: {driver.stderr or node.last_words()}')
        result: dict[str, float] = json.loads(driver.stdout.splitlines()[-1])
        return result
