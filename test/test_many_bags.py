# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""One model from many bags, whoever reduced them: this process, others, or a Dask cluster."""

from dataclasses import replace
import multiprocessing
from operator import attrgetter
from pathlib import Path
import shutil
from types import SimpleNamespace

from builders import write_run
from long_tests import long_test
import numpy as np
import pytest
from recordings import Driver, execute, write_small_arm
from robot_identification.errors import DataError, IdentificationError, UsageError
from robot_identification.estimation import bags
from robot_identification.estimation.bags import BagSource, Processing, survey_bag
from robot_identification.estimation.estimators.huber import HuberWeights, SizeMedian
from robot_identification.estimation.fitting import fit_parameters
from robot_identification.estimation.inputs import spread_evenly
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.quality import find_covariance
from robot_identification.estimation.recipe import Recipe
from robot_identification.estimation.rows import TIME_BLOCKS
from robot_identification.files import file_sha256
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.model.registry import load_robot
from robot_identification.parallel import open_executor, run_jobs
from robot_identification.pipeline import identify
from robot_identification.processing.processing import process
from robot_identification.recording.bag import read_recording
from robot_identification.simulation.ground_truth import draw_truth
from scheduled_jobs import dask_cluster, kill_always, Number, refuse, square

# Choices are not what is tested here.
QUICK = {'cutoffs': (9.0,), 'prior_weights': (1.0,), 'folds': 4}
RECIPE = Recipe(**QUICK)
AUTOMATIC = IdentifyOptions(recipe=RECIPE)
# What is the same to rounding: condition numbers of a few thousand times 1e-16, and room.
ROUNDING = 1.0e-10
NUMBERS = [Number(value) for value in range(7)]


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    """Return a small arm and four short bags, each with offsets of its own."""
    folder = tmp_path_factory.mktemp('many_bags')
    robot = load_robot(str(write_small_arm(folder)))
    truth = draw_truth(robot, seed=3)
    bags = [
        write_run(
            folder / f'bag{seed}', robot,
            Driver(offset=0.05 * seed).record(
                execute(robot, truth, seed, 6.0), robot.limits.effort / robot.drives.drive_gain,
                seed,
            ),
        )
        for seed in range(4)
    ]
    return SimpleNamespace(folder=folder, robot=robot, bags=bags)


@pytest.fixture(scope='module')
def pooled(arm):
    """Return the model of all bags, whose rows are in one process."""
    return identify(arm.robot, arm.bags, AUTOMATIC)


@pytest.fixture(scope='module')
def local():
    """Return two processes, which are started with their first jobs and leave with the last."""
    before = set(multiprocessing.active_children())
    with open_executor('local', 2) as opened:
        yield opened
    left = set(multiprocessing.active_children()) - before
    # A Dask cluster names its own.
    ours = [child for child in left if child.name.startswith('SpawnProcess')]
    for child in ours:
        child.join(30.0)
    # One of those that were killed may have been reaped by another thread, with its exit code.
    assert not [
        child for child in ours if child.is_alive() and Path(f'/proc/{child.pid}').exists()
    ]


@pytest.fixture(scope='module')
def cluster():
    with dask_cluster() as running:
        yield running


@pytest.fixture(scope='module')
def dask(cluster):
    with open_executor(cluster.scheduler_address) as opened:
        yield opened


@pytest.fixture(params=['this process', 'local', 'dask'])
def executor(request):
    """Return every executor in turn."""
    return None if request.param == 'this process' else request.getfixturevalue(request.param)


def test_results_come_in_the_order_of_the_jobs(executor):
    """An error of a job is the first one in this order; others can be done afterwards."""
    assert list(run_jobs(executor, square, NUMBERS)) == [0, 1, 4, 9, 16, 25, 36]
    assert list(run_jobs(executor, square, [])) == []
    with pytest.raises(DataError, match=r'^number 0 is even$'):
        list(run_jobs(executor, refuse, NUMBERS[:3]))
    assert list(run_jobs(executor, square, NUMBERS[:3])) == [0, 1, 4]


def test_a_job_that_kills_its_process_says_so():
    """With what to do; nothing hangs."""
    with open_executor('local', 1) as executor, pytest.raises(
        IdentificationError, match=r'worker process was lost.*--processes'
    ):
        list(run_jobs(executor, kill_always, [Number(1)]))


