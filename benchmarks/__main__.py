# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`python -m benchmarks`: run benchmarks, write their figures as JSON and one table of all."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import json
from pathlib import Path
import sys
import time
from types import ModuleType
from typing import Any

from robot_identification.errors import IdentificationError, MissingDependencyError
from robot_identification.files import write_atomically

from . import (
    consistent, excitation_solvers, figaroh, live, long, many_bags, reading, recorder, regressor,
    sample, scaling, short,
)
from .figures import Figure, machine

RESULTS = Path(__file__).resolve().parent / 'results'
TABLE = 'table.md'
BENCHMARKS = {
    'regressor': regressor,
    'figaroh': figaroh,
    'excitation_solvers': excitation_solvers,
    'scaling': scaling,
    'consistent': consistent,
    'reading': reading,
    'recorder': recorder,
    'live': live,
    'sample': sample,
    'short': short,
    'long': long,
    'many_bags': many_bags,
}
# Options of single benchmarks, by what takes them.
OPTIONS = {
    'seconds': ('S', 'length of a run', ('recorder', 'live')),
    'hours': ('H', 'length of the longest bag', ('long',)),
    'rate': ('HZ', 'rate of the longest bag', ('long',)),
}


def run_from_command_line(
    program: str, known: Mapping[str, ModuleType], results: Path,
    arguments: Sequence[str] | None = None,
) -> int:
    """Run what is asked for of what is known, by default all; return the exit code."""
    parser = argparse.ArgumentParser(prog=f'python -m {program}')
    parser.add_argument('names', nargs='*', metavar='NAME', help=', '.join(known))
    parser.add_argument('--repeats', type=int, metavar='N', help='by default what suits each')
    options = {
        name: option for name, option in OPTIONS.items() if set(option[2]) & set(known)
    }
    for name, (unit, words, takers) in options.items():
        parser.add_argument(
            f'--{name}', type=float, metavar=unit,
            help=f'{words}, for {" or ".join(takers)} alone',
        )
    parser.add_argument(
        '--output', type=Path, default=results, metavar='DIR', help='default: %(default)s'
    )
    args = parser.parse_args(arguments)
    unknown = [name for name in args.names if name not in known]
    if unknown:
        parser.error(f'unknown: {", ".join(unknown)}; known are {", ".join(known)}')
    if args.repeats is not None and args.repeats < 1:
        parser.error('--repeats must be positive')
    given = {
        name: value for name in options if (value := getattr(args, name)) is not None
    }
    for name, value in given.items():
        takers = options[name][2]
        if len(args.names) != 1 or args.names[0] not in takers or value <= 0.0:
            parser.error(f'--{name} must be positive, and is for {" or ".join(takers)} alone')
    try:
        for name in args.names or known:
            try:
                _run(name, known[name], args.repeats, args.output, given)
            except MissingDependencyError as error:
                if args.names:
                    raise
                print(f'{name} is left out: {error}', file=sys.stderr)
    except IdentificationError as error:
        print(f'error: {error}', file=sys.stderr)
        return error.exit_code
    write_atomically(args.output / TABLE, whole_table(program, known, args.output))
    return 0


def whole_table(program: str, known: Mapping[str, ModuleType], results: Path) -> str:
    """Return one Markdown table of all results in a folder, ratios with their spread."""
    rows, facts = [], set()
    for name in known:
        path = results / f'{name}.json'
        if not path.is_file():
            continue
        content = json.loads(path.read_text(encoding='utf-8'))
        machine_facts = content['machine']
        facts.add(
            f'{machine_facts["processor"]}, {machine_facts["cores"]} cores, '
            f'Python {machine_facts["python"]}'
        )
        rows += [
            (name, *Figure(one['name'], one['unit'], tuple(one['values'])).as_row())
            for one in content['figures']
        ]
    return '\n'.join([
        f'# All {program}',
        '',
        f'Written by `python -m {program}`. Times without a unit are ratios of two things '
        'measured in turn in one run.',
        f'Measured on: {"; ".join(sorted(facts))}.',
        '',
        _markdown((program, 'figure', 'median', 'middle half', 'unit'), rows),
        '',
    ])


def _run(
    name: str, benchmark: Any, repeats: int | None, output: Path, options: Mapping[str, float]
) -> None:
    repeats = repeats or benchmark.REPEATS
    facts = machine()
    print(f'{name} ..', file=sys.stderr)
    started = time.monotonic()
    figures = benchmark.measure(repeats, **options)
    content = {
        'benchmark': name,
        'repeats': repeats,
        'seconds': round(time.monotonic() - started, 1),
        'machine': facts,
        'figures': [figure.as_dict() for figure in figures],
    }
    write_atomically(output / f'{name}.json', _as_json(content))
    print(_markdown(
        ('figure', 'median', 'middle half', 'unit'), [figure.as_row() for figure in figures]
    ))
    print(
        f'{facts["processor"]}, {facts["cores"]} cores, load {facts["load_average"][0]:g} before, '
        f'{facts["blas_threads"]} BLAS thread, Python {facts["python"]}, {repeats} repeats\n'
    )


def _as_json(content: Mapping[str, Any]) -> str:
    """Return JSON with a line for each figure."""
    head = json.dumps({key: content[key] for key in content if key != 'figures'}, indent=2)
    lines = ',\n'.join(f'    {json.dumps(figure)}' for figure in content['figures'])
    return f'{head[:-2]},\n  "figures": [\n{lines}\n  ]\n}}\n'


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ('---',) * len(header), *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return '\n'.join(
        '| ' + ' | '.join(map(str.ljust, line, widths)) + ' |' for line in lines
    )


if __name__ == '__main__':
    sys.exit(run_from_command_line('benchmarks', BENCHMARKS, RESULTS))
