# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Robot descriptions: what is read and what is left out; test_hostile_urdfs: what is refused."""

import re

from builders import joint, link, mixed_urdf, robot_urdf, two_link_urdf
from hypothesis import given, strategies as st
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf, read_urdf
from robot_identification.model.urdf_variants import with_prefix as put_prefix, without_prefix

MASS = 'mass value="1.5"'


def with_first(old, new, text=None):
    """Return the two-link arm with one replacement in its link 'upper' (after 'ground')."""
    text = two_link_urdf() if text is None else text
    head, name, tail = text.partition('<link name="upper">')
    assert old in tail
    return head + name + tail.replace(old, new, 1)


def build(text):
    return make_robot_model(parse_urdf(text, 'arm.urdf'))


def torque(robot):
    """Return an inverse-dynamics torque that every parameter of the arm takes part in."""
    model = robot.pinocchio
    n = robot.n
    return pin.rnea(
        model, model.createData(), np.full(n, 0.3), np.full(n, 0.7), np.full(n, -1.1)
    )


def test_moving_joints_limits_and_links_are_read():
    urdf = parse_urdf(mixed_urdf(), 'arm.urdf')
    assert urdf.name == 'made_up'
    assert [(joint.name, joint.kind) for joint in urdf.joints] == [
        ('turn', 'continuous'), ('slide', 'prismatic'), ('tip', 'revolute'),
    ]
    turn, slide, tip = urdf.joints
    assert turn.position == (-np.inf, np.inf)
    assert (turn.velocity, turn.effort) == (4.0, 80.0)
    assert slide.position == (-0.3, 0.4)
    assert tip.position == (-2.0, 2.0)
    assert urdf.links_without_inertial == ()


def test_default_namespace_is_ignored():
    """Names of URDF have none: parsers of others take `xmlns` for an attribute."""
    plain = two_link_urdf()
    named = plain.replace('<robot ', '<robot xmlns="http://drake.mit.edu" ', 1)
    assert parse_urdf(named, 'arm.urdf') == parse_urdf(plain, 'arm.urdf')


def test_world_need_not_be_a_link():
    """Descriptions for Drake weld their base to a link that they do not have."""
    links = link('base'), link('rod')
    joints = (
        joint('weld', 'world', 'base', 'fixed', limit=''), joint('pivot', 'base', 'rod'),
    )
    found = parse_urdf(robot_urdf(*joints, *links), 'arm.urdf')
    assert found.remarks == (
        "the link 'world' is added: the joint 'weld' hangs on it, and ROS needs it in the file",
    )
    whole = parse_urdf(robot_urdf(*joints, *links, '<link name="world"/>'), 'arm.urdf')
    assert not whole.remarks
    np.testing.assert_array_equal(*(
        torque(make_robot_model(urdf)) for urdf in (found, whole)
    ))


@pytest.mark.parametrize('limit', ['<limit lower="0" upper="0" velocity="0" effort="0"/>', ''])
def test_missing_and_zero_limits_mean_unknown(limit):
    """Zero is written where nobody knows; a joint that may not move would be fixed."""
    first = parse_urdf(two_link_urdf(limit=limit), 'arm.urdf').joints[0]
    assert first.position == (-np.inf, np.inf)
    assert (first.velocity, first.effort) == (np.inf, np.inf)


def test_a_continuous_joint_has_one_position():
    """Pinocchio would give it a cosine and a sine; whole turns must change nothing."""
    robot = build(mixed_urdf())
    model = robot.pinocchio
    assert (model.nq, model.nv) == (3, 3)
    q, rest = np.array([0.4, 0.1, -0.3]), np.zeros(3)
    turned = q + np.array([4.0 * np.pi, 0.0, 0.0])
    np.testing.assert_allclose(
        pin.rnea(model, model.createData(), turned, rest, rest),
        pin.rnea(model, model.createData(), q, rest, rest), atol=1e-9,
    )
    as_revolute = build(mixed_urdf().replace('"continuous"', '"revolute"'))
    np.testing.assert_allclose(torque(robot), torque(as_revolute), atol=1e-12)


def test_masses_and_principal_moments_are_read():
    """Turned inertials have the same principal moments; eigenvalues are exact to round-off."""
    urdf = parse_urdf(mixed_urdf(), 'arm.urdf')
    ground, tower, slider, hand = urdf.links
    assert (ground.joint, ground.moved) == (None, False)
    assert [link.joint for link in (tower, slider, hand)] == ['turn', 'slide', 'tip']
    assert all(link.moved for link in (tower, slider, hand))
    assert (tower.mass, slider.mass, hand.mass) == (4.0, 2.5, 1.2)
    np.testing.assert_allclose(tower.principal_moments, (0.03, 0.05, 0.06), rtol=1e-12)
    full = with_first('ixy="0"', 'ixy="0.005"')
    moments = parse_urdf(full, 'arm.urdf').links[1].principal_moments
    low, high = 0.025 - np.hypot(0.005, 0.005), 0.025 + np.hypot(0.005, 0.005)
    np.testing.assert_allclose(moments, (low, 0.025, high), rtol=1e-12)


