# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
What goes wrong with recordings, typed as a user types it: used and said, or refused in words.

The faults of data that this package is designed against, through the command line. An arm of three
joints is recorded anew for each fault, message by message.
"""

import ast
from dataclasses import dataclass, replace
import itertools
import os
from pathlib import Path
import re
import shutil
import signal
from types import SimpleNamespace

from builders import contents, FIRST_STAMP, joint_states, room_for, run_command, write_bag
from long_tests import long_test, some_by_day
import numpy as np
import pytest
from recordings import Driver, execute, write_small_arm
from robot_identification import arrays
from robot_identification.estimation import problem as identification_problem
from robot_identification.files import read_yaml
from robot_identification.model.model_file import load_model
from robot_identification.model.registry import load_robot
from robot_identification.processing import blocks
from robot_identification.recording.bag_writer import write_joint_states
from robot_identification.simulation.ground_truth import draw_truth

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')

ROOT = Path(__file__).resolve().parents[1]
METADATA = {'robot': 'arm', 'effort_unit': 'A'}
RATE = 125.0
# Laws and filter by name: what is tried beside them does not matter to a fault, and takes longer.
PLAIN = ('--friction', 'coulomb,viscous,offset', '--cutoff', '9')


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    """Return the small arm, messages and bags of two motions, and what the first bag gives."""
    folder = tmp_path_factory.mktemp('arm')
    yaml = write_small_arm(folder)
    robot = load_robot(str(yaml))
    truth = draw_truth(robot, 3)
    motions, bags = [], []
    for seed in range(2):
        found = Driver(RATE).record(
            execute(robot, truth, seed, 12.0), robot.limits.effort / truth.drive_gain, seed
        )
        messages = joint_states(
            robot.joint_names, FIRST_STAMP + found.stamps, *found.measured, log_delay=0.001
        )
        motions.append(messages)
        bags.append(write_bag(folder / f'bag_{seed}', messages, METADATA))
    done = run_command('identify', bags[0], '--robot', yaml, '-o', folder / 'm', *PLAIN)
    assert done.code == 0, done.err
    model_file = folder / 'm' / 'identified_model.yaml'
    return SimpleNamespace(
        yaml=yaml, names=robot.joint_names, motions=motions, bags=bags, model_file=model_file,
        model=load_model(model_file),
    )


@dataclass(frozen=True, eq=False)
class Lab:
    """A folder to record into, and the commands."""

    folder: Path
    arm: SimpleNamespace

    @property
    def results(self):
        return self.folder / 'results'

    @property
    def messages(self):
        return list(self.arm.motions[0])

    def record(self, messages, metadata=METADATA, name='bag'):
        return write_bag(self.folder / name, messages, metadata)

    def cut(self, share, name='cut'):
        """Return a copy of the first bag, its file cut off after a share of it."""
        shutil.copytree(self.arm.bags[0], self.folder / name)
        file, = (self.folder / name).glob('*.mcap')
        file.write_bytes(file.read_bytes()[:int(share * file.stat().st_size)])
        return self.folder / name

    def arguments(self, *bags, options=PLAIN):
        return ('identify', *bags, '--robot', self.arm.yaml, '-o', self.results, *options)

    def identify(self, *bags, code=0, options=PLAIN):
        """Identify, check what every outcome promises, and return what was said."""
        found = run_command(*self.arguments(*bags, options=options))
        assert found.code == code, found.err
        assert 'Traceback' not in found.err
        if code in (0, 3):
            assert_no_nan(self.results)
        else:
            assert found.err.startswith('error: ')
            assert found.out == ''
            assert not self.results.exists()
        return found

    @property
    def model(self):
        return load_model(self.results / 'identified_model.yaml')

    @property
    def report(self):
        return (self.results / 'report.html').read_text(encoding='utf-8')


def left_out(count, reason):
    """Return how a report tells that samples were left out."""
    return f'<th scope="row">{reason}</th><td>{count}</td>'


@pytest.fixture
def lab(tmp_path, without_pictures, arm):
    return Lab(tmp_path, arm)


def assert_no_nan(folder):
    """Check that no file of a result holds a number that is none."""
    # In a model file, the quality of a joint whose effort is constant may be one.
    for path in folder.iterdir():
        text = path.read_text(encoding='utf-8').partition('\nquality:')[0]
        assert not re.search(r'(?i)(?<![\w-])\.?nan\b', text), path.name


def with_field(messages, field, change, rows=None):
    """Return messages with `change(value)` in the place of a field, or of the rows' one."""
    return [
        replace(message, **{field: change(np.array(getattr(message, field)))})
        if rows is None or k in rows else message
        for k, message in enumerate(messages)
    ]


