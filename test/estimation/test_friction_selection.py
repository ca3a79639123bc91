# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Friction laws by joint, on arms every joint of which has another one: they are found.

MuJoCo moves bodies and rotors; friction is written out here and shares no code with the laws.
"""

from dataclasses import replace
from functools import lru_cache
from itertools import combinations
import re

from builders import joint_states, run_command, write_bag
from estimation.arm_problems import dataset_of, three_joint_urdf
from long_tests import some_by_day
import numpy as np
import pytest
from robot_identification.errors import UsageError
from robot_identification.estimation import IdentifyOptions, Recipe, WeightedLeastSquares
from robot_identification.estimation.estimators.consistent import ConsistentAfter
from robot_identification.estimation.estimators.dictionary import SparseNonnegativeRegression
from robot_identification.estimation.fitting import (
    estimate_under_load, Folds, LOAD_TOLERANCE, observe,
)
from robot_identification.estimation.friction_selection import (
    choose_friction, expand_candidates, order_terms,
)
from robot_identification.model import (
    dump_model, exclude_each_other, FrictionTerm, IdentifiedModel, load_model, make_robot_model,
    Motion, parse_friction, parse_urdf, reduce_to_base, SignalSource, standard_torque,
    StandardParameters,
)
from robot_identification.processing.excited_joints import find_unexcited_joints
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics

PERIOD = 0.01
SAMPLES = 2000
# As a share of the spread of each joint's torque: what a good current measurement has.
NOISE = 0.02
PLAIN = parse_friction('coulomb,viscous,offset')
DEFAULT = Recipe()


@lru_cache
def arm():
    """Return an arm of three joints, of the size of a shoulder, an elbow and a wrist."""
    return make_robot_model(parse_urdf(three_joint_urdf(), 'three joints'))


def dry(dq, width):
    return np.tanh(dq / width)


def stribeck_and_power(dq, load, temperature):
    """Plain friction, friction that falls as sliding begins, and a sub-linear one."""
    one, two, three = dq.T
    return np.column_stack([
        6.0 * dry(one, 0.03) + 4.0 * one + 0.5,
        (4.0 + 4.0 * np.exp(-(two / 0.12) ** 2)) * dry(two, 0.015) + 3.0 * two - 0.3,
        0.5 * dry(three, 0.03) + 1.5 * np.sign(three) * np.abs(three) ** 0.5,
    ])


def load_and_direction(dq, load, temperature):
    """Friction that grows with the load, one that differs with direction, and a plain one."""
    one, two, three = dq.T
    return np.column_stack([
        3.0 * dry(one, 0.03) + 0.15 * np.abs(load[:, 0]) * dry(one, 0.03) + 4.0 * one,
        np.where(two > 0.0, 5.0 * dry(two, 0.02) + 5.0 * two, 2.5 * dry(two, 0.02) + 1.5 * two),
        0.8 * dry(three, 0.03) + 0.6 * three + 0.1,
    ])


def warming(dq, load, temperature):
    """Plain friction that falls as two joints warm; the third does not."""
    plain = np.column_stack([
        fc * dry(v, 0.03) for fc, v in zip((6.0, 3.0, 0.8), dq.T, strict=True)
    ])
    return plain + ((5.0, 3.0, 0.6) + (temperature - 25.0) * (-0.15, -0.06, 0.0)) * dq


@lru_cache
def motion_of(seed):
    """Return a motion of several sines a joint, warming from 20 to 35 deg C but for the last."""
    rng = np.random.default_rng(seed)
    t = PERIOD * np.arange(SAMPLES)
    w = 2.0 * np.pi * np.array([0.08, 0.17, 0.29, 0.41])
    size = 0.3 * rng.normal(size=(3, 4))
    angle = w * t[:, None, None] + rng.uniform(0.0, 2.0 * np.pi, (3, 4))
    warm = np.column_stack([20.0 + 15.0 * t / t[-1]] * 2 + [np.full(SAMPLES, 25.0)])
    return Motion(
        np.sum(size * np.sin(angle), axis=2), np.sum(size * w * np.cos(angle), axis=2),
        -np.sum(size * w**2 * np.sin(angle), axis=2), warm,
    )


@lru_cache
def true_torque(seed, friction):
    """Return the noise-free torque of an arm that is not quite the URDF's."""
    robot, motion = arm(), motion_of(seed)
    truth = replace(
        prior_truth(robot), mass_factor=np.array([1.2, 0.85, 1.1]),
        reflected_inertia=np.array([0.5, 0.3, 0.05]),
    )
    load = inverse_dynamics(robot, truth, motion)
    return load + friction(motion.dq, load, motion.temperature)


