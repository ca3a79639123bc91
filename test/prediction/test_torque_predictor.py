# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Sample by sample, from the past only, with the delay it states, and with corrections."""

from dataclasses import replace

from builders import joint, link, mixed_urdf, robot_urdf
from known_models import known_model, made_up_dataset
import numpy as np
import pytest
from robot_identification.model import (
    correction_blocks, CORRECTIONS, Corrections, FastVelocity, FRICTION_LAWS, JointCorrection,
    JointDeviation, make_robot_model, Motion, parse_urdf, PositionSeries,
    prior_inertial_parameters, Ripple, run_stops, standard_torque,
)
from robot_identification.prediction import ForwardDynamics
from robot_identification.prediction.torque_predictor import TorquePredictor
from robot_identification.processing import CAUSAL_CUTOFF, CAUSAL_ORDER, causal_signals
from robot_identification.simulation import Drive
from scipy import signal

RATE = 500.0


def model_of(robot, friction='none', **parameters):
    robot = replace(robot.with_drive_gains([2.0, 4.0, 8.0]), sampling_rate=RATE)
    return replace(known_model(robot, friction, **parameters), effort_unit='A')


@pytest.fixture
def viscous(robots):
    """Return a model whose torque on the first joint is twice its smoothed velocity."""
    return model_of(robots['mixed'], 'viscous', fv=[2.0, 0.0, 0.0])


def recording(t):
    """Return a smooth motion of three joints at times (N,)."""
    q = 0.4 * np.sin(2.0 * t[:, None] + np.arange(3))
    dq = 0.8 * np.cos(2.0 * t[:, None] + np.arange(3))
    return q, dq


def test_step_by_step_equals_the_batch(identification, rng):
    """Bit for bit, on the recording's own samples with their noise."""
    model, motion = identification.model, identification.datasets[0].motion
    stamps = identification.datasets[0].stamps[:300]
    q = motion.q[:300]
    dq = motion.dq[:300] + 1e-3 * rng.normal(size=(300, 6))
    whole = TorquePredictor(model).run(stamps, q, dq)[0]
    stepwise = TorquePredictor(model)
    for k in range(300):
        prediction = stepwise.step(stamps[k], q[k], dq[k])
        np.testing.assert_array_equal(prediction.effort, whole[k])
        np.testing.assert_allclose(
            prediction.torque + prediction.correction,
            prediction.effort * model.robot.drives.drive_gain, rtol=1e-12,
        )


def test_every_law_equals_the_batch(robots, rng):
    """With filters of SciPy and the torque of a whole recording, up to rounding; and by joint."""
    stamps = np.arange(200) / RATE
    q, dq = recording(stamps)
    dq = dq + 1e-2 * rng.normal(size=dq.shape)
    temperature = rng.uniform(20.0, 40.0, q.shape)
    sections = signal.butter(CAUSAL_ORDER, CAUSAL_CUTOFF, fs=RATE, output='sos')
    settled = signal.sosfilt_zi(sections)[:, :, None]
    smooth, _ = signal.sosfilt(sections, dq, axis=0, zi=settled * dq[0])
    difference = RATE * np.diff(smooth, axis=0, prepend=dq[:1])
    ddq, _ = signal.sosfilt(sections, difference, axis=0, zi=0.0 * settled * dq[0])
    motion = Motion(q, smooth, ddq, temperature)
    for law in FRICTION_LAWS:
        model = model_of(robots['mixed'], law)
        model = replace(model, theta_base=rng.uniform(0.1, 1.0, model.reduction.rank))
        expected = standard_torque(model.robot, model.parameters, model.theta_lifted, motion)
        predictor = TorquePredictor(model)
        found = [predictor.step(*one).torque for one in zip(
            stamps, q, dq, temperature, strict=True
        )]
        # Of sums of a hundred products, and differences of velocities times 500 Hz.
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11, err_msg=law)


def test_delay_is_as_stated(viscous):
    """On a ramp, once it has settled, the smoothed velocity lags by exactly the stated time."""
    predictor = TorquePredictor(viscous, rate=RATE, cutoff=30.0)
    t = np.arange(500) / RATE
    dq = np.zeros((500, 3))
    dq[:, 0] = 0.7 * t
    smooth = predictor.run(t, np.zeros((500, 3)), dq)[0][:, 0] * 2.0 / 2.0
    lag = (dq[-1, 0] - smooth[-1]) / 0.7
    assert lag == pytest.approx(predictor.delay, rel=1e-6)
    assert predictor.delay == pytest.approx(np.sqrt(2.0) / (2.0 * np.pi * 30.0), rel=0.02)
    # As the documentation of the class says.
    assert predictor.delay == pytest.approx(0.23 / 30.0, rel=0.05)


