# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Motions are judged by numbers that follow from the observation matrix and nothing else."""

from builders import two_link_urdf
import numpy as np
import pytest
from robot_identification.excitation import (
    CRITERIA, evaluate_motion, evaluate_recording, load_experiment, Trajectory,
)
from robot_identification.excitation.certificate import experiment_sha256, robot_sha256
from robot_identification.excitation.evaluation import MAXIMUM_SAMPLES
from robot_identification.excitation.information import BaseColumns
from robot_identification.model import make_robot_model, parse_urdf

EXPERIMENT = """
schema_version: 1
trajectory: {form: fourier, harmonics: 3, base_period: 4.0}
periods: 2
collision: off
friction: viscous
samples: [20, 30]
"""


@pytest.fixture(scope='module')
def arm():
    """Return an arm of two joints without drive data."""
    return make_robot_model(parse_urdf(two_link_urdf(), 'two'))


@pytest.fixture(scope='module')
def write(tmp_path_factory):
    def made(text):
        path = tmp_path_factory.mktemp('experiment') / 'e.yaml'
        path.write_text(text)
        return load_experiment(path)
    return made


@pytest.fixture(scope='module')
def experiment(write):
    return write(EXPERIMENT)


@pytest.fixture
def motion(arm, experiment, rng):
    coefficients = 0.5 * rng.normal(size=(2, experiment.form.n_coefficients))
    return Trajectory('two', arm.joint_names, experiment.form, coefficients, 2, {})


def test_criteria_are_those_of_the_samples_that_are_named(arm, experiment, motion):
    """Each set in both readings: t = k T/N, and from start to end."""
    found = evaluate_motion(arm, experiment, motion)
    columns = BaseColumns(arm, experiment)
    assert [(one.samples, one.both_ends) for one in found.optimized] == [
        (20, False), (20, True), (30, False), (30, True)
    ]
    for one in found.optimized:
        step = 4.0 / (one.samples - 1 if one.both_ends else one.samples)
        W = columns.matrix(motion.sample(step * np.arange(one.samples)))
        for name, criterion in CRITERIA.items():
            # Rounding of the instants only.
            assert one.criteria[name] == pytest.approx(criterion(W), rel=1e-9)
    assert set(found.dense) == set(CRITERIA)


def test_a_recording_is_judged_as_the_motion_it_is_of(arm, experiment, motion):
    """Dense samples of one period; an hour's worth is thinned out."""
    t = np.linspace(0.0, 4.0, 501)
    planned = evaluate_motion(arm, experiment, motion)
    recorded = evaluate_recording(arm, experiment, motion.sample(t), 125.0)
    assert recorded.dense == pytest.approx(planned.dense, rel=1e-9)
    assert recorded.samples == 501
    assert not recorded.optimized
    long = motion.sample(np.linspace(0.0, 4.0, 2 * MAXIMUM_SAMPLES + 1))
    thinned = evaluate_recording(arm, experiment, long, 10_000.0)
    # A sum of 20000 samples for one of 501 of a smooth motion.
    assert thinned.dense == pytest.approx(planned.dense, rel=1e-2)
    assert thinned.samples == 2 * MAXIMUM_SAMPLES + 1


def test_fingerprints_are_of_what_is_asked_for(robots, write, experiment):
    """Not of how a file is written: comments and defaults do not count, values do."""
    same = write(EXPERIMENT + '# a comment\nframes: joint\n')
    assert experiment_sha256(same) == experiment_sha256(experiment)
    for change in ('periods: 3', 'samples: [20, 31]', 'optimizer: {name: spectral, starts: 5}',
                   'workspace: {lower: {lower: [null, null, 0.1]}}'):
        key = change.partition(':')[0]
        text = '\n'.join(
            line for line in EXPERIMENT.splitlines() if not line.startswith(key)
        ) + f'\n{change}\n'
        assert experiment_sha256(write(text)) != experiment_sha256(experiment), change
    assert robot_sha256(robots['ur5']) != robot_sha256(robots['ur5e'])
    turned = robots['ur5'].with_gravity([0.0, 0.0, 9.81])
    assert robot_sha256(turned) == robot_sha256(robots['ur5'])
