# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The parsers that are given changed files, each with small valid ones to start from.

A new reader of files is one more entry in `TARGETS`.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.util import find_spec
import io
import json
from pathlib import Path
import tempfile

from builders import JOINT_STATE, joint_states, ros_types, rows_of, two_link_urdf, write_bag
from fuzz.mutations import (
    mutate_bytes, mutate_csv, mutate_mcap, mutate_sqlite, mutate_xml, mutate_yaml,
)
from known_models import known_model
import numpy as np
from robot_identification.errors import DataError
from robot_identification.estimation.recipe import load_recipe
from robot_identification.excitation.experiment_file import load_experiment
from robot_identification.excitation.motion_import import import_motion
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.trajectory import (
    dump_trajectory, load_trajectory, Trajectory, trajectory_csv,
)
from robot_identification.execution import commissioning
from robot_identification.export.arm import plain_friction
from robot_identification.files import dump_yaml, to_plain
from robot_identification.model.kinematic_calibration import read_calibration
from robot_identification.model.link_table import read_link_table
from robot_identification.model.model_file import dump_model, load_model
from robot_identification.model.registry import load_robot
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf, read_urdf
from robot_identification.monitoring.collision_file import load_collision_calibration
from robot_identification.monitoring.health_reference import friction_sha256, read_reference
from robot_identification.processing.processing import process
from robot_identification.recording.bag import read_recording
from robot_identification.recording.cdr import group_by_layout
from robot_identification.recording.channels import _walk_array
from robot_identification.recording.joint_states import JOINT_STATE_WALKS
from robot_identification.recording.raw_bag import read_metadata
from robot_identification.recording.table_mapping import load_mapping
from robot_identification.studies.break_away.estimate import (
    break_away_content, BreakAwayRun, estimate_break_away, load_break_away,
)
from robot_identification.studies.break_away.options import BreakAwaySettings
from robot_identification.studies.break_away.procedure import BreakAwayRepeat
from robot_identification.studies.campaign.campaign_file import load_campaign
from robot_identification.studies.campaign.runs import read_state
from robot_identification.studies.comparison.comparison import compare_models

JOINTS = ('one', 'two')
Seeds = list[tuple[str, bytes]]
SHA = 'a' * 64


@dataclass(frozen=True)
class Target:
    """A parser."""

    name: str  # its key, which the random numbers begin with
    seeds: Callable[[], Seeds]  # returns names and contents of valid files
    mutate: Callable  # changes the content of one of them, see `fuzz.mutations`
    read: Callable[[Path], object]  # reads a file
    share: float = 1.0  # of the inputs that other targets are given by day


@cache
def arm():
    return make_robot_model(parse_urdf(two_link_urdf(), 'arm')).with_drive_gains([7.0, 8.0])


@cache
def model():
    return known_model(arm(), 'coulomb,viscous', fc=[1.0, 2.0], fv=[3.0, 4.0])


def yaml_seed(name, content):
    """Return a seed with the text of a mapping."""
    return [(name, (content if isinstance(content, str) else dump_yaml(content)).encode())]


def messages(count=100):
    """Return joint states of a slow wave."""
    t = 0.01 * np.arange(count)
    q = np.stack([np.sin(t), np.cos(2.0 * t)], axis=1)
    dq = np.stack([np.cos(t), -2.0 * np.sin(2.0 * t)], axis=1)
    return joint_states(JOINTS, 5.0 + t, q, dq, 3.0 * q + dq, log_delay=0.002)


