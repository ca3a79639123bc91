# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Wear is seen on the joint that has it; warming, payloads, contact and damaged samples are not wear.

MuJoCo makes the torques of a UR5, Pinocchio the model's.
"""

from dataclasses import replace
import math

from hypothesis import given, strategies as st
from known_models import known_model, true_model
import numpy as np
import pytest
from robot_identification.errors import UsageError
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.model.regressor import (
    continue_friction, initial_friction_states, Motion, rigid_and_transmitted_torque,
)
from robot_identification.monitoring.friction_change import estimate_change, MotionBlock
from robot_identification.monitoring.friction_health import FrictionHealth
from robot_identification.monitoring.health_options import (
    average_run_length, Chart, design_chart, HealthOptions,
)
from robot_identification.monitoring.health_reference import read_reference, write_reference
from robot_identification.simulation.ground_truth import draw_truth, VISCOUS_SLOPE
from robot_identification.simulation.mujoco_robot import inverse_dynamics, true_inertial_parameters

# A joint state every 40 ms is enough for motion up to 0.25 Hz, and quick to go through.
PERIOD = 0.04
OPTIONS = HealthOptions(sliding_time=4.0, reference_windows=12)
# Of the torque limit; that of the simulated sensors is 0.002.
NOISE = 0.01
COLD = 24.0


def moving(seed, duration):
    """Return a motion of six joints that never repeats itself, up to some 2 rad/s."""
    rng = np.random.default_rng(seed)
    times = np.arange(0.0, 20.0, PERIOD)
    form = FourierParametrization(harmonics=5, base_period=20.0)
    pieces = []
    for _ in range(math.ceil(duration / 20.0)):
        coefficients = 0.3 * rng.normal(size=(6, form.n_coefficients))
        pieces.append([basis @ coefficients.T for basis in form.basis(times)])
    return Motion(*(np.concatenate(one) for one in zip(*pieces, strict=True)), starts=())


def drive(
    health, model, truth, motion, *, start=0.0, temperature=None, measured=True, added=0.0,
    scale=1.0,
):
    """Let an arm move before the eyes of friction health."""
    # The temperature goes linearly from one value to another [deg C]; it is measured or not. Added
    # torques are somebody's; all torques may be in another unit.
    robot, N = model.robot, len(motion)
    warmth = None
    if temperature is not None:
        warmth = np.repeat(np.linspace(*temperature, N)[:, None], robot.n, axis=1)
    tau = inverse_dynamics(robot, truth, motion, temperature=warmth)
    noise = NOISE * robot.limits.effort * np.random.default_rng(N).normal(size=tau.shape)
    seen = replace(motion, temperature=warmth)
    theta, parameters = model.theta_lifted, model.parameters
    rigid, transmitted = rigid_and_transmitted_torque(robot, parameters, theta, seen)
    friction = continue_friction(
        robot, parameters, theta, seen, transmitted, initial_friction_states(parameters)
    )
    residual = tau + noise + added - rigid - friction
    for k in range(N):
        health.step(
            start + k * PERIOD, motion.q[k], motion.dq[k], motion.ddq[k], scale * friction[k],
            scale * residual[k], warmth[k] if measured and warmth is not None else None,
        )
    return health.report()


def states(report):
    return [joint.state for joint in report]


@pytest.fixture(scope='module')
def truth(ur5):
    """Return what the arm really is; viscous friction falls by 1.4 % a kelvin."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    return replace(draw_truth(ur5, 3), viscous_slope=np.full(6, VISCOUS_SLOPE))


@pytest.fixture(scope='module')
def model(ur5, truth):
    return true_model(ur5, truth)


@pytest.fixture(scope='module')
def reference(model, truth):
    health = FrictionHealth(model, OPTIONS)
    report = drive(health, model, truth, moving(1, 240.0), temperature=(COLD, COLD))
    assert 'learning' not in states(report)
    return health.reference


def worn(truth, joint, factor):
    """Return an arm with more or less friction in a joint."""
    factors = np.ones(6)
    factors[joint] = factor
    return replace(truth, coulomb=truth.coulomb * factors, viscous=truth.viscous * factors)


