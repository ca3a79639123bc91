# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The real-time data exchange of a controller (TCP port 30004), by UR's guide, version 2.

A packet is its size (uint16, header included), its type (a letter) and a payload, big endian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import re
import struct

import numpy as np
from robot_identification.simulation.ur_controller.robot import (
    RobotMode, SafetyMode, UrRobot,
)
from robot_identification.simulation.ur_controller.session import ProtocolError, Session

PORT = 30004
LARGEST_PACKET = 4096  # [bytes], by UR's guide
MOST_RECIPES = 4  # of outputs, and of inputs, of a connection; chosen: drivers have one
NOT_FOUND, IN_USE = 'NOT_FOUND', 'IN_USE'
# Not those of our client: a mistake in one of them is not to be made in both.
LAYOUTS = {
    'BOOL': '?', 'UINT8': 'B', 'UINT32': 'I', 'UINT64': 'Q', 'INT32': 'i', 'DOUBLE': 'd',
    'VECTOR3D': '3d', 'VECTOR6D': '6d', 'VECTOR6INT32': '6i', 'VECTOR6UINT32': '6I',
}
_HEADER = struct.Struct('>HB')
_JOINT_RUNNING = 253  # mode of a joint, by UR's guide

Numbers = Sequence[float] | np.ndarray


def _constant(*values: float) -> Callable[[UrRobot], Numbers]:
    return lambda robot: values


def _status_bits(robot: UrRobot) -> Numbers:
    powered = robot.robot_mode != RobotMode.POWER_OFF
    return (powered | (robot.program is not None and not robot.paused) << 1,)


def _safety_bits(robot: UrRobot) -> Numbers:
    # Bits of a normal, a protective and an emergency stop; the last one has two.
    return ({
        SafetyMode.NORMAL: 1 << 0, SafetyMode.PROTECTIVE_STOP: 1 << 2,
        SafetyMode.ROBOT_EMERGENCY_STOP: 1 << 6 | 1 << 7,
    }[robot.safety_mode],)


