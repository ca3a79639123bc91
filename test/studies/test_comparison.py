# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Two models of one arm: tests by groups, common parameters, and joints of one size."""

from dataclasses import replace

from identified_arms import WarmArm
from known_models import known_model, true_model
import numpy as np
import pytest
from recordings import execute, fourier_motion, write_small_arm
from robot_identification.estimation.uncertainty.covariance import Covariance
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import FRICTION_LAWS
from robot_identification.model.identified_model import IdentifiedModel, SignalSource
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.registry import load_joint_drives, load_robot
from robot_identification.model.regressor import energy_regressor, Motion
from robot_identification.model.robot_model import gravity_of_mounting
from robot_identification.processing import Dataset
from robot_identification.simulation import mujoco_robot, true_inertial_parameters
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.studies.comparison.common_parameters import common_parameters
from robot_identification.studies.comparison.comparison import compare_models, group_test, holm
from robot_identification.studies.comparison.sliding import compare_joints_of_size
from robot_identification.studies.energy.study import energy_of_motion, with_possible_bodies
from robot_identification.studies.rollout import run_rollout
from robot_identification.studies.rollout.drift import plan_rollouts, RolloutPlan, Simulated
from robot_identification.studies.rollout.report import find_strays, quantile, with_rollouts
from robot_identification.studies.rollout.study import (
    CLOSED, MJCF, MODEL, OPEN, Rollout, RolloutOptions, URDF, VELOCITY,
)
from robot_identification.validation import BAD, SIMULATION, Validation, Verdict
from robot_identification.validation.verdict import GOOD
from scipy import stats


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    return WarmArm(tmp_path_factory.mktemp('warm'))


@pytest.fixture(scope='module')
def cold(arm):
    return arm.run(22.0, 1)


@pytest.fixture(scope='module')
def warm(arm):
    return arm.run(36.0, 2)


def found(comparison):
    return {group.group: group for group in comparison.groups}


def made_up(robot, laws, theta=None, *, error=0.01, freedom=50.0, **changes):
    """Return a model of an arm with given base parameters and errors."""
    reduction = reduce_to_base(robot, make_standard_parameters(robot.n, laws, True))
    b = reduction.rank
    return IdentifiedModel(**{
        'robot': robot, 'effort_unit': 'Nm', 'reduction': reduction,
        'theta_base': np.ones(b) if theta is None else theta(reduction),
        'covariance': error**2 * np.eye(b), 'theta_consistent': None, 'consistency_note': '',
        'source': SignalSource(), 'provenance': {},
        'quality': {'degrees_of_freedom': np.full(b, freedom), 'speeds': np.full(robot.n, 1.5),
                    'loads': np.full(robot.n, 8.0)},
        'covariance_kind': 'hac', **changes,
    })


# --- the test ------------------------------------------------------------------------------


def test_cold_and_warm_differ_in_friction_alone(cold, warm):
    """Viscous friction fell by 14 to 28 % for 14 K; nothing else moved."""
    comparison = compare_models(cold, warm)
    groups = found(comparison)
    assert list(groups) == ['inertial', 'coulomb', 'viscous', 'offset', 'rotor']
    assert groups['viscous'].moved
    assert not any(groups[name].moved for name in ('inertial', 'coulomb', 'offset', 'rotor'))
    # The mean of the true changes; a coefficient has an error of some 4 %.
    assert groups['viscous'].change == pytest.approx(-0.20, abs=0.04)
    assert comparison.verdict[0].startswith('inertial parameters agree (p=')
    assert comparison.verdict[2].startswith('viscous friction moved by -')
    assert '(p<1e-6)' in comparison.verdict[2]
    assert comparison.differ


def test_false_alarms_with_estimated_covariances():
    """Covariances from few samples: Hotelling's distribution instead of the chi-square one."""
    # Each is estimated from 41 draws, so that there are 40 degrees of freedom; Welch's sum of both
    # has 80. With the chi-square distribution 11 % of the pairs would be called different.
    rng = np.random.default_rng(6)
    root = rng.normal(size=(8, 8))
    alarms = 0
    for _ in range(500):
        mean, matrices = [], []
        for _ in range(2):
            draws = rng.normal(size=(41, 8)) @ root.T
            mean.append(root @ rng.normal(size=8))
            matrices.append(np.cov(draws, rowvar=False))
        both = Covariance('made up', matrices[0] + matrices[1], np.full(8, 80.0),
                          np.zeros(8, bool))
        test, directions, notes = group_test(mean[1] - mean[0], both, range(8))
        assert (directions, notes) == (8, ())
        alarms += test.p_value < 0.05
    assert 0.02 < alarms / 500 < 0.08


