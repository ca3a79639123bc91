# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Clearances are coal's, and a proof of one holds at every instant, not only where it looked."""

from dataclasses import replace

from builders import joint, link, robot_urdf, two_link_urdf
from hypothesis import given, strategies as st
from known_models import limited
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.cli.excite_text import describe_certificate
from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.excitation import (
    Budget, certify, CollisionModel, design_excitation, dump_trajectory, ExtraLimits,
    find_experiment, find_holding, find_unchecked, FourierParametrization, hardware_limits,
    load_experiment, load_trajectory, make_generic_experiment, Obstacle, Trajectory,
    unchecked_from_content,
)
from robot_identification.excitation.margins import POSES
from robot_identification.execution.checks import check_executable, check_nothing_unchecked
from robot_identification.model import make_robot_model, parse_urdf

pytest.importorskip('coal', reason='coal, which measures distances, is not installed')

UPRIGHT = np.array([0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0])
TABLE = Obstacle('table', (2.0, 2.0, 0.1), (0.0, 0.0, -0.06), (0.0, 0.0, 0.0))


def ball_link(name, centre='0 0 0', radius=0.05):
    return (
        f'<link name="{name}"><inertial><origin xyz="{centre}"/><mass value="1"/>'
        '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
        f'<collision><origin xyz="{centre}"/><geometry><sphere radius="{radius}"/></geometry>'
        '</collision></link>'
    )


def model_of(*elements, obstacles=()):
    return CollisionModel(make_robot_model(parse_urdf(robot_urdf(*elements), 'arm')), obstacles)


def slider():
    """Return a ball of 5 cm on a rail along x, from -1 to 1 m, before a wall."""
    return model_of(
        '<link name="rail"/>', ball_link('cart'),
        joint('slide', 'rail', 'cart', 'prismatic', (1, 0, 0), (0, 0, 0),
              limit='<limit lower="-1" upper="1" velocity="5" effort="9"/>'),
        obstacles=[Obstacle('wall', (0.2, 2.0, 2.0), (0.6, 0.0, 0.0), (0.0, 0.0, 0.0))],
    )


def arm_of_overlapping_shapes():
    """Return an arm whose first and third link are drawn into each other, and one before it."""
    return make_robot_model(parse_urdf(robot_urdf(
        '<link name="base"/>',
        *(ball_link(f'l{number}', radius=radius)
          for number, radius in enumerate((0.3, 0.05, 0.3, 0.05), 1)),
        *(joint(f'j{number}', 'base' if number == 1 else f'l{number - 1}', f'l{number}',
                axis=((0, 1, 0), (0, 0, 1))[number % 2], xyz=(0, 0, 0.2))
          for number in range(1, 5)),
    ), 'overlapping'))


def test_links_that_overlap_in_every_pose_are_left_out_by_name():
    """Where they may; a box that the arm carries is not drawn by its vendor."""
    robot = arm_of_overlapping_shapes()
    for named in ((), [('l2', 'l4')]):
        model = CollisionModel(robot, may_overlap=named)
        assert ('l1', 'l3') in model.pairs and model.overlapping == ()
    for named in (None, [('l1', 'l3')]):
        model = CollisionModel(robot, may_overlap=named)
        assert ('l1', 'l3') not in model.pairs and model.overlapping == (('l1', 'l3'),)
    box = Obstacle('box', (0.6, 0.6, 0.6), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), link='l4')
    assert ('l2', 'box') in CollisionModel(robot, [box], may_overlap=None).pairs


def test_a_motion_that_leaves_links_out_is_not_for_a_real_arm():
    """Its certificate says so; without that the links are checked, and stop it anywhere."""
    robot = arm_of_overlapping_shapes()
    experiment = make_generic_experiment(robot).experiment
    trajectory = design_excitation(robot, experiment, seed=0, budget=Budget(2))
    certificate = trajectory.certificate
    assert certificate['collision']['overlapping'] == [['l1', 'l3']]
    words = 'between l1 and l3, whose shapes overlap in every pose'
    assert any(words in gap['reason'] for gap in certificate['not_checked'])
    check_executable(robot, trajectory)
    quiet = trajectory.with_certificate({**certificate, 'not_checked': []})
    with pytest.raises(UnsafeMotionError, match=f'collision: NOT CHECKED, {words}'):
        check_nothing_unchecked(robot, quiet)
    entry = {key: value for key, value in certificate['collision'].items() if key != 'overlapping'}
    with pytest.raises(UnsafeMotionError, match='l1 and l3 are -0'):
        check_executable(robot, trajectory.with_certificate({**certificate, 'collision': entry}))