def assert_same(found, expected):
    """Compare two identifications in all that depends on the fit."""
    # The steps of the consistent solver make of its rounding up to 1e-7 of the largest parameter.
    consistent = expected.model.theta_consistent
    np.testing.assert_allclose(
        found.model.theta_consistent, consistent, atol=1e-7 * np.abs(consistent).max()
    )
    assert found.model.covariance_kind == expected.model.covariance_kind
    for name in (
        'model.theta_base', 'model.covariance', 'estimate.nuisance', 'estimate.sigma',
        'estimate.singular_values',
    ):
        assert_close(*map(attrgetter(name), (found, expected)))
    for name in ('model.reduction.names', 'verdict', 'notes', 'unidentifiable',
                 'model.provenance'):
        assert attrgetter(name)(found) == attrgetter(name)(expected)


def assert_close(found, expected):
    """Compare to rounding of the largest number."""
    np.testing.assert_allclose(
        found, expected, rtol=ROUNDING, atol=ROUNDING * np.abs(expected).max(initial=0.0)
    )


@long_test
def test_other_processes_find_the_same_errors_of_plain_laws(arm, local):
    """Scores are summed over windows where the rows are, and the sums travel."""
    options = IdentifyOptions(friction='coulomb,viscous,offset', recipe=RECIPE)
    found, expected = (identify(arm.robot, arm.bags[:3], options, who) for who in (local, None))
    assert_same(found, expected)
    assert found.model.covariance_kind == 'hac'


def observe_both(arm, estimator, friction):
    """Return options and the rows of three bags, read in each pass and all in memory."""
    options = IdentifyOptions(estimator=estimator, friction=friction)
    sources = [source_of(arm, bag) for bag in arm.bags[:3]]
    datasets = [
        process(
            read_recording(bag, arm.robot.joint_names), KinematicFilter(), 'A',
            robot=arm.robot,
        )
        for bag in arm.bags[:3]
    ]
    together = options.observe(
        arm.robot, options.laws[0], datasets, [dataset.fitted for dataset in datasets],
        time_blocks=TIME_BLOCKS,
    )
    in_passes = Observations(
        arm.robot, together.reduction, [survey_bag(one) for one in sources],
        time_blocks=TIME_BLOCKS,
    )
    return options, in_passes, together


@pytest.mark.parametrize(('estimator', 'friction'), [
    ('huber', 'coulomb,viscous,offset'), ('wls', 'coulomb,viscous,offset,load'),
])
def test_other_estimators_find_the_same(arm, estimator, friction):
    """Reweighting by medians, and plain laws under the load of the bodies found."""
    options, in_passes, together = observe_both(arm, estimator, friction)
    expected = fit_parameters(together, (), options.used_estimator).estimate
    found = fit_parameters(in_passes, (), options.used_estimator).estimate
    assert found.passes == expected.passes
    np.testing.assert_allclose(found.theta, expected.theta, rtol=ROUNDING)
    # Also where the scatter of the rows themselves is asked for, of those that have no weights.
    found, expected = find_covariance(found), find_covariance(expected)
    assert found.kind == expected.kind
    assert_close(found.matrix, expected.matrix)
    assert found.window == pytest.approx(expected.window, rel=ROUNDING)


def test_bags_beyond_the_choice_are_fitted_all_the_same(arm, pooled):
    """Choices on two of four bags; the fit is that of all four with the same choices."""
    found = identify(
        arm.robot, arm.bags, IdentifyOptions(recipe=Recipe(**QUICK, bags_in_choice=2))
    )
    assert_close(found.model.theta_base, pooled.model.theta_base)
    # First and last, spread evenly.
    assert [errors.bag for errors in found.cross_validation] == [
        str(arm.bags[0]), str(arm.bags[3])
    ]
    assert any('from 2 of 4 recordings' in note for note in found.notes)
    assert found.model.provenance['bags'] == pooled.model.provenance['bags']
    # Speeds are those of all recordings, not only of those that chose.
    assert np.all(found.model.quality['speeds'] >= 0.99 * pooled.model.quality['speeds'])


def test_a_bag_without_motion_takes_no_part(arm, tmp_path):
    """Wherever it was read; the others are fitted as if it were not there."""
    still = execute(arm.robot, draw_truth(arm.robot, seed=3), 5, 3.0, speed=1e-4)
    resting = write_run(
        tmp_path / 'still', arm.robot,
        Driver().record(still, arm.robot.limits.effort / arm.robot.drives.drive_gain, 5),
    )
    few = IdentifyOptions(recipe=Recipe(**QUICK, bags_in_choice=2))
    bags = [arm.bags[0], resting, arm.bags[1]]
    found = identify(arm.robot, bags, few)
    without = identify(arm.robot, [arm.bags[0], arm.bags[1]], few)
    assert any('still has no motion' in note for note in found.notes)
    np.testing.assert_allclose(found.model.theta_base, without.model.theta_base, rtol=ROUNDING)


