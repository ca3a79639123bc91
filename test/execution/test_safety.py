# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""In front of people: margins, a payload that is carried, efforts that mean a collision."""

from dataclasses import replace

from hypothesis import given, settings, strategies as st
import numpy as np
from oracles import dh_chain
import pinocchio as pin
import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation.constraints import (
    broken_limits, hardware_limits, measure_limit_use,
)
from robot_identification.execution.checks import plan_approach, trajectory_knots
from robot_identification.execution.safety import (
    carry, check_lab_margins, check_same_arm, effort_bounds, hardest_stop, kinematics_sha256,
    prove_approach, tool_speed,
)
from robot_identification.execution.stop import HARDEST_SHARE, SHARE_OF_PEAKS
from robot_identification.model.payload import tool_frame
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import Motion, rigid_torque
from robot_identification.model.robot_model import gravity_of_mounting
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics

ELBOW = 2
# Of the UR10e no gains are known; these are of the size of the UR5's.
GAINS = {'ur10e': np.array([13.0, 13.0, 13.0, 9.0, 9.0, 9.0])}


def lasting(trajectory, duration):
    """Return the same path in another time."""
    form = replace(trajectory.form, base_period=duration, duration=duration)
    return replace(trajectory, form=form)


def at_speed(robot, trajectory, share):
    """Return the motion and the joint that uses a share of its speed limit, others less."""
    dq = trajectory.sample(trajectory.times(1000.0)).dq
    shares = np.abs(dq).max(axis=0) / robot.limits.velocity
    fastest = int(np.argmax(shares))
    factor = share / shares[fastest]
    return lasting(trajectory, trajectory.duration / factor), robot.joint_names[fastest]


def refusal(robot, trajectory):
    """Return why a motion is refused in the lab, empty if it is not."""
    try:
        check_lab_margins(robot, trajectory)
    except UnsafeMotionError as error:
        return str(error)
    return ''


# --- margins ---------------------------------------------------------------------------------


# Within this share of a limit samples and refined extrema may disagree.
UNDECIDED = 1e-4


@settings(max_examples=8)
@given(share=st.floats(0.6, 0.99).filter(lambda share: abs(share - 0.8) > UNDECIDED))
def test_a_fifth_of_the_speed_is_kept(ur5, trajectory, share):
    """What the hardware allows is refused above 80 % of it, with the joint."""
    fast, joint = at_speed(ur5, trajectory, share)
    reason = refusal(ur5, fast)
    assert (f'velocity of {joint}' in reason) == (share > 0.8)
    times = fast.times(200.0)
    speeds = replace(hardware_limits(ur5), acceleration=np.full(6, np.inf))
    assert not broken_limits(measure_limit_use(ur5, speeds, times, fast.sample(times)))


@settings(max_examples=8)
@given(distance=st.floats(0.0, 0.2).filter(lambda x: abs(x - 0.1) > UNDECIDED))
def test_a_tenth_of_a_radian_is_kept_from_the_stops(ur5, trajectory, distance):
    """The elbow turns to half a turn less `distance`."""
    highest = trajectory.sample(trajectory.times(1000.0)).q[:, ELBOW].max()
    coefficients = trajectory.coefficients.copy()
    coefficients[ELBOW, 0] += ur5.limits.upper[ELBOW] - distance - highest
    near = replace(trajectory, coefficients=coefficients)
    assert ('position of elbow_joint' in refusal(ur5, near)) == (distance < 0.1)


@settings(max_examples=8)
@given(share=st.floats(0.4, 0.95).filter(lambda x: abs(x - 0.8 / 1.3) > UNDECIDED))
def test_torques_are_kept_for_masses_larger_than_described(ur5, trajectory, share):
    """80 % of the torque even where masses are 30 % larger: 61.5 % of what is described."""
    motion = trajectory.sample(trajectory.times(1000.0))
    peak = np.abs(rigid_torque(ur5, motion)[:, 1]).max()
    effort = ur5.limits.effort.copy()
    effort[1] = peak / share
    weak = replace(ur5, limits=replace(ur5.limits, effort=effort))
    assert ('torque of shoulder_lift_joint' in refusal(weak, trajectory)) == (
        share > 0.8 / 1.3
    )