@cache
def cdr_seeds() -> Seeds:
    """Return messages of all layouts that are walked through."""
    from rosbags.typesys import get_types_from_msg, get_typestore, Stores

    store = get_typestore(Stores.ROS2_JAZZY)
    store.register(get_types_from_msg(
        'string[] interface_names\nfloat64[] values\n', 'control_msgs/msg/InterfaceValue'
    ))
    store.register(get_types_from_msg(
        'std_msgs/Header header\nstring[] joint_names\n'
        'control_msgs/InterfaceValue[] interface_values\n', 'control_msgs/msg/DynamicJointState'
    ))
    kinds = store.types
    header = kinds['std_msgs/msg/Header'](kinds['builtin_interfaces/msg/Time'](5, 7), 'base')
    value = kinds['control_msgs/msg/InterfaceValue'](['position', 'effort'], np.array([1.0, 2.0]))
    layout = kinds['std_msgs/msg/MultiArrayLayout'](
        [kinds['std_msgs/msg/MultiArrayDimension']('joints', 2, 2)], 0
    )
    found = {
        'joint_state': kinds[JOINT_STATE](
            header, list(JOINTS), np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0])
        ),
        'dynamic': kinds['control_msgs/msg/DynamicJointState'](header, list(JOINTS), [value] * 2),
        'array': kinds['std_msgs/msg/Float64MultiArray'](layout, np.array([1.0, 2.0])),
    }
    return [
        (f'{name}.cdr', bytes(store.serialize_cdr(message, message.__msgtype__)))
        for name, message in found.items()
    ]


def read_cdr(path: Path):
    """Decode a message after a good one, by every walk."""
    good = dict(cdr_seeds())
    for file, walk in zip(good, (*JOINT_STATE_WALKS.values(), _walk_array), strict=True):
        groups, damage = group_by_layout([good[file], path.read_bytes()], walk)
        for group in groups:
            for offsets in getattr(group.fields, 'offsets', {'': group.fields}).values():
                group.numbers(offsets)
        if damage is not None and path.name == file:
            raise damage


@cache
def bag_seed(name, pattern, plugin='mcap', **metadata) -> Seeds:
    """Return a file of a bag as rosbags writes it."""
    with tempfile.TemporaryDirectory() as folder:
        bag = write_bag(
            Path(folder) / 'bag', messages(), {'robot': 'made_up', **metadata}, plugin=plugin
        )
        return [(name, next(bag.glob(pattern)).read_bytes())]


@cache
def mcap_seeds() -> Seeds:
    """Return MCAP files as rosbags writes them, and one whose records are not in chunks."""
    from mcap.writer import CompressionType, Writer

    found, store = messages(), ros_types()
    payloads = [
        bytes(store.serialize_cdr(message, JOINT_STATE)) for _, _, message in rows_of(found)
    ]
    made = bag_seed('bag.mcap', '*.mcap', effort_unit='Nm')[:]
    for options in (
        {'use_chunking': False, 'enable_crcs': False},
        {'chunk_size': 3000, 'enable_crcs': False, 'compression': CompressionType.NONE},
        {'chunk_size': 3000, 'compression': CompressionType.LZ4},
    ):
        stream = io.BytesIO()
        writer = Writer(stream, **options)
        writer.start(profile='ros2')
        writer.add_metadata('rosbag2', {'serialized_metadata': 'custom_data: {robot: made_up}'})
        schema = writer.register_schema(JOINT_STATE, 'ros2msg', b'')
        channel = writer.register_channel('/joint_states', 'cdr', schema)
        for message, payload in zip(found, payloads, strict=True):
            writer.add_message(channel, message.log_time, payload, message.log_time)
        writer.finish()
        made.append(('bag.mcap', stream.getvalue()))
    return made


def read_bag(path: Path):
    """Read a bag and process it as `identify` would."""
    process(read_recording(path, JOINTS), model().source.kinematic_filter, 'Nm', robot=arm())


XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="size" default="0.3"/><xacro:property name="mass" value="${2 * 0.75}"/>
<xacro:macro name="body" params="name"><link name="${name}"><inertial><mass value="${mass}"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></xacro:macro>
<xacro:body name="ground"/><xacro:if value="${mass > 1}"><xacro:body name="tip"/></xacro:if>
<joint name="one" type="revolute"><parent link="ground"/><child link="tip"/><axis xyz="0 0 1"/>
<origin xyz="0 0 $(arg size)"/><limit lower="-2" upper="2" velocity="3" effort="60"/></joint>
</robot>"""

LINKS = """schema_version: 1
name: made_up
convention: standard
inertia_about: center_of_mass
links:
  one: {a: 0.0, alpha: 1.57, d: 0.1, theta: 0.0, mass: 3.7, center_of_mass: [0.0, -0.02, 0.01],
    inertia: [0.006, 0.0, 0.0, 0.006, 0.0, 0.006], position: [-6.0, 6.0], velocity: 3.0,
    effort: 150.0}
  two: {a: -0.4, alpha: 0.0, d: 0.0, theta: 0.0, mass: 2.3, center_of_mass: [0.2, 0.0, 0.1],
    inertia: [0.01, 0.0, 0.0, 0.35, 0.0, 0.35], position: [-6.0, 6.0], velocity: 3.0,
    effort: 150.0}
