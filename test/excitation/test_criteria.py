# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Criteria by hand, smooth stand-ins, gradients of both, and motions judged by them."""

from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

from builders import two_link_urdf
from excitation.optimizers.fake_problem import run_search, state_bytes
from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.excitation import (
    Budget, CRITERIA, evaluate_motion, evaluate_recording, load_experiment, Trajectory,
)
from robot_identification.excitation.certificate import experiment_sha256, robot_sha256
from robot_identification.excitation.evaluation import MAXIMUM_SAMPLES
from robot_identification.excitation.information import BaseColumns
from robot_identification.excitation.optimizers import search as search_module
from robot_identification.excitation.optimizers.search import Candidate, Job, Optimizer, Outcome
from robot_identification.model import make_robot_model, parse_urdf

INF = float('inf')
SHARPNESSES = (1.0, 2.0, 8.0, 30.0, INF)
ROWS = 30
# Of singular values 4, 1 and 1/2 per sample; columns of unit length have none but 1 / sqrt(ROWS).
SINGULAR = np.array([1.0, 4.0, 0.5])
BY_HAND = {
    'condition_number': 8.0,
    'condition_number_scaled': 1.0,
    'log_determinant': -2.0 * np.log(1.0 * 4.0 * 0.5) / 3.0,
    'trace_of_inverse': 1.0 + 1.0 / 16.0 + 4.0,
}
# The stand-ins as functions of the criteria, where nothing is smoothed.
EXACT = {
    'log_determinant': lambda value: value,
}


def with_singular_values(rng, values):
    """Return a matrix whose singular values per sample are these, columns in any direction."""
    left = np.linalg.qr(rng.standard_normal((ROWS, len(values))))[0]
    right = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    return np.sqrt(ROWS) * (left * values) @ right.T


def slopes(function, W, step):
    """Return central differences of a function of a matrix by its entries, (.., rows, columns)."""
    differences = []
    for index in np.ndindex(W.shape):
        above, below = W.copy(), W.copy()
        above[index] += step
        below[index] -= step
        differences.append((np.asarray(function(above)) - function(below)) / (2.0 * step))
    return np.moveaxis(np.array(differences), 0, -1).reshape(*np.shape(differences[0]), *W.shape)


@pytest.mark.parametrize('name', CRITERIA)
def test_values_by_hand(name, rng):
    """Of orthogonal columns, as they stand and with more samples of the same."""
    W = np.zeros((ROWS, 3))
    W[[3, 7, 20], [0, 1, 2]] = np.sqrt(ROWS) * SINGULAR
    assert CRITERIA[name](W) == pytest.approx(BY_HAND[name], rel=1e-12)
    assert CRITERIA[name](np.vstack([W, -W, W])) == pytest.approx(BY_HAND[name], rel=1e-12)
    # A product of rotations has other columns of unit length.
    if not CRITERIA[name].unit_columns:
        turned = with_singular_values(rng, SINGULAR)
        assert CRITERIA[name](turned) == pytest.approx(BY_HAND[name], rel=1e-10)


@pytest.mark.parametrize('name', CRITERIA)
def test_a_stand_in_without_smoothing_is_the_criterion(name, rng):
    """It is its logarithm; that of its root for the squared one, itself where it is one."""
    W = rng.standard_normal((ROWS, 5)) * np.geomspace(0.1, 3.0, 5)
    value, _ = CRITERIA[name].descend(W, INF)
    assert value == pytest.approx(EXACT.get(name, np.log)(CRITERIA[name](W)), rel=1e-10)


@pytest.mark.parametrize('name', CRITERIA)
@pytest.mark.parametrize('sharpness', SHARPNESSES)
def test_gradients_of_stand_ins(name, sharpness, rng):
    """Against central differences, of matrices of unrelated entries."""
    W = rng.standard_normal((ROWS, 5)) * np.geomspace(0.3, 3.0, 5)
    criterion = CRITERIA[name]
    value, gradient = criterion.descend(W, sharpness)
    assert gradient.shape == W.shape
    expected = slopes(lambda M: criterion.descend(M, sharpness)[0], W, 1e-5)
    # Steps of 1e-5 are good to 1e-10 of the third derivative, which is some thousand times the
    # first: the sharpest mean turns within a thirtieth of a singular value.
    np.testing.assert_allclose(gradient, expected, rtol=0.0, atol=1e-6 * np.abs(expected).max())
    assert np.isfinite(value)


@pytest.mark.parametrize('W', [
    np.random.default_rng(1).standard_normal((ROWS, 4)) * [1.0, 1.0, 0.0, 1.0],
    np.random.default_rng(2).standard_normal((3, 6)),
], ids=['hidden', 'fewer rows than columns'])
@pytest.mark.parametrize('name', CRITERIA)
def test_what_does_not_show_all_is_infinitely_bad_and_no_warning(name, W):
    """Whatever the others see; a gradient that is zero lets a search reverse."""
    assert CRITERIA[name](W) == INF
    for sharpness in (2.0, INF):
        value, gradient = CRITERIA[name].descend(W, sharpness)
        assert value == INF
        np.testing.assert_array_equal(gradient, np.zeros_like(W))


# --- motions -----------------------------------------------------------------------------


EXPERIMENT = """
schema_version: 1
trajectory: {form: fourier, harmonics: 3, base_period: 4.0}
periods: 2
collision: off
friction: viscous
samples: [20, 30]
"""


@pytest.fixture(scope='module')
def arm():
    """Return an arm of two joints without drive data."""
    return make_robot_model(parse_urdf(two_link_urdf(), 'two'))


