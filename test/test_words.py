# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What names, docstrings, comments, messages and pages say, and that they say it."""

import ast
from functools import cache
from pathlib import Path
import re

ROOT = Path(__file__).resolve().parents[1]
# With what is said instead.
ODD = {
    r'([Nn]o|[Ss]ome|[Aa]ny|[Ee]very)body': 'name the role: operator, publisher, subscriber',
    r'[Ss]trangers?': 'untrusted source',
    r'told (apart|from)': 'distinguished',
    r'[Mm]end(s|ed)?': 'repair, prevent',
    r'warmth': 'temperature',
    r'counts? as touched': 'contact is detected',
    r'(general|linear|maxim|minim|normal|optim|penal|quant|serial)is(e[drs]?|ing|ation)': '-ize',
    r'bodies that can exist': 'physically consistent bodies',
    r'[Ll]ean(s|ing)? on the URDF': 'regularize towards the URDF',
    r'(?<!~/)[Aa]dvice': 'recommendation',
    r'[Dd]oubt(s|ed|ful|fully)?': 'warning, question, uncertain',
    r'(is|are|was|were|be|been) (not )?told': 'is given, is commanded, is stated',
    r'[Ww]hat may': 'name what it is',
    r'Who|(for|only|to) who': 'name the role: operator, publisher, subscriber, or use the passive',
    r'beyond all measure': 'unbounded',
    r'locked where': 'held fixed',
    r'(is|was) no number': 'is not a number, is undefined',
}
# Also, but in the pages of the papers, which are made of stored results.
ODD_BESIDES = {
    r'[Ww]ho(ever|m)?': 'name the role: operator, publisher, subscriber, or use the passive',
    r'[Ww](hat|hich)ever': 'any, every, for all',
    r'(counts?|good) for nothing': 'has no effect',
    r'turn(s|ed)? round': 'reverses',
    r'[Aa]gain and again': 'repeatedly',
    r'no safety function': 'not a safety function',
    r'[Oo]f no (matter|use)': 'without effect, not usable',
    r'(cannot|not to) be had': 'is not available',
}
OPENING = re.compile(r'(What|Who|Whether|Where|When|Which|How|By how|Of|It|Tell|Let)\b')
SOURCES = sorted([
    *(ROOT / 'robot_identification').rglob('*.py'), *(ROOT / 'launch').glob('*.py'),
])
PAGES = sorted([
    *ROOT.glob('*.md'), *(ROOT / 'docs').rglob('*.md'), *(ROOT / 'config').rglob('*.yaml'),
    *(ROOT / 'robot_identification').rglob('*.j2'),
])
CODE = re.compile(r'`[^`]*`')


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding='utf-8'))


def odd_words(text, words):
    if not re.search(rf'\b({"|".join(words)})\b', text):
        return []
    return [
        f'line {number}: {match.group()}; better: {better}'
        for number, line in enumerate(text.splitlines(), 1)
        for word, better in words.items()
        for match in re.finditer(rf'\b({word})\b', line)
    ]


def test_the_words_of_the_field_are_used():
    """In names, docstrings, comments, help and messages; in pages outside of code."""
    found = {
        str(path.relative_to(ROOT)): odd
        for path in (*SOURCES, *PAGES)
        if (odd := odd_words(
            path.read_text() if path.suffix == '.py' else CODE.sub('', path.read_text()),
            ODD if path.parent.name == 'reproductions' else ODD | ODD_BESIDES,
        ))
    }
    assert found == {}


def test_docstrings_say_what_is_done_or_what_it_is():
    """In the imperative for functions, a noun for classes and modules; no question words."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    found = {
        (str(path.relative_to(ROOT)), getattr(node, 'name', 'module')): first
        for path in SOURCES
        for node in ast.walk(parsed(path)) if isinstance(node, kinds)
        for first in (ast.get_docstring(node) or '').splitlines()[:1] if OPENING.match(first)
    }
    assert found == {}


def is_numeric(node):
    """Return whether a value is made of numbers alone, so that its name says not enough."""
    parts = list(ast.walk(node))
    constants = [part.value for part in parts if isinstance(part, ast.Constant)]
    return all(not isinstance(part, (ast.Call, ast.Subscript)) for part in parts) and bool(
        constants
    ) and all(isinstance(value, (int, float)) for value in constants)


def bare_constants(text, tree=None):
    """Return the names without a comment at their end, or above them and their neighbours."""
    lines, bare = text.splitlines(), []
    for node in (tree or ast.parse(text)).body:
        target = getattr(node, 'target', None) or next(iter(getattr(node, 'targets', [])), None)
        name = getattr(target, 'id', '')
        if not (isinstance(node, (ast.Assign, ast.AnnAssign)) and name.isupper()
                and node.value is not None and is_numeric(node.value)):
            continue
        block = node.lineno - 1
        while block and lines[block - 1].strip() and not lines[block - 1].startswith('#'):
            block -= 1
        is_said = block and lines[block - 1].startswith('#')
        if not is_said and not any('#' in line for line in lines[node.lineno - 1:node.end_lineno]):
            bare.append(name)
    return bare


def test_numeric_constants_say_unit_and_source():
    """All but those in a block of constants that has one comment."""
    found = {
        str(path.relative_to(ROOT)): bare
        for path in sorted((ROOT / 'robot_identification').rglob('*.py'))
        if (bare := bare_constants(path.read_text(encoding='utf-8'), parsed(path)))
    }
    assert found == {}
    # The check can fail.
    assert bare_constants('# Something else.\n\nLIMIT = (1, 2)\nOTHER = 3') == ['LIMIT', 'OTHER']


def documented_methods(trees):
    """Return the names of the methods that have a docstring, by the name of the class."""
    found = {}
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.ClassDef):
            found.setdefault(node.name, set()).update(
                child.name for child in node.body
                if isinstance(child, ast.FunctionDef) and ast.get_docstring(child)
            )
    return found


def undocumented(node, name, documented):
    """
    Yield the public names in a module or class that have no docstring, itself included.

    A method that overrides one with a docstring has that, as `inspect.getdoc` finds it.
    """
    if not ast.get_docstring(node):
        yield name
    inherited = set().union(*(
        documented.get(getattr(base, 'id', ''), ()) for base in getattr(node, 'bases', ())
    ))
    for child in node.body:
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            is_overload = any(getattr(one, 'id', '') == 'overload' for one in child.decorator_list)
            if child.name.startswith('_') or is_overload:
                continue
            inner = f'{name}.{child.name}'
            if isinstance(child, ast.ClassDef):
                yield from undocumented(child, inner, documented)
            elif not ast.get_docstring(child) and child.name not in inherited:
                yield inner


def test_every_public_name_has_a_docstring():
    """Modules, classes, functions and methods that do not begin with an underscore."""
    paths = sorted((ROOT / 'robot_identification').rglob('*.py'))
    assert len(paths) > 150
    documented = documented_methods(map(parsed, paths))
    assert [
        lost for path in paths
        for lost in undocumented(
            parsed(path),
            path.relative_to(ROOT).with_suffix('').as_posix().replace('/', '.'), documented,
        )
    ] == []
