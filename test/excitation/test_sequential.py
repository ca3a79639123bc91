# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What a model knows of an experiment, what a motion leaves weak, and the next motion."""

from argparse import Namespace
from dataclasses import replace

from builders import two_link_urdf
from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.cli.excite import knowledge_from_option, robot_from_after
from robot_identification.cli.excite_text import describe_weakness, weakness_content
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.excitation import (
    Budget, design_excitation, find_experiment, FourierParametrization, knowledge_of_model,
    load_experiment, motion_limits, next_experiment, Trajectory, weak_parameters,
)
from robot_identification.excitation.experiment_file import Margins
from robot_identification.excitation.information import (
    BaseColumns, experiment_reduction, information_root, Knowledge, runs_until, standard_errors,
)
from robot_identification.excitation.problem import TrajectoryProblem
from robot_identification.excitation.sequential import _weights, allowed_errors
from robot_identification.model import (
    BaseReduction, CoulombFriction, dump_model, gravity_of_mounting, IdentifiedModel,
    make_robot_model, make_standard_parameters, Motion, observation_matrix, parse_urdf,
    PowerViscousFriction, reduce_to_base, SignalSource, ViscousFriction,
)
from robot_identification.model.robot_model import Drives

RATE = 100.0
NOISE = np.array([0.4, 0.2])
# A base with friction and rotors as `identify` has it, with a width that no experiment has.
FRICTION = (CoulombFriction(0.02), ViscousFriction())


@pytest.fixture(scope='module')
def arm():
    drives = Drives(np.ones(2), np.ones(2), np.ones(2))
    return replace(
        make_robot_model(parse_urdf(two_link_urdf(), 'arm')), drives=drives, effort_unit='Nm',
        sampling_rate=RATE,
    )


@pytest.fixture(scope='module')
def wanted():
    demo = load_experiment(find_experiment('demo'))
    return replace(
        demo, form=FourierParametrization(3, 4.0), segments=(), window={}, collision=False,
        samples=(40,), friction='coulomb,viscous', margins=Margins(acceleration=1.0),
    )


@pytest.fixture(scope='module')
def first(arm, wanted):
    """Return a poor motion: the second joint moves little."""
    coefficients = np.random.default_rng(0).normal(size=(2, wanted.form.n_coefficients)) * 0.2
    coefficients[1] *= 0.4
    return Trajectory(arm.name, arm.joint_names, wanted.form, coefficients, 1, {})


def lively(robot, count=400):
    rng = np.random.default_rng(3)
    return Motion(*(rng.uniform(-size, size, (count, robot.n)) for size in (1.5, 2.0, 4.0)))


def identified(robot, motion, noise, friction=FRICTION, keep=None, changes=None):
    """Return the model that weighted least squares finds, with the exact covariance."""
    parameters = make_standard_parameters(robot.n, friction, reflected_inertia=True)
    reduction = reduce_to_base(robot, parameters)
    if keep is not None:
        rows = [i for i, name in enumerate(reduction.names) if keep(name)]
        reduction = BaseReduction(
            parameters, reduction.K[rows], reduction.independent[rows], reduction.gap
        )
    W = observation_matrix(robot, parameters, motion)[:, reduction.independent]
    R = np.linalg.qr(W / np.tile(noise, len(motion))[:, None], mode='r')
    inverse = np.linalg.inv(R)
    theta = np.linspace(0.5, 1.5, reduction.rank)
    model = IdentifiedModel(
        robot, 'Nm', reduction, theta, inverse @ inverse.T, None, '', SignalSource(), {},
        {'residual_standard_deviation': noise},
    )
    return replace(model, **(changes or {}))


def information(robot, experiment, motion, noise):
    """Return the information of a motion about an experiment's base parameters, squared."""
    W = BaseColumns(robot, experiment).matrix(motion)
    weighted = W / np.tile(noise, len(motion))[:, None]
    return weighted.T @ weighted


def assert_same_information(rows, expected, tolerance=1e-6):
    """Compare in units of the expected errors: of one is the difference of every eigenvalue."""
    root = np.linalg.cholesky(np.linalg.inv(expected))
    relative = root.T @ (rows.T @ rows) @ root
    np.testing.assert_allclose(relative, np.eye(len(relative)), atol=tolerance)