@pytest.mark.parametrize(('joint', 'factor'), [(1, 1.2), (5, 0.8)])
def test_a_step_of_friction_is_seen_where_it_is(model, truth, reference, joint, factor):
    """At constant temperature, after two to four windows, with its size; and nowhere else."""
    health = FrictionHealth(model, OPTIONS, reference)
    found = drive(health, model, truth, moving(2, 60.0), temperature=(COLD, COLD))
    assert 'changed' not in states(found)
    before = found[joint].windows
    found = drive(
        health, model, worn(truth, joint, factor), moving(3, 100.0), start=60.0,
        temperature=(COLD, COLD),
    )
    expected = ['healthy'] * 6
    expected[joint] = 'changed'
    assert states(found) == expected
    words = found[joint].reason
    assert words.startswith('more friction' if factor > 1.0 else 'less friction')
    # The window in which it happened does not count.
    assert int(words.split('window ')[1]) <= before + 4
    # Five windows of 1 % or less; limits are stated in the same unit as values.
    assert found[joint].change == pytest.approx(100.0 * (factor - 1.0), abs=3.0)
    assert max(found[joint].more, found[joint].less) > found[joint].limit
    # It stays although the joint is well again, until somebody says so.
    health.reset()
    assert 'changed' not in states(health.report())


def test_silent_while_a_joint_with_a_law_of_temperature_warms_up(ur5, truth):
    """15 degC, all judged, and wear is still seen when it is warm."""
    law = known_model(
        ur5, 'coulomb,viscous,temperature_viscous', true_inertial_parameters(ur5, truth),
        fc=truth.coulomb, Ia=truth.reflected_inertia,
        # The law refers to 25 degC, the truth to 24.
        fv=truth.viscous * (1.0 + VISCOUS_SLOPE), fvT=truth.viscous * VISCOUS_SLOPE,
    )
    health = FrictionHealth(law, OPTIONS)
    drive(health, law, truth, moving(1, 240.0), temperature=(COLD, COLD))
    found = drive(
        health, law, truth, moving(2, 120.0), start=240.0, temperature=(COLD, COLD + 15.0)
    )
    assert states(found) == ['healthy'] * 6
    assert all(abs(joint.change) < 3.0 for joint in found)
    found = drive(
        health, law, worn(truth, 2, 1.2), moving(3, 80.0), start=360.0,
        temperature=(COLD + 15.0, COLD + 15.0),
    )
    assert [joint.joint for joint in found if joint.state == 'changed'] == ['elbow_joint']


def test_without_temperatures_warming_is_no_wear(model, truth, reference):
    """It is told from changes above 35 % only, and the reason says so."""
    health = FrictionHealth(model, OPTIONS, reference)
    found = drive(
        health, model, truth, moving(2, 80.0), temperature=(COLD, COLD + 15.0), measured=False
    )
    assert states(found) == ['healthy'] * 6
    assert 'up to 35 % are no change, as the temperature is unknown' in found[0].reason
    found = drive(
        health, model, worn(truth, 0, 1.6), moving(3, 80.0), start=80.0,
        temperature=(COLD, COLD), measured=False,
    )
    assert states(found) == ['changed', *['healthy'] * 5]


def test_a_payload_is_not_friction(model, truth, reference):
    """Some kilograms in the hand, more than the friction of the shoulder."""
    factors = truth.mass_factor * np.array([1.0, 1.0, 1.0, 1.0, 1.0, 15.0])
    health = FrictionHealth(model, OPTIONS, reference)
    found = drive(
        health, model, replace(truth, mass_factor=factors), moving(2, 100.0),
        temperature=(COLD, COLD),
    )
    assert states(found) == ['healthy'] * 6
    assert all(abs(joint.change) < 3.0 for joint in found)


def test_contact_is_not_friction(model, truth, reference):
    """Neither a push of a second nor an arm that is pushed to and fro all the time."""
    health = FrictionHealth(model, OPTIONS, reference)
    motion = moving(2, 100.0)
    push = np.zeros((len(motion), 6))
    push[800:830] = 40.0
    found = drive(health, model, truth, motion, temperature=(COLD, COLD), added=push)
    assert states(found) == ['healthy'] * 6
    pushes = 30.0 * np.sin(np.arange(len(motion)) ** 1.5 * 1e-3)[:, None]
    found = drive(
        health, model, truth, motion, start=100.0, temperature=(COLD, COLD), added=pushes
    )
    assert 'changed' not in states(found)
    assert sum('friction does not explain the residual' in one.reason for one in found) >= 4


def feed(health, stamp, value=0.5, **others):
    """Take one joint state in which everything has one value, but for what is named."""
    given = {
        name: np.full(6, others.get(name, value))
        for name in ('q', 'dq', 'ddq', 'friction', 'residual', 'temperature')
    }
    health.step(stamp, **given)


