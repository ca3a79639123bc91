# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Every bad input has its message and its exit code, and leaves nothing behind.

The exit codes are those of the table in docs/troubleshooting.md, which the last test reads.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
import re
from typing import Any

from builders import (
    contents, joint_states, refusal, succeed, UR_JOINTS, write_bag, write_run, write_text_bag,
)
import numpy as np
import pytest
from robot_identification.excitation.trajectory import dump_trajectory
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model.registry import share_directory

pytestmark = pytest.mark.usefixtures('without_pictures')

DOCUMENT = Path(__file__).resolve().parents[2] / 'docs' / 'troubleshooting.md'
URDF = share_directory() / 'urdf' / 'ur5.urdf'
NOTHING = np.full(6, np.nan)


@dataclass(frozen=True, eq=False)
class Kit:
    """What the cases are made of: a folder for inputs, one for results, and good ingredients."""

    inputs: Path
    results: Path
    scene: Any
    model_file: Path

    @property
    def bag(self) -> Path:
        return self.scene.bags[0]

    @property
    def run(self) -> Any:
        return self.scene.runs[0]

    def record(self, rows=slice(None), **changes):
        run = replace(
            self.run, stamps=self.run.stamps[rows],
            measured=tuple(values[rows] for values in self.run.measured),
        )
        return write_run(self.inputs / 'bag', self.scene.robot, run, **changes)

    def file(self, name, text):
        path = self.inputs / name
        path.write_text(text)
        return path

    def trajectory(self, **changes):
        """Write the first trajectory with changes that its hash covers."""
        changed = replace(self.scene.trajectories[0], **changes)
        return self.file('trajectory.yaml', dump_trajectory(changed))

    def model(self, *keys, value):
        content = read_yaml(self.model_file)
        part = content
        for key in keys[:-1]:
            part = part[key]
        part[keys[-1]] = value
        return self.file('model.yaml', dump_yaml(content))

    def identify(self, bag, *options, robot='ur5'):
        arm = ('--robot', robot) if robot else ()
        return ('identify', bag, *arm, '-o', self.results, *options)


def effort(kit, values):
    return kit.record(effort=np.tile(values, (len(kit.run.stamps), 1)))


def too_much_nan(kit):
    """Return a bag with 13 of 1250 positions not a number: 1.04 %."""
    order = np.argsort(kit.scene.robot.joint_names)
    q = kit.run.measured[0][:, order].copy()
    q[100:1140:80, 2] = np.nan
    assert 0.01 < np.isnan(q).any(axis=1).mean() < 0.0105
    return kit.record(q=q)


def without_velocity(kit):
    run = kit.run
    times = 5.0 + run.stamps
    q, _, current = run.measured
    messages = joint_states(UR_JOINTS, times, q, np.zeros((len(times), 0)), current)
    return write_bag(kit.inputs / 'bag', messages, {'robot': 'ur5', 'effort_unit': 'A'})


def wild(kit):
    """Return the trajectory with three times its amplitudes, certified for the smaller ones."""
    trajectory = kit.scene.trajectories[0]
    factors = np.where(np.arange(trajectory.coefficients.shape[1]) == 0, 1.0, 3.0)
    return kit.trajectory(coefficients=trajectory.coefficients * factors)


def weak_experiment(kit):
    content = read_yaml(share_directory() / 'config' / 'experiments' / 'demo.yaml')
    content['margins']['torque'] = 0.01
    return kit.file('weak.yaml', dump_yaml(content))


def existing(kit, name):
    """Put a file where a result would go; return the arguments' folder."""
    kit.results.mkdir()
    (kit.results / name).write_text('precious')
    return kit.results


@dataclass(frozen=True, eq=False)
class Case:
    """A bad input: its row in the document, the command, the exit code and the message."""

    title: str
    arguments: Callable[[Kit], tuple[Any, ...]]
    code: int
    message: str