@pytest.fixture(scope='module')
def write(tmp_path_factory):
    def made(text):
        path = tmp_path_factory.mktemp('experiment') / 'e.yaml'
        path.write_text(text)
        return load_experiment(path)
    return made


@pytest.fixture(scope='module')
def experiment(write):
    return write(EXPERIMENT)


@pytest.fixture
def motion(arm, experiment, rng):
    coefficients = 0.5 * rng.normal(size=(2, experiment.form.n_coefficients))
    return Trajectory('two', arm.joint_names, experiment.form, coefficients, 2, {})


def test_criteria_are_those_of_the_samples_that_are_named(arm, experiment, motion):
    """Each set in both readings: t = k T/N, and from start to end."""
    found = evaluate_motion(arm, experiment, motion)
    columns = BaseColumns(arm, experiment)
    assert [(one.samples, one.both_ends) for one in found.optimized] == [
        (20, False), (20, True), (30, False), (30, True)
    ]
    for one in found.optimized:
        step = 4.0 / (one.samples - 1 if one.both_ends else one.samples)
        W = columns.matrix(motion.sample(step * np.arange(one.samples)))
        for name, criterion in CRITERIA.items():
            # Rounding of the instants only.
            assert one.criteria[name] == pytest.approx(criterion(W), rel=1e-9)
    assert set(found.dense) == set(CRITERIA)


def test_a_recording_is_judged_as_the_motion_it_is_of(arm, experiment, motion):
    """Dense samples of one period; an hour's worth is thinned out."""
    t = np.linspace(0.0, 4.0, 501)
    planned = evaluate_motion(arm, experiment, motion)
    recorded = evaluate_recording(arm, experiment, motion.sample(t), 125.0)
    assert recorded.dense == pytest.approx(planned.dense, rel=1e-9)
    assert recorded.samples == 501
    assert not recorded.optimized
    long = motion.sample(np.linspace(0.0, 4.0, 2 * MAXIMUM_SAMPLES + 1))
    thinned = evaluate_recording(arm, experiment, long, 10_000.0)
    # A sum of 20000 samples for one of 501 of a smooth motion.
    assert thinned.dense == pytest.approx(planned.dense, rel=1e-2)
    assert thinned.samples == 2 * MAXIMUM_SAMPLES + 1


def test_fingerprints_are_of_what_is_asked_for(robots, write, experiment):
    """Not of how a file is written: comments and defaults do not count, values do."""
    same = write(EXPERIMENT + '# a comment\nframes: joint\n')
    assert experiment_sha256(same) == experiment_sha256(experiment)
    for change in ('periods: 3', 'samples: [20, 31]', 'optimizer: {name: spectral, starts: 5}',
                   'workspace: {lower: {lower: [null, null, 0.1]}}'):
        key = change.partition(':')[0]
        text = '\n'.join(
            line for line in EXPERIMENT.splitlines() if not line.startswith(key)
        ) + f'\n{change}\n'
        assert experiment_sha256(write(text)) != experiment_sha256(experiment), change
    assert robot_sha256(robots['ur5']) != robot_sha256(robots['ur5e'])
    turned = robots['ur5'].with_gravity([0.0, 0.0, 9.81])
    assert robot_sha256(turned) == robot_sha256(robots['ur5'])


EACH, OF_A_ROUND = 7, 5


class Clock:
    """Time that passes when a job is done, and not otherwise."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@contextmanager
def own_clock():
    own = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, 'time', SimpleNamespace(monotonic=own.monotonic))
        yield own


@pytest.fixture
def clock():
    with own_clock() as own:
        yield own


def work(problem, number):
    """Take some time, and find a candidate; the best, with negative numbers, are infeasible."""
    problem.clock.now += problem.seconds(number)
    problem.done.append(number)
    candidate = Candidate(np.array([number]), number, 0.0, number >= 0.0)
    return Outcome((candidate,), problem.each)


class Task:
    """A problem whose jobs take a time of their own."""

    def __init__(self, clock, seconds=lambda number: 1.0, each=EACH):
        self.clock, self.seconds, self.each, self.done = clock, seconds, each, []


@dataclass(frozen=True)
class Scripted(Optimizer):
    """Proposes random numbers, and remembers the sum and all of what it was told."""

    def propose(self, problem, state, rng):
        # What is proposed depends on all that is remembered.
        numbers = rng.standard_normal(OF_A_ROUND) + 1e-3 * state.memory.get('sum', 0.0)
        return [Job(work, float(number)) for number in numbers]

    def learn(self, problem, state, outcomes):
        assert len(outcomes) == OF_A_ROUND
        found = tuple(candidate for outcome in outcomes for candidate in outcome.candidates)
        total = state.memory.get('sum', 0.0) + sum(candidate.x[0] for candidate in found)
        return (*state.archive, *found), {'sum': float(total)}


def searched(task, budget, *, seed=3, **more):
    """Return the state that a search with these jobs ends with."""
    return run_search(Scripted(), task, budget, seed=seed, **more)


@given(seconds=st.floats(0.1, 60.0), pace=st.integers(0, 2**32 - 1))
def test_a_search_ended_by_its_time_is_repeated_by_its_count(seconds, pace):
    """Whenever it ends, within a round or at its end: the state is the same to the last bit."""
    with own_clock() as clock:
        durations = np.random.default_rng(pace).exponential(1.0, 1000)
        task = Task(clock)
        task.seconds = lambda number: durations[len(task.done)]
        state = searched(task, Budget(10**9, seconds))
        # The job that was begun in time counts, and is the last one.
        assert clock.now - 100.0 >= seconds
        assert clock.now - 100.0 - durations[len(task.done) - 1] < seconds
        again = searched(Task(clock), Budget(state.evaluations))
        assert state_bytes(again) == state_bytes(state)
