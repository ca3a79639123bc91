# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A trajectory file is what was approved, to the last bit."""

import json

import numpy as np
import pytest
from robot_identification.errors import (
    DescriptionError, IdentificationError, UnsafeMotionError, UsageError,
)
from robot_identification.excitation import (
    dump_trajectory, FourierParametrization, load_trajectory, Trajectory,
)
from robot_identification.files import dump_yaml, read_yaml


@pytest.fixture
def trajectory():
    """Return a motion of two joints, three periods of four seconds."""
    form = FourierParametrization(harmonics=3, base_period=4.0)
    coefficients = np.random.default_rng(0).normal(size=(2, form.n_coefficients))
    return Trajectory('arm', ('one', 'two'), form, coefficients, 3, {'robot': 'arm', 'seed': 7})


@pytest.fixture
def saved(trajectory, tmp_path):
    path = tmp_path / 'trajectory.yaml'
    path.write_text(dump_trajectory(trajectory))
    return path


def test_round_trip_to_the_bit(trajectory, saved):
    loaded = load_trajectory(saved)
    assert loaded.coefficients.tobytes() == trajectory.coefficients.tobytes()
    assert (loaded.robot, loaded.joint_names, loaded.form, loaded.periods) == (
        'arm', ('one', 'two'), trajectory.form, 3,
    )
    assert loaded.certificate == trajectory.certificate
    assert loaded.sha256 == trajectory.sha256
    assert dump_trajectory(loaded) == saved.read_text()
    assert saved.read_text().rstrip().endswith(trajectory.sha256)


@pytest.mark.parametrize(
    ('key', 'value'),
    [
        ('periods', 4), ('robot', 'other'), ('joints', ['two', 'one']), ('certificate', {}),
        ('options', {'harmonics': 3, 'base_period': 4.0000001}),
    ],
)
def test_an_edited_motion_is_not_executed(saved, key, value):
    """Whatever was changed after the approval: unsafe, and the way out is named."""
    content = read_yaml(saved)
    saved.write_text(dump_yaml({**content, key: value}))
    with pytest.raises(UnsafeMotionError, match=r'sha256.*excite --evaluate'):
        load_trajectory(saved)


@pytest.mark.parametrize(
    ('key', 'value', 'error', 'message'),
    [
        ('schema_version', 2, DescriptionError, 'schema_version is 2'),
        ('colour', 'blue', DescriptionError, 'unknown key colour'),
        ('form', 'spline', DescriptionError, "unknown form 'spline': known are fourier"),
        ('coefficients', [[0.0] * 5], DescriptionError, r'shape \(1, 5\)'),
        ('coefficients', [[0.0] * 5, ['x'] * 5], DescriptionError, 'damaged'),
        ('coefficients', [[0.0] * 5, [float('nan')] * 5], UnsafeMotionError, 'finite'),
        ('periods', 0, DescriptionError, 'periods is 0'),
        ('certificate', {'a': float('nan')}, IdentificationError, 'trajectory.yaml'),
    ],
)
def test_a_wrong_file_is_refused_by_name(saved, key, value, error, message):
    content = read_yaml(saved)
    saved.write_text(dump_yaml({**content, key: value}))
    with pytest.raises(error, match=message):
        load_trajectory(saved)


def test_missing_keys_are_refused_by_name(saved):
    content = read_yaml(saved)
    for key in content:
        saved.write_text(dump_yaml({name: content[name] for name in content if name != key}))
        with pytest.raises(DescriptionError, match=key):
            load_trajectory(saved)
    with pytest.raises(UsageError, match='no such file'):
        load_trajectory(saved.with_name('absent.yaml'))


def test_hash_is_over_content_another_program_can_rebuild(trajectory):
    """SHA-256 of JSON with sorted keys and no spaces, as docs/formats says."""
    import hashlib

    content = {
        'schema_version': 1, 'robot': 'arm', 'joints': ['one', 'two'], 'form': 'fourier',
        'options': {'harmonics': 3, 'base_period': 4.0},
        'coefficients': trajectory.coefficients.tolist(), 'periods': 3,
        'certificate': {'robot': 'arm', 'seed': 7},
    }
    text = json.dumps(content, sort_keys=True, separators=(',', ':'))
    assert trajectory.sha256 == hashlib.sha256(text.encode()).hexdigest()