def swing(amplitude, rate):
    """Return position and dense velocities of a sine of ten seconds for one joint."""
    t = np.linspace(0.0, 10.0, 10_001)
    return (
        lambda times: amplitude * np.sin(rate * np.asarray(times))[:, None],
        amplitude * rate * np.cos(rate * t)[:, None],
    )


@given(
    amplitude=st.floats(0.05, 0.9), rate=st.floats(0.3, 20.0), clearance=st.floats(0.0, 0.1)
)
def test_a_proof_is_right_about_every_instant(amplitude, rate, clearance):
    """A swing between coarse instants is found; what is far enough is not refused."""
    position, velocity = swing(amplitude, rate)
    t = np.linspace(0.0, 10.0, 200_001)
    nearest = 0.45 - position(t).max()
    model = slider()
    if nearest > clearance + 1e-3:
        seen = model.prove(position, 10.0, velocity, clearance)
        # The nearest approach is 0.45 m less the amplitude, wherever the sine reaches it: five
        # swings a second lie between the first instants that are looked at. 1 mm is the band in
        # which neither is demanded: coal's tolerance and the shortest interval.
        assert seen.distance >= nearest - 1e-6
        assert seen.pair == ('cart', 'wall')
    elif nearest < clearance - 1e-3:
        with pytest.raises(UnsafeMotionError, match='cart and wall'):
            model.prove(position, 10.0, velocity, clearance)


@pytest.fixture(scope='module', params=['ur3', 'ur5', 'ur10e', 'youbot'])
def model(robots, request):
    return CollisionModel(robots[request.param])


@given(seed=st.integers(0, 2**32 - 1))
def test_bodies_approach_no_faster_than_the_bound(model, seed):
    """From any pose, in any direction: the change of every distance is within the bound."""
    rng = np.random.default_rng(seed)
    n = model._speed_of_pairs.shape[1]
    q = rng.uniform(-2, 2, n)
    dq = rng.normal(size=n)
    step = 1e-3
    change = np.abs(model.distances(q + step * dq) - model.distances(q)) / step
    bound = model._speed_of_pairs @ np.abs(dq)
    # coal's distances are good to some 1e-6 m, over a step of a millisecond.
    assert np.all(change <= bound + 5e-3)


@pytest.mark.parametrize('link', ['tool0', 'flange'])
def test_a_tool_moves_with_its_link(robots, link):
    """A carried box is where a standing one would be, put where the link's frame is."""
    robot, rng = robots['ur5'], np.random.default_rng(2)
    tool = Obstacle('tool', (0.1, 0.05, 0.2), (0.02, 0.0, 0.1), (0.0, 0.3, 0.2), link)
    carried = CollisionModel(robot, [tool])
    kinematics = robot.pinocchio
    data = kinematics.createData()
    for _ in range(2):
        q = UPRIGHT + rng.uniform(-1.0, 1.0, 6)
        pin.forwardKinematics(kinematics, data, q)
        frame = pin.updateFramePlacement(kinematics, data, kinematics.getFrameId(link))
        pose = frame * pin.SE3(pin.rpy.rpyToMatrix(*tool.rpy), np.array(tool.xyz))
        rpy = tuple(pin.rpy.matrixToRpy(pose.rotation))
        standing = CollisionModel(robot, [
            replace(tool, link='', xyz=tuple(pose.translation), rpy=rpy)
        ])
        found = [
            {
                pair: distance
                for pair, distance in zip(model.pairs, model.distances(q), strict=True)
                if 'tool' in pair and {'shoulder_link', 'upper_arm_link', 'forearm_link'} & {*pair}
            } for model in (carried, standing)
        ]
        assert len(found[0]) == 3
        # Distances are coal's, to some 1e-6 m.
        assert found[0] == pytest.approx(found[1], abs=1e-5)


@pytest.fixture(scope='module')
def motion(robots):
    """Return an experiment of 5 s on a table beside a wall, and a motion found for it."""
    wall = Obstacle('wall', (0.1, 2.0, 2.0), (-0.75, 0.0, 0.9), (0.0, 0.0, 0.0))
    experiment = replace(
        load_experiment(find_experiment('demo')), form=FourierParametrization(3, 5.0),
        segments=(), samples=(20,), obstacles=(TABLE, wall),
    )
    return experiment, design_excitation(robots['ur5'], experiment, seed=0, budget=Budget(20))


def test_a_motion_found_keeps_the_clearance_on_a_dense_grid(robots, motion):
    """Checked at 500 Hz by distances alone, without the proof's bounds."""
    experiment, trajectory = motion
    entry = trajectory.certificate['collision']
    times = np.arange(0.0, trajectory.duration, 1.0 / 500.0)
    model = CollisionModel(robots['ur5'], experiment.obstacles)
    seen = model.closest(trajectory.sample(times).q, times)
    assert seen.distance >= experiment.clearance
    assert entry['nearest'] >= seen.distance - 1e-6
    assert set(entry['obstacles']) == {'table', 'wall'}


