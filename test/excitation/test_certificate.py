# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What cannot be checked of a motion is said, in certificate and words, and never as 0 %."""

from dataclasses import replace

from builders import joint, robot_urdf, two_link_urdf
import numpy as np
import pytest
from robot_identification.cli.excite_text import describe_certificate
from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.excitation import (
    certify, dump_trajectory, ExtraLimits, find_experiment, find_unchecked, load_experiment,
    load_trajectory, Trajectory, unchecked_from_content,
)
from robot_identification.execution.checks import check_executable, check_nothing_unchecked
from robot_identification.model import make_robot_model, parse_urdf

FULL = ExtraLimits(limits={'acceleration': 8.0})
NO_LIMIT = '<limit effort="0" velocity="0"/>'


def arm(text=None):
    """Return the model of a description, by default of one with everything a URDF can state."""
    return make_robot_model(parse_urdf(text or two_link_urdf(), 'arm'))


def massless():
    """Return an arm of which only the limits are known."""
    return arm(robot_urdf(
        '<link name="ground"/><link name="upper"/><link name="lower"/>',
        joint('one', 'ground', 'upper'), joint('two', 'upper', 'lower', axis=(0, 1, 0)),
    ))


def found(robot, *more):
    """Return (kind, joints) of what cannot be checked."""
    return [(one.kind, one.joints) for one in find_unchecked(robot, *more)]


@pytest.fixture(scope='module')
def experiment():
    return replace(load_experiment(find_experiment('demo')), window={}, collision=False)


def certified(robot, experiment):
    coefficients = 0.02 * np.random.default_rng(1).normal(
        size=(robot.n, experiment.form.n_coefficients)
    )
    return certify(robot, experiment, Trajectory(
        robot.name, robot.joint_names, experiment.form, coefficients, 1, {}
    ), {'optimizer': 'random', 'seed': 0})


BOTH = ('one', 'two')


GAPS = {
    'no effort limit': ({'limit': '<limit lower="-2" upper="2" velocity="3" effort="0"/>'},
                        [('torque', ('one',))]),
    'no velocity limit': ({'limit': '<limit lower="-2" upper="2" effort="3"/>'},
                          [('velocity', ('one',))]),
    'no range': ({'limit': '<limit effort="3" velocity="3"/>'}, [('position', ('one',))]),
    'endless': ({'kind': 'continuous', 'limit': '<limit effort="3" velocity="3"/>'}, []),
    'no limit': ({'limit': NO_LIMIT}, [
        ('torque', ('one',)), ('position', ('one',)), ('velocity', ('one',)),
    ]),
}


@pytest.mark.parametrize(('changes', 'gaps'), GAPS.values(), ids=GAPS)
def test_every_limit_that_lacks_is_found_by_joint(changes, gaps):
    assert found(arm(two_link_urdf(**changes)), FULL) == gaps


def test_the_certificate_says_it_and_counts_only_what_was_checked(experiment, tmp_path):
    """In the file, and after it is read again; the text never has 0 % of an unknown limit."""
    motion = certified(massless(), experiment)
    certificate = motion.certificate
    assert set(certificate['limits']) == {'position', 'velocity'}
    assert certificate['torque_reserve'] is None
    (tmp_path / 't.yaml').write_text(dump_trajectory(motion))
    read = load_trajectory(tmp_path / 't.yaml').certificate['not_checked']
    assert [(one['kind'], one['joints']) for one in read] == [
        ('torque', list(BOTH)), ('acceleration', list(BOTH)),
    ]
    text = describe_certificate(motion)
    assert 'torque: NOT CHECKED, the URDF has no masses' in text
    assert 'acceleration: NOT CHECKED, no limit is known; state `acceleration`' in text
    assert 'collision: NOT CHECKED, the experiment file says' in text
    assert ' 0% ' not in text


def test_a_real_arm_executes_nothing_that_was_not_checked(experiment):
    """A simulated one does: `check_executable` has nothing against it."""
    for robot, words in (
        (massless(), 'torque: NOT CHECKED, the URDF has no masses'),
        (arm(), 'acceleration: NOT CHECKED, no limit is known'),
    ):
        motion = certified(robot, experiment)
        check_executable(robot, motion)
        with pytest.raises(UnsafeMotionError, match=words):
            check_nothing_unchecked(robot, motion)
    full = replace(experiment, limits=FULL.limits)
    check_nothing_unchecked(arm(), certified(arm(), full))
    bare = arm(two_link_urdf(limit='<limit effort="60" velocity="3"/>'))
    with pytest.raises(UnsafeMotionError, match='position of one: NOT CHECKED'):
        check_nothing_unchecked(bare, certified(bare, full))
    check_nothing_unchecked(bare, certified(bare, replace(full, window={'one': (-1.0, 1.0)})))


def test_files_that_do_not_say_it_are_refused_by_the_robot(experiment):
    """Older files have no such entry, and an entry may have been emptied."""
    motion = certified(massless(), experiment)
    older = {key: value for key, value in motion.certificate.items() if key != 'not_checked'}
    for certificate in (older, {**older, 'not_checked': []}):
        with pytest.raises(UnsafeMotionError, match='the URDF has no masses'):
            check_nothing_unchecked(massless(), motion.with_certificate(certificate))
    whole = certified(arm(), replace(experiment, limits=FULL.limits))
    older = {key: value for key, value in whole.certificate.items() if key != 'not_checked'}
    check_nothing_unchecked(arm(), whole.with_certificate(older))


def test_a_file_that_says_it_is_refused_although_the_robot_has_the_limit_now(experiment):
    robot = arm()
    motion = certified(robot, experiment)
    limits = replace(robot.limits, acceleration=np.full(2, 50.0))
    with pytest.raises(UnsafeMotionError, match='certify the motion again'):
        check_nothing_unchecked(replace(robot, limits=limits), motion)


@pytest.mark.parametrize('entry', [None, 3, [3], [{'kind': 'torque'}], [
    {'kind': 'torque', 'joints': 'one', 'reason': ''},
]])
def test_damaged_entries_are_refused(experiment, entry):
    motion = certified(arm(), replace(experiment, limits=FULL.limits))
    damaged = motion.with_certificate({**motion.certificate, 'not_checked': entry})
    with pytest.raises(UnsafeMotionError, match='not_checked'):
        check_nothing_unchecked(arm(), damaged)
    with pytest.raises(DescriptionError, match='not_checked'):
        unchecked_from_content(entry, 'file')
