# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The dictionary fit on arms whose truth is known: MuJoCo moves the bodies, friction is written here.

The friction has a width and a radius that no term of the dictionary has, and the stop is the
plain recursion, so that the simulator shares no code with the model.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from estimation.arm_problems import three_joint_urdf
from hypothesis import given, strategies as st
from known_models import made_up_dataset
import numpy as np
import pytest
from robot_identification.estimation import fit_parameters, observe
from robot_identification.estimation.estimators.dictionary import (
    bounded_friction, offset_prior, SparseNonnegativeRegression, torque_deviation,
)
from robot_identification.estimation.prior import cad_prior
from robot_identification.estimation.quality import condition_notes, find_covariance
from robot_identification.estimation.solving import solve_bounded
from robot_identification.model import (
    DictionaryFriction, make_robot_model, Motion, parse_friction, parse_urdf, standard_torque,
)
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics
from scipy.optimize import lsq_linear

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')

SEEDS = st.integers(0, 2**32 - 1)
PERIOD = 0.01
AUTOMATIC = parse_friction('dictionary,offset')
# As a share of the standard deviation of each joint's torque: what a good current measurement has.
NOISE = 0.02


def arm(tool=''):
    """Return an arm of three joints, of the size of a shoulder, an elbow and a wrist."""
    return make_robot_model(parse_urdf(three_joint_urdf(tool), 'three joints'))


@dataclass(frozen=True)
class Friction:
    """The true friction of the three joints."""

    sliding: tuple[float, ...] = (6.0, 3.0, 1.0)  # passes through rest within 0.05 rad/s
    stop: tuple[float, ...] = (3.0, 2.0, 0.5)  # slips at 4 mrad
    viscous: tuple[float, ...] = (4.0, 2.0, 0.3)
    # of the transmitted torque, passing through rest within 0.02 rad/s
    load: tuple[float, ...] = (0.08, 0.05, 0.1)

    def torque(self, motion, load):
        """Return friction [N m], shape (N, n), under the torque of bodies and rotors."""
        stops = np.column_stack([plain_stop(q, 0.004) / 0.004 for q in motion.q.T])
        return (
            self.sliding * np.tanh(motion.dq / 0.05)
            + self.stop * stops
            + self.viscous * motion.dq
            + self.load * np.abs(load) * np.tanh(motion.dq / 0.02)
        )


def plain_stop(q, radius):
    """Return the deflections of one stop, by the definition."""
    z, deflections = 0.0, [0.0]
    for step in np.diff(q):
        z = min(max(z + step, -radius), radius)
        deflections.append(z)
    return np.array(deflections)


@lru_cache
def motion_of(seed, *, resting=True, samples=3000):
    """Return a motion that slows down, stands and goes on every ten seconds, or goes on and on."""
    # Along the same kind of path at a rate that is the square of a cosine where that is positive:
    # positions, velocities and accelerations belong together to the last bit but for a sum.
    rng = np.random.default_rng(seed)
    t = PERIOD * np.arange(samples)
    w = 2.0 * np.pi / 10.0
    phase = rng.uniform(0.0, 2.0 * np.pi)
    wave = np.maximum(np.cos(w * t + phase) + (0.6 if resting else 2.0), 0.0)
    rate, rate_change = wave**2, -2.0 * w * wave * np.sin(w * t + phase)
    s = np.concatenate([[0.0], np.cumsum(0.5 * PERIOD * (rate[1:] + rate[:-1]))])
    size = 0.35 * rng.normal(size=(3, 4))
    frequency = np.array([0.5, 0.9, 1.4, 2.1])
    angle = frequency * s[:, None, None] + rng.uniform(0.0, 2.0 * np.pi, (3, 4))
    q = np.sum(size * np.sin(angle), axis=2)
    slope = np.sum(size * frequency * np.cos(angle), axis=2)
    bend = -np.sum(size * frequency**2 * np.sin(angle), axis=2)
    return Motion(
        q, slope * rate[:, None], bend * rate[:, None] ** 2 + slope * rate_change[:, None]
    )


