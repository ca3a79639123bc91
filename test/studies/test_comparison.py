# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Two models of one arm: tests by groups, common parameters, and joints of one size."""

from identified_arms import WarmArm
import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.estimation.uncertainty.covariance import Covariance
from robot_identification.files import dump_yaml
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import FRICTION_LAWS
from robot_identification.model.identified_model import IdentifiedModel, SignalSource
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.registry import load_joint_drives, load_robot
from robot_identification.model.robot_model import gravity_of_mounting
from robot_identification.studies.comparison.common_parameters import common_parameters
from robot_identification.studies.comparison.comparison import compare_models, group_test, holm
from robot_identification.studies.comparison.sliding import compare_joints_of_size
from scipy import stats


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    return WarmArm(tmp_path_factory.mktemp('warm'))


@pytest.fixture(scope='module')
def cold(arm):
    return arm.run(22.0, 1)


@pytest.fixture(scope='module')
def warm(arm):
    return arm.run(36.0, 2)


def found(comparison):
    return {group.group: group for group in comparison.groups}


def made_up(robot, laws, theta=None, *, error=0.01, freedom=50.0, **changes):
    """Return a model of an arm with given base parameters and errors."""
    reduction = reduce_to_base(robot, make_standard_parameters(robot.n, laws, True))
    b = reduction.rank
    return IdentifiedModel(**{
        'robot': robot, 'effort_unit': 'Nm', 'reduction': reduction,
        'theta_base': np.ones(b) if theta is None else theta(reduction),
        'covariance': error**2 * np.eye(b), 'theta_consistent': None, 'consistency_note': '',
        'source': SignalSource(), 'provenance': {},
        'quality': {'degrees_of_freedom': np.full(b, freedom), 'speeds': np.full(robot.n, 1.5),
                    'loads': np.full(robot.n, 8.0)},
        'covariance_kind': 'hac', **changes,
    })


# --- the test ------------------------------------------------------------------------------


def test_cold_and_warm_differ_in_friction_alone(cold, warm):
    """Viscous friction fell by 14 to 28 % for 14 K; nothing else moved."""
    comparison = compare_models(cold, warm)
    groups = found(comparison)
    assert list(groups) == ['inertial', 'coulomb', 'viscous', 'offset', 'rotor']
    assert groups['viscous'].moved
    assert not any(groups[name].moved for name in ('inertial', 'coulomb', 'offset', 'rotor'))
    # The mean of the true changes; a coefficient has an error of some 4 %.
    assert groups['viscous'].change == pytest.approx(-0.20, abs=0.04)
    assert comparison.verdict[0].startswith('inertial parameters agree (p=')
    assert comparison.verdict[2].startswith('viscous friction moved by -')
    assert '(p<1e-6)' in comparison.verdict[2]
    assert comparison.differ


def test_comparing_the_other_way_round_changes_the_sign_alone(cold, warm):
    one, other = compare_models(cold, warm), compare_models(warm, cold)
    for a, b in zip(one.groups, other.groups, strict=True):
        assert a.p_corrected == pytest.approx(b.p_corrected)
        assert [entry.z for entry in a.parameters] == pytest.approx(
            [-entry.z for entry in b.parameters]
        )


def test_false_alarms_with_estimated_covariances():
    """Covariances from few samples: Hotelling's distribution instead of the chi-square one."""
    # Each is estimated from 41 draws, so that there are 40 degrees of freedom; Welch's sum of both
    # has 80. With the chi-square distribution 11 % of the pairs would be called different.
    rng = np.random.default_rng(6)
    root = rng.normal(size=(8, 8))
    alarms = 0
    for _ in range(500):
        mean, matrices = [], []
        for _ in range(2):
            draws = rng.normal(size=(41, 8)) @ root.T
            mean.append(root @ rng.normal(size=8))
            matrices.append(np.cov(draws, rowvar=False))
        both = Covariance('made up', matrices[0] + matrices[1], np.full(8, 80.0),
                          np.zeros(8, bool))
        test, directions, notes = group_test(mean[1] - mean[0], both, range(8))
        assert (directions, notes) == (8, ())
        alarms += test.p_value < 0.05
    assert 0.02 < alarms / 500 < 0.08


def test_the_distance_is_that_of_wald():
    """With exact errors ``d' C^-1 d`` is chi-square, whatever the scale of the parameters."""
    rng = np.random.default_rng(7)
    root = rng.normal(size=(4, 4))
    matrix, difference = root @ root.T, rng.normal(size=4)
    for scale in (np.ones(4), np.array([1e-4, 1.0, 1e3, 1e6])):
        scaled = Covariance(
            'made up', matrix * scale * scale[:, None], np.full(4, 1e6), np.zeros(4, bool)
        )
        test, _, _ = group_test(difference * scale, scaled, range(4))
        expected = stats.chi2.sf(difference @ np.linalg.solve(matrix, difference), 4)
        # A p-value of 2e-4 sees the difference of 1e6 degrees of freedom to infinity by 1.3e-4.
        assert test.p_value == pytest.approx(expected, rel=1e-3)