@pytest.mark.parametrize('frames', ['joint', 'mdh'])
@pytest.mark.parametrize('preference', ['gautier_khalil', 'mass_first'])
def test_information_is_that_of_the_recording_in_every_base_set(ur5, frames, preference):
    """What was recorded is known, whatever set the next experiment is stated in."""
    demo = load_experiment(find_experiment('demo'))
    experiment = replace(
        demo, frames=frames, preference=preference, friction='coulomb,viscous'
    )
    motion = lively(ur5)
    # The widths differ on purpose; the oracle has the model's at slow passages: none are sampled.
    motion = replace(motion, dq=motion.dq + 0.5 * np.sign(motion.dq))
    noise = np.array([0.5, 0.6, 0.4, 0.2, 0.1, 0.15])
    model = identified(ur5, motion, noise)
    known = knowledge_of_model(model, ur5, experiment)
    assert known.notes == ()
    np.testing.assert_array_equal(known.noise, noise)
    # 54 parameters have information over nine orders of magnitude; 1e-6 of the errors is left.
    assert_same_information(known.rows, information(ur5, experiment, motion, noise))
    # The identified values predict the same torques.
    W = BaseColumns(ur5, experiment).matrix(motion)
    torque = model.torque(motion).ravel()
    np.testing.assert_allclose(W @ known.theta, torque, atol=1e-8 * np.abs(torque).max())


def test_another_mounting_shows_combinations_of_its_own(arm, wanted):
    """What a tilted arm saw is knowledge of an upright one, with the rest left open."""
    # Independently: the upright set is a map of the tilted one, and so is its covariance.
    tilted = arm.with_gravity(gravity_of_mounting(0.5, 0.3, 0.0))
    model = identified(tilted, lively(arm), NOISE)
    upright = experiment_reduction(arm, wanted)
    assert upright.rank < model.reduction.rank, 'gravity along the first axis hides something'
    known = knowledge_of_model(model, arm, wanted)
    same = replace(upright, parameters=model.parameters)
    M = same.K[:, model.reduction.independent]
    assert_same_information(known.rows, np.linalg.inv(M @ model.covariance @ M.T))


# Ia1 turns with Izz1 and its torque is in it; that of Ia2 stands alone and is left open.
@pytest.mark.parametrize('changes', [{'friction': 'viscous'}, {'rotor_inertia': False}])
def test_what_only_the_model_has_is_left_open_and_the_rest_is_its_covariance(arm, wanted, changes):
    """The inverse of a block of the covariance is the information without the others."""
    model = identified(arm, lively(arm), NOISE)
    experiment = replace(wanted, **changes)
    known = knowledge_of_model(model, arm, experiment)
    names = experiment_reduction(arm, experiment).names
    block = [model.reduction.names.index(name) for name in names]
    assert_same_information(known.rows, np.linalg.inv(model.covariance[np.ix_(block, block)]))
    noted = any('coulomb' in note and 'open' in note for note in known.notes)
    assert noted == ('friction' in changes)


def test_what_the_model_does_not_have_is_unknown_by_name(arm, wanted):
    known = knowledge_of_model(
        identified(arm, lively(arm), NOISE), arm,
        replace(wanted, friction='coulomb,viscous,offset'),
    )
    assert 'the model does not determine f01, f02' in known.notes
    assert int(np.isinf(standard_errors(known.rows)).sum()) == 2


def test_what_the_data_did_not_show_is_unknown(arm, wanted):
    """A model without the friction of an idle joint says nothing of it, and all of the rest."""
    model = identified(arm, lively(arm), NOISE, keep=lambda name: name not in ('fc2', 'fv2'))
    known = knowledge_of_model(model, arm, wanted)
    names = experiment_reduction(arm, wanted).names
    lost = [names.index('fc2'), names.index('fv2')]
    assert np.all(known.rows[:, lost] == 0.0)
    assert 'the model does not determine fc2, fv2' in known.notes


