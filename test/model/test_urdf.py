# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Robot descriptions: what is read and what is left out; test_hostile_urdfs: what is refused."""

import re

from builders import joint, link, mixed_urdf, robot_urdf, run_command, two_link_urdf
from hypothesis import given, strategies as st
import numpy as np
import pinocchio as pin
import pytest
from robot_identification import load_robot
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.model import SeveralArmsError
from robot_identification.model.arm_choice import FEWEST_ARM_JOINTS
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf
from robot_identification.model.urdf_elements import NEGLIGIBLE_MASS, NEGLIGIBLE_MOMENT
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


AXES = ((0, 0, 1), (0, 1, 0), (1, 0, 0))
BROKEN = '<inertia ixx="0.1" iyy="0.1" izz="0.9" ixy="0" ixz="0" iyz="0"/>'
SOUND = '<inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0" ixz="0" iyz="0"/>'


def chain(count, prefix='', root='ground', **last):
    """Return links and joints of a chain of moving joints; `last` changes its last joint."""
    names = [root, *(f'{prefix}l{k}' for k in range(1, count + 1))]
    return [
        *(link(name) for name in names[1:]),
        *(joint(f'{prefix}j{k + 1}', names[k], names[k + 1], **{
            'axis': AXES[k % 3], **(last if k == count - 1 else {}),
        }) for k in range(count)),
    ]


def arm_of(*elements, **options):
    return make_robot_model(parse_urdf(robot_urdf(link('ground'), *elements), 'arm'), **options)


def broken(name):
    return link(name).replace(SOUND, BROKEN)


def doctor(text, folder, *options):
    path = folder / 'arm.urdf'
    path.write_text(text)
    return run_command('doctor', path, *options)


def test_a_bad_link_on_another_branch_is_no_obstacle(tmp_path):
    """The arm is that of a file without the branch, and `doctor` says what does not matter."""
    branch = [link('neck'), joint('tilt', 'ground', 'neck'), broken('lamp'),
              joint('pan', 'neck', 'lamp')]
    robot = arm_of(*chain(6), *branch)
    assert robot.joint_names == tuple(f'j{k}' for k in range(1, 7))
    np.testing.assert_array_equal(
        prior_inertial_parameters(robot), prior_inertial_parameters(arm_of(*chain(6)))
    )
    found = doctor(robot_urdf(link('ground'), *chain(6), *branch), tmp_path)
    assert found.code == 0
    assert 'without effect on the arm: ' in found.out
    assert "link 'lamp' is no rigid body" in found.out


CARRIED = {
    'of the chain': [broken('l3') if one.startswith('<link name="l3"') else one
                     for one in chain(6)],
    'on a finger': [*chain(6), broken('tip'), link('other'),
                    joint('grip', 'l6', 'tip'), joint('grasp', 'l6', 'other')],
}


@pytest.mark.parametrize('elements', CARRIED.values(), ids=CARRIED)
def test_a_bad_link_that_the_arm_carries_is_named_with_two_ways_out(elements):
    """Its inertia is part of the answer, wherever it hangs."""
    with pytest.raises(DescriptionError, match=r'no rigid body.*correct its <inertial>, or leave'):
        arm_of(*elements)


def test_a_bad_finger_on_a_hand_that_makes_up_for_it_is_let_pass(tmp_path):
    """Together they are a body, which is all that moves; a remark names the finger."""
    finger = link('tip', 0.1, principal=(0, 0, 0.002))
    elements = [*chain(6), finger, joint('mount', 'l6', 'tip', 'fixed')]
    robot = arm_of(*elements)
    assert robot.remarks == (
        'link tip alone has an inertia that no rigid body has; with the links that move with it '
        'after j6 it is that of one',
    )
    last = robot.pinocchio.inertias[6]
    assert last.mass == pytest.approx(1.6)
    found = doctor(robot_urdf(link('ground'), *elements), tmp_path)
    assert found.code == 0
    assert robot.remarks[0] in found.out
    assert 'without effect' not in found.out


