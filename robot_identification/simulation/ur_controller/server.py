# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The controller on its network: sockets around the sessions, and the cycle of the robot.

Everything happens in one thread: a cycle steps the robot and sends what is due, between two cycles
the sessions take what has come. Nothing that a client sends ends another connection than its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
import errno
from functools import partial
import math
import random
import selectors
import signal
import threading
import time

from robot_identification.errors import UsageError
from robot_identification.options import check_options, option
from robot_identification.simulation.ur_controller import dashboard, pendant, primary, rtde
from robot_identification.simulation.ur_controller.control import ControlSession
from robot_identification.simulation.ur_controller.external_control import ExternalControl
from robot_identification.simulation.ur_controller.primary import (
    LARGEST_PROGRAM, Program, read_program, SOCKETS,
)
from robot_identification.simulation.ur_controller.robot import UrRobot
from robot_identification.simulation.ur_controller.session import ProtocolError, Session

LOOPBACK = '127.0.0.1'
SENDER_PORT = 50002  # of the driver: it gives its program to a robot that is started by `play`
MOST_CLIENTS = 8  # of a port; chosen
MOST_UNREAD = 1 << 20  # of a client that does not read; then its connection ends [bytes]
CONNECT_TRIES, CONNECT_PAUSE = 25, 0.2  # for a socket of the driver, [s]; chosen: 5 s
BETWEEN_SOCKETS = 0.05  # time between connections to the driver [s]; chosen: tens of cycles
REPORT_PERIOD = 10.0  # between two lines about a slow machine [s]; chosen
LONGEST_FAREWELL = 1.0  # of a connection that is closed [s]; chosen
# After Ctrl-C, for the clients to leave [s]; chosen: launch sends SIGTERM 5 s after it.
LONGEST_END = 4.0
END_OF_PROGRAM = 0.5  # silence after a program that was requested [s]; chosen
# A cycle that is later than this moves the clock of the robot [s]; chosen.
MOST_BEHIND = 0.1


@dataclass(frozen=True)
class NetworkOptions:
    """Where a simulated controller listens."""

    listen: str = option(
        str, 'address that the controller listens at; another than this host moves nothing that '
        'is real, but lets others command the simulation', default=LOOPBACK, metavar='ADDRESS',
    )
    port_offset: int = option(
        int, 'added to the port numbers of a controller: 29999, 30001, 30002, 30004, and 29990 '
        'for faults', default=0, minimum=-29000, maximum=35000, metavar='N',
    )
    driver: str = option(
        str, 'address of the driver that `play` requests the program from', default=LOOPBACK,
        metavar='ADDRESS',
    )

    def __post_init__(self) -> None:
        check_options(self)


class _Connection:
    def __init__(self, session: Session, writer: asyncio.StreamWriter, robot: UrRobot) -> None:
        self.session, self._writer, self._robot = session, writer, robot
        self._sent_at = 0.0  # when the last bytes are sent, where they are delayed

    def send(self, data: bytes) -> None:
        if not data or self._writer.is_closing():
            return
        loop = asyncio.get_running_loop()
        self._sent_at = max(self._sent_at, loop.time() + self._robot.faults.delay)
        if self._sent_at > loop.time():
            loop.call_at(self._sent_at, self._write, data)
        else:
            self._write(data)

    def _write(self, data: bytes) -> None:
        self._writer.write(data)
        if self._writer.transport.get_write_buffer_size() > MOST_UNREAD:
            self._writer.transport.abort()

    def close(self) -> None:
        self._writer.close()


