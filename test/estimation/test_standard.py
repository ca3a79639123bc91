# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Standard parameters near the CAD model keep the base parameters that were identified."""

from dataclasses import fields, replace
from types import SimpleNamespace

from builders import two_link_urdf
from estimation.arm_problems import arm_reduction, fourier_motion, lying_solver, observe
from hypothesis import given, strategies as st
from known_models import base_of, true_model
import numpy as np
import pytest
from robot_identification.errors import IdentificationError, InconsistentModelError, UsageError
from robot_identification.estimation import IdentifyOptions, Recipe, WeightedLeastSquares
from robot_identification.estimation.fitting import cross_validate, fit_parameters
from robot_identification.estimation.quality import rotor_notes
from robot_identification.estimation.recipe import load_recipe, thin_rows
from robot_identification.estimation.standard import (
    consistent_standard_parameters, find_consistent_parameters, is_accepted, project_consistently,
    project_on_prior,
)
from robot_identification.files import dump_yaml
from robot_identification.model import (
    CoulombFriction, DictionaryFriction, KinematicFilter, load_model, make_robot_model, parse_urdf,
    prior_inertial_parameters, smallest_eigenvalues, ViscousFriction,
)
from robot_identification.simulation import draw_truth, true_inertial_parameters
from robot_identification.validation.folds import Folds, Trial


def prior_of(robot, reduction):
    prior = np.zeros(reduction.parameters.size)
    prior[: 10 * robot.n] = prior_inertial_parameters(robot)
    return prior


@pytest.mark.parametrize('name', ['ur5', 'ur10', 'ur5e', 'mixed'])
@given(seed=st.integers(0, 2**32 - 1))
def test_projection_keeps_the_base_parameters(robots, reductions, name, seed):
    """Whatever they are, possible or not: 1e-9 of their size."""
    robot, reduction = robots[name], reductions[name]
    theta_base = np.random.default_rng(seed).normal(scale=5.0, size=reduction.rank)
    theta = project_on_prior(robot, reduction, theta_base)
    np.testing.assert_allclose(reduction.K @ theta, theta_base, atol=1e-9 * 20.0)


def test_links_without_mass_are_projected_too():
    """A link that the URDF gives nearly no mass has no prior to divide by."""
    text = two_link_urdf().replace('mass value="1.5"', 'mass value="0"').replace(
        'ixx="0.02" iyy="0.03" izz="0.025"', 'ixx="0" iyy="0" izz="0"'
    )
    robot = make_robot_model(parse_urdf(text, 'arm.urdf'))
    reduction = base_of(robot, rotors=True)
    theta_base = np.arange(reduction.rank) / 10.0
    theta = project_on_prior(robot, reduction, theta_base)
    assert np.all(np.isfinite(theta))
    np.testing.assert_allclose(reduction.K @ theta, theta_base, atol=1e-9)


@pytest.mark.parametrize('name', ['ur5', 'ur10', 'ur5e'])
def test_the_true_arm_is_consistent(robots, reductions, name):
    """Exact base parameters of a real body near the prior: bodies again, for ten true arms."""
    # Masses are up to 20 % off and centres up to a centimetre each way, on every link at once.
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    pytest.importorskip('clarabel', reason='clarabel, which finds them, is not installed')
    robot, reduction = robots[name], reductions[name]
    robot = robot.with_drive_gains(np.full(6, 10.0))
    refused = []
    for seed in range(10):
        truth = draw_truth(robot, seed)
        theta = np.zeros(reduction.parameters.size)
        theta[:60] = true_inertial_parameters(robot, truth)
        theta[reduction.parameters.reflected_inertia_slice] = truth.reflected_inertia
        assert np.all(smallest_eigenvalues(theta[:60]) > 0.0)
        found, note = consistent_standard_parameters(robot, reduction, reduction.K @ theta)
        if found is None:
            refused.append(f'{seed}: {note}')
            continue
        assert np.all(smallest_eigenvalues(found[:60]) > 0.0)
        assert np.all(found[reduction.parameters.reflected_inertia_slice] >= 0.0)
        np.testing.assert_allclose(reduction.K @ found, reduction.K @ theta, atol=1e-8)
    assert refused == []