@pytest.mark.parametrize(('excess', 'refused'), [(0.9, False), (1.1, True)])
def test_frames_with_made_up_inertia_are_taken_without(excess, refused):
    """Up to NEGLIGIBLE_MASS and NEGLIGIBLE_MOMENT, and no more; a remark names the link."""
    moment, mass = excess * NEGLIGIBLE_MOMENT, excess * NEGLIGIBLE_MASS
    frame = link('frame', mass, principal=(0, 0, moment))
    text = robot_urdf(link('ground'), *chain(4), frame, joint('weld', 'l4', 'frame', 'fixed'))
    urdf = parse_urdf(text, 'arm')
    assert bool(urdf.faults) == refused
    if refused:
        return
    remark, = urdf.remarks
    assert 'link frame is taken as without inertia' in remark
    np.testing.assert_array_equal(
        prior_inertial_parameters(make_robot_model(urdf)),
        prior_inertial_parameters(arm_of(*chain(4))),
    )


def test_a_frame_with_moments_and_no_mass_is_taken_without():
    """Whatever they are: nothing is known of it. A link that a joint moves is refused."""
    flange = link('flange', 0, principal=(0.1, 0.1, 0.1))
    elements = [*chain(4), flange, joint('weld', 'l4', 'flange', 'fixed')]
    robot = arm_of(*elements)
    assert robot.urdf.remarks[0].startswith(
        'link flange is taken as without inertia: it has no mass')
    np.testing.assert_array_equal(
        prior_inertial_parameters(robot), prior_inertial_parameters(arm_of(*chain(4)))
    )
    with pytest.raises(DescriptionError, match="link 'flange' is no rigid body: it has no mass"):
        arm_of(*chain(4), flange, joint('spin', 'l4', 'flange', 'continuous'))


@pytest.mark.parametrize('axis', AXES)
def test_a_first_link_with_one_moment_is_completed(axis):
    """A vendor states the moment about the first axis alone: no motion shows the others."""
    principal = tuple(0.9 * value for value in axis)
    elements = [link('l1', principal=principal), *chain(4)[1:]]
    elements[4] = elements[4].replace('xyz="0 0 1"', f'xyz="{" ".join(map(str, axis))}"')
    text = robot_urdf(link('ground'), *elements)
    urdf = parse_urdf(text, 'arm')
    assert urdf.faults == ()
    assert 'link l1 has an inertia that no rigid body has' in urdf.remarks[0]
    first = make_robot_model(urdf).pinocchio.inertias[1].inertia
    assert np.array(axis) @ first @ np.array(axis) == pytest.approx(0.9, rel=1e-12)
    low, middle, high = np.linalg.eigvalsh(first)
    assert low > 0.0
    assert high <= (low + middle) * (1.0 + 1e-6)


def test_blanks_and_exponents_are_numbers():
    """As CAD programs write them; the text that others read has none."""
    text = robot_urdf(link('ground'), *chain(4))
    odd = text.replace('value="1.5"', 'value=" 1.5e+00 "').replace(
        'xyz="0 0 0.3"', 'xyz="0  0\n3E-1 "').replace('effort="60"', 'effort="6e1 "')
    assert odd != text
    urdf = parse_urdf(odd, 'arm')
    assert (urdf.faults, urdf.remarks) == ((), ())
    np.testing.assert_allclose(
        prior_inertial_parameters(make_robot_model(urdf)),
        prior_inertial_parameters(make_robot_model(parse_urdf(text, 'arm'))), rtol=1e-15,
    )
    assert parse_urdf(urdf.text, 'again') == urdf


@pytest.mark.parametrize('kind', ['floating', 'planar'])
def test_a_free_root_is_a_base_that_stands(kind, tmp_path):
    """The arm on a vehicle that does not drive; in an arm such a joint is refused."""
    root = [link('trunk'), joint('free', 'ground', 'trunk', kind)]
    text = robot_urdf(link('ground'), *root, *chain(5, root='trunk'))
    robot = make_robot_model(parse_urdf(text, 'arm'))
    assert robot.joint_names == tuple(f'j{k}' for k in range(1, 6))
    found = doctor(text, tmp_path)
    assert found.code == 0
    assert 'joint free is floating or planar: the arm is taken to stand' in found.out


