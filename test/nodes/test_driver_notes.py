# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What a robot's description says of its driver, and what is installed of it."""

import time
from types import SimpleNamespace

from rclpy.task import Future
from robot_identification.nodes import driver_notes
from robot_identification.nodes.driver_notes import describe_driver, DriverNotes

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


class Client:
    """A client of which the first answer is lost."""

    def __init__(self):
        self.pending = []

    def service_is_ready(self):
        return True

    def call_async(self, request):
        self.pending.append(Future())
        return self.pending[-1]

    def remove_pending_request(self, future):
        self.pending.remove(future)


def test_controllers_are_asked_for_until_they_are_known(monkeypatch):
    """The middleware drops an answer to a client that the manager has not met yet."""
    client, clock = Client(), SimpleNamespace(now=100.0)
    node = SimpleNamespace(
        create_subscription=lambda *given: None, create_client=lambda *given: client
    )
    service = SimpleNamespace(Request=lambda: None)
    monkeypatch.setattr(driver_notes, 'ListControllers', service)
    monkeypatch.setattr(time, 'monotonic', lambda: clock.now)
    notes = DriverNotes(node)
    notes.begin()
    (lost,) = client.pending
    notes.poll()
    assert client.pending == [lost]
    clock.now += 10.0
    notes.poll()
    (second,) = client.pending
    assert second is not lost
    scaled = SimpleNamespace(
        name='scaled', type='x/JointTrajectoryController', state='active', claimed_interfaces=[]
    )
    second.set_result(SimpleNamespace(controller=[scaled]))
    assert notes.record().controllers == ('scaled (x/JointTrajectoryController)',)
    clock.now += 10.0
    notes.poll()
    assert client.pending == [second]
