# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Records raw messages to a rosbag2 MCAP bag between ~/start and ~/stop."""

from __future__ import annotations

from collections.abc import Callable
import gc
import math
from pathlib import Path
import re
import shutil
import sys
import time

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
import robot_identification
from robot_identification.errors import BagError, UsageError
from robot_identification.model import STATED_UNITS
from robot_identification.nodes.common import (
    declare, run_node, serve, serve_with_arguments, STEADY_CLOCK,
)
from robot_identification.nodes.diagnostics import Diagnostics
from robot_identification.nodes.driver_notes import DriverNotes
from robot_identification.nodes.recording_session import RecordingOrder, RecordingSession
from robot_identification.nodes.roots import declare_roots, write_path
from robot_identification.nodes.status import full_topic_name, PublishedState, RunnerWatch
from robot_identification.recording import DRIVER, DYNAMIC_JOINT_STATE

IDLE, RECORDING, FAULT = 'IDLE', 'RECORDING', 'FAULT'
# A call may overtake messages that were published before it: a stop waits so long for them [s];
# chosen: twenty messages of 500 Hz.
TRANSIT_TIME = 0.04
HEARTBEAT = 0.1  # [s]; chosen: a disk that is full is noticed this soon
# Heartbeats from one check of the disk, the runner and the optional topics to the next, and from
# one report to the next; chosen: half a second and a second.
_CHECK, _REPORT = 5, 10
# What a topic takes at most [bytes/s]; chosen: six joints at 500 Hz take 156 000 (312 bytes a
# message, docs/experiments.md).
TOPIC_RATE = 250_000
# The same for those with every interface of the driver, and with four states of the controller
# [bytes/s]; chosen: 6000 and 1600 bytes a message at 500 Hz.
LARGE_TOPICS = {'dynamic_joint_states': 3_000_000, 'controller_state': 800_000}
MEGABYTE = 1e6  # [bytes]; by definition, SI
OPTIONAL_TOPICS = (
    'dynamic_joint_states',
    'scaled_joint_trajectory_controller/controller_state',
    'speed_scaling_state_broadcaster/speed_scaling',
    'io_and_status_controller/robot_program_running',
    'io_and_status_controller/safety_mode',
    'io_and_status_controller/robot_mode',
    'joint_temperatures',
    'rtde/joint_temperatures',
    'rtde/target_moment',
    'rtde/target_current',
    'rtde/actual_current',
    'rtde/timestamp',
)
# Parameters below `start.` that go into the custom data of the bag.
NOTES = (
    'robot', 'effort_unit', 'trajectory_sha256', 'serial', 'payload', 'configuration_hash',
    'mounting',
)


