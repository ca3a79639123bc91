# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Identifies an arm on request: from bags, or from the messages of a bag that is replayed."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
import shutil
import sys
import tempfile
import threading

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.parameter import Parameter
from robot_identification.arrays import folder as large_temporary_files
from robot_identification.errors import DataError, IdentificationError, UsageError
from robot_identification.estimation import IdentifyOptions
from robot_identification.files import check_writable
from robot_identification.nodes.common import (
    declare, declare_options, declare_robot, in_parameters, LATCHED, no_arguments, run_node,
    serve, serve_with_arguments,
    STEADY_CLOCK, value_of,
)
from robot_identification.nodes.identification_job import (
    IdentificationJob, JobProcess,
)
from robot_identification.nodes.long_work import LongWork
from robot_identification.nodes.raw_listener import RawListener
from robot_identification.nodes.robot import robot_from_parameters, RobotDescription
from robot_identification.nodes.roots import declare_roots, read_path, read_paths, write_path
from robot_identification.options import from_values
from robot_identification.report import RESULT_FILES
from std_msgs.msg import String

# Of taking what has come [s]; chosen: far below what the queue holds, and the end of a replay is
# noticed at once for a person.
LISTENING_PERIOD = 0.05
STATE_PERIOD = 1.0  # of /diagnostics [s]; chosen: once a second is enough for a person
# In which a bag of what was received is closed [s]; chosen: far above what a working disk takes.
CLOSING_TIMEOUT = 30.0


class Identifier(Node):
    """
    Answers ~/identify when model, report and results are written.

    The work is done by another process: this one listens, answers, and ends it when asked.
    """

    def __init__(self) -> None:
        super().__init__('identifier')
        declare_roots(self)
        declare_robot(self)
        _declare_options(self)
        prefix = declare(
            self, 'tf_prefix', '', "prefix of the driver's joint names in robot_description",
            longest=128, read_only=True,
        )
        self._description = RobotDescription(self, used=False, prefix=prefix)
        self._listener: RawListener | None = None
        self._received: Path | None = None
        self._temporary: Path | None = None
        self._quiet = 0.0
        self._end_listening, self._listened = threading.Event(), threading.Event()
        self._listening_error: IdentificationError | None = None
        self._messages = 0
        self._result = self.create_publisher(String, '~/result', LATCHED)
        several = ReentrantCallbackGroup()
        self._work = LongWork(
            self, 'identification', several, lambda: {'messages': self._count()}
        )
        serve_with_arguments(self, '~/identify', self._identify, callback_group=several)
        serve(self, '~/abort', self._abort, callback_group=several)
        one = MutuallyExclusiveCallbackGroup()
        serve(self, '~/listen', self._listen, callback_group=one)
        self.create_timer(
            LISTENING_PERIOD, self._watch_listening, callback_group=one, clock=STEADY_CLOCK
        )
        if self.get_parameter('listen.at_start').value:
            self._listen()

    def close(self) -> bool:
        """End what runs; return whether it has ended."""
        self._end_listening.set()
        return self._work.close() and self._listener is None

    def destroy_node(self) -> None:
        """End what a call began while the node was asked to leave, and take it off the graph."""
        try:
            if self._listener is not None:
                self._listener.close()
        except IdentificationError as error:
            self.get_logger().error(str(error))
        self._forget()
        super().destroy_node()

    def _count(self) -> int:
        return self._messages if self._listener is None else self._listener.message_count

    def _abort(self) -> str:
        self._end_listening.set()
        if self._work.is_running:
            return self._work.abort()
        if self._listener is None:
            raise UsageError('nothing is being received or identified')
        return 'listening ends'

    def _listen(self) -> str:
        if self._work.is_running:
            raise UsageError('BUSY: an identification is running')
        if self._listener is not None:
            raise UsageError(f'BUSY: listening already, {self._count()} messages were received')
        self._forget()
        if self.get_parameter('listen.output').value:
            path = write_path(self, 'listen.output')
        else:
            self._temporary = Path(tempfile.mkdtemp(
                prefix='robot_identification_received_', dir=large_temporary_files()
            ))
            path = self._temporary / 'received'
        for event in (self._end_listening, self._listened):
            event.clear()
        self._quiet = self.get_parameter('listen.quiet').value
        listener = RawListener(
            self, list(self.get_parameter('listen.topics').value), path,
            self.get_parameter('listen.maximum_size').value,
        )
        self._messages = 0
        self._listener = listener
        return f'listening {self._enter_listening(listener)}; then call ~/identify'

    def _enter_listening(self, listener: RawListener) -> str:
        topics = f'to {", ".join(listener.types)}'
        self._work.enter('LISTENING', topics)
        return topics

    def _forget(self) -> None:
        """Forget what was received before; what was asked to be kept stays on the disk."""
        self._received = None
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None

    def _watch_listening(self) -> None:
        listener = self._listener
        if listener is None:
            return
        listener.poll()
        is_quiet = 0.0 < self._quiet < listener.quiet_for
        if not (is_quiet or listener.problem or self._end_listening.is_set()):
            return
        self._listening_error = None
        try:
            self._received = listener.finish()
        except IdentificationError as error:
            self._listening_error = error
        self._messages = listener.message_count
        self._listener = None
        self._listened.set()
        if self._end_listening.is_set():
            # What asked for it goes on with it.
            if not self._work.is_running:
                self._work.enter('IDLE', 'listening was aborted')
        elif self._listening_error is not None:
            self._work.enter('FAILED', in_parameters(str(self._listening_error)))
        else:
            self.get_logger().info(f'nothing new came for {self._quiet:g} s')
            # In a thread of the executor, which the end of this node waits for.
            assert self.executor is not None
            self.executor.create_task(self._identify_received)

    def _identify_received(self) -> None:
        try:
            self._identify()
        except (IdentificationError, OSError) as error:
            self.get_logger().error(in_parameters(str(error)))

    def _identify(self, take_arguments: Callable[[], None] = no_arguments) -> str:
        try:
            return self._work.run(self._do_job, take_arguments)
        except (IdentificationError, OSError):
            if self._listener is not None:
                self._enter_listening(self._listener)
            raise

    def _do_job(self) -> str:
        if not self.get_parameter('identify.output').value:
            raise UsageError('set identify.output, and identify.bags or call ~/listen, first')
        output = write_path(self, 'identify.output')
        force = self.get_parameter('identify.force').value
        for name in RESULT_FILES:
            check_writable(output / name, force, 'set identify.force true to overwrite it')
        options = _options(self)
        joints = [joint for joint in value_of(self, 'joints') or () if joint]
        robot = robot_from_parameters(self, self._description.read(), joints or None)
        job = IdentificationJob(robot, tuple(self._bags()), options, output, force)
        self._on_progress(0.0, 'starting')
        self._work.enter('IDENTIFYING', f'from {", ".join(map(str, job.bags))}')
        found = JobProcess(job).wait(self._on_progress, lambda: self._work.is_aborted)
        for texts in 'notes', 'reasons':
            found[texts] = [in_parameters(text) for text in found[texts]]
        for note in found['notes']:
            self.get_logger().info(note)
        content = json.dumps(found)
        self._result.publish(String(data=content))
        self._on_progress(1.0, 'done')
        reason = f'{found["model"]} is written, verdict {found["verdict"]}'
        self.get_logger().info('; '.join((reason, *found['reasons'])))
        self._work.enter('DONE', reason)
        return content

    def _on_progress(self, share: float, stage: str) -> None:
        self._work.report(share, stage=stage)
        self.get_logger().info(f'{share:.0%} {stage}')

    def _bags(self) -> list[Path]:
        """Return the bags that are named, else that of what was received, which is closed."""
        bags = read_paths(self, 'identify.bags')
        if bags and self._listener is not None:
            raise UsageError(
                "identify.bags are set, and a replay is being received: set identify.bags to [''] "
                'to identify from it, or call ~/abort first'
            )
        if bags:
            return bags
        if self._listener is not None:
            self._end_listening.set()
            if not self._listened.wait(CLOSING_TIMEOUT):
                raise DataError(
                    f'the bag of what was received was not closed within {CLOSING_TIMEOUT:.0f} s: '
                    'is the disk slow, or full?'
                )
            if self._listening_error is not None:
                raise self._listening_error
        if self._received is None:
            raise UsageError('set identify.bags, or call ~/listen and play a bag, first')
        return [self._received]