@pytest.mark.parametrize('value', ['0', '1e9', '1e5', 'inf', '1e16'])
def test_limits_that_nothing_reaches_are_not_stated(value, tmp_path):
    """`doctor` says that torque cannot be checked, and commands that need no limit go on."""
    limit = f'<limit lower="-1e9" upper="1e9" velocity="{value}" effort="{value}"/>'
    text = robot_urdf(link('ground'), *chain(4, limit=limit))
    robot = make_robot_model(parse_urdf(text, 'arm'))
    assert np.isinf(robot.limits.effort).tolist() == [False] * 3 + [True]
    assert np.isinf(robot.limits.velocity).tolist() == [False] * 3 + [True]
    assert np.isinf(robot.limits.upper).tolist() == [False] * 3 + [True]
    found = doctor(text, tmp_path)
    assert found.code == 0
    assert 'no effort limit of j4: torque cannot be checked' in found.out


def test_what_is_neither_link_nor_joint_is_left_out():
    """Transmissions, simulators' elements and materials, with whatever is in them."""
    more = (
        '<transmission name="t"><joint name="j1"/><mechanicalReduction>x</mechanicalReduction>'
        '</transmission><gazebo reference="l1"><mu1>nan</mu1></gazebo><ros2_control name="c"/>'
        '<material name="m"><color rgba="a b c d"/></material>'
        # Parsers of URDF know no namespaces: prefixes come without a declaration.
        '<sim:contact a:b="1"><sim:mu>0.3</sim:mu></sim:contact>'
    )
    plain = robot_urdf(link('ground'), *chain(4))
    stripped = parse_urdf(plain.replace('</robot>', f'{more}</robot>'), 'arm')
    assert stripped == parse_urdf(plain, 'arm')
    # The text in a model file is stripped again when it is read; its hash must not change.
    assert parse_urdf(stripped.text, 'arm') == stripped
    inside = robot_urdf(link('ground'), *chain(4, more='<dynamics damping="3" friction="2"/>'))
    assert parse_urdf(inside, 'arm') == stripped


def test_a_link_on_no_joint_is_left_out():
    """As exporters leave them behind; a second tree is refused (test_hostile_urdfs.py)."""
    urdf = parse_urdf(robot_urdf(link('ground'), link('alone'), *chain(4)), 'arm')
    assert 'alone' not in [one.name for one in urdf.links]
    assert urdf.remarks == ('link alone is on no joint and left out',)


FINGERS = {
    'mimic': [link('left'), link('right'), joint('open', 'l6', 'left', 'prismatic'), joint(
        'follow', 'l6', 'right', 'prismatic', more='<mimic joint="open"/>')],
    'a fork': [link('left'), link('right'), joint('open', 'l6', 'left', 'prismatic'),
               joint('follow', 'l6', 'right', 'prismatic')],
    'a hand': [one for k in range(3) for one in chain(4, f'f{k}', 'l6')],
}


@pytest.mark.parametrize('fingers', FINGERS.values(), ids=FINGERS)
def test_fingers_are_held_fixed_and_it_is_said(fingers, tmp_path):
    """Merged with the link that carries them: the mass of the arm is that with them."""
    robot = arm_of(*chain(6), *fingers)
    assert robot.joint_names == tuple(f'j{k}' for k in range(1, 7))
    assert robot.remarks[0].startswith('held fixed: ')
    assert sum('held fixed' in remark for remark in robot.remarks) == 1
    masses = prior_inertial_parameters(robot)[::10]
    count = sum(one.startswith('<link') for one in fingers)
    assert masses[-1] == pytest.approx(1.5 * (1 + count))
    found = doctor(robot_urdf(link('ground'), *chain(6), *fingers), tmp_path)
    assert found.code == 0
    assert robot.remarks[0] in found.out


SRDF = (
    '<robot name="{}"><group name="hand"><joint name="{}"/></group>'
    '<end_effector name="e" parent_link="l5" group="hand"/></robot>'
)