def test_a_singular_covariance_is_tested_where_it_is_not():
    """One parameter held, and two that are one: two directions of four are left, and said."""
    matrix = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0],
                       [0.0, 0.0, 4.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    covariance = Covariance('made up', matrix, np.full(4, 1e6), np.zeros(4, bool))
    test, directions, notes = group_test(np.array([2.0, 2.0, 2.0, 9.0]), covariance, range(4))
    assert directions == 2
    assert '1 of 4 parameters are left out: no standard error' in notes[0]
    assert '1 of 3 combinations are left out: their covariance is singular' in notes[1]
    # Distances of 2 and 1 standard errors.
    assert test.p_value == pytest.approx(stats.chi2.sf(5.0, 2), rel=1e-3)
    held = Covariance('made up', matrix, np.full(4, 1e6), np.ones(4, bool))
    assert group_test(np.ones(4), held, range(4))[:2] == (None, 0)


def test_holm_corrects_step_by_step():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.5]), [0.04, 0.09, 0.09, 0.5])
    np.testing.assert_allclose(holm([0.9, 0.8]), [1.0, 1.0])
    assert holm([]).size == 0


# --- common parameters ---------------------------------------------------------------------


def test_mountings_share_what_both_show(robots):
    """On a wall two more sums are seen; the others are the same in both (numbers B2)."""
    ur5 = robots['ur5']
    wall = ur5.with_gravity(gravity_of_mounting(np.pi / 2, 0.0, 0.0))
    rng = np.random.default_rng(2)
    standard = rng.normal(size=60)

    def theta(reduction):
        whole = np.zeros(reduction.parameters.size)
        whole[:60] = standard
        return reduction.K @ whole

    one, other = made_up(ur5, (), theta), made_up(wall, (), theta)
    assert other.reduction.rank == one.reduction.rank + 2
    common = common_parameters(one, other)
    assert len(common.names) == one.reduction.rank
    assert 'left out: ' in common.notes[0]
    assert 'not the same sums in both mountings' in common.notes[0]
    np.testing.assert_allclose(
        common.first @ one.theta_base, common.second @ other.theta_base, atol=1e-9
    )


# --- joints of one size --------------------------------------------------------------------


FRICTION = 'coulomb,viscous,offset,load'


def moving(n, rate=500.0, duration=3.0):
    t = np.arange(0.0, duration, 1.0 / rate)
    return t, fourier_motion(n, 2, t)


@pytest.fixture
def model(ur5, rng):
    """Return a UR5 with all kinds of friction, offsets and rotors, and a covariance."""
    truth = draw_truth(ur5, 4)
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    found = known_model(
        ur5, FRICTION, mujoco_robot.true_inertial_parameters(ur5, truth), fc=truth.coulomb,
        fv=truth.viscous, f0=rng.normal(size=6), fcl=0.02, Ia=truth.reflected_inertia,
    )
    root = 0.01 * rng.normal(size=(found.reduction.rank, found.reduction.rank))
    return replace(found, covariance=root @ root.T)


@pytest.mark.parametrize('name', ['ur5', 'youbot', 'mixed'])
def test_base_parameters_determine_kinetic_energy(robots, rng, name):
    """Changes of standard parameters that no torque shows change no kinetic energy."""
    found = known_model(robots[name])
    robot, reduction = found.robot, found.reduction
    theta = rng.normal(size=found.parameters.size)
    hidden = theta.copy()
    hidden[reduction.independent] -= reduction.K @ theta
    assert np.linalg.norm(hidden) > 1.0
    q, dq = rng.normal(size=(2, 20, robot.n))
    kinetic, potential = energy_regressor(robot, Motion(q, dq, dq))
    rotors = 0.5 * dq**2 @ hidden[found.parameters.reflected_inertia_slice]
    bodies = hidden[: 10 * robot.n]
    # Rounding of sums of some hundred terms of size 10.
    np.testing.assert_allclose(kinetic @ bodies + rotors, 0.0, atol=1e-9)
    # And potential energy by a constant only.
    assert np.ptp(potential @ bodies) < 1e-8