def _declare_options(node: Node) -> None:
    """Declare the parameters of the identification and of listening."""
    declare(node, 'joints', Parameter.Type.STRING_ARRAY,
            'joints that move, kinematic order; not set: all of the robot')
    _declare_identification(node)
    _declare_listening(node)


def _declare_identification(node: Node) -> None:
    """Declare what the command line's `identify` offers, by the same words."""
    declare(node, 'identify.bags', Parameter.Type.STRING_ARRAY,
            "bags to identify from; not set, or ['']: the messages of ~/listen")
    declare(node, 'identify.output', '', 'folder for model, report and results')
    declare(node, 'identify.force', False, 'overwrite existing results')
    declare_options(node, IdentifyOptions, prefix='identify.')


def _declare_listening(node: Node) -> None:
    declare(
        node, 'listen.topics', ['joint_states'],
        'topics to record, that of the joint states first; NAME=PACKAGE/msg/TYPE where the '
        'type is unknown before the first message',
    )
    declare(
        node, 'listen.output', '',
        'bag of the received messages; empty: a temporary one, deleted at the next ~/listen',
    )
    declare(
        node, 'listen.quiet', 0.0,
        'identify after this time without a message [s]; 0: wait for ~/identify', minimum=0.0,
        maximum=86_400.0,
    )
    declare(
        node, 'listen.maximum_size', 4000.0, 'limit of all received messages [MB]', minimum=0.1,
        maximum=1e6,
    )
    declare(node, 'listen.at_start', False, 'listen from the start of the node')


def _options(node: Node) -> IdentifyOptions:
    def value(key: str):
        # What is empty, zero or false is not given, as on the command line.
        given = node.get_parameter(f'identify.{key}').value or None
        is_path = key in ('config', 'mapping')
        return str(read_path(node, f'identify.{key}')) if given and is_path else given

    return from_values(IdentifyOptions, value)


def main() -> None:
    """Run the node."""
    sys.exit(run_node(Identifier, threads=4))


if __name__ == '__main__':
    main()
