# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification export`."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from robot_identification import load_model
from robot_identification.cli.options import (
    add_force_option, add_model_argument, options_given, refuse_options,
)
from robot_identification.cli.output import print_results, say, warn
from robot_identification.errors import UsageError
from robot_identification.export import (
    body_changes, ChangedFiles, describe_left_out, export_mjcf, EXPORTERS, ExportOptions,
    fit_all_frictions, is_scene, LinkChange, make_mjcf, make_urdf, simulation_pack,
)
from robot_identification.files import check_writable, write_files
from robot_identification.model import describe_compensated_gravity, IdentifiedModel
from robot_identification.options import add_arguments
from robot_identification.report import fixed, number, text_table
from robot_identification.validation import BAD, findings_in, limits_in, SIMULATION

EXAMPLE = (
    'robot-identification export result/identified_model.yaml --urdf ur5_identified.urdf '
    '--mjcf ur5.xml'
)
# Names of the options whose file can also be written into one that is there.
URDF, SCENE = 'urdf', 'mjcf'
PLUGINS = 'ros2-control'
# Options of --sim alone, and of a scene alone.
OF_PACK = ('models', 'seed', 'usd_joints')
OF_SCENE = ('joint_names', 'override_defaults', 'extra_bodies')


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_model_argument(parser)
    for name, exporter in EXPORTERS.items():
        parser.add_argument(f'--{name}', type=Path, metavar='OUT', help=exporter.about)
    parser.add_argument(
        '--sim', type=Path, metavar='DIR',
        help='folder for simulators: URDF, MJCF, a USD layer for PhysX and Newton, actuators for '
        'Isaac Lab, and models to randomize over',
    )
    parser.add_argument(
        '--into', type=Path, metavar='FILE',
        help='your URDF or MuJoCo scene, in which --urdf or --mjcf changes identified values '
        'only; without an output the changes are shown',
    )
    parser.add_argument(
        '--diff', action='store_true',
        help='print the changes of the file as a patch, and everything else on stderr',
    )
    add_arguments(parser, ExportOptions)
    add_force_option(parser)


def run(args: argparse.Namespace) -> None:
    """Export the model."""
    changed_format = SCENE if args.into is not None and is_scene(args.into) else URDF
    outputs = {
        name: path for name in EXPORTERS
        if (path := getattr(args, name.replace('-', '_'))) is not None
    }
    _check_options(args, outputs, changed_format)
    options = options_given(args, ExportOptions)
    model = load_model(args.model)
    for suspicion in _suspicions(model):
        warn(suspicion)
    pack = {} if args.sim is None else {
        args.sim / name: text for name, text in simulation_pack(model, options).items()
    }
    changed = None
    if changed_format == SCENE:
        changed = make_mjcf(model, args.into, options)
    elif args.urdf is not None or args.into is not None:
        changed = make_urdf(model, args.into)
    contents: dict[Path, str | bytes] = {}
    for name, path in outputs.items():
        if changed is not None and name == changed_format:
            contents |= changed.outputs(path)
        elif name == SCENE:
            contents[path] = export_mjcf(model, options.friction_form)
        else:
            contents[path] = EXPORTERS[name].write(model)
    # Of a pack one line is enough.
    places = [*contents, *([] if args.sim is None else [args.sim])]
    contents |= pack
    write_files(contents, args.force)
    diff = None
    if changed is not None and (args.diff or not contents):
        diff = changed.diff(outputs.get(changed_format, args.into))
    notes = list(_notes(model, changed, {changed_format, *outputs}, options))
    links = body_changes(model) if changed is None else changed.links
    before, after = (
        sum(link.mass_before for link in links), sum(link.mass_after for link in links)
    ) if changed is None else (changed.mass_before, changed.mass_after)
    text = '\n'.join([
        *_summary(links, before, after), *notes, *(f'written to {path}' for path in places),
    ])
    if diff is not None and not args.json:
        # A diff stands alone on stdout, so that it can be kept as a patch; no letter in it can
        # steer a terminal.
        print(''.join(
            letter if letter.isprintable() or letter in '\t\r\n' else '?' for letter in diff
        ), end='')
        say(text)
        return
    print_results(args, {
        **outputs, **({'files': list(contents)} if len(contents) > len(outputs) else {}),
        'links': [vars(link) for link in links],
        'mass_before': before,
        'mass_after': after,
        **({'notes': notes} if notes else {}),
        **({} if diff is None else {'diff': diff}),
    }, text)


