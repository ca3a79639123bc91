# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`export`, as a user types it: what it prints, what it leaves behind, what it refuses."""

import csv
from dataclasses import replace
import json
import re

from builders import (
    answer, contents, joint_states, refusal, run_command, succeed, topics_of, write_bag,
)
from export.exported_models import changed_prior, model_of
from identified_arms import WarmArm
import numpy as np
import pytest
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.trajectory import (
    dump_trajectory, load_trajectory, Trajectory, trajectory_csv,
)
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model.model_file import dump_model
from robot_identification.model.registry import share_directory
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import read_urdf
from robot_identification.recording.bag import read_recording

FORMATS = {'urdf': 'a.urdf', 'mjcf': 'a.xml', 'sdf': 'a.sdf', 'yaml': 'a.yaml'}
OTHERS = ('my.urdf', 'model.yaml', 'out')
INCONSISTENT = {
    'theta_consistent': None,
    'consistency_note': 'no consistent parameters: the link after elbow_joint',
}


@pytest.fixture(scope='module')
def model(ur5):
    # What a model file needs, and a model by hand does not have.
    return replace(
        model_of(ur5, changed_prior(ur5), 'viscous'), provenance={'bags': []},
        quality={'verdict': 'good'},
    )


@pytest.fixture
def place(model, tmp_path):
    (tmp_path / 'model.yaml').write_text(dump_model(model))
    return tmp_path


def export(place, *arguments):
    """Return a command for the model in a folder, where files of FORMATS and OTHERS lie, too."""
    return 'export', place / 'model.yaml', *(
        place / argument if str(argument) in (*FORMATS.values(), *OTHERS) else argument
        for argument in arguments
    )


def everything():
    return [word for name, file in FORMATS.items() for word in (f'--{name}', file)]


def test_all_formats_at_once(place, model):
    found = succeed(*export(place, *everything()))
    assert found.err == ''
    lines = found.out.splitlines()
    assert lines[0].split() == ['link', 'kg', 'before', 'kg', 'after', 'centre', 'moved', 'mm']
    assert lines[1].split() == ['shoulder_link', '3.700', '4.440', '0.0']
    total = model.theta_consistent[:60:10].sum()
    assert lines[7].split() == ['all', 'that', 'moves', '17.05', f'{total:.2f}']
    assert lines[8:] == [f'written to {place / file}' for file in FORMATS.values()]
    assert sorted(path.name for path in place.iterdir()) \
        == sorted([*FORMATS.values(), 'model.yaml'])
    again = make_robot_model(read_urdf(place / 'a.urdf'))
    np.testing.assert_allclose(
        prior_inertial_parameters(again), model.theta_consistent[:60], atol=1e-12
    )


def test_a_file_may_be_changed_in_place(place, ur5):
    (place / 'my.urdf').write_text(ur5.urdf.text)
    refused = refusal(*export(place, '--urdf', 'my.urdf', '--into', 'my.urdf'))
    assert 'exists already: add --force' in refused
    assert (place / 'my.urdf').read_text() == ur5.urdf.text
    succeed(*export(place, '--urdf', 'my.urdf', '--into', 'my.urdf', '--force'))
    first = (place / 'my.urdf').read_bytes()
    succeed(*export(place, '--urdf', 'my.urdf', '--into', 'my.urdf', '--force'))
    assert (place / 'my.urdf').read_bytes() == first


@pytest.mark.parametrize(('option', 'changes', 'code', 'reason'), [
    *((f'--{name}', INCONSISTENT, 4, INCONSISTENT['consistency_note']) for name in FORMATS),
    *((option, {'relative_scale': True}, 2, 'its torques are of an unknown scale') for option in (
        '--urdf', '--mjcf', '--sdf', '--yaml', '--ros2-control', '--sim',
    )),
])
def test_a_model_that_cannot_be_exported_is_refused_by_name(
        place, model, option, changes, code, reason):
    """Not even by force: --force is about files."""
    (place / 'model.yaml').write_text(dump_model(replace(model, **changes)))
    before = contents(place)
    found = refusal(*export(place, option, 'out', '--force'), code=code)
    assert f'the model of ur5 is not exported: {reason}' in found
    assert contents(place) == before


pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')


@pytest.fixture(scope='module')
def trajectory(ur5, tmp_path_factory):
    form = FourierParametrization(harmonics=4, base_period=2.0)
    coefficients = np.random.default_rng(2).normal(0.0, 0.02, (6, form.n_coefficients))
    path = tmp_path_factory.mktemp('trajectory') / 'trajectory.yaml'
    path.write_text(dump_trajectory(
        Trajectory('ur5', ur5.joint_names, form, coefficients, 1, {})
    ))
    return path


@pytest.fixture
def simulate(trajectory):
    return 'simulate', '--robot', 'ur5', '--trajectory', trajectory


def test_all_options_in_one_bag_each(ur5, simulate, tmp_path):
    """The temperature goes on from bag to bag, and so do the stamps."""
    content = answer(
        *simulate, '--static-friction', '--stiffness', '1e4', '--warm-up', '300', '--repeat', '2',
        '--separate-bags', '-o', tmp_path / 'bag',
    )
    assert content['bags'] == [str(tmp_path / 'bag_1'), str(tmp_path / 'bag_2')]
    assert (content['repeats'], content['samples']) == (2, 500)
    recordings = [
        read_recording(tmp_path / name, ur5.joint_names) for name in ('bag_1', 'bag_2')
    ]
    first, second = (recording.channels['temperature'].values for recording in recordings)
    assert np.all(first[0] < first[-1])
    # At rest a joint cools, 300 times faster than in reality, by a few hundredths in 8 ms.
    np.testing.assert_allclose(second[0], first[-1], atol=0.1)
    np.testing.assert_allclose(second[-1], content['temperatures'], atol=1e-9)
    assert recordings[1].start - recordings[0].start == 2_000_000_000
    for bag in content['bags']:
        assert set(topics_of(tmp_path / bag)) == {
            '/joint_states', '/rotor_states', '/joint_temperatures',
        }


def test_a_plain_arm_is_what_it_was(simulate, ur5, tmp_path):
    """The same again by the same seeds, to the message; other noise by another seed."""
    content = answer(*simulate, '-o', tmp_path / 'bag')
    assert content['bag'] == str(tmp_path / 'bag')
    assert (content['samples'], content['duration']) == (250, 2.0)
    assert 'temperatures' not in content
    assert list(topics_of(tmp_path / 'bag')) == ['/joint_states']
    for name, options in {
        'again': (), 'other': ('--seed', 1), 'arm': ('--truth-seed', 5),
        'perfect': ('--noise-free',),
    }.items():
        succeed(*simulate, '-o', tmp_path / name, *options)
    effort, again, *others = (
        read_recording(tmp_path / name, ur5.joint_names).effort
        for name in ('bag', 'again', 'other', 'arm', 'perfect')
    )
    np.testing.assert_array_equal(effort, again)
    assert all(np.abs(other - effort).max() > 0.0 for other in others)


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


NAMES = ('kinetic_energy', 'kinetic_energy_lower', 'kinetic_energy_upper', 'potential_energy',
         'power', 'delivered_energy', 'friction_loss')


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp('energy')
    arm = WarmArm(folder)
    model = folder / 'identified_model.yaml'
    model.write_text(dump_model(arm.run(25.0, 1)), encoding='utf-8')
    run = arm.dataset(25.0, 2, motion_seed=5)
    names = run.joint_names
    bag = write_bag(
        folder / 'bag',
        joint_states(names, 1.0 + run.stamps, run.motion.q, run.motion.dq, run.effort),
        {'robot': 'arm', 'effort_unit': 'Nm'},
    )
    form = FourierParametrization(harmonics=3, base_period=4.0)
    coefficients = 0.3 * np.random.default_rng(1).normal(size=(3, form.n_coefficients))
    trajectory = folder / 'trajectory.yaml'
    trajectory.write_text(dump_trajectory(Trajectory('arm', names, form, coefficients, 1, {})))
    return model, bag, trajectory


