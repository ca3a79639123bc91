# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The first screen of a page says what a verdict and the errors say."""

from dataclasses import replace

import numpy as np
import pytest
from report import report_cases
from robot_identification.report.explanation import compare_with_urdf
from robot_identification.report.formatting import fixed
from robot_identification.validation.validation import validate


@pytest.fixture(scope='module')
def found():
    return report_cases.identify_chain(2, 1, samples=300)


def with_errors(found, *rows):
    return [replace(found.cross_validation[0], nrmse=np.array(row)) for row in rows]


@pytest.mark.parametrize(('urdf', 'lost', 'words'), [
    ((0.2, 0.4), 0, 'Yes: the error is 50 % smaller'),
    ((0.05, 0.1), 2, 'No: the error is 100 % larger'),
    ((0.05, 0.55), 1, 'smaller on 1 of 2 joints'),
])
def test_gain_over_the_urdf_is_that_of_the_mean_errors(found, urdf, lost, words):
    """Of two recordings, joint by joint."""
    ours = with_errors(found, (0.0, 0.1), (0.2, 0.3))
    compared = compare_with_urdf(ours, with_errors(found, urdf, urdf))
    assert (compared.ours, compared.urdf) == pytest.approx((0.15, np.mean(urdf)))
    assert len(compared.lost) == lost
    assert words in compared.describe()


def test_joints_without_an_error_are_not_compared(found):
    """A constant effort has none; with none at all, nothing is said of the URDF."""
    ours = with_errors(found, (np.nan, 0.1))
    compared = compare_with_urdf(ours, with_errors(found, (0.01, 0.2)))
    assert (compared.ours, compared.urdf, compared.joints, compared.lost) == (0.1, 0.2, 1, ())
    nothing = compare_with_urdf(ours, with_errors(found, (0.01, np.nan)))
    assert not nothing.is_known and nothing.describe().startswith('Not known')


def test_on_unseen_motion_the_urdf_has_no_friction(found):
    bags = validate(found.model, found.datasets).bags
    compared = compare_with_urdf(bags)
    assert compared.urdf == pytest.approx(bags[0].urdf_nrmse_mean)
    assert compared.ours == pytest.approx(bags[0].nrmse_mean)
    assert not compared.fitted


# --- what pages of studies say first -----------------------------------------------------


@pytest.fixture(scope='module')
def model(found):
    return found.model


@pytest.mark.parametrize(('value', 'text'), [
    (-0.001, '0.00'), (-0.006, '-0.01'), (0.0, '0.00'), (float('nan'), 'n/a'), (1.5, '1.50'),
])
def test_nothing_is_less_than_zero_by_nothing(value, text):
    assert fixed(value, 2) == text
