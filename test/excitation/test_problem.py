# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The optimizer's problem: gradients are slopes, limits are kept, the criterion is as said."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation import (
    CRITERIA, find_experiment, FourierParametrization, Knowledge, load_experiment, Obstacle,
)
from robot_identification.excitation.experiment import (
    FrameBox, FrameSpeed, SineTimesCosine, SumOfJoints,
)
from robot_identification.excitation.parametrizations import PARAMETRIZATIONS
from robot_identification.excitation.problem import TrajectoryProblem
from robot_identification.model import (
    FrictionTerm, gravity_of_mounting, link_frames, make_standard_parameters, Motion,
    observation_matrix, parse_friction, reduce_to_base, rigid_torque,
)

FORM, SPLINE = FourierParametrization(4, 8.0), PARAMETRIZATIONS['via_points'](6, 'smooth', 5.0)
INF = float('inf')
TABLE = Obstacle('table', (2.0, 2.0, 0.1), (0.0, 0.0, -0.06), (0.0, 0.0, 0.0))
GRIPPER = Obstacle('gripper', (0.1, 0.06, 0.12), (0.0, 0.0, 0.06), (0.0, 0.0, 0.0), 'tool0')
# Limits of the path, all of which motions of the shipped experiment come near.
OF_THE_PATH = {
    'limits': {'torque': 60.0},
    'tool_speed': FrameSpeed('tool0', 0.9),
    'workspace': (FrameBox('tool0', (-0.9, -0.9, 0.05), (0.9, 0.9, INF)),),
    'rules': (
        SumOfJoints({'shoulder_lift_joint': 1.0, 'elbow_joint': 1.0}, 0.5, -1.2, 1.4),
        SineTimesCosine('wrist_1_joint', 'wrist_2_joint', 0.6),
    ),
}


@pytest.fixture(scope='module')
def experiment():
    """Return the shipped experiment with a shorter motion, where nothing is within reach."""
    demo = load_experiment(find_experiment('demo'))
    return replace(demo, form=FORM, samples=(30,), collision=False)


@pytest.fixture(scope='module')
def make(robots, experiment):
    def problem(robot='ur5', knowledge=None, **changes):
        return TrajectoryProblem(robots[robot], replace(experiment, **changes), knowledge)

    return problem


@pytest.fixture(scope='module')
def conservative(make):
    """Return a problem with conservative bounds, jerk limits and a centre."""
    return make(bounds='conservative', jerk=4.0, center={'elbow_joint': 1.0})


@pytest.fixture(scope='module')
def in_a_cell(make):
    """Return a problem on a table with a gripper, and every kind of limit."""
    pytest.importorskip('coal', reason='coal, which measures distances, is not installed')
    return make(
        collision=True, obstacles=(TABLE, GRIPPER), jerk=60.0, **OF_THE_PATH
    )


def motion_of(problem, x, count=5001):
    """Return instants and samples of a candidate."""
    times = np.linspace(0.0, problem.form.duration, count)
    coefficients = problem.coefficients(x)
    return times, Motion(*(basis @ coefficients.T for basis in problem.form.basis(times)))


def slopes_along(function, x, directions, step=1e-5):
    """Return central differences along directions, (m, ..)."""
    return np.array([
        (np.asarray(function(x + step * d)) - function(x - step * d)) / (2.0 * step)
        for d in directions
    ])


def directions(rng, size, count=6):
    found = rng.standard_normal((count, size))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def limit_uses(problem, motion, times):
    """Return the largest shares of the limits of position, velocity, acceleration and jerk."""
    limits = problem.limits
    middle, half = 0.5 * (limits.lower + limits.upper), 0.5 * (limits.upper - limits.lower)
    jerk = np.gradient(motion.ddq, times, axis=0)
    return np.array([np.abs(values).max(axis=0) for values in (
        (motion.q - middle) / half, motion.dq / limits.velocity,
        motion.ddq / limits.acceleration, jerk / limits.jerk,
    )])


def scaled(problem, x, factor):
    coefficients = problem.coefficients(x)
    return problem.candidate(
        np.hstack([coefficients[:, :1], factor * coefficients[:, 1:]])
    )