def recording(seed, friction, noise=NOISE, noise_seed=0):
    tau = true_torque(seed, friction)
    rng = np.random.default_rng([seed, noise_seed])
    return dataset_of(
        arm(), motion_of(seed), tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape)
    )


def select(datasets, candidates, unexcited=()):
    rows = observe(arm(), (), datasets, [dataset.fitted for dataset in datasets])
    return choose_friction(rows, candidates, unexcited, Folds(), DEFAULT.tie)


@lru_cache
def chosen(friction):
    """Return the choice among the default candidates but those with temperature."""
    return select(
        [recording(0, friction)], expand_candidates(DEFAULT.friction_candidates, ('load',))
    )


def laws_of(choice, number):
    return {term.law.name: term.law for term in choice.terms if term.joint == number}


def test_each_joint_gets_its_own_law():
    """Plain, Stribeck, and a power of the velocity."""
    # Constants within 10 %, forty times the noise. No joint is left with a law beside its own.
    choice = chosen(stribeck_and_power)
    plain, stribeck, power = (laws_of(choice, number) for number in range(3))
    assert set(plain) == {'coulomb', 'viscous', 'offset'}
    assert set(stribeck) == {'stribeck', 'viscous', 'offset'}
    assert set(power) == {'coulomb', 'power_viscous', 'offset'}
    assert plain['coulomb'].width == pytest.approx(0.03, rel=0.1)
    assert stribeck['stribeck'].velocity == pytest.approx(0.12, rel=0.1)
    assert stribeck['stribeck'].exponent == pytest.approx(2.0, rel=0.1)
    assert stribeck['stribeck'].width == pytest.approx(0.015, rel=0.1)
    assert power['power_viscous'].exponent == pytest.approx(0.5, rel=0.1)


def test_load_and_direction_are_seen():
    """The joint between is asked again after its neighbour's law was found, and stays plain."""
    choice = chosen(load_and_direction)
    assert set(laws_of(choice, 0)) == {'coulomb', 'viscous', 'offset', 'load'}
    assert set(laws_of(choice, 1)) == {'asymmetric'}
    assert set(laws_of(choice, 2)) == {'coulomb', 'viscous', 'offset'}
    assert laws_of(choice, 0)['load'].width == pytest.approx(0.03, rel=0.1)


@pytest.mark.parametrize('noise_seed', some_by_day([1, 2, 3], 1))
def test_a_plain_joint_keeps_the_plain_law(noise_seed):
    """Under any noise: what it makes look a little better is no reason."""
    def plain(dq, load, temperature):
        return dq * (4.0, 3.0, 0.6) + np.array([6.0, 3.0, 0.8]) * dry(dq, 0.03)

    candidates = expand_candidates(
        ('coulomb,viscous,offset', 'coulomb,power_viscous,offset', 'asymmetric'), ('load',)
    )
    choice = select([recording(0, plain, noise_seed=noise_seed)], candidates)
    for number in range(3):
        assert set(laws_of(choice, number)) == {'coulomb', 'viscous', 'offset'}, choice.candidates


def test_temperature_is_asked_about_where_it_changes():
    """Two joints warm by 15 K and the third does not: its friction cannot be asked."""
    candidates = expand_candidates(('coulomb,viscous,offset',), ('temperature_viscous',))
    choice = select([recording(0, warming)], candidates)
    for number in range(2):
        assert 'temperature_viscous' in laws_of(choice, number)
    assert set(laws_of(choice, 2)) == {'coulomb', 'viscous', 'offset'}
    assert [question.question for question in choice.candidates] == [
        'friction of one', 'friction of two'
    ]


