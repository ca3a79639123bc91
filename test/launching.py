# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start launch files by the real `ros2 launch`, where it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import shutil
import signal
import subprocess

from ros_helpers import wait_until

# Launch gives nodes five seconds after SIGINT, which a busy machine needs for six of them [s].
PATIENCE = 30.0
# SIGINT, again if it is not heard, and the end of all patience [s].
ENDING = ((signal.SIGINT, PATIENCE), (signal.SIGINT, PATIENCE), (signal.SIGKILL, 5.0))


def why_not_launchable() -> str:
    """Return what is missing to launch our executables here, or an empty string."""
    reason = why_no_launch()
    if reason:
        return reason
    prefix = package_prefix('robot_identification')
    if prefix is None:
        return 'no workspace with robot_identification is sourced'
    if not (prefix / 'lib' / 'robot_identification' / 'simulated_robot').exists():
        return f'{prefix} was not made by `colcon build`'
    return ''


def why_no_launch() -> str:
    """Return what is missing to launch anything here, or an empty string."""
    if shutil.which('ros2') is None:
        return 'ros2 is not installed'
    listed = subprocess.run(['ros2', 'launch', '--help'], capture_output=True, text=True)
    return '' if listed.returncode == 0 else '`ros2 launch` is not installed'


def package_prefix(package: str) -> Path | None:
    """Return where a ROS package is installed, None where it is not."""
    try:
        from ament_index_python import get_package_prefix

        return Path(get_package_prefix(package))
    except (ImportError, LookupError, OSError):
        return None


def why_not_installed(*packages: str) -> str:
    """Return which ROS packages are missing here, or an empty string."""
    missing = [package for package in packages if package_prefix(package) is None]
    return f'{", ".join(missing)} not installed' if missing else ''


class Launch:
    """One of our launch files, running."""

    def __init__(self, name, arguments, folder: Path, environment, command='ros2') -> None:
        self.log = folder / f'{name}.log'
        given = {'sigterm_timeout': PATIENCE, **arguments}
        given = [f'{argument}:={value}' for argument, value in given.items()]
        with self.log.open('w') as log:
            self.process = subprocess.Popen(
                [command, 'launch', 'robot_identification', f'{name}.launch.py', *given],
                env={**environment, 'ROS_LOG_DIR': str(folder / 'ros_log')}, cwd=folder,
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )

    def text(self) -> str:
        return self.log.read_text(errors='replace')

    def wait_for(self, words: str, deadline: float = 60.0) -> None:
        """Wait until something was said."""
        wait_until(lambda: words in self.text() or self._ended(), f'{words!r}', deadline)
        assert words in self.text(), f'the launch ended before it said {words!r}:\n{self.text()}'

    def exit_code(self, deadline: float) -> int:
        wait_until(self._ended, 'the end of the launch', deadline)
        return self.process.returncode

    def interrupt(self, deadline: float = 2.0 * PATIENCE) -> int:
        """Press Ctrl-C once, and wait for the end."""
        self.process.send_signal(signal.SIGINT)
        return self.exit_code(deadline)

    def kill(self) -> None:
        """End it by all means, nodes included; SIGTERM would orphan them."""
        for number, patience in ENDING:
            if self._ended():
                break
            self.process.send_signal(number)
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                continue
        try:
            # What a killed launch has left behind is in its session.
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    def _ended(self) -> bool:
        return self.process.poll() is not None


@contextmanager
def launched(name, arguments, folder: Path, environment, **more) -> Iterator[Launch]:
    """Yield a launch file that runs; whatever is left of it is killed at the end."""
    launch = Launch(name, arguments, folder, environment, **more)
    try:
        yield launch
    finally:
        launch.kill()
        print(launch.text())