def test_kinetic_energy_is_that_of_mujoco(ur5):
    """The truth's base parameters give MuJoCo's energy of bodies and rotors."""
    mujoco = pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    truth = draw_truth(ur5, 4)
    simulated = mujoco_robot._build_model(mujoco, ur5, truth)
    t, motion = moving(6, rate=20.0)
    data = mujoco.MjData(simulated)
    energy = energy_of_motion(true_model(ur5, truth), t, motion)
    expected = np.zeros((len(t), 2))
    for k in range(len(t)):
        data.qpos[:], data.qvel[:] = motion.q[k], motion.dq[k]
        mujoco.mj_forward(simulated, data)
        mujoco.mj_energyPos(simulated, data)
        mujoco.mj_energyVel(simulated, data)
        expected[k] = data.energy
    # Both are exact; MuJoCo reads principal inertias and a turned frame from the URDF's tensor.
    np.testing.assert_allclose(energy.kinetic.value, expected[:, 1], rtol=1e-6)
    np.testing.assert_allclose(
        energy.potential, expected[:, 0] - expected[0, 0], atol=1e-5 * np.ptp(expected[:, 0])
    )


def test_work_is_energy_and_loss(model):
    """What joints deliver is the change of energy and what friction and offsets take."""
    t, motion = moving(6)
    energy = energy_of_motion(model, t, motion)
    stored = energy.kinetic.value - energy.kinetic.value[0] + energy.potential
    taken = stored + energy.loss.value + energy.bias
    # The trapezoidal rule at 2 ms; some 100 J are moved about.
    np.testing.assert_allclose(energy.delivered.value, taken, atol=1e-3)
    assert np.ptp(energy.delivered.value) > 50.0
    # Power is that of the model's own torque.
    torque = model.torque(motion)
    np.testing.assert_allclose(energy.joint_power, torque * motion.dq, atol=1e-9)
    np.testing.assert_allclose(energy.power.value, energy.joint_power.sum(axis=1), atol=1e-9)
    for total, joints in (
        (energy.delivered, energy.joint_delivered), (energy.loss, energy.joint_loss)
    ):
        np.testing.assert_allclose(total.value[-1], joints.value.sum(), rtol=1e-12)
    # Friction takes, whichever way a joint turns; offsets do not.
    assert np.all(np.diff(energy.loss.value) >= 0.0)
    assert np.any(np.diff(energy.bias) < 0.0)


def test_intervals_hold_the_truth_as_often_as_they_say(model, rng):
    """Estimates are drawn about a truth by the covariance; 95 % of the intervals hold it."""
    t, motion = moving(6, rate=4.0)
    truth = energy_of_motion(model, t, motion)
    draws = rng.multivariate_normal(model.theta_base, model.covariance, size=400)
    held = []
    for theta in draws:
        found = energy_of_motion(replace(model, theta_base=theta), t, motion)
        held.append([
            bool(abs(each.value[at] - true.value[at]) <= each.half[at])
            for each, true, at in (
                (found.kinetic, truth.kinetic, 5), (found.power, truth.power, 5),
                (found.joint_loss, truth.joint_loss, 1), (found.delivered, truth.delivered, -1),
            )
        ])
    share = np.mean(held, axis=0)
    # Of 400 draws, 1 in 1000 has a share below 91.4 % by chance.
    assert np.all(share > 0.914), share
    assert np.mean(share) < 0.98


def test_bodies_that_can_exist_are_taken(model, rng):
    """Identified parameters may give negative energy, consistent ones do not."""
    consistent = np.zeros(model.parameters.size)
    truth = mujoco_robot.true_inertial_parameters(model.robot, draw_truth(model.robot, 4))
    consistent[: 60] = truth
    consistent[model.parameters.reflected_inertia_slice] = 0.5
    wrong = replace(
        model, theta_base=model.theta_base - 8.0 * rng.random(model.reduction.rank),
        theta_consistent=consistent, covariance=1e-6 * model.covariance,
    )
    t, motion = moving(6, rate=20.0)
    assert np.min(energy_of_motion(wrong, t, motion).kinetic.value) < 0.0
    possible, notes = with_possible_bodies(wrong)
    # The motion begins at rest.
    assert np.min(energy_of_motion(possible, t, motion).kinetic.value[1:]) > 0.0
    assert notes == ()
    same, (note,) = with_possible_bodies(replace(wrong, theta_consistent=None))
    assert same.theta_base is wrong.theta_base
    assert 'no physically consistent parameters' in note


