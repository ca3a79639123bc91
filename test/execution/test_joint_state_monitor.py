# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A joint state counts by its stamp: what waited is old, what repeats itself says nothing."""

from dataclasses import replace

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.execution.commissioning import (
    check_stage, CommissioningKey, completed_stages, DRY_RUN, FULL, note_stage, record_path, SLOW,
    slow_speed, stage_of, STAGES,
)
from robot_identification.execution.joint_state_monitor import (
    JointStateMonitor, LARGEST_LEAD, Measurement,
)
from robot_identification.files import dump_yaml, read_yaml

CYCLE = 0.008
STAMP, NOW = 1000.0, 50.0
EFFORT = np.zeros(2)


def state(time):
    return np.array([time, -time]), np.array([1.0, -1.0])


def add(monitor, stamp, place, now, *waited, **options):
    """Let a monitor take a joint state that arrives now; return whether it shows life."""
    return monitor.add(Measurement(stamp, now, now, *place, EFFORT), *waited, **options)


def fed(duration, pace=1.0, jitter=0.0, simulated=False):
    """Return a monitor after a while of regular joint states, and the time then."""
    monitor = JointStateMonitor(simulated=simulated)
    rng = np.random.default_rng(0)
    for k in range(round(duration / CYCLE) + 1):
        add(
            monitor, STAMP + pace * k * CYCLE, state(k * CYCLE),
            NOW + k * CYCLE + jitter * rng.random(), CYCLE,
        )
    return monitor, k * CYCLE


@settings(max_examples=20)
@given(pace=st.floats(0.1, 10.0))
def test_the_pace_of_a_simulation_is_found(pace):
    """And its states are as new as they are."""
    monitor, time = fed(2.0, pace, simulated=True)
    assert monitor.pace == pytest.approx(pace, rel=1e-6)
    assert monitor.age(NOW + time) == pytest.approx(0.0, abs=1e-9)


@settings(max_examples=20)
@given(pause=st.floats(0.3, 10.0), waiting=st.integers(1, 5))
def test_what_waited_in_a_queue_is_as_old_as_its_stamp_says(pause, waiting):
    """A process that did not run reads old messages first; the first new one is new."""
    monitor, time = fed(1.0)
    for k in range(1, waiting + 1):
        add(monitor, STAMP + time + k * CYCLE, state(time + k * CYCLE), NOW + time + pause)
        # Jitter of the arrivals is none here: exact but for the forgetting of a cycle of 20 ms.
        assert monitor.age(NOW + time + pause) == pytest.approx(pause - k * CYCLE, rel=0.25)
    later = time + pause + CYCLE
    add(monitor, STAMP + later, state(later), NOW + later)
    assert monitor.age(NOW + later) < 0.01


@pytest.mark.parametrize('what', ['stamp', 'place'])
def test_repetitions_show_no_life(what):
    """The same stamp, or the same place of an arm that moves; a new one of both does."""
    monitor, time = fed(1.0)
    last = monitor.latest
    for k in range(1, 40):
        stamp = last.stamp if what == 'stamp' else last.stamp + k * CYCLE
        q, dq = (last.q, last.dq) if what == 'place' else state(time + k * CYCLE)
        assert not add(monitor, stamp, (q, dq), NOW + time + k * CYCLE)
    now = time + 40 * CYCLE
    assert monitor.age(NOW + now) == pytest.approx(40 * CYCLE)
    assert 'repeat the same one for 0.32 s' in monitor.silence(NOW + now)
    assert add(monitor, STAMP + now, state(now), NOW + now)
    assert monitor.age(NOW + now) < 0.01


def test_an_arm_at_rest_may_say_the_same_again():
    """Its place does not change, its stamps do."""
    monitor, time = fed(1.0)
    q = state(time)[0]
    for k in range(1, 100):
        now = time + k * CYCLE
        assert add(monitor, STAMP + now, (q, np.zeros(2)), NOW + now)


@given(jump=st.one_of(
    st.floats(-1e6, -0.001), st.floats(LARGEST_LEAD + CYCLE + 0.001, 1e6)
))
def test_a_clock_that_is_set_is_a_jump(jump):
    """Noticed once, by its size; states after it are as new as they were before."""
    monitor, time = fed(1.0)
    later = time + CYCLE
    add(monitor, STAMP + time + jump, state(later), NOW + later)
    assert monitor.jump == pytest.approx(jump, abs=1e-6)
    monitor.forget_jump()
    later += CYCLE
    add(monitor, STAMP + time + jump + CYCLE, state(later), NOW + later)
    assert monitor.jump == 0.0
    assert monitor.age(NOW + later) < 0.02


