# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The dictionary fit on arms whose truth is known: MuJoCo moves the bodies, friction is written here.

The friction has a width and a radius that no term of the dictionary has, and the stop is the
plain recursion, so that the simulator shares no code with the model.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from types import SimpleNamespace

from builders import joint, link
from estimation.arm_problems import three_joint_urdf
from hypothesis import given
from hypothesis import strategies as st
from known_models import made_up_dataset
import numpy as np
import pytest
from robot_identification.estimation import fit_parameters, observe, WeightedLeastSquares
from robot_identification.estimation.band import parameter_figures
from robot_identification.estimation.choice import choose_laws
from robot_identification.estimation.estimators import dictionary as module
from robot_identification.estimation.estimators.dictionary import (
    bounded_friction, offset_prior, SparseNonnegativeRegression, torque_deviation,
)
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.prior import cad_prior
from robot_identification.estimation.quality import condition_notes, find_covariance
from robot_identification.estimation.solving import solve_bounded
from robot_identification.model import (
    DictionaryFriction, IdentifiedModel, JointMotion, KinematicFilter, make_robot_model, Motion,
    parse_friction, parse_urdf, SignalSource, standard_torque,
)
from robot_identification.processing import find_stationary_joints
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics
from robot_identification.validation import BAND, limit_outliers, predict_effort
from scipy.optimize import lsq_linear

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')

SEEDS = st.integers(0, 2**32 - 1)
PERIOD = 0.01
AUTOMATIC = parse_friction('dictionary,offset')
# As a share of the standard deviation of each joint's torque: what a good current measurement has.
NOISE = 0.02
TOOL = link('tool', 2.0, (0.03, 0.05, 0.08), (0.004, 0.006, 0.005)) + joint(
    'flange', 'hand', 'tool', 'fixed', xyz=(0, 0, 0.1), limit=''
)


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


def friction_of(fit, motion, load):
    """Return the torque of the dictionaries alone, offsets left out."""
    theta, parameters = standard_of(fit), fit.problem.reduction.parameters
    torque = np.zeros(motion.q.shape)
    for term, columns in parameters.friction_columns:
        if term.law.name == 'dictionary':
            seen = JointMotion(
                motion.q[:, term.joint], motion.dq[:, term.joint], load[:, term.joint],
                np.full(len(motion), np.nan),
            )
            found, _ = term.law.columns(seen, term.law.initial_state())
            torque[:, term.joint] = found @ theta[columns]
    return torque


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


def test_terms_of_the_dictionary_itself_are_recovered_without_noise():
    """A truth inside the model: another motion to 0.3 %, which is what shrinkage leaves."""
    # The stop of 4 mrad, the widths of 0.05 and 0.02 rad/s are then among the terms. Neighbours of
    # a term leave a thousandth of it unexplained, of which a shrinkage of 1e-4 takes a tenth.
    law = DictionaryFriction(
        sliding=[0.01, 0.05, 0.3], presliding=[0.001, 0.004, 0.02], load_sliding=[0.02, 0.1]
    )
    fit = fit_of([recording(0, noise=0.0)], laws=(law, AUTOMATIC[1]))
    true, _ = true_torque(1)
    assert np.all(nrmse(predict(fit, motion_of(1)), true) < 0.003)
    values = dict(zip(fit.problem.reduction.names, fit.estimate.theta, strict=True))
    for index, name in enumerate(('1', '2', '3')):
        truth = Friction()
        for term, expected in (
            ('sliding[0.05]', truth.sliding), ('presliding[0.004]', truth.stop),
            ('viscous[1]', truth.viscous), ('load_sliding[0.02]', truth.load),
        ):
            assert values[term + name] == pytest.approx(expected[index], rel=0.15), term + name


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


