# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`excite` as a user types it: searches that go on, motions of others, bags, pictures."""

import json
import re

from builders import contents, refusal, succeed, two_link_urdf, write_run
import numpy as np
import pytest
from robot_identification.cli import excite, excite_text
from robot_identification.errors import UsageError
from robot_identification.excitation.criteria import CRITERIA
from robot_identification.excitation.optimizers.search import Progress
from robot_identification.excitation.trajectory import (
    dump_trajectory, load_trajectory, trajectory_csv,
)
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model.registry import share_directory

EXPERIMENT = """
schema_version: 1
trajectory: {form: fourier, harmonics: 3, base_period: 4.0}
collision: off
friction: viscous
optimizer: {name: spectral, starts: 4}
samples: 20
"""


@pytest.fixture
def arm(tmp_path):
    """Return the options of an arm that is searched for in a second."""
    (tmp_path / 'two.urdf').write_text(two_link_urdf())
    (tmp_path / 'e.yaml').write_text(EXPERIMENT)
    return ('--urdf', tmp_path / 'two.urdf', '--experiment', tmp_path / 'e.yaml')


@pytest.fixture
def motion(scene, tmp_path):
    path = tmp_path / 'motion.yaml'
    path.write_text(dump_trajectory(scene('ur5').trajectories[0]))
    return path


@pytest.fixture
def evaluate(tmp_path):
    """Return the arguments that judge a motion of it without obstacles, whose proofs take long."""
    demo = share_directory() / 'config' / 'experiments' / 'demo.yaml'
    (tmp_path / 'air.yaml').write_text(demo.read_text() + 'collision: off\n')
    return ('excite', '--robot', 'ur5', '--experiment', tmp_path / 'air.yaml', '--evaluate')


def read_json(found):
    """Return the object that a command printed; NaN is no JSON."""
    return json.loads(found.out, parse_constant=pytest.fail)


@pytest.mark.parametrize(('options', 'expected'), [
    ((), (7, np.inf)), (('--time-limit', '1m'), (7, 60.0)), (('--time-limit', 5), (1, 5.0)),
    (('--max-evaluations', 50), (1, np.inf)), (('--processes', 3, '--time-limit', 5), (3, 5.0)),
])
def test_all_processors_search_unless_others_would_start_in_vain(
    monkeypatch, command, arm, tmp_path, options, expected
):
    asked = []

    def design(*args, processes, budget, **others):
        asked.append((processes, budget.seconds))
        raise UsageError('enough is known')

    monkeypatch.setattr(excite, 'available_processors', lambda: 7)
    monkeypatch.setattr(excite, 'design_excitation', design)
    assert command('excite', *arm, '-o', tmp_path / 't.yaml', *options).code == 2
    assert asked == [expected]


def test_progress_tells_how_the_search_goes():
    """In one line; before there is a best, and where the time is long."""
    shown = excite_text.describe_search(Progress(1.23456, 1200, 7, 0.42, 83.4))
    assert shown == ' 42%  1200 evaluations, 7 feasible, best 1.2346, 1:23 left'
    assert 'best none yet' in excite_text.describe_search(Progress(np.inf, 1, 0, 0.0, 4000.0))


def test_an_interrupted_search_leaves_nothing(monkeypatch, command, arm, tmp_path):
    def interrupt(progress):
        raise KeyboardInterrupt

    monkeypatch.setattr(excite, 'describe_search', interrupt)
    found = command('excite', *arm, '--processes', 1, '-o', tmp_path / 't.yaml')
    assert found.code == 130
    assert not (tmp_path / 't.yaml').exists()