@lru_cache
def true_torque(seed, friction=Friction(), *, resting=True, tool='', samples=3000):
    """Return the noise-free torque of bodies, rotors and friction, and that of friction alone."""
    robot, motion = arm(tool), motion_of(seed, resting=resting, samples=samples)
    truth = replace(
        # The last link is the URDF's, so that a tool fixed to it is no other than it says.
        prior_truth(robot), mass_factor=np.array([1.2, 0.85, 1.0]),
        reflected_inertia=np.array([0.5, 0.3, 0.05]),
    )
    load = inverse_dynamics(robot, truth, motion)
    found = friction.torque(motion, load)
    return load + found, found


def recording(seed, friction=Friction(), *, noise=NOISE, offset=0.0, **options):
    motion = motion_of(seed, **{k: v for k, v in options.items() if k != 'tool'})
    tau, _ = true_torque(seed, friction, **options)
    rng = np.random.default_rng(1000 + seed)
    measured = tau + offset + noise * np.std(tau, axis=0) * rng.normal(size=tau.shape)
    return made_up_dataset(('one', 'two', 'three'), motion, measured, 1.0 / PERIOD)


def with_spikes(dataset, hit):
    """Return a recording whose effort is too large by twenty times its spread at some samples."""
    return replace(dataset, effort=dataset.effort + 20.0 * hit * np.std(dataset.effort, axis=0))


def fit_of(datasets, estimator=None, laws=AUTOMATIC, *, rows=None, tool='', **options):
    rows = [dataset.fitted for dataset in datasets] if rows is None else rows
    observations = observe(arm(tool), laws, datasets, rows, **options)
    return fit_parameters(observations, (), estimator or SparseNonnegativeRegression())


def standard_of(fit):
    """Return standard parameters with the torques of a fit."""
    reduction = fit.problem.reduction
    theta = np.zeros(reduction.parameters.size)
    theta[reduction.independent] = fit.estimate.theta
    return theta


def predict(fit, motion):
    return standard_torque(arm(), fit.problem.reduction.parameters, standard_of(fit), motion)


def nrmse(predicted, true):
    return np.sqrt(np.mean((predicted - true) ** 2, axis=0)) / np.std(true, axis=0)


@pytest.fixture(scope='module')
def found():
    return fit_of([recording(0)])


def test_a_mixture_of_stop_sliding_and_load_is_recovered(found):
    """Another motion to 4 % of the noise-free torque's spread."""
    # Three kinds of term are needed. Between the widths and radii of neighbouring terms about 2
    # % of the friction remain. Without stops, without load terms or with sign-like friction alone
    # it is twice as much and more.
    true, _ = true_torque(1)
    errors = nrmse(predict(found, motion_of(1)), true)
    assert np.all(errors < 0.04)
    without = {
        'stops': DictionaryFriction(presliding=[], load_presliding=[]),
        'load': DictionaryFriction(load_sliding=[], load_presliding=[]),
        'both': DictionaryFriction(
            sliding=[0.003], presliding=[], stribeck=[], load_sliding=[], load_presliding=[]
        ),
    }
    for name, law in without.items():
        less = fit_of([recording(0)], laws=(law, AUTOMATIC[1]))
        assert np.mean(nrmse(predict(less, motion_of(1)), true)) > 2.0 * errors.mean(), name


def test_friction_coefficients_are_not_negative(found):
    """None in the model is; those at zero are left out of it, and offsets are free."""
    assert found.estimate.passes == 4
    assert found.problem.observations.passes == 0, 'nothing passed over what the zeros left'
    reduction = found.problem.reduction
    bounded = bounded_friction(found.problem)
    assert np.all(found.estimate.theta[bounded] > 0.0)
    terms = [len(term.law.symbols) for term in reduction.parameters.friction[:3]]
    assert all(3 <= count <= 13 for count in terms), terms
    assert [name for name in reduction.names if name.startswith('f0')] == ['f01', 'f02', 'f03']
    assert bounded.sum() == sum(terms)


