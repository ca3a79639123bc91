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
    """Return a smooth motion."""
    rng = np.random.default_rng(5)
    t = period * np.arange(count)
    q, dq, ddq = (np.zeros((count, 6)) for _ in range(3))
    for harmonic in range(1, 6):
        omega = 2.0 * np.pi * 0.1 * harmonic
        for wave in (np.sin, np.cos):
            a = rng.normal(size=6, scale=0.4 / harmonic)
            angle = omega * t[:, None]
            sign = 1.0 if wave is np.sin else -1.0
            other = np.cos if wave is np.sin else np.sin
            q += a * wave(angle)
            dq += sign * a * omega * other(angle)
            ddq -= a * omega**2 * wave(angle)
    q += np.array([0.0, -1.5, 1.2, -1.0, -1.6, 0.3])
    return Run(t, q, dq, 3.0 * ddq + 8.0 * np.sin(q) + 2.0 * np.sign(dq))


@dataclass(frozen=True)
class Style:
    """A form of a log."""

    name: str
    file: str
    write: Callable  # (path, run)
    joints: tuple[str, ...] = UR_JOINTS
    unit: str | None = 'Nm'
    has_velocity: bool = True
    has_effort: bool = True
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
    """Write columns of numbers or texts under a header."""
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
    """Return the columns of arrays side by side."""
    return [column for array in arrays for column in (array.T if array.ndim == 2 else [array])]


def comma(number):
    return f'{number!r}'.replace('.', ',')


@style('robot_data.csv', unit='A')
def ur_rtde_record(path, run):
    """`record.py` of Universal Robots' RTDE Python client; all of a usual recipe."""
    header = [
        'timestamp', *names('target_q_{}'), *names('target_qd_{}'), *names('target_qdd_{}'),
        *names('target_current_{}'), *names('target_moment_{}'), *names('actual_q_{}'),
        *names('actual_qd_{}'), *names('actual_current_{}'), *names('joint_control_output_{}'),
        *names('actual_TCP_pose_{}'), *names('actual_TCP_speed_{}'), *names('actual_TCP_force_{}'),
        *names('joint_temperatures_{}'), 'actual_execution_time', 'robot_mode', 'safety_mode',
        *names('actual_joint_voltage_{}'), 'speed_scaling', 'runtime_state',
    ]
    other = np.ones_like(run.q)
    one = np.ones_like(run.t)
    table(path, header, columns_of(
        4000.0 + run.t, run.q + 0.01, run.dq, other, other, other, run.q, run.dq, run.effort,
        other, other, other, other, 30.0 * other, one, one, one, 48.0 * other, one, one,
    ), ' ')


@style('log.csv', joints=tuple(f'panda_joint{k}' for k in range(1, 7)))
def libfranka(path, run):
    """`franka::logToCSV`: time in ms, names separated by a comma and a blank."""
    header = [
        'time', ' success_rate', *names(' state.q[{}]'), *names(' state.q_d[{}]'),
        *names(' state.dq[{}]'), *names(' state.dq_d[{}]'), *names(' state.tau_J[{}]'),
        *names(' state.tau_ext_hat_filtered[{}]'), *names(' cmd.q_d[{}]'), *names(' cmd.dq_d[{}]'),
        *names(' cmd.O_T_EE_d[{}]', 16), *names(' cmd.O_dP_EE_d[{}]'), *names(' cmd.tau_J_d[{}]'),
    ]
    zero = np.zeros_like(run.q)
    table(path, header, columns_of(
        np.round(1e3 * run.t), 1.0 + 0.0 * run.t, run.q, run.q, run.dq, run.dq, run.effort, zero,
        run.q, run.dq, np.zeros((len(run.t), 16)), zero, zero,
    ))