class BagRecorder(Node):
    """
    Writes what arrives, as it arrives; nothing is deserialized.

    A thread of its session takes and writes messages, as rclpy's executors take more time for a
    message than its writing does (`python -m benchmarks recorder`).
    """

    def __init__(self) -> None:
        super().__init__('bag_recorder')
        declare_roots(self)
        declare(self, 'start.output', '', 'folder of the bag to write; it must not exist')
        declare(self, 'start.topics', ['joint_states'], 'topics that must be published',
                longest=100)
        declare(self, 'start.optional_topics', list(OPTIONAL_TOPICS),
                'topics that are recorded as soon as they are published', longest=100)
        self._declare_notes()
        declare(self, 'start.expected_duration', 60.0,
                'expected duration of the recording [s]; twice its size must be free',
                minimum=0.0, maximum=1e6)
        declare(self, 'start.topic_timeout', 5.0,
                'longest wait for publishers of the topics, and for the runner [s]',
                minimum=0.0, maximum=600.0)
        declare(self, 'start.until_runner_ends', False,
                'close the bag when the motion of the experiment runner has ended')
        declare(self, 'runner', 'experiment_runner', 'name of the experiment runner',
                longest=200)
        declare(self, 'minimum_free_space', 500.0,
                'required free space [MB]; a recording with less does not begin, or ends',
                minimum=0.0, maximum=1e9)
        self._state, self._reason = IDLE, 'nothing was recorded yet'
        self._session: RecordingSession | None = None
        # Entries of ~/state about the last recording.
        self._summary: dict[str, object] = {
            'path': '', 'messages': 0, 'bytes': 0, 'lost': {}, 'trajectory_sha256': '',
        }
        self._runner: RunnerWatch | None = None
        self._beats = 0
        self._free = 0.0
        self._counted: dict[str, int] = {}
        self._driver = DriverNotes(self)
        self._published = PublishedState(
            self, lambda: (self._state, self._content(), self._session is not None)
        )
        self._diagnostics = Diagnostics(self, 'recording')
        serve_with_arguments(self, '~/start', self._start)
        serve(self, '~/stop', self._stop)
        self.create_timer(HEARTBEAT, self._on_heartbeat, clock=STEADY_CLOCK)
        self._published.publish(self._state, self._content())

    def _declare_notes(self) -> None:
        """Declare what is noted in the bag; empty values are not."""
        declare(self, 'start.robot', '', 'name of the robot, noted in the bag')
        declare(self, 'start.effort_unit', '', 'unit of the effort, noted in the bag; '
                'empty: unknown',
                choices=('', *STATED_UNITS))
        declare(self, 'start.trajectory_sha256', '', 'sha256 of the trajectory, noted in the bag',
                check=_check_sha256)
        declare(self, 'start.serial', '', 'serial number of the robot, noted in the bag')
        declare(self, 'start.payload', '', 'payload of the flange, noted in the bag')
        declare(self, 'start.configuration_hash', '',
                'hash of the configuration of the experiment, noted in the bag')
        declare(self, 'start.mounting', '',
                'roll pitch yaw of the root frame in the world [rad], noted in the bag',
                check=_check_mounting)

    def close(self) -> bool:
        """Close the bag; return True."""
        if self._session is not None:
            self._finish(IDLE, 'the recorder was asked to leave')
        return True

    def _start(self, take_arguments: Callable[[], None]) -> str:
        """Start a recording; return in words where to, and the topics without a publisher."""
        if self._session is not None:
            raise UsageError(f'BUSY: {self._session.order.output} is being recorded')
        take_arguments()
        order = RecordingOrder(
            output=write_path(self, 'start.output'),
            topics=self._topics('start.topics'),
            optional_topics=self._topics('start.optional_topics'),
            metadata=self._metadata(),
            timeout=float(self.get_parameter('start.topic_timeout').value),
        )
        self._check_free_space(order)
        if self.get_parameter('start.until_runner_ends').value:
            self._runner = RunnerWatch(
                self, str(self.get_parameter('runner').value), order.timeout
            )
        self._driver.begin()
        try:
            self._session = RecordingSession(self, order)
        finally:
            if self._session is None:
                self._forget_runner()
        self._counted = {}
        # What is there already needs no look while messages wait.
        gc.collect()
        gc.freeze()
        missing = [name for name in order.optional_topics if name not in self._session.topics]
        self._enter(RECORDING, '')
        yet = f'; recorded as soon as it has a publisher: {", ".join(missing)}'
        recording = f'recording to {order.output}'
        self.get_logger().info(recording)
        return recording + (yet if missing else '')

    def _topics(self, name: str) -> tuple[str, ...]:
        """Return the full names that a parameter lists, each once; empty ones are left out."""
        given = [topic for topic in self.get_parameter(name).value if topic]
        return tuple(dict.fromkeys(full_topic_name(self, topic, name) for topic in given))

    def _metadata(self) -> dict[str, str]:
        notes = {name: str(self.get_parameter(f'start.{name}').value) for name in NOTES}
        if notes['robot'].endswith(('.yaml', '.yml')):
            # Commands compare names, and a file has another name than the arm it describes.
            del notes['robot']
        return {
            **{name: value for name, value in notes.items() if value},
            'recorder': f'robot_identification {robot_identification.__version__}',
            # What is known at the start stands at the front of the file, as the rest does.
            DRIVER: self._driver.record().text(),
        }

    def _minimum_free_space(self) -> float:
        return MEGABYTE * float(self.get_parameter('minimum_free_space').value)

    def _check_free_space(self, order: RecordingOrder) -> None:
        """Raise BagError if less is free than the minimum, or than twice the size expected."""
        duration = float(self.get_parameter('start.expected_duration').value)
        topics = [
            *order.topics,
            *(topic for topic in order.optional_topics if self.count_publishers(topic)),
        ]
        rate = sum(LARGE_TOPICS.get(topic.rpartition('/')[2], TOPIC_RATE) for topic in topics)
        needed = max(self._minimum_free_space(), 2.0 * duration * rate)
        self._free = _free_space(order.output)
        if self._free < needed:
            raise BagError(
                f'{order.output.parent} has {self._free / MEGABYTE:.0f} MB free, and '
                f'{needed / MEGABYTE:.0f} MB are needed (minimum_free_space, or twice what '
                f'{len(topics)} topics take in {duration:.0f} s): make room, record fewer topics, '
                'or lower start.expected_duration'
            )

    def _on_heartbeat(self) -> None:
        self._beats += 1
        if self._session is not None:
            self._session.flush()
            end = self._reason_to_end(self._session)
            if end is not None:
                self._finish(*end)
        if self._session is not None:
            self._published.publish(self._state, self._content())
        if self._beats % _REPORT == 0:
            self._report()

    def _reason_to_end(self, session: RecordingSession) -> tuple[str, str] | None:
        """Return the state to go to and why, None while the recording goes on."""
        if session.failure:
            return FAULT, session.failure
        if self._runner is not None and (ended := self._runner.why_ended(time.monotonic())):
            return IDLE, ended
        if self._beats % _CHECK == 0:
            session.add_published()
            self._driver.poll()
            try:
                self._free = _free_space(session.order.output)
            except OSError as error:
                return FAULT, (
                    f'{session.order.output} was closed: its disk does not answer ({error})'
                )
            least = self._minimum_free_space()
            if self._free < least:
                return FAULT, (
                    f'{session.order.output} was closed: {self._free / MEGABYTE:.0f} MB are free, '
                    f'less than minimum_free_space, {least / MEGABYTE:.0f} MB: make room'
                )
        return None

    def _stop(self) -> str:
        if self._session is None:
            raise UsageError(f'nothing is being recorded: {self._reason}')
        time.sleep(TRANSIT_TIME)
        self._finish(IDLE, 'stopped')
        if self._state != IDLE:
            raise BagError(self._reason)
        return self._reason

    def _finish(self, state: str, reason: str) -> None:
        """Close the bag and go to a state; what goes wrong with the disk is a fault."""
        session = self._session
        if session is None:
            return
        try:
            driver = self._driver.record(session.ends_of(DYNAMIC_JOINT_STATE))
            session.finish({DRIVER: driver.text()})
        except BagError as error:
            state, reason = FAULT, session.failure or str(error)
        self._note(session)
        self._session = None
        self._forget_runner()
        if session.is_gone:
            self._enter(FAULT, session.failure)
            return
        messages = session.writer.message_count
        self._enter(state, f'{reason}: {messages} messages in {session.order.output}')

    def _forget_runner(self) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.close()

    def _enter(self, state: str, reason: str) -> None:
        self._state, self._reason = state, reason
        if state == FAULT:
            self.get_logger().error(reason)
        elif reason:
            self.get_logger().info(reason)
        self._published.publish(self._state, self._content())

    def _note(self, session: RecordingSession) -> None:
        self._summary = {
            'path': str(session.order.output),
            'messages': session.writer.message_count,
            'bytes': session.writer.byte_count,
            'lost': session.lost,
            'trajectory_sha256': session.order.metadata.get('trajectory_sha256', ''),
        }

    def _content(self) -> dict[str, object]:
        """Return what is known of the state."""
        if self._session is not None:
            self._note(self._session)
        return {'reason': self._reason, **self._summary}

    def _report(self) -> None:
        """Publish rates, losses, size, free space and lag as diagnostics."""
        session = self._session
        if session is None:
            level = DiagnosticStatus.ERROR if self._state == FAULT else DiagnosticStatus.OK
            self._diagnostics.publish(level, self._reason, {'state': self._state})
            return
        values: dict[str, object] = {
            'state': self._state,
            'path': session.order.output,
            'bytes': session.writer.byte_count,
            'free [MB]': round(self._free / MEGABYTE),
            'lag [s]': f'{session.take_lag():.4f}',
        }
        for name, topic in session.topics.items():
            rate = (topic.messages - self._counted.get(name, 0)) / (_REPORT * HEARTBEAT)
            self._counted[name] = topic.messages
            values[f'{name} rate [Hz]'] = f'{rate:.0f}'
            values[f'{name} lost'] = topic.lost
            if topic.stamps is not None:
                values[f'{name} duplicates'] = topic.stamps.duplicates
        lost = sum(session.lost.values())
        self._diagnostics.publish(
            DiagnosticStatus.WARN if lost else DiagnosticStatus.OK,
            f'{lost} messages lost' if lost else 'recording',
            values,
        )


def _free_space(path: Path) -> float:
    """Return what is free on the disk of a folder that may not exist yet [bytes]."""
    folder = next(parent for parent in (path, *path.parents) if parent.exists())
    return float(shutil.disk_usage(folder).free)


def _check_sha256(text: str) -> None:
    if text and not re.fullmatch(r'[0-9a-f]{64}', text):
        raise UsageError(f'{text!r:.80} is no SHA-256: it has 64 digits from 0 to f')


def _check_mounting(text: str) -> None:
    """Check that a text is empty or three angles."""
    try:
        angles = [float(word) for word in text.split()]
    except ValueError:
        angles = [math.nan]
    if text and not (len(angles) == 3 and all(map(math.isfinite, angles))):
        raise UsageError(f'{text!r:.80} is not three angles, such as "0 3.1416 0"')


def main() -> None:
    """Run the node."""
    sys.exit(run_node(BagRecorder))


if __name__ == '__main__':
    main()
