# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Xacro: expanded with arguments as URDFs are read, and stopped when it runs away."""

import importlib.util
from pathlib import Path
import subprocess
import time

from builders import run_command, two_link_urdf
from long_tests import some_by_day
import pytest
from robot_identification.errors import DescriptionError, MissingDependencyError, UsageError
from robot_identification.model import find_xacro_arguments, load_robot, xacro
from robot_identification.model.urdf import parse_urdf, read_urdf
from robot_identification.model.xacro import expand_xacro

needs_xacro = pytest.mark.skipif(
    importlib.util.find_spec('xacro') is None,
    reason='xacro is not installed: pip install xacro',
)
DECLARED = '<robot name="made_up" xmlns:xacro="http://www.ros.org/wiki/xacro">'


@pytest.fixture
def write(tmp_path):
    def write_content(content, name='arm.urdf.xacro'):
        path = tmp_path / name
        path.write_text(f'{DECLARED}{content}</robot>')
        return path

    return write_content


def arm(head, **replaced):
    """Return the content of the two-link arm with a head and values replaced by expressions."""
    text = two_link_urdf().removeprefix('<robot name="made_up">').removesuffix('</robot>')
    for old, new in replaced.values():
        assert old in text
        text = text.replace(old, new)
    return head + text


WITH_ARGUMENT = arm(
    '<xacro:arg name="mass" default="1.5"/><xacro:property name="reach" value="${0.1 * 3}"/>',
    mass=('value="1.5"', 'value="$(arg mass)"'), reach=('0 0 0.3"', '0 0 ${reach}"'),
)


@needs_xacro
def test_properties_and_arguments_are_expanded(write):
    """With the argument's default it is the very arm that was written by hand."""
    path = write(WITH_ARGUMENT)
    plain = parse_urdf(two_link_urdf().replace('0 0 0.3"', f'0 0 {0.1 * 3}"'), 'plain')
    expanded = read_urdf(path)
    assert (expanded.name, expanded.joints, expanded.links) == (
        plain.name, plain.joints, plain.links
    )
    assert f'xyz="0 0 {0.1 * 3}"' in expanded.text
    heavy = read_urdf(path, arguments={'mass': '2.25'})
    assert [link.mass for link in heavy.links] == [2.25] * 3


PACKAGE = '<package format="3"><name>{}</name></package>'


@needs_xacro
@pytest.mark.parametrize('layout', [
    ('arm_description/urdf', 'arm_description', True),
    ('src/arm_description/urdf', 'src/parts', True),
    ('src/vendor/arm_description/urdf', 'src/other_vendor/deep/arm_parts', True),
    ('arm_description/urdf', 'parts', False),
])
def test_packages_around_the_file_are_found_without_ros(layout, tmp_path, monkeypatch):
    """The file's own, beside it, in another repository of the workspace; a bare folder by name."""
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    own, other, named = layout
    path = tmp_path / own / 'arm.urdf.xacro'
    path.parent.mkdir(parents=True)
    (path.parents[1] / 'package.xml').write_text(PACKAGE.format('arm_description'))
    folder = tmp_path / other
    folder.mkdir(parents=True, exist_ok=True)
    if named and not (folder / 'package.xml').exists():
        (folder / 'package.xml').write_text(PACKAGE.format('parts'))
    (folder / 'macros.xacro').write_text(f'{DECLARED}{arm("")}</robot>')
    package = 'arm_description' if folder == path.parents[1] else 'parts'
    path.write_text(
        f'{DECLARED}<xacro:include filename="$(find {package})/macros.xacro"/></robot>'
    )
    assert len(read_urdf(path).joints) == 2


@needs_xacro
def test_a_package_that_is_nowhere_is_named_where_it_is_needed(write):
    """A mesh of it is not opened, so that it may lack."""
    mesh = '<visual><geometry><mesh filename="$(find gone)/a.stl"/></geometry></visual>'
    assert read_urdf(write(arm('').replace('</inertial>', f'</inertial>{mesh}', 1))).joints
    path = write('<xacro:include filename="$(find gone)/urdf/arm.xacro"/>')
    with pytest.raises(DescriptionError, match=r"package 'gone' with 'urdf/arm.xacro' is neither"):
        read_urdf(path)


@needs_xacro
def test_the_doctor_names_the_arguments(write):
    """With defaults, from includes too; --xacro-arguments are taken as by every command."""
    write('<xacro:arg name="reach" default="0.3"/>', 'macros.xacro')
    path = write(f'<xacro:include filename="macros.xacro"/>{WITH_ARGUMENT}')
    found = run_command('doctor', path, '--xacro-arguments', 'mass:=2.5')
    assert found.code == 0
    assert "xacro arguments: reach (default '0.3'), mass (default '1.5')" in found.out
    assert 'total mass 7.5 kg' in found.out


