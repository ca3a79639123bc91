# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
docs/formats says what the files hold.

Real files are made by the package's own writers. Their keys are those of the pages' tables, the
readers ask for the keys that the tables call required, and they accept the examples.
"""

import copy
from dataclasses import replace
import json
from pathlib import Path
import re
from types import SimpleNamespace

import numpy as np
import pytest
from robot_identification.cli.predict import comparison_csv
from robot_identification.cli.predict import write_comparison_mcap
from robot_identification.errors import IdentificationError
from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.experiment_file import find_experiment
from robot_identification.excitation.experiment_file import load_experiment
from robot_identification.excitation.optimizers.optimizer import Budget
from robot_identification.excitation.trajectory import dump_trajectory
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.excitation.trajectory import trajectory_csv
from robot_identification.experiment.bag import RosbagsBackend
from robot_identification.experiment.bag import write_joint_states
from robot_identification.experiment.simulated_run import simulate
from robot_identification.experiment.simulated_run import write_simulated_bag
from robot_identification.files import dump_yaml
from robot_identification.files import parse_yaml
from robot_identification.files import read_yaml
from robot_identification.model.catalogue import known_robots
from robot_identification.model.catalogue import load_robot
from robot_identification.model.catalogue import share_directory
from robot_identification.model.friction import FRICTION_LAWS
from robot_identification.model.identified_model import dump_identified_model
from robot_identification.model.identified_model import load_identified_model
from robot_identification.pipeline import identify
from robot_identification.pipeline import IdentifyOptions
from robot_identification.pipeline import validate_model
from robot_identification.prediction.comparison import compare_effort
from robot_identification.simulation.truth import draw_truth
from robot_identification.simulation.twin import Sensors
from robot_identification.validation.validation import validation_json

PAGES = Path(__file__).resolve().parents[1] / 'docs' / 'formats'
READERS = {
    'robot': lambda path: load_robot(str(path)),
    'experiment': load_experiment,
    'trajectory': load_trajectory,
    'model': load_identified_model,
}
# Where the keys of a mapping are names of joints or kinds, and what the pages write for them.
PLACEHOLDERS = {'joints': 'JOINT', 'friction': 'JOINT', 'certificate.limits': 'KIND'}
# Mappings of names to values, which have no keys of their own.
MAPS = {
    'window', 'base_parameters[].combination', 'standard_parameters.values',
    'kinematics.joint_names', 'provenance.versions',
}

# The UR5's wrist alone: the URDF is in every model file, and this one is read quickly.
LINK = (
    '<link name="{0}"><inertial><origin xyz="0 0.02 0.01"/><mass value="1.2"/>'
    '<inertia ixx="2e-3" ixy="0" ixz="0" iyy="2e-3" iyz="0" izz="2e-3"/></inertial></link>'
)
JOINT = (
    '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/>'
    '<origin xyz="0 0 0.1" rpy="1.5707963267948966 0 0"/><axis xyz="0 0 1"/>'
    '<limit lower="-6" upper="6" effort="28" velocity="3"/></joint>'
)
WRIST = (
    '<robot name="wrist"><link name="base"/>'
    + LINK.format('wrist_2') + JOINT.format('wrist_2_joint', 'base', 'wrist_2')
    + LINK.format('wrist_3') + JOINT.format('wrist_3_joint', 'wrist_2', 'wrist_3')
    + '</robot>'
)


def page(name):
    """Return the text of a page."""
    return (PAGES / f'{name}.md').read_text(encoding='utf-8')


def table(name, heading):
    """Return the rows of the table below a heading: cells by their column's title."""
    section = page(name).split(f'\n## {heading}\n', 1)[1].split('\n## ', 1)[0]
    lines = [line for line in section.splitlines() if line.startswith('|')]
    rows = [[cell.strip() for cell in line[1:-1].split('|')] for line in lines]
    assert all(len(row) == len(rows[0]) for row in rows), f'{name}.md, {heading}: ragged table'
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def documented(name, heading='Keys', column='key'):
    """Return the names in backticks that a table explains, by row."""
    return [re.fullmatch(r'`(.+)`', row[column])[1] for row in table(name, heading)]


def blocks(name):
    """Return language, text and whether the paragraph before says so of every excerpt."""
    prose, *parts = re.split(r'^```(\w*)\n', page(name), flags=re.MULTILINE)
    found = []
    for language, text in zip(parts[::2], parts[1::2], strict=True):
        if language:
            found.append((language, text, 'Excerpt' in prose.rstrip().rsplit('\n\n', 1)[-1]))
        prose = text
    return found