@style('LogFile_1.log', joints=LBR, has_velocity=False)
def kuka_sunrise_data_recorder(path, run):
    """Write a log: Sunrise's DataRecorder: seconds and nanoseconds, a comment with the names."""
    arm = 'LBR_iiwa_7_R800_1'
    header = ['ZeitInSec', 'ZeitInNanoSec', *names(f'axisQMsr_{arm}[{{}}]'),
              *names(f'axisQCmdT1m_{arm}[{{}}]'), *names(f'axisTauMsr_{arm}[{{}}]'),
              *names(f'axisTauExtMsr_{arm}[{{}}]')]
    nanoseconds = np.round(run.t * 1e9).astype(int)
    table(path, ['% ' + header[0], *header[1:]], [
        [str(1_700_000_000 + n // 10**9) for n in nanoseconds],
        [str(n % 10**9) for n in nanoseconds],
        *columns_of(run.q, run.q, run.effort, 0.0 * run.effort),
    ], ' ')


@style('fri.csv', joints=LBR)
def kuka_fri(path, run):
    """Write a log: A client of FRI that writes for a German spreadsheet."""
    header = ['Time_s', *names('MeasuredJointPosition_{}', first=1),
              *names('CommandedJointPosition_{}', first=1),
              *names('MeasuredJointVelocity_{}', first=1),
              *names('MeasuredTorque_{}', first=1), *names('ExternalTorque_{}', first=1)]
    table(path, header, columns_of(
        run.t, run.q, run.q + 0.1, run.dq, run.effort, 0.0 * run.q), ';', '\r\n', number=comma,
        trailing=';')


@style('xarm.csv', joints=PLAIN)
def xarm(path, run):
    """Write a log: An xArm's state: degrees, seven places for six axes."""
    header = ['timestamp', *names('angle_{}', 7, 1), *names('speed_{}', 7, 1),
              *names('joint_torque_{}', 7, 1), 'tcp_x', 'tcp_y']
    zero = np.zeros((len(run.t), 1))
    table(path, header, columns_of(
        1.7e9 + run.t, np.hstack([np.degrees(run.q), zero]), np.hstack([np.degrees(run.dq), zero]),
        np.hstack([run.effort, zero]), zero, zero), number=lambda x: f'{x:.12g}'
        if abs(x) < 1e6 else f'{x:.6f}')


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


@style('bag.csv', unit=None)
def bag_to_csv(path, run):
    """Write a log: Converters that write a message's fields with their indices."""
    nanoseconds = np.round(run.t * 1e9).astype(int)
    header = ['/joint_states/header/stamp/sec', '/joint_states/header/stamp/nanosec',
              *names('/joint_states/position[{}]'), *names('/joint_states/velocity[{}]'),
              *names('/joint_states/effort[{}]')]
    table(path, header, [
        [str(1_700_000_000 + n // 10**9) for n in nanoseconds],
        [str(n % 10**9) for n in nanoseconds], *columns_of(run.q, run.dq, run.effort)])


@style('dotted.csv', unit=None)
def bag_with_joint_names(path, run):
    """Write a log: Columns such as /joint_states.shoulder_pan_joint.position, time in ns."""
    header = ['timestamp', *by_joint('/joint_states.{}.position', UR_JOINTS),
              *by_joint('/joint_states.{}.velocity', UR_JOINTS),
              *by_joint('/joint_states.{}.effort', UR_JOINTS)]
    times = [str(1_700_000_000_000_000_000 + n) for n in np.round(run.t * 1e9).astype(int)]
    table(path, header, [times, *columns_of(run.q, run.dq, run.effort)])


@style('rostopic.csv', unit=None)
def rostopic_echo(path, run):
    """`rostopic echo -p` of ROS 1: names of fields, stamps in ns, the joints' names as cells."""
    header = ['%time', 'field.header.seq', 'field.header.stamp', 'field.header.frame_id',
              *names('field.name{}'), *names('field.position{}'), *names('field.velocity{}'),
              *names('field.effort{}')]
    stamps = [str(1_700_000_000_000_000_000 + n) for n in np.round(run.t * 1e9).astype(int)]
    count = len(stamps)
    table(path, header, [stamps, [str(k) for k in range(count)], stamps, [''] * count,
                         *([joint] * count for joint in UR_JOINTS),
                         *columns_of(run.q, run.dq, run.effort)])


@style('bagpy.csv', unit=None)
def bagpy(path, run):
    """Write a log: bagpy's message_by_topic."""
    header = ['Time', 'header.seq', 'header.stamp.secs', 'header.stamp.nsecs', 'header.frame_id',
              *names('name_{}'), *names('position_{}'), *names('velocity_{}'),
              *names('effort_{}')]
    nanoseconds = np.round(run.t * 1e9).astype(int)
    count = len(nanoseconds)
    table(path, header, [
        1.7e9 + run.t + 0.002, [str(k) for k in range(count)],
        [str(1_700_000_000 + n // 10**9) for n in nanoseconds],
        [str(n % 10**9) for n in nanoseconds], [''] * count,
        *([joint] * count for joint in UR_JOINTS), *columns_of(run.q, run.dq, run.effort)])


@style('ros2_control.csv', unit=None)
def ros2_control(path, run):
    """Write a log: Interfaces by name, JOINT/position."""
    header = ['time', *by_joint('{}/position', UR_JOINTS), *by_joint('{}/velocity', UR_JOINTS),
              *by_joint('{}/effort', UR_JOINTS), 'speed_scaling/speed_scaling_factor']
    table(path, header, columns_of(run.t, run.q, run.dq, run.effort, 1.0 + 0.0 * run.t))


@style('timetable.csv', joints=PLAIN)
def matlab_timetable(path, run):
    """`writetimetable`: the time with its unit in every cell, vectors counted from 1."""
    header = ['Time', *names('q_{}', first=1), *names('qd_{}', first=1), *names('tau_{}', first=1)]
    table(path, header, [[f'{t!r} sec' for t in run.t.tolist()],
                         *columns_of(run.q, run.dq, run.effort)])


@style('messung.csv', joints=PLAIN)
def german_spreadsheet(path, run):
    """Write units in brackets, degree signs of Windows, a semicolon at the end."""
    header = ['Zeit [ms]', *names('Winkel {} [°]', first=1),
              *names('Geschwindigkeit {} [°/s]', first=1), *names('Drehmoment {} [Nm]', first=1)]
    table(path, header, columns_of(
        1e3 * run.t, np.degrees(run.q), np.degrees(run.dq), run.effort), ';', '\r\n',
        number=comma, encoding='cp1252', trailing=';')


@style('frame.csv', joints=PLAIN)
def pandas(path, run):
    """`DataFrame.to_csv` with its index."""
    header = ['', 't', *names('q{}', first=1), *names('dq{}', first=1), *names('tau{}', first=1)]
    table(path, header, [[str(k) for k in range(len(run.t))],
                         *columns_of(run.t, run.q, run.dq, run.effort)])


@style('samples.txt', joints=PLAIN)
def savetxt(path, run):
    """`numpy.savetxt`: a comment as the header, after others."""
    header = ['t', *names('q{}'), *names('qdot{}'), *names('torque{}')]
    table(path, ['# ' + header[0], *header[1:]], columns_of(run.t, run.q, run.dq, run.effort),
          ' ', lead=['# recorded on 3 May', '# rate: 125 Hz'])


@style('labview.tsv', joints=PLAIN, unit='A')
def labview(path, run):
    """Write a log: Lines about the measurement, then names, then a line of units."""
    header = ['Time', *names('Axis {} Position', first=1), *names('Axis {} Velocity', first=1),
              *names('Axis {} Current', first=1)]
    units = ['s', *['deg'] * 6, *['deg/s'] * 6, *['mA'] * 6]
    table(path, units, columns_of(
        run.t, np.degrees(run.q), np.degrees(run.dq), 1e3 * run.effort), '\t', '\r\n',
        lead=['LabVIEW Measurement', 'Writer_Version\t2', 'Separator\tTab', 'Operator\tme', '',
              '\t'.join(header)])


@style('kinova.csv', joints=PLAIN)
def kinova(path, run):
    """Write cyclic feedback of the Kortex API: degrees, torque and motor current."""
    header = ['time_us', *(
        f'actuator_{k}_{what}' for k in range(1, 7)
        for what in ('position', 'velocity', 'torque', 'current_motor', 'voltage',
                     'temperature_motor')
    )]
    rows = np.stack([np.degrees(run.q), np.degrees(run.dq), run.effort, 0.1 * run.effort,
                     24.0 + 0.0 * run.q, 40.0 + 0.0 * run.q], axis=2)
    table(path, header, columns_of(1e6 * run.t, rows.reshape(len(run.t), -1)))


@style('doosan.csv', joints=PLAIN)
def doosan(path, run):
    """Write a log: Real-time data of a Doosan controller."""
    header = ['time_stamp', *names('actual_joint_position[{}]'),
              *names('actual_joint_velocity[{}]'), *names('actual_tcp_position[{}]'),
              *names('target_joint_position[{}]'), *names('actual_joint_torque[{}]'),
              *names('external_joint_torque[{}]'), *names('gravity_torque[{}]')]
    zero = 0.0 * run.q
    table(path, header, columns_of(run.t, np.degrees(run.q), np.degrees(run.dq), zero,
                                   np.degrees(run.q) + 1.0, run.effort, zero, zero))


@style('fanuc.csv', joints=PLAIN, unit='A', has_velocity=False)
def fanuc(path, run):
    """Write a log: Axes by letter and number, units in brackets."""
    header = ['Time(ms)', *names('J{}(deg)', first=1), *names('J{} current(A)', first=1)]
    table(path, header, columns_of(1e3 * run.t, np.degrees(run.q), run.effort))


@style('camel.csv', joints=PLAIN, unit='A')
def camel_case(path, run):
    """Write a log: A program of one's own: units as endings, current in mA."""
    header = ['timeMs', *names('jointPos{}_deg', first=1), *names('jointVel{}_deg_s', first=1),
              *names('motorCurrent{}_mA', first=1)]
    table(path, header, columns_of(
        1e3 * run.t, np.degrees(run.q), np.degrees(run.dq), 1e3 * run.effort))


@style('dates.csv', joints=PLAIN)
def iso_times(path, run):
    """Write a log: Times of the calendar."""
    start = datetime(2026, 3, 1, 10, 0, 0, tzinfo=timezone.utc)
    times = [(start + timedelta(microseconds=round(1e6 * t))).isoformat() for t in run.t]
    header = ['timestamp', *names('q[{}]'), *names('dq[{}]'), *names('tau[{}]')]
    # Of seconds since 1970 a number holds tenths of microseconds.
    table(path, header, [times, *columns_of(run.q, run.dq, run.effort)])


@style('two_lines.csv', joints=PLAIN)
def two_lines_of_names(path, run):
    """Write a log: A spreadsheet whose first line says what, the second which joint."""
    what = ['time', *(cell for name in ('position', 'velocity', 'torque')
                      for cell in (name, '', '', '', '', ''))]
    joints = ['', *[*PLAIN] * 3]
    table(path, joints, columns_of(run.t, run.q, run.dq, run.effort), lead=[','.join(what)])


@style('excel.csv', joints=PLAIN)
def unicode_text(path, run):
    """Write a log: Excel's Unicode text."""
    header = ['t [s]', *names('q{} [rad]', first=1), *names('dq{} [rad/s]', first=1),
              *names('tau{} [Nm]', first=1)]
    table(path, header, columns_of(run.t, run.q, run.dq, run.effort), '\t', '\r\n',
          encoding='utf-16')


@style('arrays.npz', joints=PLAIN)
def npz(path, run):
    """Write a log: NumPy's arrays, one of them the other way round."""
    np.savez(path, t=run.t, q=run.q, dq=run.dq.T, tau=run.effort, comment='a run')


@style('named.npz')
def npz_with_names(path, run):
    """Write arrays in alphabetical order, with the names and the rate."""
    joints = sorted(UR_JOINTS)
    order = [UR_JOINTS.index(joint) for joint in joints]
    np.savez(path, position=run.q[:, order], velocity=run.dq[:, order],
             torque=run.effort[:, order], joint_names=np.array(joints), rate=125.0)


@style('run.mat', joints=PLAIN)
def mat_5(path, run):
    """Write a log: MATLAB's -v7: a structure of arrays, samples along the columns."""
    from scipy.io import savemat

    savemat(path, {'log': {
        'time': run.t, 'q': run.q.T, 'qd': run.dq.T, 'tau': run.effort.T, 'note': 'x',
    }}, do_compression=True)


@style('run73.mat', joints=PLAIN)
def mat_73(path, run):
    """Write a log: MATLAB's -v7.3, which is HDF5 with the axes reversed."""
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


@style('run.parquet')
def parquet(path, run):
    """Write a log: Columns of numbers with the joints' names."""
    import pytest

    pyarrow = pytest.importorskip('pyarrow')
    from pyarrow import parquet as files

    content = {'timestamp_ns': np.round(1e9 * run.t).astype(np.int64)}
    for k, joint in enumerate(UR_JOINTS):
        content |= {f'{joint}.position': run.q[:, k], f'{joint}.velocity': run.dq[:, k],
                    f'{joint}.torque': run.effort[:, k]}
    files.write_table(pyarrow.table(content), path)


@style('vectors.parquet', unit='A', joints=PLAIN)
def parquet_with_lists(path, run):
    """Write a log: Columns of lists, and a structure."""
    import pytest

    pyarrow = pytest.importorskip('pyarrow')
    from pyarrow import parquet as files

    content = pyarrow.table({
        't': run.t,
        'joint': pyarrow.StructArray.from_arrays(
            [pyarrow.array(run.q.tolist()), pyarrow.array(run.dq.tolist())], ['pos', 'vel']),
        'currents': pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(run.effort.ravel()), 6),
    })
    files.write_table(content, path)


def write_lerobot(path, run, version, feature_names, unit=1.0):
    """Write a dataset of two episodes; times begin anew in each."""
    import pyarrow
    from pyarrow import parquet as files

    half = len(run.t) // 2
    parts = []
    for episode, rows in enumerate((slice(0, half), slice(half, None))):
        count = len(run.t[rows])
        parts.append(pyarrow.table({
            'action': pyarrow.array((unit * run.q[rows] + 0.1).tolist(),
                                    pyarrow.list_(pyarrow.float32())),
            'observation.state': pyarrow.array((unit * run.q[rows]).tolist(),
                                               pyarrow.list_(pyarrow.float32())),
            'timestamp': pyarrow.array(run.t[rows] - run.t[rows][0], pyarrow.float32()),
            'frame_index': np.arange(count), 'episode_index': np.full(count, episode),
            'index': np.arange(count), 'task_index': np.zeros(count, int),
        }))
    (path / 'meta').mkdir(parents=True)
    (path / 'data' / 'chunk-000').mkdir(parents=True)
    (path / 'meta' / 'info.json').write_text(json.dumps({
        'codebase_version': version, 'fps': 125, 'robot_type': 'so101',
        'features': {'observation.state': {'dtype': 'float32', 'shape': [6],
                                           'names': feature_names},
                     'action': {'dtype': 'float32', 'shape': [6], 'names': feature_names}},
    }))
    if version.startswith('v2'):
        for episode, part in enumerate(parts):
            files.write_table(part, path / 'data' / 'chunk-000' / f'episode_{episode:06d}.parquet')
    else:
        files.write_table(pyarrow.concat_tables(parts),
                          path / 'data' / 'chunk-000' / 'file-000.parquet')
