# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What an experiment file may say, and how it is refused where it may not."""

from dataclasses import replace

from builders import joint, link, robot_urdf
from hypothesis import given, settings, strategies as st
from known_models import base_of, pinocchio_torque
from long_tests import some_by_day
import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UnsafeMotionError, UsageError
from robot_identification.excitation import (
    Budget, CRITERIA, design_excitation, extra_limits_from_content, find_experiment, Laboratory,
    load_experiment, make_generic_experiment, motion_limits, Obstacle, plan_study, slab,
    Trajectory, USUAL_HOME, usual_window,
)
from robot_identification.excitation.experiment import (
    FrameBox, FrameSpeed, SineTimesCosine, SumOfJoints,
)
from robot_identification.excitation.experiment_file import extra_limits_to_content
from robot_identification.excitation.experiment_plan import home_pose, MARGINS
from robot_identification.excitation.feasibility import Feasibility
from robot_identification.execution.checks import check_nothing_unchecked
from robot_identification.execution.safety import check_lab_margins
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model import (
    load_robot, make_robot_model, Motion, observation_matrix, parse_urdf,
)

MINIMAL = {'schema_version': 1, 'trajectory': {'form': 'fourier', 'harmonics': 3}}


def load(tmp_path, **changes):
    path = tmp_path / 'experiment.yaml'
    path.write_text(dump_yaml({**MINIMAL, **changes}))
    return load_experiment(path)


def test_the_shipped_experiment_is_found_by_name_and_by_path():
    path = find_experiment('demo')
    assert path == find_experiment('demo.yaml') == find_experiment(str(path))
    assert load_experiment(path).form.harmonics == 5
    with pytest.raises(UsageError, match=r': demmo; did you mean demo\? shipped are .*demo'):
        find_experiment('demmo')


def test_cells_are_read(tmp_path):
    """Boxes by name; off is a decision of its own."""
    experiment = load(tmp_path, clearance=0.05, obstacles={
        'table': {'size': [2, 1, 0.1], 'xyz': [0, 0, -0.06]},
    })
    assert (experiment.collision, experiment.clearance) == (True, 0.05)
    table, = experiment.obstacles
    assert table == Obstacle('table', (2.0, 1.0, 0.1), (0.0, 0.0, -0.06), (0.0, 0.0, 0.0))
    assert load(tmp_path, collision='off').collision is False
    assert load(tmp_path).clearance == 0.02


def test_further_limits_are_read(tmp_path):
    """Numbers for every joint or by joint; null and absence leave a side open."""
    experiment = load(
        tmp_path, jerk=100, limits={'velocity': 2, 'torque': {'a': 3.5}}, bounds='conservative',
        workspace={'tool0': {'lower': [None, -1, 0.05]}, 'elbow': {'upper': [1, 1, 1]}},
        tool_speed={'frame': 'tool0', 'limit': 0.25},
        rules=[
            {'kind': 'sum', 'joints': {'a': 1, 'b': -1.5}, 'upper': 2.0},
            {'kind': 'sine_cosine', 'sine': 'a', 'cosine': 'b', 'at_most': 0.15},
        ],
    )
    inf = float('inf')
    assert (experiment.jerk, experiment.bounds) == (100.0, 'conservative')
    assert experiment.limits == {'velocity': 2.0, 'torque': {'a': 3.5}}
    assert experiment.workspace == (
        FrameBox('tool0', (-inf, -1.0, 0.05), (inf, inf, inf)),
        FrameBox('elbow', (-inf, -inf, -inf), (1.0, 1.0, 1.0)),
    )
    assert experiment.tool_speed == FrameSpeed('tool0', 0.25)
    assert experiment.rules == (
        SumOfJoints({'a': 1.0, 'b': -1.5}, 0.0, -inf, 2.0), SineTimesCosine('a', 'b', 0.15)
    )
    assert load(tmp_path, jerk={'a': 5.0}).jerk == {'a': 5.0}
    # Written and read again, as in a certificate, they are the same.
    content = extra_limits_to_content(experiment.extra_limits)
    path = tmp_path / 'again.yaml'
    path.write_text(dump_yaml(content))
    again = extra_limits_from_content(read_yaml(path), 'again')
    assert vars(again) == vars(experiment.extra_limits)


WRONG = {
    'no version': ({'schema_version': None}, 'schema_version is missing'),
    'an unknown key': ({'margin': {}}, 'unknown key margin'),
    'an empty window': ({'window': {'a': [1.0, 1.0]}}, 'window of a'),
    'a mounting in degrees': ({'mounting': [90, 0, 0]}, r'experiment\.yaml: .* write 90deg'),
    'gravity and mounting': (
        {'gravity': [0.0, 0.0, -9.81], 'mounting': [0.0] * 3}, 'gravity or mounting, not both'
    ),
    'off, and obstacles': ({'collision': 'off', 'clearance': 0.1}, 'collision is off'),
    'a negative clearance': ({'clearance': -0.01}, 'clearance is -0.01 m'),
    'a workspace without sides': ({'workspace': {'tool0': {}}}, 'every side is open'),
    'an unknown rule': ({'rules': [{'kind': 'product'}]}, "rule 1: kind is 'product', known are"),
    'conservative splines': (
        {'trajectory': {'form': 'via_points'}, 'bounds': 'conservative'}, 'the form is via_points'
    ),
}