def assert_same_parameters(model, clean, rtol=0.0):
    assert model.reduction.names == clean.reduction.names
    np.testing.assert_allclose(model.theta_base, clean.theta_base, rtol=rtol, atol=0.0)


def in_standard_errors(model, clean):
    """Return the largest difference of two models in standard errors of the first."""
    assert model.reduction.names == clean.reduction.names
    return np.abs((model.theta_base - clean.theta_base) / model.standard_errors).max()


# disk and death.


# A writer of rosbags that cannot write does not close its file.
@pytest.mark.filterwarnings('ignore:unclosed file:ResourceWarning')
@pytest.mark.parametrize('name', [
    'results', *(pytest.param(name, marks=long_test) for name in ('p.csv', 'p.mcap')),
])
def test_a_full_disk_leaves_the_old_results(lab, name):
    """No room for more than 5 kB a file: exit code 2, what is there untouched, nothing begun."""
    lab.results.mkdir()
    for old in ('identified_model.yaml', 'report.html', 'results.txt', 'p.csv', 'p.mcap'):
        (lab.results / old).write_text(f'the old {old}')
    before = contents(lab.folder)
    output = lab.results if name == 'results' else lab.results / name
    arguments = (
        lab.arguments(lab.arm.bags[0]) if name == 'results'
        else ('predict', lab.arm.model_file, lab.arm.bags[0], '-o', output)
    )
    with room_for(5000):
        found = run_command(*arguments, '--force')
    assert found.code == 2
    assert f'{output} cannot be written (File too large)' in found.err
    assert 'make room, or name another place' in found.err
    assert contents(lab.folder) == before


@pytest.mark.filterwarnings('ignore:unclosed file:ResourceWarning')
def test_a_full_disk_leaves_no_part_of_a_bag(tmp_path):
    """What `simulate` writes: none is there afterwards, nor a hidden part of one."""
    rows = np.zeros((3000, 3))
    with room_for(5000), pytest.raises(OSError, match='File too large'):
        write_joint_states(
            tmp_path / 'bag', 'abc', np.arange(3000.0), {'/joint_states': (rows, rows, rows)}, {}
        )
    assert contents(tmp_path) == {}


def killed_at(step, *arguments):
    """Run a command in a process that is killed before its step-th change of the disk."""
    child = os.fork()
    if not child:
        count = itertools.count(1)

        def dying(function):
            def call(*args, **options):
                if next(count) == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*args, **options)

            return call

        os.open, os.fsync, Path.replace = dying(os.open), dying(os.fsync), dying(Path.replace)
        code = 1
        try:
            code = run_command(*arguments).code
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_killed_while_writing_every_file_is_the_old_or_the_new_one(lab):
    """At every step of writing: whole files, and a folder that the next run can use."""
    # Only between the two renames are the files of different runs, each of them whole.
    def arguments(bag):
        return 'validate', lab.arm.model_file, bag, '-o', lab.results, '--force'

    names = ('validation.json', 'report.html')
    versions = []
    for bag in lab.arm.bags[::-1]:
        assert run_command(*arguments(bag)).code == 0
        versions.append([(lab.results / name).read_bytes() for name in names])
    old, new = versions[1], versions[0]
    seen = []
    for step in range(1, 30):
        for name, content in zip(names, old, strict=True):
            (lab.results / name).write_bytes(content)
        code = killed_at(step, *arguments(lab.arm.bags[1]))
        found = [(lab.results / name).read_bytes() for name in names]
        seen.append([
            ('old', 'new')[(content == after) and content != before]
            for content, before, after in zip(found, old, new, strict=True)
        ])
        assert all(content in pair for content, *pair in zip(found, old, new, strict=True)), step
        if code == 0:
            break
        assert code == -signal.SIGKILL
    assert seen[0] == ['old', 'old']
    assert seen[-1] == ['new', 'new']
    assert sum(left != right for left, right in seen) <= 1
    assert len(seen) > 6