CASES = (
    Case('No such bag', lambda k: k.identify(k.inputs / 'absent'), 2, 'no such bag'),
    Case(
        'No such model, trajectory, robot or URDF file',
        lambda k: ('validate', k.inputs / 'absent.yaml', k.bag, '-o', k.results), 2,
        'no such file',
    ),
    Case('Unknown robot', lambda k: k.identify(k.bag, robot='ur55'), 2, 'unknown robot'),
    Case('No robot named', lambda k: k.identify(k.bag, robot=None), 2, 'name an arm'),
    Case('Unknown option, or a value it does not take',
         lambda k: k.identify(k.bag, '--estimator', 'magic'), 2, 'invalid choice'),
    Case('Unknown effort unit', lambda k: k.identify(k.bag, '--effort-unit', 'V'), 2,
         '--effort-unit'),
    Case(
        'Effort unit that neither option, bag nor robot states',
        lambda k: k.identify(k.record(metadata={}), '--urdf', URDF, robot=None), 2,
        'unit of the effort unknown',
    ),
    Case(
        'Bag that states an unknown effort unit',
        lambda k: k.identify(k.record(metadata={'robot': 'ur5', 'effort_unit': 'mA'})), 2,
        'the bags state their effort in mA',
    ),
    Case('Effort in ampere and unknown drive gains', lambda k: k.identify(
        k.record(metadata={'robot': 'ur5e', 'effort_unit': 'A'}), robot='ur5e'), 2,
        '--drive-gains'),
    Case('Wrong number of drive gains', lambda k: k.identify(k.bag, '--drive-gains', '1', '2'), 2,
         '2 drive gains for 6 joints'),
    Case('Drive gain of zero, or not finite',
         lambda k: k.identify(k.bag, '--drive-gains', *'11110', 'nan'), 2,
         'must be finite and not zero'),
    Case('Unknown friction law', lambda k: k.identify(k.bag, '--friction', 'stribek'), 2,
         'unknown friction law stribek'),
    Case('Joint that the URDF does not have',
         lambda k: k.identify(k.bag, '--joints', 'elbow'), 2, 'no joint elbow'),
    Case('Joint names in no pairs',
         lambda k: k.identify(k.bag, '--joint-names', 'elbow_joint'), 2,
         '--joint-names must read'),
    Case('Window that ends before it starts',
         lambda k: k.identify(k.bag, '--start', '5', '--stop', '3'), 2, 'must be before --stop'),
    Case('Gravity or mounting that is not finite',
         lambda k: k.identify(k.bag, '--gravity', 'nan', '0', '0'), 2, 'three finite numbers'),
    Case('Negative seed',
         lambda k: ('excite', '--robot', 'ur5', '--seed', '-1', '-o', k.results / 't.yaml'), 2,
         'seed'),
    Case('Result that exists already, without --force',
         lambda k: k.identify(k.inputs / 'absent', '-o', existing(k, 'report.html')), 2,
         'exists already'),
    Case('Prediction that ends neither in .mcap nor in .csv',
         lambda k: ('predict', k.model_file, k.bag, '-o', k.results / 'p.txt'), 2,
         'must end in .mcap or .csv'),
    Case(
        'Trajectory of another robot',
        lambda k: ('simulate', '--robot', 'ur10', '--trajectory', k.trajectory(), '-o',
                   k.results), 2, 'is for',
    ),
    Case('Motion in which no joint moves',
         lambda k: k.identify(k.record(q=np.tile(k.run.measured[0][0], (1250, 1)))), 3,
         'no joint moved'),
    Case('Empty bag', lambda k: k.identify(write_bag(k.inputs / 'bag', [])), 4,
         'the recording is empty'),
    Case('Empty file', lambda k: k.identify(k.file('bag.mcap', '')), 4, 'is an empty file'),
    Case('Folder or file that is no bag', lambda k: k.identify(k.inputs), 4,
         'is not a rosbag2 bag'),
    Case('Bag without joint states',
         lambda k: k.identify(write_text_bag(k.inputs / 'bag', 9)), 4,
         'no topic of joint states'),
    Case('Joints missing',
         lambda k: k.identify(k.record(names=['spare', *sorted(UR_JOINTS)[1:]])), 4,
         'lacks the joint'),
    Case('Joints renamed',
         lambda k: k.identify(k.record(names=[f'{n}_of_mine' for n in sorted(UR_JOINTS)])), 4,
         '--joint-names'),
    Case('Effort zero throughout', lambda k: k.identify(effort(k, np.zeros(6))), 4,
         'is zero throughout'),
    Case('Effort absent', lambda k: k.identify(effort(k, np.zeros(0))), 4, 'is absent'),
    Case('Effort not a number throughout', lambda k: k.identify(effort(k, NOTHING)), 4,
         'is absent'),
    Case('Over 1 % of the joint states not finite', lambda k: k.identify(too_much_nan(k)), 4,
         'not finite'),
    Case('Too few samples', lambda k: k.identify(k.record(slice(400, 440))), 4,
         'at least 50 are needed'),
    Case('Window without samples', lambda k: k.identify(k.bag, '--start', '99'), 4,
         '--start/--stop'),
    Case('URDF that does not parse',
         lambda k: k.identify(k.bag, '--urdf', k.file('arm.urdf', '<robot><link')), 4,
         'not a URDF that parses'),
    Case(
        'URDF with a number that is none',
        lambda k: k.identify(k.bag, '--urdf', k.file(
            'arm.urdf', URDF.read_text().replace('value="8.393"', 'value="8,393"'))), 4,
        "mass of link 'upper_arm_link' is '8,393'",
    ),
    Case(
        'Robot YAML or experiment with an unknown key, or a value out of range',
        lambda k: k.identify(k.bag, robot=k.file('arm.yaml', dump_yaml(
            {'schema_version': 1, 'name': 'a', 'urdf': 'a.urdf', 'joints': {'a': {}}, 'b': 1}))),
        4, 'unknown key b',
    ),
    Case(
        'File of another schema version',
        lambda k: ('validate', k.model('schema_version', value=7), k.bag, '-o', k.results), 4,
        'schema_version is 7',
    ),
    Case(
        'Model file whose URDF was edited',
        lambda k: ('validate', k.model('robot', 'urdf_sha256', value='00'), k.bag, '-o',
                   k.results), 4, 'does not match its hash',
    ),
    Case(
        'Model used on another robot',
        lambda k: ('validate', k.model_file, k.record(
            metadata={'robot': 'ur10', 'effort_unit': 'A'}), '-o', k.results), 4,
        "was recorded on the robot 'ur10'",
    ),
    Case(
        'Bag in another effort unit than the model',
        lambda k: ('predict', k.model_file, k.record(
            metadata={'robot': 'ur5', 'effort_unit': 'Nm'}), '-o', k.results / 'p.csv'), 4,
        'has effort in Nm',
    ),
    Case(
        'Causal prediction of a bag without velocity',
        lambda k: ('predict', '--causal', k.model_file, without_velocity(k), '-o',
                   k.results / 'p.csv'), 4, 'velocity',
    ),
    Case(
        'Export of a model that no rigid body has',
        lambda k: ('export', k.model('standard_parameters', 'values', value=None), '--urdf',
                   k.results / 'arm.urdf'), 4, 'is not exported',
    ),
    Case(
        'Trajectory changed after it was certified',
        lambda k: ('simulate', '--robot', 'ur5', '-o', k.results, '--trajectory', k.file(
            't.yaml', dump_trajectory(k.scene.trajectories[0]).replace('periods: 1',
                                                                       'periods: 2'))), 5,
        'does not match its sha256',
    ),
    Case(
        'Motion that breaks a limit',
        lambda k: ('excite', '--robot', 'ur5', '--evaluate', wild(k), '-o',
                   k.results / 't.yaml'), 5, 'the motion breaks limits',
    ),
    Case(
        'No motion found within the limits',
        lambda k: ('excite', '--robot', 'ur5', '--experiment', weak_experiment(k),
                   '--max-evaluations', '20', '-o', k.results / 't.yaml'), 5,
        'no motion of ur5 within the limits',
    ),
)


