# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`friction-map`, from the motion to bags of a simulated arm and to its files."""

import json
import shlex
from types import SimpleNamespace

from builders import contents, refusal, run_command, succeed, write_run
from friction_runs import friction_truth, segment_run, true_friction
from known_models import known_model
import numpy as np
import pytest
from recordings import write_small_arm
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.model.model_file import dump_model
from robot_identification.model.registry import load_robot
from robot_identification.recording.simulated_run import write_simulated_bag
from robot_identification.simulation.mujoco_robot import true_inertial_parameters
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


def test_results_are_not_overwritten_without_force(mapped):
    command = ('friction-map', mapped.bags[0], '--robot', mapped.yaml, '-o', mapped.out)
    before = contents(mapped.out)
    assert 'friction_map.json' in refusal(*command)
    assert contents(mapped.out) == before


def test_the_payload_is_read_from_the_bag(mapped, tmp_path):
    """What the recorder notes is taken where nothing is given."""
    run = segment_run(mapped.robot, mapped.truth, 'lift', plan=SegmentPlan(count=3, longest=1.0))
    bag = write_run(tmp_path / 'bag', mapped.robot, run, metadata={
        'robot': 'arm', 'effort_unit': 'A', 'payload': '1.5 0.0 0.0 0.05',
    })
    outcome = succeed(
        'friction-map', bag, '--robot', mapped.yaml, '-o', tmp_path / 'map', '--json'
    )
    points = json.loads(outcome.out)['joints'][LIFT]['points']
    assert {point['payload'] for point in points} == {1.5}
    assert {point['temperature'] for point in points} == {None}
    shown = (tmp_path / 'map' / 'results.txt').read_text()
    assert 'n/a' in shown


def test_the_model_gives_gravity_where_it_knows_the_payload(mapped, tmp_path):
    """A model file of the bare arm: the bag with a payload is mapped without it."""
    model = known_model(
        mapped.robot, theta_bodies=true_inertial_parameters(mapped.robot, mapped.truth)
    )
    path = tmp_path / 'identified_model.yaml'
    path.write_text(dump_model(model))
    outcome = succeed(
        'friction-map', *mapped.bags, '--robot', mapped.yaml, '--payload', 0, 3, '--model', path,
        '-o', tmp_path / 'map', '--json',
    )
    points = json.loads(outcome.out)['joints'][LIFT]['points']
    assert {(point['payload'], point['gravity']) for point in points} == {
        (0.0, 'model'), (3.0, 'harmonic')
    }
    # The true friction is alike both ways.
    assert all(
        abs(point['even']) < 5.0 * point['even_error'] for point in points
    )


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


@pytest.mark.parametrize(('arguments', 'code', 'words'), [
    ('-o {out}', 2, 'name either bags to map, or an experiment file with --plan'),
    ('{bag} --plan demo -o {out}', 2, 'name either bags to map'),
    ('{bag} --count 3 -o {out}', 2, '--count is for designing a motion: add --plan'),
    ('{bag} --payload 1 2 -o {out}', 2, '--payload names 2 masses for 1 bags'),
    ('{bag} --payload -1 -o {out}', 2, 'argument --payload: -1, allowed are 0 to inf'),
    ('{bag} --bins 2 -o {out}', 2, 'argument --bins: 2, allowed are 4 to inf'),
    ('no_bag -o {out}', 2, 'no_bag'),
])
def test_what_makes_no_sense_is_refused(mapped, tmp_path, arguments, code, words):
    filled = arguments.format(
        bag=shlex.quote(str(mapped.bags[0])), out=shlex.quote(str(tmp_path / 'out'))
    )
    outcome = run_command('friction-map', '--robot', mapped.yaml, *shlex.split(filled))
    assert outcome.code == code
    assert words in outcome.err
    assert not (tmp_path / 'out').exists()