# Type and value of the outputs that a client may ask for.
OUTPUTS: dict[str, tuple[str, Callable[[UrRobot], Numbers]]] = {
    'timestamp': ('DOUBLE', lambda robot: (robot.time,)),
    'actual_q': ('VECTOR6D', lambda robot: robot.sample.q),
    'actual_qd': ('VECTOR6D', lambda robot: robot.sample.dq),
    'actual_current': ('VECTOR6D', lambda robot: robot.sample.effort),
    'joint_temperatures': ('VECTOR6D', lambda robot: robot.sample.temperature),
    'target_q': ('VECTOR6D', lambda robot: robot.reference.q),
    'target_qd': ('VECTOR6D', lambda robot: robot.reference.dq),
    'target_qdd': ('VECTOR6D', lambda robot: robot.reference.ddq),
    'target_moment': ('VECTOR6D', lambda robot: robot.target_moment),
    'target_current': ('VECTOR6D', lambda robot: robot.target_current),
    'joint_control_output': ('VECTOR6D', lambda robot: robot.sample.effort),
    'actual_TCP_pose': ('VECTOR6D', lambda robot: robot.tool_pose(robot.sample.q)),
    'target_TCP_pose': ('VECTOR6D', lambda robot: robot.tool_pose(robot.reference.q)),
    'actual_TCP_speed': ('VECTOR6D', lambda robot: robot.tool_speed(
        robot.sample.q, robot.sample.dq)),
    'target_TCP_speed': ('VECTOR6D', lambda robot: robot.tool_speed(
        robot.reference.q, robot.reference.dq)),
    'actual_TCP_force': ('VECTOR6D', _constant(*[0.0] * 6)),
    'ft_raw_wrench': ('VECTOR6D', _constant(*[0.0] * 6)),
    'tcp_offset': ('VECTOR6D', _constant(*[0.0] * 6)),
    'speed_scaling': ('DOUBLE', lambda robot: (robot.scaling,)),
    'target_speed_fraction': ('DOUBLE', lambda robot: (robot.fraction,)),
    'payload': ('DOUBLE', lambda robot: (robot.payload,)),
    'payload_cog': ('VECTOR3D', lambda robot: robot.payload_centre),
    'payload_inertia': ('VECTOR6D', lambda robot: robot.payload_inertia),
    'robot_mode': ('INT32', lambda robot: (int(robot.robot_mode),)),
    'safety_mode': ('INT32', lambda robot: (int(robot.safety_mode),)),
    'safety_status': ('INT32', lambda robot: (int(robot.safety_mode),)),
    'joint_mode': ('VECTOR6INT32', _constant(*[_JOINT_RUNNING] * 6)),
    'runtime_state': ('UINT32', lambda robot: (int(robot.runtime),)),
    'robot_status_bits': ('UINT32', _status_bits),
    'safety_status_bits': ('UINT32', _safety_bits),
    'actual_digital_output_bits': ('UINT64', lambda robot: (robot.outputs,)),
    'actual_digital_input_bits': ('UINT64', _constant(0)),
    'actual_execution_time': ('DOUBLE', _constant(0.0)),
    'actual_tool_accelerometer': ('VECTOR3D', _constant(0.0, 0.0, 0.0)),
    'actual_momentum': ('DOUBLE', _constant(0.0)),
    'actual_main_voltage': ('DOUBLE', _constant(48.0)),
    'actual_robot_voltage': ('DOUBLE', _constant(48.0)),
    'actual_robot_current': ('DOUBLE', lambda robot: (float(np.abs(robot.sample.effort).sum()),)),
    'actual_joint_voltage': ('VECTOR6D', _constant(*[48.0] * 6)),
    **{f'{kind}{number}': ('DOUBLE', _constant(0.0)) for number in (0, 1) for kind in (
        'standard_analog_input', 'standard_analog_output', 'tool_analog_input',
    )},
    'tool_output_current': ('DOUBLE', _constant(0.0)),
    'tool_temperature': ('DOUBLE', _constant(25.0)),
    **dict.fromkeys(
        ('analog_io_types', 'tool_mode', 'tool_analog_input_types', 'output_bit_registers0_to_31',
         'output_bit_registers32_to_63'), ('UINT32', _constant(0)),
    ),
    'tool_output_voltage': ('INT32', _constant(0)),
    'tool_output_mode': ('UINT8', _constant(0)),
}
INPUTS = {
    'speed_slider_mask': 'UINT32', 'speed_slider_fraction': 'DOUBLE',
    **{f'{kind}_digital_output{part}': 'UINT8' for kind in ('standard', 'configurable', 'tool')
       for part in ('_mask', '')},
    'standard_analog_output_mask': 'UINT8', 'standard_analog_output_type': 'UINT8',
    'standard_analog_output_0': 'DOUBLE', 'standard_analog_output_1': 'DOUBLE',
}
_REGISTER = re.compile(r'(in|out)put_(bit|int|double)_register_(\d{1,3})')
_REGISTERS = {
    'bit': ('BOOL', 128), 'int': ('INT32', 48), 'double': ('DOUBLE', 48),
}  # types and numbers of them


def register_type(name: str, side: str) -> str | None:
    """Return the type of a register's name, on the side 'in' or 'out'; None for another name."""
    match = _REGISTER.fullmatch(name)
    if match is None or match[1] != side:
        return None
    kind, count = _REGISTERS[match[2]]
    return kind if int(match[3]) < count else None


