# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Rows of a problem are those of the observation matrix, however cut, kept or combined."""

from dataclasses import replace

from known_models import base_of, made_up_dataset
import numpy as np
import pytest
from robot_identification.estimation import problem as module
from robot_identification.estimation.estimators.huber import HuberWeights
from robot_identification.estimation.problem import combine_factors, Observations
from robot_identification.estimation.rows import SHORTEST_BLOCK, TrainingData
from robot_identification.model import (
    DictionaryFriction, FRICTION_LAWS, make_standard_parameters, Motion, observation_matrix,
    reduce_to_base, regressor,
)

GAINS = np.array([2.0, 0.5, 3.0])
SAMPLES = 400
GAP = 150


def dataset_of(robot, seed, *, gap=GAP):
    """Return currents of a motion that slides, sticks and has a gap after which all is new."""
    rng = np.random.default_rng(seed)
    dq = rng.normal(size=(SAMPLES, 3)) * 10.0 ** rng.uniform(-4.0, 0.3, (SAMPLES, 1))
    dq[rng.random(SAMPLES) < 0.2] = 0.0
    motion = Motion(
        0.01 * np.cumsum(dq, axis=0), dq, rng.normal(size=dq.shape),
        starts=(0, gap) if gap else (0,),
    )
    return made_up_dataset(
        robot.joint_names, motion, rng.normal(scale=5.0, size=dq.shape), 100.0, 'A'
    )


def taken(seed):
    """Return samples to take: scattered ones, and a stretch of none."""
    rows = np.random.default_rng(100 + seed).random(SAMPLES) < 0.7
    rows[60:90] = False
    return rows


@pytest.fixture(scope='module')
def robot(robots):
    """Return an arm whose joints turn and slide."""
    return robots['mixed'].with_drive_gains(GAINS)


@pytest.fixture(scope='module')
def reduction(robot):
    return base_of(robot, 'dictionary,offset', rotors=True)


@pytest.fixture(scope='module')
def data(robot):
    return [TrainingData(dataset_of(robot, seed), GAINS, taken(seed)) for seed in range(2)]


@pytest.fixture
def unknowns(reduction):
    return np.random.default_rng(7).uniform(0.1, 1.0, reduction.rank)


def gram(factor):
    """Return what a factor stands for whatever the signs of its rows."""
    return factor.triangle.T @ factor.triangle


def assert_same_problem(found, expected, exact=False):
    """Compare all factors: bits, or products of columns to 1e-12 of their lengths."""
    np.testing.assert_array_equal(found.samples, expected.samples)
    assert len(found.blocks) == len(expected.blocks)
    for one, other in zip(
        (*found.factors, *sum(found.blocks, ())), (*expected.factors, *sum(expected.blocks, ())),
        strict=True,
    ):
        np.testing.assert_array_equal(one.columns, other.columns)
        if exact:
            np.testing.assert_array_equal(one.triangle, other.triangle)
        else:
            length = np.linalg.norm(other.triangle, axis=0)
            away = np.abs(gram(one) - gram(other))
            assert np.all(away <= 1e-12 * np.outer(length, length))


@pytest.mark.parametrize('friction', ['dictionary,offset', 'load,coulomb,viscous', 'none',
                                      'strain_wave,offset'])
def test_rows_are_those_of_the_observation_matrix(robot, friction):
    """Column by column, to the last bit, under a load of 1 N m and under the URDF's."""
    # Friction runs through what is not taken, and begins anew after the gap. What does not act on
    # a joint has a zero column there.
    dataset, rows = dataset_of(robot, 3), taken(3)
    warm = np.full((SAMPLES, 3), 31.0)
    dataset = replace(dataset, motion=replace(dataset.motion, temperature=warm))
    reduction = base_of(robot, friction, rotors=True)
    observations = Observations(robot, reduction, [TrainingData(dataset, GAINS, rows)])
    unit_load, urdf_load = (
        observation_matrix(robot, reduction.parameters, dataset.motion, None, load)
        .reshape(SAMPLES, 3, -1)[:, :, reduction.independent]
        for load in (np.ones((SAMPLES, 3)), None)
    )
    blocks = list(observations.blocks())
    for joint in range(3):
        columns = observations.columns(joint)
        absent = np.setdiff1d(np.arange(reduction.rank), columns)
        np.testing.assert_array_equal(unit_load[:, joint, absent], 0.0)
        samples = np.concatenate([block.joints[joint].samples for block in blocks])
        np.testing.assert_array_equal(samples, np.flatnonzero(rows))
        for block in blocks:
            found = block.joints[joint]
            place = found.samples
            np.testing.assert_array_equal(
                found.table[:, :-1], unit_load[place, joint][:, columns]
            )
            np.testing.assert_array_equal(
                found.tau, (dataset.effort * GAINS)[place, joint]
            )
            np.testing.assert_allclose(
                observations.matrix(joint, found, None), urdf_load[place, joint][:, columns],
                rtol=1e-12, atol=1e-12,
            )


