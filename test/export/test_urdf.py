# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A simulator that reads the exported URDF has the identified arm."""

from dataclasses import dataclass, replace
import re
import xml.etree.ElementTree as ElementTree

from builders import FINGERS, joint, link, robot_urdf
from export.exported_models import changed_prior, model_of
from hypothesis import given, strategies as st
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.export.urdf import export_urdf, make_urdf
from robot_identification.export.xml_editor import XmlEditor
from robot_identification.model import (
    load_robot, make_robot_model, parse_urdf, prior_inertial_parameters,
)
from scipy.optimize import lsq_linear

KEPT_PART = (
    'Bodies without a moving joint of their own, with the part of their inertia that was found'
)


def read_again(text, robot):
    """Return Pinocchio's model of a URDF text, joints locked as in the robot."""
    again = make_robot_model(parse_urdf(text, 'exported'), joints=robot.joint_names,
                             gravity=robot.gravity)
    return again.pinocchio


def test_friction_and_rotors_have_their_place(ur5):
    """Viscous is damping, Coulomb of either kind is friction, rotors stand in the comment."""
    model = model_of(ur5, prior_inertial_parameters(ur5))
    text = export_urdf(model)
    root = ElementTree.fromstring(text)
    joints = {element.get('name'): element for element in root.findall('joint')}
    for number, name in enumerate(ur5.joint_names):
        found = joints[name].findall('dynamics')
        assert len(found) == 1
        row = [model.parameters.names.index(f'{symbol}{number + 1}') for symbol in ('fv', 'fc')]
        damping, friction = model.theta_consistent[row]
        assert float(found[0].get('damping')) == pytest.approx(damping)
        assert float(found[0].get('friction')) == pytest.approx(friction)
    fixed = joints['flange-tool0']
    assert fixed.find('dynamics') is None
    # The first two are seen only in combinations; the others are identified alone.
    index = model.parameters.reflected_inertia_slice.start
    assert f'wrist_3_joint {model.theta_consistent[index + 5]:.6g}' in text.split('-->')[0]


def test_friction_that_would_drive_is_not_exported(ur5):
    """A negative coefficient would feed energy into a simulation."""
    model = model_of(ur5, prior_inertial_parameters(ur5))
    theta = model.theta_consistent.copy()
    theta[model.parameters.names.index('fv4')] = -0.5
    root = ElementTree.fromstring(export_urdf(replace(model, theta_consistent=theta)))
    dynamics = root.find("joint[@name='wrist_1_joint']/dynamics")
    assert float(dynamics.get('damping')) == 0.0


@pytest.mark.parametrize('quality', [
    {}, {'speeds': [0.2, 0.5, 1.0, 1.5, 2.0, 3.0], 'loads': [0.0, 30.0, 20.0, 5.0, 4.0, 1.0]},
])
def test_a_dictionary_is_exported_as_the_nearest_plain_friction(ur5, quality):
    """
    Over the speeds and at the loads that the model was found at, or up to 1 rad/s without load.

    By squares of the difference from 0.05 rad/s to that speed, neither of the two negative.
    """
    model = model_of(
        ur5, prior_inertial_parameters(ur5), 'dictionary,offset', quality=quality
    )
    root = ElementTree.fromstring(export_urdf(model))
    joints = {element.get('name'): element for element in root.findall('joint')}
    lifted, law = model.theta_lifted, model.parameters.friction[0].law
    for index, name in enumerate(ur5.joint_names):
        _, columns = model.parameters.friction_columns[index]
        coefficients = dict(zip(law.symbols, lifted[columns], strict=True))
        speeds = np.linspace(0.05, quality.get('speeds', [1.0] * 6)[index], 100)
        load = quality.get('loads', [0.0] * 6)[index]
        curve = np.zeros(100)
        for (kind, constant), value in zip(law.terms, coefficients.values(), strict=True):
            size = load if kind.startswith('load') else 1.0
            shape = {
                'viscous': constant * speeds, 'presliding': 1.0,
                'sliding': np.tanh(speeds / constant),
                'stribeck': np.tanh(speeds / 0.01) * np.exp(-(speeds / constant) ** 2),
            }[kind.removeprefix('load_')]
            curve += value * size * shape
        friction, damping = lsq_linear(
            np.column_stack([np.ones(100), speeds]), curve, (0.0, np.inf), 'bvls'
        ).x
        dynamics = joints[name].find('dynamics')
        assert float(dynamics.get('damping')) == pytest.approx(damping, rel=1e-6)
        assert float(dynamics.get('friction')) == pytest.approx(friction, rel=1e-6)