def test_errors_of_terms_that_act_alike_have_limits():
    """The data tell the sum of two of them as that of one term; shrinkage limits each."""
    # No sample is as slow as either width, so that both are the sign of the velocity.
    laws = (DictionaryFriction(sliding=[1e-7, 2e-7], presliding=[], stribeck=[], load_sliding=[],
                               load_presliding=[]),
            DictionaryFriction(sliding=[1e-7], presliding=[], stribeck=[], load_sliding=[],
                               load_presliding=[]))
    alike, one = (fit_of([recording(0)], laws=(law, AUTOMATIC[1])) for law in laws)
    found, expected = (find_covariance(fit.estimate) for fit in (alike, one))
    assert any('act alike' in note for note in found.notes)
    assert not any('act alike' in note for note in expected.notes)
    assert np.linalg.eigvalsh(found.matrix).min() > 0.0
    assert alike.estimate.condition_number_scaled > 1e8
    assert condition_notes(alike.estimate) == (), 'the motion is as rich as for one term'
    for number in '123':
        sum_of_both = np.array([
            name.startswith('sliding[') and name.endswith(number)
            for name in alike.problem.reduction.names
        ], dtype=float)
        assert sum_of_both.sum() == 2.0
        single = one.problem.reduction.names.index(f'sliding[1e-07]{number}')
        of_sum = np.sqrt(sum_of_both @ found.matrix @ sum_of_both)
        # Shrinkage of 1e-4 takes less than a tenth of an error.
        assert of_sum == pytest.approx(expected.standard_errors[single], rel=0.1)
        assert np.all(found.standard_errors[sum_of_both > 0.0] > of_sum)


def test_outliers_are_damped():
    """One sample in a hundred is off by twenty times the torque's spread, always the same way."""
    # The prediction of another motion is as good as without them, for the scale of residuals is
    # that of the others; squares alone make its error five times as large.
    clean = recording(0)
    dirty = with_spikes(clean, np.random.default_rng(8).random(clean.effort.shape) < 0.01)
    true, _ = true_torque(1)
    errors = [
        np.mean(nrmse(predict(fit_of([dataset], estimator), motion_of(1)), true))
        for dataset, estimator in (
            (clean, SparseNonnegativeRegression()), (dirty, SparseNonnegativeRegression()),
            (dirty, SparseNonnegativeRegression(huber=1e6)),
        )
    ]
    assert errors[1] < 1.05 * errors[0]
    assert errors[2] > 5.0 * errors[0]


def test_recordings_have_their_own_offsets():
    """Their mean is the parameter, their distances from it are found."""
    # Bodies keep what they are. Errors against a fit of the same recordings without any offset: a
    # standard error at most for white noise, and it is the same noise.
    offsets = np.array([[3.0, -1.0, 0.2], [-1.0, 2.0, 0.6]])
    shifted = [recording(seed, offset=offset) for seed, offset in enumerate(offsets)]
    plain = [recording(seed) for seed in range(2)]
    fit = fit_of(shifted, offset_by_recording=True)
    reference = fit_of(plain, offset_by_recording=True)
    assert fit.problem.nuisance == len(fit.estimate.nuisance) == 3

    def values(found):
        return dict(zip(found.problem.reduction.names, found.estimate.theta, strict=True))

    deviation = np.sqrt(np.diag(reference.estimate.covariance))
    errors = dict(zip(reference.problem.reduction.names, deviation, strict=True))
    mean = dict(zip(('f01', 'f02', 'f03'), offsets.mean(axis=0), strict=True))
    names = [name for name in errors if '[' not in name]
    assert len(names) > 13
    for name in names:
        away = values(fit)[name] - values(reference)[name] - mean.get(name, 0.0)
        assert abs(away) < (2.0 if name in mean else 1.0) * errors[name], name
    # Deviations of all but the first recording, the first has what makes their sum zero.
    moved = fit.estimate.nuisance - reference.estimate.nuisance
    np.testing.assert_allclose(moved, (offsets[1] - offsets[0]) / 2.0, atol=0.05)


