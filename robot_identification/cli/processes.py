# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Start our ROS nodes as processes, on a graph of their own.

Nothing here imports ROS. Discovery is limited to this host and a ROS_DOMAIN_ID that no other
demo or test uses, so that a simulated experiment cannot meet a real robot.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
import fcntl
import importlib.util
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
from typing import Any, IO

from robot_identification.cli.signals import ended_as_by_interrupt
from robot_identification.errors import MissingDependencyError, UsageError
from robot_identification.files import dump_yaml
from robot_identification.model import share_directory

# Linux keeps its ephemeral ports clear of these domains.
DOMAINS = range(1, 102)
STOP_SECONDS = 6.0
MOVER = 'experiment_runner'


def check_ros() -> None:
    """Raise MissingDependencyError if rclpy cannot be imported."""
    if importlib.util.find_spec('rclpy') is None:
        raise MissingDependencyError(
            'rclpy', 'starting ROS nodes',
            'source /opt/ros/<distribution>/setup.bash` or, from a checkout, `make setup',
        )


@contextmanager
def own_domain() -> Iterator[int]:
    """
    Yield a ROS_DOMAIN_ID that no other process of this package holds.

    Processes of this user on this host are compared. Raises UsageError if all are taken.
    """
    folder = Path(tempfile.gettempdir()) / f'robot_identification_domains_{os.getuid()}'
    folder.mkdir(mode=0o700, exist_ok=True)
    for offset in range(len(DOMAINS)):
        domain = DOMAINS[(os.getpid() + offset) % len(DOMAINS)]
        with (folder / str(domain)).open('w') as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            yield domain
            return
    raise UsageError(f'all of ROS_DOMAIN_ID {DOMAINS[0]} to {DOMAINS[-1]} are in use by this user')


def isolated_environment(domain: int) -> dict[str, str]:
    """Return an environment in which ROS sees only this host and this domain."""
    profile = str(share_directory() / 'config' / 'nodes' / 'fast_discovery.xml')
    dropped = ('ROS_LOCALHOST_ONLY', 'ROS_STATIC_PEERS', 'ROS_DISCOVERY_SERVER', 'CYCLONEDDS_URI')
    environment = {key: value for key, value in os.environ.items() if key not in dropped}
    return {
        **environment,
        'ROS_DOMAIN_ID': str(domain),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        'FASTRTPS_DEFAULT_PROFILES_FILE': profile,
        'FASTDDS_DEFAULT_PROFILES_FILE': profile,
        'RCUTILS_LOGGING_BUFFERED_STREAM': '0',
        'PYTHONUNBUFFERED': '1',
    }


class NodeProcess:
    """
    Running process of one of our nodes.

    `name` is that of the executable, `parameters` are its ROS parameters, `environment` comes from
    `isolated_environment`, and `log` takes its output.
    """

    def __init__(
        self,
        name: str,
        parameters: Mapping[str, Any],
        environment: Mapping[str, str],
        log: Path,
    ) -> None:
        self.name = name
        self.log = log
        self._stream: IO[bytes] = log.open('wb')
        self._parameters = log.with_suffix('.yaml')
        self._parameters.write_text(dump_yaml({'/**': {'ros__parameters': dict(parameters)}}))
        self.process = self._start(
            ['--ros-args', '--params-file', str(self._parameters)], dict(environment)
        )

    def _start(
        self, arguments: list[str], environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, '-m', f'robot_identification.nodes.{self.name}', *arguments],
            env=environment, stdout=self._stream, stderr=subprocess.STDOUT,
            # Ctrl-C reaches us alone; we stop the nodes in order.
            start_new_session=True,
        )

    @property
    def exit_code(self) -> int | None:
        """Exit code, or None while it runs."""
        return self.process.poll()

    def last_words(self) -> str:
        """Return the last error line of its output."""
        lines = [line for line in self.log.read_text(errors='replace').splitlines() if line]
        errors = [line for line in lines if 'ERROR' in line or line.startswith('error:')]
        return (errors or lines or ['it said nothing'])[-1]

    def stop(self) -> None:
        """Interrupt it, again if it does not hear, and kill it in the end."""
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
            if self.exit_code is not None:
                break
            self.process.send_signal(number)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                continue
        self._stream.close()


@contextmanager
def running(nodes: list[NodeProcess]) -> Iterator[None]:
    """
    Stop nodes at the end of the block, however it ends.

    The one that moves the robot is first, so that a motion ends at once; then the last started.

    SIGTERM, SIGHUP and SIGQUIT end it as Ctrl-C does; once the nodes are being stopped, no signal
    keeps them from it.
    """
    with ended_as_by_interrupt() as signals:
        try:
            yield
        finally:
            for number in signals:
                signal.signal(number, signal.SIG_IGN)
            movers = [node for node in nodes if node.name == MOVER]
            others = [node for node in reversed(nodes) if node.name != MOVER]
            for node in movers + others:
                node.stop()