def test_a_singular_covariance_is_tested_where_it_is_not():
    """One parameter held, and two that are one: two directions of four are left, and said."""
    matrix = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0],
                       [0.0, 0.0, 4.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    covariance = Covariance('made up', matrix, np.full(4, 1e6), np.zeros(4, bool))
    test, directions, notes = group_test(np.array([2.0, 2.0, 2.0, 9.0]), covariance, range(4))
    assert directions == 2
    assert '1 of 4 parameters are left out: no standard error' in notes[0]
    assert '1 of 3 combinations are left out: their covariance is singular' in notes[1]
    # Distances of 2 and 1 standard errors.
    assert test.p_value == pytest.approx(stats.chi2.sf(5.0, 2), rel=1e-3)
    held = Covariance('made up', matrix, np.full(4, 1e6), np.ones(4, bool))
    assert group_test(np.ones(4), held, range(4))[:2] == (None, 0)


def test_holm_corrects_step_by_step():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.5]), [0.04, 0.09, 0.09, 0.5])
    np.testing.assert_allclose(holm([0.9, 0.8]), [1.0, 1.0])
    assert holm([]).size == 0


# --- common parameters ---------------------------------------------------------------------


def test_mountings_share_what_both_show(robots):
    """On a wall two more sums are seen; the others are the same in both (numbers B2)."""
    ur5 = robots['ur5']
    wall = ur5.with_gravity(gravity_of_mounting(np.pi / 2, 0.0, 0.0))
    rng = np.random.default_rng(2)
    standard = rng.normal(size=60)

    def theta(reduction):
        whole = np.zeros(reduction.parameters.size)
        whole[:60] = standard
        return reduction.K @ whole

    one, other = made_up(ur5, (), theta), made_up(wall, (), theta)
    assert other.reduction.rank == one.reduction.rank + 2
    common = common_parameters(one, other)
    assert len(common.names) == one.reduction.rank
    assert 'left out: ' in common.notes[0]
    assert 'not the same sums in both mountings' in common.notes[0]
    np.testing.assert_allclose(
        common.first @ one.theta_base, common.second @ other.theta_base, atol=1e-9
    )


# --- joints of one size --------------------------------------------------------------------


def test_robots_say_their_drives(robots):
    """Numbers E5: the elbow of the UR3 and the wrists of the UR5 are the same joint."""
    ur3, ur5 = load_joint_drives('ur3'), load_joint_drives('ur5')
    assert {ur3['elbow_joint']} == {ur5[f'wrist_{i}_joint'] for i in (1, 2, 3)}
    assert len(set(ur3.values()) & set(ur5.values())) == 1
    assert load_joint_drives('youbot') == {}
    for name in ('ur3', 'ur5', 'ur10', 'ur3e', 'ur5e', 'ur10e', 'ur16e'):
        # Joints of one size have one largest torque.
        drives, limits = load_joint_drives(name), robots[name].limits.effort
        sizes = [drives[joint] for joint in robots[name].joint_names]
        assert len(set(zip(sizes, limits, strict=True))) == len(set(sizes))


def test_a_drive_is_a_name(tmp_path):
    content = {'schema_version': 1, 'name': 'arm', 'urdf': 'ur5.urdf',
               'joints': {'elbow_joint': {'drive': 1}}}
    (tmp_path / 'arm.yaml').write_text(dump_yaml(content))
    for read in (load_robot, load_joint_drives):
        with pytest.raises(DescriptionError, match='drive is 1, it must be the name of a drive'):
            read(str(tmp_path / 'arm.yaml'))


def test_friction_of_one_size_is_compared_on_the_motors_side(robots):
    """``fc = G f_c`` and ``fv = G^2 f_v``: joints of equal motors and other gears are equal."""
    laws = (FRICTION_LAWS['coulomb'](), FRICTION_LAWS['viscous']())

    def theta(coulomb, viscous):
        return lambda reduction: np.array([
            coulomb if name.startswith('fc') else viscous if name.startswith('fv') else 1.0
            for name in reduction.names
        ])

    one = made_up(robots['ur3'], laws, theta(0.03 * 101, 2e-4 * 101**2), error=0.001,
                  temperature=np.full(6, 30.0))
    other = made_up(robots['ur5'], laws, theta(0.03 * 50, 3e-4 * 50**2), error=0.001)
    sizes = {size.size: size for size in compare_joints_of_size(
        [one, other], [load_joint_drives('ur3'), load_joint_drives('ur5')],
        [np.full(6, 101.0), np.full(6, 50.0)],
    )}
    same = sizes['ur_cb3_size_1']
    assert [(joint.robot, joint.joint) for joint in same.joints] == [
        ('ur3', 'elbow_joint'), ('ur5', 'wrist_1_joint'), ('ur5', 'wrist_2_joint'),
        ('ur5', 'wrist_3_joint'),
    ]
    assert same.coulomb_spread == pytest.approx(1.0)
    assert same.coulomb_p == pytest.approx(1.0)
    assert same.viscous_spread == pytest.approx(1.5)
    assert same.viscous_p < 1e-6
    assert same.joints[0].temperature == 30.0
    assert np.isnan(same.joints[1].temperature)
    assert same.joints[1].viscous == pytest.approx(3e-4)
    assert sizes['ur_cb3_size_0'].viscous_p == pytest.approx(1.0)