def test_the_band_has_the_errors_of_terms_that_act_alike():
    """Those of one term in their place: the data alone give no error of two."""
    data = [recording(0)]
    found = []
    for widths in ([1e-7, 2e-7], [1e-7]):
        fit = fit_of(data, laws=(
            DictionaryFriction(sliding=widths, presliding=[], stribeck=[], load_sliding=[],
                               load_presliding=[]), AUTOMATIC[1],
        ))
        covariance = find_covariance(fit.estimate)
        model = IdentifiedModel(
            robot=arm(), effort_unit='Nm', reduction=fit.problem.reduction,
            theta_base=fit.estimate.theta, covariance=covariance.matrix, theta_consistent=None,
            consistency_note='', source=SignalSource('', {}, KinematicFilter(), 0.0),
            provenance={}, quality={},
        )
        fitted = SimpleNamespace(
            fit=fit, rows=[data[0].fitted], in_choice=fit.problem.observations,
        )
        predictions = (predict_effort(model, data[0])[data[0].fitted],)
        choice = SimpleNamespace(
            datasets=data, of_parameters=SimpleNamespace(predictions=predictions)
        )
        figures = parameter_figures(model, covariance, fitted, choice)
        found.append(figures['parameter_deviation'])
        # Fits to the other blocks that are 3 N m off count with their normal deviation.
        choice.of_parameters.predictions = (predictions[0] + 3.0,)
        off = parameter_figures(model, covariance, fitted, choice)['parameter_deviation']
        np.testing.assert_allclose(off, np.hypot(found[-1], 3.0 / BAND), rtol=1e-9)
    # Shrinkage of 1e-4 takes a hundredth or so.
    np.testing.assert_allclose(found[0], found[1], rtol=0.05)


def test_a_held_joint_keeps_its_friction(found):
    """In the rests of another motion: the held stop is predicted."""
    # It is right to a tenth of its largest torque. A law of the velocity alone predicts nothing
    # there.
    motion = motion_of(1)
    true, friction = true_torque(1)
    held = friction_of(found, motion, true - friction)
    resting = np.all(motion.dq == 0.0, axis=1)
    assert resting.sum() > 500
    assert np.all(np.abs(friction[resting]).max(axis=0) > 0.5 * np.array(Friction().stop))
    error = np.abs(held - friction)[resting].max(axis=0)
    assert np.all(error < 0.1 * np.array(Friction().stop))
    # As long as it stands it is the friction of the sample before.
    longer = resting[1:] & resting[:-1]
    np.testing.assert_allclose(held[1:][longer], held[:-1][longer], rtol=1e-9)


def test_rests_do_not_bias_sliding_friction():
    """With 30 % of the samples at rest, and with 65 %."""
    # Friction at 0.2 rad/s is the truth to 3 %. At rest the friction is anywhere up to break-away.
    # Sliding on for 0.1 rad, stops have slipped.
    truth = Friction(load=(0.0, 0.0, 0.0))
    dq = np.full(60, 0.2)
    slide = Motion(
        np.tile(PERIOD * np.cumsum(dq), (3, 1)).T, np.tile(dq, (3, 1)).T, np.zeros((60, 3))
    )
    expected = truth.torque(slide, np.zeros((60, 3)))[-1]
    moving = recording(0, truth)
    resting = np.all(moving.motion.dq == 0.0, axis=1)
    few = moving.fitted & ~resting
    # The rests three times: samples that are taken weigh by how many they are.
    for rows in ([few], [moving.fitted], [moving.fitted, resting, resting]):
        fit = fit_of([moving] * len(rows), rows=rows)
        slid = friction_of(fit, slide, np.zeros((60, 3)))[-1]
        np.testing.assert_allclose(slid, expected, rtol=0.03)


