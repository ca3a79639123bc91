# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Fixtures of the tests that need no ROS: known arms, simulated recordings, the command line."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
import gc
import os
from pathlib import Path
from typing import Any

from blas_threads import BLAS_THREADS
from builders import mixed_urdf, panda_urdf_path, run_command, write_run
from hypothesis import HealthCheck, settings
from known_models import base_of
from long_tests import ASKED_FOR
import numpy as np
import pytest
from recordings import designed_motion
from robot_identification import arrays
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.model.model_file import dump_model
from robot_identification.model.registry import known_robots, load_robot
from robot_identification.model.robot_model import make_robot_model, RobotModel
from robot_identification.model.urdf import parse_urdf
from robot_identification.pipeline import identify
from robot_identification.recording.simulated_run import simulate
from robot_identification.report import effort_figures, reports, residuals
from robot_identification.report.figures import singular_value_picture
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import Sensors

# Same examples in every run, so that many show no more the next time: the others are left to the
# night. A slow machine is no failure.
settings.register_profile(
    'repeatable', deadline=None, derandomize=True,
    max_examples=25 if os.environ.get(ASKED_FOR) else 8,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile('repeatable')

TRUTH_SEED = 11


def pytest_report_header():
    """Say with how many BLAS threads the tests run."""
    return f'BLAS threads: {BLAS_THREADS}'


def pytest_collection_finish(session):
    """Keep what lives as long as the tests out of every search for garbage."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter):
    """Show why a test was tried again: each is a defect to understand."""
    for report in terminalreporter.stats.get('rerun', ()):
        terminalreporter.section(f'tried again: {report.nodeid}')
        terminalreporter.write_line(report.longreprtext)


@pytest.fixture
def rng():
    """Return a random generator, the same in every test."""
    return np.random.default_rng(42)


@pytest.fixture
def disk(monkeypatch, tmp_path):
    """Let arrays of more than a hundred rows go to a folder, and return it."""
    monkeypatch.setattr(arrays, 'LARGEST_IN_MEMORY', 100)
    place = tmp_path / 'disk'
    place.mkdir()
    monkeypatch.setenv('TMPDIR', str(place))
    monkeypatch.setattr(arrays.tempfile, 'tempdir', None)
    return place


@pytest.fixture(scope='session')
def robots():
    """Return the arms that identities are checked on, by name."""
    return {
        **{known.name: load_robot(known.name) for known in known_robots()},
        'mixed': make_robot_model(parse_urdf(mixed_urdf(), 'mixed')),
    }


@pytest.fixture(scope='session')
def ur5(robots):
    return robots['ur5']


@pytest.fixture(scope='session')
def reductions(robots):
    """Return the base parameters of those arms, with friction and rotors."""
    return {
        name: base_of(robot, 'coulomb,viscous,offset', rotors=True)
        for name, robot in robots.items()
    }


@pytest.fixture(scope='session')
def panda_urdf():
    path = panda_urdf_path()
    if path is None:
        pytest.skip('the PyPI package example-robot-data, which has the Panda, is not installed')
    return path


@dataclass(frozen=True, eq=False)
class Scene:
    """A simulated arm with two motions, recorded with and without sensor noise."""

    robot: RobotModel
    truth: Any
    trajectories: tuple[Any, Any]
    runs: tuple[Any, Any]
    bags: tuple[Path, Path]


@pytest.fixture(scope='session')
def scene(tmp_path_factory) -> Callable[[str], Scene]:
    """Return a function that makes the scene of a known arm."""
    # The bags are written by rosbags alone, joints in alphabetical order as the UR driver has
    # them.
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    return cache(lambda name: _make_scene(name, tmp_path_factory.mktemp(name)))


def _make_scene(name, folder):
    robot = load_robot(name)
    truth = draw_truth(robot, TRUTH_SEED)
    trajectories = tuple(designed_motion(robot, number) for number in range(2))
    runs = tuple(
        simulate(robot, trajectory, truth, Sensors(), seed=number)
        for number, trajectory in enumerate(trajectories)
    )
    bags = tuple(
        write_run(folder / f'bag_{number}', robot, run) for number, run in enumerate(runs)
    )
    return Scene(robot, truth, trajectories, runs, bags)


@pytest.fixture(scope='session')
def identification(scene):
    """Return what `identify` finds in the UR5's first recording, with nominal gains."""
    made = scene('ur5')
    return identify(made.robot, [made.bags[0]], IdentifyOptions())


@pytest.fixture(scope='session')
def model_file(identification, tmp_path_factory):
    """Return the model file of that identification."""
    path = tmp_path_factory.mktemp('model') / 'identified_model.yaml'
    path.write_text(dump_model(identification.model))
    return path


@pytest.fixture(scope='module')
def without_pictures():
    """Leave the pictures out of a module's reports, which take half of the time of a command."""
    picture = singular_value_picture(np.array([2.0, 1.0]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(effort_figures, 'drawn_bags', lambda joints, bags: 0)
        patch.setattr(reports, 'singular_value_picture', lambda values: picture)
        patch.setattr(reports, 'correlation_picture', lambda model: picture)
        patch.setattr(reports, 'friction_picture', lambda points: picture)
        patch.setattr(residuals, 'residual_picture', lambda residual: picture)
        yield


@pytest.fixture
def command():
    """Return a function that runs `robot-identification` in this process."""
    return run_command