@pytest.mark.parametrize('jump', [0.5, -0.3, -100.0])
def test_filters_start_anew_after_a_gap_or_a_clock_that_jumps(robots, jump):
    """From there on the predictions are those of a predictor that starts there."""
    model = model_of(
        robots['mixed'], 'viscous', fv=[1.0, 0, 0], Ia=[0, 0, 2.0], Izz=[0.5, 0, 0]
    )
    t = np.arange(200) / RATE
    q, dq = recording(t)
    stamps = np.where(np.arange(200) < 120, t, t + jump)
    predictor = TorquePredictor(model)
    first = predictor.run(stamps[:120], q[:120], dq[:120])[0]
    before = predictor.restarts
    second = predictor.run(stamps[120:], q[120:], dq[120:])[0]
    assert predictor.restarts == before + 1
    fresh = TorquePredictor(model)
    anew = fresh.run(stamps[120:], q[120:], dq[120:])[0]
    np.testing.assert_allclose(second, anew, rtol=1e-12)
    assert np.all(np.isfinite(first))


@pytest.mark.parametrize('where', ['stamp', 'q', 'dq'])
@pytest.mark.parametrize('value', [np.nan, np.inf])
def test_what_is_not_finite_gives_no_prediction(viscous, where, value):
    """And leaves no trace in the filters: the next samples are as without it."""
    t = np.arange(100) / RATE
    q, dq = recording(t)
    plain = TorquePredictor(viscous)
    disturbed = TorquePredictor(viscous)
    for k in range(100):
        expected = plain.step(t[k], q[k], dq[k])
        if k == 40:
            sample = {'stamp': t[k] + 0.5 / RATE, 'q': q[k].copy(), 'dq': dq[k].copy()}
            if where == 'stamp':
                sample['stamp'] = value
            else:
                sample[where][1] = value
            assert disturbed.step(**sample) is None
        found = disturbed.step(t[k], q[k], dq[k])
        np.testing.assert_array_equal(found.effort, expected.effort)


def test_a_repeated_stamp_gives_no_prediction(viscous):
    predictor = TorquePredictor(viscous)
    q, dq = np.zeros(3), np.ones(3)
    assert predictor.step(1.0, q, dq) is not None
    assert predictor.step(1.0, q, dq) is None
    assert predictor.step(1.002, q, dq) is not None
    rows = np.zeros((3, 3))
    assert np.isnan(predictor.run(np.array([2.0, 2.0, 2.002]), rows, rows)[0][1]).all()


GROUPS = (
    FastVelocity((*((lag, lag) for lag in range(9)), (9, 10))), PositionSeries(),
    Ripple((159, 160)), JointDeviation((10, 14, 21, 25)),
)


def dataset_of(rng, stamps):
    """Return a recording of three joints in motion, velocities with noise."""
    phase = np.arange(3)
    q = 0.4 * np.sin(2.0 * stamps[:, None] + phase)
    dq = 0.8 * np.cos(2.0 * stamps[:, None] + phase) + 1e-2 * rng.normal(size=q.shape)
    motion = Motion(q, dq, np.zeros_like(q))
    dataset = made_up_dataset(('a', 'b', 'c'), motion, np.zeros_like(q), RATE, measured_dq=dq)
    return replace(dataset, stamps=stamps)


@pytest.fixture
def model(robots, rng):
    plain = known_model(replace(robots['mixed'], sampling_rate=RATE), 'viscous', fv=2.0)
    plain = plain.with_quality({'residual_standard_deviation': [1.0, 1.0, 1.0]})
    return replace(plain, corrections=Corrections(RATE, (), tuple(
        JointCorrection(joint, group, rng.normal(size=group.size))
        for joint in (0, 2) for group in GROUPS
    )))


@pytest.mark.parametrize(('gap', 'limit'), [(0.0, None), (0.5, None), (0.0, [3.0, 0.0, 1.0])])
def test_samples_equal_the_recording(model, rng, gap, limit):
    """Kinematics, parameters and every group; after a gap all of them begin anew."""
    limit = None if limit is None else np.array(limit)
    model = replace(model, corrections=replace(model.corrections, live_limit=limit))
    assert {type(group) for group in GROUPS} == set(CORRECTIONS.values())
    stamps = np.arange(600) / RATE
    stamps[300:] += gap
    dataset = dataset_of(rng, stamps)
    signals = causal_signals(dataset)
    expected = model.effort(signals.motion)
    for rows, torque in correction_blocks(model.corrections.live, model.robot, signals, limit):
        expected[rows] += torque * model.effort_per_torque
    predictor = TorquePredictor(model)
    found = predictor.run(stamps, dataset.motion.q, dataset.measured_dq)[0]
    # Filters as a matrix here and as SciPy's recursion there: rounding of torques of some tens.
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-9)
    assert predictor.restarts == (2 if gap else 1)