def payload_mass(laws, estimator):
    """Return the mass that the difference of two fits puts on the last link [kg]."""
    truth = Friction(stop=(0.0, 0.0, 0.0), load=(0.0, 0.0, 0.0))
    bare = fit_of([recording(0, truth, noise=0.005)], estimator, laws)
    with_tool = fit_of([recording(0, truth, noise=0.005, tool=TOOL)], estimator, laws, tool=TOOL)
    # Other terms are kept in the two fits; bodies and rotors are the same parameters.
    K = {
        name: row for name, row in zip(
            bare.problem.reduction.names, bare.problem.reduction.K[:, :30], strict=True
        )
        if row.any()
    }
    theta, covariance = {}, {}
    for which, fit in (('bare', bare), ('tool', with_tool)):
        at = [fit.problem.reduction.names.index(name) for name in K]
        theta[which] = fit.estimate.theta[at]
        covariance[which] = fit.estimate.covariance[np.ix_(at, at)]
    root = np.linalg.inv(np.linalg.cholesky(covariance['bare'] + covariance['tool']))
    of_hand = root @ np.array(list(K.values()))[:, 20:]
    return np.linalg.lstsq(of_hand, root @ (theta['tool'] - theta['bare']), rcond=1e-9)[0][0]


def test_more_terms_do_not_move_a_known_payload():
    """Two kilograms to 1 %, by plain laws that are the truth and by the dictionary."""
    # The truth has no stop and no load term: both kinds could take a part of gravity.
    plain = tuple(
        replace(law, width=0.05) if law.name == 'coulomb' else law
        for law in parse_friction('coulomb,viscous,offset')
    )
    masses = [
        payload_mass(plain, WeightedLeastSquares()),
        payload_mass(AUTOMATIC, SparseNonnegativeRegression()),
    ]
    np.testing.assert_allclose(masses, 2.0, rtol=0.01)


def test_training_without_slow_motion_does_not_explode(monkeypatch):
    """All three joints above 0.25 rad/s in every sample: terms of slow motion underflow."""
    # One has 1e-32 of its size left, the other 1e-4, which is enough to fit noise with. A slow
    # motion is then predicted within the size of friction. Scaled by their own lengths, such
    # columns get coefficients that are larger by a factor of ten and more.
    dataset = recording(3, resting=False, samples=6000)
    fast = np.all(np.abs(dataset.motion.dq) > 0.25, axis=1)
    law = DictionaryFriction(stribeck=[0.03, 0.1])
    moving = dataset.motion.dq[fast]
    for velocity, (least, most) in ((0.03, (1e-34, 1e-30)), (0.1, (1e-5, 1e-3))):
        assert f'stribeck[{velocity:g}]' in law.symbols
        size = np.sqrt(np.mean(np.exp(-2.0 * (moving / velocity) ** 2), axis=0))
        assert np.all((least < size) & (size < most))
    slow = motion_of(1)
    true, _ = true_torque(1)
    creeping = np.abs(slow.dq) < 0.1

    def largest_error():
        fit = fit_of([dataset], laws=(law, AUTOMATIC[1]), rows=[fast])
        return np.abs(predict(fit, slow) - true)[creeping].max()

    largest = np.max([np.add(Friction().sliding, Friction().stop)])
    assert largest_error() < largest
    monkeypatch.setattr(module, 'SHORTEST_COLUMN', 0.0)
    assert largest_error() > 10.0 * largest


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


def test_outliers_do_not_choose_a_law():
    """Held-out errors decide on the width of Coulomb friction, and squares are those of spikes."""
    clean = recording(0)
    hit = np.random.default_rng(0).random((len(clean), 1)) < 0.01
    widths = [
        choose_laws(
            arm(), (dataset,), IdentifyOptions(estimator='huber'),
            KinematicFilter(), (),
        ).friction
        for dataset in (clean, with_spikes(clean, hit))
    ]
    assert widths[0] == widths[1]