@given(seed=SEEDS, share=st.sampled_from([0.0, 0.6, 1.0]))
def test_bounded_least_squares_is_scipys(seed, share):
    """Some unknowns or none free, others not negative, columns of unequal size."""
    rng = np.random.default_rng(seed)
    R = rng.normal(size=(60, 12)) * np.geomspace(1e-3, 1e3, 12)
    bounded = rng.random(12) < share
    z = R @ (rng.normal(size=12) / np.geomspace(1e-3, 1e3, 12)) + rng.normal(size=60)
    x = solve_bounded(R, z, bounded, np.zeros(12))
    assert np.all(x[bounded] >= 0.0)
    scale = np.linalg.norm(R, axis=0)
    expected = lsq_linear(
        R / scale, z, (np.where(bounded, 0.0, -np.inf), np.inf), method='bvls', tol=1e-14
    ).x
    np.testing.assert_allclose(x * scale, expected, atol=1e-8 * np.abs(expected).max())


def test_shrinkage_acts_on_bounded_columns_of_unit_length(rng):
    """By hand: orthogonal columns are multiplied with 1 / (1 + shrinkage), free ones are not."""
    R = np.linalg.qr(rng.normal(size=(50, 4)))[0] * [1.0, 10.0, 0.1, 3.0]
    x = np.array([1.0, 2.0, 3.0, -4.0])
    bounded = np.array([True, True, True, False])
    found = solve_bounded(R, R @ x, bounded, np.zeros(4), shrinkage=0.25)
    np.testing.assert_allclose(found, [0.8, 1.6, 2.4, -4.0], rtol=1e-12)
    # A column of a quarter of the shortest length explains 4^2 times less and costs 4^4 as much.
    longer = solve_bounded(R, R @ x, bounded, np.array([0.0, 0.0, 0.4, 0.0]), shrinkage=0.25)
    np.testing.assert_allclose(longer[2], 3.0 / (1.0 + 0.25 * 4.0**6), rtol=1e-12)


def test_prior_weights_are_tried_from_one_set_of_passes():
    """The weight of the passes gives the estimate itself; more of it goes towards the URDF."""
    robot, dataset = arm(), recording(0, samples=1200)
    estimator = SparseNonnegativeRegression(prior=cad_prior(robot), prior_weight=1.0)
    observations = observe(robot, AUTOMATIC, [dataset], [dataset.fitted])
    problem = observations.factor()
    estimate = estimator.estimate(problem)
    each = estimator.estimate_each(problem, [0.0, 1.0, 1e3, 1e9])
    np.testing.assert_allclose(each[1], estimate.unknowns, rtol=1e-9, atol=1e-9)
    prior = estimator.prior.term(problem.reduction, problem.size, 1.0)
    away = [np.linalg.norm(prior.matrix @ unknowns - prior.side) for unknowns in each]
    assert away[3] < 1e-2 * away[0]
    assert away[3] < away[2] < away[1] < away[0]


def test_each_recording_has_a_prior_of_its_offset(rng):
    """The rows are the offsets of all recordings, mean and distances put together."""
    several = observe(
        arm(), AUTOMATIC, [recording(seed) for seed in range(3)],
        [np.ones(3000, dtype=bool)] * 3, offset_by_recording=True,
    ).factor()
    offsets = rng.normal(size=(3, 3))
    unknowns = np.zeros(several.size)
    names = several.reduction.names
    unknowns[[names.index(name) for name in ('f01', 'f02', 'f03')]] = offsets.mean(axis=0)
    unknowns[len(names):] = (offsets - offsets.mean(axis=0))[1:].ravel()
    prior = offset_prior(several, 0.2)
    rms = np.sqrt(several.squared_torque / several.samples)
    np.testing.assert_allclose(
        prior.matrix @ unknowns, (offsets / (0.2 * rms)).T.ravel(), rtol=1e-12
    )
    assert not prior.side.any()


def test_torque_deviation_is_that_about_the_mean():
    """Where the model has an offset; without one it is that about zero."""
    dataset = recording(0)
    for laws, expected in (
        (AUTOMATIC, np.std(dataset.effort, axis=0)),
        (AUTOMATIC[:1], np.sqrt(np.mean(dataset.effort**2, axis=0))),
    ):
        problem = observe(arm(), laws, [dataset], [dataset.fitted]).factor()
        np.testing.assert_allclose(torque_deviation(problem), expected, rtol=1e-9)