def test_execution_proves_the_clearance_again(robots, motion):
    """An edited certificate helps nobody: obstacles and clearance are checked against the path."""
    _, trajectory = motion
    check_executable(robots['ur5'], trajectory)
    entry = trajectory.certificate['collision']
    for changed, words in (
        ('not checked', 'proves no clearance'),
        ({**entry, 'clearance': entry['nearest'] + 0.05}, 'the clearance is'),
        ({**entry, 'obstacles': {'box': {'size': [1, 1, 1], 'xyz': [0.4, 0, 0.4]}}}, 'box'),
        ({**entry, 'obstacles': {'box': {'size': [1, 1], 'xyz': [0, 0, 0]}}}, 'list of 3 numbers'),
        ({'clearance': 0.02}, 'damaged'),
    ):
        edited = trajectory.with_certificate({**trajectory.certificate, 'collision': changed})
        with pytest.raises(UnsafeMotionError, match=words):
            check_executable(robots['ur5'], edited)
    off = trajectory.with_certificate({**trajectory.certificate, 'collision': 'off'})
    check_executable(robots['ur5'], off)


def test_a_link_without_a_shape_is_no_part_of_a_proof():
    """One bare link with mass is enough; a frame without mass is not."""
    others = (
        '<link name="body"/>', ball_link('upper'),
        joint('one', 'body', 'upper'), joint('two', 'upper', 'hand', xyz=(0.5, 0, 0)),
    )
    bare = ball_link('hand').replace('<collision>', '<visual>').replace('/collision', '/visual')
    with pytest.raises(UnsafeMotionError, match=r'no collision shapes .* at hand: add'):
        model_of(*others, bare)
    model_of(*others, '<link name="hand"/>')


MASS, LENGTH, WEIGHT = 2.0, 0.5, 9.81 * 2.0 * 0.5


@pytest.fixture(scope='module')
def pendulum():
    """Return a pendulum about a horizontal axis, which turns once each way."""
    return make_robot_model(parse_urdf(robot_urdf(
        '<link name="ground"/>', link('bob', MASS, centre=(0, 0, -LENGTH)),
        joint('hinge', 'ground', 'bob', axis=(0, 1, 0)),
    ), 'pendulum'))


def limits_of(pendulum, effort, lower=-np.pi, upper=np.pi):
    values = {'torque': effort, 'lower': lower, 'upper': upper}
    return replace(
        hardware_limits(pendulum), **{name: np.array([one]) for name, one in values.items()}
    )


@pytest.mark.parametrize('share', [0.2, 0.7])
def test_the_share_of_poses_is_that_of_a_pendulum(pendulum, share):
    """Its torque is w sin q: of a turn, 2/pi asin(f) can be held with f w."""
    holding = find_holding(pendulum, limits_of(pendulum, share * WEIGHT))
    truth = 2.0 / np.pi * np.arcsin(share)
    # Random poses: five standard deviations of their number.
    assert holding.held == pytest.approx(truth, abs=5.0 * np.sqrt(truth * (1 - truth) / POSES))
    assert holding.joint == 'hinge'
    # The largest of 2000 sines is one within a millionth, on the average.
    assert holding.largest == pytest.approx(WEIGHT, rel=1e-4)
    for words in (f'{WEIGHT:.3g}'[:3], f'where {share * WEIGHT:.4g} N m', 'slower'):
        assert words in holding.describe()
    # What holds every pose is not worth a word.
    every = find_holding(pendulum, limits_of(pendulum, 1.001 * WEIGHT))
    assert (every.held, every.describe()) == (1.0, '')


def test_a_search_that_must_fail_is_not_begun(ur5, monkeypatch):
    """An elbow that cannot carry its arm anywhere in the window: joint, value and limit."""
    experiment = replace(load_experiment(find_experiment('demo')), collision=False)
    effort = ur5.limits.effort.copy()
    effort[1] = 0.1
    weak = limited(ur5, effort)
    monkeypatch.setattr(
        'robot_identification.excitation.design.Search',
        lambda *args, **kwargs: pytest.fail('the search was begun'),
    )
    narrow = replace(experiment, window={
        'shoulder_lift_joint': (-0.6, -0.3), 'elbow_joint': (0.0, 0.4), 'wrist_1_joint': (-1, 0),
    })
    with pytest.raises(UnsafeMotionError) as no:
        design_excitation(weak, narrow, seed=0, budget=Budget(3))
    for words in ('shoulder_lift_joint needs', 'where 0.07 N m (70% of its limit)', 'slower'):
        assert words in str(no.value)


FULL = ExtraLimits(limits={'acceleration': 8.0})