# time.


@pytest.mark.parametrize('share', [
    *(pytest.param(share, marks=long_test) for share in (0.01, 0.1)), 0.5,
])
def test_lost_messages_move_nothing_beyond_its_error(lab, share):
    """One in a hundred, one in ten, every second one."""
    # Three standard errors, which assume white residuals, are little for what the loss of half of
    # the data does to 40 parameters: their errors grow by its root, 1.4.
    rng = np.random.default_rng(1)
    messages = [message for message in lab.messages if rng.random() >= share]
    found = lab.identify(lab.record(messages))
    assert in_standard_errors(lab.model, lab.arm.model) < 3.0
    assert ('are followed by missing ones, at random' in found.err) == (share > 0.05)


@pytest.mark.parametrize(('step', 'words'), [
    (-0.3, 'the clock was set back by 0.292 s at 5.592 s: what was recorded before and after is '
           'kept apart'),
    (0.3, '1 gap of more than 28 ms, across which nothing is filtered: 0.308 s after 5.592 s'),
])
def test_a_clock_that_jumps_is_said_and_survived(lab, step, words):
    """Only the filters' transients at one more pair of ends are lost: under one standard error."""
    messages = [
        replace(message, stamp=message.stamp + (round(step * 1e9) if k >= 700 else 0))
        for k, message in enumerate(lab.messages)
    ]
    found = lab.identify(lab.record(messages))
    assert words in found.err
    assert in_standard_errors(lab.model, lab.arm.model) < 1.0


# values, names, units.


@pytest.mark.parametrize('field', [
    *(pytest.param(field, marks=long_test) for field in ('position', 'velocity')), 'effort',
])
def test_a_few_values_that_are_none_are_left_out_and_counted(lab, field):
    """Seven of 1433: used, counted, and never passed on, neither by a model nor a prediction."""
    def spoil(values):
        values[1] = np.nan if field != 'effort' else np.inf
        return values

    messages = with_field(lab.messages, field, spoil, range(100, 800, 100))
    bag = lab.record(messages)
    lab.identify(bag)
    assert left_out(7, 'not finite') in lab.report
    assert in_standard_errors(lab.model, lab.arm.model) < 1.0
    for mode in ((), ('--causal',)):
        output = lab.folder / f'p{len(mode)}.csv'
        found = run_command('predict', lab.arm.model_file, bag, '-o', output, *mode)
        assert found.code == 0, found.err
        assert not re.search('(?i)nan|inf', output.read_text())
        assert 'nan' not in found.out


REFUSED = {
    'infinite efforts': (
        lambda ms: with_field(ms, 'effort', lambda v: v * np.inf, range(0, 1000, 40)),
        'of the joint states on /joint_states are not finite, more than the 1% accepted',
    ),
    'positions in degrees': (
        lambda ms: with_field(ms, 'position', np.rad2deg),
        'positions look like degrees, velocities like rad/s',
    ),
}


@pytest.mark.parametrize('fault', REFUSED)
def test_recordings_that_cannot_be_right_are_refused_in_words(lab, fault):
    """Exit code 4 in every command that uses the bag; the bag is named, and nothing is left."""
    change, words = REFUSED[fault]
    bag = lab.record(change(lab.messages))
    output = lab.folder / 'out'
    for found in (
        lab.identify(bag, code=4),
        run_command('validate', lab.arm.model_file, bag, '-o', output),
        run_command('predict', lab.arm.model_file, bag, '-o', output / 'p.csv'),
    ):
        assert found.code == 4
        assert words in found.err
        assert found.err.startswith(f'error: {bag}')
        assert not output.exists()