@pytest.mark.parametrize(('name', 'joint_name', 'moving'), [
    ('made_up', 'j6', 5), ('arm', 'j6', 5), ('made_up', 'j2', 6), ('made_up', 'nobody', 6),
])
def test_a_single_finger_is_known_from_the_srdf(name, joint_name, moving, tmp_path):
    """By the robot's name or the file's; what no arm of four joints carries is no finger."""
    (tmp_path / 'urdf').mkdir()
    (tmp_path / 'srdf').mkdir()
    path = tmp_path / 'urdf' / 'arm.urdf'
    path.write_text(robot_urdf(link('ground'), *chain(6)))
    file = tmp_path / 'srdf' / ('arm.srdf' if name == 'arm' else 'other.srdf')
    file.write_text(SRDF.format(name, joint_name))
    (tmp_path / 'srdf' / 'broken.srdf').write_text('<robot')
    assert load_robot(urdf=path).n == moving


def test_several_arms_are_listed_ready_to_paste(tmp_path):
    """Each line is one that the command takes; `doctor` looks at all of them."""
    text = robot_urdf(
        link('ground'), link('trunk'), joint('lift', 'ground', 'trunk', 'prismatic'),
        *chain(7, 'left_', 'trunk'), *chain(7, 'right_', 'trunk'), *chain(2, 'head_', 'trunk'),
    )
    path = tmp_path / 'arm.urdf'
    path.write_text(text)
    used = run_command('base-parameters', '--urdf', path)
    assert used.code == 2
    lines = [line.split() for line in used.err.splitlines() if line.startswith('  --joints')]
    assert [line[1:] for line in lines] == [
        [f'{side}_j{k}' for k in range(1, 8)] for side in ('left', 'right')
    ]
    assert run_command('base-parameters', '--urdf', path, *lines[0]).code == 0
    found = run_command('doctor', path)
    assert found.code == 0
    assert all(' '.join(line) in found.out for line in lines)
    with pytest.raises(SeveralArmsError) as caught:
        load_robot(urdf=path)
    assert isinstance(caught.value, UsageError)
    assert len(caught.value.arms) == 2


def test_a_link_may_have_the_name_of_a_locked_joint():
    """Pinocchio tells frames by their names: the arm is the same as by other names."""
    fingers = FINGERS['a fork']
    same = [one.replace('"left"', '"open"') for one in fingers]
    robot, other = arm_of(*chain(6), *same), arm_of(*chain(6), *fingers)
    q, dq, ddq = np.random.default_rng(0).normal(size=(3, 6))
    torques = [
        pin.rnea(one.pinocchio, one.pinocchio.createData(), q, dq, ddq) for one in (robot, other)
    ]
    np.testing.assert_allclose(*torques, rtol=1e-12)


def test_elements_of_a_topic_are_not_expanded():
    """Xacro is a program: files are trusted, what comes over a topic is not."""
    text = two_link_urdf().replace(
        '<robot ', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" '
    ).replace('</robot>', '<xacro:arm/></robot>')
    with pytest.raises(DescriptionError, match='<xacro:arm> is not expanded'):
        parse_urdf(text, 'robot_description')


@pytest.mark.parametrize('count', [1, FEWEST_ARM_JOINTS - 1])
def test_branches_too_short_for_an_arm_are_held_fixed(count):
    """Wheels and heads beside the only arm, whose torso belongs to it."""
    robot = arm_of(
        link('trunk'), joint('lift', 'ground', 'trunk', 'prismatic'),
        *chain(6, root='trunk'), *chain(count - 1, 'head_', 'trunk'), *chain(1, 'wheel_'),
    )
    assert robot.joint_names == ('lift', *(f'j{k}' for k in range(1, 7)))
    assert 'wheel_j1' in robot.locked
    assert 'no part of the arm' in robot.remarks[0]


@pytest.mark.parametrize('prefix', ['a.c_', 'left(', 'x+', '\\d_'])
def test_a_prefix_is_taken_verbatim(prefix):
    """Not as a pattern."""
    text = '<joint name="abc_one"/><joint name="' + prefix + 'two"/>'
    assert without_prefix(text, prefix) == '<joint name="abc_one"/><joint name="two"/>'
