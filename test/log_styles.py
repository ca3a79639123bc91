# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""One recording in the forms that controllers, drivers and tools write."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache
import json

from builders import UR_JOINTS
import numpy as np

# Of the first row that is written since 1970 [s].
EPOCH = 1_700_000_000
PLAIN = tuple(f'joint{k}' for k in range(1, 7))
LBR = tuple(f'lbr_A{k}' for k in range(1, 7))
SO101 = (
    'shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper',
)


@dataclass(frozen=True, eq=False)
class Run:
    """A motion of six joints: times (N,) [s], and (N, 6) in rad, rad/s, N m."""

    t: np.ndarray
    q: np.ndarray
    dq: np.ndarray
    effort: np.ndarray


@cache
def make_run(count=1000, period=0.008):
    rng = np.random.default_rng(5)
    t = period * np.arange(count)
    q, dq, ddq = (np.zeros((count, 6)) for _ in range(3))
    for harmonic in range(1, 6):
        omega = 2.0 * np.pi * 0.1 * harmonic
        a, b = rng.normal(size=(2, 6), scale=0.4 / harmonic)
        sine, cosine = np.sin(omega * t)[:, None], np.cos(omega * t)[:, None]
        q += a * sine + b * cosine
        dq += omega * (a * cosine - b * sine)
        ddq -= omega**2 * (a * sine + b * cosine)
    q += np.array([0.0, -1.5, 1.2, -1.0, -1.6, 0.3])
    return Run(t, q, dq, 3.0 * ddq + 8.0 * np.sin(q) + 2.0 * np.sign(dq))


@dataclass(frozen=True)
class Style:
    name: str
    file: str
    write: Callable  # (path, run)
    joints: tuple[str, ...] = UR_JOINTS
    unit: str | None = 'Nm'
    has_velocity: bool = True
    tolerance: float = 1e-9  # of conversions there and back, or of the digits that are written


STYLES: list[Style] = []


def style(file, **changes):
    """Register a writer."""
    def add(write):
        STYLES.append(Style(write.__name__, file, write, **changes))
        return write
    return add


def table(
    path, header, columns, delimiter=',', ending='\n', lead=(), number=repr, encoding='utf-8',
    trailing='',
):
    lines = [*lead, delimiter.join(header) + trailing]
    for row in zip(*columns, strict=True):
        cells = [one if isinstance(one, str) else number(float(one)) for one in row]
        lines.append(delimiter.join(cells) + trailing)
    path.write_bytes((ending.join(lines) + ending).encode(encoding))


def names(pattern, count=6, first=0):
    """Return a pattern with numbers or, if it has {joint}, with joints."""
    return [pattern.format(k + first) for k in range(count)]


def by_joint(pattern, joints):
    return [pattern.format(joint) for joint in joints]


def columns_of(*arrays):
    """Return the columns of arrays, and lists, side by side."""
    return [
        column for array in arrays
        for column in (array.T if getattr(array, 'ndim', 1) == 2 else [array])
    ]


def flat(name, file, header, values, joints=PLAIN, unit='Nm', has_velocity=True, **layout):
    """Register a table of what `values` returns of a run."""
    STYLES.append(Style(
        name, file, lambda path, run: table(path, header, columns_of(*values(run)), **layout),
        joints, unit, has_velocity,
    ))


def signals(*patterns, first=0):
    return [name for pattern in patterns for name in names(pattern, first=first)]


def measured(run):
    return run.q, run.dq, run.effort


def in_degrees(run):
    return np.degrees(run.q), np.degrees(run.dq), run.effort


def stamps(run):
    """Return the times since 1970 [ns] as texts."""
    return [str(EPOCH * 10**9 + n) for n in np.round(run.t * 1e9).astype(int)]


def split_stamps(run):
    """Return seconds and nanoseconds of these times."""
    return [stamp[:-9] for stamp in stamps(run)], [str(int(stamp[-9:])) for stamp in stamps(run)]


def places(run):
    return [str(k) for k in range(len(run.t))]


def comma(number):
    return f'{number!r}'.replace('.', ',')