@needs_xacro
def test_a_robot_yaml_states_arguments(write, tmp_path):
    """Numbers and truths as xacro reads them; the command line goes before the file."""
    write(WITH_ARGUMENT)
    path = tmp_path / 'arm.yaml'
    head = 'schema_version: 1\nname: a\nurdf: arm.urdf.xacro\njoints: {one: {}, two: {}}\n'
    path.write_text(head + 'xacro_arguments: {mass: 2.25, lamp: true}\n')
    assert [link.mass for link in load_robot(str(path)).urdf.links] == [2.25] * 3
    assert find_xacro_arguments(str(path)) == {'mass': '2.25', 'lamp': 'true'}
    given = ('--robot', path, '--xacro-arguments', 'mass:=3', '-o', tmp_path / 'out.urdf')
    assert run_command('urdf', *given).code == 0
    assert [link.mass for link in read_urdf(tmp_path / 'out.urdf').links] == [3.0] * 3
    path.write_text(head + 'xacro_arguments: [mass]\n')
    with pytest.raises(DescriptionError, match=r'xacro_arguments. must map'):
        load_robot(str(path))


@needs_xacro
def test_a_missing_argument_is_named_with_the_others(write):
    path = write('<xacro:arg name="mass" default="2"/><link name="$(arg size)"/>')
    with pytest.raises(DescriptionError, match=r'--xacro-arguments size:=VALUE; .* mass \(def'):
        read_urdf(path)


@needs_xacro
def test_an_argument_used_above_its_declaration_has_its_default(write):
    """Vendors name the robot by one, on the element that holds the declaration."""
    path = write(WITH_ARGUMENT)
    path.write_text(path.read_text().replace('name="made_up"', 'name="$(arg mass)"'))
    assert read_urdf(path).name == '1.5'


@needs_xacro
def test_a_urdf_with_elements_of_xacro_is_expanded(write):
    """Some vendors' URDFs have properties, and their launch files run xacro on them."""
    path = write('<xacro:property name="width" value="0.2"/>' + arm(''), 'arm.urdf')
    assert len(read_urdf(path).joints) == 2


@needs_xacro
def test_the_environment_is_withheld(write, monkeypatch):
    monkeypatch.setenv('SECRET', 'precious')
    text = expand_xacro(write('<link name="$(optenv SECRET none) $(optenv HOME none)"/>'), {})
    assert 'precious' not in text
    assert f'none {Path.home()}"' not in text
    assert 'link name="none /' in text


BOMBS = {
    'number': ('<link name="${9**9**9}"/>', 'of computing'),
    'memory': ("""<link name="${'x' * 10**8 * 40}"/>""", 'of memory'),
    'output': ("""<link name="${'x' * 30 * 10**6}"/>""", 'it wrote more than'),
    'length': ("""<link name="${'x' * 6 * 10**6}"/>""", '5000000 allowed'),
    'ring of includes': ('<xacro:include filename="arm.urdf.xacro"/>', 'refuses it'),
    'ring of macros': (
        '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', 'recursion'
    ),
}


@needs_xacro
@pytest.mark.parametrize('bomb', some_by_day(BOMBS, 3))
def test_a_bomb_is_stopped(bomb, write, monkeypatch):
    """Within the limit and two seconds for starting and ending a process."""
    content, message = BOMBS[bomb]
    if message.startswith('of computing'):
        # Users allow it more.
        monkeypatch.setattr(xacro, 'MAXIMUM_CPU_SECONDS', 1)
    path = write(content)
    start = time.monotonic()
    with pytest.raises(DescriptionError, match=message) as caught:
        read_urdf(path)
    assert time.monotonic() - start < xacro.MAXIMUM_SECONDS + 2.0
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(('name', 'value'), [
    ('-o', '/tmp/x'), ('a b', '1'), ('', '1'), ('_a', '1'), ('a', ''), ('a', 'b:=c'),
    ('a', ' b'), ('a', 'b\0c'),
])
def test_arguments_cannot_be_options(name, value, write, monkeypatch):
    """What xacro would read as another option, or leave out, is refused before it runs."""
    monkeypatch.setattr(subprocess, 'run', None)
    with pytest.raises(UsageError, match='xacro argument'):
        expand_xacro(write(''), {name: value})


def test_a_missing_xacro_is_asked_for_by_name(write, monkeypatch):
    """It says nothing of the file, so `doctor` ends with 2, not 4."""
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    path = write(WITH_ARGUMENT)
    with pytest.raises(MissingDependencyError, match='run `pip install xacro`'):
        expand_xacro(path, {})
    found = run_command('doctor', path)
    assert found.code == 2
    assert 'needs xacro, which is not installed' in found.err
