# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What a robot's description says of its driver, and what is installed of it."""

from robot_identification.nodes.driver_notes import describe_driver

DESCRIPTION = """<robot name="arm"><link name="base"/><ros2_control name="arm" type="system">
<hardware><plugin>ur_robot_driver/URPositionHardwareInterface</plugin></hardware></ros2_control>
</robot>"""


def test_driver_and_version_are_named_or_said_to_be_unknown(tmp_path, monkeypatch):
    """No version is guessed: the package is that of the hardware interface, as installed."""
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    assert describe_driver('').startswith('driver: not known')
    assert describe_driver(DESCRIPTION).startswith('driver: ur_robot_driver, version not known')
    index = tmp_path / 'share/ament_index/resource_index/packages'
    index.mkdir(parents=True)
    (index / 'ur_robot_driver').touch()
    share = tmp_path / 'share/ur_robot_driver'
    share.mkdir()
    (share / 'package.xml').write_text('<package><version>3.8.0</version></package>')
    assert describe_driver(DESCRIPTION) == 'driver: ur_robot_driver 3.8.0, as installed here'