def test_limited_outliers():
    """Held-out residuals that no error of a model explains count as the largest that one does."""
    rng = np.random.default_rng(0)
    residual = rng.normal(size=(1000, 2))
    residual[:800, 1] *= 1e-3  # a joint that rests most of the time
    np.testing.assert_array_equal(limit_outliers(residual), residual)
    spiked = residual.copy()
    spiked[::100] = 1e3
    limited = limit_outliers(spiked)
    assert np.abs(limited).max() < 15.0
    np.testing.assert_array_equal(np.delete(limited, np.s_[::100], 0),
                                  np.delete(residual, np.s_[::100], 0))


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


def test_friction_of_the_other_direction_is_not_made_of_an_offset():
    """
    Data of one direction show the sum of friction and offset; without an offset it is friction.

    Half of the errors of the other direction stay below 0.3 of the deviation of the torque.
    Free, the sum is divided by noise that lasts as long as a motion, as that of real arms does:
    the error is that of a prediction by a constant.
    """
    errors = {0.1: [], 1.0e6: []}
    for seed in range(3):
        whole, (tau, _) = recording(seed), true_torque(seed)
        waves = np.sin(np.pi * PERIOD * np.arange(len(whole))[:, None] + np.arange(3.0))
        whole = replace(whole, effort=whole.effort + 0.05 * whole.effort.std(axis=0) * waves)
        for number, dq in enumerate(whole.motion.dq.T):
            sliding = dq > 0.4 * np.abs(dq).max()
            for deviation, found in errors.items():
                fit = fit_of(
                    [whole], SparseNonnegativeRegression(offset_deviation=deviation),
                    rows=[whole.fitted & sliding],
                )
                error = (predict(fit, whole.motion) - tau)[dq < 0.0, number]
                found.append(np.sqrt(np.mean(error**2)) / tau[:, number].std())
    assert np.median(errors[0.1]) < 0.3
    assert np.median(errors[1.0e6]) > 1.0


def test_an_offset_that_both_directions_show_is_found():
    """Of twice the deviation that is expected of it, a tenth goes to its prior at most."""
    tau, _ = true_torque(0)
    offset = 0.2 * np.sqrt(np.mean(tau**2, axis=0))
    fit, free = (
        fit_of(
            [recording(0, offset=offset)], SparseNonnegativeRegression(offset_deviation=deviation)
        )
        for deviation in (0.1, 1.0e6)
    )
    at = [fit.problem.reduction.names.index(name) for name in ('f01', 'f02', 'f03')]
    assert np.all(np.abs((fit.estimate.theta - free.estimate.theta)[at]) < 0.1 * offset)


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


def test_a_joint_that_stands_in_all_recordings_is_left_out():
    """Its friction and rotor are, its offsets in each recording are not: the fit goes on."""
    datasets = []
    for seed in range(2):
        dataset = recording(seed)
        moving = np.array([1.0, 1.0, 0.0])
        motion = Motion(
            np.where(moving, dataset.motion.q, 0.3), dataset.motion.dq * moving,
            dataset.motion.ddq * moving,
        )
        datasets.append(replace(dataset, motion=motion))
    unexcited = find_stationary_joints(datasets)
    assert unexcited == (2,)
    observations = observe(
        arm(), AUTOMATIC, datasets, [d.fitted for d in datasets], offset_by_recording=True
    )
    fit = fit_parameters(observations, unexcited, SparseNonnegativeRegression())
    assert not any(name.endswith(']3') or name in ('f03', 'Ia3')
                   for name in fit.problem.reduction.names)
    assert np.all(np.isfinite(fit.estimate.unknowns))
    assert len(fit.estimate.nuisance) == 3


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


def test_torque_deviation_is_that_about_the_mean():
    """Where the model has an offset; without one it is that about zero."""
    dataset = recording(0)
    for laws, expected in (
        (AUTOMATIC, np.std(dataset.effort, axis=0)),
        (AUTOMATIC[:1], np.sqrt(np.mean(dataset.effort**2, axis=0))),
    ):
        problem = observe(arm(), laws, [dataset], [dataset.fitted]).factor()
        np.testing.assert_allclose(torque_deviation(problem), expected, rtol=1e-9)


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
