# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`friction-map`, from the motion to bags of a simulated arm and to its files."""

import json
from types import SimpleNamespace

from builders import run_command, succeed
from friction_runs import friction_truth, segment_run, true_friction
import numpy as np
import pytest
from recordings import write_small_arm
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.model.registry import load_robot
from robot_identification.recording.simulated_run import write_simulated_bag
from robot_identification.studies.friction_map.plan import SegmentPlan
from robot_identification.studies.friction_map.report import FRICTION_MAP_FILES

LIFT = 1
PLAN = SegmentPlan(count=7, longest=2.0)


@pytest.fixture(scope='module')
def mapped(tmp_path_factory):
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    folder = tmp_path_factory.mktemp('mapped')
    yaml = write_small_arm(folder)
    robot = load_robot(str(yaml))
    truth = friction_truth(robot)
    bags = [folder / 'cold', folder / 'warm, loaded']
    for bag, (temperature, mass) in zip(bags, ((24.0, 0.0), (36.0, 3.0)), strict=True):
        run = segment_run(robot, truth, 'lift', temperature=temperature, mass=mass, plan=PLAN)
        write_simulated_bag(bag, robot, run)
    outcome = succeed(
        'friction-map', *bags, '--robot', yaml, '--payload', 0, 3, '-o', folder / 'map', '--json'
    )
    return SimpleNamespace(
        folder=folder, yaml=yaml, robot=robot, truth=truth, bags=bags, out=folder / 'map',
        content=json.loads(outcome.out), err=outcome.err,
    )


def test_all_files_hold_the_same_map(mapped):
    assert sorted(path.name for path in mapped.out.iterdir()) == sorted(FRICTION_MAP_FILES)
    assert json.loads((mapped.out / 'friction_map.json').read_text()) == mapped.content
    lift = mapped.content['joints'][LIFT]
    assert len(lift['points']) == 2 * 2 * PLAN.count
    assert 'stribeck + viscous' in (mapped.out / 'report.html').read_text()


def test_points_are_the_true_friction_of_their_conditions(mapped):
    """Through currents, a bag and its temperatures, within 3 % where noise allows."""
    for point in mapped.content['joints'][LIFT]['points']:
        true = true_friction(
            mapped.truth, LIFT, abs(point['speed']), point['load'], point['temperature']
        )
        assert point['odd'] == pytest.approx(true, rel=0.03)
        assert (point['temperature'], point['payload']) in ((24.0, 0.0), (36.0, 3.0))


def test_the_motion_is_written_with_its_certificate(mapped, tmp_path):
    experiment = tmp_path / 'cell.yaml'
    experiment.write_text(
        'schema_version: 1\ntrajectory: {form: fourier}\ncollision: "off"\n'
    )
    command = (
        'friction-map', '--plan', experiment, '--robot', mapped.yaml, '--of', 'lift', 'reach',
        '--count', 3, '--fastest', 0.5, '-o', tmp_path / 'segments',
    )
    outcome = succeed(*command)
    paths = [tmp_path / 'segments' / f'friction_{j}.trajectory.yaml' for j in ('lift', 'reach')]
    assert outcome.out.split() == [str(path) for path in paths]
    for path in paths:
        trajectory = load_trajectory(path)
        motion = trajectory.sample(trajectory.times(250.0))
        # Quintics reach their speed to rounding.
        assert np.abs(motion.dq).max() == pytest.approx(0.5, rel=1e-3)
    assert run_command(*command).code == 2, 'not without --force'