def test_a_solver_that_lies_is_not_believed(ur5, reductions, monkeypatch):
    """Fault 19: clarabel says 'solved' and returns a point without its multipliers."""
    clarabel = pytest.importorskip('clarabel', reason='clarabel is not installed')
    reduction = reductions['ur5']
    base = reduction.K @ prior_of(ur5, reduction)
    assert project_consistently(ur5, reduction, base) is not None

    monkeypatch.setattr(clarabel, 'DefaultSolver', lying_solver(0.01))
    assert project_consistently(ur5, reduction, base) is None


def test_what_cannot_be_is_refused_by_name(ur5, reductions):
    """The prior itself can be; with a negative inertia or rotor: None, and the joint is named."""
    reduction = reductions['ur5']
    base = reduction.K @ prior_of(ur5, reduction)
    theta, note = consistent_standard_parameters(ur5, reduction, base)
    assert theta is not None and 'base parameters kept' in note
    wrong = base.copy()
    wrong[reduction.names.index('Izz6')] = -0.01
    theta, note = consistent_standard_parameters(ur5, reduction, wrong)
    assert theta is None
    assert 'wrist_3_joint' in note
    wrong = base.copy()
    wrong[reduction.names.index('Ia5')] = -0.3
    theta, note = consistent_standard_parameters(ur5, reduction, wrong)
    assert theta is None
    assert 'reflected inertia is negative at wrist_2_joint (-0.3' in note


# --- rotors ------------------------------------------------------------------------------


RECIPE = Recipe()
WEIGHTED = WeightedLeastSquares()


def trial_of(scores):
    """Return a trial with an error for each block."""
    scores = np.asarray(scores, dtype=float)
    return Trial('made up', (SimpleNamespace(nrmse_mean=scores.mean()),), scores)


@pytest.mark.parametrize(('consistent', 'taken'), [
    ([0.10, 0.12, 0.11], True),
    ([0.11, 0.13, 0.12], True),  # 9 % worse, and certainly so
    ([0.13, 0.16, 0.14], False),  # 30 % worse
    ([0.08, 0.17, 0.12], True),  # 12 % worse, which three blocks do not show
    ([0.05, 1e9, 0.05], False),  # a block gone wild says nothing
])
def test_what_is_as_good_is_taken(consistent, taken):
    """A tenth by default, or what blocks cannot tell from nothing up to twice as much."""
    assert is_accepted(trial_of(consistent), trial_of([0.10, 0.12, 0.11]), 0.1) == taken


