# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Logs as controllers and tools write them are read without being told what is in them."""

from log_styles import make_run, STYLES
import numpy as np
import pytest
from robot_identification.recording.bag import find_joint_names, read_recording


@pytest.mark.parametrize('form', STYLES, ids=lambda form: form.name)
def test_a_log_is_understood(form, tmp_path):
    """Whatever the names, the units and the layout, the arrays are those that were written."""
    run, path = make_run(), tmp_path / form.file
    form.write(path, run)
    recording = read_recording(path, form.joints)
    # Times have the digits that are left of seconds since 1970.
    np.testing.assert_allclose(recording.stamps, run.t, atol=1e-6)
    np.testing.assert_allclose(recording.q, run.q, atol=form.tolerance)
    if form.has_velocity:
        np.testing.assert_allclose(recording.dq, run.dq, atol=form.tolerance)
    else:
        assert np.isnan(recording.dq).all()
    np.testing.assert_allclose(recording.effort, run.effort, atol=form.tolerance)
    assert recording.metadata.get('effort_unit') == form.unit
    assert len(find_joint_names(path)) >= 6