def test_a_payload_that_is_too_much_is_refused(ur5, trajectory):
    """The motion is within the bare arm's torques, and not with 15 kg in the hand."""
    check_lab_margins(carry(ur5, 1.0, np.array([0.0, 0.0, 0.05])), trajectory)
    with pytest.raises(UnsafeMotionError, match=r'torque of shoulder_lift_joint .* 92\.31'):
        check_lab_margins(carry(ur5, 15.0, np.array([0.0, 0.0, 0.1])), trajectory)


# --- payload ---------------------------------------------------------------------------------


ANGLES = st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6).map(np.array)
PLACES = st.lists(st.floats(-0.3, 0.3), min_size=3, max_size=3).map(np.array)


@given(q=ANGLES, dq=ANGLES, ddq=ANGLES, mass=st.floats(0.1, 10.0), center=PLACES, roll=ANGLES)
def test_what_is_carried_adds_the_force_of_its_weight_and_acceleration(
    ur5, q, dq, ddq, mass, center, roll
):
    """By hand: J^T m (a - g), with place, Jacobian and acceleration by differences."""
    robot = ur5.with_gravity(gravity_of_mounting(*roll[:3]))
    model = robot.pinocchio
    data, frame = model.createData(), model.getFrameId(tool_frame(robot))

    def place(angles):
        pin.framesForwardKinematics(model, data, angles)
        return data.oMf[frame].act(center)

    h = 1e-4
    jacobian = np.column_stack([
        (place(q + h * unit) - place(q - h * unit)) / (2.0 * h) for unit in np.eye(6)
    ])
    before, now, after = (place(q + t * dq + 0.5 * t**2 * ddq) for t in (-h, 0.0, h))
    acceleration = (before - 2.0 * now + after) / h**2
    by_hand = jacobian.T @ (mass * (acceleration - robot.gravity))
    motion = Motion(q[None], dq[None], ddq[None])
    added = rigid_torque(carry(robot, mass, center), motion) - rigid_torque(robot, motion)
    # Second differences over 1e-4 s of places known to 1e-16 m err by 1e-7 m/s^2 of rounding and,
    # with jerks of the order of 3^4, by 1e-6 of truncation; times 10 kg and 1 m.
    np.testing.assert_allclose(added[0], by_hand, atol=1e-3)
    # And the bare arm is as it was.
    assert carry(robot, 0.0, center) is robot
    np.testing.assert_array_equal(robot.pinocchio.inertias[6].mass, ur5.pinocchio.inertias[6].mass)


# --- efforts ---------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def moving(robots, trajectory):
    """Return arms with a motion each, as fast as it may be in the lab."""
    found = {}
    for name in ('ur3', 'ur5', 'ur10e'):
        robot = robots[name]
        if name in GAINS:
            robot = robot.with_drive_gains(GAINS[name])
        motion = trajectory.sample(trajectory.times(200.0))
        faster = min(
            0.79 / np.max(np.abs(motion.dq) / robot.limits.velocity),
            np.sqrt(0.99 / np.max(np.abs(motion.ddq) / robot.limits.acceleration)),
        )
        fast = lasting(trajectory, trajectory.duration / faster)
        check_lab_margins(robot, fast)
        found[name] = robot, trajectory, fast
    return found


@pytest.mark.parametrize('pace', ['slow', 'fast'])
@pytest.mark.parametrize('name', ['ur3', 'ur5', 'ur10e'])
def test_what_an_arm_needs_is_below_the_bounds(moving, name, pace):
    """Hidden truths of many seeds need less; and no bound is far above what the drive has."""
    robot, slow, fast = moving[name]
    knots = trajectory_knots(slow if pace == 'slow' else fast, 50.0)
    bounds = effort_bounds(robot, knots)
    # They differ from the description by 20 % of mass, 5 % of gain and 1 cm; torques are MuJoCo's.
    for seed in range(12):
        truth = draw_truth(robot, seed)
        torque = inverse_dynamics(robot, truth, knots)
        needed = np.abs(torque / truth.drive_gain).max(axis=0)
        assert np.all(needed < bounds), (seed, needed / bounds)
    assert np.all(bounds < 2.0 * np.abs(robot.drives.to_current(robot.limits.effort)))