def test_what_a_moving_joint_carries_moves():
    """Also through fixed joints, and whatever the order in the file."""
    text = robot_urdf(
        link('tool'), link('hand'), link('arm'), link('base'), link('camera'),
        joint('weld', 'hand', 'tool', 'fixed'), joint('glue', 'arm', 'hand', 'fixed'),
        joint('turn', 'base', 'arm'), joint('post', 'base', 'camera', 'fixed'),
    )
    moved = {link.name: link.moved for link in parse_urdf(text, 'arm.urdf').links}
    assert moved == {
        'tool': True, 'hand': True, 'arm': True, 'base': False, 'camera': False,
    }


def test_mimic_joints_name_their_leaders():
    text = robot_urdf(
        link('ground'), link('a'), link('b'), link('c'), joint('one', 'ground', 'a'),
        joint('two', 'a', 'b', axis=(0, 1, 0), more='<mimic joint="three" multiplier="-2"/>'),
        joint('three', 'a', 'c'),
    )
    urdf = parse_urdf(text, 'arm.urdf')
    assert [(joint.name, joint.mimic) for joint in urdf.mimic_joints] == [('two', 'three')]
    assert [joint.mimic for joint in urdf.joints] == [None, 'three', None]


@pytest.mark.parametrize('spelling', [' 1.5 ', '1_5', '\u0661', '+1.5', '1.5e0', '15e-1'])
def test_a_mass_is_read_or_refused_but_never_lost(spelling):
    """What Python reads as a number, Pinocchio's parser may drop together with the link's body."""
    text = with_first(MASS, f'mass value="{spelling}"')
    try:
        robot = build(text)
    except DescriptionError as error:
        assert 'upper' in str(error)
    else:
        assert prior_inertial_parameters(robot)[0] == float(spelling)


def test_files_are_refused_by_name(tmp_path):
    with pytest.raises(UsageError, match=r'no such file: .*arm\.urdf'):
        read_urdf(tmp_path / 'arm.urdf')
    (tmp_path / 'arm.urdf').write_bytes(b'\xff\xfe\x00')
    with pytest.raises(DescriptionError, match='UTF-8'):
        read_urdf(tmp_path / 'arm.urdf')


# --- a driver's prefix -------------------------------------------------------------------


PREFIXES = st.text('abz_09', min_size=1, max_size=8).map(lambda text: f'{text}_')


def with_prefix(text, prefix):
    """Put a prefix before the names of links and joints, as a driver's xacro does."""
    for pattern in (
        r'(<link name=")', r'(<joint name=")', r'(<parent link=")', r'(<child link=")',
        r'(<mimic joint=")', r'(<gazebo reference=")',
    ):
        text = re.sub(pattern, rf'\g<1>{prefix}', text)
    return text


@given(prefix=PREFIXES)
def test_what_a_driver_puts_before_names_is_taken_off(ur5, prefix):
    """The same text comes out, so the same hash, and a certificate holds for both arms."""
    text = ur5.urdf.text
    changed = with_prefix(text, prefix)
    assert f'"{prefix}elbow_joint"' in changed
    assert without_prefix(changed, prefix) == text
    assert without_prefix(changed, '') == changed


def test_a_prefix_is_put_before_links_and_joints_alone():
    """Not before materials, plugins and what the robot is called; and it can be taken off."""
    text = two_link_urdf().replace('</robot>', (
        '<material name="grey"/><gazebo reference="upper"><plugin name="grey"/></gazebo>'
        '<gazebo><plugin name="grey"/></gazebo></robot>'
    ))
    changed = put_prefix(text, 'left_')
    assert changed == with_prefix(text, 'left_')
    assert 'reference="left_upper"' in changed
    assert without_prefix(changed, 'left_') == text


@pytest.mark.parametrize('prefix', ['a.c_', 'left(', 'x+', '\\d_'])
def test_a_prefix_is_taken_verbatim(prefix):
    """Not as a pattern."""
    text = '<joint name="abc_one"/><joint name="' + prefix + 'two"/>'
    assert without_prefix(text, prefix) == '<joint name="abc_one"/><joint name="two"/>'


def test_single_quotes_and_spaces_are_xml_too():
    text = "<joint name = 'left_one'><parent link='left_base'/><mimic joint = \"left_two\"/>"
    assert without_prefix(text, 'left_') == (
        "<joint name = 'one'><parent link='base'/><mimic joint = \"two\"/>"
    )
