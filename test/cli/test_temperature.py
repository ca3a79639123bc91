# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`temperature`, from bags of a simulated arm that warms up to its files."""

import json

from builders import contents, refusal, run_command, succeed
from identified_arms import WarmArm
from long_tests import long_test
import numpy as np
import pytest
from recordings import write_small_arm
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.trajectory import dump_trajectory, Trajectory
from robot_identification.model.model_file import dump_model, load_model
from robot_identification.simulation.joint_effects import AMBIENT, VISCOUS_SLOPE

PERIOD = 8.0
# A motion whose joints go together little: slopes are then known to 2 % (standard error).
SEED = 6
JOINTS = ('pan', 'lift', 'reach')


def write_trajectory(path):
    """Write a Fourier motion of the small arm, at rest at both ends."""
    form = FourierParametrization(harmonics=5, base_period=PERIOD)
    coefficients = np.random.default_rng(SEED).normal(size=(3, form.n_coefficients))
    fastest = np.abs(form.basis(np.arange(0.0, PERIOD, 0.01))[1] @ coefficients.T).max(axis=0)
    coefficients *= (1.8 / fastest)[:, None]
    path.write_text(dump_trajectory(Trajectory('arm', JOINTS, form, coefficients, 1, {})))
    return path


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """Return model files of an arm at three temperatures, made without bags."""
    folder = tmp_path_factory.mktemp('models')
    arm = WarmArm(folder)
    paths = []
    for number, warmth in enumerate((22.0, 29.0, 38.0)):
        paths.append(folder / f'model_{number}.yaml')
        paths[-1].write_text(dump_model(arm.run(warmth, number)))
    return paths


@long_test
def test_from_bags_to_lines(tmp_path, without_pictures):
    """Repeated runs, one model each, a line: viscous friction falls by the simulated share."""
    # Drive gains of the simulated arm are 5 % off, so slopes are compared as shares of viscous
    # friction, within four of their standard errors.
    robot = write_small_arm(tmp_path)
    trajectory = write_trajectory(tmp_path / 'trajectory.yaml')
    succeed(
        'simulate', '--robot', robot, '--trajectory', trajectory, '--truth-seed', 3, '--warm-up',
        60, '--repeat', 3, '--separate-bags', '--noise-free', '-o', tmp_path / 'bag',
    )
    models = []
    for number in (1, 2, 3):
        succeed('identify', tmp_path / f'bag_{number}', '--robot', robot, '--cutoff', 9,
                '--friction', 'coulomb,viscous,offset', '-o', tmp_path / f'm{number}')
        models.append(tmp_path / f'm{number}' / 'identified_model.yaml')
    out = tmp_path / 'temperature'
    succeed('temperature', *models, '-o', out)
    content = json.loads((out / 'temperature.json').read_text())
    assert content['order'] == [1, 2, 3]
    for joint in content['joints']:
        line = joint['viscous']['line']
        at_ambient = line['value'] + line['slope'] * (AMBIENT - line['reference'])
        share_error = line['slope_error'] / at_ambient
        assert line['slope'] / at_ambient == pytest.approx(
            VISCOUS_SLOPE, abs=max(4.0 * share_error, 0.05 * abs(VISCOUS_SLOPE))
        )
        assert not joint['coulomb_moves']
    model = load_model(out / 'identified_model.yaml')
    assert {term.law.name for term in model.parameters.friction} == {
        'coulomb', 'viscous', 'temperature_viscous', 'offset',
    }
    succeed('validate', out / 'identified_model.yaml', tmp_path / 'bag_1', '-o', tmp_path / 'v')
    # The model was lifted from the middle run; with its slopes it predicts the cold one as well.
    assert json.loads((tmp_path / 'v' / 'validation.json').read_text())[
        'bags'][0]['nrmse_mean'] < 0.06


def test_files_are_whole_and_not_overwritten(files, tmp_path):
    out = tmp_path / 'out'
    first = succeed('temperature', *files, '-o', out)
    assert set(contents(out)) == {
        'temperature.json', 'identified_model.yaml', 'report.html', 'results.txt',
    }
    before = contents(out)
    assert '--force' in refusal('temperature', *files, '-o', out)
    assert contents(out) == before
    forced = run_command('temperature', *files, '-o', out, '--force')
    assert (forced.code, contents(out)) == (0, {
        **before, 'report.html': (out / 'report.html').read_bytes(),
    })
    report = (out / 'report.html').read_text()
    assert report.count('<figure>') == report.count('<svg class="plot"') == 3
    assert all(f'<th scope="row">{joint}</th>' in report for joint in JOINTS)
    text = (out / 'results.txt').read_text()
    assert first.out.startswith(text)
    assert max(map(len, text.splitlines())) <= 100
