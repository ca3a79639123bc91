# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Waiting for a controller by its dashboard server: bounded, and it says what it waits for."""

from contextlib import contextmanager
import socket
import threading
import time

import pytest
from robot_identification.rtde import dashboard
from robot_identification.rtde.dashboard import main, robot_mode, wait_for_controller

HOST = '127.0.0.1'
GREETING = 'Connected: Universal Robots Dashboard Server\n'


@contextmanager
def server_of(answers, greeting=GREETING):
    """Yield the port of a dashboard server that gives an answer a connection, the last forever."""
    left = list(answers)
    with socket.create_server((HOST, 0)) as server:
        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, connection.makefile('rw', newline='\n') as stream:
                    try:
                        stream.write(greeting)
                        stream.flush()
                        if stream.readline() == 'robotmode\n':
                            stream.write(left.pop(0) if len(left) > 1 else left[0])
                    except OSError:
                        continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join(10.0)


@pytest.fixture
def closed_port():
    with socket.create_server((HOST, 0)) as server:
        return server.getsockname()[1]


@pytest.fixture
def _impatient(monkeypatch):
    """Shorten the periods to some hundredths of a second."""
    monkeypatch.setattr(dashboard, 'PERIOD', 0.02)
    monkeypatch.setattr(dashboard, 'REPORT_PERIOD', 0.05)


@pytest.mark.parametrize('answer, mode', [
    ('Robotmode: POWER_OFF\n', 'POWER_OFF'),
    ('robotmode: RUNNING\r\n', 'RUNNING'),
    ('Robotmode: NO_CONTROLLER\n', 'NO_CONTROLLER'),
    ('could not understand: robotmode\n', None),
    ('Robotmode:\n', None),
    ('Robotmode: \x1b[2J\x07IDLE\n', '?[2J?IDLE'),
    ('', None),
    ('x' * 100_000, None),
])
def test_the_robot_mode_is_read(answer, mode):
    """As the server states it; another answer is none."""
    with server_of([answer]) as port:
        assert robot_mode(HOST, port) == mode


def test_no_server_has_no_mode(closed_port, monkeypatch):
    """Nor has one that accepts, and is silent."""
    assert robot_mode(HOST, closed_port) is None
    monkeypatch.setattr(dashboard, 'ANSWER', 0.1)
    with socket.create_server((HOST, 0)) as silent:
        assert robot_mode(HOST, silent.getsockname()[1]) is None


def test_the_controller_is_waited_for(_impatient):
    """The server of URSim answers before its controller is up."""
    said = []
    answers = [f'Robotmode: {mode}\n' for mode in (*dashboard.STARTING_MODES, 'POWER_OFF')]
    with server_of(answers) as port:
        assert wait_for_controller(HOST, 30.0, port, said.append)
    assert said[0] == f'waiting for the dashboard server at {HOST}:{port}, at most 30 s'
    assert said[-1].endswith('answers: robot mode POWER_OFF')


def test_the_wait_is_bounded_and_said(_impatient, closed_port):
    """It says from time to time what is missing, and at the end."""
    said = []
    start = time.monotonic()
    assert not wait_for_controller(HOST, 0.3, closed_port, said.append)
    # A refused connection takes no time; 5 s for a machine that does something else.
    assert time.monotonic() - start < 5.0
    assert any(' yet (' in line for line in said)
    assert said[-1].startswith(f'no answer at {HOST}:{closed_port} after')
    with server_of(['Robotmode: BOOTING\n']) as port:
        assert not wait_for_controller(HOST, 0.1, port, said.append)
    assert said[-1].startswith('robot mode BOOTING at')


def test_the_exit_code_says_whether_it_came_up(_impatient, closed_port, capsys):
    """Of the process that a launch file starts."""
    with server_of(['Robotmode: IDLE\n']) as port:
        assert main([HOST, '--port', str(port), '--seconds', '20']) == 0
    assert main([HOST, '--port', str(closed_port), '--seconds', '0.1']) == 1
    assert 'robot mode IDLE' in capsys.readouterr().out