def test_columns_in_proportion_to_the_load_are_found_by_name(robot):
    """In every law that has such columns, whatever its constants."""
    # A Stribeck term that has ended at the speed where it is asked must not be taken for one.
    laws = {
        'load': FRICTION_LAWS['load'](), 'strain_wave': FRICTION_LAWS['strain_wave'](0.01),
        'dictionary': DictionaryFriction(stribeck=[0.001, 0.03, 1.0]),
        'coulomb': FRICTION_LAWS['coulomb'](),
    }
    dataset = dataset_of(robot, 0)
    warm = replace(dataset.motion, temperature=np.full((SAMPLES, 3), 30.0))
    data = [TrainingData(replace(dataset, motion=warm), GAINS, taken(0))]
    for name, law in laws.items():
        parameters = make_standard_parameters(3, (law,), reflected_inertia=True)
        reduction = reduce_to_base(robot, parameters)
        observations = Observations(robot, reduction, data)
        loaded = set(np.array(reduction.names)[observations.loaded])
        symbols = [s for s in law.symbols if s.startswith('load_') or s in {'fcl', 'fclw', 'fslw'}]
        expected = {f'{s}{joint}' for s in symbols for joint in (1, 2, 3)}
        assert loaded == expected & set(reduction.names), name


def test_weights_see_the_residuals_of_the_estimate(robot, reduction, data, unknowns):
    """Once for each row, under the load of the estimate; they multiply matrix and torque."""
    # Without weights, the residuals of the factors are those of the rows.
    observations = Observations(robot, reduction, data)
    plain = observations.factor(unknowns)
    seen = [[], [], []]

    def weigh(joint, residual):
        seen[joint].append(residual)
        return 1.0 / (1.0 + np.abs(residual))

    problem = observations.factor(unknowns, weigh)
    for joint in range(3):
        residual = np.concatenate(seen[joint])
        expected = np.concatenate([
            ((part.dataset.effort * GAINS)[part.rows] - torque)[:, joint]
            for part, torque in zip(data, observations.torque(unknowns), strict=True)
        ])
        np.testing.assert_allclose(residual, expected, atol=1e-9)
        assert plain.squared_residuals(unknowns)[joint] == pytest.approx(
            np.sum(expected**2), rel=1e-9
        )
        assert problem.squared_residuals(unknowns)[joint] == pytest.approx(
            np.sum((residual / (1.0 + np.abs(residual))) ** 2), rel=1e-9
        )