def test_coefficients_of_another_shape_are_other_parameters(arm, wanted):
    """Viscosity with another power is another curve; a width is only a passage through zero."""
    experiment = replace(wanted, friction='coulomb,power_viscous')
    default = PowerViscousFriction().exponent
    for exponent, rank in ((default, 0), (default + 0.2, 2)):
        friction = (CoulombFriction(0.05), PowerViscousFriction(exponent))
        known = knowledge_of_model(
            identified(arm, lively(arm), NOISE, friction), arm, experiment
        )
        assert int(np.isinf(standard_errors(known.rows)).sum()) == rank
        assert bool(known.notes) == bool(rank)


def test_a_singular_covariance_claims_no_more_than_numbers_hold(arm, wanted):
    """Two parameters that are one: their difference counts as known to 1e-6, not to 1e-20."""
    covariance = np.array([[4.0, 2.0, 0.1], [2.0, 1.0, 0.05], [0.1, 0.05, 9.0]])
    root, cut = information_root(covariance)
    assert cut == 1
    assert np.all(np.isfinite(root))
    assert 1e5 < np.linalg.norm(root @ np.array([1.0, -2.0, 0.0])) < 1e8
    # The others are as they were: rounding of a matrix with condition 1e13 is 1e-3.
    held = np.linalg.inv(root.T @ root)
    np.testing.assert_allclose(np.diag(held), np.diag(covariance), rtol=1e-2)
    model = identified(arm, lively(arm), NOISE)
    C = model.covariance.copy()
    C[0, :], C[:, 0] = C[1, :], C[:, 1]
    C[0, 0] = C[1, 1]
    known = knowledge_of_model(replace(model, covariance=C), arm, wanted)
    assert any('better than numbers can say' in note for note in known.notes)


@given(st.integers(0, 2**31))
def test_errors_and_times_are_those_of_the_sum_of_information(seed):
    """Against plain inverses, which well-conditioned examples allow; times put back in."""
    rng = np.random.default_rng(seed)
    before, run = rng.normal(size=(9, 5)), rng.normal(size=(20, 5))
    run[:, 4] = 0.0
    errors = [
        np.sqrt(np.diag(np.linalg.inv(before.T @ before + runs * run.T @ run)))
        for runs in (0.0, 1.0)
    ]
    np.testing.assert_allclose(standard_errors(before), errors[0], rtol=1e-8)
    np.testing.assert_allclose(standard_errors(np.vstack([before, run])), errors[1], rtol=1e-8)
    targets = 0.3 * errors[0]
    # The last one is helped by what the others are known better, and no further.
    end = 1.0 / np.linalg.norm(before[:, 4])
    targets[4] = 0.99 * end
    runs = runs_until(before, run, targets)
    for index in range(4):
        found = np.linalg.inv(before.T @ before + runs[index] * run.T @ run)[index, index]
        # What the search for the time leaves.
        assert np.sqrt(found) == pytest.approx(targets[index], rel=1e-6)
    assert runs[4] == np.inf
    targets = 1.1 * errors[0]
    targets[4] = 1.01 * end
    np.testing.assert_array_equal(runs_until(before, run, targets)[:4], 0.0)
    assert np.isfinite(runs_until(before, run, targets)[4])


def no_knowledge(arm, experiment):
    """Return what is known before a first motion: nothing."""
    base = BaseColumns(arm, experiment)
    theta = np.zeros(base.reduction.rank)
    return Knowledge(
        np.zeros((0, len(theta))), _weights(experiment, NOISE, RATE),
        allowed_errors(base, motion_limits(arm, experiment), theta, NOISE), theta, NOISE, RATE,
    )