@given(st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.002, 0.1, 0.11, 3.0, -5.0, 1e9, math.nan, math.inf]),
        st.sampled_from(['q', 'dq', 'ddq', 'friction', 'residual', 'temperature']),
        st.sampled_from([0.0, -0.5, 1e5, 1e300, math.nan, math.inf, -math.inf]),
    ),
    max_size=60,
))
def test_whatever_comes_nothing_is_raised(model, bad):
    """Clocks that stop, jump or are not numbers, and values that are none."""
    health = FrictionHealth(model, OPTIONS)
    stamp = 0.0
    for elapsed, name, value in bad:
        for k in range(5):
            feed(health, stamp + 0.05 * k)
        stamp += elapsed if math.isfinite(elapsed) else 1.0
        feed(health, stamp if math.isfinite(elapsed) else elapsed, **{name: value})
    assert len(health.report()) == 6


def random_blocks(rng, n, count):
    """Return blocks of made up rows with a known change of friction, and these changes."""
    changes = rng.uniform(-0.4, 0.4, n)
    payload = rng.normal(size=10)
    blocks = []
    for _ in range(count):
        rows = rng.normal(size=(n, 40, 14))
        rows[:, :, 0] = 1.0
        rows[:, :, 13] = rows[:, :, 2:12] @ payload + changes[:, None] * rows[:, :, 12]
        rows[:, :, 13] += 0.5 + 0.3 * rows[:, :, 1]
        blocks.append(block_of(rows))
    return blocks, changes


def block_of(rows):
    """Return the block of rows (n, N, 14)."""
    n = len(rows)
    return MotionBlock(0.0, rows.transpose(0, 2, 1) @ rows, np.ones((n, 2)), np.ones(n))


@given(st.integers(0, 10_000), st.permutations(range(4)))
def test_changes_are_found_whatever_the_order_of_joints(seed, order):
    """Without noise to the ridge of 1e-3, which bends what is well shown by its square."""
    # Joints in another order have the same changes, to rounding.
    blocks, changes = random_blocks(np.random.default_rng(seed), 4, 8)
    order = list(order)
    turned = [
        replace(
            block, products=block.products[order], temperature=block.temperature[order],
        )
        for block in blocks
    ]
    for place, joint in enumerate(order):
        found, same = estimate_change(blocks, joint), estimate_change(turned, place)
        assert found.change == pytest.approx(changes[joint], abs=1e-4)
        assert same.change == pytest.approx(found.change, abs=1e-8)


def test_a_reference_is_written_and_read(model, reference, tmp_path):
    """To the same bits; an existing one is kept."""
    path = tmp_path / 'health.yaml'
    write_reference(path, reference)
    assert read_reference(path, model) == reference
    with pytest.raises(UsageError, match=r'exists already'):
        write_reference(path, reference)


def rate_of(chart, samples):
    """Return the alarms per sample of chains that start anew after each, samples (N, chains)."""
    total, alarms = np.zeros(samples.shape[1:]), 0
    for sample in samples:
        total = chart.step(total, sample)
        alarms += np.count_nonzero(total > chart.limit)
        total = np.where(total > chart.limit, 0.0, total)
    return alarms / samples.size


@pytest.mark.parametrize(('limit', 'published'), [(4.0, 335.4), (5.0, 930.9)])
def test_run_length_of_a_textbook_chart(limit, published):
    """Twice the two-sided 168 and 465 of a CUSUM with slack 0.5 (Montgomery, table 9.3)."""
    # Those are rounded to 0.3 %; 120 bins are right to 0.1 %.
    assert average_run_length(Chart(0.5, limit)) == pytest.approx(published, rel=3e-3)


@pytest.mark.parametrize('slack', [0.5, 1.0])
def test_stated_rate_is_that_of_a_simulation(slack, rng):
    """8000 alarms are expected: their rate scatters by 1 %, and bins are right to 1 %."""
    chart = design_chart(slack, 200.0)
    rate = rate_of(chart, rng.normal(size=(800, 2000)))
    assert 1.0 / rate == pytest.approx(200.0, rel=0.04)


def test_one_outlier_is_no_alarm():
    """However large it is; two in a row are."""
    chart = design_chart(0.5, 1e5)
    once = chart.step(np.zeros(1), np.full(1, 1e9))
    assert once[0] < chart.limit
    assert chart.step(once, np.full(1, 1e9))[0] > chart.limit