def test_a_blocked_shoulder_is_seen(ur5, trajectory):
    """A drive at its limit is above the bound of a slow motion, for every joint."""
    bounds = effort_bounds(ur5, trajectory_knots(trajectory, 50.0))
    assert np.all(bounds < 0.98 * np.abs(ur5.drives.to_current(ur5.limits.effort)))


def test_what_a_unit_or_a_gain_does_not_tell_is_not_watched(ur5, trajectory):
    """Infinite there, joint by joint; in Nm no gain is needed."""
    knots = trajectory_knots(trajectory, 50.0)
    currents = effort_bounds(ur5, knots)
    assert np.all(np.isinf(effort_bounds(replace(ur5, effort_unit=None), knots)))
    torques = effort_bounds(replace(ur5, effort_unit='Nm'), knots)
    np.testing.assert_allclose(torques, currents * np.abs(ur5.drives.drive_gain))
    constants = ur5.drives.torque_constant.copy()
    constants[3] = np.nan
    partly = replace(ur5, drives=replace(ur5.drives, torque_constant=constants))
    np.testing.assert_array_equal(np.isinf(effort_bounds(partly, knots)), np.arange(6) == 3)


def test_a_stop_may_be_harder_than_planned_as_far_as_the_drives_reach(ur5, trajectory):
    """Half as hard again, or until torque or acceleration is used up; never gentler."""
    knots = trajectory_knots(trajectory, 50.0)
    assert hardest_stop(ur5, knots) == HARDEST_SHARE
    peak = np.abs(knots.ddq).max(axis=0)
    quick = replace(ur5, limits=replace(ur5.limits, acceleration=1.3 * peak))
    assert hardest_stop(quick, knots) * SHARE_OF_PEAKS == pytest.approx(1.3)
    assert hardest_stop(replace(quick, limits=replace(
        ur5.limits, acceleration=np.full(ur5.n, 0.1)
    )), knots) == 1.0
    # Where the torques leave a tenth, one joint is at its limit with the share found.
    steady, planned = (
        rigid_torque(ur5, Motion(knots.q, knots.dq, k * knots.ddq)) for k in (0.0, 1.0)
    )
    effort = 1.1 * 1.3 / 0.8 * np.abs(planned).max(axis=0)
    share = hardest_stop(replace(ur5, limits=replace(ur5.limits, effort=effort)), knots)
    assert 1.0 < share < HARDEST_SHARE
    torque = np.abs(steady + share * SHARE_OF_PEAKS * (planned - steady)) / effort
    assert torque.max() == pytest.approx(0.8 / 1.3)


# --- the tool --------------------------------------------------------------------------------


def test_the_speed_of_the_tool_is_that_of_another_kinematics(ur5, trajectory):
    """Central differences over 2 ms; samples 5 ms apart see the largest within a thousandth."""
    # The maker's Denavit-Hartenberg table.
    chain = dh_chain(
        (0.0, -0.425, -0.39225, 0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.0, np.pi / 2, -np.pi / 2, 0.0),
        (0.089159, 0.0, 0.0, 0.10915, 0.09465, 0.0823), np.zeros(6), 'standard',
    )
    times = np.linspace(0.0, trajectory.duration, 2001)[1:-1]
    h = 1e-3
    after, before = (
        np.array([chain.frames(q)[-1, :3, 3] for q in trajectory.sample(times + step).q])
        for step in (h, -h)
    )
    speeds = np.linalg.norm(after - before, axis=1) / (2.0 * h)
    assert tool_speed(ur5, trajectory) == pytest.approx(speeds.max(), rel=1e-3)
    assert tool_speed(ur5, lasting(trajectory, 5.0)) == pytest.approx(
        2.0 * tool_speed(ur5, trajectory), rel=1e-5
    )


# --- the way to the start --------------------------------------------------------------------


