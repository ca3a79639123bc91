# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""An arm rests at every pose as long as it is said to, and comes to it from either side."""

from itertools import pairwise

import numpy as np
import pytest
from robot_identification.excitation.parametrizations.parametrization import Parametrization
from robot_identification.excitation.parametrizations.static_poses import (
    StaticPosesParametrization,
)

WAYS = {
    'one way': StaticPosesParametrization(4, 1.0, 1.5, False),
    'both ways': StaticPosesParametrization(4, 1.0, 1.5, True),
}


@pytest.fixture
def coefficients(rng):
    """Return two joints' coefficients of four poses."""
    return rng.normal(size=(2, 5))


def pose(coefficients, number):
    """Return where both joints are at a pose."""
    offset = coefficients[:, number] if number else 0.0
    return coefficients[:, 0] + offset


@pytest.mark.parametrize('form', WAYS.values(), ids=WAYS)
def test_the_arm_stands_still_at_the_pose_in_every_dwell(form, coefficients):
    """To rounding: 1e-12 of poses of size one."""
    dwells = form.dwell_intervals()
    for dwell in dwells:
        assert dwell.stop - dwell.start == pytest.approx(form.dwell, rel=1e-12)
        t = np.linspace(dwell.start, dwell.stop, 11)[1:-1]
        q, dq, ddq = form.sample(coefficients, t)
        np.testing.assert_allclose(q, np.tile(pose(coefficients, dwell.pose), (9, 1)), atol=1e-12)
        assert np.abs(dq).max() < 1e-12 and np.abs(ddq).max() < 1e-12


@pytest.mark.parametrize('form', WAYS.values(), ids=WAYS)
def test_dwells_follow_each_other_by_a_move(form):
    """From a first move to a last one; what is no dwell is on the way."""
    dwells = form.dwell_intervals()
    assert dwells[0].start == form.move_time
    assert dwells[-1].stop == pytest.approx(form.duration - form.move_time, rel=1e-12)
    for one, other in pairwise(dwells):
        assert other.start - one.stop == pytest.approx(form.move_time, rel=1e-12)


def test_one_way_visits_the_list_and_both_ways_also_its_reverse():
    order = {name: [dwell.pose for dwell in form.dwell_intervals()] for name, form in WAYS.items()}
    assert order == {'one way': [1, 2, 3, 4], 'both ways': [1, 2, 3, 4, 0, 4, 3, 2, 1]}


def test_both_ways_come_to_every_pose_from_both_neighbours(coefficients):
    """Where a pose of a joint lies between its neighbours', from either side."""
    form = WAYS['both ways']
    coefficients[0, :] = [0.0, 0.1, 0.2, 0.3, 0.4]
    arrivals = {}
    for dwell in form.dwell_intervals():
        half_way = np.array([dwell.start - 0.5 * form.move_time])
        _, dq, _ = form.sample(coefficients, half_way)
        arrivals.setdefault(dwell.pose, []).append(float(np.sign(dq[0, 0])))
    assert [arrivals[number] for number in (1, 2, 3)] == [[1.0, -1.0]] * 3


def test_moves_are_quintics_between_the_poses(coefficients):
    """Half-way in the middle, at 15/8 of the mean speed."""
    form = WAYS['one way']
    t = 0.5 * form.move_time + np.arange(5) * (form.move_time + form.dwell)
    q, dq, _ = form.sample(coefficients, t)
    poses = np.array([pose(coefficients, number) for number in (0, 1, 2, 3, 4, 0)])
    np.testing.assert_allclose(q, 0.5 * (poses[1:] + poses[:-1]), atol=1e-12)
    np.testing.assert_allclose(dq, 1.875 * np.diff(poses, axis=0) / form.move_time, atol=1e-12)


@pytest.mark.parametrize('form', WAYS.values(), ids=WAYS)
def test_the_jerk_is_the_slope_of_the_acceleration(form, coefficients):
    """Which a form takes by differences unless it knows better: to 1e-6 of the period squared."""
    t = np.linspace(0.013, form.duration - 0.017, 300)
    slope = Parametrization.jerk(form, coefficients, t)
    jerk = form.jerk(coefficients, t)
    np.testing.assert_allclose(jerk, slope, atol=1e-4 * np.abs(jerk).max())
    np.testing.assert_allclose(jerk, form.jerk_basis(t) @ coefficients.T, atol=1e-12)


@pytest.mark.parametrize('form', WAYS.values(), ids=WAYS)
def test_the_grid_of_a_search_sees_the_peaks(form, coefficients):
    """Less than half a percent below the peaks of a grid fifty times as fine."""
    few, many = (
        form.sample(coefficients, np.linspace(0.0, form.duration, count))
        for count in (form.grid_samples, 50 * form.grid_samples)
    )
    for seen, there in zip(few, many, strict=True):
        assert np.all(np.abs(seen).max(axis=0) > 0.995 * np.abs(there).max(axis=0))