# `record.py` of Universal Robots' RTDE Python client; all of a usual recipe.
flat('ur_rtde_record', 'robot_data.csv', [
    'timestamp', *signals(
        'target_q_{}', 'target_qd_{}', 'target_qdd_{}', 'target_current_{}', 'target_moment_{}',
        'actual_q_{}', 'actual_qd_{}', 'actual_current_{}', 'joint_control_output_{}',
        'actual_TCP_pose_{}', 'actual_TCP_speed_{}', 'actual_TCP_force_{}',
        'joint_temperatures_{}',
    ), 'actual_execution_time', 'robot_mode', 'safety_mode', *names('actual_joint_voltage_{}'),
    'speed_scaling', 'runtime_state',
], lambda run: (
    4000.0 + run.t, run.q + 0.01, run.dq, *[np.ones_like(run.q)] * 3, *measured(run),
    *[np.ones_like(run.q)] * 4, 30.0 + 0.0 * run.q, *[np.ones_like(run.t)] * 3,
    48.0 + 0.0 * run.q, *[np.ones_like(run.t)] * 2,
), UR_JOINTS, 'A', delimiter=' ')
# `franka::logToCSV`: time in ms, names separated by a comma and a blank.
flat('libfranka', 'log.csv', [
    'time', ' success_rate', *signals(
        ' state.q[{}]', ' state.q_d[{}]', ' state.dq[{}]', ' state.dq_d[{}]', ' state.tau_J[{}]',
        ' state.tau_ext_hat_filtered[{}]', ' cmd.q_d[{}]', ' cmd.dq_d[{}]',
    ), *names(' cmd.O_T_EE_d[{}]', 16), *signals(' cmd.O_dP_EE_d[{}]', ' cmd.tau_J_d[{}]'),
], lambda run: (
    np.round(1e3 * run.t), 1.0 + 0.0 * run.t, run.q, run.q, run.dq, run.dq, run.effort,
    np.zeros_like(run.q), run.q, run.dq, np.zeros((len(run.t), 28)),
), tuple(f'panda_joint{k}' for k in range(1, 7)))
# Sunrise's DataRecorder: seconds and nanoseconds, a comment with the names.
flat('kuka_sunrise_data_recorder', 'LogFile_1.log', ['% ZeitInSec', 'ZeitInNanoSec', *signals(*(
    f'{what}_LBR_iiwa_7_R800_1[{{}}]'
    for what in ('axisQMsr', 'axisQCmdT1m', 'axisTauMsr', 'axisTauExtMsr')
))], lambda run: (*split_stamps(run), run.q, run.q, run.effort, 0.0 * run.effort),
    LBR, has_velocity=False, delimiter=' ')
# An xArm's state: degrees, seven places for six axes.
flat('xarm', 'xarm.csv', ['timestamp', *names('angle_{}', 7, 1), *names('speed_{}', 7, 1),
                          *names('joint_torque_{}', 7, 1), 'tcp_x', 'tcp_y'],
     lambda run: (1.7e9 + run.t, *(
         column for array in in_degrees(run) for column in (array, 0.0 * run.t)
     ), *[0.0 * run.t] * 2),
     number=lambda x: f'{x:.12g}' if abs(x) < 1e6 else f'{x:.6f}')
# Columns such as /joint_states.shoulder_pan_joint.position, time in ns.
flat('bag_with_joint_names', 'dotted.csv', ['timestamp', *(
    f'/joint_states.{joint}.{what}' for what in ('position', 'velocity', 'effort')
    for joint in UR_JOINTS
)], lambda run: (stamps(run), *measured(run)), UR_JOINTS, None)
# `rostopic echo -p` of ROS 1: names of fields, stamps in ns, the joints' names as cells.
flat('rostopic_echo', 'rostopic.csv', [
    '%time', 'field.header.seq', 'field.header.stamp', 'field.header.frame_id',
    *signals('field.name{}', 'field.position{}', 'field.velocity{}', 'field.effort{}'),
], lambda run: (
    stamps(run), places(run), stamps(run), [''] * len(run.t),
    *([joint] * len(run.t) for joint in UR_JOINTS), *measured(run),
), UR_JOINTS, None)
# Interfaces by name, JOINT/position.
flat('ros2_control', 'ros2_control.csv', ['time', *(
    f'{joint}/{what}' for what in ('position', 'velocity', 'effort') for joint in UR_JOINTS
), 'speed_scaling/speed_scaling_factor'],
    lambda run: (run.t, *measured(run), 1.0 + 0.0 * run.t), UR_JOINTS, None)
# Units in brackets, degree signs of Windows, a semicolon at the end.
flat('german_spreadsheet', 'messung.csv', ['Zeit [ms]', *signals(
    'Winkel {} [°]', 'Geschwindigkeit {} [°/s]', 'Drehmoment {} [Nm]', first=1,
)], lambda run: (1e3 * run.t, *in_degrees(run)),
    delimiter=';', ending='\r\n', number=comma, encoding='cp1252', trailing=';')
# `DataFrame.to_csv` of pandas, with its index.
flat('pandas', 'frame.csv', ['', 't', *signals('q{}', 'dq{}', 'tau{}', first=1)],
     lambda run: (places(run), run.t, *measured(run)))