"""

ROBOT = """schema_version: 1
name: made_up
urdf: URDF
description: an arm of two joints
effort_unit: A
sampling_rate: 100.0
joints:
  one: {position: [-2.0, 2.0], velocity: 3.0, acceleration: 10.0, effort: 60.0, gear_ratio: 100.0,
    torque_constant: 0.1, rotor_inertia: 0.001, encoder: {sign: -1, zero: 0.1}, drive: large}
  two: {position: [-2.0, 2.0], velocity: 3.0, acceleration: 10.0, effort: 60.0}
"""
# Not of this arm, which only `doctor` compares.
DENAVIT_HARTENBERG = """denavit_hartenberg: {convention: standard, a: [0.0, 0.3],
  alpha: [1.57, 0.0], d: [0.3, 0.1], theta: [0.0, 0.0],
  base: {xyz: [0.0, 0.0, 0.1], rpy: [0.0, 0.0, 1.0]}}
"""

EXPERIMENTS = (
    """schema_version: 1
description: a table
trajectory: {form: fourier, harmonics: 3, base_period: 4.0}
periods: 3
margins: {position: 0.1, velocity: 0.8, acceleration: 0.8, torque: 0.8}
window: {one: [-1.5, 1.5], two: [-1.0, 1.0]}
center: {one: 0.1}
gravity: [0.0, 0.0, -9.81]
friction: coulomb,viscous
optimizer: {name: spectral, starts: 4}
criterion: log_determinant
samples: 60
clearance: 0.02
obstacles:
  table: {size: [2.0, 2.0, 0.05], xyz: [0.0, 0.0, -0.035], rpy: [0.0, 0.0, 0.1]}
  gripper: {link: lower, size: [0.12, 0.08, 0.15], xyz: [0.0, 0.0, 0.1]}
""",
    """schema_version: 1
trajectory: {form: static_poses, poses: 4, dwell: 3.0, move_time: 3.0, both_directions: true}
mounting: [0.0, 0.1, 0.0]
collision: off
friction: none
rotor_inertia: false
optimizer: random
samples: [20, 50]
""",
)

CAMPAIGN = """schema_version: 1
name: two_arms
speeds: [0.1, 0.5]
false_alarm_rate: 0.01
options: {friction: 'coulomb,viscous,offset'}
arms:
  - {name: left, robot: ur5, serial: '2015',
     payload: {mass: 0.9, center_of_mass: [0.0, 0.0, 0.05]}}
  - {name: right, robot: ur5, mounting: [3.1, 0.0, 0.0],
     drive_gains: [13.6, 13.7, 13.7, 9.7, 8.7, 9.0]}
runs:
  - {name: january, arm: left, bags: [a, b], date: '2026-01-12T08:30:00+01:00', temperature: 24.5}
  - {name: february, arm: right, bags: c, options: {estimator: huber, friction: 'coulomb,viscous'}}
