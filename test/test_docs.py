# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The documentation site: it is built without a warning, needs no network, and says what is so."""

import argparse
import ast
from contextlib import chdir
from functools import cache
import importlib.util
import os
from pathlib import Path
import re
import shlex
import subprocess
import sys

from builders import run_command
from long_tests import long_test
import pytest
from robot_identification import __version__
from robot_identification.cli.main import make_parser
from robot_identification.files import read_yaml

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / 'docs'
PAGES = sorted(DOCS.rglob('*.md'))
# They take a search or a simulation; that they parse is held with those of all pages.
LONG_COMMANDS = ('excite', 'simulate', 'identify')
SEARCHED = 'my_motion.yaml'


@pytest.fixture(scope='module')
def site(tmp_path_factory) -> Path:
    """Return the folder of the site, built with warnings as errors."""
    for module in ('sphinx', 'myst_parser', 'furo'):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f'{module} is not installed: pip install sphinx myst-parser furo')
    folder = tmp_path_factory.mktemp('site')
    built = subprocess.run(
        [sys.executable, '-m', 'sphinx', '-W', '--keep-going', '-q', '-b', 'html', '-d',
         str(folder / 'doctrees'), str(DOCS), str(folder / 'html')],
        capture_output=True, text=True, check=False,
    )
    assert (built.returncode, built.stderr) == (0, ''), built.stderr
    return folder / 'html'


@long_test
def test_site_is_built_without_a_warning(site):
    """Every page is there; a page in no table of contents would have been a warning."""
    built = {path.relative_to(site).with_suffix('') for path in site.rglob('*.html')}
    assert {path.relative_to(DOCS).with_suffix('') for path in PAGES} <= built


@long_test
def test_site_needs_no_network(site):
    """Scripts, styles, pictures and fonts come with it; other addresses are links to follow."""
    loaded = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)="([^"]+)"')
    foreign = {
        (path.name, address) for path in site.rglob('*.html')
        for address in loaded.findall(path.read_text(encoding='utf-8'))
        if re.match(r'(?:\w+:)?//', address)
    }
    assert foreign == set()
    styles = ''.join(path.read_text(encoding='utf-8') for path in site.rglob('*.css'))
    assert not re.search(r'(?:url\(|@import)\s*["\']?(?:https?:)?//', styles)


@long_test
def test_formulas_are_drawn_by_the_browser(site):
    """None is left out, and none is LaTeX."""
    theory = (DOCS / 'theory.md').read_text(encoding='utf-8')
    blocks = theory.count('```math')
    shown = (site / 'theory.html').read_text(encoding='utf-8')
    assert blocks > 8
    assert shown.count('<div class="formula"><math') == blocks
    assert shown.count('<math') == blocks + len(re.findall(
        r'\$[^$]+\$', re.sub(r'```.*?```', '', theory, flags=re.DOTALL)
    ))


@long_test
def test_commands_page_has_every_command_and_option(site):
    """It is made from the parsers."""
    shown = (site / 'commands.html').read_text(encoding='utf-8')
    commands = command_options()
    assert len(commands) > 18
    for name, options in commands.items():
        assert f'<section id="{name}">' in shown
        assert {option for option in options if option not in shown} == set()


def command_options() -> dict[str, set[str]]:
    """Return the options of every command; older names are not shown."""
    (action,) = [
        action for action in make_parser()._actions if hasattr(action, '_name_parser_map')
    ]
    return {
        name: {
            option for one in parser._actions for option in one.option_strings
            if one.help != argparse.SUPPRESS
        }
        for name, parser in action.choices.items()
    }


def test_node_parameters_are_those_of_the_nodes(tmp_path):
    """`python docs/_ext/node_parameters.py` writes the page and the parameter files anew."""
    pytest.importorskip('rclpy', reason='the nodes are asked, which needs ROS')
    script = DOCS / '_ext' / 'node_parameters.py'
    ran = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], cwd=tmp_path, capture_output=True, text=True,
        check=False, env={**os.environ, 'PYTHONPATH': str(ROOT)},
    )
    assert ran.returncode == 0, ran.stderr
    files = {path.relative_to(tmp_path) for path in tmp_path.rglob('*.*') if path.is_file()}
    assert len(files) > 2
    for path in files:
        assert (tmp_path / path).read_text(encoding='utf-8') == (ROOT / path).read_text(
            encoding='utf-8'
        )


def test_troubleshooting_quotes_what_the_code_says():
    """Each text in bold is in the sources as it stands, `..` for what is filled in."""
    text = (DOCS / 'troubleshooting.md').read_text(encoding='utf-8')
    quoted = re.findall(r'\*\*`(.+?)`\*\*', text)
    assert len(quoted) > 50
    assert len(set(quoted)) == len(quoted)
    templates = texts_of_the_sources()
    assert [text for text in quoted if not any(text in one for one in templates)] == []


@cache
def texts_of_the_sources() -> set[str]:
    """Return the texts in the package, with `..` in the place of what is filled in."""
    def text(node: ast.AST) -> str:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else '..'
        if isinstance(node, ast.JoinedStr):
            return ''.join(text(part) for part in node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return text(node.left) + text(node.right)
        return '..'

    return {
        text(node) for path in (ROOT / 'robot_identification').rglob('*.py')
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
        if isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp))
    }


def test_readme_is_read_in_five_minutes():
    """At most 900 words, code and tables included; lists of commands are on pages of docs."""
    assert len((ROOT / 'README.md').read_text(encoding='utf-8').split()) <= 900


@pytest.mark.parametrize('path', PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_commands_in_sentences_exist(path):
    """Commands between backticks are often cut short; command and options are what is there."""
    commands = command_options()
    text = re.sub(r'^```.*?^```$', '', path.read_text(encoding='utf-8'), flags=re.M | re.S)
    for line in re.findall(r'`robot-identification ([^`]+)`', text):
        name, *words = shlex.split(line.replace("'", ''))
        if name.isupper():
            continue
        assert name in commands, line
        assert {word for word in words if word.startswith('--')} <= commands[name], line


def test_adding_a_robot_can_be_done_as_it_is_written(tmp_path):
    """From the description to the experiment files, in the order of the page."""
    page = (DOCS / 'adding_a_robot.md').read_text(encoding='utf-8')
    ran = []
    with chdir(tmp_path):
        for language, block in re.findall(r'^```(\w+)\n(.*?)^```$', page, re.M | re.S):
            if language == 'yaml':
                Path('my_arm.yaml').write_text(block, encoding='utf-8')
                continue
            for line in block.splitlines():
                words = shlex.split(line)[2:]
                if words[0] in LONG_COMMANDS or SEARCHED in words:
                    continue
                outcome = run_command(*words)
                assert outcome.code == 0, (line, outcome.err)
                ran.append(words[0])
        assert Path('study/guide.md').exists()
    assert set(ran) == {'urdf', 'doctor', 'base-parameters', 'init'}


def test_citation_has_what_the_format_asks_for():
    """Citation File Format 1.2.0: required keys, and types that it knows."""
    citation = read_yaml(ROOT / 'CITATION.cff')
    assert citation['cff-version'] == '1.2.0'
    assert citation['type'] == 'software'
    assert citation['version'] == __version__
    assert citation['license'] == 'Apache-2.0'
    for work in (citation, *citation['references']):
        assert work['title']
        assert all({'name', 'family-names'} & set(author) for author in work['authors'])
    assert isinstance(citation['message'], str)
    assert {work['type'] for work in citation['references']} <= {
        'article', 'conference-paper', 'report', 'thesis',
    }
    assert len(citation['references']) == 5
