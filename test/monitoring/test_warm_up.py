# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The advice to wait is right where it is given, and is not given where the curve is silent."""

from dataclasses import dataclass
import math

import numpy as np
import pytest
from robot_identification.monitoring.warm_up import advise_wait, HEATING, NOT_YET, SETTLED
from robot_identification.simulation.joint_effects import AMBIENT, make_thermal_model
from robot_identification.studies.temperature.steady_state import FRICTION, TEMPERATURE

JOINTS = ('one', 'two', 'three')
STEP = 5.0
BY_TEMPERATURE = (JOINTS, TEMPERATURE, np.full(3, np.nan))  # no level is needed


@dataclass(frozen=True, eq=False)
class Curve:
    """Temperatures (N, 3) every five seconds, and what they end at."""

    times: np.ndarray
    values: np.ndarray
    end: np.ndarray

    def until(self, minutes):
        count = round(60.0 * minutes / STEP) + 1
        return self.times[:count], self.values[:count]

    def true_wait(self, minutes, tolerance):
        """Return how long it takes from then on until all are within a tolerance [min]."""
        off = np.all(np.abs(self.values - self.end) <= tolerance, axis=1)
        return max(self.times[np.argmax(off)] / 60.0 - minutes, 0.0)


@pytest.fixture(scope='module')
def curve():
    """Return three hours of joints that warm up by 10 to 20 K, by the thermal model."""
    model = make_thermal_model(np.full(3, 5.0), np.full(3, 8.0))
    heat = np.array([10.0, 15.0, 20.0]) / model.resistance
    temperature, rows = np.full(3, AMBIENT), []
    for _ in range(round(3 * 3600 / STEP)):
        rows.append(temperature)
        temperature = model.step(temperature, heat, STEP)
    return Curve(STEP * np.arange(len(rows)), np.array(rows), AMBIENT + model.resistance * heat)


@pytest.mark.parametrize('seed', range(3))
def test_the_wait_is_in_its_interval(curve, seed):
    """From a quarter of an hour on, with noise and a resolution of 0.1 K; then it is settled."""
    # The interval is one of 95 %, widened; a minute besides, as the tolerance is met between
    # values.
    rng = np.random.default_rng(seed)
    noisy = np.round(10.0 * (curve.values + 0.1 * rng.normal(size=curve.values.shape))) / 10.0
    widths = []
    for minutes in (15, 25, 40, 60):
        times, _ = curve.until(minutes)
        advice = advise_wait(times, noisy[: len(times)], *BY_TEMPERATURE)
        truth = curve.true_wait(minutes, 0.5)
        assert advice.state == HEATING
        low, high = advice.interval
        assert low - 1.0 <= truth <= high + 1.0
        assert low <= advice.minutes <= high
        assert f'still heating, wait about {math.ceil(advice.minutes)} minute' in advice.text
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    times, _ = curve.until(150)
    advice = advise_wait(times, noisy[: len(times)], *BY_TEMPERATURE)
    assert (advice.state, advice.minutes) == (SETTLED, 0.0)
    assert advice.text.startswith('settled by temperature')


def test_nothing_is_said_where_the_curve_does_not_tell_yet(curve):
    """Two minutes of noisy warming could end anywhere; so could a line."""
    rng = np.random.default_rng(4)
    times, values = curve.until(4)
    advice = advise_wait(times, values + 0.1 * rng.normal(size=values.shape), *BY_TEMPERATURE)
    assert advice.state == NOT_YET
    assert math.isnan(advice.minutes)
    assert advice.text.startswith('not enough yet')
    line = 24.0 + 0.01 * times[:, None] * np.ones(3) + 0.05 * rng.normal(size=values.shape)
    assert advise_wait(times, line, *BY_TEMPERATURE).state == NOT_YET
    short = advise_wait(times[:5], values[:5], *BY_TEMPERATURE)
    assert short.state == NOT_YET
    assert '2 minutes' in short.text


def test_a_cold_arm_that_does_nothing_is_settled(curve):
    """Noise about one value is no warming; exact values neither."""
    times, _ = curve.until(20)
    rng = np.random.default_rng(5)
    steady = AMBIENT + 0.1 * rng.normal(size=(len(times), 3))
    assert advise_wait(times, steady, *BY_TEMPERATURE).state == SETTLED
    assert advise_wait(times, np.full((len(times), 3), AMBIENT), *BY_TEMPERATURE).state == SETTLED


def test_cooling_down_is_waited_for_as_well(curve):
    """The curve of an arm that was hotter is the same, upside down."""
    times, values = curve.until(40)
    rng = np.random.default_rng(6)
    falling = 60.0 - values + 0.1 * rng.normal(size=values.shape)
    advice = advise_wait(times, falling, *BY_TEMPERATURE)
    assert advice.state == HEATING
    assert advice.minutes == pytest.approx(curve.true_wait(40, 0.5), rel=0.15)


def test_friction_tells_where_no_temperature_comes(curve):
    """Viscous friction that falls by 1.4 % a kelvin; a joint that does not move is left out."""
    times, values = curve.until(40)
    rng = np.random.default_rng(7)
    level = np.array([6.0, 3.0, 5.0])
    friction = level * (1.0 - 0.014 * (values - AMBIENT))
    friction += 0.003 * level * rng.normal(size=friction.shape)
    friction[:, 1] = np.nan
    advice = advise_wait(times, friction, JOINTS, FRICTION, level)
    assert advice.state == HEATING
    # 2 % of the level are 1.43 K.
    truth = curve.true_wait(40, 0.02 / 0.014)
    assert advice.interval[0] - 1.0 <= truth <= advice.interval[1] + 1.0
    assert advice.text.endswith('not judged: two')