def test_energy_of_a_bag(files, tmp_path):
    """The table has effort and energy, JSON the largest values, the report says what it is not."""
    model, bag, _ = files
    out = tmp_path / 'out.csv'
    energy = answer('predict', model, bag, '--energy', '-o', out, '--threshold', 1)['energy']
    with out.open(newline='', encoding='utf-8') as stream:
        rows = list(csv.DictReader(stream))
    assert set(NAMES) | {'measured_pan', 'residual_pan', 'power_pan', 'friction_power_pan'} <= set(
        rows[0]
    )
    kinetic = np.array([float(row['kinetic_energy']) for row in rows])
    value, low, high = energy['kinetic_energy_max']
    assert low < value == pytest.approx(kinetic.max(), rel=1e-8)
    assert value < high
    assert energy['safety_function'] is False
    # Every time above the threshold is one in the table.
    assert energy['threshold']['outcome'] == 'above'
    crossings = energy['threshold']['crossings']
    above = np.flatnonzero(np.diff(np.r_[0, kinetic > 1.0, 0]) == 1)
    assert len(crossings) == len(above) > 0
    assert max(one['largest'] for one in crossings) == pytest.approx(kinetic.max(), rel=1e-8)
    for one, first in zip(crossings, above, strict=True):
        assert one['start'] <= float(rows[first]['t']) <= one['stop']
    assert sum(joint['friction_loss'][0] for joint in energy['joints']) == pytest.approx(
        energy['friction_loss'][0]
    )
    page = (tmp_path / 'out.html').read_text(encoding='utf-8')
    assert page.index('Above') < page.index('not a safety function') < page.index('Over time')
    assert page.count('class="plot"') == 3
    assert '--force' in refusal('predict', model, bag, '--energy', '-o', out)


JOINTS = ('pan', 'lift', 'reach')


@pytest.fixture(scope='module')
def warmed(tmp_path_factory):
    """Return model files of an arm at three temperatures, made without bags."""
    folder = tmp_path_factory.mktemp('models')
    arm = WarmArm(folder)
    paths = []
    for number, warmth in enumerate((22.0, 29.0, 38.0)):
        paths.append(folder / f'model_{number}.yaml')
        paths[-1].write_text(dump_model(arm.run(warmth, number)))
    return paths


def test_files_are_whole_and_not_overwritten(warmed, tmp_path):
    out = tmp_path / 'out'
    first = succeed('temperature', *warmed, '-o', out)
    assert set(contents(out)) == {
        'temperature.json', 'identified_model.yaml', 'report.html', 'results.txt',
    }
    before = contents(out)
    assert '--force' in refusal('temperature', *warmed, '-o', out)
    assert contents(out) == before
    forced = run_command('temperature', *warmed, '-o', out, '--force')
    assert (forced.code, contents(out)) == (0, {
        **before, 'report.html': (out / 'report.html').read_bytes(),
    })
    report = (out / 'report.html').read_text()
    assert report.count('<figure>') == report.count('<svg class="plot"') == 3
    assert all(f'<th scope="row">{joint}</th>' in report for joint in JOINTS)
    text = (out / 'results.txt').read_text()
    assert first.out.startswith(text)
    assert max(map(len, text.splitlines())) <= 100


@pytest.fixture(scope='module')
def models(tmp_path_factory):
    """Return model files of a cold and a warm arm, and of the cold one once more."""
    folder = tmp_path_factory.mktemp('models')
    arm = WarmArm(folder)
    paths = []
    for name, warmth, seed in (('cold', 22.0, 1), ('warm', 38.0, 2), ('again', 22.0, 3)):
        paths.append(folder / f'{name}.yaml')
        paths[-1].write_text(dump_model(arm.run(warmth, seed)))
    return paths


def test_cold_warm_and_cold_again(models):
    """Each against the first: friction moved in one, nothing in the other."""
    outcome = run_command('compare', *models, '--json')
    assert (outcome.code, outcome.err) == (0, '')
    warm, again = json.loads(outcome.out)['pairs']
    assert warm['differ']
    assert [group['group'] for group in warm['groups'] if group['moved']] == ['viscous']
    assert not again['differ']
    assert [pair['second'] for pair in (warm, again)] == [str(path) for path in models[1:]]
    largest = zip(warm['torque']['largest'], again['torque']['largest'], strict=True)
    assert all(one > other for one, other in largest)