ROTORS = np.array([0.5, 3.0, 0.08])
HALF_SECOND = 0.5


def made_up(text):
    return make_robot_model(parse_urdf(text, 'made up'))


def wheel():
    """Return one joint about the vertical: its inertia about the axis is 0.25 kg m^2."""
    return made_up(robot_urdf(
        link('ground'), link('wheel', 2.0, (0.0, 0.0, 0.0), (0.2, 0.2, 0.25)),
        joint('turn', 'ground', 'wheel', limit='<limit lower="-9" upper="9" velocity="9" '
              'effort="60"/>'),
    ))


def known_wheel(friction='none', **values):
    robot = wheel()
    return known_model(robot, friction, prior_inertial_parameters(robot), **values)


def recorded(robot, q, dq, temperature=None):
    """Return a recording of positions and velocities (N, n), 1 ms apart."""
    motion = Motion(q, dq, np.zeros_like(q), temperature)
    return made_up_dataset(robot.joint_names, motion, np.zeros_like(q), 1000.0)


def drive(step, torque, stiffness=0.0, damping=0.0, q=None):
    """Return a drive of torques (K, S, n), with a servo that holds q (S, n)."""
    K, _, n = torque.shape
    q = np.zeros(torque.shape[1:]) if q is None else q
    return Drive(
        step, torque, np.tile(q, (K + 1, 1, 1)), np.zeros((K + 1, *q.shape)),
        np.full(n, stiffness), np.full(n, damping),
    )


def steady(torque, step, seconds=HALF_SECOND):
    """Return a constant torque (S, n) as torques of all steps."""
    return np.tile(np.atleast_2d(torque), (round(seconds / step), 1, 1))


def start(dynamics, robot, q, dq):
    """Return rollouts (S, n) that begin without a past."""
    return dynamics.start(
        recorded(robot, np.atleast_2d(q), np.atleast_2d(dq)), np.arange(len(np.atleast_2d(q)))
    )


def turned(model, torque, q=0.0, dq=0.0, seconds=HALF_SECOND, **servo):
    """Return where torques (S, 1) take a wheel in steps of 1 ms, from rest (K + 1, S)."""
    torque = np.array(torque)
    begin = start(ForwardDynamics(model), model.robot, q + 0.0 * torque, dq + 0.0 * torque)
    held = drive(0.001, steady(torque, 0.001, seconds), q=q + 0.0 * torque, **servo)
    return ForwardDynamics(model).roll_out(begin, held)[:, :, 0]


def moved_by_mujoco(text, q, dq, torque_at, friction, seconds, step=2.0e-5):
    """Return where MuJoCo takes an arm (n,); friction is a torque of the velocity."""
    mujoco = pytest.importorskip('mujoco')
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep, model.opt.gravity[:] = step, (0.0, 0.0, -9.81)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.jnt_limited[:] = False
    model.dof_armature[:] = ROTORS
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, dq
    for _ in range(round(seconds / step)):
        data.qfrc_applied[:] = torque_at(data.time + 0.5 * step) - friction(data.qvel)
        mujoco.mj_step(model, data)
    return data.qpos.copy()


def torque_at(time):
    """Return a torque (3,) that moves all joints of the mixed arm, gravity held."""
    return np.array([6.0, 30.0, 2.0]) * np.sin(np.array([7.0, 5.0, 9.0]) * time + 0.4)


@pytest.mark.parametrize('fc, fv, order', [(0.0, 0.0, 2.0), (4.0, 3.0, 1.0)])
def test_an_arm_moves_as_mujoco_moves_it(fc, fv, order):
    """Errors of the step fall with its second power, with friction with its first."""
    robot = made_up(mixed_urdf())
    model = known_model(
        robot, 'coulomb,viscous', prior_inertial_parameters(robot), fc=fc, fv=fv, Ia=ROTORS
    )
    width = 0.01
    q, dq = np.array([0.3, 0.1, -0.4]), np.array([0.5, -0.2, 0.8])
    truth = moved_by_mujoco(
        mixed_urdf(), q, dq, torque_at, lambda v: fc * np.tanh(v / width) + fv * v, HALF_SECOND
    )
    dynamics, errors = ForwardDynamics(model), []
    for step in (0.004, 0.002):
        middles = step * (0.5 + np.arange(round(HALF_SECOND / step)))
        torque = np.array([torque_at(middle) for middle in middles])[:, None]
        found = dynamics.roll_out(start(dynamics, robot, q, dq), drive(step, torque))
        errors.append(np.abs(found[-1, 0] - truth).max())
    assert errors[0] < 4.0e-3
    assert 0.6 * 2.0**order < errors[0] / errors[1] < 1.6 * 2.0**order


