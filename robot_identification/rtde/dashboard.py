# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Wait until the dashboard server of a Universal Robots arm states that its controller is up.

    python -m robot_identification.rtde.dashboard 192.168.56.101 --seconds 900
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
import math
import socket
import sys
import time

from robot_identification.texts import printable

PORT = 29999  # of every dashboard server of PolyScope 3 and 5
PERIOD = 2.0  # between two questions [s]; chosen: an arm takes tens of seconds to come up
ANSWER = 2.0  # longest time for a question and its answer [s]; it answers within one
REPORT_PERIOD = 15.0  # between two lines of the log [s]; chosen: a person sees that it goes on
SHORTEST_ANSWER = 0.1  # that is waited for at the end of the time [s]; chosen
LONGEST_LINE = 1000  # [bytes]; its answers have some tens
# Of a dashboard server whose controller is not up yet.
STARTING_MODES = ('NO_CONTROLLER', 'DISCONNECTED', 'BOOTING')


def robot_mode(host: str, port: int = PORT, seconds: float = ANSWER) -> str | None:
    """Return the robot mode that a dashboard server states, None where none answers in time."""
    deadline = time.monotonic() + seconds
    try:
        with socket.create_connection((host, port), seconds) as connection:
            _read_line(connection, deadline)  # its greeting
            connection.sendall(b'robotmode\n')
            name, _, mode = _read_line(connection, deadline).strip().partition(':')
    # A name that cannot be one of a host is a UnicodeError.
    except (OSError, UnicodeError):
        return None
    return printable(mode.strip()) or None if name.lower() == 'robotmode' else None


def _read_line(connection: socket.socket, deadline: float) -> str:
    """Return a line, or what came of an endless one; raise TimeoutError after the deadline."""
    line = bytearray()
    while not line.endswith(b'\n') and len(line) < LONGEST_LINE:
        left = deadline - time.monotonic()
        if left <= 0.0:
            raise TimeoutError
        connection.settimeout(left)
        # The server says nothing without a question: no byte of the next line is there.
        came = connection.recv(1)
        if not came:
            break
        line += came
    return line.decode('utf-8', 'replace')


def wait_for_controller(
    host: str, seconds: float, port: int = PORT, say: Callable[[str], None] = print,
) -> bool:
    """Return whether the controller came up in time; `say` takes a line from time to time."""
    start = time.monotonic()
    reported = 0.0
    say(f'waiting for the dashboard server at {host}:{port}, at most {seconds:g} s')
    while True:
        left = seconds - (time.monotonic() - start)
        mode = robot_mode(host, port, max(min(ANSWER, left), SHORTEST_ANSWER))
        passed = time.monotonic() - start
        if mode is not None and mode not in STARTING_MODES:
            say(f'the dashboard server at {host}:{port} answers: robot mode {mode}')
            return True
        state = 'no answer' if mode is None else f'robot mode {mode}'
        # Comparisons with NaN are false.
        if not passed + PERIOD <= seconds:
            say(f'{state} at {host}:{port} after {passed:.0f} of {seconds:g} s')
            return False
        if passed - reported >= REPORT_PERIOD:
            reported = passed
            say(f'{state} at {host}:{port} yet ({passed:.0f} of {seconds:g} s)')
        time.sleep(PERIOD)


def main(arguments: Sequence[str] | None = None) -> int:
    """Wait as the arguments say; 0: it is up, 1: it is not, 130: interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('host', help='address of the robot')
    parser.add_argument('--port', type=int, default=PORT)
    parser.add_argument('--seconds', type=float, default=60.0, help='longest time to wait')
    options = parser.parse_args(arguments)
    if not 0.0 <= options.seconds < math.inf:
        parser.error(f'--seconds is {options.seconds}, it must be a finite time, zero or more')
    if not 0 < options.port < 2**16:
        parser.error(f'--port is {options.port}, it must be 1 to 65535')
    try:
        came_up = wait_for_controller(
            options.host, options.seconds, options.port,
            lambda line: print(line, flush=True),
        )
    except KeyboardInterrupt:
        return 130
    return 0 if came_up else 1


if __name__ == '__main__':
    sys.exit(main())