# Of which half a second is left out: 1.9 s, in which rollouts of half a second fit.
SECONDS = 2.4
FEW = RolloutOptions(starts=4)
# Number of the horizon that is looked at.
HALF = 1


@pytest.fixture(scope='module')
def arm_of_rollout(tmp_path_factory):
    """Return a small arm with its truth."""
    pytest.importorskip('mujoco')
    robot = load_robot(str(write_small_arm(tmp_path_factory.mktemp('arm'))))
    # As wide a passage through rest as the law's.
    return robot, replace(draw_truth(robot, 3), velocity_width=0.01)


@pytest.fixture(scope='module')
def recorded(arm_of_rollout):
    """Return a recording of what MuJoCo did, without noise, 2 ms apart."""
    robot, truth = arm_of_rollout
    times, (q, dq, current) = execute(robot, truth, 1, SECONDS)
    # The current of a sample is that of the millisecond before it.
    current = 0.5 * (current[:-1] + current[1:])
    q, dq, times = q[:-1:2], dq[:-1:2], times[:-1:2] - times[0]
    everything = np.ones(len(times), dtype=bool)
    return Dataset(
        'made up', robot.joint_names, times, Motion(q, dq, np.zeros_like(q)),
        (current * truth.drive_gain)[::2], 'Nm', everything, everything, (slice(0, len(times)),),
        {}, 500.0, (),
    )


@pytest.fixture(scope='module')
def model_of_rollout(arm_of_rollout) -> IdentifiedModel:
    """Return the model of the truth, whose parameters are those of bodies."""
    robot, truth = arm_of_rollout
    found = true_model(robot, truth)
    names = found.parameters.names
    theta = np.zeros(len(names))
    theta[: 10 * robot.n] = true_inertial_parameters(robot, truth)
    for symbol, values in (
        ('fc', truth.coulomb), ('fv', truth.viscous), ('Ia', truth.reflected_inertia),
    ):
        for number, value in enumerate(values, start=1):
            theta[names.index(f'{symbol}{number}')] = value
    return replace(
        found, theta_consistent=theta, quality={'speeds': np.full(3, 1.6), 'loads': np.ones(3)}
    )


@pytest.fixture(scope='module')
def rollout(model_of_rollout, recorded):
    result, = run_rollout(model_of_rollout, [recorded], FEW)
    return result


def drift(rollout, name, loop):
    """Return the median size of the drift [mrad], shape (H, n)."""
    one = rollout.find(name, loop)
    return quantile(1e3 * np.abs(one.drift), 0.5)[rollout.plan.stated]


def test_the_true_model_drifts_by_the_error_of_the_steps(rollout):
    """The truth stays within 2 mrad after half a second, where the URDF is a radian away."""
    assert np.all(drift(rollout, MODEL, OPEN)[HALF] < 2.0)
    assert np.all(1e3 * rollout.halving < 1.0)
    assert np.all(drift(rollout, MODEL, CLOSED) < 1.0)


def test_the_exported_mjcf_is_what_mujoco_makes_of_it(rollout):
    """Plain friction is what the truth has, so that only MuJoCo's soft dry friction differs."""
    assert np.all(drift(rollout, MJCF, OPEN)[HALF] < 0.3 * drift(rollout, URDF, OPEN)[HALF])
    assert rollout.not_checked == ()


