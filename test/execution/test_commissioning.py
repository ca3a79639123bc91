# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Each stage is climbed for one file, one arm and one serial number, and never skipped."""

from dataclasses import replace

from hypothesis import given, strategies as st
import pytest
from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.execution.commissioning import (
    check_stage, CommissioningKey, completed_stages, DRY_RUN, FULL, note_stage, record_path, SLOW,
    slow_speed, stage_of, STAGES,
)
from robot_identification.files import dump_yaml, read_yaml

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