@pytest.mark.parametrize('offset_by_recording', [False, True])
def test_streamed_rows_are_the_kept_ones(
    robot, reduction, data, offset_by_recording, monkeypatch
):
    """To the last bit where blocks are the same, in every pass: with weights and load, too."""
    monkeypatch.setattr(regressor, 'BLOCK_SAMPLES', 64)
    options = {'offset_by_recording': offset_by_recording, 'time_blocks': 5}
    kept = Observations(robot, reduction, data, **options)
    monkeypatch.setattr(module, 'KEPT_NUMBERS', 0)
    streamed = Observations(robot, reduction, data, **options)
    assert kept._kept is not None and streamed._kept is None
    theta = np.random.default_rng(1).uniform(0.1, 1.0, reduction.rank + kept.nuisance)
    scale = np.full(3, 10.0)
    for one, other in (
        (kept.factor(), streamed.factor()),
        (kept.factor(theta, HuberWeights(scale)), streamed.factor(theta, HuberWeights(scale))),
    ):
        assert_same_problem(one, other, exact=True)
    for one, other in zip(kept.torque(theta), streamed.torque(theta), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (kept.passes, streamed.passes) == (3, 3)


@pytest.mark.parametrize('kept', [True, False])
def test_a_selection_is_what_would_be_built_from_its_rows(
    robot, reduction, data, unknowns, kept, monkeypatch
):
    """Of kept and of streamed rows, some recordings being left with none."""
    if not kept:
        monkeypatch.setattr(module, 'KEPT_NUMBERS', 0)
    whole = Observations(robot, reduction, data)
    rng = np.random.default_rng(9)
    some = [part.rows & (rng.random(SAMPLES) < 0.6) for part in data]
    for rows in (some, [some[0], np.zeros(SAMPLES, dtype=bool)], [p.rows for p in data]):
        selected = whole.select(rows)
        built = Observations(
            robot, reduction,
            [TrainingData(p.dataset, GAINS, r) for p, r in zip(data, rows, strict=True)],
        )
        assert_same_problem(selected.factor(), built.factor(), exact=True)
        for one, other in zip(selected.torque(unknowns), built.torque(unknowns), strict=True):
            np.testing.assert_array_equal(one, other)
        assert selected.passes == 2
    assert whole.passes == 0


@pytest.mark.parametrize(('asked', 'made'), [(1, 0), (5, 5), (50, 10)])
def test_parts_of_time_combine_to_the_whole(robot, reduction, data, asked, made):
    """As many as are asked for, but none shorter than half a second of samples taken."""
    # Of 800 samples at 100 Hz 520 or so are taken: ten parts.
    observations = Observations(robot, reduction, data, time_blocks=asked)
    problem = observations.factor()
    assert len(problem.blocks) == made
    if made:
        rows = sum(int(part.rows.sum()) for part in data)
        assert rows / 100.0 / made >= SHORTEST_BLOCK
        whole = tuple(combine_factors(same) for same in zip(*problem.blocks, strict=True))
        assert_same_problem(replace(problem, factors=whole), problem)
        # They are contiguous: each has a like share of the torque's squares, in order of time.
        efforts = np.concatenate([(p.dataset.effort * GAINS)[p.rows] for p in data])
        first = np.arange(len(efforts)) * made // len(efforts) == 0
        squares = [factor.triangle[:, -1] @ factor.triangle[:, -1] for factor in problem.blocks[0]]
        np.testing.assert_allclose(squares, np.sum(efforts[first] ** 2, axis=0), rtol=1e-12)


@pytest.mark.parametrize(('friction', 'left_out'), [
    ('dictionary,offset', ()),
    # Where the mean is left out, as of a joint that stands, distances are still told apart.
    ('viscous,offset', ('f02', 'fv2')),
])
def test_other_base_parameters_of_the_same_rows(robot, data, friction, left_out):
    """Choosing unknowns in the factors is building with these alone; in another order, too."""
    reduction = base_of(robot, friction, rotors=True)
    problem = Observations(robot, reduction, data, offset_by_recording=True).factor()
    chosen = np.random.default_rng(2).permutation(
        [row for row, name in enumerate(reduction.names) if name not in left_out]
    )
    smaller = replace(
        reduction, K=reduction.K[chosen], independent=reduction.independent[chosen]
    )
    selected = problem.select(chosen, smaller)
    built = Observations(robot, smaller, data, offset_by_recording=True).factor()
    assert selected.size == built.size == len(chosen) + 3
    one, other = (
        np.column_stack(found.stacked(np.ones(3))) for found in (selected, built)
    )
    length = np.linalg.norm(other, axis=0)
    assert np.all(length[smaller.rank:] > 1.0)
    assert np.all(np.abs(one.T @ one - other.T @ other) <= 1e-11 * np.outer(length, length))
    assert_same_problem(selected.observations.factor(), built)


def test_each_recording_has_its_own_offset(robot, reduction, data):
    """Distances from the mean: one for each recording but the first, which has minus their sum."""
    # A torque of constants alone is explained to rounding, the parameter being their mean.
    third = TrainingData(dataset_of(robot, 2), GAINS, taken(2))
    constants = np.array([[1.0, -2.0, 3.0], [4.0, 0.0, -1.0], [1.0, 8.0, 1.0]])
    parts = [
        replace(part, dataset=replace(
            part.dataset, effort=np.tile(constant / GAINS, (SAMPLES, 1))
        ))
        for part, constant in zip([*data, third], constants, strict=True)
    ]
    observations = Observations(robot, reduction, parts, offset_by_recording=True)
    assert observations.nuisance == 6
    problem = observations.factor()
    unknowns = np.zeros(reduction.rank + 6)
    mean = constants.mean(axis=0)
    for joint in range(3):
        unknowns[reduction.names.index(f'f0{joint + 1}')] = mean[joint]
    unknowns[reduction.rank:] = (constants[1:] - mean).ravel()
    np.testing.assert_allclose(problem.squared_residuals(unknowns), 0.0, atol=1e-18)
    for torque, constant in zip(observations.torque(unknowns), constants, strict=True):
        np.testing.assert_allclose(torque, np.tile(constant, (len(torque), 1)), atol=1e-12)
    assert Observations(robot, reduction, parts[:1], offset_by_recording=True).nuisance == 0