# --- the criterion -------------------------------------------------------------------------


CRITERION_CASES = {
    'as it is': {},
    'link frames': {'frames': 'mdh', 'criterion': 'condition_number'},
    'two sets': {'samples': (30, 20), 'criterion': 'condition_number_scaled'},
    'three sets': {'samples': (20, 21, 40), 'frames': 'dh'},
    'a centre': {'center': {'elbow_joint': 1.0, 'wrist_3_joint': -0.5}},
    'a wall': {'gravity': gravity_of_mounting(np.pi / 2, 0.0, 0.0)},
    'other friction': {'friction': 'coulomb_sign,viscous', 'rotor_inertia': False},
    'another form': {'form': SPLINE},
}
EACH_CASE = pytest.mark.parametrize('changes', CRITERION_CASES.values(), ids=CRITERION_CASES)


def base_matrix(robot, experiment, coefficients, count, widths=None):
    """Return the base observation matrix of even samples from the start, the end left out."""
    laws = parse_friction(experiment.friction)
    if widths is not None:
        laws = tuple(
            FrictionTerm(joint, law.softened(width)) for law in laws
            for joint, width in enumerate(widths)
        )
    parameters = make_standard_parameters(robot.n, laws, experiment.rotor_inertia)
    frames = None if experiment.frames == 'joint' else link_frames(robot, experiment.frames)
    reduction = reduce_to_base(robot, parameters, frames=frames, preference=experiment.preference)
    times = experiment.form.duration * np.arange(count) / count
    motion = Motion(*(basis @ coefficients.T for basis in experiment.form.basis(times)))
    W = observation_matrix(robot, parameters, motion)
    if frames is not None:
        W[:, :10 * robot.n] = W[:, :10 * robot.n] @ frames.to_joint_frames()
    base = W[:, reduction.independent]
    # Of the base set, whatever frames: it reproduces all columns.
    np.testing.assert_allclose(base @ reduction.K, W, rtol=0.0, atol=1e-7 * np.abs(W).max())
    return base


def assert_slopes(problem, x, sharpness, along):
    """Compare a gradient with central differences along directions."""
    _, gradient = problem.descend(x, sharpness)
    expected = slopes_along(lambda at: problem.descend(at, sharpness)[0], x, along)
    # Steps of 1e-5 rad lose 1e-9 to rounding in matrices of condition 1e3. Without smoothing the
    # condition number turns fast near its kinks: 1e-4 of the gradient.
    np.testing.assert_allclose(
        along @ gradient, expected, rtol=0.0, atol=1e-4 * np.linalg.norm(gradient)
    )


@EACH_CASE
def test_the_objective_is_the_criterion_of_the_worst_set_of_samples(make, rng, changes):
    """By the base columns of the arm's observation matrix; rounding grows with the condition."""
    problem = make(**changes)
    criterion = CRITERIA[problem.experiment.criterion]
    for _ in range(3):
        x = problem.draw(rng)
        by_hand = [
            criterion(base_matrix(
                problem.robot, problem.experiment, problem.coefficients(x), count
            )) for count in problem.experiment.samples
        ]
        assert problem.objective(x) == pytest.approx(max(by_hand), rel=1e-7)
    np.testing.assert_array_equal(problem.robot.gravity, problem.experiment.gravity)


def test_what_is_known_stands_below_the_new_rows(make, rng):
    """Rows of each joint are weighed, both are counted in allowed errors, and judged together."""
    bare = make(samples=(30, 20))
    b = bare.columns.reduction.rank
    known = Knowledge(
        3.0 * rng.standard_normal((b + 2, b)), np.array([1.0, 5.0, 0.1, 1.0, 2.0, 10.0]),
        rng.uniform(0.1, 3.0, b), np.zeros(b), np.ones(6), 100.0,
    )
    problem = make(knowledge=known, samples=(30, 20))
    x = problem.draw(rng)
    by_hand = []
    for count in (30, 20):
        W = base_matrix(problem.robot, problem.experiment, problem.coefficients(x), count)
        rows = W * np.tile(known.weights, count)[:, None]
        both = np.vstack([rows, known.rows]) * known.allowed
        by_hand.append(CRITERIA['log_determinant'](both))
    assert problem.objective(x) == pytest.approx(max(by_hand), abs=1e-9)
    assert problem.objective(x) != pytest.approx(bare.objective(x), abs=1e-3)
    # Gradients are slopes here as well.
    along = directions(rng, problem.size)
    assert_slopes(problem, x, 3.0, along)
    (high, by_high, low, by_low), _ = problem.spectra(x, 3, 2)
    assert (len(high), len(low)) == (3, 2)
    expected = slopes_along(
        lambda at: np.concatenate(problem.spectra(at, 3, 2)[0][::2]), x, along
    )
    found = np.concatenate([by_high, by_low]) @ along.T
    np.testing.assert_allclose(found.T, expected, rtol=0.0, atol=1e-4 * np.abs(expected).max())


