# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Nodes forked from a process that has imported what they need.

A node imports for a second of processor time, and there are some hundred starts of nodes in these
tests. Run as a program, this file is that process: it listens on a socket, forks a node for each
request, and tells how each ended. Nodes with variables of their own start the usual way.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
from pathlib import Path
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any, NoReturn

NODES = (
    'bag_recorder', 'experiment_coordinator', 'experiment_runner', 'friction_tester', 'identifier',
    'rtde_reader', 'simulated_robot',
    'torque_predictor', 'trajectory_generator',
)
# Loaded by a node with its first call of them.
LATER = (
    'scipy.interpolate', 'scipy.linalg', 'scipy.optimize', 'scipy.signal', 'scipy.special',
    'scipy.stats', 'xml.etree.ElementTree',
)
PACKAGE = 'robot_identification.nodes'
START_TIMEOUT = 60.0


class ForkedProcess:
    """A node in a process that somebody else waits for, with the face of `subprocess.Popen`."""

    def __init__(self, forker: Forker, pid: int) -> None:
        self._forker, self.pid = forker, pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        if self.returncode is None:
            self.returncode = self._forker.ended(self.pid, 0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; return the exit code."""
        end = time.monotonic() + (1e9 if timeout is None else timeout)
        while self.poll() is None:
            rest = end - time.monotonic()
            if rest <= 0.0:
                raise subprocess.TimeoutExpired(f'process {self.pid}', timeout or 0.0)
            self.returncode = self._forker.ended(self.pid, min(rest, 0.1))
        return self.poll() or 0

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forker:
    """The process that forks; one for each process that runs tests."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        self._lock = threading.Lock()
        self._codes: dict[int, int] = {}
        self._text = b''
        atexit.register(self.close)

    def close(self) -> None:
        """End it, and with it every node that still runs."""
        self._socket.close()
        self._process.wait()

    def start(
        self, name: str, arguments: list[str], environment: dict[str, str], log: Path
    ) -> ForkedProcess:
        """Fork a node; its output goes to `log`."""
        request = {
            'name': name, 'arguments': arguments, 'environment': environment, 'log': str(log),
            'folder': str(Path.cwd()),
        }
        with self._lock:
            self._socket.sendall(json.dumps(request).encode() + b'\n')
            end = time.monotonic() + START_TIMEOUT
            while (answer := self._read(end - time.monotonic())).get('pid') is None:
                if time.monotonic() > end:
                    raise TimeoutError(f'no process for {name}')
            self._codes.pop(answer['pid'], None)
        return ForkedProcess(self, answer['pid'])

    def ended(self, pid: int, timeout: float) -> int | None:
        """Return the exit code of a process that ends within `timeout` seconds, else None."""
        with self._lock:
            if pid not in self._codes:
                self._read(timeout)
            return self._codes.get(pid)

    def _read(self, timeout: float) -> dict[str, Any]:
        """Note what ended; return the answer to a request if there is one."""
        while True:
            line, found, self._text = self._text.partition(b'\n')
            if found:
                message: dict[str, Any] = json.loads(line)
                if 'pid' in message:
                    return message
                self._codes[message['ended']] = message['code']
                timeout = 0.0
                continue
            self._text = line
            ready, _, _ = select.select([self._socket], [], [], max(timeout, 0.0))
            received = self._socket.recv(65536) if ready else b''
            if not received:
                return {}
            self._text += received


def serve(connection: socket.socket) -> dict[str, Any] | None:
    """Fork until the other side is gone; return the request in a child, None in the parent."""
    children: set[int] = set()
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.set_wakeup_fd(wake)
    text = b''
    while True:
        ready, _, _ = select.select([connection, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _tell_ended(connection, children)
        if connection not in ready:
            continue
        received = connection.recv(65536)
        if not received:
            for pid in children:
                os.kill(pid, signal.SIGKILL)
            return None
        text += received
        while b'\n' in text:
            line, _, text = text.partition(b'\n')
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                for end in (woken, wake):
                    os.close(end)
                connection.close()
                request: dict[str, Any] = json.loads(line)
                return request
            children.add(pid)
            connection.sendall(json.dumps({'pid': pid}).encode() + b'\n')


def _tell_ended(connection: socket.socket, children: set[int]) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        children.discard(pid)
        code = os.waitstatus_to_exitcode(status)
        connection.sendall(json.dumps({'ended': pid, 'code': code}).encode() + b'\n')


def become(request: dict[str, Any]) -> NoReturn:
    """Be the node that is wanted, as if Python had just started with it."""
    os.setsid()
    for number, handler in (
        (signal.SIGCHLD, signal.SIG_DFL), (signal.SIGINT, signal.default_int_handler),
        # Tests under nohup are no other ones.
        (signal.SIGHUP, signal.SIG_DFL), (signal.SIGQUIT, signal.SIG_DFL),
    ):
        signal.signal(number, handler)
    os.chdir(request['folder'])
    os.environ.clear()
    os.environ.update(request['environment'])
    log = os.open(request['log'], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, source in ((0, nothing), (1, log), (2, log)):
        os.dup2(source, descriptor)
    sys.stdout = os.fdopen(1, 'w', buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, 'w', buffering=1, closefd=False)
    node = importlib.import_module(f'{PACKAGE}.{request["name"]}')
    sys.argv = [str(node.__file__), *request['arguments']]
    # Where processes of the node's own look for what to import.
    sys.modules['__main__'] = node
    try:
        node.main()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        leave(end.code or 0)
    leave(0)


def leave(code: int) -> NoReturn:
    """End as Python does, but for the memory, which it takes a second to free."""
    # Threads are waited for and what is registered for the end is done.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    # As `python -m` has it; beside this file are folders that have names of packages.
    sys.path[0] = str(Path.cwd())
    for module in (*(f'{PACKAGE}.{name}' for name in NODES), *LATER):
        importlib.import_module(module)
    request = serve(socket.socket(fileno=int(sys.argv[1])))
    if request is not None:
        become(request)


if __name__ == '__main__':
    main()
