# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of any length: choices on parts of them, and how often all of them is passed over."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from builders import write_run
import numpy as np
import pytest
from recordings import Driver, execute, write_small_arm
from robot_identification.arrays import allocate, release
from robot_identification.estimation import bags, fitting, inputs
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.recipe import Recipe
from robot_identification.model.registry import load_robot
from robot_identification.pipeline import identify
from robot_identification.processing.periods import find_repetition
from robot_identification.processing.repairs import (
    find_duplicates, find_segments, order_by_time, sampling_period,
)
from robot_identification.processing.robot_state import find_exclusions, joint_temperatures
from robot_identification.recording.recording import (
    Channel, PART_DURATION, Recording, spread_parts,
)
from robot_identification.simulation.ground_truth import draw_truth

# Choices are not what is tested here.
QUICK = {'cutoffs': (9.0,), 'prior_weights': (1.0,), 'folds': 3}
MOST = 5000  # joint states that choices are made on
WHOLE = IdentifyOptions(recipe=Recipe(**QUICK))
IN_PARTS = IdentifyOptions(recipe=Recipe(**QUICK, samples_in_choice=MOST // inputs.READ_FOR_EACH))


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    folder = tmp_path_factory.mktemp('long')
    robot = load_robot(str(write_small_arm(folder)))
    run = Driver().record(
        execute(robot, draw_truth(robot, seed=3), 1, 80.0),
        robot.limits.effort / robot.drives.drive_gain, 1,
    )
    return SimpleNamespace(robot=robot, bag=write_run(folder / 'bag', robot, run), run=run)


@pytest.fixture(scope='module')
def whole(arm):
    """Return the model whose choices saw everything."""
    return identify(arm.robot, [arm.bag], WHOLE)


@pytest.fixture(scope='module')
def in_parts(arm):
    """Return the model whose choices saw a part."""
    return identify(arm.robot, [arm.bag], IN_PARTS)


def test_all_rows_are_passed_over_once(arm, whole, monkeypatch):
    """A dictionary fit takes weights and loads from the part that choices are made on."""
    passes, read = Counter(), []
    compute, original = Observations._compute_bag, inputs.read_arm

    def count(self, bag, part, *arguments):
        passes[int(part.rows.sum())] += 1
        return compute(self, bag, part, *arguments)

    monkeypatch.setattr(Observations, '_compute_bag', count)
    monkeypatch.setattr(
        inputs, 'read_arm', lambda *args, **named: read.append(1) or original(*args, **named)
    )
    monkeypatch.setattr(bags, 'read_arm', lambda *_, **__: pytest.fail('read again'))
    # Of so short a recording all rows would be kept from one pass for the next.
    monkeypatch.setattr('robot_identification.estimation.problem.KEPT_NUMBERS', 300_000)
    found = identify(arm.robot, [arm.bag], IN_PARTS)
    samples = sum(int(dataset.fitted.sum()) for dataset in whole.datasets)
    assert read == [1]
    assert passes[samples] == 1 == found.estimate.passes
    assert found.estimate.problem.samples.tolist() == [samples] * arm.robot.n
    assert max(len(dataset) for dataset in found.datasets) <= MOST
    assert any(f'{MOST} of {len(arm.run.stamps)} joint states' in note for note in found.notes)


def test_the_model_is_that_of_all_rows(arm, whole, in_parts):
    """Parameters differ by less than their errors, what they predict by less than that."""
    a, b = (np.asarray(one.model.theta_lifted) for one in (whole, in_parts))
    shared = 10 * arm.robot.n
    errors = np.sqrt(np.abs(np.diag(whole.estimate.covariance))).max()
    assert np.abs(a[:shared] - b[:shared]).max() < max(errors, 0.05 * np.abs(a[:shared]).max())
    # It is of rows beyond 1.345 deviations weighted down: of normal noise it changes by 0.26 of
    # the share by which the deviation does.
    assert in_parts.estimate.sigma == pytest.approx(
        whole.estimate.sigma, rel=0.26 * fitting.DEVIATION_TOLERANCE
    )


def test_a_part_that_does_not_tell_the_scatter_leads_to_more_passes(arm, whole, monkeypatch):
    """What residuals were expected to scatter is taken from all rows then."""
    monkeypatch.setattr(fitting, 'DEVIATION_TOLERANCE', 0.0)
    found = identify(arm.robot, [arm.bag], IN_PARTS).estimate
    assert found.passes == IN_PARTS.recipe.passes
    # Passes end where the weights have settled to a part in a thousand.
    assert found.sigma == pytest.approx(whole.estimate.sigma, rel=1e-3)


def test_wrong_data_between_the_parts_are_named(arm, in_parts, tmp_path):
    """The effort of a joint has the wrong sign for four seconds at which no choice looks."""
    robot, run = arm.robot, arm.run
    part, = spread_parts([numbered(len(run.stamps))], MOST, (None, None))
    looked_at = np.isin(np.arange(len(run.stamps)), part.q[:, 0])
    bad = ~looked_at & (np.abs(run.stamps - run.stamps[0] - 45.0) < 2.0)
    assert bad.sum() > 0.9 * 4.0 * len(run.stamps) / np.ptp(run.stamps)
    q, dq, effort = (signal.copy() for signal in run.measured)
    effort[bad, 1] *= -1.0
    bag = write_run(tmp_path / 'bag', robot, replace(run, measured=(q, dq, effort)))
    right, wrong = (
        [reason for reason in one.verdict.reasons if 'than anywhere in the parts' in reason]
        for one in (in_parts, identify(robot, [bag], IN_PARTS))
    )
    assert not right
    assert wrong and all(robot.joint_names[1] in reason for reason in wrong)
    assert robot.joint_names[0] not in ' '.join(wrong)


def test_blocks_of_time_that_are_over_hold_their_triangles_alone(whole):
    """Of as many as a recording has, one is being filled."""
    observations = whole.estimate.problem.observations
    accumulators = observations.reduce(None, None)
    count = len(accumulators[0]) // observations.groups
    assert count > 10
    for joint, of_joint in enumerate(accumulators):
        size = len(observations.columns(joint)) + 1
        assert [one.height for one in of_joint[: count - 1]] == [size] * (count - 1)
        assert of_joint[count - 1].height > size


@pytest.mark.skipif(
    not Path('/proc/self/clear_refs').exists(), reason='the peak of memory cannot be set back'
)
@pytest.mark.parametrize('look', [
    lambda long, **_: long.duration,
    lambda long, **_: order_by_time(long.stamps),
    lambda long, **_: sampling_period(long.stamps),
    lambda long, branch, chosen, **_: find_duplicates(
        long.stamps, branch, (long.q, long.effort), chosen
    ),
    lambda long, branch, fresh, **_: find_segments(long.stamps, branch, fresh, 1.0),
    lambda long, chosen, **_: find_repetition(long.stamps, long.q, chosen),
    lambda long, **_: find_exclusions(long.channels, long.stamps),
    lambda long, **_: joint_temperatures(long.channels, long.stamps, long.q.shape[1]),
], ids=['duration', 'order', 'period', 'duplicates', 'segments', 'repetition', 'exclusions',
        'temperatures'])
def test_a_look_at_all_rows_lets_files_go(arm, look):
    """Their peak is less than the stamps, the smallest file; what is mapped counts."""
    # Libraries and temporary arrays of a few blocks are the same for fewer rows.
    few, many = (
        {
            'long': long_recording(arm.robot, count), 'chosen': np.ones(count, dtype=bool),
            'fresh': np.arange(count), 'branch': np.zeros(count, dtype=np.int32),
        }
        for count in (50_000, 1_000_000)
    )
    look(**few)
    long = many['long']
    for signal in (long.stamps, long.q, long.dq, long.effort):
        release(signal)
    for channel in long.channels.values():
        release(channel.values)
    before = resident('VmRSS')
    # Sets back the peak.
    Path('/proc/self/clear_refs').write_text('5', encoding='ascii')
    look(**many)
    # What is found of each row, as the four bytes that count how often the clock was set back, may
    # stay.
    assert resident('VmHWM') - before < 0.9 * long.stamps.nbytes


def resident(key):
    """Return what the system says of the memory of this process [bytes]."""
    status = dict(
        line.split(':') for line in Path('/proc/self/status').read_text('ascii').splitlines()
    )
    return 1024 * int(status[key].split()[0])


def long_recording(robot, count):
    """Return a recording of so many rows, which lie in files."""
    def in_file(values):
        rows = allocate(values.shape)
        rows[:] = values
        return rows

    stamps = in_file(0.002 * np.arange(count))
    phases = np.arange(robot.n) + 2.0 * stamps[:, None]
    return Recording(
        'bag', '/joint_states', robot.joint_names, stamps, in_file(np.sin(phases)),
        in_file(2.0 * np.cos(phases)), in_file(np.sin(3.0 * phases)),
        channels={
            'temperature': Channel(stamps, in_file(25.0 + np.cos(0.001 * phases))),
            'speed_scaling': Channel(stamps, in_file(np.ones((count, 1)))),
        },
    )


def numbered(count, period=0.008):
    """Return a recording whose positions say which row they are."""
    rows = np.arange(float(count))[:, None]
    return Recording('bag', '/joint_states', ('a',), period * np.arange(count), rows, rows, rows)


def test_parts_are_spread_from_one_end_to_the_other():
    """Each is some seconds long, none overlaps the next."""
    part, = spread_parts([numbered(60_000)], 10_000, (None, None))
    rows = part.q[:, 0]
    assert part.whole == 60_000
    assert len(part) == 10_000 and rows[0] == 0 and rows[-1] == 59_999
    starts = np.flatnonzero(np.diff(rows, prepend=-2.0) > 1.0)
    lengths = np.diff(np.append(starts, len(rows)))
    assert np.all(np.diff(rows) > 0) and np.all(lengths == 2500)
    # One period apart.
    assert lengths[0] * 0.008 == pytest.approx(PART_DURATION)
    # Recordings share in proportion to what lies in the window; few are not divided.
    long, short = numbered(60_000), numbered(1500)
    parts = spread_parts([long, short], 10_000, (None, None))
    assert parts[1] is short and 9000 < len(parts[0]) <= 10_000
    within, = spread_parts([long], 10_000, (80.0, 320.0))
    assert within.stamps[0] == 80.0 and within.stamps[-1] == pytest.approx(319.992)
    assert spread_parts([long], 60_000, (None, None)) == (long,)
    assert spread_parts([long], 30_000, (80.0, 320.0)) == (long,)