def test_weak_parameters_are_named_with_the_time_that_mends_them(arm, wanted, first):
    """A motion that moves the second joint little leaves its parameters weak."""
    nothing = no_knowledge(arm, wanted)
    weakness = weak_parameters(arm, wanted, first, nothing)
    assert np.all(np.isinf(weakness.before))
    count = int(RATE * wanted.form.duration)
    recording = first.sample(np.arange(count) / RATE)
    F = information(arm, wanted, recording, NOISE)
    # What it says is checked against information of the recording itself, sampled as recorded; the
    # analysis samples otherwise, which changes errors by up to 2 % where friction turns over.
    np.testing.assert_allclose(
        weakness.after, np.sqrt(np.diag(np.linalg.inv(F))), rtol=0.02
    )
    # Without knowledge information is proportional to time, and errors fall with its root.
    expected = first.duration / 60.0 * (weakness.after / weakness.allowed) ** 2
    np.testing.assert_allclose(weakness.minutes, expected, rtol=1e-6)
    weakest = [weakness.names[i] for i in weakness.order[:2]]
    assert weakness.weak[weakness.order[0]]
    assert all(name.endswith('2') for name in weakest)
    text = ' '.join(describe_weakness(weakness).split())
    assert all(name in text for name in weakest)
    assert f'{weakness.minutes.max():.1f} minutes of it suffice for all' in text
    # The same motion again, known to be there: twice the information.
    twice = replace(first, periods=2)
    np.testing.assert_allclose(
        weak_parameters(arm, wanted, twice, nothing).after, weakness.after / np.sqrt(2.0),
        rtol=1e-9,
    )


def test_what_a_motion_does_not_show_is_never_mended(arm, wanted, first):
    still = first.coefficients.copy()
    still[1, 1:] = 0.0
    frozen = replace(first, coefficients=still)
    weakness = weak_parameters(arm, wanted, frozen, no_knowledge(arm, wanted))
    friction = [weakness.names.index(name) for name in ('fc2', 'fv2')]
    assert np.all(np.isinf(weakness.after[friction]))
    assert np.all(np.isinf(weakness.minutes[friction]))
    text = ' '.join(describe_weakness(weakness).split())
    assert 'never' in text and 'no time of it suffices for' in text
    entry = next(
        one for one in weakness_content(weakness)['parameters'] if one['name'] == 'fc2'
    )
    assert entry['weak'] is True


def test_the_value_is_the_log_determinant_of_what_is_known_after_the_motion(arm, wanted, first):
    model = identified(arm, first.sample(np.arange(400) / RATE), NOISE)
    known = knowledge_of_model(model, arm, wanted)
    problem = TrajectoryProblem(arm, wanted, known)
    x = problem.draw(np.random.default_rng(5))
    value = problem.objective(x)
    motion = Motion(*wanted.form.sample(
        problem.coefficients(x), np.arange(40) * wanted.form.duration / 40
    ))
    each = RATE * wanted.form.duration / 40
    total = known.rows.T @ known.rows + each * information(arm, wanted, motion, NOISE)
    rank = len(total)
    rows = 40 * arm.n + len(known.rows)
    scaled = total * known.allowed * known.allowed[:, None]
    expected = -np.linalg.slogdet(scaled)[1] / rank + np.log(rows)
    assert value == pytest.approx(expected, rel=1e-9)


@pytest.fixture(scope='module')
def following(arm, wanted, first):
    model = identified(arm, first.sample(np.arange(400) / RATE), NOISE)
    known = knowledge_of_model(model, arm, wanted)
    motion = design_excitation(arm, wanted, seed=1, budget=Budget(60), knowledge=known)
    return known, motion


def test_the_next_motion_shrinks_the_volume_more_than_repeating_the_first(
    arm, wanted, first, following
):
    """By how much the volume of the region of confidence shrinks, on recorded samples."""
    known, motion = following
    P = known.rows.T @ known.rows
    times = np.arange(400) / RATE
    gains = [
        0.5 * np.linalg.slogdet(P + information(arm, wanted, one.sample(times), NOISE))[1]
        - 0.5 * np.linalg.slogdet(P)[1]
        for one in (first, motion)
    ]
    assert gains[0] == pytest.approx(0.5 * np.log(2.0) * len(P), rel=0.05), 'twice the same'
    assert gains[1] > 1.5 * gains[0]
    after, repeated = (weak_parameters(arm, wanted, one, known) for one in (motion, first))
    assert np.max(after.after / after.allowed) < np.max(repeated.after / repeated.allowed)