def test_the_evidence_is_complete():
    """One question a joint, each name once, the chosen among them, no score above plain's."""
    choice = chosen(stribeck_and_power)
    for number, question in enumerate(choice.candidates):
        assert question.question == f'friction of {arm().joint_names[number]}'
        assert len(set(question.names)) == len(question.names) == len(question.scores)
        scores = dict(zip(question.names, question.scores, strict=True))
        first = next(iter(scores.values()))
        assert scores[question.chosen] <= (1.0 + DEFAULT.tie) * first
        # Noise of 2 % is what no law explains.
        assert 0.9 * NOISE < scores[question.chosen] < 1.2 * NOISE
    assert all(note.startswith('shape constants of ') for note in choice.notes)
    assert len(choice.notes) == 3


def test_a_joint_that_stands_keeps_what_it_was_given():
    """It is not asked, and the others are found all the same."""
    dataset = recording(0, stribeck_and_power)
    motion = dataset.motion
    still = np.array([1.0, 1.0, 0.0])
    standing = Motion(motion.q * still, motion.dq * still, motion.ddq * still)
    truth = prior_truth(arm())
    tau = inverse_dynamics(arm(), truth, standing)
    tau = tau + stribeck_and_power(standing.dq, tau, None) + np.random.default_rng(0).normal(
        scale=0.1, size=tau.shape
    )
    dataset = dataset_of(arm(), standing, tau)
    unexcited = find_unexcited_joints([dataset])
    assert unexcited == (2,)
    candidates = expand_candidates(('coulomb,viscous,offset', 'stribeck,viscous,offset'), ())
    choice = select([dataset], candidates, unexcited)
    assert [laws_of(choice, 2)[law.name] for law in PLAIN] == list(PLAIN)
    assert 'stribeck' in laws_of(choice, 1)
    assert len(choice.candidates) == 2


def test_candidates_never_exclude_each_other():
    """Every candidate with every addition that may stand beside it, once."""
    found = expand_candidates(DEFAULT.friction_candidates, DEFAULT.friction_additions)
    names = [tuple(law.name for law in laws) for laws in found]
    assert len(set(names)) == len(names) == 4 * len(DEFAULT.friction_candidates)
    assert names[:5] == [tuple(text.split(',')) for text in DEFAULT.friction_candidates]
    for laws in names:
        assert not any(exclude_each_other(*pair) for pair in combinations(laws, 2))
    with_others = expand_candidates(('strain_wave,offset', 'coulomb,load'), ('load',))
    assert [tuple(law.name for law in laws) for laws in with_others] == [
        ('strain_wave', 'offset'), ('coulomb', 'load')
    ]


def test_a_model_with_laws_by_joint_survives_its_file(tmp_path):
    """The same parameters, and the same torque to the last bit."""
    robot, motion = arm(), motion_of(2)
    terms = chosen(load_and_direction).terms
    parameters = StandardParameters(robot.n, terms, True)
    reduction = reduce_to_base(robot, parameters)
    theta = np.random.default_rng(0).normal(size=parameters.size)
    model = IdentifiedModel(
        robot, 'Nm', reduction, reduction.K @ theta, np.eye(reduction.rank), theta, '',
        SignalSource(), {}, {},
    )
    path = tmp_path / 'model.yaml'
    path.write_text(dump_model(model))
    loaded = load_model(path)
    assert loaded.parameters == parameters
    for term, again in zip(terms, loaded.parameters.friction, strict=True):
        assert len(term.constant_errors) == len(term.law.shape)
        np.testing.assert_array_equal(again.constant_errors, term.constant_errors)
    assert any(np.isfinite(term.constant_errors).any() for term in terms)
    np.testing.assert_array_equal(
        standard_torque(loaded.robot, loaded.parameters, loaded.theta_lifted, motion),
        standard_torque(robot, parameters, model.theta_lifted, motion),
    )


