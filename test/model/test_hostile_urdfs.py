# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Broken and hostile descriptions: refused by name, or used with a warning that names what is odd.

The kinds of faults that are refused are listed in docs/descriptions.md.
"""

from typing import NamedTuple

from builders import joint, link, robot_urdf, run_command, two_link_urdf
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from others_descriptions import BY_DAY, BY_NIGHT, described, INSTALLED_ROBOTS
import pytest
from robot_identification.model.urdf import MAXIMUM_DEPTH, MAXIMUM_LINKS, parse_urdf, read_urdf
from robot_identification.model.urdf_elements import INERTIA_ROUNDING
from robot_identification.model.xacro import MAXIMUM_URDF_CHARACTERS

MASS = '<mass value="1.5"/>'
INERTIA = '<inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0" ixz="0" iyz="0"/>'
CENTRE = '<origin xyz="0.02 -0.03 0.1" rpy="0 0 0"/>'
PLACE = '<origin xyz="0 0 0.3" rpy="0 0 0"/>'


class Case(NamedTuple):
    """A description, the part of the message that the document holds, and more of it."""

    title: str
    text: str
    message: str
    more: tuple[str, ...] = ()


def upper(old, new):
    """Return the two-link arm with one replacement in its link 'upper' (after 'ground')."""
    head, name, tail = two_link_urdf().partition('<link name="upper">')
    assert old in tail
    return head + name + tail.replace(old, new, 1)


def with_mass(value):
    return upper(MASS, f'<mass value="{value}"/>')


def with_inertia(ixx=0.02, iyy=0.03, izz=0.025, ixy=0, ixz=0, iyz=0, name='upper'):
    head, place, tail = two_link_urdf().partition(f'<link name="{name}">')
    return head + place + tail.replace(
        INERTIA, f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="{ixy}" ixz="{ixz}" '
                 f'iyz="{iyz}"/>', 1)


def with_limit(**values):
    """Return the arm whose joint 'one' has these limits."""
    stated = {'lower': -1, 'upper': 1, 'velocity': 2, 'effort': 3, **values}
    attributes = ' '.join(f'{key}="{value}"' for key, value in stated.items())
    return two_link_urdf(limit=f'<limit {attributes}/>')


def with_shape(shape, kind='collision', origin=''):
    return upper('</inertial>',
                 f'</inertial><{kind}>{origin}<geometry>{shape}</geometry></{kind}>')


def with_mesh(address, kind='collision'):
    return with_shape(f'<mesh filename="{address}"/>', kind)


def chain(moving, fixed=0):
    count = moving + fixed
    return robot_urdf(
        *(link(f'l{i}') for i in range(count + 1)),
        *(joint(f'j{i}', f'l{i}', f'l{i + 1}', 'revolute' if i < moving else 'fixed')
          for i in range(count)),
    )


def with_kind_of_two(kind):
    head, name, tail = two_link_urdf().partition('<joint name="two"')
    assert 'type="revolute"' in tail
    return head + name + tail.replace('type="revolute"', f'type="{kind}"', 1)


def with_mimic(mimic, other=''):
    """Return an arm of two joints that may follow others."""
    return robot_urdf(
        link('ground'), link('a'), link('b'), joint('one', 'ground', 'a', more=other),
        joint('two', 'a', 'b', axis=(0, 1, 0), more=mimic),
    )


ENTITIES = '<!DOCTYPE robot [<!ENTITY a0 "ha"> {}]>'.format(
    ' '.join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
)
OF_UPPER = "link 'upper'"

CASES = (
    Case('Mass `nan`', with_mass('nan'), "mass of link 'upper' is 'nan'"),
    Case('Mass `inf`', with_mass('inf'), "mass of link 'upper' is 'inf'"),
    Case('Mass with a comma', with_mass('1,5'), "mass of link 'upper' is '1,5'"),
    Case('Mass that overflows', with_mass('1e400'), "mass of link 'upper' is '1e400'"),
    Case('Mass of no robot', with_mass('1e99'), "mass of link 'upper' is '1e99'", ('SI units',)),
    Case('Mass negative', with_mass('-1.5'), "mass of link 'upper' is -1.5 kg"),
    Case('Mass empty', with_mass(''), "mass of link 'upper' is ''"),
    Case('Mass without value', upper(MASS, '<mass kg="1"/>'), "mass of link 'upper' is None"),
    Case('No mass', upper(MASS, ''), '<inertial> without mass', (OF_UPPER,)),
    Case('Moment of inertia negative', with_inertia(izz=-0.025), "izz of link 'upper' is -0.025"),
    Case('Moment of inertia `nan`', with_inertia(ixy='nan'), "ixy of link 'upper' is 'nan'"),
    Case('Moment of inertia missing', upper('iyz="0"', ''), "iyz of link 'upper' is None"),
    Case('Principal moment negative', with_inertia(ixy=0.03, name='lower'),
         'none may be negative', ("link 'lower'", '-0.00541381')),
    Case('Principal moment above the sum of the others', with_inertia(izz=0.3, name='lower'),
         'none may be larger than the sum of the other two',
         ("link 'lower'", '0.02, 0.03 and 0.3')),
    Case('Inertia without mass', with_mass(0), 'it has no mass and the principal moments',
         (OF_UPPER, '0.02, 0.025 and 0.03')),
    Case('Centre of mass `nan`', upper(CENTRE, '<origin xyz="0 nan 0" rpy="0 0 0"/>'),
         "inertial origin xyz of link 'upper' is 'nan'"),
    Case('Centre of mass of two numbers', upper(CENTRE, '<origin xyz="0.02 0.1" rpy="0 0 0"/>'),
         'three numbers are needed', ("inertial origin xyz of link 'upper' is '0.02 0.1'",)),
    Case('Joint origin `inf`', upper(PLACE, '<origin xyz="0 0 inf" rpy="0 0 0"/>'),
         "origin xyz of joint 'one' is 'inf'"),
    Case('Joint origin with a comma', upper(PLACE, '<origin xyz="0 0 0" rpy="1,5 0 0"/>'),
         "origin rpy of joint 'one' is '1,5'"),
    Case('Origin of a shape `nan`',
         with_shape('<sphere radius="1"/>', origin='<origin xyz="nan 0 0"/>'),
         "collision origin xyz of link 'upper' is 'nan'"),
    Case('Size of a shape negative', with_shape('<cylinder radius="-0.1" length="1"/>'),
         "collision radius of link 'upper' is -0.1 m"),
    Case('Limits crossed', with_limit(lower=2), 'above the upper limit',
         ("joint 'one'", 'lower limit 2.0', 'upper limit 1.0')),
    Case('Limit `nan`', with_limit(velocity='nan'), "velocity limit of joint 'one' is 'nan'"),
    Case('Limit negative', with_limit(effort=-3), "effort limit of joint 'one' is -3.0"),
    Case('Axis zero', two_link_urdf(axis=(0, 0, 0)), "axis of joint 'one' is [0.0, 0.0, 0.0]"),
    Case('Axis of two numbers', two_link_urdf(axis=(0, 1)), "axis of joint 'one' is '0 1'"),
    Case('Axis `nan`', two_link_urdf(axis=(0, 0, 'nan')), "axis of joint 'one' is 'nan'"),
    Case('Child that does not exist', two_link_urdf(child='nobody'),
         "joint 'one' names the link 'nobody'"),
    Case('Joint without child', two_link_urdf().replace('<child link="upper"/>', ''),
         "joint 'one' has no <child"),
    Case('Two joints of one name', two_link_urdf(name='two'), "joint 'two' is given twice"),
    Case('Two links of one name', two_link_urdf().replace('"lower"', '"upper"'),
         "link 'upper' is given twice"),
    Case('Link without name', two_link_urdf().replace('<link name="lower">', '<link>'),
         'link number 3 has no name'),
    Case('Link on two joints', two_link_urdf().replace('</robot>', joint(
        'three', 'ground', 'lower') + '</robot>'), 'hangs on two joints', (
            "link 'lower'", "'two' and 'three'")),
    Case('Ring of links', robot_urdf(
        link('ground'), link('a'), link('b'), joint('one', 'b', 'a'), joint('two', 'a', 'b'),
    ), 'form a ring', ("link 'a'", "joint 'two'")),
    Case('Two roots', two_link_urdf().replace(
        '</robot>', link('alone') + link('far') + joint('three', 'alone', 'far') + '</robot>'),
         '2 links hang on no joint (ground, alone)'),
    Case('No moving joint', robot_urdf(link('a'), link('b'), joint('j', 'a', 'b', 'fixed')),
         'no moving joint'),
    Case('Floating joint of an arm', with_kind_of_two('floating'),
         "joint 'two' is of type 'floating'"),
    Case('Planar joint of an arm', with_kind_of_two('planar'), "joint 'two' is of type 'planar'"),
    Case('Joint of no known type', two_link_urdf(kind='revolut'),
         "joint 'one' is of type 'revolut'"),
    Case('Hundreds of joints', chain(400), '400 moving joints, more than the 64'),
    Case('Thousands of links', chain(1, MAXIMUM_LINKS), '1002 links, more than the 1000'),
    Case('Mimic of a missing joint', with_mimic('<mimic joint="nobody"/>'),
         "joint 'two' mimics the joint 'nobody'"),
    Case('Mimic of itself', with_mimic('<mimic joint="two"/>'), "joint 'two' mimics 'two'"),
    Case('Ring of mimics', with_mimic('<mimic joint="one"/>', '<mimic joint="two"/>'),
         "joint 'one' mimics 'two', and so in the end itself"),
    Case('Mimic multiplier `nan`', with_mimic('<mimic joint="one" multiplier="nan"/>'),
         "mimic multiplier of joint 'two' is 'nan'"),
    Case('DOCTYPE', '<!DOCTYPE robot [<!ENTITY a "b">]>' + two_link_urdf(),
         "it has a DOCTYPE 'robot'"),
    Case('Nested entities', ENTITIES + two_link_urdf(name='&a9;'), "it has a DOCTYPE 'robot'"),
    Case('External entity', '<!DOCTYPE robot SYSTEM "file:///etc/passwd">' + two_link_urdf(),
         "it has a DOCTYPE 'robot'"),
    Case('Elements nested a hundred deep',
         upper('</inertial>', '</inertial>' + '<a>' * 100 + '</a>' * 100),
         f'nested more than the {MAXIMUM_DEPTH} levels'),
    Case('Macro of xacro that is not there', two_link_urdf().replace(
        '<robot ', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ',
    ).replace('</robot>', '<xacro:arm name="x"/></robot>'), 'unknown macro name: xacro:arm'),
    Case('Expression of xacro', with_mass('${mass}'), "mass of link 'upper' is '${mass}'"),
    Case('No XML', 'this is no URDF', 'not a URDF that parses'),
    Case('Empty text', '', 'not a URDF that parses: no element found'),
    Case('Text cut short', two_link_urdf()[:-30], 'not a URDF that parses: unclosed token'),
    Case('Other root', '<sdf version="1.9"/>', 'the root element is <sdf>'),
    Case('More than 5 million characters', '<robot/>' + ' ' * MAXIMUM_URDF_CHARACTERS,
         '5000008 characters, more than the 5000000'),
)


@pytest.mark.parametrize('case', CASES, ids=[case.title for case in CASES])
def test_a_hostile_description_is_refused_by_name(case, tmp_path):
    """By `doctor` and by commands that use it: exit code 4, the name and the value."""
    path = tmp_path / 'arm.urdf'
    path.write_text(case.text, encoding='utf-8')
    examined = run_command('doctor', path)
    used = run_command('base-parameters', '--urdf', path)
    assert (examined.code, used.code) == (4, 4)
    for output in (examined.out, used.err):
        assert str(path) in output
        for part in (case.message, *case.more):
            assert part in output
    assert 'Traceback' not in examined.err + used.err


GHOST = robot_urdf(
    '<link name="ground"/>', '<link name="ghost"/>', link('hand'),
    joint('one', 'ground', 'ghost'), joint('two', 'ghost', 'hand', axis=(0, 1, 0)),
)
ODD = {
    'no inertial': (GHOST, 'link ghost is moved by a joint and has no inertial'),
    'zero inertial': (
        upper(MASS + INERTIA, '<mass value="0"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" '
                              'iyz="0"/>'),
        'link upper is moved by a joint and has no inertial',
    ),
    'point mass': (with_inertia(0, 0, 0), 'link upper is a point mass'),
    'no velocity limit': (with_limit(velocity=0), 'no velocity limit of one: velocity cannot'),
}


@pytest.mark.parametrize(('text', 'warning'), ODD.values(), ids=ODD)
def test_an_odd_description_is_used_with_a_warning(text, warning, tmp_path):
    """What may be meant is no error: exit code 0, and the warning names it."""
    path = tmp_path / 'arm.urdf'
    path.write_text(text)
    found = run_command('doctor', path)
    assert found.code == 0
    assert f'warning: {warning}' in found.out
    assert found.out.count('warning:') == 1


@pytest.mark.parametrize(('excess', 'noted'), [(0.9, False), (1.1, True)])
def test_rounded_inertias_are_let_pass(excess, noted):
    """A flat plate, Izz = Ixx + Iyy, may miss it by INERTIA_ROUNDING of Izz, and no more."""
    izz = 0.05 / (1.0 - excess * INERTIA_ROUNDING)
    urdf = parse_urdf(with_inertia(0.02, 0.03, izz, name='lower'), 'arm.urdf')
    assert urdf.faults == ()
    assert bool(urdf.remarks) == noted
    assert all('sum of the other two' in remark for remark in urdf.remarks)


@pytest.mark.parametrize('turn', [0.0, 0.7])
def test_the_nearest_body_is_taken_for_one_that_cannot_be(turn):
    """As makers publish them; mass and centre are kept, and what is far from any is refused."""
    c, s = np.cos(turn), np.sin(turn)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def arm(*moments):
        tensor = R @ np.diag(moments) @ R.T
        across = tensor[[0, 0, 1], [1, 2, 2]]
        return parse_urdf(with_inertia(*np.diag(tensor), *across, name='lower'), 'arm.urdf')

    urdf = arm(0.02, 0.03, 0.06)
    assert urdf.faults == ()
    remark, = urdf.remarks
    assert remark.startswith('link lower has an inertia that no rigid body has')
    assert remark.endswith('the nearest inertia of a body is used instead, which differs by 10.1%')
    lower = urdf.links[2]
    assert (lower.name, lower.mass) == ('lower', arm(0.02, 0.03, 0.04).links[2].mass)
    np.testing.assert_allclose(sorted(lower.principal_moments), [0.025, 0.035, 0.06], rtol=1e-4)
    fault, = arm(0.02, 0.03, 0.3).faults
    assert "link 'lower' is no rigid body" in fault.message


@pytest.mark.parametrize('kind', ['visual', 'collision'])
@pytest.mark.parametrize('address', [
    'package://arm_description/meshes/a.stl', 'package://arm/../../etc/passwd', '/etc/passwd',
    'http://example.com/arm.stl', 'file://server/share/arm/a.stl', 'http://[::1/a.stl',
])
def test_meshes_are_not_opened_wherever_they_lie(address, kind):
    """Nothing of dynamics is in them: the text has none."""
    urdf = parse_urdf(with_mesh(address, kind), 'arm.urdf')
    assert 'mesh' not in urdf.text
    assert urdf.remarks == ()


PUBLISHED_FAULTS = {
    'pr2_description/urdf/pr2.urdf': "'sensor_mount_link' is no rigid body",
    'romeo_description/urdf/romeo_small.urdf': "'RShoulderYawLink' is no rigid body",
}


def test_published_descriptions_have_the_faults_they_have():
    """Rounded, padded and dusty ones none; two state bodies that are far from any."""
    if not INSTALLED_ROBOTS.is_dir():
        pytest.skip('example-robot-data is not installed')
    for path in {arm.path for arm in described(BY_DAY + BY_NIGHT)} | set(PUBLISHED_FAULTS):
        faults = [fault.message for fault in read_urdf(INSTALLED_ROBOTS / path).faults]
        expected = PUBLISHED_FAULTS.get(path)
        assert any(expected in fault for fault in faults) if expected else not faults, path


NUMBERS = st.one_of(
    st.floats(), st.floats(0, 1), st.sampled_from([0.0, 1e-320, 1e9, -1e9, 1e-160])
)


@given(st.lists(NUMBERS, min_size=7, max_size=7))
def test_any_inertial_is_read_or_refused(values):
    """Also where squares overflow or vanish."""
    mass, *tensor = values
    text = with_inertia(*tensor).replace(MASS, f'<mass value="{mass}"/>')
    urdf = parse_urdf(text, 'arm.urdf')
    link_of_upper = urdf.links[1]
    if urdf.faults:
        assert "link '" in urdf.faults[0].message
    else:
        assert link_of_upper.fault is None
    if not urdf.faults and not urdf.remarks:
        assert link_of_upper.mass == mass >= 0.0