@pytest.mark.parametrize(('changes', 'message'), WRONG.values(), ids=WRONG)
def test_a_wrong_experiment_is_refused_by_name(tmp_path, changes, message):
    """When it is read, not when the search is half done."""
    with pytest.raises(DescriptionError, match=message):
        load(tmp_path, **changes)


@pytest.fixture(scope='module')
def ur5e():
    return load_robot('ur5e')


@pytest.mark.parametrize(
    ('side', 'axis', 'sign'),
    [('front', 0, 1), ('back', 0, -1), ('left', 1, 1), ('right', 1, -1), ('above', 2, 1),
     ('below', 2, -1)],
)
def test_a_slab_begins_at_its_distance(side, axis, sign):
    """Its near face is there, and it is wide in the other two directions."""
    found = slab('wall', side, 0.7)
    size, xyz = np.array(found.size), np.array(found.xyz)
    near = xyz[axis] - sign * 0.5 * size[axis]
    assert near == pytest.approx(sign * 0.7, abs=1e-12)
    others = [k for k in range(3) if k != axis]
    assert np.all(size[others] >= 6.0)
    np.testing.assert_array_equal(xyz[others], 0.0)


def test_margins_are_those_of_a_real_arm(ur5e):
    """A motion at the margins of the plan is one that the runner accepts, one beyond is not."""
    experiment = plan_study(ur5e, Laboratory(window=usual_window(ur5e)))[1].experiment
    assert MARGINS == {**vars(experiment.margins)}
    form = experiment.form
    coefficients = np.zeros((ur5e.n, form.n_coefficients))
    # Wrist 3, about whose axis there is hardly any torque.
    coefficients[-1, 1] = 1.0
    fastest = np.abs(form.sample(coefficients, np.linspace(0.0, 10.0, 20_001))[1]).max()
    for share, accepted in ((0.999 * MARGINS['velocity'], True), (0.81, False)):
        scale = share * ur5e.limits.velocity[-1] / fastest
        trajectory = Trajectory(
            ur5e.name, ur5e.joint_names, form, scale * coefficients, 1, {}
        )
        if accepted:
            check_lab_margins(ur5e, trajectory)
        else:
            with pytest.raises(UnsafeMotionError, match=r'80% of the speeds'):
                check_lab_margins(ur5e, trajectory)


# --- an arm without an experiment file ---------------------------------------------------


BOX = '<collision><geometry><box size="0.05 0.05 0.05"/></geometry></collision>'


def arm(limits, kinds=None, shapes=True):
    """Return an arm in a row whose joints have these limit elements."""
    kinds = kinds or ['revolute'] * len(limits)
    parts = [link('base')]
    for k, (limit, kind) in enumerate(zip(limits, kinds, strict=True)):
        body = link(f'body{k}', 1.0)
        parts.append(body.replace('</link>', f'{BOX if shapes else ""}</link>'))
        parts.append(joint(
            f'joint{k}', 'base' if k == 0 else f'body{k - 1}', f'body{k}', kind=kind,
            axis=((0, 0, 1), (0, 1, 0))[k % 2], xyz=(0, 0, 0.3), limit=limit,
        ))
    return make_robot_model(parse_urdf(robot_urdf(*parts), 'the test'))


@settings(deadline=None, max_examples=60)
@given(st.lists(
    st.tuples(
        st.floats(-7.0, 3.0), st.floats(0.02, 9.0), st.sampled_from([0.0, 0.05, 1.0, 3.0, 12.0])
    ), min_size=1, max_size=4,
))
def test_any_limits_leave_room_and_are_kept(ranges):
    """Windows lie within the limits less the margin, are at most a turn wide, and not empty."""
    robot = arm([
        f'<limit lower="{low}" upper="{low + span}" effort="500" velocity="{speed}"/>'
        for low, span, speed in ranges
    ])
    made = make_generic_experiment(robot)
    limits = motion_limits(robot, made.experiment)
    assert np.all(limits.lower < limits.upper)
    assert np.all(limits.lower >= robot.limits.lower) and np.all(
        limits.upper <= robot.limits.upper
    )
    assert np.all(limits.upper - limits.lower <= 2.0 * np.pi + 1e-5), 'rounded to 1e-6'
    assert np.all(np.isfinite(limits.velocity)) and np.all(np.isfinite(limits.acceleration))
    # The base harmonic can sweep what it is to sweep without being faster than the margin.
    period = made.experiment.form.base_period
    assert 10.0 <= period <= 60.0
    unstated = [not np.isfinite(limit) for limit in robot.limits.velocity]
    assert any('velocity' in note for note in made.notes) == any(unstated)