def test_rollouts_begin_where_the_recording_goes_on(recorded):
    """No gap and no sample that is not scored lies in them; horizons that fit no part go."""
    N = len(recorded)
    scored = recorded.scored.copy()
    scored[N // 2 + 20] = False
    gap = N // 3
    cut = replace(recorded, scored=scored, segments=(slice(0, gap), slice(gap, N)))
    plan = plan_rollouts(cut, 50)
    length = round(0.5 * 500.0)
    assert plan.horizons == (0.1, 0.5)
    for row in plan.rows:
        rows = slice(row, row + length + 1)
        assert rows.stop <= N and scored[rows].all() and not row < gap <= row + length
    short = replace(recorded, segments=(slice(0, 100),))
    assert plan_rollouts(short, 5).horizons == (0.1,)
    assert plan_rollouts(replace(recorded, segments=(slice(0, 20),)), 5).horizons == ()
    # As long as the horizon, and not longer: one start.
    exact = replace(recorded, segments=(slice(0, length + 1),))
    np.testing.assert_array_equal(plan_rollouts(exact, 5).rows, [0])


def test_a_simulation_that_a_constant_velocity_beats_is_not_usable():
    """Of the joint that strays alone, and where it strays far enough to matter."""
    plan = RolloutPlan('bag', ('a', 'b', 'c'), np.arange(4), np.arange(4.0), (0.1, 0.5))
    times = len(plan.times)

    def simulated(name, drifts):
        drift = np.broadcast_to(drifts, (times, 4, 3))
        return Simulated(name, OPEN, drift, drift, np.zeros((times, 4)))

    rollout = Rollout(
        plan, np.zeros(3, dtype=bool), 'tool', np.zeros((times, 4, 3)),
        (simulated(MJCF, [0.5, 0.04, 0.1]), simulated(VELOCITY, [0.1, 0.001, 0.2])),
        0.001, np.zeros(2), np.ones(3), np.ones(3), 2.0,
    )
    strays = find_strays(rollout)
    assert len(strays) == 1
    assert 'at a after 0.5 s' in strays[0]
    validation = with_rollouts(Validation((), Verdict(GOOD, (), 'use it')), [rollout])
    assert validation.verdict.level == GOOD
    assert validation.verdict.uses[SIMULATION] == BAD
    near = replace(rollout, simulated=(simulated(MJCF, 0.04), simulated(VELOCITY, 0.0)))
    assert find_strays(near) == []


def test_friction_of_one_size_is_compared_on_the_motors_side(robots):
    """``fc = G f_c`` and ``fv = G^2 f_v``: joints of equal motors and other gears are equal."""
    laws = (FRICTION_LAWS['coulomb'](), FRICTION_LAWS['viscous']())

    def theta(coulomb, viscous):
        return lambda reduction: np.array([
            coulomb if name.startswith('fc') else viscous if name.startswith('fv') else 1.0
            for name in reduction.names
        ])

    one = made_up(robots['ur3'], laws, theta(0.03 * 101, 2e-4 * 101**2), error=0.001,
                  temperature=np.full(6, 30.0))
    other = made_up(robots['ur5'], laws, theta(0.03 * 50, 3e-4 * 50**2), error=0.001)
    sizes = {size.size: size for size in compare_joints_of_size(
        [one, other], [load_joint_drives('ur3'), load_joint_drives('ur5')],
        [np.full(6, 101.0), np.full(6, 50.0)],
    )}
    same = sizes['ur_cb3_size_1']
    assert [(joint.robot, joint.joint) for joint in same.joints] == [
        ('ur3', 'elbow_joint'), ('ur5', 'wrist_1_joint'), ('ur5', 'wrist_2_joint'),
        ('ur5', 'wrist_3_joint'),
    ]
    assert same.coulomb_spread == pytest.approx(1.0)
    assert same.coulomb_p == pytest.approx(1.0)
    assert same.viscous_spread == pytest.approx(1.5)
    assert same.viscous_p < 1e-6
    assert same.joints[0].temperature == 30.0
    assert np.isnan(same.joints[1].temperature)
    assert same.joints[1].viscous == pytest.approx(3e-4)
    assert sizes['ur_cb3_size_0'].viscous_p == pytest.approx(1.0)


def test_blocks_and_gaps(model):
    """More samples than a block are as many blocks; over a gap nothing is delivered."""
    t, motion = moving(6, duration=2.5)
    assert len(t) > 1024
    whole = energy_of_motion(model, t, motion)
    late = t + np.where(np.arange(len(t)) >= 700, 100.0, 0.0)
    gap = energy_of_motion(model, late, replace(motion, starts=(0, 700)))
    step = whole.delivered.value[700] - whole.delivered.value[699]
    np.testing.assert_allclose(
        gap.delivered.value[-1], whole.delivered.value[-1] - step, atol=1e-9
    )
    assert gap.delivered.value[700] == gap.delivered.value[699]