class RtdeSession(Session):
    """
    One connection; `held` are the inputs that connections hold, shared by all of them.

    `receive` takes bytes as they come and returns the answers, `cycle` returns the samples of a
    cycle of the controller. Raises ProtocolError for what cannot be a packet.
    """

    def __init__(self, robot: UrRobot, held: dict[str, object]) -> None:
        self._robot, self._held = robot, held
        self._buffer = bytearray()
        self._outputs: list[tuple[int, struct.Struct, list[Callable[[UrRobot], Numbers]]]] = []
        self._inputs: dict[int, tuple[struct.Struct, list[str]]] = {}
        self._started, self._count = False, 0
        self._missing = set(filter(None, robot.options.missing_fields.split(',')))

    def close(self) -> None:
        """Give back the inputs."""
        for name in [name for name, holder in self._held.items() if holder is self]:
            del self._held[name]

    def receive(self, data: bytes) -> bytes:
        """Take what came and return what is to be answered."""
        self._buffer += data
        answers = []
        while len(self._buffer) >= _HEADER.size:
            size, kind = _HEADER.unpack_from(self._buffer)
            if not _HEADER.size <= size <= LARGEST_PACKET or chr(kind) not in 'VvOISPUM':
                raise ProtocolError(f'a packet of type {kind} and {size} bytes')
            if len(self._buffer) < size:
                break
            payload = bytes(self._buffer[_HEADER.size:size])
            del self._buffer[:size]
            try:
                answers.append(self._answer(chr(kind), payload))
            except (struct.error, UnicodeDecodeError, IndexError) as error:
                raise ProtocolError(f'a packet of type {chr(kind)}: {error}') from error
        return b''.join(answers)

    def _answer(self, kind: str, payload: bytes) -> bytes:
        if kind == 'V':
            (version,) = struct.unpack('>H', payload)
            return packet(kind, bytes([version == 2]))
        if kind == 'v':
            return packet(kind, struct.pack('>4I', *self._robot.version))
        if kind == 'O':
            (rate,) = struct.unpack_from('>d', payload)
            return packet(kind, self._set_up_outputs(rate, _names(payload[8:])))
        if kind == 'I':
            return packet(kind, self._set_up_inputs(_names(payload)))
        if kind in 'SP':
            self._started = kind == 'S' and bool(self._outputs)
            return packet(kind, bytes([kind == 'P' or self._started]))
        if kind == 'U':
            self._take_inputs(payload)
        return b''

    def _set_up_outputs(self, rate: float, names: list[str]) -> bytes:
        robot = self._robot
        if not 0.0 < rate <= robot.rate or len(self._outputs) >= MOST_RECIPES:
            return bytes(1)  # No recipe.
        kinds, getters = [], []
        for name in names:
            known = OUTPUTS.get(name)
            if known is None and (kind := register_type(name, 'out')) is not None:
                known = kind, _constant(0)
            if known is None or name in self._missing:
                known = NOT_FOUND, _constant()
            kinds.append(known[0])
            getters.append(known[1])
        number = 0
        if NOT_FOUND not in kinds:
            layout = struct.Struct('>B' + ''.join(LAYOUTS[kind] for kind in kinds))
            self._outputs.append((max(round(robot.rate / rate), 1), layout, getters))
            number = len(self._outputs)
        return bytes([number]) + ','.join(kinds).encode()

    def _set_up_inputs(self, names: list[str]) -> bytes:
        kinds = []
        for name in names:
            kind = INPUTS.get(name) or register_type(name, 'in') or NOT_FOUND
            kinds.append(IN_USE if self._held.get(name, self) is not self else kind)
        number = 0
        if not {NOT_FOUND, IN_USE} & set(kinds) and len(self._inputs) < MOST_RECIPES:
            number = len(self._inputs) + 1
            self._inputs[number] = (
                struct.Struct('>' + ''.join(LAYOUTS[kind] for kind in kinds)), names
            )
            self._held.update(dict.fromkeys(names, self))
        return bytes([number]) + ','.join(kinds).encode()

    def _take_inputs(self, payload: bytes) -> None:
        if payload[0] not in self._inputs:
            raise ProtocolError(f'inputs of recipe {payload[0]}, which was not set up')
        layout, names = self._inputs[payload[0]]
        values = dict(zip(names, layout.unpack(payload[1:]), strict=True))
        robot, slider = self._robot, values.get('speed_slider_fraction', -1.0)
        if values.get('speed_slider_mask') and 0.0 <= slider <= 1.0:
            robot.slider = slider
        for shift, kind in enumerate(('standard', 'configurable', 'tool')):
            mask = values.get(f'{kind}_digital_output_mask', 0) << 8 * shift
            bits = values.get(f'{kind}_digital_output', 0) << 8 * shift
            robot.outputs = robot.outputs & ~mask | bits & mask

    def cycle(self) -> bytes:
        """Return the samples that are due in this cycle."""
        if not self._started:
            return b''
        self._count += 1
        samples = []
        for number, (every, layout, getters) in enumerate(self._outputs, start=1):
            if self._count % every == 0:
                values = [value for getter in getters for value in getter(self._robot)]
                samples.append(packet('U', layout.pack(number, *values)))
        return b''.join(samples)


def packet(kind: str, payload: bytes) -> bytes:
    """Return a packet of a type."""
    return _HEADER.pack(_HEADER.size + len(payload), ord(kind)) + payload


def _names(payload: bytes) -> list[str]:
    # `ur_rtde` ends its recipes with a comma.
    return payload.decode('ascii').rstrip(',').split(',')