@pytest.mark.parametrize('kind', ['continuous', 'prismatic', 'revolute'])
def test_an_arm_that_states_nothing_gets_a_motion(kind):
    """What was chosen for it is kept and is listed: a real arm does not execute it."""
    limit = '<limit lower="-0.3" upper="0.3" effort="0" velocity="0"/>'
    robot = arm([limit, limit], ['revolute', kind], shapes=False)
    made = make_generic_experiment(robot)
    trajectory = design_excitation(robot, made.experiment, seed=0, budget=Budget(5))
    motion = trajectory.sample(np.linspace(0.0, trajectory.duration, 2000))
    assert np.all(np.abs(motion.dq) <= motion_limits(robot, made.experiment).velocity + 1e-9)
    listed = {entry['kind'] for entry in trajectory.certificate['not_checked']}
    assert {'velocity', 'acceleration', 'torque', 'collision'} <= listed
    with pytest.raises(UnsafeMotionError, match='not checked in full'):
        check_nothing_unchecked(robot, trajectory)


# Some looks, and the descent that passes this number.
ONE_DESCENT = Budget(20)


@pytest.fixture(scope='module')
def experiment():
    return load_experiment(find_experiment('demo'))


@pytest.fixture(scope='module')
def alone(experiment):
    """Return the shipped experiment where nothing is within reach, which takes less time."""
    return replace(experiment, collision=False)


@pytest.fixture(scope='module')
def designed(ur5, experiment):
    return design_excitation(ur5, experiment, seed=1, budget=ONE_DESCENT)


@pytest.mark.parametrize('name', some_by_day(['ur5e', 'ur5', 'ur10'], 1))
def test_limits_are_kept_between_the_samples_too(robots, alone, name):
    """Ten times denser than the certificate's grid, with torques by Pinocchio."""
    robot, experiment = robots[name], alone
    trajectory = design_excitation(robot, experiment, seed=3, budget=ONE_DESCENT)
    motion = trajectory.sample(np.linspace(0.0, 10.0, 100_001)[::3])
    # Between samples 1e-4 s apart nothing exceeds the grid's maximum by more than 1e-6 of it.
    slack = 1.0 + 1e-6
    limits, margins = robot.limits, experiment.margins
    for index, name in enumerate(robot.joint_names):
        low, high = experiment.window[name]
        assert motion.q[:, index].min() >= low - 1e-6
        assert motion.q[:, index].max() <= high + 1e-6
    assert np.all(np.abs(motion.dq) <= slack * margins.velocity * limits.velocity)
    assert np.all(np.abs(motion.ddq) <= slack * margins.acceleration * limits.acceleration)
    tau = pinocchio_torque(
        robot.pinocchio, Motion(motion.q[::20], motion.dq[::20], motion.ddq[::20])
    )
    assert np.all(np.abs(tau) <= slack * margins.torque * limits.effort)
    moving = np.ptp(motion.q, axis=0)
    assert np.all(moving > 0.1), 'and every joint moves'


def test_certificate_is_what_was_measured(ur5, experiment, designed):
    """Criteria at 125 Hz and the worst use of each limit, computed again from the file."""
    certificate = designed.certificate
    reduction = base_of(ur5, experiment.friction, rotors=True)
    # The motion of ten seconds, and its rests and slow reversals.
    assert designed.duration == pytest.approx(15.6)
    t = np.arange(0.0, designed.duration + 1e-9, 0.008)
    W = observation_matrix(ur5, reduction.parameters, designed.sample(t))
    for name, value in certificate['criteria_dense'].items():
        # Printed with six digits; one sample more or less is another 1e-4.
        assert CRITERIA[name](W[:, reduction.independent]) == pytest.approx(value, rel=1e-3)
    assert certificate['base_parameters'] == reduction.rank == 58
    assert certificate['urdf_sha256'] == ur5.urdf_sha256
    assert certificate['search']['seed'] == 1
    motion = designed.sample(np.linspace(0.0, designed.duration, 156_001))
    found = certificate['limits']['velocity']
    index = ur5.joint_names.index(found['joint'])
    # Printed to 1e-6. Extrema are searched for: samples 1 ms apart would miss one by up to 5e-6.
    assert np.abs(motion.dq[:, index]).max() == pytest.approx(abs(found['value']), abs=1e-6)
    assert found['limit'] == pytest.approx(0.6 * ur5.limits.velocity[index], abs=1e-6)
    assert 0.5 < max(use['share'] for use in certificate['limits'].values()) <= 1.0


def test_home_is_usual_where_that_is_clear(ur5e):
    """Among obstacles it is another pose, which is clear of them."""
    window = usual_window(ur5e)
    assert home_pose(ur5e, Laboratory(window=window)) == USUAL_HOME
    # The tool of the usual pose is right in front of the arm, half a metre away.
    blocked = Laboratory(
        window=window, obstacles=(slab('table', 'below', 0.01), slab('wall', 'front', 0.35))
    )
    home = home_pose(ur5e, blocked)
    assert home != USUAL_HOME
    motion = plan_study(ur5e, blocked)[-1]
    collision = Feasibility(ur5e, motion.experiment).collision
    pose = np.array([[home[joint] for joint in ur5e.joint_names]])
    assert collision.closest(pose, np.zeros(1)).distance > motion.experiment.clearance