def test_panda_fingers_keep_their_own_inertials(panda_urdf):
    """They stand on locked joints: what is identified is the hand with them, and they stay."""
    # The whole arm, fingers locked where they were, has the model's inertials again.
    names = [f'panda_joint{i}' for i in range(1, 8)]
    robot = load_robot(urdf=panda_urdf, joints=names)
    inertial = prior_inertial_parameters(robot).copy()
    inertial[60:70] *= 1.1
    inertial[10:20] *= 0.9
    text = export_urdf(model_of(robot, inertial))
    before, after = (
        {element.get('name'): element for element in ElementTree.fromstring(t).findall('link')}
        for t in (robot.urdf.text, text)
    )
    urdf = parse_urdf(text, 'exported')
    assert {joint.name for joint in urdf.joints} == {*names, *FINGERS}
    for finger in ('panda_leftfinger', 'panda_rightfinger', 'panda_hand'):
        old, new = before[finger].find('inertial'), after[finger].find('inertial')
        assert (old is None) == (new is None)
        if old is not None:
            assert ElementTree.canonicalize(ElementTree.tostring(old), strip_text=True) \
                == ElementTree.canonicalize(ElementTree.tostring(new), strip_text=True)
    exported = read_again(text, robot)
    found = np.concatenate([body.toDynamicParameters() for body in list(exported.inertias)[1:]])
    np.testing.assert_allclose(found, inertial, atol=1e-9)


# Of a body, and of none where the link stands alone: by much, and by rounding.
@pytest.mark.parametrize('principal', [
    (0.02, 0.03, 0.025), (0.002, 0.003, 0.006), (-5e-20, 0.0, 5e-20),
])
def test_bodies_fixed_to_a_link_keep_the_part_that_was_found(principal):
    """The tool fixed to the hand weighs more than both were found to: less of it, the same arm."""
    text = robot_urdf(
        link('ground'), link('hand', 1.0, principal=principal), link('tool', 2.0),
        joint('one', 'ground', 'hand', axis=(0, 1, 0)),
        joint('mount', 'hand', 'tool', 'fixed', limit=''),
    )
    robot = make_robot_model(parse_urdf(text, 'arm'))
    found = 0.5 * prior_inertial_parameters(robot)
    exported = export_urdf(model_of(robot, found))
    assert f'{KEPT_PART}: tool 0.' in exported
    body, = list(read_again(exported, robot).inertias)[1:]
    np.testing.assert_allclose(body.toDynamicParameters(), found, atol=1e-9)


# What a reader of text rather than of XML would take for the real thing.
TRAPS = (
    'plain', '<inertial><mass value="9"/></inertial>', '<link name="hand"/>', ' ü > " \' ',
    '</link>', '<dynamics damping="1"/>',
)
SIGNED = re.compile(r'\s*<!-- Identified by robot_identification\..*?-->', re.DOTALL)


def robot_of(text):
    return make_robot_model(parse_urdf(text.removeprefix('\ufeff'), 'arm.urdf'))


def bodies(n):
    """Return the parameters of n possible bodies; division by these masses is exact."""
    return np.concatenate([
        pin.Inertia(
            2.0**k, np.array([0.1, 0.2, -0.1 * k]), np.diag([0.3, 0.2, 0.25])
        ).toDynamicParameters()
        for k in range(n)
    ])


def write_into(path, text, **changes):
    path.write_bytes(text.encode())
    robot = robot_of(text)
    return make_urdf(model_of(robot, bodies(robot.n), **changes), path)


@dataclass(frozen=True)
class Style:
    """How a URDF is written."""

    newline: str
    indent: str | None
    quote: str
    tail: str
    begin: str
    blank: str

    def tag(self, name, attributes, closed=True):
        shown = ''.join(
            f'{self.blank}{key}={self.quote}{value}{self.quote}' for key, value in attributes
        )
        return f'<{name}{shown}{self.tail if closed else ""}>'

    def line(self, depth):
        return '' if self.indent is None else self.newline + depth * self.indent