DOUBTFUL = {
    'N m for A': (
        lambda ms: with_field(ms, 'effort', lambda v: v * (12, 12, 8)),
        'measured over expected torque of the bodies is pan 12, lift 12',
    ),
    'a flipped effort': (
        lambda ms: with_field(ms, 'effort', lambda v: v * (1, -1, 1)),
        'measured over expected torque of the bodies is lift -',
    ),
}


@pytest.mark.parametrize('fault', DOUBTFUL)
def test_doubtful_recordings_are_used_with_a_warning(lab, fault):
    """By identify, which takes torque for current on request alone, and by validate."""
    change, words = DOUBTFUL[fault]
    bag = lab.record(change(lab.messages))
    options = PLAIN
    if fault == 'N m for A':
        assert 'the recording shows joint torque' in lab.identify(bag, code=4).err
        options = (*PLAIN, '--trust-effort-unit')
    lab.identify(bag, options=options)
    assert words in ' '.join((lab.folder / 'results' / 'results.txt').read_text().split())
    found = run_command('validate', lab.arm.model_file, bag, '-o', lab.folder / 'v')
    assert found.code == 0
    assert words in found.err
    assert_no_nan(lab.folder / 'v')


def test_a_joint_with_a_dead_effort_is_not_learned_from(lab):
    """Exit code 3: its friction is lost, and its rows do not bend the bodies of the others."""
    bag = lab.record(with_field(lab.messages, 'effort', lambda v: np.append(v[:2], 0.7)))
    found = lab.identify(bag, code=3)
    assert 'warning: effort of reach is 0.7 throughout: nothing can be learned' in found.err
    assert re.search(r'do not determine [\w, ]*\bfv3\b', found.err)
    whole, model = lab.arm.model, lab.model
    for name in ('fv1', 'fv2', 'Izz1'):
        expected, error = (
            values[whole.reduction.names.index(name)]
            for values in (whole.theta_base, whole.standard_errors)
        )
        found_value = model.theta_base[model.reduction.names.index(name)]
        # From two joints' rows instead of three.
        assert abs(found_value - expected) < 5.0 * error


def test_a_recording_is_not_counted_twice(lab):
    """Errors would come out smaller than they are."""
    bag = lab.arm.bags[0]
    assert 'holds the same bytes as' in lab.identify(bag, bag, code=2).err


def test_a_recording_without_motion_is_left_out_of_several(lab):
    """By name, and the model is that of the others."""
    still = with_field(lab.messages, 'position', lambda values: 0.0 * values + 0.3)
    still = with_field(still, 'velocity', lambda values: 0.0 * values)
    bag = lab.record(still, name='still')
    found = lab.identify(lab.arm.bags[0], bag)
    assert f'warning: {bag} has no motion, or no effort that changes: left out' in found.err
    np.testing.assert_array_equal(lab.model.theta_base, lab.arm.model.theta_base)


@pytest.mark.parametrize(('step', 'words'), [
    (5, r'\d+ of \d+ samples can be fitted \(\d+ at rest before or after all motion .*\), '
        'at least 50 are needed: record a longer motion'),
    (1, 'no usable samples beside those held out of the cross-validation: record a longer motion'),
])
def test_a_motion_of_a_moment_is_refused_with_what_is_missing(lab, step, words):
    """Of 12 s at 25 and 125 Hz all but 0.3 s are rest, which is not fitted around the motion."""
    first, last = 500, 540
    brief = [
        message if first <= k < last else replace(
            message, velocity=0.0 * message.velocity,
            position=lab.messages[min(max(k, first), last)].position,
        )
        for k, message in enumerate(lab.messages)
    ]
    bag = lab.record(brief[::step])
    assert re.match(rf'error: {bag}: {words}', lab.identify(bag, code=4, options=()).err)


@pytest.mark.parametrize('field', some_by_day(['name', 'effort'], 1))
def test_efforts_of_exchanged_joints_make_no_good_model(lab, field):
    """Two names exchanged throughout, or two efforts: no signal contradicts another."""
    messages = with_field(lab.messages, field, lambda values: values[[1, 0, 2]])
    lab.identify(lab.record(messages))
    quality = lab.model.quality
    assert quality['verdict'] in ('usable', 'bad')
    reasons = ' '.join(quality['reasons'])
    assert f'the {field}s of pan and lift may be exchanged' in reasons
    assert re.search(r'is worst: \d+% of the deviation of its effort is not explained', reasons)