def paths(content, prefix=''):
    """Return the paths of all keys of a content as the pages write them."""
    if isinstance(content, list):
        return {path for item in content for path in paths(item, f'{prefix}[]')}
    if not isinstance(content, dict) or prefix in MAPS:
        return set()
    found = set()
    for key, value in content.items():
        path = f'{prefix}.{PLACEHOLDERS.get(prefix, key)}'.lstrip('.')
        found |= {path} | paths(value, path)
    return found


def removed(content, path):
    """Return the content without the first key of a path."""
    content = copy.deepcopy(content)
    assert _remove(content, path.replace('[]', '.[]').split('.')), path
    return content


def _remove(node, parts):
    part, *rest = parts
    if part == '[]':
        return any(_remove(item, rest) for item in node)
    for key in list(node) if part in PLACEHOLDERS.values() else [part]:
        if key in node and not rest:
            del node[key]
            return True
        if key in node and _remove(node[key], rest):
            return True
    return False


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    """Make a small file of every format: two joints, four seconds."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    pytest.importorskip('rosbags', reason='rosbags, which bags are written with, is missing')
    folder = tmp_path_factory.mktemp('formats')
    (folder / 'wrist.urdf').write_text(WRIST, encoding='utf-8')
    robot = load_robot(
        'ur5', urdf=folder / 'wrist.urdf', joints=['wrist_2_joint', 'wrist_3_joint']
    )
    (folder / 'experiment.yaml').write_text(
        'schema_version: 1\n'
        'trajectory: {form: fourier, harmonics: 3, base_period: 4.0}\n'
    )
    trajectory = design_excitation(
        robot, load_experiment(folder / 'experiment.yaml'), seed=0, budget=Budget(10)
    )
    recorded = simulate(robot, trajectory, draw_truth(robot, 0), Sensors())
    bag = folder / 'bag'
    write_joint_states(
        bag, robot.joint_names, 1.0 + recorded.stamps, {'/joint_states': recorded.measured},
        {'robot': robot.name, 'effort_unit': 'A'},
    )
    models = [
        identify(robot, [bag], IdentifyOptions(friction=f'{law},viscous,offset')).model
        for law in ('coulomb', 'coulomb_sign')
    ]
    # Whether there are consistent parameters is a matter of luck; their place in the file is not.
    models[0] = replace(models[0], theta_consistent=np.ones(models[0].parameters.size))
    return SimpleNamespace(
        robot=robot, trajectory=trajectory, recorded=recorded, bag=bag, models=models
    )


@pytest.fixture(scope='module')
def contents(run):
    """Return what a program wrote, or the package ships, by page."""
    validation, _, _ = validate_model(run.models[0], [run.bag])
    return {
        'robot': [read_yaml(robot.yaml) for robot in known_robots()],
        'experiment': [read_yaml(find_experiment('demo'))],
        'trajectory': [parse_yaml(dump_trajectory(run.trajectory), 'trajectory')],
        'model': [parse_yaml(dump_identified_model(model), 'model') for model in run.models],
        'validation': [json.loads(validation_json(validation))],
    }


@pytest.mark.parametrize('name', [*READERS, 'validation'])
def test_tables_name_the_keys_that_occur(contents, name):
    occurring = set().union(*(paths(content) for content in contents[name]))
    keys = documented(name)
    assert len(keys) == len(set(keys)), f'{name}.md explains a key twice'
    assert occurring - set(keys) == set(), f'keys that {name}.md does not explain'
    assert set(keys) - occurring == set(), f'keys of {name}.md that no file has'


@pytest.mark.parametrize('name', READERS)
def test_required_keys_are_those_the_reader_asks_for(contents, name, tmp_path):
    wrong = []
    for row in table(name, 'Keys'):
        path = row['key'].strip('`')
        content = next(c for c in contents[name] if path in paths(c))
        file = tmp_path / 'without.yaml'
        # JSON is YAML, and quicker to write.
        file.write_text(json.dumps(removed(content, path)), encoding='utf-8')
        try:
            READERS[name](file)
            required = 'no'
        except IdentificationError:
            required = 'yes'
        if row['required'] != required:
            wrong.append(path)
    assert wrong == [], f'{name}.md is wrong about what is required'


@pytest.mark.parametrize('name', READERS)
def test_another_schema_version_is_refused_with_exit_code_4(contents, name, tmp_path):
    file = tmp_path / 'newer.yaml'
    file.write_text(dump_yaml({**contents[name][0], 'schema_version': 2}), encoding='utf-8')
    with pytest.raises(IdentificationError, match='schema_version is 2') as caught:
        READERS[name](file)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize('name', READERS)
def test_examples_are_accepted_by_the_reader(name, tmp_path):
    examples = blocks(name)
    assert examples, f'{name}.md shows no example'
    for number, (language, text, excerpt) in enumerate(examples):
        assert language == 'yaml'
        if excerpt:
            found = paths(parse_yaml(text, f'{name}.md'))
            assert found and found <= set(documented(name))
        else:
            file = tmp_path / f'{number}.yaml'
            file.write_text(text, encoding='utf-8')
            READERS[name](file)


def test_validation_example_has_the_keys_of_the_table():
    for language, text, excerpt in blocks('validation'):
        assert (language, excerpt) == ('json', False)
        content = json.loads(text)
        assert paths(content) == set(documented('validation'))
        bag = content['bags'][0]
        for key in ('rmse', 'nrmse', 'rmse_moving', 'bias'):
            assert len(bag[key]) == len(bag['joints'])
        assert bag['nrmse_mean'] == pytest.approx(np.mean(bag['nrmse']))


def test_examples_of_shipped_files_are_the_shipped_files():
    folder = share_directory() / 'config'
    demo = (folder / 'experiments' / 'demo.yaml').read_text(encoding='utf-8')
    assert demo in [text for _, text, _ in blocks('experiment')]
    lines = (folder / 'robots' / 'ur5.yaml').read_text(encoding='utf-8').splitlines()
    assert set(blocks('robot')[0][1].splitlines()) <= set(lines)


def test_friction_laws_and_their_constants_are_named():
    rows = {row['law'].strip('`'): row for row in table('model', 'Friction')}
    assert set(rows) == set(FRICTION_LAWS)
    for name, law in FRICTION_LAWS.items():
        constants = {f'`{constant}`' for constant in law().constants()} or {'none'}
        symbols = {f'`{symbol}`' for symbol in law.symbols}
        assert {rows[name]['constants'].split(',')[0]} == constants
        assert {rows[name]['symbol, unit'].split(',')[0]} == symbols


def test_bag_page_names_topics_and_metadata_of_what_is_written(run, tmp_path):
    backend = RosbagsBackend()
    write_simulated_bag(tmp_path / 'bag', run.robot, run.recorded, run.trajectory)
    assert set(backend.metadata(tmp_path / 'bag')) == set(documented('bag', 'Metadata'))
    comparison, _ = compare_effort(run.models[0], run.bag, causal=False)
    write_comparison_mcap(tmp_path / 'out.mcap', run.models[0], comparison)
    rows = {row['topic'].strip('`'): row for row in table('bag', 'What we write')}
    for path, writer in (tmp_path / 'bag', '`simulate`'), (tmp_path / 'out.mcap', '`predict`'):
        topics = backend.topics(path)
        assert set(topics) == {t for t, row in rows.items() if writer in row['written by']}
        assert all(rows[topic]['type'] == f'`{kind}`' for topic, (kind, _) in topics.items())


def test_bag_page_excerpts_show_what_is_written(run):
    for language, text, excerpt in blocks('bag'):
        assert excerpt
        if language == 'yaml':
            shown = parse_yaml(text, 'bag.md')['rosbag2_bagfile_information']
            real = read_yaml(run.bag / 'metadata.yaml')['rosbag2_bagfile_information']
            assert set(shown) <= set(real)
            assert set(shown['custom_data']) == set(documented('bag', 'Metadata'))
            assert shown['version'] == real['version']


def test_csv_columns_are_the_ones_documented(run):
    comparison, _ = compare_effort(run.models[0], run.bag, causal=False)
    joints = run.robot.joint_names
    time, *kinds = documented('bag', 'Predicted effort', 'column')
    expected = [time] + [kind.replace('JOINT', joint) for kind in kinds for joint in joints]
    assert comparison_csv(run.models[0], comparison).splitlines()[0].split(',') == expected
    header = '`t,q_1,..,q_n,dq_1,..,dq_n,ddq_1,..,ddq_n`'
    assert header in page('trajectory')
    assert trajectory_csv(run.trajectory, 10.0).splitlines()[0] == (
        't,q_1,q_2,dq_1,dq_2,ddq_1,ddq_2'
    )


def test_every_page_is_linked_from_the_overview():
    names = {path.name for path in PAGES.glob('*.md')} - {'README.md'}
    assert names == set(re.findall(r'\]\((\w+\.md)\)', page('README')))
