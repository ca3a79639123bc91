# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Xacro: expanded with arguments as URDFs are read, and stopped when it runs away."""

import importlib.util
from pathlib import Path
import subprocess
import time

from builders import run_command, two_link_urdf
import pytest
from robot_identification.errors import DescriptionError, MissingDependencyError, UsageError
from robot_identification.model import xacro
from robot_identification.model.urdf import parse_urdf, read_urdf
from robot_identification.model.xacro import expand_xacro

needs_xacro = pytest.mark.skipif(
    importlib.util.find_spec('xacro') is None,
    reason='xacro is not installed: pip install xacro',
)
DECLARED = '<robot name="made_up" xmlns:xacro="http://www.ros.org/wiki/xacro">'


@pytest.fixture
def write(tmp_path):
    """Return what writes a xacro file with this content in its <robot>."""

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


@needs_xacro
def test_includes_are_found_beside_the_file(write):
    write('<xacro:macro name="arm">' + arm('') + '</xacro:macro>', 'macros.xacro')
    path = write('<xacro:include filename="macros.xacro"/><xacro:arm/>')
    assert len(read_urdf(path).joints) == 2


@needs_xacro
def test_packages_are_found_where_ament_looks(write, tmp_path, monkeypatch):
    """The xacro of PyPI asks ament_index_python, which reads AMENT_PREFIX_PATH."""
    pytest.importorskip('ament_index_python', reason='only a part of ROS finds packages')
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'made_up_description').touch()
    folder = tmp_path / 'share' / 'made_up_description'
    folder.mkdir()
    (folder / 'arm.xacro').write_text(f'{DECLARED}{arm("")}</robot>')
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    path = write('<xacro:include filename="$(find made_up_description)/arm.xacro"/>')
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
@pytest.mark.parametrize('bomb', BOMBS)
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


@needs_xacro
def test_a_file_that_waits_is_stopped(write, monkeypatch):
    """Waiting costs no computing: the clock on the wall ends it."""
    monkeypatch.setattr(xacro, 'MAXIMUM_SECONDS', 0.5)
    monkeypatch.setattr(xacro, '_RUNNER', 'import time; time.sleep(60)')
    with pytest.raises(DescriptionError, match='was stopped'):
        expand_xacro(write(''), {})


FAULTS = {
    'unknown property': ('<link name="${nobody}"/>', "name 'nobody' is not defined"),
    'unknown argument': ('<link name="$(arg nobody)"/>', 'Undefined substitution argument nobody'),
    'unknown macro': ('<xacro:nobody/>', 'nobody'),
    'unknown file': ('<xacro:include filename="nobody.xacro"/>', 'No such file.*nobody.xacro'),
    'no XML': ('<link', 'XML parsing error'),
}


@needs_xacro
@pytest.mark.parametrize(('content', 'message'), FAULTS.values(), ids=FAULTS)
def test_what_xacro_says_reaches_the_user(content, message, write):
    path = write(content)
    with pytest.raises(DescriptionError, match=f'xacro refuses it: .*{message}') as caught:
        read_urdf(path)
    assert '\n' not in str(caught.value)


@needs_xacro
def test_the_doctor_examines_what_xacro_makes(write):
    """A URDF that is broken after expansion is named by link and value, as any other."""
    good = run_command('doctor', write(WITH_ARGUMENT, 'good.xacro'))
    assert good.code == 0
    assert 'good.xacro: xacro' in good.out
    assert 'made_up: joints one, two' in good.out
    bad = run_command('doctor', write(arm('', mass=('value="1.5"', 'value="${1 - 2.5}"'))))
    assert bad.code == 4
    assert "arm.urdf.xacro: mass of link 'upper' is -1.5 kg" in bad.out


def test_a_missing_file_is_a_wrong_call(tmp_path):
    with pytest.raises(UsageError, match=r'no such file: .*arm\.xacro'):
        read_urdf(tmp_path / 'arm.xacro')


def test_a_urdf_takes_no_arguments(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(two_link_urdf())
    with pytest.raises(UsageError, match=r'not xacro.*leave out mass'):
        read_urdf(path, arguments={'mass': '2'})


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