def test_a_simulation_that_pauses_is_not_late():
    """Its clock stood still as well; a real driver's does not."""
    for simulated in (False, True):
        monitor, time = fed(1.0, simulated=simulated)
        now = NOW + time + 0.5
        add(monitor, STAMP + time + CYCLE, state(time + CYCLE), now, 0.02)
        assert (monitor.age(now) < 0.03) == simulated


def test_a_pace_that_changed_is_learned_from_states_that_did_not_wait():
    """A simulation that becomes ten times slower: eight seconds later its states are new again."""
    monitor, time = fed(1.0, pace=10.0, simulated=True)
    stamp = monitor.latest.stamp
    for k in range(1, 1000):
        now = NOW + time + k * CYCLE
        add(monitor, stamp + k * CYCLE, state(time + k * CYCLE), now, CYCLE)
    assert monitor.pace == pytest.approx(1.0)
    assert now - monitor.latest.taken_after < 0.1


@pytest.mark.parametrize('simulated', [False, True])
@given(late=st.floats(0.01, 1.0), calm=st.floats(0.0, 1.0))
def test_one_late_state_leaves_no_wrong_pace(simulated, late, calm):
    """Eight seconds later its states are known to be new; a real arm's pace is never doubted."""
    monitor, time = fed(calm, simulated=simulated)
    for k in range(1, 1000):
        arrival = time + max(k * CYCLE, late)
        add(monitor, STAMP + time + k * CYCLE, state(time + k * CYCLE), NOW + arrival, CYCLE)
        assert simulated or monitor.pace == 1.0
    assert monitor.pace == pytest.approx(1.0, abs=1e-6)
    # A delay of 1 s is forgotten but for exp(-7 / 2) of it.
    now = NOW + time + k * CYCLE
    assert now - monitor.latest.taken_after < 0.05


@given(growth=st.floats(0.07, 0.9))
def test_a_delay_that_grows_is_noticed(growth):
    """As of a queue that is emptied too slowly: never as if the states were new."""
    monitor, time = fed(1.0)
    oldest = 0.0
    for k in range(1, 500):
        now = NOW + time + k * CYCLE * (1.0 + growth)
        add(monitor, STAMP + time + k * CYCLE, state(time + k * CYCLE), now, CYCLE)
        oldest = max(oldest, monitor.age(now))
    assert oldest > 0.2


def test_jitter_of_the_arrivals_is_no_delay():
    """Messages that come up to 20 ms late, by chance, stay younger than 50 ms."""
    monitor, time = fed(5.0, jitter=0.02)
    assert monitor.age(NOW + time + 0.02) < 0.05


SUBJECT = CommissioningKey('a' * 64, 'ur5', 'b' * 64, 'c' * 64, '20195501234')
OTHERS = {
    'another trajectory': {'sha256': 'e' * 64},
    'another robot': {'robot': 'ur5e'},
    'another description': {'urdf_sha256': 'd' * 64},
    'another calibration': {'kinematics_sha256': 'd' * 64},
    'another serial number': {'serial': '20195509999'},
    'no serial number': {'serial': ''},
}


@pytest.fixture
def file(tmp_path):
    """Return where a trajectory is; commissioning only looks beside it."""
    return tmp_path / 'trajectory.yaml'


def climb(file, *stages, key=SUBJECT):
    for stage in stages:
        note_stage(file, key, stage, speed=0.1, periods=2, worst_tracking_error=0.0123456789)


@given(tool_speed=st.floats(0.0, 100.0))
def test_slow_is_a_tenth_and_no_faster_than_a_quarter_of_a_metre_a_second(tool_speed):
    """And whoever asks for just that speed asks for a slow run."""
    slow = slow_speed(tool_speed)
    assert 0.0 < slow <= 0.1
    assert slow * tool_speed <= 0.25 * (1.0 + 1e-12)
    assert stage_of(dry_run=False, speed=slow, slow=slow) == SLOW
    assert stage_of(dry_run=False, speed=1.001 * slow, slow=slow) == FULL
    assert stage_of(dry_run=True, speed=1.0, slow=slow) == DRY_RUN


