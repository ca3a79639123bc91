# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Definitions of types come from the packages that are installed, with all that they need."""

import pytest
from robot_identification.errors import BagError
from robot_identification.nodes.recording_types import definitions_of, has_header, message_class

pytest.importorskip('ament_index_python', reason='needs ROS 2')

DRIVE = """
# State of a drive; string names in a comment are no fields
uint8 OK=0
uint8 FAILED = 1
string<=10 KIND="motor name"
std_msgs/Header header
Winding[3] windings   # one a phase
other_msgs/Limit[<=4] limits
other_msgs/msg/Limit limit
builtin_interfaces/Time since
float64[] currents
Winding spare
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install two packages of messages in an index of their own."""
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    for package, files in {
        'drive_msgs': {'Drive': DRIVE, 'Winding': 'float64 resistance\nDrive[] loop\n'},
        'other_msgs': {'Limit': 'float64 low\nfloat64 high\nLost lost\n'},
    }.items():
        (index / package).touch()
        folder = tmp_path / 'share' / package / 'msg'
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / f'{name}.msg').write_text(text)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))


def test_everything_a_type_needs_is_found(installed):
    """Standard types are left out, and so are those that are not there; rings end."""
    found = definitions_of('drive_msgs/msg/Drive')
    assert set(found) == {'drive_msgs/msg/Drive', 'drive_msgs/msg/Winding', 'other_msgs/msg/Limit'}
    assert found['drive_msgs/msg/Drive'] == DRIVE


@pytest.mark.parametrize('kind', ['no_msgs/msg/None', 'std_msgs/msg/Nothing', 'std_msgs'])
def test_a_class_that_is_not_installed_is_told(kind):
    """Topic, type and what to do."""
    with pytest.raises(BagError, match=rf'/topic cannot be recorded: its type {kind} is not ins'):
        message_class('/topic', kind)


def test_a_header_is_the_first_field():
    """Joint states have one, and so do stamped wrenches; a number has none."""
    pytest.importorskip('sensor_msgs', reason='needs ROS 2')
    assert has_header(message_class('/a', 'sensor_msgs/msg/JointState'))
    assert not has_header(message_class('/a', 'std_msgs/msg/Float64'))
    assert not has_header(message_class('/a', 'std_msgs/msg/Header'))
    assert not has_header(message_class('/a', 'std_msgs/msg/Empty'))
