# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Words and units in the names of columns, and the units that mappings know."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from robot_identification.model import STATED_UNITS
from robot_identification.recording.recording import ROTOR_CHANNEL

# What to multiply with to get s, rad, rad/s, A or N m, and deg C.
UNITS: Mapping[str, Mapping[str, float]] = {
    'time': {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9},
    'q': {'rad': 1.0, 'deg': np.pi / 180.0, 'm': 1.0, 'mm': 1e-3},
    'dq': {'rad/s': 1.0, 'deg/s': np.pi / 180.0, 'rpm': np.pi / 30.0, 'm/s': 1.0, 'mm/s': 1e-3},
    'effort': {**dict.fromkeys(STATED_UNITS, 1.0), 'mA': 1e-3, 'mNm': 1e-3},
    'temperature': {'deg C': 1.0},
    ROTOR_CHANNEL: {'rad': 1.0, 'deg': np.pi / 180.0},
}
# Units of angles and their rates, other than those of the model.
ANGLES = ('deg', 'deg/s', 'rpm')
QUANTITIES = tuple(quantity for quantity in UNITS if quantity != 'time')


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


POSITION = _words('q qpos pos position positions angle angles ang theta θ φ winkel lage ist qact')
VELOCITY = _words(
    'dq qd qdot qvel vel velocity velocities speed speeds spd omega ω dtheta thetadot dqdt '
    'geschwindigkeit v'
)
TORQUE = _words('tau τ torque torques trq tq moment moments drehmoment mom qfrc')
CURRENT = _words('current currents curr cur i iq amps amperage strom')
EFFORT = _words('effort efforts eff load loads')
TEMPERATURE = _words('temperature temperatures temp temps')
NOUNS = {
    **dict.fromkeys(POSITION, 'q'), **dict.fromkeys(VELOCITY, 'dq'),
    **dict.fromkeys(TORQUE | CURRENT | EFFORT, 'effort'),
    **dict.fromkeys(TEMPERATURE, 'temperature'),
}
# Letters that mean a quantity only where nothing else does.
LONE = {'i': 'effort', 'v': 'dq', 'p': 'q'}
# Columns with these are of something else than what the joints did.
FOREIGN = _words(
    'acc acceleration accelerations accel ddq qdd qddot ddot jerk tcp ee eef cartesian pose tool '
    'flange wrench force forces voltage voltages power energy std variance gravity friction '
    'stiffness damping count seq quaternion orientation imu camera image images accelerometer '
    'momentum mode status error errors err ext external limit limits max min residual predicted '
    'speed_scaling scaling fraction quality flag'
)
WANTED = _words(
    'target desired des command commanded commands cmd cmded ref reference setpoint setpoints '
    'goal action actions planned soll nominal interpolated ipo'
)
MEASURED = _words(
    'actual act measured measurement msr meas present feedback fb real observed observation '
    'sensed sensor encoder enc'
)
INDIRECT = _words(
    'motor raw filtered filt estimated est hat secondary theta dtheta output control load loads'
)
# Words that say nothing of the quantity.
GENERIC = _words('joint joints jnt axis axes j a state states')

TIMES = _words(
    'time times t timestamp timestamps stamp stamps ts zeit uhrzeit clock datetime sec secs nsec '
    'nsecs nanosec nanosecs seconds nanoseconds'
)
BESIDE_TIME = _words(
    'sim simulation header joint joints states state field message msg ros rosbag bag epoch unix '
    'relative elapsed rec recording recorded receive received system robot controller sample '
    'since start in abs log utc local s ms us ns msec usec millis micros nanos millisecond '
    'milliseconds microseconds nano sensor a of the posix wall date index'
)

# Spelling of units, without blanks, slashes and dots, in lower case.
UNIT_WORDS: dict[str, dict[str, str]] = {
    'time': {
        **dict.fromkeys(_words('s sec secs second seconds'), 's'),
        **dict.fromkeys(
            _words('ms msec msecs millis millisec millisecond milliseconds'), 'ms'),
        **dict.fromkeys(_words('us µs μs usec micros microsec microseconds'), 'us'),
        **dict.fromkeys(_words('ns nsec nsecs nanos nanosec nanosecond nanoseconds'), 'ns'),
    },
    'q': {
        **dict.fromkeys(_words('rad rads radian radians'), 'rad'),
        **dict.fromkeys(_words('deg degs degree degrees ° grad'), 'deg'),
        'm': 'm', 'mm': 'mm',
    },
    'dq': {
        **dict.fromkeys(_words('rads radps radpers radsec radpersec radsecond rad radian radians '
                               'rads1 1s radianspersecond'), 'rad/s'),
        **dict.fromkeys(_words('degs degps degpers degsec degpersec deg °s degree degrees grads '
                               'degreespersecond degs1'), 'deg/s'),
        **dict.fromkeys(_words('ms mps'), 'm/s'), **dict.fromkeys(_words('mms mmps'), 'mm/s'),
        'rpm': 'rpm',
    },
    'effort': {
        **dict.fromkeys(_words('a amp amps ampere amperes'), 'A'),
        **dict.fromkeys(_words('ma milliamp milliamps milliampere milliamperes'), 'mA'),
        **dict.fromkeys(_words('nm newtonmeter newtonmetre newtonmeters'), 'Nm'), 'mnm': 'mNm',
    },
    'temperature': dict.fromkeys(_words('c degc °c celsius degreec'), 'deg C'),
}
UNIT_WORDS['rotor_position'] = {k: v for k, v in UNIT_WORDS['q'].items() if 'm' not in v}
ALL_UNITS = frozenset(word for words in UNIT_WORDS.values() for word in words)