styles = st.builds(
    Style,
    newline=st.sampled_from(['\n', '\r\n']),
    indent=st.sampled_from([None, '', '  ', '\t', '    ']),
    quote=st.sampled_from(['"', "'"]),
    tail=st.sampled_from(['/', ' /']),
    begin=st.sampled_from(['', '\ufeff', '<?xml version="1.0"?>', '\ufeff<?xml version="1.0"?>\n',
                           '<!-- first -->\n']),
    blank=st.sampled_from([' ', '  ', '\n   ']),
)


@st.composite
def descriptions(draw):
    style = draw(styles)

    def remark(depth):
        text = draw(st.none() | st.sampled_from(TRAPS))
        text = text if text is None or style.quote not in text else 'plain'
        return '' if text is None else f'{style.line(depth)}<!--{text}-->'

    def attributes(*pairs):
        return draw(st.permutations(pairs))

    def inertial():
        inner = [
            style.tag('mass', [('value', '1.5')]),
            style.tag('inertia', attributes(
                ('ixx', '0.1'), ('iyy', '0.1'), ('izz', '1e-1'), ('ixy', '0'), ('ixz', '0'),
                ('iyz', '0.0'),
            )),
        ]
        if draw(st.booleans()):
            inner.insert(0, style.tag('origin', attributes(('xyz', '0 0 1'), ('rpy', '1 0 0'))))
        body = ''.join(style.line(3) + part + remark(3) for part in draw(st.permutations(inner)))
        return f'{style.line(2)}<inertial>{body}{style.line(2)}</inertial>'

    def link(name):
        parts = []
        if draw(st.booleans()):
            parts.append(inertial())
        if draw(st.booleans()):
            parts.append(style.line(2) + style.tag('x:inertial', [('name', name)]))
        if draw(st.booleans()):
            mesh = style.tag('mesh', [('filename', 'package://arm/a.stl')])
            parts.append(
                f'{style.line(2)}<visual><geometry>{mesh}</geometry></visual>{remark(2)}'
            )
        body = ''.join(draw(st.permutations(parts)))
        if not body and draw(st.booleans()):
            return style.line(1) + style.tag('link', [('name', name)])
        start = style.tag('link', [('name', name)], closed=False)
        return f'{style.line(1)}{start}{body}{style.line(1)}</link>'

    def joint(name, parent, child):
        parts = [
            style.tag('parent', [('link', parent)]), style.tag('child', [('link', child)]),
            style.tag('axis', [('xyz', '0 1 0')]),
            style.tag('limit', attributes(('lower', '-1'), ('upper', '1.0'), ('effort', '10'),
                                          ('velocity', '2e0'))),
        ]
        if draw(st.booleans()):
            parts.append(style.tag('dynamics', attributes(('damping', '7'), ('friction', '8'))))
        if draw(st.booleans()):
            parts.append(style.tag('origin', [('xyz', '0.1 0 0.2')]))
        body = ''.join(style.line(2) + part + remark(2) for part in draw(st.permutations(parts)))
        start = style.tag('joint', attributes(('name', name), ('type', 'revolute')), closed=False)
        return f'{style.line(1)}{start}{body}{style.line(1)}</joint>'

    elements = [link('ground'), link('hand'), link('tip'), joint('one', 'ground', 'hand'),
                joint('two', 'hand', 'tip')]
    body = ''.join(remark(1) + element for element in draw(st.permutations(elements)))
    start = style.tag('robot', [('name', 'arm'), ('xmlns:x', 'http://a.b/x')], closed=False)
    rest = draw(st.text('\n '))
    return f'{style.begin}{start}{remark(1)}{body}{style.newline}</robot>{rest}'