def test_a_torque_error_drifts_by_half_of_its_acceleration_times_time_squared(robots, rng):
    """1/2 M^-1 e t^2, up to what changes on the way: 3 % in 50 ms from rest."""
    robot = robots['ur5']
    model = known_model(robot, 'none', prior_inertial_parameters(robot), Ia=0.5)
    dynamics, step = ForwardDynamics(model), 0.001
    q = rng.uniform(-1.0, 1.0, (4, 6))
    states = start(dynamics, robot, q, np.zeros_like(q))
    rest = np.array([model.torque(Motion(*(one[None] for one in (p, 0 * p, 0 * p))))[0]
                     for p in q])
    error = rng.uniform(-3.0, 3.0, (4, 6))
    time = 0.05
    true, wrong = (
        dynamics.roll_out(states, drive(step, steady(torque, step, time)))[-1]
        for torque in (rest, rest + error)
    )
    expected = 0.5 * np.linalg.solve(dynamics.inertias(states), error[..., None])[..., 0] * time**2
    np.testing.assert_allclose(true, q, atol=1e-9)
    np.testing.assert_allclose(wrong - true, expected, atol=0.03 * np.abs(expected).max())


@pytest.mark.parametrize('law, values', [
    ('coulomb', {'fc': 8.0}), ('coulomb_sign', {'fcs': 8.0}),
])
def test_dry_friction_stops_a_joint_and_holds_it(law, values):
    """A joint that coasts stops where I v^2 / (2 fc) says, and does not chatter."""
    v = 2.0
    q = turned(known_wheel(law, **values), [[0.0]], dq=v)[:, 0]
    assert q[-1] == pytest.approx(0.25 * v**2 / (2.0 * 8.0), abs=v * 0.001)
    stopped = q[round(0.25 * v / 8.0 / 0.001) + 20:]
    assert np.ptp(stopped) < 1e-6


def known_dictionary(robot, coefficients):
    """Return a model of one joint with some terms of the dictionary."""
    model = known_model(robot, 'dictionary', prior_inertial_parameters(robot))
    theta = model.theta_lifted
    for symbol, value in coefficients.items():
        theta[model.parameters.names.index(f'{symbol}1')] = value
    return replace(model, theta_base=model.reduction.K @ theta)


@pytest.mark.parametrize('torque', [5.0, -5.0])
def test_friction_grows_with_the_torque_that_is_passed_on(torque):
    """``r + (A + B abs(r)) sign(v) = torque`` has r of it; the joint takes r over its inertia."""
    model = known_dictionary(wheel(), {'sliding[0.003]': 1.0, 'load_sliding[0.01]': 0.3})
    found = turned(model, [[torque]])[-1, 0]
    passed_on = (abs(torque) - 1.0) / 1.3
    expected = np.sign(torque) * 0.5 * passed_on / 0.25 * HALF_SECOND**2
    # The passage through zero velocity takes a step.
    assert found == pytest.approx(expected, rel=0.01)


def test_stops_go_on_from_what_was_recorded_before(rng):
    """Deflections at a start are those along all samples before it, as in prediction."""
    robot = wheel()
    dynamics = ForwardDynamics(known_dictionary(robot, {'presliding[0.06]': 3.0}))
    q = 0.05 * np.cumsum(rng.normal(size=(400, 1)), axis=0)
    rows = np.array([0, 7, 399])
    dataset = recorded(robot, q, np.zeros_like(q))
    expected = run_stops(q[:, 0], np.array([0.06]), np.zeros(1), float(q[0, 0]))[rows]
    np.testing.assert_allclose(dynamics.start(dataset, rows).bend, expected, atol=1e-12)
    # Behind a gap they begin anew.
    split = replace(dataset, motion=replace(dataset.motion, starts=(0, 390)))
    expected = run_stops(q[390:, 0], np.array([0.06]), np.zeros(1), float(q[390, 0]))[-1]
    np.testing.assert_allclose(dynamics.start(split, rows).bend[2], expected, atol=1e-12)


@pytest.mark.parametrize('stiffness, damping', [(40.0, 6.0), (4.0e6, 4.0e4)])
def test_a_servo_leaves_torque_over_stiffness(stiffness, damping):
    """However stiff it is for the step; 2 s are many of its time constants."""
    found = turned(
        known_wheel(), [[2.0]], q=0.3, seconds=2.0, stiffness=stiffness, damping=damping
    )[-1]
    np.testing.assert_allclose(found, 0.3 + 2.0 / stiffness, atol=1e-5 * 2.0 / 40.0)