def test_a_velocity_that_stands_still_costs_little(lab):
    """It is said, and differentiated from the position: parameters within three errors."""
    bag = lab.record(with_field(lab.messages, 'velocity', lambda v: np.append(v[:2], 0.0)))
    found = lab.identify(bag)
    assert 'velocity of reach is 0 throughout, although the joint moves by' in found.err
    assert in_standard_errors(lab.model, lab.arm.model) < 3.0


# bags.


def test_damaged_bags_are_used_beside_good_ones(lab):
    """Each is said with what was recovered, on stderr and in the model file; exit code 0."""
    damaged = [lab.cut(0.6), lab.cut(0.4, 'shorter')]
    found = lab.identify(*damaged, lab.arm.bags[1])
    warnings = re.findall(
        r'^warning: (\S+): damaged bag: recovered ([\d.]+) of about ([\d.]+) s \(.* cut off',
        found.err, re.MULTILINE,
    )
    assert [path for path, _, _ in warnings] == [str(path) for path in damaged]
    for (_, recovered, expected), share in zip(warnings, (0.6, 0.4), strict=True):
        # The file ends with an index, and a chunk that is cut may be compressed.
        assert float(recovered) == pytest.approx(share * float(expected), abs=1.0)
        assert float(expected) == pytest.approx(11.5, abs=0.1)
    listed = lab.model.provenance['bags']
    assert [bag['completeness'][:11] for bag in listed] == ['damaged bag', 'damaged bag',
                                                            'complete']
    # More data than the clean bag has, of the same arm.
    assert in_standard_errors(lab.arm.model, lab.model) < 5.0


def test_what_cannot_be_read_at_all_is_refused(lab):
    """Also beside a good one: what was named is missing otherwise without a word."""
    bag = lab.cut(0.002)
    found = lab.identify(lab.arm.bags[1], bag, code=4)
    assert 'inside the chunk at byte' in found.err
    assert str(bag) in found.err


# too little, too much.


def test_what_one_joint_does_not_show_is_named_and_has_no_error(lab):
    """Only the first joint moves: exit code 3, a reduced model, and no error of what is lost."""
    bag = lab.record([
        replace(message, position=np.array([message.position[0], 0.5, 0.3]),
                velocity=message.velocity * (1, 0, 0))
        for message in lab.messages
    ])
    found = lab.identify(bag, code=3)
    assert 'hardly moved: lift, reach' in ' '.join(found.out.split())
    named = re.search(
        r'the data do not determine ([\w, ]+) \(lift, reach hardly moved\); a reduced model was '
        r'written to', found.err
    )[1].split(', ')
    # Friction and rotors of both, and all that gravity and inertia show through them alone.
    assert {'fc2', 'fv2', 'f02', 'fc3', 'fv3', 'f03', 'Ia3', 'mx3', 'Iyy3'} <= set(named)
    model = read_yaml(lab.results / 'identified_model.yaml')
    assert model['quality']['lost'] == named
    assert set(named).isdisjoint(model['covariance']['names'])
    assert set(named).isdisjoint(entry['name'] for entry in model['base_parameters'])
    assert model['quality']['verdict'] == 'bad'
    assert 'condition_number' in model['quality']
    # What is left can be used.
    again = run_command(
        'validate', lab.results / 'identified_model.yaml', bag, '-o', lab.folder / 'v'
    )
    assert again.code == 0


@pytest.mark.parametrize('options', [
    pytest.param(PLAIN, marks=long_test, id='plain'),
    pytest.param(('--cutoff', '9'), id='automatic'),
])
def test_a_recording_too_long_for_memory_gives_the_same_model(lab, options, monkeypatch):
    """Everything in files, rows computed anew in every pass, small blocks."""
    # Sums in another order differ by rounding: 1e-9, some 1e6 times that of a single number.
    lab.identify(lab.arm.bags[0], options=options)
    whole = lab.model
    monkeypatch.setattr(arrays, 'LARGEST_IN_MEMORY', 100)
    monkeypatch.setattr(identification_problem, 'KEPT_NUMBERS', 0)
    monkeypatch.setattr(blocks, 'BLOCK_ROWS', 97)
    lab.identify(lab.arm.bags[0], options=(*options, '--force'))
    assert_same_parameters(lab.model, whole, 1e-9)
    scores = [
        model.quality['cross_validation']['nrmse_mean'] for model in (whole, lab.model)
    ]
    assert scores[0] == pytest.approx(scores[1], rel=1e-9)


