# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
What is wrong with a recording is named, and a sound one is not doubted; MuJoCo is the truth.

The arms and what is done to their recordings are those of the calibration in benchmarks/doubts.py,
with one seed; shares over many seeds are in docs/verdict.md.
"""

from dataclasses import replace
from functools import cache

from builders import joint_states, write_bag
import numpy as np
import pytest
from robot_identification.estimation.doubts import DOUBTS, examine_data
from robot_identification.estimation.doubts.clipping import _share_at_top
from robot_identification.estimation.doubts.evidence import gather
from robot_identification.estimation.doubts.structure import find_structure
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.processing import process
from robot_identification.recording.bag import read_recording

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
doubted = pytest.importorskip('benchmarks.doubts')

SEED = 0
WRONG = [name for name in doubted.CORRUPTIONS if name != 'clean']


@cache
def arm(name='ur5'):
    """Return an arm with its recordings."""
    return doubted.make_arm(name, SEED)


def examine(made, recording, unit='A', **options):
    """Return what is found in a recording whose model leaves nothing behind."""
    dataset = process(recording, KinematicFilter(cutoff=9.0), unit, robot=made.robot)
    return examine_data(made.robot, [dataset], np.zeros(made.robot.n), **options)


@pytest.mark.parametrize('name', doubted.ARMS)
def test_a_sound_recording_is_not_doubted(name):
    """Friction, elasticity and ripple that the model lacks are no reason."""
    found = examine(arm(name), arm(name).training)
    assert found.doubts == ()
    assert any('common factor' in text for text in found.assumptions)


@pytest.mark.parametrize('wrong', WRONG)
def test_what_is_wrong_is_named(wrong):
    """The hypothesis that is true explains most; a doubt says on what evidence and what to do."""
    corruption = doubted.CORRUPTIONS[wrong]
    found = examine(arm(), corruption.make(arm(), SEED))
    assert {doubt.name for doubt in found.doubts} & set(corruption.names)
    for doubt in found.doubts:
        assert doubt.name in DOUBTS
        assert set(doubt.joints) <= set(arm().robot.joint_names)
        assert np.isfinite(doubt.value) and doubt.check
        assert f'{doubt.value:.3g}' in str(doubt)


def test_the_joint_and_the_number_are_right():
    """To a step of the search: 6 ms of a delay, a tenth of a factor, 3 degrees of a mounting."""
    late = doubted.late(arm().training, 0.08, slice(4, 5))
    doubt, *_ = examine(arm(), late).doubts
    assert doubt.joints == (arm().robot.joint_names[4],)
    assert doubt.value == pytest.approx(0.08, abs=0.006)
    doubt, *_ = examine(arm(), doubted.scaled(arm().training, 2.0)).doubts
    # Masses and gains are up to 20 % and 5 % off.
    assert doubt.value == pytest.approx(2.0, rel=0.25)
    doubt, *_ = examine(arm(), doubted.exchange(arm().training, 3, 4, effort=True)).doubts
    assert doubt.joints == arm().robot.joint_names[3:5]
    assert doubt.suspicion.startswith('the names of')


def test_unit_and_order_of_the_bag_do_not_matter(tmp_path):
    """Torques are the same numbers, to rounding, and joints are found by name."""
    made = arm()
    recording = doubted.late(made.training, 0.08, slice(4, 5))
    expected = examine(made, recording)
    gain = made.robot.drives.drive_gain
    in_torque = examine(made, replace(recording, effort=recording.effort * gain), 'Nm')
    order = [3, 0, 5, 1, 4, 2]
    bag = write_bag(tmp_path / 'bag', joint_states(
        [made.robot.joint_names[k] for k in order], 5.0 + recording.stamps,
        recording.q[:, order], recording.dq[:, order], recording.effort[:, order],
    ), {'robot': 'ur5', 'effort_unit': 'A'}, '/joint_states')
    from_bag = examine(made, read_recording(bag, made.robot.joint_names))
    for other in (in_torque, from_bag):
        assert [(d.name, d.joints) for d in other.doubts] == \
            [(d.name, d.joints) for d in expected.doubts]
        assert other.doubts[0].value == pytest.approx(expected.doubts[0].value, rel=1e-6)
        assert other.assumptions == expected.assumptions


def test_without_gains_a_common_factor_is_an_assumption():
    """The same effort, doubled, is doubted against the URDF's masses, and not without gains."""
    twice = doubted.scaled(arm().training, 2.0)
    assert 'common_factor' in {doubt.name for doubt in examine(arm(), twice).doubts}
    free = examine(arm(), twice, relative_scale=True)
    assert 'common_factor' not in {doubt.name for doubt in free.doubts}
    assert any('drive gains are unknown' in text for text in free.assumptions)


def test_joints_that_cannot_be_told_are_listed():
    """The zero of a first joint that stands upright is anywhere: gravity does not see it."""
    made = arm()
    shift = doubted.offset_zero(made.training, 0, 0.3)
    found = examine(made, shift)
    assert found.doubts == ()
    zeros, = (text for text in found.assumptions if text.startswith('encoder zero'))
    assert made.robot.joint_names[0] in zeros


def test_too_few_samples_are_no_evidence():
    """Tests need some seconds; that they were not made is said."""
    made = arm()
    short = made.training.until(2.0)
    dataset = process(short, KinematicFilter(cutoff=9.0), 'A', robot=made.robot)
    assert gather(made.robot, [dataset]) is None
    found = examine(made, short)
    assert found.doubts == ()
    assert 'too few samples' in found.assumptions[0]


def test_structure_counts_where_it_matters_and_is_no_noise():
    """Residuals of 20 % of the spread, against noise of 1 % and of 20 %, and residuals of 5 %."""
    made = arm()
    dataset = process(made.training, KinematicFilter(cutoff=9.0), 'A', robot=made.robot)
    spread = made.robot.drives.drive_gain * dataset.effort[dataset.fitted].std(axis=0)
    doubt, = find_structure(made.robot, [dataset], 0.2 * spread)
    assert doubt.name == 'structure' and doubt.value > doubt.threshold
    assert find_structure(made.robot, [dataset], 0.05 * spread) == ()
    rng = np.random.default_rng(1)
    noisy = replace(
        dataset, effort=dataset.effort + 0.2 * dataset.effort.std(axis=0)
        * rng.normal(size=dataset.effort.shape),
    )
    assert find_structure(made.robot, [noisy], 0.21 * spread) == ()


def test_a_plateau_is_told_from_a_peak(rng):
    """One-sided clipping counts; a sine, noise, and few coarse levels do not."""
    sine = np.sin(np.linspace(0.0, 20.0, 2000))
    assert _share_at_top(np.minimum(sine, 0.8)) == pytest.approx(0.2, abs=0.02)
    assert _share_at_top(sine) == 0.0
    assert _share_at_top(rng.normal(size=2000)) == 0.0
    # A level is as frequent as that below it.
    assert _share_at_top(np.minimum(np.round(20.0 * sine), 30.0)) < 0.12
