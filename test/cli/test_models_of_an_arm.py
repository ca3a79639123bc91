# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`predict --energy`, `temperature` and `compare`, from models of an arm to their files."""

import csv
import json

from builders import answer, contents, joint_states, refusal, run_command, succeed, write_bag
from identified_arms import WarmArm
import numpy as np
import pytest
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.trajectory import dump_trajectory, Trajectory
from robot_identification.model.model_file import dump_model

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