STRETCHED = np.array([0.0, 0.0, 0.0, -np.pi / 2, 0.0, 0.0])
BOX = {'shelf': {'size': [0.2, 0.2, 0.4], 'xyz': [0.6, 0.0, 0.2], 'rpy': [0.0, 0.0, 0.0]}}


def in_cell(trajectory, obstacles):
    """Return the motion with a certificate for a cell with boxes."""
    entry = {**trajectory.certificate['collision'], 'obstacles': obstacles}
    return trajectory.with_certificate({**trajectory.certificate, 'collision': entry})


def turned(angle):
    """Return the stretched arm, turned about the vertical."""
    return STRETCHED + np.array([angle, 0.0, 0.0, 0.0, 0.0, 0.0])


def test_a_way_through_a_box_is_refused(ur5, trajectory):
    """Both ends are clear of it; link and box are named, and where nothing stands it may go."""
    through = plan_approach(ur5, turned(-0.9), turned(0.9), 1.0, 50.0)
    with pytest.raises(UnsafeMotionError, match=r'straight way .* \w+_link and shelf'):
        prove_approach(ur5, in_cell(trajectory, BOX), through)
    prove_approach(ur5, in_cell(trajectory, {}), through)
    beside = plan_approach(ur5, turned(-0.9), turned(-0.7), 1.0, 50.0)
    prove_approach(ur5, in_cell(trajectory, BOX), beside)


def test_a_way_through_the_arm_itself_is_refused(ur5, trajectory):
    """The hand turns over into the forearm; at both ends it is clear of it by 4 cm."""
    start = np.array([0.0, -1.5, -0.52, -0.76, -0.17, 0.0])
    end = np.array([0.0, -1.5, 2.06, 4.6, -0.17, 0.0])
    approach = plan_approach(ur5, start, end, 0.5, 50.0)
    with pytest.raises(UnsafeMotionError, match='forearm_link and wrist_2_link'):
        prove_approach(ur5, trajectory, approach)
    # Who had collisions switched off has decided that.
    off = trajectory.with_certificate({**trajectory.certificate, 'collision': 'off'})
    prove_approach(ur5, off, approach)


# --- the live description --------------------------------------------------------------------


def moved(robot, millimetres):
    """Return the same arm with its third joint shifted along the link, as calibrations do."""
    model = robot.pinocchio.copy()
    model.jointPlacements[3].translation[0] += 1e-3 * millimetres
    return replace(robot, pinocchio=model)


@pytest.mark.parametrize(('millimetres', 'same'), [(0.0, True), (4.0, True), (15.0, False)])
def test_a_calibration_makes_no_other_arm(millimetres, same):
    """Vendors' calibrations move joints by a few millimetres; the types differ by centimetres."""
    robot = load_robot('ur5e')
    if same:
        check_same_arm(robot, moved(robot, millimetres))
        return
    with pytest.raises(UnsafeMotionError, match=r'elbow_joint 15\.0 mm'):
        check_same_arm(robot, moved(robot, millimetres))


def test_each_calibration_is_commissioned_on_its_own():
    """A hundredth of a millimetre tells two arms apart; another mount in the world does not."""
    robot = load_robot('ur5e')
    own = kinematics_sha256(robot)
    assert kinematics_sha256(moved(robot, 0.01)) != own
    assert kinematics_sha256(load_robot('ur5')) != own
    model = robot.pinocchio.copy()
    model.jointPlacements[1] = (
        pin.SE3(pin.utils.rotate('z', 1.0), np.array([1.0, 2.0, 3.0])) * model.jointPlacements[1]
    )
    mounted = replace(robot, pinocchio=model)
    assert kinematics_sha256(mounted) == own
    # Joints are compared with the first one.
    check_same_arm(robot, mounted)


@pytest.mark.parametrize('other', ['ur5', 'ur3e', 'ur10e'])
def test_another_type_of_arm_is_one(other):
    """Their joints have the same names, so that nothing else would tell."""
    with pytest.raises(UnsafeMotionError, match='another type'):
        check_same_arm(load_robot('ur5e'), load_robot(other))