def outside(text):
    """Return a URDF without the elements that may change, and its comments one by one."""
    comments = []

    def keep(match):
        comments.append(match[0])
        return f'\0{len(comments)}\0'

    text = re.sub(r'<!--.*?-->', keep, SIGNED.sub('', text), flags=re.DOTALL)
    inside = re.findall(r'<inertial>.*?</inertial>', text, flags=re.DOTALL)
    lost = {number for part in inside for number in re.findall('\0(.*?)\0', part)}
    text = re.sub(r'\s*<inertial>.*?</inertial>', '', text, flags=re.DOTALL)
    text = re.sub(r'\s*<dynamics\b[^<>]*/>', '', text)
    # A link that closed itself has to open for its body.
    text = re.sub(r'<link\b([^<>]*?)\s*(?:/>|>\s*</link>)', r'<link\1/>', text)
    kept = [c for number, c in enumerate(comments, 1) if str(number) not in lost]
    return re.sub('\0.*?\0', '\0', text), kept


@given(text=descriptions())
def test_everything_else_stays_byte_by_byte(text, tmp_path_factory):
    """Comments, blanks, order, ends of lines; and what is written is read as it was meant."""
    path = tmp_path_factory.mktemp('any') / 'arm.urdf'
    found = write_into(path, text)
    assert outside(found.text) == outside(text)
    again = robot_of(found.text)
    np.testing.assert_allclose(prior_inertial_parameters(again), bodies(2), atol=1e-12)
    assert len(SIGNED.findall(found.text)) == 1
    path.write_bytes(found.text.encode())
    model = model_of(robot_of(text), bodies(2))
    assert make_urdf(model, path).text == found.text, 'a second time nothing changes'


@pytest.mark.parametrize('name', ['ur5', 'youbot', 'mixed'])
def test_the_prior_is_written_as_it_stands(robots, name):
    """Where the parameters are the URDF's own, its inertials are the same bytes."""
    robot = robots[name]
    found = make_urdf(model_of(robot, prior_inertial_parameters(robot)))
    assert found.links == ()
    pattern = re.compile('<inertial>.*?</inertial>', re.DOTALL)
    assert pattern.findall(found.text) == pattern.findall(robot.urdf.text)
    assert outside(found.text) == outside(f'<?xml version="1.0"?>\n{robot.urdf.text}\n')
    assert found.mass_after == pytest.approx(found.mass_before)


@pytest.mark.parametrize(('old', 'new', 'error', 'words'), [
    ('xyz="0 0 0.089159"', 'xyz="0 0 0.0893"', DescriptionError,
     r"joint 'shoulder_pan_joint' stands 0\.000141 m and 0 rad from"),
    ('<axis xyz="0 0 1" />', '<axis xyz="0 1 0" />', DescriptionError,
     r"joint 'shoulder_pan_joint' moves along \(0, 0, 0, 0, 1, 0\)"),
    ('<joint name="wrist_3_joint" type="revolute"', '<joint name="wrist_3_joint" type="fixed"',
     UsageError, r'no joint wrist_3_joint in the URDF'),
    ('<link name="tool0" />', '<link name="tool0"><inertial><mass value="1"/><inertia ixx="1" '
     'iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>', DescriptionError,
     r"link 'tool0' has mass, and the model of ur5 does not know it"),
])
def test_another_arm_is_refused_by_name(ur5, tmp_path, old, new, error, words):
    path = tmp_path / 'other.urdf'
    assert old in ur5.urdf.text
    path.write_text(ur5.urdf.text.replace(old, new))
    with pytest.raises(error, match=words):
        make_urdf(model_of(ur5, changed_prior(ur5)), path)


ENTITIES = '<!ENTITY a0 "a">' + ''.join(
    f'<!ENTITY a{k} "{10 * f"&a{k - 1};"}">' for k in range(1, 12)
)


@pytest.mark.parametrize('text', [
    '<!DOCTYPE robot><robot/>', '<!DOCTYPE r [<!ENTITY a "b">]><robot>&a;</robot>', '<robot>', '',
    f'<!DOCTYPE r [{ENTITIES}]><robot>&a11;</robot>', 100_000 * '<a>' + 100_000 * '</a>',
    f'<!DOCTYPE r [{ENTITIES}]><robot name="&a11;"/>',
    '<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>',
])
def test_hostile_texts_are_refused(text):
    """The checks of a description come first; this one does not count on them."""
    with pytest.raises(DescriptionError, match='not a URDF that parses'):
        XmlEditor(text.encode(), 'arm.urdf', 'a URDF')