# Lines about the measurement, then names, then a line of units.
flat('labview', 'labview.tsv', ['s', *['deg'] * 6, *['deg/s'] * 6, *['mA'] * 6],
     lambda run: (run.t, *in_degrees(run)[:2], 1e3 * run.effort), unit='A',
     delimiter='\t', ending='\r\n', lead=[
         'LabVIEW Measurement', 'Writer_Version\t2', 'Separator\tTab', 'Operator\tme', '',
         '\t'.join(['Time', *signals(
             'Axis {} Position', 'Axis {} Velocity', 'Axis {} Current', first=1,
         )]),
     ])
# Cyclic feedback of the Kortex API: degrees, torque and motor current, joint by joint.
flat('kinova', 'kinova.csv', ['time_us', *(
    f'actuator_{k}_{what}' for k in range(1, 7) for what in (
        'position', 'velocity', 'torque', 'current_motor', 'voltage', 'temperature_motor',
    )
)], lambda run: (1e6 * run.t, np.stack([
    *in_degrees(run), 0.1 * run.effort, 24.0 + 0.0 * run.q, 40.0 + 0.0 * run.q,
], axis=2).reshape(len(run.t), -1)))
# Axes by letter and number, units in brackets.
flat('fanuc', 'fanuc.csv', ['Time(ms)', *signals('J{}(deg)', 'J{} current(A)', first=1)],
     lambda run: (1e3 * run.t, np.degrees(run.q), run.effort), unit='A', has_velocity=False)
# Times of the calendar. Of seconds since 1970 a number holds tenths of microseconds.
flat('iso_times', 'dates.csv', ['timestamp', *signals('q[{}]', 'dq[{}]', 'tau[{}]')],
     lambda run: ([
         (datetime(2026, 3, 1, 10, tzinfo=timezone.utc) + timedelta(seconds=t)).isoformat()
         for t in run.t
     ], *measured(run)))
# A spreadsheet whose first line says what, the second which joint.
flat('two_lines_of_names', 'two_lines.csv', ['', *PLAIN * 3],
     lambda run: (run.t, *measured(run)),
     lead=['time,' + ','.join(f'{name},,,,,' for name in ('position', 'velocity', 'torque'))])
# Excel's Unicode text.
flat('unicode_text', 'excel.csv', ['t [s]', *signals(
    'q{} [rad]', 'dq{} [rad/s]', 'tau{} [Nm]', first=1,
)], lambda run: (run.t, *measured(run)), delimiter='\t', ending='\r\n', encoding='utf-16')


@style('plotjuggler.csv', unit=None)
def plotjuggler(path, run):
    """Write what PlotJuggler exports: lines of other topics have no joint states."""
    joints = sorted(UR_JOINTS)
    order = [UR_JOINTS.index(joint) for joint in joints]
    header = ['__time', *by_joint('/joint_states/{}/effort', joints), '/joint_states/header/stamp',
              *by_joint('/joint_states/{}/position', joints),
              *by_joint('/joint_states/{}/velocity', joints), '/tf/x']
    lines = [','.join(header)]
    for t, q, dq, effort in zip(run.t, run.q, run.dq, run.effort, strict=True):
        now = 1_700_000_000.0 + t
        row = [now, *effort[order], now, *q[order], *dq[order]]
        lines.append(','.join(f'{float(x)!r}' for x in row) + ',')
        lines.append(f'{now + 0.003!r},' + ',' * 19 + '0.5')
    path.write_text('\n'.join(lines) + '\n')


