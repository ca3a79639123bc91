# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What is written into a URDF leaves every other byte as it was."""

from dataclasses import dataclass
import re

from export.exported_models import changed_prior, model_of
from hypothesis import given, strategies as st
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.export.urdf import make_urdf
from robot_identification.export.xml_editor import XmlEditor
from robot_identification.model import make_robot_model, parse_urdf, prior_inertial_parameters

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


def test_rounded_angles_are_the_same_arm(ur5, tmp_path):
    path = tmp_path / 'rounded.urdf'
    path.write_text(ur5.urdf.text.replace('1.5707963267948966', '1.570796'))
    assert make_urdf(model_of(ur5, changed_prior(ur5)), path).links


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