@EACH_CASE
@pytest.mark.parametrize('sharpness', [4.0, INF])
def test_stand_ins_are_means_of_the_sets_and_their_gradients_slopes(
    make, rng, changes, sharpness
):
    """By the base columns, whose friction reverses slowly, and by central differences."""
    problem = make(**changes)
    x = problem.draw(rng)
    value, _ = problem.descend(x, sharpness)
    criterion = CRITERIA[problem.experiment.criterion]
    # Half as wide for four times the sharpness; not at all where there is none.
    widths = None if np.isinf(sharpness) else 0.075 * problem.limits.velocity
    means = np.mean([
        criterion.descend(base_matrix(
            problem.robot, problem.experiment, problem.coefficients(x), count, widths
        ), sharpness)[0] for count in problem.experiment.samples
    ])
    assert value == pytest.approx(means, rel=1e-7)
    assert_slopes(problem, x, sharpness, directions(rng, problem.size))


# --- limits --------------------------------------------------------------------------------


@pytest.mark.parametrize('changes', [
    {}, {'bounds': 'conservative'}, {'jerk': 2.0}, {'center': {'elbow_joint': 0.6}},
], ids=['as it is', 'conservative', 'jerk', 'a centre'])
def test_what_is_drawn_keeps_the_limits_of_the_joints(make, changes):
    """On 5001 points; every joint moves, and no two draws are the same."""
    problem, rng = make(**changes), np.random.default_rng(3)
    first = problem.draw(rng)
    for x in (first, *(problem.draw(rng) for _ in range(10))):
        times, motion = motion_of(problem, x)
        # Jerk is a difference of accelerations here, good to 1e-3.
        uses = limit_uses(problem, motion, times)
        assert uses[:3].max() <= 1.0
        assert uses[3].max() <= 1.0 + 1e-3
        assert (uses[3].max() > 0.3) == ('jerk' in changes), 'and what is limited is used'
        assert np.all(np.ptp(motion.q, axis=0) > 0.01)
    assert not np.array_equal(first, x)
    again = problem.draw(np.random.default_rng(3))
    np.testing.assert_array_equal(first, again)


def path_uses(problem, motion):
    """Return the largest share of any limit of the path of `OF_THE_PATH`, by hand."""
    robot, experiment = problem.robot, problem.experiment
    model = robot.pinocchio
    data, tool = model.createData(), model.getFrameId('tool0')
    places, speeds = [], []
    for q, dq in zip(motion.q, motion.dq, strict=True):
        pin.forwardKinematics(model, data, q, dq)
        pin.updateFramePlacement(model, data, tool)
        places.append(data.oMf[tool].translation.copy())
        speeds.append(np.linalg.norm(pin.getFrameVelocity(model, data, tool).linear))
    box = experiment.workspace[0]
    x, y, z = np.array(places).T
    rule = experiment.rules[0]
    middle, half = 0.5 * (rule.lower + rule.upper), 0.5 * (rule.upper - rule.lower)
    off = motion.q[:, 1] + motion.q[:, 2] + 0.5 - middle
    torque = np.minimum(60.0, robot.limits.effort) * experiment.margins.torque
    return max(
        np.abs(rigid_torque(robot, motion) / torque).max(),
        max(speeds) / experiment.tool_speed.limit,
        np.abs(x / box.upper[0]).max(), np.abs(y / box.upper[1]).max(),
        # Open above: the share is 0 a metre inside.
        (box.lower[2] + 1.0 - z).max(),
        np.abs(off / half).max(),
        (np.sin(motion.q[:, 3]) * np.abs(np.cos(motion.q[:, 4]))).max() / 0.6,
    )


