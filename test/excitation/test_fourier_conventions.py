# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Published tables of Fourier coefficients are converted, checked, repaired and imported."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UnsafeMotionError, UsageError
from robot_identification.excitation import (
    certify, find_experiment, import_motion, load_experiment,
)
from robot_identification.excitation.fourier_table import (
    check_ends, end_residuals, nearest_at_rest,
)
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.model.registry import load_robot

# G. Porcelli, master thesis, Politecnico di Torino 2020, tables 4.1 and 4.2, as printed.
RATE = 0.3 * np.pi
SINE = np.array([
    [0.0094, 0.0482, 0.0038, -0.0024, -0.0214],
    [0.5765, -0.0032, -0.0051, -0.0116, 0.1018],
    [0.0435, -0.0250, 0.0174, -0.0023, -0.0074],
    [0.0642, -0.0128, 0.0186, 0.0029, -0.0212],
    [-0.6081, -0.0068, 0.0079, 0.1485, 0.0010],
    [0.6136, -0.0190, -0.1571, -0.0276, 0.0010],
])
COSINE = np.array([
    [-0.0085, 0.1599, -0.0283, -0.0826, 0.0378],
    [0.1459, -0.0048, -0.0093, 0.0120, -0.0094],
    [0.6786, -0.0274, -0.0145, -0.0734, -0.0106],
    [-1.2397, 0.0079, -0.0352, -0.0082, 0.0662],
    [-0.4490, 0.0036, 0.0078, 0.0059, 0.0108],
    [0.1662, 0.0217, -0.0068, -0.0529, 0.0022],
])
JOINTS = tuple(f'joint_{number}' for number in range(1, 7))
# Sums of l a_l and l^2 b_l of the printed digits.
VELOCITY = [0.0006, 1.0174, -0.0005, 0.0, 0.0010, -0.0011]
ACCELERATION = [-0.0002, 0.0, -1.0009, -0.0011, 0.0, -0.5996]


def motion(a, b, t):
    """Return position, velocity and acceleration of a table in 'sum', by hand."""
    order = np.arange(1, a.shape[1] + 1)
    rate, phase = RATE * order, RATE * np.outer(t, order)
    sine, cosine = np.sin(phase), np.cos(phase)
    return (
        sine @ a.T - cosine @ b.T,
        rate * cosine @ a.T + rate * sine @ b.T,
        -(rate**2) * sine @ a.T + rate**2 * cosine @ b.T,
    )


def test_the_printed_table_is_refused_for_three_joints():
    """Their sums are those of the printed digits; joints 1, 4 and 5 pass."""
    velocity, acceleration = end_residuals(SINE, COSINE)
    np.testing.assert_allclose(velocity, VELOCITY, atol=1e-12)
    np.testing.assert_allclose(acceleration, ACCELERATION, atol=1e-12)
    with pytest.raises(UnsafeMotionError) as refusal:
        check_ends(JOINTS, SINE, COSINE, RATE)
    text = str(refusal.value)
    for words in (
        'joint_2 starts with 0.959 rad/s (sum l a_l = 1.0174)',
        'joint_3 starts with -0.889 rad/s^2 (sum l^2 b_l = -1.0009)',
        'joint_6 starts with -0.533 rad/s^2 (sum l^2 b_l = -0.5996)',
        'repair: true',
    ):
        assert words in text
    assert text.count('starts with') == 3
    kept = [0, 3, 4]
    check_ends([JOINTS[joint] for joint in kept], SINE[kept], COSINE[kept], RATE)


def test_the_repaired_table_is_the_nearest_at_rest():
    """It rests, goes off at right angles to all that rest, and is the form's own motion."""
    a, b = nearest_at_rest(SINE, COSINE)
    check_ends(JOINTS, a, b, RATE, tolerance=1e-14)
    np.testing.assert_allclose(nearest_at_rest(a, b), (a, b), atol=1e-15)
    form = FourierParametrization(5, 2.0 * np.pi / RATE)
    coefficients = np.column_stack([np.zeros(6), a[:, 1:], b[:, 1:]])
    np.testing.assert_allclose(form.series(coefficients), (a, b), atol=1e-14)
    resting = form.series(np.eye(form.n_coefficients))
    for off, directions in zip((SINE - a, COSINE - b), resting, strict=True):
        np.testing.assert_allclose(off @ directions.T, 0.0, atol=1e-14)
    t = np.linspace(0.0, form.duration, 101)
    for basis, by_hand in zip(form.basis(t), motion(a, b, t), strict=True):
        np.testing.assert_allclose(basis @ coefficients.T, by_hand, atol=1e-12)


# --- from a file -------------------------------------------------------------------------


TABLES = Path(__file__).resolve().parents[1] / 'fixtures' / 'trajectories'
REPAIRED = TABLES / 'porcelli_2020_repaired.yaml'


@pytest.fixture(scope='module')
def arm():
    return load_robot('ur5_porcelli')


def test_the_repaired_table_is_a_motion_within_the_thesis_limits(arm):
    """At rest to rounding, and certified by the thesis' own limits."""
    motion = replace(import_motion(REPAIRED, arm.joint_names, robot=arm.name), periods=3)
    assert motion.duration == pytest.approx(20.0, abs=1e-9)
    ends = motion.sample(np.array([0.0, motion.form.duration]))
    assert np.abs(ends.dq).max() < 1e-12
    assert np.abs(ends.ddq).max() < 1e-12
    experiment = load_experiment(find_experiment('porcelli_2020_ur5'))
    # By its conservative bound joint 4 is 1.4e-5 above pi; its exact maximum is not.
    with pytest.raises(UnsafeMotionError, match=r'wrist_1_joint reaches 3.142 .* conservative'):
        certify(arm, experiment, motion, {})
    certificate = certify(arm, replace(experiment, bounds='sampled'), motion, {}).certificate
    # Of the table as printed it is 3.001 of pi rad/s^2, in joint 2, which the repair changes.
    assert 0.85 < certificate['limits']['acceleration']['share'] <= 1.0


@pytest.mark.parametrize(('old', 'new', 'words'), [
    ('center: [0.0,', 'center: [', r'center must be 6 positions in rad'),
    ('convention: sum', 'convention: swevers', r'unknown convention .*sum, div, plus_cosine'),
    ('repair: true', 'mend: true', r'mend'),
    ('0.0482', 'many', r'printed|repaired|table'),
    # The table as printed: these joints do not rest.
    ('repair: true', 'repair: false',
     r'shoulder_lift_joint starts .*elbow_joint starts .*wrist_3_joint starts .*repair: true'),
])
def test_what_is_no_table_is_refused_by_file(arm, tmp_path, old, new, words):
    path = tmp_path / 'table.yaml'
    path.write_text(REPAIRED.read_text().replace(old, new))
    kinds = DescriptionError, UsageError, UnsafeMotionError
    with pytest.raises(kinds, match=words) as refusal:
        import_motion(path, arm.joint_names)
    assert str(path) in str(refusal.value)