"""

MAPPING = """schema_version: 1
time: {column: time, unit: s}
joints: [one, two]
q: {columns: 'q_{joint}', unit: rad}
dq: {columns: [dq_one, dq_two], unit: deg/s}
effort: {columns: 'effort_{number}', unit: mA}
delimiter: ';'
robot: made_up
"""

TABLE = """convention: sum
base_rate: 0.9424777960769379
center: [0.1, -1.5]
repair: true
a:
- [0.0094, 0.0482, 0.0038]
- [0.5765, -0.0032, -0.0051]
b:
- [-0.0085, 0.1599, -0.0283]
- [0.1459, -0.0048, -0.0093]
"""

RECIPE = """schema_version: 1
cutoffs: [9.0, 20.0, 40.0]
preferred_cutoff: 20.0
prior_weights: [0.0]
dictionary: {presliding: [0.00005, 0.0002], load_presliding: []}
kinematic_filter: {kind: fourier, period: 10.0, harmonics: 10}
slowest: 0.1
two_encoders: {rotor_inertia: auto, friction: {one: [{law: viscous, coefficients: [1.0]}]}}
"""

CORRECTIONS = b"""[mounting]
delta_theta = [ 1e-5, -0.2, 0.1, 0.1, 1e-6, 0.0]
delta_a = [ 1e-5, 0.001, -0.002, 1e-5, 1e-6, 0.0]
delta_d = [ 1e-5, 10.0, -9.0, -1.0, 1e-6, 0.0]
delta_alpha = [ 1e-5, -0.001, 0.001, 0.0, 1e-6, 0.0] # rad
"""
KINEMATICS = """kinematics:
  shoulder: {x: 0.0, y: 0.0, z: 0.15, roll: 0.0, pitch: 0.0, yaw: 1e-7}
  upper_arm: {x: 1e-5, y: 0.0, z: 0.0, roll: 1.57, pitch: 0.0, yaw: 0.0}
  hash: calib_1
