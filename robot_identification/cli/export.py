# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification export`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_identification import load_model
from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option, model_file
from robot_identification.cli.output import print_json, say
from robot_identification.errors import UsageError
from robot_identification.export import body_changes, EXPORTERS, LinkChange, make_urdf, UrdfExport
from robot_identification.files import check_writable, write_results
from robot_identification.model import IdentifiedModel
from robot_identification.report import fixed, number, text_table


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'export',
        'robot-identification export result/identified_model.yaml --urdf ur5_identified.urdf '
        '--mjcf ur5.xml', run,
    )
    parser.add_argument(
        'model', type=model_file, metavar='MODEL',
        help='identified_model.yaml, or its folder',
    )
    parser.add_argument(
        '--urdf', type=Path, metavar='OUT', help='URDF with identified inertials and friction'
    )
    for name, (what, _) in EXPORTERS.items():
        parser.add_argument(f'--{name}', type=Path, metavar='OUT', help=what)
    parser.add_argument(
        '--into', type=Path, metavar='FILE',
        help="your URDF with meshes, whose inertials --urdf replaces; by default the model's own",
    )
    parser.add_argument(
        '--diff', action='store_true',
        help='print what changes in the URDF as a patch, and all else on stderr',
    )
    parser.add_argument('--force', action='store_true', help='overwrite what is there already')
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Export the model."""
    outputs = _outputs(args)
    model = load_model(args.model)
    contents = {name: EXPORTERS[name][1](model) for name in outputs if name in EXPORTERS}
    urdf = None if args.urdf is None else make_urdf(model, args.into)
    if urdf is not None:
        contents['urdf'] = urdf.text
    changes = body_changes(model) if urdf is None else urdf.links
    masses = _masses(model, urdf)
    write_results(
        Path(), {str(path): contents[name] for name, path in outputs.items()}, args.force
    )
    diff = urdf.diff(str(args.urdf)) if urdf is not None and args.diff else None
    if args.json:
        print_json({
            **outputs,
            'links': [vars(change) for change in changes],
            'mass_before': masses[0],
            'mass_after': masses[1],
            **({} if diff is None else {'diff': diff}),
        })
        return 0
    # A diff stands alone on stdout, so that it can be kept as a patch.
    write = print if diff is None else say
    if diff is not None:
        print(_harmless(diff), end='')
    for line in _summary(changes, masses):
        write(line)
    for path in outputs.values():
        write(f'written to {path}')
    return 0


def _outputs(args: argparse.Namespace) -> dict[str, Path]:
    """Return what is to be written where, after checking that it may be."""
    outputs: dict[str, Path] = {
        name: getattr(args, name) for name in ('urdf', *EXPORTERS)
        if getattr(args, name) is not None
    }
    if not outputs:
        *first, last = (f'--{name}' for name in ('urdf', *EXPORTERS))
        raise UsageError(
            f'export writes nothing: name at least one of {", ".join(first)} and {last}'
        )
    for option in ('into', 'diff'):
        if getattr(args, option) and args.urdf is None:
            raise UsageError(f'--{option} is about a URDF: name the one to write by --urdf OUT')
    places: dict[Path, str] = {args.model.resolve(): 'MODEL'}
    for name, path in outputs.items():
        other = places.setdefault(path.resolve(), f'--{name}')
        if other != f'--{name}':
            raise UsageError(f'{path} is {other} and --{name}: name two different files')
        check_writable(path, args.force)
    return outputs


def _masses(model: IdentifiedModel, urdf: UrdfExport | None) -> tuple[float, float]:
    """Return the mass of all that moves before and after [kg]."""
    if urdf is not None:
        return urdf.mass_before, urdf.mass_after
    changes = body_changes(model)
    return (
        sum(change.mass_before for change in changes),
        sum(change.mass_after for change in changes),
    )


def _summary(changes: tuple[LinkChange, ...], masses: tuple[float, float]) -> list[str]:
    """Return the links that changed as a table."""
    rows = [
        (
            change.link, number(change.mass_before, 4), number(change.mass_after, 4),
            'n/a' if change.centre_moved is None else fixed(1e3 * change.centre_moved, 1),
        )
        for change in changes
    ]
    rows.append(('all that moves', number(masses[0], 4), number(masses[1], 4), ''))
    return text_table(('link', 'kg before', 'kg after', 'centre moved mm'), rows)


def _harmless(text: str) -> str:
    """Return a text that cannot steer a terminal, with its tabs and ends of lines."""
    return ''.join(
        letter if letter.isprintable() or letter in '\t\r\n' else '?' for letter in text
    )