def test_every_criterion_is_told_with_its_meaning(command, motion, evaluate):
    found = succeed(*evaluate, motion)
    words = ' '.join(found.out.split())
    for name, criterion in CRITERIA.items():
        assert re.search(rf'\n  {name}( +[\d.e+-]+){{3,4}}\n', found.out), name
        assert f'{name}: {criterion.meaning}' in words
    for part in ('58 base parameters in joint frames, gautier_khalil order', 'at k T/N',
                 'with both ends', 'SI units', 'weakest of the', 'sha256'):
        assert part in words
    assert max(map(len, found.out.splitlines())) < 140
    content = read_json(command(*evaluate, motion, '--json', '--torque-noise', 0.5))
    judged = content['evaluation']
    assert set(judged['criteria_dense']) == set(judged['meaning']) == set(CRITERIA)
    assert [one['both_ends'] for one in judged['criteria_optimised']] == [False, True]
    assert judged['base_parameters'] == len(judged['standard_errors']) == 58
    assert judged['torque_noise'] == [0.5] * 6
    assert len(judged['weakest']) == 5


def test_motions_of_others_are_certified(scene, command, motion, evaluate, tmp_path):
    """Samples and messages become trajectory files of the same motion and the same worth."""
    trajectory = scene('ur5').trajectories[0]
    (tmp_path / 'samples.csv').write_text(trajectory_csv(trajectory, 125.0))
    t = np.linspace(0.0, 10.0, 501)
    samples = trajectory.sample(t)
    message = {
        'header': {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': ''},
        'joint_names': list(trajectory.joint_names),
        'points': [
            {
                'positions': samples.q[k].tolist(), 'velocities': samples.dq[k].tolist(),
                'accelerations': samples.ddq[k].tolist(), 'effort': [],
                'time_from_start': {'sec': int(t[k]), 'nanosec': round(1e9 * (t[k] % 1.0))},
            } for k in range(501)
        ],
    }
    (tmp_path / 'echo.yaml').write_text(dump_yaml(message) + '---\n')
    (tmp_path / 'message.json').write_text(json.dumps(message))
    original = read_json(command(*evaluate, motion, '--json'))
    for name in ('samples.csv', 'echo.yaml', 'message.json'):
        output = tmp_path / f'{name}.certified.yaml'
        found = succeed(*evaluate, tmp_path / name, '-o', output, '--json')
        certified = load_trajectory(output)
        assert certified.form.name == 'sampled'
        assert certified.certificate['robot'] == 'ur5'
        # Twelve digits in the CSV, whole nanoseconds in messages.
        for kind, value in original['evaluation']['criteria_dense'].items():
            assert read_json(found)['evaluation']['criteria_dense'][kind] == pytest.approx(
                value, rel=1e-4
            )


def test_a_motion_that_breaks_limits_is_judged_and_refused(command, motion, evaluate, tmp_path):
    """Criteria and picture come out, nothing that could be executed does; exit code 5."""
    content = read_yaml(motion)
    content['coefficients'] = (3.0 * np.array(content['coefficients'])).tolist()
    (tmp_path / 'wild.yaml').write_text(dump_yaml(content))
    run = (*evaluate, tmp_path / 'wild.yaml')
    out, picture = tmp_path / 'out.yaml', tmp_path / 'wild.png'
    found = command(*run, '-o', out, '--csv', tmp_path / 'o.csv', '--picture', picture)
    assert found.code == 5
    assert 'the motion breaks limits' in found.err
    assert 'not certified' in found.err
    assert 'condition_number_scaled' in found.err
    assert found.out == ''
    assert picture.read_bytes().startswith(b'\x89PNG')
    assert not out.exists()
    assert not (tmp_path / 'o.csv').exists()
    content = read_json(command(*run, '--json'))
    assert content['certificate'] is None
    assert 'breaks limits' in content['refused']


def test_a_bag_is_judged_beside_what_was_planned(scene, command, motion):
    """The executed motion is worth what was planned, to a few percent; errors are simulated."""
    bag = scene('ur5').bags[0]
    run = ('excite', '--robot', 'ur5', '--evaluate', bag)
    found = succeed(*run, '--planned', motion)
    assert re.search(r'planned +recorded\n', found.out)
    assert re.search(r'tracking error.*\n +shoulder_pan_joint: rms [\d.e-]+ rad', found.out)
    content = read_json(command(*run, '--planned', motion, '--json'))
    planned, recorded = (
        content[key]['criteria_dense'] for key in ('planned', 'evaluation')
    )
    for name in ('condition_number', 'condition_number_scaled'):
        assert recorded[name] == pytest.approx(planned[name], rel=0.05)
    assert content['tracking']['joints'] == list(scene('ur5').robot.joint_names)
    # The simulator follows to some milliradians.
    assert 0.0 < max(content['tracking']['worst']) < 0.02
    alone = succeed(*run, '--start', 2, '--stop', 8)
    assert 'tracking' not in alone.out


def test_bags_without_effort_and_with_another_motion(scene, tmp_path):
    """Mock hardware publishes zeros or nothing: the motion is there all the same."""
    made = scene('ur5')
    other = tmp_path / 'other.yaml'
    other.write_text(dump_trajectory(made.trajectories[1]))
    for name, effort in {'zero': 0.0, 'absent': np.nan}.items():
        bag = write_run(
            tmp_path / name, made.robot, made.runs[0],
            effort=np.full_like(made.runs[0].measured[2], effort),
        )
        found = succeed(
            'excite', '--robot', 'ur5', '--evaluate', bag, '--planned', other, '--json'
        )
        assert read_json(found)['tracking'] is None
    still = write_run(
        tmp_path / 'still', made.robot, made.runs[0],
        q=np.zeros_like(made.runs[0].measured[0]), dq=np.zeros_like(made.runs[0].measured[1]),
    )
    assert 'no joint moves' in refusal('excite', '--robot', 'ur5', '--evaluate', still, code=4)


def test_pictures_and_samples_are_written(command, motion, evaluate, tmp_path):
    picture, samples = tmp_path / 'm.png', tmp_path / 'm.csv'
    run = (*evaluate, motion, '--picture', picture, '--csv', samples)
    assert command(*run).code == 0
    assert picture.read_bytes().startswith(b'\x89PNG')
    text = samples.read_text()
    assert str(samples) in refusal(*run)
    assert samples.read_text() == text


@pytest.mark.parametrize('interrupted', [
    'robot_identification.report.render_trajectory_report',
    'robot_identification.cli.excite.trajectory_csv',
])
def test_an_interrupt_leaves_no_file_of_several(
    command, motion, evaluate, tmp_path, monkeypatch, interrupted
):
    """Ctrl-C while one of the files is made: none of the others is there."""
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(interrupted, interrupt)
    before = contents(tmp_path)
    found = command(
        *evaluate, motion, '-o', tmp_path / 't.yaml',
        '--report', tmp_path / 'r.html', '--csv', tmp_path / 'c.csv',
    )
    assert found.code == 130
    assert contents(tmp_path) == before


@pytest.mark.parametrize(('options', 'words'), [
    (('--processes', 0), '--processes: 0'),
    *((words, words[0]) for option, values in {
        '--torque-noise': (0, 'nan'), '--max-evaluations': (0,), '--time-limit': (0, 'nan'),
        '--rate': (0, 'nan'),
    }.items() for words in ((option, value) for value in values)),
    (('--picture', 'motion.pdf'), 'must end in .png'),
    (('--planned', 'motion.yaml'), '--planned is for bags'),
    (('--topic', '/joint_states'), '--topic is for bags'),
    (('--checkpoint', 's.json'), 'option --checkpoint was removed in 2.0: searches are repeated'),
    (('--evaluate', 'bag.mcap', '--picture', 'm.png'), '-o is for motions'),
    (('--evaluate', 'bag.mcap', '--start', 3, '--stop', 2), '-o is for motions'),
])
def test_options_that_do_not_go_together_are_refused(command, tmp_path, monkeypatch, options,
                                                     words):
    monkeypatch.chdir(tmp_path)
    assert command('excite', '--robot', 'ur5').code == 2, 'nothing to write'
    assert words in refusal('excite', '--robot', 'ur5', '-o', 't.yaml', *options)
    assert list(tmp_path.iterdir()) == []