def test_errors_that_are_promised_are_those_of_an_estimator(arm, wanted, first, following):
    """Known truth, white noise, least squares of both recordings together, four hundred times."""
    known, motion = following
    promised = weak_parameters(arm, wanted, motion, known).after
    times = np.arange(400) / RATE
    columns = BaseColumns(arm, wanted)
    W = np.vstack([columns.matrix(one.sample(times)) for one in (first, motion)])
    sigma = np.tile(NOISE, 800)
    truth = np.linspace(-1.0, 2.0, W.shape[1])
    rng = np.random.default_rng(8)
    measured = (W @ truth)[:, None] + sigma[:, None] * rng.normal(size=(len(W), 400))
    found = np.linalg.lstsq(W / sigma[:, None], measured / sigma[:, None], rcond=None)[0]
    deviation = found.std(axis=1)
    # The deviation of 400 estimates has a relative error of 3.5 %; five of those are allowed, and
    # the 2 % of sampling. The mean is within five of its own errors of the truth.
    np.testing.assert_allclose(deviation, promised, rtol=5 * 0.035 + 0.02)
    assert np.all(np.abs(found.mean(axis=1) - truth) < 5.0 * deviation / 20.0)


def test_a_criterion_of_one_motion_alone_is_replaced_and_said(wanted):
    changed, notes = next_experiment(
        replace(wanted, criterion='condition_number', samples=(20, 40))
    )
    assert (changed.criterion, changed.samples) == ('trace_of_inverse', (40,))
    assert len(notes) == 2
    assert next_experiment(wanted) == (wanted, ())


def test_models_that_say_nothing_useful_are_refused(arm, wanted):
    model = identified(arm, lively(arm), NOISE)
    cases = [
        (DescriptionError, 'not positive', {'covariance': np.zeros_like(model.covariance)}),
        (UsageError, 'identify it again', {'quality': {}}),
        (DescriptionError, 'positive numbers are needed',
         {'quality': {'residual_standard_deviation': [0.1, 0.0]}}),
    ]
    for kind, match, changes in cases:
        with pytest.raises(kind, match=match):
            knowledge_of_model(replace(model, **changes), arm, wanted)
    with pytest.raises(DescriptionError, match=r'eigenvalue -1'):
        information_root(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(UsageError, match='one set of samples'):
        knowledge_of_model(model, arm, replace(wanted, samples=(20, 40)))
    with pytest.raises(UsageError, match='sampling rate'):
        knowledge_of_model(
            replace(model, robot=replace(arm, sampling_rate=0.0)), arm, wanted
        )
    renamed = make_robot_model(parse_urdf(two_link_urdf(name='other'), 'other'))
    with pytest.raises(UsageError, match='with the joints one, two; made_up has other, two'):
        knowledge_of_model(model, renamed, wanted)
    longer = make_robot_model(parse_urdf(two_link_urdf(xyz=(0, 0, 0.4)), 'longer'))
    with pytest.raises(UsageError, match=r'one of made_up is placed otherwise .* by 0\.1'):
        knowledge_of_model(model, longer, wanted)


def test_the_option_reads_the_model_and_its_arm(arm, wanted, tmp_path):
    path = tmp_path / 'identified_model.yaml'
    model = identified(arm, lively(arm), NOISE)
    path.write_text(dump_model(model))
    names = ('robot', 'urdf', 'joints', 'drive_gains', 'xacro_arguments', 'mounting', 'gravity')
    args = Namespace(**dict.fromkeys(names), after=path)
    robot = robot_from_after(args)
    assert robot.joint_names == arm.joint_names
    experiment, known = knowledge_from_option(args, robot, wanted)
    assert experiment is wanted
    # The file holds every digit.
    direct = knowledge_of_model(model, arm, wanted)
    np.testing.assert_allclose(known.rows, direct.rows, rtol=1e-9, atol=1e-9)
    hanging = robot_from_after(Namespace(**{**vars(args), 'mounting': [np.pi, 0.0, 0.0]}))
    assert hanging.gravity[2] > 9.8
    with pytest.raises(UsageError, match='--joints'):
        robot_from_after(Namespace(**{**vars(args), 'joints': ['one']}))
    assert knowledge_from_option(Namespace(after=None), robot, wanted) == (wanted, None)
    path.write_text(dump_model(replace(model, quality={})))
    with pytest.raises(UsageError, match=r'identified_model\.yaml: the model does not state'):
        knowledge_from_option(args, robot, wanted)
