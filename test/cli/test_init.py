# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`init`: what it asks, what it refuses, and the files of a study that it writes."""

import io
from pathlib import Path
import re
import shlex
import sys

from builders import answer, run_command, succeed
import numpy as np
import pytest
from recordings import write_small_arm
from robot_identification.cli.main import make_parser, parse_arguments
from robot_identification.excitation.experiment_file import load_experiment
from robot_identification.excitation.experiment_plan import STEPS
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.execution.checks import check_executable
from robot_identification.execution.safety import check_lab_margins
from robot_identification.model.registry import load_robot

# The defaults where no option is given.
INIT = ('init', '--defaults')


class Terminal(io.StringIO):
    """A person who types these lines, and then goes away."""

    def isatty(self):
        return True


@pytest.fixture
def typed(monkeypatch):
    """Return a function that runs `init` while a person types."""
    def run(lines, *arguments):
        monkeypatch.setattr(sys, 'stdin', Terminal(''.join(f'{line}\n' for line in lines)))
        return run_command('init', *arguments)

    return run


def experiments(folder):
    return sorted(folder.glob('[0-9]*.yaml'))


def commands(folder):
    text = (folder / 'guide.md').read_text()
    return [line[2:] for line in text.splitlines() if line.startswith('$ ')]


@pytest.fixture(scope='module')
def study(tmp_path_factory):
    """Return the folder of a UR5e with a tool beside a wall, and what --json said of it."""
    folder = tmp_path_factory.mktemp('lab') / 'study'
    return folder, answer(
        *INIT, '--robot', 'ur5e', '--tool', 1.2, 0, 0.01, 0.06, '--wall', 'back:0.6', 'left:0.9',
        '--cell', 'post:0.1,0.1,2,0.6,0.6,0.9', '-o', folder,
    )


def test_every_file_is_an_experiment_in_the_cell(study):
    """One order of steps; each file loads, with obstacles, mounting and lab margins."""
    folder, content = study
    assert [Path(step['file']) for step in content['steps']] == experiments(folder)
    steps = [step['step'] for step in content['steps']]
    assert list(dict.fromkeys(steps)) == list(STEPS)
    assert steps.count('validation') >= 2
    assert steps.count('friction_map') == 6
    ways = {}
    for step in content['steps']:
        experiment = load_experiment(Path(step['file']))
        ways[step['step']] = experiment.form, experiment.criterion, experiment.optimizer
        assert [one.name for one in experiment.obstacles] == [
            'table', 'wall_back', 'wall_left', 'post'
        ]
        np.testing.assert_allclose(experiment.gravity, [0.0, 0.0, -9.81])
    assert {Path(step['file']).name for step in content['steps']} | {
        'guide.md', 'arm.yaml', 'arm.urdf'
    } == {path.name for path in folder.iterdir()}
    assert len({step['seed'] for step in content['steps']}) == len(content['steps'])
    assert ways['excitation'] != ways['validation']


def test_the_guide_s_commands_parse(study):
    """Those of this command line; every step has a motion, a title and something to look at."""
    folder, content = study
    own = [line for line in commands(folder) if line.startswith('robot-identification ')]
    assert len(own) > len(content['steps'])
    for line in own:
        make_parser().parse_args(shlex.split(line)[1:])
    text = (folder / 'guide.md').read_text()
    assert text.count('\nLook at: ') == len(STEPS)
    for step in content['steps']:
        assert step['design'] in commands(folder)
        assert step['run'] in commands(folder)


def test_the_tool_is_in_the_description(study):
    """Its mass and its box move with the last link, and the rest of the arm is as it was."""
    folder, _ = study
    bare, carrying = load_robot('ur5e'), load_robot(str(folder / 'arm.yaml'))
    assert (carrying.name, carrying.joint_names) == (bare.name, bare.joint_names)
    masses = [sum(body.mass for body in robot.pinocchio.inertias) for robot in (bare, carrying)]
    # A sum of few masses: rounding.
    assert masses[1] - masses[0] == pytest.approx(1.2, abs=1e-9)
    np.testing.assert_array_equal(carrying.limits.effort, bare.limits.effort)
    with_size = (folder / 'arm.urdf').read_text()
    # Twice as long as its centre of mass is far.
    assert '<box size="0.1 0.1 0.12"' in with_size


