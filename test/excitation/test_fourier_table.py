# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Published tables of Fourier coefficients become motions, or are refused by joint."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UnsafeMotionError, UsageError
from robot_identification.excitation import (
    certify, find_experiment, import_motion, load_experiment,
)
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model.registry import load_robot

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


def test_the_convention_is_what_the_file_says(arm, tmp_path):
    """Cosines of the other sign in the convention that adds them are the same motion."""
    content, path = read_yaml(REPAIRED), tmp_path / 'table.yaml'
    cosines = (-np.array(content['b'])).tolist()
    path.write_text(dump_yaml({**content, 'convention': 'plus_cosine', 'b': cosines}))
    t = np.linspace(0.0, 6.0, 50)
    np.testing.assert_array_equal(
        import_motion(path, arm.joint_names).sample(t).q,
        import_motion(REPAIRED, arm.joint_names).sample(t).q,
    )


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