@style('echo.csv', unit=None)
def ros2_topic_echo(path, run):
    """`ros2 topic echo --csv /joint_states`: no header, the names in every line."""
    lines = []
    for t, q, dq, effort in zip(run.t, run.q, run.dq, run.effort, strict=True):
        n = round((1_700_000_000 + t) * 1e9)
        lines.append(','.join([
            str(n // 10**9), str(n % 10**9), '', *UR_JOINTS,
            *(repr(float(x)) for x in (*q, *dq, *effort)),
        ]))
    path.write_text('\n'.join(lines) + '\n')


@style('arrays.npz', joints=PLAIN)
def npz(path, run):
    """Write NumPy's arrays, one of them the other way round."""
    np.savez(path, t=run.t, q=run.q, dq=run.dq.T, tau=run.effort, comment='a run')


@style('run.mat', joints=PLAIN)
def mat_5(path, run):
    """Write MATLAB's -v7: a structure of arrays, samples along the columns."""
    from scipy.io import savemat

    savemat(path, {'log': {
        'time': run.t, 'q': run.q.T, 'qd': run.dq.T, 'tau': run.effort.T, 'note': 'x',
    }}, do_compression=True)


@style('run73.mat', joints=PLAIN)
def mat_73(path, run):
    """Write MATLAB's -v7.3, which is HDF5 with the axes reversed."""
    import pytest

    h5py = pytest.importorskip('h5py')
    with h5py.File(path, 'w', userblock_size=512) as file:
        group = file.create_group('log')
        for name, values in {'t': run.t[:, None], 'q': run.q, 'dq': run.dq,
                             'tau': run.effort}.items():
            group[name] = values.T
    lead = b'MATLAB 7.3 MAT-file, Platform: GLNXA64'.ljust(124) + b'\x00\x02IM'
    with path.open('r+b') as file:
        file.write(lead)


@style('run.h5', joints=PLAIN)
def hdf5(path, run):
    """Write h5py's datasets in groups, with what is no signal beside them."""
    import pytest

    h5py = pytest.importorskip('h5py')
    with h5py.File(path, 'w') as file:
        group = file.create_group('observations')
        for name, values in {'time': run.t, 'qpos': run.q, 'qvel': run.dq,
                             'torque': run.effort}.items():
            group[name] = values
        file['operator'] = 'somebody'


@style('records.json', joints=PLAIN)
def json_records(path, run):
    """Write a record for every joint state, as `json.dump` of a list of messages does."""
    path.write_text(json.dumps([
        {'time': 1.7e9 + t, 'state': {'position': q, 'velocity': dq}, 'torque': tau, 'note': 'x'}
        for t, q, dq, tau in zip(*(
            values.tolist() for values in (run.t, run.q, run.dq, run.effort)
        ), strict=True)
    ]))


@style('joint_states.jsonl', unit=None)
def json_lines(path, run):
    """Write a JointState message in every line, its joints in alphabetical order."""
    joints = sorted(UR_JOINTS)
    order = [UR_JOINTS.index(joint) for joint in joints]
    lines = []
    for t, q, dq, effort in zip(run.t, run.q, run.dq, run.effort, strict=True):
        n = round((1_700_000_000 + t) * 1e9)
        lines.append(json.dumps({
            'header': {'stamp': {'sec': n // 10**9, 'nanosec': n % 10**9}, 'frame_id': ''},
            'name': joints, 'position': q[order].tolist(), 'velocity': dq[order].tolist(),
            'effort': effort[order].tolist(),
        }))
    path.write_text('\n'.join(lines) + '\n')


@style('run.parquet')
def parquet(path, run):
    """Write columns of numbers with the joints' names."""
    import pytest

    pyarrow = pytest.importorskip('pyarrow')
    from pyarrow import parquet as files

    content = {'timestamp_ns': np.round(1e9 * run.t).astype(np.int64)}
    for k, joint in enumerate(UR_JOINTS):
        content |= {f'{joint}.position': run.q[:, k], f'{joint}.velocity': run.dq[:, k],
                    f'{joint}.torque': run.effort[:, k]}
    files.write_table(pyarrow.table(content), path)


def write_lerobot(path, run, version, feature_names, unit=1.0):
    """Write a LeRobot dataset of two episodes; times begin anew in each."""
    half = len(run.t) // 2
    write_episodes(path, [
        (run.t[rows] - run.t[rows][0], unit * run.q[rows] + 0.1, unit * run.q[rows])
        for rows in (slice(0, half), slice(half, None))
    ], feature_names, 125, version)


def write_episodes(path, episodes, feature_names, rate, version='v3.0'):
    """Write times, commands and positions of episodes as LeRobot does."""
    import pyarrow
    from pyarrow import parquet as files

    rows, parts = pyarrow.list_(pyarrow.float32()), []
    for episode, (t, action, state) in enumerate(episodes):
        count = np.arange(len(t))
        parts.append(pyarrow.table({
            'action': pyarrow.array(action.tolist(), rows),
            'observation.state': pyarrow.array(state.tolist(), rows),
            'timestamp': pyarrow.array(t, pyarrow.float32()), 'frame_index': count,
            'episode_index': 0 * count + episode, 'index': count, 'task_index': 0 * count,
        }))
    (path / 'meta').mkdir(parents=True)
    (path / 'data' / 'chunk-000').mkdir(parents=True)
    feature = {'dtype': 'float32', 'shape': [6], 'names': feature_names}
    (path / 'meta' / 'info.json').write_text(json.dumps({
        'codebase_version': version, 'fps': rate, 'robot_type': 'so101',
        'features': {'observation.state': feature, 'action': feature},
    }))
    if version.startswith('v2'):
        for episode, part in enumerate(parts):
            files.write_table(part, path / 'data' / 'chunk-000' / f'episode_{episode:06d}.parquet')
    else:
        files.write_table(pyarrow.concat_tables(parts),
                          path / 'data' / 'chunk-000' / 'file-000.parquet')
