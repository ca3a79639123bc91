# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The simulated controller on its ports: foreign and own clients, a driver, faults, garbage."""

from contextlib import contextmanager, ExitStack
import json
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from robot_identification.errors import UsageError
from robot_identification.rtde.client import connect, RtdeOptions, RtdeRefusedError
from robot_identification.rtde.dashboard import robot_mode
from robot_identification.simulation import NetworkOptions, UrServer
import robot_identification.simulation.ur_controller.server as network
from simulation.ur_controller.test_robot import make_robot, moved, START

HOST = '127.0.0.1'
COMMAND = (sys.executable, '-m', 'robot_identification.cli.main', 'simulate-ur')
FIELDS = ('timestamp', 'actual_q', 'actual_current', 'safety_mode')


class Served(threading.Thread):
    """A controller at ports with an offset; `lines` are what it says."""

    def __init__(self, robot, offset):
        super().__init__()
        self.lines, self.failed = [], False
        self.server = UrServer(robot, NetworkOptions(port_offset=offset), self.lines.append)

    def run(self):
        try:
            self.server.run()
        except UsageError:
            self.failed = True


@contextmanager
def serving(**options):
    """Serve a controller at free ports; yield the robot, a function of ports, and its lines."""
    for _ in range(20):
        robot, offset = make_robot(**options), random.randrange(1000, 30000)
        served = Served(robot, offset)
        served.start()
        wait_until(lambda one=served: one.lines or one.failed)
        if not served.failed:
            break
    try:
        yield robot, lambda port: port + offset, served.lines
    finally:
        served.server.stop()
        served.join()