@pytest.fixture
def kit(tmp_path, scene, model_file):
    """Return the ingredients, with a fresh folder for inputs; the results' one is not there."""
    (tmp_path / 'inputs').mkdir()
    return Kit(tmp_path / 'inputs', tmp_path / 'results', scene('ur5'), model_file)


@pytest.mark.parametrize('case', CASES, ids=lambda case: case.title)
def test_bad_input(kit, command, case):
    """Exit code, message on stderr alone, and files as they were."""
    arguments = case.arguments(kit)
    before = contents(kit.inputs.parent)
    found = command(*arguments)
    assert case.message in found.err
    assert found.code == case.code
    assert found.out == ''
    assert 'Traceback' not in found.err
    assert 'np.float64' not in found.err
    assert contents(kit.inputs.parent) == before


def test_ctrl_c(command, monkeypatch):
    import robot_identification.cli.robots as robots

    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(robots, 'known_robots', interrupt)
    found = command('robots')
    assert (found.code, found.out) == (130, '')
    assert 'interrupted' in found.err


def test_unknown_gains_are_accepted_as_a_relative_scale(kit):
    """The file and the report say that torques are per unknown gain; export is refused."""
    bag = kit.record(metadata={'robot': 'ur5e', 'effort_unit': 'A'})
    found = succeed(*kit.identify(
        bag, '--relative-scale', '--friction', 'coulomb,viscous', '--cutoff', '9', robot='ur5e'
    ))
    # On one screen, the files last.
    first, *_, last = found.out.splitlines()
    assert first.startswith('Identification of ur5e: ') and found.out.count('\n') <= 30
    assert all(str(kit.results / name) in last for name in ('report.html', 'results.txt'))
    model = read_yaml(kit.results / 'identified_model.yaml')
    assert model['effort']['relative_scale'] is True
    assert model['effort']['drive_gains'] == [1.0] * 6
    assert model['standard_parameters']['values'] is None
    assert 'relative scale' in (kit.results / 'results.txt').read_text()
    exported = refusal(
        'export', kit.results / 'identified_model.yaml', '--urdf', kit.results / 'arm.urdf'
    )
    assert '--drive-gains' in exported
    assert not (kit.results / 'arm.urdf').exists()


def test_every_error_class_has_a_documented_exit_code():
    from robot_identification import errors

    codes = {
        value.exit_code for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.IdentificationError)
    }
    assert codes == {2, 3, 4, 5}
    documented = re.findall(r'^\| (\d+) \|', DOCUMENT.read_text(encoding='utf-8'), re.M)
    assert {0, 130, *codes} == set(map(int, documented))