def test_what_is_repaired_keeps_every_limit(in_a_cell):
    """On 5001 points, those of the path and the clearance with it; both ends are at rest."""
    rng = np.random.default_rng(5)
    repaired = []
    for _ in range(60):
        x = in_a_cell.repair(scaled(in_a_cell, in_a_cell.draw(rng), rng.uniform(0.5, 3.0)))
        if x is not None:
            repaired.append(x)
    assert len(repaired) >= 5
    for x in repaired[:8]:
        times, motion = motion_of(in_a_cell, x)
        uses = limit_uses(in_a_cell, motion, times)
        assert uses[:3].max() <= 1.0
        assert uses[3].max() <= 1.0 + 1e-3
        assert path_uses(in_a_cell, motion) <= 1.0
        np.testing.assert_allclose(motion.q[-1], motion.q[0], rtol=0.0, atol=1e-9)
        for ends in (motion.dq[[0, -1]], motion.ddq[[0, -1]]):
            np.testing.assert_allclose(ends, 0.0, atol=1e-9)
        if in_a_cell.is_clear(x):
            nearest = min(in_a_cell.collision.distances(q).min() for q in motion.q[::10])
            assert nearest >= in_a_cell.experiment.clearance
        assert in_a_cell.violation(x) == 0.0
    assert any(in_a_cell.is_clear(x) for x in repaired)


def test_gradients_of_path_limits(in_a_cell):
    """Torque, box, speed, rules and clearances, each by its slope."""
    rng = np.random.default_rng(6)
    x, instants = in_a_cell.draw(rng), np.linspace(0.0, FORM.duration, 40)
    g, J = in_a_cell.path_limits(x, instants)
    assert J.shape == (len(g), in_a_cell.size)
    along = directions(rng, in_a_cell.size)
    found = along @ J.T
    clearances = 2 * len(instants)
    smooth = slice(0, len(g) - clearances)
    expected = slopes_along(lambda at: in_a_cell.path_limits(at, instants)[0][smooth], x, along)
    # Differences of step 1e-5 of smooth limits are good to 1e-7 of their size. Distances are
    # coal's, to 1e-6 m: along half a radian their slope is known to 1 % and better. A few turn to
    # another pair, or to another edge of a shape, on the way.
    np.testing.assert_allclose(found[:, smooth], expected, rtol=0.0, atol=1e-5)
    near = slice(len(g) - clearances, None)
    # One coefficient at a time: random directions hardly move the pairs that are nearest.
    along = np.eye(in_a_cell.size)[::5]
    expected = slopes_along(
        lambda at: in_a_cell.path_limits(at, instants)[0][near], x, along, 1e-3
    )
    largest = np.abs(expected).max()
    assert largest > 0.1
    off = np.abs((along @ J.T)[:, near] - expected) > 0.02 * largest
    assert off.mean() < 0.02


# --- what cannot be designed ---------------------------------------------------------------


def test_an_impossible_cell_is_refused_by_name_and_place(make):
    """A box around the arm: no search begins, and it is said what is in the way, and where."""
    pytest.importorskip('coal', reason='coal, which measures distances, is not installed')
    cage = Obstacle('cage', (1.5, 1.5, 1.5), (0.0, 0.0, 0.5), (0.0, 0.0, 0.0))
    problem = make(collision=True, obstacles=(TABLE, cage))
    with pytest.raises(UnsafeMotionError) as refusal:
        problem.draw(np.random.default_rng(0))
    words = str(refusal.value)
    assert 'it can stand nowhere. Of 500 random poses within its window none keeps' in words
    assert '0.02 m of clearance' in words
    assert 'and cage are the nearest pair' in words
    place = words[words.index('x, y, z = ') + 10: words.index(' m in the root frame')]
    x, y, z = (float(value) for value in place.split(', '))
    assert max(abs(x), abs(y), abs(z - 0.5)) <= 0.75 + 1e-3, 'inside the cage'
    assert 'cage' in problem.describe_middle()
