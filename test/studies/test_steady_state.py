# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""An arm has settled when temperatures, or else friction, no longer change from run to run."""

from dataclasses import replace

from hypothesis import given, strategies as st
import numpy as np
import pytest
from recordings import Driver, execute, write_small_arm
from robot_identification.model.registry import load_robot
from robot_identification.model.robot_model import unknown_drives
from robot_identification.recording.recording import Recording
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.studies.temperature.steady_state import (
    figures_of_run, judge_steady_state, RunFigures, SteadyStateOptions,
)

JOINTS = ('pan', 'lift')
OPTIONS = SteadyStateOptions(rise=0.5, change=0.02, runs=2)
TEMPERATURES = st.lists(
    st.tuples(*[st.floats(15.0, 60.0)] * 2), min_size=1, max_size=8
).map(np.array)


def judged(values, options=OPTIONS, errors=None):
    runs = [
        RunFigures(row) if errors is None else RunFigures(None, row, errors[k])
        for k, row in enumerate(np.asarray(values, dtype=float))
    ]
    return judge_steady_state(runs, JOINTS, options)


def test_a_warming_arm_settles_when_it_is_warm():
    """1 K a run is no rest, 0.4 K twice is; the joint that changed most is named."""
    rising = [(24.0, 24.0), (25.0, 24.2), (26.0, 24.4)]
    told = judged(rising)
    assert not told.reached
    assert (told.by, told.joint) == ('temperature', 0)
    assert 'changed by 1.00 K at most (pan)' in told.reason
    assert not judged([*rising, (26.4, 24.5)]).reached
    assert judged([*rising, (26.4, 24.5), (26.6, 24.6)]).reached


@given(TEMPERATURES, st.floats(0.25, 20.0), st.integers(1, 5))
def test_settled_means_what_it_says(values, rise, runs):
    """Settled if and only if the last changes of every joint are below the limit."""
    told = judged(values, replace(OPTIONS, rise=rise, runs=runs))
    changes = np.abs(np.diff(values, axis=0))[-runs:]
    assert told.reached == (len(values) > runs and bool(np.all(changes < rise)))


def recording_of(robot, stamps, q, dq, effort, **channels):
    return Recording(
        source='bag', topic='/joint_states', joint_names=robot.joint_names, stamps=stamps, q=q,
        dq=dq, effort=effort, start=0, stamps_from='header', metadata={}, channels=channels,
    )


def rest(robot, **channels):
    stamps = np.arange(0.0, 3.0, 0.008)
    still = np.zeros((len(stamps), robot.n))
    effort = still + np.random.default_rng(0).normal(size=still.shape)
    return recording_of(robot, stamps, still, still, effort, **channels)


def recorded(robot, truth, run, seed):
    """Return a recording of a run, with noise of its own."""
    found = Driver().record(run, robot.limits.effort / truth.drive_gain, seed)
    return recording_of(robot, found.stamps - found.stamps[0], *found.measured)


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    """Return an arm whose drive gains nobody knows, and what it really is."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    robot = load_robot(str(write_small_arm(tmp_path_factory.mktemp('arm'))))
    return replace(robot, drives=unknown_drives(robot.n)), draw_truth(robot, 3)


def test_the_quick_fit_sees_friction_fall(arm):
    """A fall of viscous friction by a tenth is seen as such, a repeated run as none."""
    # Noise is that of a good driver. Drive gains are unknown, and the model has one law for
    # friction that is another in truth: a share is right within a fifth of the tenth all the same.
    robot, truth = arm
    cold, warm = (
        execute(robot, replace(truth, viscous=share * truth.viscous), 6, 8.0)
        for share in (1.0, 0.9)
    )
    figures = [
        figures_of_run(robot, recorded(robot, truth, run, seed), 'A')
        for seed, run in enumerate((cold, cold, warm))
    ]
    viscous = np.array([one.viscous for one in figures])
    share = np.diff(viscous, axis=0) / viscous[:-1]
    np.testing.assert_allclose(share[0], 0.0, atol=0.02)
    np.testing.assert_allclose(share[1], -0.1, atol=0.02)
    assert not judge_steady_state(figures, robot.joint_names, replace(OPTIONS, runs=1)).reached
    assert judge_steady_state(
        figures[:2], robot.joint_names, SteadyStateOptions(change=0.05, runs=1)
    ).reached