class UrServer:
    """
    A controller that listens; `run` serves.

    `say` takes a line from time to time. Raises UsageError if a port is not available.
    """

    def __init__(
        self, robot: UrRobot, options: NetworkOptions, say: Callable[[str], None] = print
    ) -> None:
        self._robot, self._options, self._say = robot, options, say
        self._connections: dict[int, list[_Connection]] = {}
        self._held: dict[str, object] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._random = random.Random(0)
        self._stop_at = math.inf  # by the monotonic clock [s]
        self._interrupted = False

    def run(self) -> None:
        """
        Serve until `stop` is called, or until SIGINT or SIGTERM.

        A driver that is interrupted together with this finds its robot while it ends: without
        one it tries to connect for ever. KeyboardInterrupt is raised when the clients have left.
        """
        # Its timeouts are exact to a microsecond; those of epoll are whole milliseconds.
        loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, self._interrupt)
        try:
            loop.run_until_complete(self._serve())
        finally:
            loop.run_until_complete(_end_tasks())
            loop.close()
        if self._interrupted:
            raise KeyboardInterrupt

    def stop(self) -> None:
        """Make `run` end after a cycle; from any thread."""
        self._stop_at = 0.0

    def _interrupt(self) -> None:
        """End when the clients have left; at once when it is the second time."""
        self._stop_at = 0.0 if self._interrupted else time.monotonic() + LONGEST_END
        self._interrupted = True

    def _is_over(self) -> bool:
        left = any(self._connections.values())
        return time.monotonic() > self._stop_at or (self._interrupted and not left)

    async def _serve(self) -> None:
        """Listen, and step the robot."""
        robot, given = self._robot, self._options
        makers: dict[int, Callable[[str], Session]] = {
            dashboard.PORT: lambda peer: dashboard.DashboardSession(robot, self._play),
            primary.PORT: self._primary, primary.SECONDARY_PORT: self._primary,
            rtde.PORT: lambda peer: rtde.RtdeSession(robot, self._held),
            pendant.PORT: lambda peer: pendant.PendantSession(robot, self._play),
        }
        servers = []
        try:
            for port, make in makers.items():
                address = LOOPBACK if port == pendant.PORT else given.listen
                number = port + given.port_offset
                try:
                    servers.append(await asyncio.start_server(
                        partial(self._accept, port, make), address, number
                    ))
                except OSError as error:
                    in_use = error.errno == errno.EADDRINUSE
                    reason = 'it is in use' if in_use else error.strerror
                    raise UsageError(
                        f'port {number} at {address} is not available ({reason}): end what '
                        'listens there, or give --port-offset or another --listen'
                    ) from error
            ports = ', '.join(str(port + given.port_offset) for port in makers)
            self._say(
                f'{robot.name}, software {".".join(map(str, robot.version))}, listens at '
                f'{given.listen}, ports {ports}'
            )
            await self._run_cycles()
        finally:
            for server in servers:
                server.close()

    def _primary(self, peer: str) -> primary.PrimarySession:
        return primary.PrimarySession(self._robot, lambda program: self._start(program, peer))

    async def _accept(
        self, port: int, make: Callable[[str], Session], reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        peer = str((writer.get_extra_info('peername') or ('',))[0])
        cut = port == rtde.PORT and self._robot.time < self._robot.faults.cut_until
        if cut or len(self._connections.get(port, ())) >= MOST_CLIENTS:
            writer.close()
            return
        await self._attend(port, make(peer), reader, writer)

    async def _attend(
        self, port: int, session: Session, reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Serve a connection until it ends."""
        connection = _Connection(session, writer, self._robot)
        self._connections.setdefault(port, []).append(connection)
        try:
            connection.send(session.greeting())
            while not session.ended:
                while session.must_wait:
                    await asyncio.sleep(self._robot.period)
                data = await reader.read(4096)
                if not data:
                    break
                connection.send(session.receive(data))
        except (ProtocolError, OSError) as error:
            self._say(f'port {port}: a connection ended: {error}')
        finally:
            self._connections[port].remove(connection)
            session.close()
            connection.close()
            # A client that does not read the rest is not waited for.
            with suppress(OSError, asyncio.TimeoutError):
                await asyncio.wait_for(writer.wait_closed(), LONGEST_FAREWELL)

    def _start(self, program: Program, peer: str) -> bool:
        """Start a program that a client of this address has sent; return whether it may run."""
        hosts = {host for host, _ in program.sockets.values()}
        if hosts != {peer}:
            self._say(
                f'{program.name} is not run: its sockets are at {", ".join(sorted(hosts))}, it '
                f'came from {peer}'
            )
            return False
        running = self._robot.start(program.name)
        if running is not None:
            self._spawn(self._connect(program, running))
        return running is not None

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, program: Program, running: ExternalControl) -> None:
        """Connect to the sockets of the driver, one after the other."""
        for name in SOCKETS:
            host, port = program.sockets[name]
            for _ in range(CONNECT_TRIES):
                with suppress(OSError):
                    reader, writer = await asyncio.open_connection(host, port)
                    break
                await asyncio.sleep(CONNECT_PAUSE)
            else:
                running.finished = f'no connection to {host}:{port}, the {name} of the driver'
                return
            session = ControlSession(self._robot, running, name)
            self._spawn(self._attend(port, session, reader, writer))
            # A driver whose sockets are connected at once may miss one.
            await asyncio.sleep(BETWEEN_SOCKETS)

    def _play(self) -> bool:
        """Request the program of the driver and start it; return whether the arm may move."""
        if not self._robot.may_move:
            return False
        self._spawn(self._request_program())
        return True

    async def _request_program(self) -> None:
        host = self._options.driver
        try:
            reader, writer = await asyncio.open_connection(host, SENDER_PORT)
        except OSError as error:
            self._robot.messages.append(f'no program from {host}:{SENDER_PORT}: {error}')
            return
        writer.write(b'request_program\n')
        text = bytearray()
        # The driver keeps its connection open: the program is over when nothing more comes.
        with suppress(asyncio.TimeoutError):
            while len(text) < LARGEST_PROGRAM and (
                data := await asyncio.wait_for(reader.read(65536), END_OF_PROGRAM)
            ):
                text += data
        writer.close()
        _, program = read_program(text.decode('utf-8', 'replace'))
        if program is None:
            self._robot.messages.append(f'{host}:{SENDER_PORT} gave no External Control')
        else:
            self._start(program, host)

    async def _run_cycles(self) -> None:
        robot, due = self._robot, time.monotonic()
        waited, said_at = 0.0, due - REPORT_PERIOD
        while not self._is_over():
            robot.step()
            self._send_due()
            due += robot.period
            late = time.monotonic() - due
            if late > MOST_BEHIND:
                due, waited = due + late, waited + late
                if due - said_at > REPORT_PERIOD:
                    self._say(f'this machine is too slow: the robot has waited for {waited:.1f} s')
                    said_at = due
            await asyncio.sleep(max(-late, 0.0))

    def _send_due(self) -> None:
        """Send what is due in this cycle, and end the connections that are over."""
        faults, now = self._robot.faults, self._robot.time
        for port, connections in self._connections.items():
            for connection in tuple(connections):
                session = connection.session
                data = session.cycle()
                if port == rtde.PORT:
                    if now < faults.cut_until:
                        connection.close()
                    if faults.loss and self._random.random() < faults.loss:
                        continue
                connection.send(data)
                if session.ended:
                    connection.close()


async def _end_tasks() -> None:
    """Cancel what is left in the loop, and wait until it has ended."""
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