def test_the_stages_in_their_order(file):
    """What is missing is said, and where it is noted."""
    check_stage(file, SUBJECT, DRY_RUN, 0.05)
    for stage, words in (SLOW, 'before a slow run'), (FULL, 'before a run at this speed'):
        with pytest.raises(UnsafeMotionError, match=rf'{words} .*dry run \(dry_run true\)'):
            check_stage(file, SUBJECT, stage, 0.05)
    climb(file, DRY_RUN)
    check_stage(file, SUBJECT, SLOW, 0.05)
    with pytest.raises(UnsafeMotionError, match=r'slow run .*at most 0\.05.*trajectory\.yaml\.r'):
        check_stage(file, SUBJECT, FULL, 0.05)
    climb(file, SLOW)
    check_stage(file, SUBJECT, FULL, 0.05)
    assert completed_stages(file, SUBJECT) == {DRY_RUN, SLOW}


def test_a_slow_run_without_a_dry_run_is_no_way_up(file):
    """Nor is a full one without either, however it came into the record."""
    climb(file, SLOW, FULL)
    for stage in (SLOW, FULL):
        with pytest.raises(UnsafeMotionError, match='dry run'):
            check_stage(file, SUBJECT, stage, 0.1)


@pytest.mark.parametrize('change', OTHERS.values(), ids=OTHERS)
def test_what_is_another_begins_at_the_bottom(file, change):
    """Nor does a copy of the trajectory's file have the stages of the original."""
    climb(file, *STAGES)
    other = replace(SUBJECT, **change)
    assert completed_stages(file, other) == set()
    with pytest.raises(UnsafeMotionError, match='dry run'):
        check_stage(file, other, SLOW, 0.1)
    assert completed_stages(file.with_name('copy.yaml'), SUBJECT) == set()
    # Climbing with the other leaves this one's stages as they are.
    climb(file, DRY_RUN, key=other)
    assert completed_stages(file, SUBJECT) == set(STAGES)
    assert completed_stages(file, other) == {DRY_RUN}


def test_the_record_can_be_read_by_a_person(file):
    """Beside the trajectory, one entry a run, in the order they were made."""
    climb(file, DRY_RUN, SLOW)
    assert record_path(file) == file.with_name('trajectory.yaml.runs')
    content = read_yaml(record_path(file))
    assert content['schema_version'] == 2
    assert [run['stage'] for run in content['runs']] == [DRY_RUN, SLOW]
    assert content['runs'][1] == {
        'sha256': SUBJECT.sha256, 'robot': 'ur5', 'urdf_sha256': SUBJECT.urdf_sha256,
        'kinematics_sha256': SUBJECT.kinematics_sha256,
        'serial': '20195501234', 'payload': [0.0], 'stage': SLOW, 'speed': 0.1, 'periods': 2,
        'worst_tracking_error': 0.012346,
    }
    assert [path.name for path in file.parent.iterdir()] == ['trajectory.yaml.runs']


def edited(file, change):
    content = read_yaml(record_path(file))
    change(content)
    record_path(file).write_text(dump_yaml(content))


DAMAGE = {
    'an unknown stage': lambda content: content['runs'][0].update(stage='higher'),
    'a missing entry': lambda content: content['runs'][0].pop('serial'),
    'a further entry': lambda content: content['runs'][0].update(approved_by='me'),
    'no list of runs': lambda content: content.update(runs={'dry run': True}),
    'a run that is a word': lambda content: content['runs'].append('slow'),
    'another version': lambda content: content.update(schema_version=3),
    'no runs': lambda content: content.pop('runs'),
    'a further key': lambda content: content.update(signature='none'),
}


@pytest.mark.parametrize('damage', DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_record_is_refused_and_not_written_over(file, damage):
    """Neither is anything taken from it, nor is it replaced by one that looks right."""
    climb(file, DRY_RUN, SLOW)
    edited(file, damage)
    before = record_path(file).read_bytes()
    for refused in (
        lambda: check_stage(file, SUBJECT, FULL, 0.1), lambda: climb(file, DRY_RUN)
    ):
        with pytest.raises(DescriptionError, match=r'trajectory\.yaml\.runs'):
            refused()
    assert record_path(file).read_bytes() == before


def test_a_record_of_the_first_version_counts(file):
    """It called a stage a rung; what is added makes it one of this version."""
    climb(file, DRY_RUN)
    content = read_yaml(record_path(file))
    assert content['schema_version'] == 2
    first = [{**run, 'rung': run['stage']} for run in content['runs']]
    for run in first:
        del run['stage']
    record_path(file).write_text(dump_yaml({'schema_version': 1, 'runs': first}))
    assert completed_stages(file, SUBJECT) == {DRY_RUN}
    climb(file, SLOW)
    assert read_yaml(record_path(file))['schema_version'] == 2
    assert completed_stages(file, SUBJECT) == {DRY_RUN, SLOW}
