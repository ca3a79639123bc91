# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The torque predictor behind a 500 Hz driver: latency, CPU time and memory, with all its topics.

The driver is a process of its own (`python -m benchmarks.predictor`): it publishes a simulated
UR5's joint states over and over and notes when the predicted torque of each comes back. Each
repeat runs twice: on the machine as it is, and with a busy process for every core. What came back
is compared with the causal prediction of the same samples.
"""

from __future__ import annotations

import json
from pathlib import Path
import subprocess
import sys
import tempfile
import time

import numpy as np
from robot_identification.cli.processes import (
    check_ros, isolated_environment, NodeProcess, own_domain, running,
)
from robot_identification.errors import DataError
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.model.model_file import dump_model, load_model
from robot_identification.model.registry import load_robot
from robot_identification.pipeline import identify
from robot_identification.prediction.comparison import compare_effort, read_measured
from robot_identification.prediction.torque_predictor import TorquePredictor
from robot_identification.recording.simulated_run import write_simulated_bag
from robot_identification.simulation.ground_truth import draw_truth, with_static_friction
from robot_identification.simulation.mujoco_robot import MujocoRobot, Sensors
from robot_identification.simulation.run import driver_period, record_motion

from .figures import Figure
from .processes import busy_cores, cpu_share, resident_memory
from .tracking import recorded_motion

REPEATS = 3
SECONDS = 20.0
RATE = 500.0
# What a machine does that has nothing else to do is the same at any time [s].
LONGEST_IDLE = 60.0
DEADLINE = 30.0
# Of a published motion, which is a whole number of its periods [s].
RECORDED = 20.0
# After the last joint state, for what is under way [s].
LAST = 1.0


def measure(repeats: int, seconds: float = SECONDS) -> list[Figure]:
    """Return latencies, and what the predictor takes, in runs of so many seconds; see above."""
    check_ros()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _make_files(folder)
        runs: dict[str, list[dict[str, float]]] = {'': [], ', cores busy': []}
        for _ in range(repeats):
            runs[''].append(_run(folder, min(seconds, LONGEST_IDLE)))
            with busy_cores():
                runs[', cores busy'].append(_run(folder, seconds))
        zero_phase = _difference_from_zero_phase(folder)
    figures = []
    for condition, results in runs.items():
        for name, unit, key in (
            ('joint states', '', 'states'),
            ('joint states without a prediction', '', 'lost'),
            ('latency, median', 'ms', 'p50'),
            ('latency, 99 of 100 are below', 'ms', 'p99'),
            ('latency, longest', 'ms', 'longest'),
            ('CPU of the predictor, of one core', '%', 'cpu'),
            ('memory of the predictor at the start', 'MB', 'memory_start'),
            ('memory of the predictor at the end', 'MB', 'memory_end'),
            ('latest publication of the driver', 'ms', 'latest'),
            ('largest difference from `predict --causal`', 'N m', 'difference'),
        ):
            figures.append(Figure(name + condition, unit, tuple(r[key] for r in results)))
    figures.append(Figure(
        'causal less zero-phase prediction, RMS over that of the torque', '%', (zero_phase,)
    ))
    return figures


def _make_files(folder: Path) -> None:
    """Write a recording of a simulated UR5, and what `identify` makes of it."""
    robot = load_robot('ur5')
    truth = with_static_friction(draw_truth(robot, 1))
    period = driver_period(robot)
    for name, repeats in (('training', 3), ('published', 1)):
        motion = recorded_motion(robot, period)
        rows = round(repeats * RECORDED / period)
        motion = motion.part(slice(0, rows))
        simulator = MujocoRobot(robot, truth, Sensors(), motion.q[0], repeats)
        run = record_motion(robot, simulator, motion, period * np.arange(float(rows)), period)
        write_simulated_bag(folder / name, robot, run)
    model = identify(robot, [folder / 'training'], IdentifyOptions()).model
    (folder / 'identified_model.yaml').write_text(dump_model(model))


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


def _run(folder: Path, seconds: float) -> dict[str, float]:
    nodes: list[NodeProcess] = []
    with own_domain() as domain, running(nodes):
        environment = isolated_environment(domain)
        predictor = NodeProcess(
            'torque_predictor',
            {
                'model_file': str(folder / 'identified_model.yaml'),
                'feed_forward': 'break_away',
                'allowed_read_roots': [str(folder)],
            },
            environment, folder / 'predictor.log',
        )
        nodes.append(predictor)
        driver = subprocess.run(
            [sys.executable, '-m', 'benchmarks.predictor', str(predictor.process.pid),
             str(folder), str(seconds)],
            env=environment, cwd=Path(__file__).resolve().parents[1],
            capture_output=True, text=True, timeout=2.0 * seconds + 4.0 * DEADLINE,
        )
        if driver.returncode != 0:
            raise DataError(f'the driver failed: {driver.stderr or predictor.last_words()}')
        result: dict[str, float] = json.loads(driver.stdout.splitlines()[-1])
        return result


def drive(predictor: int, folder: Path, seconds: float) -> dict[str, float]:
    """Publish at the rate of a driver and note when the predictions come; return what it took."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import JointState

    model = load_model(folder / 'identified_model.yaml')
    measured, _ = read_measured(model, folder / 'published')
    rclpy.init()
    node = rclpy.create_node('driver')
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    publisher = node.create_publisher(JointState, '/joint_states', QoSProfile(depth=10))
    sent: list[float] = []
    came: dict[int, float] = {}
    torques: dict[int, list[float]] = {}

    def note(message: JointState) -> None:
        """Note when the prediction of a sample comes."""
        stamp = message.header.stamp
        number = round((stamp.sec + stamp.nanosec * 1e-9) * RATE)
        came[number], torques[number] = time.monotonic(), list(message.effort)

    node.create_subscription(JointState, '/torque_predictor/torque', note, QoSProfile(depth=1000))
    deadline = time.monotonic() + DEADLINE
    while not (
        publisher.get_subscription_count() and node.count_publishers('/torque_predictor/torque')
    ):
        if time.monotonic() > deadline:
            sys.exit('the predictor does not listen')
        executor.spin_once(timeout_sec=0.1)
    rows = len(measured.stamps)
    states = round(RATE * seconds)
    message = JointState(name=list(model.robot.joint_names))
    start, latest = resident_memory(predictor, 'VmRSS'), 0.0
    with cpu_share(predictor) as cpu:
        started = time.monotonic()
        for number in range(states):
            due = started + number / RATE
            while (left := due - time.monotonic()) > 0.0:
                executor.spin_once(timeout_sec=left)
            row = number % rows
            message.position = measured.q[row].tolist()
            message.velocity = measured.dq[row].tolist()
            message.effort = measured.effort[row].tolist()
            nanoseconds = round(number / RATE * 1e9)
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(nanoseconds, 10**9)
            sent.append(time.monotonic())
            latest = max(latest, sent[-1] - due)
            publisher.publish(message)
    end = resident_memory(predictor, 'VmRSS')
    deadline = time.monotonic() + LAST
    while len(came) < states and time.monotonic() < deadline:
        executor.spin_once(timeout_sec=0.1)
    node.destroy_node()
    rclpy.shutdown()
    latency = 1e3 * np.array([came[number] - sent[number] for number in sorted(came)])
    numbers = np.array(sorted(came))
    offline = TorquePredictor(model).run(
        numbers / RATE, measured.q[numbers % rows], measured.dq[numbers % rows]
    ) / model.effort_per_torque
    live = np.array([torques[number] for number in numbers])
    return {
        'states': states,
        'lost': states - len(came),
        'p50': float(np.percentile(latency, 50)),
        'p99': float(np.percentile(latency, 99)),
        'longest': float(latency.max()),
        'cpu': cpu[0],
        'memory_start': start,
        'memory_end': end,
        'latest': 1e3 * latest,
        'difference': float(np.abs(live - offline).max()),
    }


if __name__ == '__main__':
    print(json.dumps(drive(int(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))))