def source_of(arm, bag, **changes):
    return BagSource(**{
        'name': bag.name, 'path': bag, 'sha256': file_sha256(bag),
        'robot': arm.robot, 'processing': Processing(arm.robot, 'A', KinematicFilter()), **changes,
    })


def test_a_bag_that_a_worker_does_not_see_is_refused_by_name(arm, executor):
    """Path and worker are named, and what to do."""
    missing = source_of(arm, arm.bags[0], path=Path('/nowhere/bag'))
    with pytest.raises(UsageError, match=r'/nowhere/bag is not there for a worker.*share'):
        list(run_jobs(executor, survey_bag, [missing]))


def test_another_file_of_the_same_name_is_refused(arm, local, tmp_path):
    """The content is what the command saw, or it is not read."""
    bag = tmp_path / 'bag'
    shutil.copytree(arm.bags[0], bag)
    before = source_of(arm, bag)
    shutil.rmtree(bag)
    shutil.copytree(arm.bags[1], bag)
    with pytest.raises(DataError, match=r'bag is another file for a worker process .*finished'):
        list(run_jobs(local, survey_bag, [before]))


def test_what_needs_all_rows_is_refused_elsewhere_before_anything_is_read(
    arm, local, monkeypatch
):
    """Instrumental variables look at two motions side by side."""
    monkeypatch.setattr(
        'robot_identification.estimation.inputs.read_arm',
        lambda *_, **__: pytest.fail('a bag was read'),
    )
    options = IdentifyOptions(estimator='iv', recipe=RECIPE)
    with pytest.raises(UsageError, match=r'estimator iv .* --scheduler leaves'):
        identify(arm.robot, arm.bags[:2], options, local)


def test_what_needs_all_rows_gets_them_here_however_many_bags(arm):
    """All bags take part in the choice then; nothing is left to be fitted from factors."""
    recipe = Recipe(**QUICK, bags_in_choice=2)
    found = identify(arm.robot, arm.bags, IdentifyOptions(estimator='iv', recipe=recipe))
    assert [errors.bag for errors in found.cross_validation] == [str(bag) for bag in arm.bags]


def test_notes_are_of_all_bags_not_only_of_those_that_chose(arm, monkeypatch):
    """The second of three bags is warm and has another offset, and takes no part in the choice."""
    original = bags.process

    def warm(recording, *arguments, **options):
        dataset = original(recording, *arguments, **options)
        temperature = np.full(dataset.effort.shape, 50.0 if 'bag1' in recording.source else 20.0)
        return replace(dataset, motion=replace(dataset.motion, temperature=temperature))

    monkeypatch.setattr(bags, 'process', warm)
    recipe = Recipe(**QUICK, bags_in_choice=2)
    options = IdentifyOptions(friction='coulomb,viscous,offset', recipe=recipe)
    found = identify(arm.robot, arm.bags[:3], options)
    assert any('temperatures vary' in note and 'to 50.0' in note for note in found.notes)
    assert found.model.temperature == pytest.approx(30.0, abs=0.5)


def test_bags_are_chosen_evenly():
    """First and last among them, none twice; all where there are few."""
    assert spread_evenly(3, 8) == (0, 1, 2)
    assert spread_evenly(100, 8) == (0, 14, 28, 42, 57, 71, 85, 99)
    assert spread_evenly(9, 8) == (0, 1, 2, 3, 5, 6, 7, 8)
    assert spread_evenly(9, 1) == (0,)


@pytest.mark.parametrize('most', [10**6, 120, 50], ids=['few', 'some', 'many'])
def test_weights_that_saw_residuals_in_parts_saw_the_same(rng, monkeypatch, most):
    """Sums to rounding; the median exactly, whichever part outgrew its room."""
    monkeypatch.setattr(SizeMedian, 'LARGEST_SAMPLE', most)
    residuals = rng.normal(size=(3, 60))
    whole, merged = (HuberWeights(np.array([0.5, 1.0])) for _ in range(2))
    for part in residuals:
        other = HuberWeights(np.array([0.5, 1.0]))
        for joint in range(2):
            whole(joint, part)
            other(joint, part)
        merged.merge(other)
    np.testing.assert_array_equal(merged.deviation, whole.deviation)
    np.testing.assert_array_equal(merged.damped, whole.damped)