def _check_options(
    args: argparse.Namespace, outputs: dict[str, Path], changed_format: str
) -> None:
    """Raise UsageError for options that do not fit together, and for files that are there."""
    if changed_format != SCENE:
        refuse_options(args, OF_SCENE, 'is about a MuJoCo scene: name it by --into FILE')
    if not outputs and args.into is None and args.sim is None:
        *first, last = (f'--{name}' for name in EXPORTERS)
        raise UsageError(
            f'export writes nothing: name at least one of {", ".join(first)} and {last}'
        )
    if args.into is not None and outputs and changed_format not in outputs:
        raise UsageError(
            f'{args.into} is {"a MuJoCo scene" if changed_format == SCENE else "a URDF"}: name '
            f'where it is written with what was identified by --{changed_format} OUT'
        )
    if args.diff and args.into is None and args.urdf is None:
        raise UsageError('--diff is about a file that is changed: name it by --into FILE')
    if args.sim is None:
        refuse_options(args, OF_PACK, 'is about a pack: name its folder by --sim DIR')
        if SCENE not in (changed_format, *outputs):
            refuse_options(
                args, ['friction_form'], 'is about MJCF: name it by --mjcf OUT or --sim DIR'
            )
    places: dict[Path, str] = {args.model.resolve(): 'MODEL'}
    for name, path in outputs.items():
        other = places.setdefault(path.resolve(), f'--{name}')
        if other != f'--{name}':
            raise UsageError(f'{path} is {other} and --{name}: name two different files')
        check_writable(path, args.force)


def _suspicions(model: IdentifiedModel) -> Iterator[str]:
    """Yield what speaks against a model: its verdict, and what was suspected of its data."""
    if model.quality.get('verdict') == BAD:
        reasons = '; '.join(map(str, model.quality.get('reasons', ())))
        yield f'the verdict on the model is {BAD}: {reasons}'
    for limit in limits_in(model.quality):
        if limit.use == SIMULATION:
            yield f'{limit.level} for {limit.use}: {limit.reason}'
    findings = findings_in(model.quality)
    yield from map(str, (*findings.warnings, *findings.contradictions))


def _notes(
    model: IdentifiedModel, changed: ChangedFiles | None, formats: set[str],
    options: ExportOptions,
) -> Iterator[str]:
    """Yield what is to be known of the model and of what was written in some formats."""
    if gravity := describe_compensated_gravity(model.robot, model.parameters):
        yield gravity
    if changed is not None:
        yield from changed.notes
    if SCENE in formats:
        frictions = fit_all_frictions(model, options.friction_form)
        worst = max(range(len(frictions)), key=lambda joint: frictions[joint].misfit)
        # What the form holds exactly is not worth a line; the rest is rounding.
        if frictions[worst].misfit > 1e-9 * frictions[worst].size:
            yield frictions[worst].describe(model.robot.joint_names[worst])
    if PLUGINS in formats and (left_out := describe_left_out(model)):
        yield left_out


def _summary(links: Sequence[LinkChange], before: float, after: float) -> list[str]:
    """Return the links that changed, and the mass of all that moves, as a table."""
    rows = [
        (
            link.link, number(link.mass_before, 4), number(link.mass_after, 4),
            'n/a' if link.centre_moved is None else fixed(1e3 * link.centre_moved, 1),
        )
        for link in links
    ]
    rows.append(('all that moves', number(before, 4), number(after, 4), ''))
    return text_table(('link', 'kg before', 'kg after', 'centre moved mm'), rows)