def test_a_file_becomes_a_certified_motion(study):
    """A motion of the study is proved in its cell, and is fit for the runner on a real arm."""
    folder, content = study
    step = content['steps'][3]
    assert step['file'].endswith('04_validation_random.yaml')
    # The shortest search there is; the guide's own takes 20 s.
    line = re.sub(r'--time-limit \d+', '--max-evaluations 20', step['design'])
    succeed(*shlex.split(line)[1:])
    trajectory = load_trajectory(folder / '04_validation_random.trajectory.yaml')
    robot = load_robot(str(folder / 'arm.yaml'))
    check_executable(robot, trajectory)
    check_lab_margins(robot, trajectory)
    assert set(trajectory.certificate['collision']['obstacles']) == {
        'table', 'wall_back', 'wall_left', 'post'
    }


def test_any_urdf_has_a_study_of_its_own(tmp_path, monkeypatch):
    """The arm of the guide is the one described: no word of another driver; its commands parse."""
    write_small_arm(tmp_path).unlink()
    monkeypatch.chdir(tmp_path)
    succeed(*INIT, '--urdf', 'arm.urdf', '--joints', 'lift', 'reach', '-o', 'study')
    guide = Path('study/guide.md').read_text()
    assert 'ur_robot' not in guide and 'rtde' not in guide
    assert load_robot('study/arm.yaml').joint_names == ('lift', 'reach')
    lines = commands(Path('study'))
    assert '--urdf arm.urdf --joints lift reach' in lines[0]
    for line in lines:
        if line.startswith('robot-identification'):
            parse_arguments(shlex.split(line)[1:])
    succeed(*INIT, 'study/arm.yaml', '-o', 'third')
    again = lines[0].replace('-o study', '-o again').removeprefix('robot-identification ')
    succeed(*shlex.split(again))
    for path in experiments(Path('study')):
        assert (Path('again') / path.name).read_text() == path.read_text()


def test_a_person_is_asked_and_answers_are_checked_at_once(typed, tmp_path):
    """Each wrong answer is told why and asked again; an empty line is the default shown."""
    lines = [
        'ur99', 'ur5e',
        'sideways', '',
        '2.5 0 0', '0.9 0 0 0.05', '0.1 0.1', '',
        'high', '',
        'behind:0.6', 'back 0.6', 'back:0.6',
        '',
        'box:1,2,3', '',
        'elbow:0,1', 'elbow_joint:1,0', 'elbow_joint:0.3,2.3',
        'mA', '', 'usb', '',
    ]
    outcome = typed(lines, '-o', tmp_path / 'asked')
    assert outcome.code == 0, outcome.err
    for reason in (
        "unknown robot 'ur99'", "'sideways' cannot be used: roll pitch yaw",
        "'2.5 0 0' cannot be used: mass", "'0.1 0.1' cannot be used: three edges",
        "'high' cannot be used: its height",
        "'behind:0.6' is no wall: SIDE:DISTANCE is needed, with front, back", "'back' is no wall",
        'cannot be used: NAME:SX,SY,SZ,X,Y,Z', "'elbow:0,1' is no range",
        'the range of elbow_joint is [1, 0] rad, empty', "'mA' is no effort unit",
        "'usb' is no source of data",
    ):
        assert reason in outcome.err
    assert '[0.1 0.1 0.1]' in outcome.err
    succeed(
        *INIT, '--robot', 'ur5e', '--tool', '0.9', 0, 0, '0.05', '--wall', 'back:0.6', '--window',
        'elbow_joint:0.3,2.3', '-o', tmp_path / 'given',
    )
    for path in experiments(tmp_path / 'asked'):
        assert (tmp_path / 'given' / path.name).read_bytes() == path.read_bytes()