# untrusted files.


def test_what_is_no_regular_file_is_refused_at_once(lab):
    """Nothing waits for a pipe, and nothing reads zeros for ever."""
    inside = lab.folder / 'folder'
    inside.mkdir()
    fifo, table = lab.folder / 'pipe.mcap', lab.folder / 'pipe.csv'
    for pipe in (inside / 'bag.mcap', fifo, table):
        os.mkfifo(pipe)
    zero = Path('/dev/zero')
    for bag in (zero, Path('/dev/null'), fifo):
        found = lab.identify(bag, code=4)
        assert found.err == f'error: {bag} is neither a folder nor a regular file: name a bag\n'
    assert 'bag.mcap is not a regular file' in lab.identify(inside, code=4).err
    for arguments in (
        ('validate', zero, lab.arm.bags[0], '-o', lab.results),
        ('validate', lab.arm.model_file, table, '-o', lab.results),
        ('predict', fifo, lab.arm.bags[0], '-o', lab.results / 'p.csv'),
        ('identify', lab.arm.bags[0], '--urdf', zero, '-o', lab.results),
        ('identify', lab.arm.bags[0], '--robot', lab.arm.yaml, '--config', fifo, '-o',
         lab.results),
    ):
        found = run_command(*arguments)
        assert found.code == 4
        assert 'is not a regular file' in found.err
    found = run_command('doctor', zero, fifo, inside)
    assert found.code == 4
    assert found.out.count('error: ') == 3
    assert not lab.results.exists()


def calls_and_imports(path):
    """Return the names that a source file imports, and what it calls with which keywords."""
    imported, called = set(), []
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split('.')[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or '').split('.')[0])
        elif isinstance(node, ast.Call):
            keywords = {word.arg: ast.unparse(word.value) for word in node.keywords}
            called.append((ast.unparse(node.func), keywords))
    return imported, called


def test_nothing_that_is_read_can_run():
    """No pickle in any disguise, no evaluation of texts, no shell, no YAML with tags of Python."""
    for path in sorted((ROOT / 'robot_identification').rglob('*.py')):
        imported, called = calls_and_imports(path)
        assert imported.isdisjoint(
            {'pickle', 'cPickle', 'dill', 'joblib', 'marshal', 'shelve'}
        ), path
        for name, keywords in called:
            assert name not in ('eval', 'exec', 'os.system', 'os.popen', 'yaml.unsafe_load'), path
            assert keywords.get('shell', 'False') == 'False', path
            assert keywords.get('allow_pickle', 'False') == 'False', path
            if name == 'yaml.load':
                assert keywords['Loader'] in ('_StrictLoader', '_LOADER'), path


def test_pickles_are_no_files_of_ours(lab):
    """A pickle that would write a file if it were loaded, and NumPy's archive of objects."""
    flag = lab.folder / 'loaded'
    pickle = f'cpathlib\nPath.touch\n(cpathlib\nPath\n(V{flag}\ntRtR.'.encode()
    np.savez(lab.folder / 'bag.npz', q=np.array([None, {}], dtype=object))
    for name in ('model.yaml', 'model.pkl', 'bag.mcap'):
        (lab.folder / name).write_bytes(pickle)
    for name, said in {
        'bag.npz': 'cannot be read as NPZ', 'bag.mcap': 'is a text file and no recording'
    }.items():
        assert said in lab.identify(lab.folder / name, code=4).err
    for name in ('model.yaml', 'model.pkl', 'bag.npz'):
        found = run_command(
            'validate', lab.folder / name, lab.arm.bags[0], '-o', lab.results
        )
        assert found.code == 4
        assert str(lab.folder / name) in found.err
    assert not flag.exists()