def arm(text=None):
    """Return the model of a description, by default of one with everything a URDF can state."""
    return make_robot_model(parse_urdf(text or two_link_urdf(), 'arm'))


def massless():
    """Return an arm of which only the limits are known."""
    return arm(robot_urdf(
        '<link name="ground"/><link name="upper"/><link name="lower"/>',
        joint('one', 'ground', 'upper'), joint('two', 'upper', 'lower', axis=(0, 1, 0)),
    ))


def found(robot, *more):
    """Return (kind, joints) of what cannot be checked."""
    return [(one.kind, one.joints) for one in find_unchecked(robot, *more)]


@pytest.fixture(scope='module')
def experiment():
    return replace(load_experiment(find_experiment('demo')), window={}, collision=False)


def certified(robot, experiment):
    coefficients = 0.02 * np.random.default_rng(1).normal(
        size=(robot.n, experiment.form.n_coefficients)
    )
    return certify(robot, experiment, Trajectory(
        robot.name, robot.joint_names, experiment.form, coefficients, 1, {}
    ), {'optimizer': 'random', 'seed': 0})


BOTH = ('one', 'two')


def test_the_certificate_says_it_and_counts_only_what_was_checked(experiment, tmp_path):
    """In the file, and after it is read again; the text never has 0 % of an unknown limit."""
    motion = certified(massless(), experiment)
    certificate = motion.certificate
    assert set(certificate['limits']) == {'position', 'velocity'}
    assert certificate['torque_reserve'] is None
    (tmp_path / 't.yaml').write_text(dump_trajectory(motion))
    read = load_trajectory(tmp_path / 't.yaml').certificate['not_checked']
    assert [(one['kind'], one['joints']) for one in read] == [
        ('torque', list(BOTH)), ('acceleration', list(BOTH)),
    ]
    text = describe_certificate(motion)
    assert 'torque: NOT CHECKED, the URDF has no masses' in text
    assert 'acceleration: NOT CHECKED, no limit is known; state `acceleration`' in text
    assert 'collision: NOT CHECKED, the experiment file says' in text
    assert ' 0% ' not in text


def test_a_real_arm_executes_nothing_that_was_not_checked(experiment):
    """A simulated one does: `check_executable` has nothing against it."""
    for robot, words in (
        (massless(), 'torque: NOT CHECKED, the URDF has no masses'),
        (arm(), 'acceleration: NOT CHECKED, no limit is known'),
    ):
        motion = certified(robot, experiment)
        check_executable(robot, motion)
        with pytest.raises(UnsafeMotionError, match=words):
            check_nothing_unchecked(robot, motion)
    full = replace(experiment, limits=FULL.limits)
    check_nothing_unchecked(arm(), certified(arm(), full))
    bare = arm(two_link_urdf(limit='<limit effort="60" velocity="3"/>'))
    with pytest.raises(UnsafeMotionError, match='position of one: NOT CHECKED'):
        check_nothing_unchecked(bare, certified(bare, full))
    check_nothing_unchecked(bare, certified(bare, replace(full, window={'one': (-1.0, 1.0)})))


def test_files_that_do_not_say_it_are_refused_by_the_robot(experiment):
    """Older files have no such entry, and an entry may have been emptied."""
    motion = certified(massless(), experiment)
    older = {key: value for key, value in motion.certificate.items() if key != 'not_checked'}
    for certificate in (older, {**older, 'not_checked': []}):
        with pytest.raises(UnsafeMotionError, match='the URDF has no masses'):
            check_nothing_unchecked(massless(), motion.with_certificate(certificate))
    whole = certified(arm(), replace(experiment, limits=FULL.limits))
    older = {key: value for key, value in whole.certificate.items() if key != 'not_checked'}
    check_nothing_unchecked(arm(), whole.with_certificate(older))


def test_a_file_that_says_it_is_refused_although_the_robot_has_the_limit_now(experiment):
    robot = arm()
    motion = certified(robot, experiment)
    limits = replace(robot.limits, acceleration=np.full(2, 50.0))
    with pytest.raises(UnsafeMotionError, match='certify the motion again'):
        check_nothing_unchecked(replace(robot, limits=limits), motion)


@pytest.mark.parametrize('entry', [None, 3, [3], [{'kind': 'torque'}], [
    {'kind': 'torque', 'joints': 'one', 'reason': ''},
]])
def test_damaged_entries_are_refused(experiment, entry):
    motion = certified(arm(), replace(experiment, limits=FULL.limits))
    damaged = motion.with_certificate({**motion.certificate, 'not_checked': entry})
    with pytest.raises(UnsafeMotionError, match='not_checked'):
        check_nothing_unchecked(arm(), damaged)
    with pytest.raises(DescriptionError, match='not_checked'):
        unchecked_from_content(entry, 'file')