def wait_until(holds, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, 'what was waited for did not come'
        time.sleep(0.005)


def dial(port):
    return socket.create_connection((HOST, port), timeout=10.0)


def pendant(port, *lines):
    """Say lines at the pendant; return the last answer."""
    with dial(port(29990)) as connection, connection.makefile('rw') as file:
        for line in lines:
            file.write(f'{line}\n')
            file.flush()
            answer = json.loads(file.readline())
            assert 'error' not in answer, answer
    return answer


def receive(port, keys=FIELDS, count=1):
    """Read samples with our client; return the last one and the stamps."""
    connection = connect(RtdeOptions(HOST, keys, port=port(30004)))
    samples = [connection.receive() for _ in range(count)]
    connection.close()
    return samples[-1][1], np.array([stamp for stamp, _ in samples])


class DriverSockets:
    """A driver's three servers, and the program whose text points at them."""

    def __init__(self, stack):
        self.servers = {
            name: stack.enter_context(socket.create_server((HOST, 0)))
            for name in ('trajectory_socket', 'script_command_socket', 'reverse_socket')
        }
        for server in self.servers.values():
            server.settimeout(10.0)
        self._stack = stack

    def program(self, host=HOST):
        calls = ''.join(
            f'  connect_socket_with_retry("{host}", {server.getsockname()[1]}, "{name}")\n'
            for name, server in self.servers.items()
        )
        return f'def externalControl():\n{calls}end\n'.encode()

    def accept(self):
        for name, server in self.servers.items():
            setattr(self, name, self._stack.enter_context(server.accept()[0]))

    def servo(self, q, timeout=0.2):
        self.reverse_socket.sendall(struct.pack(
            '>8i', round(1e3 * timeout), *(round(1e6 * angle) for angle in q), 1
        ))


@pytest.fixture
def driven():
    """Serve a controller that runs the program of a driver; yield the driver as well."""
    with ExitStack() as stack:
        robot, port, _ = stack.enter_context(serving())
        driver = DriverSockets(stack)
        sender = stack.enter_context(dial(port(30001)))
        sender.sendall(driver.program())
        driver.accept()
        yield robot, port, driver


def test_a_foreign_client_reads_it():
    """`ur_rtde` of PyPI shares nothing with this package; its calls hold the interpreter."""
    rtde_receive = pytest.importorskip('rtde_receive', reason='ur_rtde is not installed')
    with subprocess.Popen(
        [*COMMAND, '--robot', 'ur5e', '--noise-free'], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    ) as process:
        try:
            said = [process.stdout.readline() for _ in range(2)]
            if 'is not available' in said[1]:
                pytest.skip('another program has the ports, and ur_rtde knows no others')
            client = rtde_receive.RTDEReceiveInterface(HOST)
            begin = client.getTimestamp()
            wait_until(lambda: client.getTimestamp() > begin + 0.2)
            np.testing.assert_allclose(client.getActualQ(), START, atol=1e-3)
            # It holds gravity: the shoulder and the elbow carry the arm, the base nothing.
            current = np.array(client.getActualCurrent())
            assert abs(current[0]) < 0.1 < min(abs(current[1:3]))
            assert (client.getRobotMode(), client.getSafetyMode()) == (7, 1)
            client.disconnect()
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(10.0) == 130


def test_an_interrupted_controller_stays_until_its_clients_have_left():
    """A driver that ends at the same Ctrl-C needs its robot to end."""
    offset = random.randrange(1000, 30000)
    with subprocess.Popen(
        [*COMMAND, '--robot', 'ur5', '--port-offset', str(offset)], stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert 'listens' in process.stdout.readline()
        client = connect(RtdeOptions(HOST, FIELDS, port=30004 + offset))
        client.receive()
        process.send_signal(signal.SIGINT)
        stamps = [client.receive()[0] for _ in range(125)]  # a second at the rate of a CB3
        np.testing.assert_allclose(np.diff(stamps), 0.008, atol=1e-9)
        client.close()
        assert process.wait(3.0) == 130


def test_our_clients_read_it_without_a_gap():
    with serving() as (_, port, _):
        sample, stamps = receive(port, count=250)
        np.testing.assert_allclose(np.diff(stamps), 0.002, atol=1e-9)
        np.testing.assert_allclose(sample['actual_q'], START, atol=1e-3)
        assert robot_mode(HOST, port(29999)) == 'RUNNING'


def test_a_driver_moves_it_by_its_sockets(driven):
    """servoj, a payload by script command, and a spline with its result; then `shutdown`."""
    robot, _, driver = driven

    def is_there():
        driver.servo(START + 0.01)
        return np.abs(robot.reference.q - START - 0.01).max() < 1e-4

    wait_until(is_there)
    driver.script_command_socket.sendall(struct.pack(
        '>28i', 12, 1_500_000, 10_000, 20_000, 30_000, *[1000] * 6, *[0] * 17
    ))
    wait_until(lambda: robot.payload == 1.5)
    np.testing.assert_allclose(robot.payload_centre, [0.01, 0.02, 0.03])
    driver.reverse_socket.sendall(struct.pack('>8i', 5000, 1, 1, 0, 0, 0, 0, 3))
    target = [round(1e6 * angle) for angle in START]
    driver.trajectory_socket.sendall(struct.pack('>21i', *target, *[0] * 12, 300_000, 1, 51))
    driver.trajectory_socket.settimeout(10.0)
    assert driver.trajectory_socket.recv(4) == bytes(4)
    np.testing.assert_allclose(robot.reference.q, START, atol=1e-6)
    driver.reverse_socket.sendall(struct.pack('>8i', 5000, *[0] * 6, -2))
    assert driver.script_command_socket.recv(1) == b''  # The robot has hung up.
    wait_until(lambda: robot.program is None)


def test_a_driver_that_dies_leaves_the_arm_at_rest(driven):
    robot, port, driver = driven
    for cycle in range(150):
        driver.servo(moved(0.002 * cycle))
        time.sleep(0.002)  # The period of a driver, whose commands are of their time.
    driver.reverse_socket.close()
    wait_until(lambda: robot.program is None and robot.is_at_rest)
    state = pendant(port, 'state')
    assert state['program'] == 'STOPPED' and 0.5 < state['peak_speed'] < 2.0


def test_play_runs_the_program_that_the_driver_gives(monkeypatch):
    """A driver's sender stays connected after its program; the pendant says play once."""
    with ExitStack() as stack:
        robot, port, _ = stack.enter_context(serving())
        driver = DriverSockets(stack)
        sender = stack.enter_context(socket.create_server((HOST, 0)))
        sender.settimeout(10.0)
        monkeypatch.setattr(network, 'SENDER_PORT', sender.getsockname()[1])
        pendant(port, 'play')
        connection = stack.enter_context(sender.accept()[0])
        assert connection.recv(100) == b'request_program\n'
        connection.sendall(driver.program())
        driver.accept()
        assert robot.program is not None


def test_a_program_from_elsewhere_is_not_connected_to():
    """The robot dials the sender of a program, and nobody else whom its text names."""
    with ExitStack() as stack:
        robot, port, lines = stack.enter_context(serving())
        driver = DriverSockets(stack)
        stack.enter_context(dial(port(30001))).sendall(driver.program('192.0.2.1'))
        wait_until(lambda: any('192.0.2.1' in line for line in lines))
        port_of = str(driver.servers['reverse_socket'].getsockname()[1]).encode()
        stack.enter_context(dial(port(30001))).sendall(driver.program().replace(port_of, b'70000'))
        wait_until(lambda: any('not External Control' in text for text in robot.messages))
        assert robot.program is None


def test_faults_are_seen_by_a_client():
    options = {'missing_fields': 'payload,joint_temperatures', 'calibration_error': 0.01}
    with serving(**options) as (robot, port, _):
        with pytest.raises(RtdeRefusedError, match='payload'):
            connect(RtdeOptions(HOST, ('actual_q', 'payload'), ('payload',), port=port(30004)))
        assert robot.checksums()[0] != make_robot().checksums()[0]
        assert robot.checksums()[1:] == make_robot().checksums()[1:]
        pendant(port, 'loss 0.5')
        _, stamps = receive(port, count=200)
        assert 0.3 < 200 / ((stamps[-1] - stamps[0]) / 0.002) < 0.7
        assert pendant(port, 'no faults', 'slider 0.3')['slider'] == 0.3
        pendant(port, 'rtde cut 0.3')
        with dial(port(30004)) as refused:
            assert refused.recv(1) == b''
        wait_until(lambda: robot.time > robot.faults.cut_until)
        assert receive(port)[0]['safety_mode'] == 1
        pendant(port, 'payload ignored')
        robot.set_payload(2.0, np.zeros(3), np.zeros(6))
        assert robot.payload == 0.0
        assert pendant(port, 'protective stop')['safety_mode'] == 'PROTECTIVE_STOP'
        assert receive(port)[0]['safety_mode'] == 3
        assert pendant(port, 'unlock', 'emergency stop')['safety_mode'] == 'ROBOT_EMERGENCY_STOP'
        wait_until(lambda: robot_mode(HOST, port(29999)) == 'POWER_OFF')
        pendant(port, 'restart safety', 'brake release')
        wait_until(lambda: robot_mode(HOST, port(29999)) == 'RUNNING')


def test_clients_are_bounded_and_inputs_are_one_clients():
    with serving() as (_, port, _), ExitStack() as stack:
        recipe = struct.pack('>HB', 3 + 39, ord('I')) + b'speed_slider_mask,speed_slider_fraction'
        recipe = struct.pack('>HB', len(recipe), ord('I')) + recipe[3:]
        answers = []
        for _ in range(8):
            client = stack.enter_context(dial(port(30004)))
            client.sendall(recipe)
            answers.append(client.recv(100)[4:])
        assert answers[0] == b'UINT32,DOUBLE' and set(answers[1:]) == {b'IN_USE,IN_USE'}
        assert stack.enter_context(dial(port(30004))).recv(1) == b''  # a ninth


def test_garbage_ends_its_own_connection_alone(rng):
    """2400 mutated packets on five ports: another client misses no sample, the arm stays."""
    setup = struct.pack('>HBd', 3 + 8 + 18, ord('O'), 500.0) + b'timestamp,actual_q'
    seeds = {
        29990: [b'state\n', b'slider 0.5\n', b'rtde cut 1e400\n'],
        29999: [b'robotmode\n', b'load a.urp\n', b'popup \xff\n'],
        30001: [b'def x():\n  connect_socket("127.0.0.1", 1, "reverse_socket")\nend\n', b'sec y'],
        30002: [b'set unlock protective stop\n', b'def z():\n\n'],
        30004: [setup, struct.pack('>HBH', 5, ord('V'), 2), struct.pack('>HBB', 4, ord('U'), 1)],
    }
    with serving() as (robot, port, lines):
        bystander = connect(RtdeOptions(HOST, FIELDS, port=port(30004)))
        stamps = [bystander.receive()[0]]
        for number in range(480):
            for kind, packets in seeds.items():
                data = bytearray(packets[number % len(packets)] * rng.integers(1, 4))
                for index in rng.integers(0, len(data), rng.integers(0, 6)):
                    data[index] = rng.integers(0, 256)
                cut = rng.integers(1, len(data) + 1)
                with dial(port(kind)) as connection:
                    connection.sendall(bytes(data[:cut]))
            stamps += [bystander.receive()[0] for _ in range(3)]
            assert threading.active_count() < 10
        np.testing.assert_allclose(np.diff(stamps), 0.002, atol=1e-9)
        bystander.close()
        assert robot_mode(HOST, port(29999)) is not None
        assert not any('Traceback' in line for line in lines)
    assert robot.peaks.speed < 0.01