"""


_FOLDER = tempfile.TemporaryDirectory(prefix='fuzz_urdf_')


@cache
def robot_seeds() -> Seeds:
    """Return robot YAMLs; their URDF is in a folder that is removed when the process ends."""
    folder = Path(_FOLDER.name)
    (folder / 'arm.urdf').write_text(two_link_urdf())
    text = ROBOT.replace('URDF', str(folder / 'arm.urdf'))
    return [*yaml_seed('arm.yaml', text), *yaml_seed('arm.yaml', text + DENAVIT_HARTENBERG)]


def trajectory():
    form = FourierParametrization(harmonics=2, base_period=4.0)
    coefficients = 0.1 * np.arange(2.0 * form.n_coefficients).reshape(2, -1)
    return Trajectory('made_up', JOINTS, form, coefficients, 1, {})


@cache
def motion_seeds() -> Seeds:
    """Return motions of other programs: samples, a message, published coefficients."""
    table = trajectory_csv(trajectory(), 5.0)
    points = [
        {'positions': [0.1 * k, 0.2 * k], 'velocities': [0.1, 0.2], 'accelerations': [],
         'time_from_start': {'sec': k, 'nanosec': 5}} for k in range(5)
    ]
    message = {'joint_names': list(JOINTS), 'points': points}
    return [('motion.csv', table.encode()), ('motion.json', json.dumps(message).encode()),
            *yaml_seed('motion.yaml', message), *yaml_seed('table.yaml', TABLE)]


def mutate_motion(rng, data, others):
    """Change a table as a table, other motions as YAML, of which JSON is a part."""
    return (mutate_csv if data.startswith(b't,') else mutate_yaml)(rng, data, others)


@cache
def table_seeds() -> Seeds:
    rows = ['time,q_one,q_two,dq_one,dq_two,effort_one,effort_two']
    for message in messages():
        values = (*message.position, *message.velocity, *message.effort)
        rows.append(','.join(f'{value:.6g}' for value in (message.stamp * 1e-9, *values)))
    return [('table.csv', '\n'.join(rows).encode())]


def log_arrays():
    """Return times, positions, velocities and efforts of a recording."""
    found = messages()
    return np.array([one.stamp * 1e-9 for one in found]), *(
        np.array([getattr(one, name) for one in found])
        for name in ('position', 'velocity', 'effort')
    )


@cache
def log_seeds() -> Seeds:
    """Return a recording as other programs write theirs: commas, comments, no header."""
    t, q, dq, effort = log_arrays()
    rows = np.column_stack([1e3 * t, np.degrees(q), dq, effort])
    german = ['Zeit [ms];Winkel 1 [deg];Winkel 2 [deg];dq1;dq2;tau1;tau2']
    german += [';'.join(f'{x:.6g}'.replace('.', ',') for x in row) for row in rows]
    blanks = ['# a comment', '# t q_0 q_1 qd_0 qd_1 current_0 current_1']
    blanks += [' '.join(f'{x:.6g}' for x in row) for row in rows]
    echo = [
        f'{int(row[0])},{round(row[0] % 1 * 1e9)},,one,two,'
        + ','.join(f'{x:.6g}' for x in row[1:]) for row in np.column_stack([t, q, dq, effort])
    ]
    return [
        ('a.csv', '\r\n'.join(german).encode()), ('b.txt', '\n'.join(blanks).encode()),
        ('c.csv', '\n'.join(echo).encode()),
    ]


@cache
def array_seeds() -> Seeds:
    """Return a recording as NPZ, MAT and JSON."""
    from scipy.io import savemat

    t, q, dq, effort = log_arrays()
    npz, mat = io.BytesIO(), io.BytesIO()
    np.savez_compressed(npz, t=t, q=q, dq=dq.T, tau=effort)
    # As MATLAB writes them; without compression no checksum keeps damage from SciPy, which crashes
    # on some.
    savemat(mat, {'log': {'time': t, 'q': q, 'qd': dq, 'tau': effort}}, do_compression=True)
    records = [
        {'t': row[0], 'q': row[1], 'dq': row[2], 'tau': row[3]}
        for row in zip(*(x.tolist() for x in (t, q, dq, effort)), strict=True)
    ]
    return [('a.npz', npz.getvalue()), ('b.mat', mat.getvalue()),
            ('c.json', json.dumps(records).encode())]


@cache
def parquet_seeds() -> Seeds:
    """Return a recording as Parquet, in columns of lists."""
    import pyarrow
    from pyarrow import parquet

    t, q, dq, effort = log_arrays()
    file = io.BytesIO()
    parquet.write_table(pyarrow.table({
        't': t, 'q': q.tolist(), 'dq': dq.tolist(), 'tau': effort.tolist(),
    }), file)
    return [('a.parquet', file.getvalue())]


@cache
def model_seeds() -> Seeds:
    """Return a model file with the figures that others calculate with."""
    made = model()
    quality = {
        'verdict': 'good', 'reasons': [], 'lost': [], 'speeds': [1.0, 2.0], 'loads': [3.0, 4.0],
        'residual_standard_deviation': [0.1, 0.2], 'temperatures': [[20.0, 21.0], [30.0, 31.0]],
        'degrees_of_freedom': [99.0] * made.reduction.rank,
        'cross_validation': {'nrmse_mean': 0.1},
        'discrepancy': {
            'joints': list(JOINTS[:1]), 'orders': [1], 'of_gains': False,
            'second_moments': [[1.0, 0.1], [0.1, 1.0]],
            'absorbed': [[0.5, 0.0]] * made.reduction.rank,
        },
    }
    return [('model.yaml', dump_model(replace(made, quality=quality)).encode())]


def read_model(path: Path):
    """Read a model file, and use it as `compare` and `export` do."""
    found = load_model(path)
    if found.robot.joint_names == JOINTS:
        compare_models(model(), found)
    for joint in range(found.robot.n):
        plain_friction(found, found.theta_lifted, joint)


COLLISION = {
    'schema_version': 1, 'robot': 'made_up', 'model_sha256': SHA, 'bags': ['free'],
    'duration': 120.0, 'false_alarms_per_hour': 0.1, 'bandwidth': 25.0, 'hold': 0.004,
    'joints': [
        {'name': name, 'factor': 4.0, 'rest': 0.5, 'smallest_step': 2.0} for name in JOINTS
    ],
}


def break_away_file():
    settings = BreakAwaySettings(torque_cap=5.0, torque_limit=10.0, inertia=0.1, ramp_rate=0.5)
    repeats = tuple(
        BreakAwayRepeat(direction, 1.0 + 0.1 * k, 1.0, 0.0, 0.1, 0.9, 5e-4, 0.5, 2.0)
        for k in range(4) for direction in (1, -1)
    )
    found = estimate_break_away(BreakAwayRun('one', 'free', settings, repeats))
    return to_plain(break_away_content('made_up', [found]))


def health_content():
    joint = {
        'windows': 40, 'change': 0.01, 'scatter': 0.02, 'repeat': 0.3, 'temperature': 30.0,
        'coldest': 25.0, 'warmest': 35.0, 'slope': -0.01, 'slope_error': 0.001,
        'unexplained': 0.1, 'load': 5.0,
    }
    return {
        'schema_version': 1, 'model_sha256': friction_sha256(model()), 'sliding_time': 1.0,
        'slow_velocity': 0.05, 'joints': {'one': joint, 'two': None},
    }


SUBJECT = commissioning.CommissioningKey(SHA, 'made_up', SHA, SHA, '2015', (0.5,))


RECORD = {'schema_version': commissioning.SCHEMA_VERSION, 'runs': [{
    **asdict(SUBJECT), 'payload': [0.5], 'stage': 'dry run', 'speed': 0.1, 'periods': 1,
    'worst_tracking_error': 0.01,
}]}


def refuse(words):
    raise DataError(words)


def _targets(*targets: Target) -> dict[str, Target]:
    return {target.name: target for target in targets}


TARGETS = _targets(
    Target('mcap', mcap_seeds, mutate_mcap, read_bag),
    Target('sqlite', lambda: bag_seed('bag.db3', '*.db3', 'sqlite3'), mutate_sqlite, read_bag),
    Target('metadata', lambda: bag_seed('metadata.yaml', 'metadata.yaml'), mutate_yaml,
           read_metadata),
    Target('cdr', cdr_seeds, mutate_bytes, read_cdr),
    Target('table', table_seeds, mutate_csv, read_bag),
    Target('log', log_seeds, mutate_bytes, read_bag),
    # Hardly any changed archive is accepted.
    Target('arrays', array_seeds, mutate_bytes, read_bag, share=2.0),
    *([Target('parquet', parquet_seeds, mutate_bytes, read_bag)] if find_spec('pyarrow') else []),
    Target('mapping', lambda: yaml_seed('m.yaml', MAPPING), mutate_yaml, load_mapping),
    Target('urdf', lambda: [('arm.urdf', two_link_urdf().encode())], mutate_xml,
           lambda path: make_robot_model(read_urdf(path))),
    # Each is expanded by a process of its own, which takes longer than all else.
    Target('xacro', lambda: [('arm.xacro', XACRO.encode())], mutate_xml, read_urdf, share=0.2),
    Target('links', lambda: yaml_seed('links.yaml', LINKS), mutate_yaml,
           lambda path: parse_urdf(read_link_table(path), str(path))),
    Target('robot', robot_seeds, mutate_yaml, lambda path: load_robot(str(path))),
    Target('experiment', lambda: [yaml_seed('e.yaml', text)[0] for text in EXPERIMENTS],
           mutate_yaml, load_experiment),
    Target('trajectory', lambda: yaml_seed('t.yaml', dump_trajectory(trajectory())), mutate_yaml,
           lambda path: load_trajectory(path, check_hash=False)),
    Target('motion', motion_seeds, mutate_motion, lambda path: import_motion(path, JOINTS)),
    Target('model', model_seeds, mutate_yaml, read_model),
    Target('campaign', lambda: yaml_seed('c.yaml', CAMPAIGN), mutate_yaml, load_campaign),
    Target('state', lambda: yaml_seed('run.json', '{"schema_version": 1, "files": {}}'),
           # A state that is not there is none that was refused.
           mutate_yaml, lambda path: read_state(path.parent) or refuse('no state')),
    Target('recipe', lambda: yaml_seed('r.yaml', RECIPE), mutate_yaml, load_recipe),
    Target('collision', lambda: yaml_seed('c.yaml', COLLISION), mutate_yaml,
           lambda path: load_collision_calibration(path, model(), SHA)),
    Target('health', lambda: yaml_seed('h.yaml', health_content()), mutate_yaml,
           lambda path: read_reference(path, model())),
    Target('break_away', lambda: yaml_seed('b.yaml', break_away_file()), mutate_yaml,
           load_break_away),
    Target('commissioning', lambda: yaml_seed('t.yaml.runs', RECORD), mutate_yaml,
           lambda path: commissioning.completed_stages(path.with_suffix(''), SUBJECT)),
    Target('calibration', lambda: yaml_seed('c.yaml', KINEMATICS), mutate_yaml, read_calibration),
    Target('corrections', lambda: [('c.conf', CORRECTIONS)], mutate_bytes, read_calibration),
)
