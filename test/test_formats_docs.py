# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""docs/formats says what files hold: keys, required ones and examples; links lead somewhere."""

import copy
from dataclasses import replace
import json
from pathlib import Path
import re
from types import SimpleNamespace

from builders import custom_data_of, joint, link, robot_urdf, topics_of
import numpy as np
import pytest
from robot_identification.cli.predict import comparison_signals, write_signals_mcap
from robot_identification.errors import DescriptionError, IdentificationError
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.recipe import load_recipe, Recipe
from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.excitation.optimizers.search import Budget
from robot_identification.excitation.trajectory import dump_trajectory, load_trajectory
from robot_identification.files import dump_yaml, parse_yaml, read_yaml
from robot_identification.model.identified_model import with_payload
from robot_identification.model.link_table import read_link_table
from robot_identification.model.model_file import dump_model, load_model
from robot_identification.model.payload import last_link, Payload
from robot_identification.model.registry import known_robots, load_robot, share_directory
from robot_identification.pipeline import identify, validate
from robot_identification.prediction.comparison import compare_effort
from robot_identification.recording.bag_writer import write_joint_states
from robot_identification.recording.simulated_run import simulate, write_simulated_bag
from robot_identification.report.formatting import json_text
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import Sensors
from robot_identification.studies.comparison.comparison import compare_models
from robot_identification.studies.comparison.report import (
    ComparedPair, CompareResult, comparison_file_content,
)
from robot_identification.studies.comparison.sliding import compare_joints_of_size
from robot_identification.studies.comparison.torque_change import change_of_torque, shared_motion
from robot_identification.studies.rollout import RolloutOptions, run_rollout, with_rollouts
from robot_identification.studies.temperature.report import temperature_content
from robot_identification.studies.temperature.trend import study_temperature
from robot_identification.validation.validation import validation_json
from robot_identification.validation.verdict import (
    Bandwidth, DataWarning, Findings, judge, verdict_content,
)

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / 'docs' / 'formats'
# Every page for users; the changelog is no Markdown.
MARKDOWN = sorted([*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md')])
READERS = {
    'robot': lambda path: load_robot(str(path)),
    'link_table': read_link_table,
    'experiment': load_experiment,
    'trajectory': load_trajectory,
    'model': load_model,
    'recipe': load_recipe,
}
# Where the keys of a mapping are names of joints or kinds, and what the pages write for them.
PLACEHOLDERS = {
    'joints': 'JOINT', 'links': 'JOINT', 'friction': 'JOINT', 'certificate.limits': 'KIND',
    'obstacles': 'NAME', 'workspace': 'FRAME',
    'certificate.criteria_dense': 'CRITERION', 'certificate.search.criteria_before': 'CRITERION',
    'certificate.criteria_optimised[].criteria': 'CRITERION',
}
# Mappings of names to values, which have no keys of their own.
MAPS = {
    'window', 'center', 'base_parameters[].combination', 'standard_parameters.values',
    'kinematics.joint_names', 'provenance.versions', 'locked', 'robot.locked', 'xacro_arguments',
    'corrections.offline[].constants', 'corrections.live[].constants',
    'friction.JOINT[].constants', 'friction.JOINT[].constant_standard_errors',
    'rules[].joints', 'limits.acceleration',
    # The keys of the experiment file.
    'certificate.further_limits', 'certificate.experiment',
}
# A section of the page on link tables is about files of another format.
CALIBRATION = '\n## Calibration files\n'
# Two joints alone: the URDF is in every model file, and this one is read quickly.
BALL = '<collision><geometry><sphere radius="0.03"/></geometry></collision>'
WRIST = robot_urdf(
    '<link name="base"/>',
    *(link(f'wrist_{k}').replace('</link>', f'{BALL}</link>') for k in (2, 3)),
    *(
        joint(f'wrist_{k}_joint', parent, f'wrist_{k}', xyz=(0, 0, 0.1), rpy=(np.pi / 2, 0, 0))
        for k, parent in ((2, 'base'), (3, 'wrist_2'))
    ),
)


def page(name):
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


def blocks(page_text):
    """Return language, text and whether the paragraph before says so of every excerpt."""
    prose, *parts = re.split(r'^```(\w*)\n', page_text, flags=re.MULTILINE)
    found = []
    for language, text in zip(parts[::2], parts[1::2], strict=True):
        if language:
            found.append((language, text, 'Excerpt' in prose.rstrip().rsplit('\n\n', 1)[-1]))
        prose = text
    return found


def examples(name):
    """Return the excerpts of the format that a page is about."""
    format_text = page(name).split(CALIBRATION)[0]
    return [block for block in blocks(format_text) if block[0] != 'console']


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
        identify(robot, [bag], IdentifyOptions(friction=friction)).model
        for friction in ('coulomb,viscous,offset', 'auto')
    ]
    # Whether there are consistent parameters is a matter of luck; their place in the file is not.
    models = [
        replace(model, theta_consistent=np.ones(model.parameters.size)) for model in models
    ]
    return SimpleNamespace(
        robot=robot, trajectory=trajectory, recorded=recorded, bag=bag, models=models,
        model=models[0],
    )


def with_constant_errors(model):
    """Return a model with errors of its shape constants, as if they had been searched."""
    terms = tuple(
        replace(term, constant_errors=tuple(0.01 for _ in term.law.shape))
        for term in model.parameters.friction
    )
    parameters = replace(model.parameters, friction=terms)
    return replace(model, reduction=replace(model.reduction, parameters=parameters))


def shown(name):
    """Return the whole files that a page shows; readers refuse keys that they do not know."""
    return [parse_yaml(text, name) for _, text, excerpt in examples(name) if not excerpt]


def a_payload(model):
    link = last_link(model.robot)
    return Payload(1.0, np.array([0.0, 0.0, 0.1]), 0.01 * np.eye(3), link)


def with_warning(model):
    """Return the model as if its data had raised a warning."""
    warning = DataWarning(
        'delay', ('lower',), 'the effort of lower may be late', 'delay', 's', 0.08, 0.012, 'look'
    )
    verdict = judge(
        [], unseen=False, findings=Findings((warning,)), bandwidth=Bandwidth(125.0, 9.0)
    )
    return model.with_quality({**model.quality, **verdict_content(verdict)})


@pytest.fixture(scope='module')
def contents(run):
    """Return what a program wrote, or the package ships, by page; whole examples of the page."""
    validation, datasets, _ = validate(run.model, [run.bag])
    rollouts = run_rollout(run.model, datasets, RolloutOptions(starts=1))
    validation = with_rollouts(validation, rollouts)
    warmed = [replace(run.model, temperature=np.full(2, 20.0 + 5.0 * k)) for k in range(5)]
    pair = ComparedPair(
        ('one', 'other'), compare_models(*run.models),
        change_of_torque(*run.models, shared_motion(run.models)),
    )
    sizes = compare_joints_of_size(
        run.models, [dict.fromkeys(run.robot.joint_names, 'wrist')] * 2, [np.full(2, 101.0)] * 2
    )
    demo = read_yaml(find_experiment('demo'))
    experiments = sorted((share_directory() / 'config' / 'experiments').glob('*.yaml'))
    tables = sorted((share_directory() / 'config' / 'link_tables').glob('*.yaml'))
    return {
        'robot': [
            *(read_yaml(robot.yaml) for robot in known_robots()), *shown('robot'),
            # No known robot is a xacro.
            read_yaml(known_robots()[0].yaml) | {'xacro_arguments': {}},
        ],
        'link_table': [read_yaml(path) for path in tables] + shown('link_table'),
        # Gravity stands instead of the mounting.
        'experiment': [
            *(read_yaml(path) for path in experiments),
            {**removed(demo, 'mounting'), 'gravity': [0.0, 0.0, -9.81], 'optimizer': 'random'},
            {**demo, 'collision': 'on', 'clearance': 0.01, 'obstacles': {
                'table': {'size': [1.0, 1.0, 0.1], 'xyz': [0.0, 0.0, -0.1], 'rpy': [0.0] * 3},
            }},
            *shown('experiment'),
        ],
        'trajectory': [
            parse_yaml(dump_trajectory(trajectory), 'trajectory')
            for trajectory in (run.trajectory, run.trajectory.with_certificate(
                {**run.trajectory.certificate, 'further_limits': {'jerk': 90.0}, 'not_checked': [
                    {'kind': 'torque', 'joints': list(run.robot.joint_names), 'reason': 'unknown'},
                ], 'collision': {
                    **run.trajectory.certificate['collision'], 'overlapping': [['base', 'hand']],
                }}
            ))
        ],
        'model': [
            parse_yaml(dump_model(model), 'model')
            for model in (
                *run.models, with_constant_errors(run.model), with_warning(run.model),
                with_payload(run.model, a_payload(run.model)),
            )
        ],
        'recipe': [parse_yaml(dump_yaml(Recipe().as_plain()), 'recipe'), *shown('recipe')],
        'validation': [json.loads(validation_json(validation))],
        'temperature': [json.loads(json_text(temperature_content(study_temperature(warmed))))],
        'comparison': [
            json.loads(json_text(comparison_file_content(CompareResult((pair,), sizes))))
        ],
    }


@pytest.mark.parametrize('name', [*READERS, 'validation', 'temperature', 'comparison'])
def test_tables_name_the_keys_that_occur(contents, name):
    occurring = set().union(*(paths(content) for content in contents[name]))
    keys = documented(name)
    assert len(keys) == len(set(keys)), f'{name}.md explains a key twice'
    assert occurring - set(keys) == set(), f'keys that {name}.md does not explain'
    assert set(keys) - occurring == set(), f'keys of {name}.md that no file has'


def of_every_shape(contents, path):
    """Return one content for each set of keys below a path: those alike prove the same."""
    part = re.split(r'[.\[]', path)[0]
    return {frozenset(paths({part: content[part]})): content for content in contents}.values()


@pytest.mark.parametrize('name', READERS)
def test_required_keys_are_those_the_reader_asks_for(contents, name, tmp_path):
    """A key is required where no file that has it is accepted without it."""
    file = tmp_path / 'without.yaml'

    def refused(content, path):
        # JSON is YAML, and quicker to write.
        file.write_text(json.dumps(removed(content, path)), encoding='utf-8')
        try:
            READERS[name](file)
        except IdentificationError:
            return True
        return False

    wrong = []
    for row in table(name, 'Keys'):
        path = row['key'].strip('`')
        having = [content for content in contents[name] if path in paths(content)]
        asked = all(refused(content, path) for content in of_every_shape(having, path))
        if row['required'] != ('yes' if asked else 'no'):
            wrong.append(path)
    assert wrong == [], f'{name}.md is wrong about what is required'


@pytest.mark.parametrize('name', READERS)
def test_another_schema_version_is_refused_with_exit_code_4(contents, name, tmp_path):
    file = tmp_path / 'newer.yaml'
    file.write_text(dump_yaml({**contents[name][0], 'schema_version': 99}), encoding='utf-8')
    with pytest.raises(IdentificationError, match='schema_version is 99') as caught:
        READERS[name](file)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize('name', READERS)
def test_examples_are_accepted_by_the_reader(name, tmp_path):
    found = examples(name)
    assert found, f'{name}.md shows no example'
    for number, (language, text, excerpt) in enumerate(found):
        assert language == 'yaml'
        if excerpt:
            keys = paths(parse_yaml(text, f'{name}.md'))
            assert keys and keys <= set(documented(name))
        else:
            file = tmp_path / f'{number}.yaml'
            file.write_text(text, encoding='utf-8')
            READERS[name](file)


def test_recipe_page_names_defaults_and_ranges():
    """Every default is the code's; just outside every range it is refused, at its ends not."""
    plain = Recipe().as_plain()
    for row in table('recipe', 'Keys'):
        key = row['key'].strip('`')
        if key in ('schema_version', 'dictionary', 'two_encoders') or (
            'filter' in key or key.startswith('friction_')
        ):
            continue
        _, _, kind = key.rpartition('dictionary.')
        default = plain['dictionary'][kind] if kind != key else plain[key]
        shown_default = re.search(r'\(default `(.+)`\)', row['meaning'])[1]
        assert parse_yaml(f'value: {shown_default}', 'recipe.md')['value'] == default, key
        if key == 'corrections':
            continue
        if kind != key:
            assert row['type, range'].startswith(
                'list of numbers above 0' if isinstance(default, list) else 'number, 0 to 1'
            )
            continue
        many = isinstance(default, list)
        what, low, high = re.match(
            r'(integer|number|list of 1 to 20 numbers)(?: or `null`)?, (\S+) to (\S+)',
            row['type, range'],
        ).groups()
        assert (what == 'integer') == isinstance(default, int), key
        assert many == what.startswith('list'), key
        whole = int if what == 'integer' else float
        for value in (whole(float(low)), whole(float(high))):
            given = [value] if many else value
            assert Recipe(**{key: given}).as_plain()[key] == given
        outside = (int(float(low)) - 1, int(float(high)) + 1) if whole is int else (
            float(np.nextafter(float(low), -np.inf)), float(np.nextafter(float(high), np.inf))
        )
        for value in outside:
            with pytest.raises(DescriptionError, match=f'{key} of the recipe'):
                Recipe(**{key: [value] if many else value})


def test_bag_page_names_and_shows_what_is_written(run, tmp_path):
    write_simulated_bag(tmp_path / 'bag', run.robot, run.recorded, run.trajectory)
    assert set(custom_data_of(tmp_path / 'bag')) == set(documented('bag', 'Metadata'))
    comparison, _ = compare_effort(run.model, run.bag, causal=False)
    write_signals_mcap(
        tmp_path / 'out.mcap', run.model, comparison.stamps,
        comparison_signals(run.model, comparison),
    )
    rows = {row['topic'].strip('`'): row for row in table('bag', 'What we write')}
    for path, writer in (tmp_path / 'bag', '`simulate`'), (tmp_path / 'out.mcap', '`predict`'):
        topics = topics_of(path)
        assert set(topics) == {t for t, row in rows.items() if writer in row['written by']}
        assert all(rows[topic]['type'] == f'`{kind}`' for topic, (kind, _) in topics.items())
    for language, text, excerpt in examples('bag'):
        assert excerpt
        if language == 'yaml':
            shown = parse_yaml(text, 'bag.md')['rosbag2_bagfile_information']
            real = read_yaml(run.bag / 'metadata.yaml')['rosbag2_bagfile_information']
            assert set(shown) <= set(real)
            assert set(shown['custom_data']) == set(documented('bag', 'Metadata'))
            assert shown['version'] == real['version']


def test_every_page_is_linked_from_the_overview():
    names = {path.name for path in PAGES.glob('*.md')} - {'README.md'}
    assert names == set(re.findall(r'\]\((\w+\.md)\)', page('README')))


@pytest.mark.parametrize('path', MARKDOWN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_a_file_and_a_heading(path):
    """Links to the web are not followed."""
    lost = []
    prose = re.sub(r'```.*?```|`[^`\n]*`', '', path.read_text(encoding='utf-8'), flags=re.DOTALL)
    for address in re.findall(r'\]\(([^)\s]+)\)', prose):
        name, _, anchor = address.partition('#')
        if re.match(r'\w+:', name):
            continue
        target = path.parent / name if name else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(address)
    assert lost == []


def anchors(path):
    """Return the anchors of a page's headings, as the usual viewers make them."""
    headings = re.findall(r'^#+ (.+)$', path.read_text(encoding='utf-8'), re.MULTILINE)
    return {re.sub(r'[^\w\- ]', '', text).strip().lower().replace(' ', '-') for text in headings}