@pytest.fixture(scope='module')
def case(ur5):
    """Return a function that identifies a simulated arm under some noise of its torque."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    from robot_identification.simulation.mujoco_robot import inverse_dynamics

    reduction = arm_reduction(ur5)
    truth = draw_truth(ur5, 0)
    motion = fourier_motion(6, 4, 900, 0.25)
    tau = inverse_dynamics(ur5, truth, motion)
    noise = np.random.default_rng(1).normal(size=tau.shape) * [3.0, 3.5, 3.0, 0.7, 0.7, 0.6]

    def identify(share, estimator=WEIGHTED, lost_rotor=0.0):
        torque = tau + share * noise
        torque[:, 5] -= lost_rotor * motion.ddq[:, 5]
        observations = observe(ur5, reduction, [(motion, torque)])
        trial = cross_validate(observations, (), estimator, 'free', Folds())
        choice = SimpleNamespace(estimator=estimator, of_parameters=trial)
        whole = fit_parameters(observations, (), estimator)
        fitted = SimpleNamespace(robot=ur5, fit=whole, in_choice=observations, unexcited=())
        found = find_consistent_parameters(choice, fitted, RECIPE)
        return found, whole, reduction

    return identify


def test_base_parameters_are_kept_where_bodies_have_them(case):
    """Next to no noise: the first stage, which costs nothing."""
    found, whole, reduction = case(1e-4)
    assert 'base parameters kept' in found.note
    np.testing.assert_allclose(reduction.K @ found.theta, whole.estimate.theta, atol=1e-7)
    assert found.figures['smallest_mass_matrix_eigenvalue'] > 0.0


def test_noise_is_explained_by_bodies_as_well(case):
    """Usual noise: no body has the estimate, the fit with conditions is taken, its cost said."""
    found, _, _ = case(1.0)
    assert found.theta is not None
    assert np.all(smallest_eigenvalues(found.theta[:60]) > 0.0)
    assert 'held-out NRMSE' in found.note
    assert found.figures['squared_residuals'] > 0.0
    assert found.figures['nrmse_mean'] <= 1.1 * found.figures['nrmse_mean_without_conditions']


def test_what_no_body_explains_is_not_taken(case):
    """A torque that falls with the acceleration: no rotor does that, and the cost is said."""
    found, _, _ = case(1e-3, lost_rotor=2.0)
    assert found.theta is None
    assert 'not taken' in found.note
    assert 'consistency_cost' in found.note
    assert found.figures['nrmse_mean'] > 1.1 * found.figures['nrmse_mean_without_conditions']


def test_a_model_predicts_by_its_bodies_on_demand(model_file):
    """The torques of the consistent parameters, or an error that says why there are none."""
    model = load_model(model_file)
    theta = np.zeros(model.parameters.size)
    consistent = replace(model, theta_consistent=theta).with_consistent_parameters()
    np.testing.assert_array_equal(consistent.theta_base, 0.0)
    with pytest.raises(InconsistentModelError, match=r'because I say so'):
        replace(
            model, theta_consistent=None, consistency_note='because I say so'
        ).with_consistent_parameters()


OTHER = Recipe(
    cutoffs=(3.5, 1.0 / 3.0), preferred_cutoff=3.5, tie=0.02, order=3, prior_weights=(0.0,),
    dictionary=DictionaryFriction(sliding=(0.05,), stribeck=(), presliding=(1e-5,)), passes=2,
    huber=2.0, shrinkage=0.0, folds=3, gap=0.0, wide_gap=2.5, consistency_cost=0.2,
    samples_in_choice=600, bags_in_choice=3,
    kinematic_filter=KinematicFilter(kind='fourier', period=8.0, harmonics=5),
    effort_filter=KinematicFilter(kind='rloess', span=0.2), slowest=0.02, decimation=20.0,
)


def write(path, content):
    path.write_text(content if isinstance(content, str) else dump_yaml(content), encoding='utf-8')
    return path


@pytest.fixture
def file(tmp_path):
    return tmp_path / 'recipe.yaml'


@pytest.mark.parametrize('recipe', [Recipe(), OTHER], ids=['default', 'other'])
def test_round_trip(recipe, file):
    """Every number to the last bit, and every field."""
    loaded = load_recipe(write(file, recipe.as_plain()))
    assert loaded == recipe
    assert set(recipe.as_plain()) == {'schema_version', *(f.name for f in fields(Recipe))}


def test_what_a_file_leaves_out_has_its_default(file):
    """Inside the dictionary, too: by kind."""
    assert load_recipe(write(file, 'schema_version: 1\n')) == Recipe()
    some = load_recipe(write(
        file, 'schema_version: 1\nfolds: 4\ndictionary: {stribeck: [], sliding: [1]}\n'
    ))
    assert some == Recipe(
        folds=4, dictionary=DictionaryFriction(stribeck=(), sliding=(1.0,))
    )


def test_cutoffs_stay_below_the_nyquist_frequency():
    """All at 125 Hz, two at 20 Hz, and of a very slow recording as much as there is."""
    recipe = Recipe()
    assert recipe.cutoffs_below(125.0) == (5.0, 9.0, 14.0)
    assert recipe.cutoffs_below(20.0) == (5.0, 9.0)
    assert recipe.cutoffs_below(18.0) == (5.0,)
    assert recipe.cutoffs_below(4.0) == (pytest.approx(1.9),)


def test_rows_are_thinned_evenly(rng):
    """At most as many as asked for, as evenly over all recordings as whole steps allow."""
    rows = [rng.random(10_000) < 0.8, rng.random(400) < 0.5]
    count = sum(int(chosen.sum()) for chosen in rows)
    for most in (10, 999, count // 2, count - 1):
        thinned = thin_rows(rows, most)
        kept = sum(int(chosen.sum()) for chosen in thinned)
        assert most / 2 - 2 < kept <= most + len(rows) - 1
        for chosen, part in zip(rows, thinned, strict=True):
            assert part.shape == chosen.shape
            assert not np.any(part & ~chosen)
            steps = np.diff(np.flatnonzero(part[chosen]))
            assert len(set(steps.tolist())) <= 1
    assert thin_rows(rows, count) is rows


def test_estimators_and_laws_with_their_constants_are_taken_as_they_are():
    """No alternatives of a law are tried; what does not fit together is refused all the same."""
    laws = (CoulombFriction(width=0.001), ViscousFriction())
    estimator = WeightedLeastSquares(reweightings=1)
    options = IdentifyOptions(estimator=estimator, friction=laws)
    assert options.used_estimator is estimator
    assert options.estimator_name == 'wls'
    assert options.laws == (laws,)
    with pytest.raises(UsageError, match='too many for the estimator wls'):
        IdentifyOptions(estimator=estimator, friction='dictionary')
    with pytest.raises(UsageError, match=r'estimator gls was removed in 2\.0: use wls'):
        IdentifyOptions(estimator='gls')


@pytest.mark.parametrize(('value', 'error', 'told'), [
    (0.4, 0.01, False), (-0.4, 0.1, True), (-0.4, 0.2, False),
])
def test_a_reflected_inertia_that_no_rotor_has_is_named(ur5, value, error, told):
    """With its joint, value and error, where it is negative by more than three errors."""
    model = true_model(ur5, draw_truth(ur5, 3))
    theta, variance = model.theta_base.copy(), np.full(model.theta_base.size, 1e-6)
    at = model.reduction.names.index('Ia4')
    theta[at], variance[at] = value, error**2
    notes = rotor_notes(replace(model, theta_base=theta, covariance=np.diag(variance)))
    assert [f'wrist_1_joint {value:g} +- {error:g} kg m^2' in note for note in notes] == (
        [True] if told else []
    )


@pytest.mark.parametrize(('text', 'message'), [
    ('schema_version: 2\n', 'schema_version is 2'),
    ('folds: 3\n', 'schema_version'),
    ('schema_version: 1\nfold: 3\n', 'fold'),
    ('schema_version: 1\ndictionary: [0.1]\n', 'dictionary is .* must be a mapping'),
    ('schema_version: 1\ndictionary: {slide: [0.1]}\n', 'slide'),
    ('schema_version: 1\ndictionary: {sliding: 0.1}\n', 'sliding of dictionary .* be a list'),
    ('schema_version: 1\ndictionary: {sliding: [-0.1]}\n', 'sliding of dictionary .* positive'),
    ('schema_version: 1\npasses: four\n', "passes of the recipe is 'four'"),
    ('schema_version: 1\ncorrections: [fast]\n', 'corrections of the recipe .* fast_velocity'),
    ('- 1\n', 'mapping'),
    ('schema_version: 1\nkinematic_filter: 9\n', 'kinematic_filter is 9, it must be a mapping'),
    ('schema_version: 1\neffort_filter: {kind: wavelet}\n', "filter 'wavelet' is unknown"),
    ('schema_version: 1\nfriction_candidates: [coulomb]\n', 'candidates was removed in 2.0: name'),
])
def test_files_that_are_wrong_are_refused_with_file_and_key(file, text, message):
    """Exit code 4."""
    with pytest.raises(IdentificationError, match=message) as caught:
        load_recipe(write(file, text))
    assert str(file) in str(caught.value)
    assert caught.value.exit_code == 4