def test_the_load_is_that_of_the_bodies_found():
    """Bodies are up to 20 % off the URDF, so that its load is wrong."""
    # Passes go on until none is. One more pass changes nothing, and friction per load is found to
    # 2 %.
    dataset = recording(0, load_and_direction, noise=0.002)
    terms = order_terms([
        parse_friction('coulomb,viscous,offset,load'), parse_friction('asymmetric'), PLAIN
    ])
    terms = tuple(
        FrictionTerm(term.joint, replace(term.law, width=0.02 if term.joint == 1 else 0.03))
        if term.law.shape else term
        for term in terms
    )
    problem = observe(arm(), terms, [dataset], [dataset.fitted]).factor()
    estimator = WeightedLeastSquares()
    first = estimator.estimate(problem)
    _, settled = estimate_under_load(problem, estimator)
    assert not settled.notes
    again = estimator.estimate(problem.observations.factor(settled.unknowns))
    change = np.linalg.norm(again.theta - settled.theta) / np.linalg.norm(settled.theta)
    assert change < LOAD_TOLERANCE
    at = problem.reduction.names.index('fcl1')
    assert settled.theta[at] == pytest.approx(0.15, rel=0.02)
    assert abs(first.theta[at] - 0.15) > 3.0 * abs(settled.theta[at] - 0.15)


@pytest.mark.parametrize(('estimator', 'once'), [
    (SparseNonnegativeRegression(), True), (WeightedLeastSquares(), False),
])
def test_bodies_are_held_out_as_they_are_found(estimator, once):
    """A dictionary fit has the load of its own passes; with plain laws bodies make their load."""
    dataset = recording(0, load_and_direction, noise=0.002)
    laws = parse_friction('dictionary' if once else 'coulomb,viscous,offset,load')
    problem = observe(arm(), laws, [dataset], [dataset.fitted]).factor()
    bodies = ConsistentAfter(estimator, regularization=1.0)
    first = bodies.estimate(problem)
    same, found = estimate_under_load(problem, bodies)
    assert (same is problem) == once
    assert np.array_equal(found.unknowns, first.unknowns) == once


@pytest.mark.parametrize(('options', 'message'), [
    ({'estimator': 'dictionary'}, '--friction select chooses plain laws'),
    ({'recipe': Recipe(decimation=20.0)}, 'leave decimation out of the recipe'),
])
def test_what_does_not_go_with_it_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        IdentifyOptions(friction='select', **options)


def test_identify_selects_and_shows_why(tmp_path):
    """From a bag: model file, results and report have each joint's laws and their candidates."""
    dataset = recording(0, stribeck_and_power)
    (tmp_path / 'arm.urdf').write_text(three_joint_urdf())
    bag = write_bag(tmp_path / 'bag', joint_states(
        dataset.joint_names, 1.0 + dataset.stamps / dataset.stamps[1] * PERIOD,
        dataset.motion.q, dataset.motion.dq, dataset.effort,
    ))
    recipe = tmp_path / 'recipe.yaml'
    recipe.write_text(
        'schema_version: 1\nfriction_additions: []\n'
        "friction_candidates: ['coulomb,viscous,offset', 'coulomb,power_viscous,offset', "
        "'stribeck,viscous,offset']\n"
    )
    result = run_command(
        'identify', bag, '--urdf', tmp_path / 'arm.urdf', '--effort-unit', 'Nm', '--cutoff', '9',
        '--friction', 'select', '--config', recipe, '-o', tmp_path / 'result',
    )
    assert result.code == 0, result.err
    model = load_model(tmp_path / 'result' / 'identified_model.yaml')
    assert {(term.joint, term.law.name) for term in model.parameters.friction} >= {
        (0, 'coulomb'), (0, 'viscous'), (1, 'stribeck'), (2, 'power_viscous'),
    }
    text = (tmp_path / 'result' / 'results.txt').read_text()
    page = (tmp_path / 'result' / 'report.html').read_text()
    for joint_name in dataset.joint_names:
        assert f'friction of {joint_name}: ' in text
        assert f'riction of {joint_name}' in page
    assert 'shape constants of two: stribeck velocity' in text
    assert 'not estimated' not in page
    stribeck, = (term for term in model.parameters.friction if term.law.name == 'stribeck')
    # The velocity of 0.12 rad/s, within four of its errors; both stand in text and page.
    assert stribeck.law.velocity == pytest.approx(0.12, abs=4.0 * stribeck.constant_errors[0])
    for shown in (text, page):
        assert re.search(r'velocity 0\.1[0-9]+ \+- 0\.0', shown)
    asked = [entry['question'] for entry in model.quality['cross_validation']['choices']]
    assert asked == [f'friction of {name}' for name in dataset.joint_names]
