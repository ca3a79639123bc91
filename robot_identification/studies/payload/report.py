# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A payload for people and programs: payload.json, results.txt and report.html."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.blas import one_blas_thread
from robot_identification.files import ResultFolder
from robot_identification.model import (
    check_shows_gravity, dump_model, IdentifiedModel, inertial_regressor, load_model, Payload,
    standard_torque, TOOL_FRAMES, with_payload,
)
from robot_identification.processing import load_for_model, read_for_model
from robot_identification.recording import Recording
from robot_identification.report import (
    attributes, bullets, draw_panel, json_text, Meaning, MEASURED, number, Picture, PREDICTED,
    render_page, text_table, wrap,
)
from robot_identification.studies.payload.estimate import (
    estimate_payload, loaded_run, LoadedRun, PayloadEstimate, PayloadOptions, resting_run,
    UNKNOWN_PAYLOAD,
)

PAYLOAD_SCHEMA = 1  # of the file
PAYLOAD_FILES = ('payload.json', 'results.txt', 'report.html')
# Written as well where all ten parameters are known in SI units: the arm with its payload.
MODEL_FILE = 'identified_model.yaml'
# Samples that are drawn, from the start; chosen: more are not seen in a picture.
MOST_DRAWN = 5000
HEADER = ('', 'value', 'std. error', 'unit')
JOINT_HEADER = ('joint', 'left by the bare arm [N m]', 'with the payload [N m]')


@dataclass(frozen=True, eq=False)
class PayloadResult:
    """Result of the payload study."""

    model: IdentifiedModel  # model of the bare arm
    model_file: Path  # file of the model
    bags: tuple[Path, ...]  # the loaded runs
    found: PayloadEstimate  # the payload
    run: LoadedRun  # the first run, which the report draws
    notes: tuple[str, ...] = ()  # notes on the bags


@one_blas_thread()
def run_payload(
    model_file: Path, bags: Sequence[Path], options: PayloadOptions | None = None,
    folder: ResultFolder | None = None,
) -> PayloadResult:
    """
    Find the payload of an arm from runs with it and the model of the bare arm.

    All `bags` have the same payload; without `folder` nothing is written. Raises
    NotIdentifiableError if the runs do not show mass and centre of mass, DataError or UsageError
    if the model, a bag, an option or the folder cannot be used.
    """
    options = PayloadOptions() if options is None else options
    if folder is not None:
        folder.check((*PAYLOAD_FILES, MODEL_FILE))
    model = load_model(model_file).with_mapping(options.mapping)
    check_shows_gravity(model, UNKNOWN_PAYLOAD)
    notes: list[str] = []
    if options.static:
        recordings: list[Recording] = []
        for bag in bags:
            recording, note = read_for_model(model, bag)
            notes += [note] if note else []
            recordings.append(recording.until(options.stop))
        run, messages = resting_run(model, recordings, options)
        runs = [run]
        notes += messages
    else:
        runs = []
        for bag in bags:
            dataset, messages = load_for_model(
                model, bag, start=options.start, stop=options.stop
            )
            runs.append(loaded_run(model, dataset))
            notes += messages
    result = PayloadResult(
        model, model_file, tuple(bags), estimate_payload(model, runs, options), runs[0],
        tuple(notes),
    )
    if folder is not None:
        found = result.found
        loaded: dict[str, str | bytes] = {}
        if found.payload is not None and not (found.static or found.relative_scale):
            loaded = {MODEL_FILE: dump_model(with_payload(model, found.payload))}
        folder.write({
            **loaded,
            'payload.json': json_text(payload_content(result)),
            'results.txt': payload_text(result),
            'report.html': render_payload_report(result, folder.command_line),
        })
    return result


def payload_content(result: PayloadResult) -> dict[str, Any]:
    """Return the content of payload.json: SI units; NaN and None are null in the file."""
    model, found = result.model, result.found
    payload, absolute = found.payload, not found.relative_scale
    scaled = 1.0 if absolute else math.nan
    return {
        'schema_version': PAYLOAD_SCHEMA,
        'robot': model.robot.name,
        'model': str(result.model_file),
        'bags': [str(bag) for bag in result.bags],
        'scale': 'absolute' if absolute else 'not observable',
        **attributes(
            found, 'static', 'unseen', 'weak', 'samples', 'changes', 'notes',
            variance_from_model='from_model', consistency_cost='cost', rms_before='before',
            rms_after='after',
        ),
        'frame': None if payload is None else payload.frame,
        **_body(found, payload, absolute),
        'inertia_over_mass': (
            payload.inertia / payload.mass if payload is not None and _has_inertia(found) else None
        ),
        'standard_errors': {
            'mass': scaled * found.errors.mass,
            'center_of_mass': found.errors.center_of_mass,
            'inertia': scaled * found.errors.inertia,
        },
        'set_payload': set_payload_values(found),
        'in_link': {
            'frame': None if found.in_link is None else found.in_link.frame,
            **_body(found, found.in_link, absolute),
        },
        'unconstrained': _body(found, found.unconstrained, absolute),
        'significance': {
            'different': found.is_significant,
            'p_value': found.test.p_value,
            'statistic': found.test.statistic,
            'tested': list(found.tested),
        },
        'joint_names': list(model.robot.joint_names),
    }


def _body(found: PayloadEstimate, payload: Payload | None, absolute: bool) -> dict[str, Any]:
    return {
        'mass': payload.mass if payload is not None and absolute else None,
        'center_of_mass': None if payload is None else payload.center_of_mass,
        'inertia': (
            payload.inertia
            if payload is not None and absolute and _has_inertia(found) else None
        ),
    }


def _has_inertia(found: PayloadEstimate) -> bool:
    return not found.static and not found.unseen


def set_payload_values(found: PayloadEstimate) -> dict[str, Any] | None:
    """
    Return the arguments of a Universal Robot's `set_target_payload`, None where not known well.

    `m` [kg], `cog` [m] in the flange's frame and, where it is well known, `inertia` as Ixx, Iyy,
    Izz, Ixy, Ixz, Iyz about the centre of mass [kg m^2].
    """
    payload = found.payload
    if payload is None or found.relative_scale or payload.frame not in TOOL_FRAMES:
        return None
    # A controller takes every number as exact: poorly identified ones are left out.
    if not found.is_significant or any(
        name.startswith(('mass', 'center')) for name in found.weak
    ):
        return None
    values: dict[str, Any] = {
        'm': round(payload.mass, 4), 'cog': np.round(payload.center_of_mass, 5).tolist(),
    }
    if _has_inertia(found) and not found.weak:
        i = payload.inertia
        values['inertia'] = [
            float(f'{value:.5g}')
            for value in (i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
        ]
    return values


def _rows(found: PayloadEstimate) -> list[list[str]]:
    """Return name, value, standard error and unit of everything that is known."""
    payload, errors = found.payload, found.errors
    if payload is None:
        return [['mass', 'not positive', number(errors.mass), 'kg']]
    rows = []
    if found.relative_scale:
        rows.append(['mass', 'not observable', '', 'kg'])
    else:
        rows.append(['mass', number(payload.mass, 5), number(errors.mass), 'kg'])
    rows += [
        [f'center of mass {axis}', number(value, 4), number(error), 'm']
        for axis, value, error in zip(
            'xyz', payload.center_of_mass, errors.center_of_mass, strict=True
        )
    ]
    if _has_inertia(found):
        scale, unit = (payload.mass, 'm^2') if found.relative_scale else (1.0, 'kg m^2')
        name = 'I{}{} / mass' if found.relative_scale else 'I{}{}'
        rows += [
            [
                name.format('xyz'[i], 'xyz'[j]), number(float(payload.inertia[i, j]) / scale, 4),
                number(float(errors.inertia[i, j]) / scale), unit,
            ]
            for i in range(3) for j in range(i, 3)
        ]
    return rows


def _joint_rows(result: PayloadResult) -> list[tuple[str, str, str]]:
    """Return the cells of the table of what is left of torque; titles are JOINT_HEADER."""
    return [
        (joint, number(before), number(after))
        for joint, before, after in zip(
            result.model.robot.joint_names, result.found.before, result.found.after, strict=True
        )
    ]


def summary(found: PayloadEstimate) -> list[str]:
    """Return in sentences whether there is a payload, and in which frame it is stated."""
    finding = (
        'It cannot be distinguished from no payload' if not found.is_significant
        else "The run differs from the bare arm's model, but not by a payload"
        if found.payload is None else 'It is different from no payload'
    )
    sentences = [f'{finding} (p = {found.test.p_value:.2g}).']
    if found.payload is not None:
        sentences.append(
            f'Centre of mass and inertia are in the frame of {found.payload.frame}, inertia about '
            'the centre of mass.'
        )
    if found.weak:
        sentences.append(f'Hardly seen: {", ".join(found.weak)}.')
    return sentences


def payload_meaning(found: PayloadEstimate) -> Meaning:
    """Return what was found on the flange, how certain it is, and what to do with it."""
    payload = found.payload
    sentences = summary(found)
    if payload is not None and not found.relative_scale:
        sentences.insert(0, (
            f'mass {number(payload.mass, 4)} +- {number(found.errors.mass, 2)} kg, centre of mass '
            f'({", ".join(number(value, 3) for value in payload.center_of_mass)}) m'
        ))
    if payload is None or not found.is_significant:
        return Meaning(
            'No payload found', 'usable', tuple(sentences),
            'check that the tool was mounted and that the model is of this very arm; move the '
            'wrist joints fast and far',
        )
    return Meaning(
        'Payload found', 'usable' if found.weak or found.relative_scale else 'good',
        tuple(sentences),
        'record a motion that turns the wrist faster: some parameters are poorly determined'
        if found.weak else 'set it on the controller, and weigh the tool once to check the scale',
    )


def call_text(found: PayloadEstimate) -> str:
    """Return the call of `set_target_payload`; empty where it is not known."""
    values = set_payload_values(found)
    if values is None:
        return ''
    arguments = [f'{values["m"]:g}', str(values['cog'])]
    if 'inertia' in values:
        arguments.append(str(values['inertia']))
    return f'set_target_payload({", ".join(arguments)})'


def controller_lines(found: PayloadEstimate) -> list[str]:
    """Return the lines to paste into a Universal Robot program; none where it is not known."""
    values = set_payload_values(found)
    if values is None:
        return []
    mass, cog = f'{values["m"]:g}', values['cog']
    fields = [f'mass {mass} kg', *(
        f'C{axis} {number(1000.0 * value)} mm' for axis, value in zip('XYZ', cog, strict=True)
    )]
    # In the order of `set_target_payload`.
    fields += [
        f'I{axes} {value:g} kg m^2'
        for axes, value in zip(
            ('XX', 'YY', 'ZZ', 'XY', 'XZ', 'YZ'), values.get('inertia', ()), strict=False
        )
    ]
    return [
        'URScript (kg, m in the frame of the flange, kg m^2 about the centre of mass):',
        f'  {call_text(found)}',
        'URScript of a CB3, which takes no inertia:',
        f'  set_payload({mass}, {cog})',
        *_service_lines(values),
        'PolyScope, payload of the installation:',
        f'  {", ".join(fields)}',
    ]


def _service_lines(values: Mapping[str, Any]) -> list[str]:
    """Return calls of the ROS 2 driver's service, whose message has had three forms."""
    mass = f'{values["m"]:g}'
    vector = ', '.join(
        f'{axis}: {value}' for axis, value in zip('xyz', values['cog'], strict=True)
    )
    inertia = ''.join(
        f', i{axes}: {value:g}' for axes, value in zip(
            ('xx', 'yy', 'zz', 'xy', 'xz', 'yz'), values.get('inertia', ()), strict=False
        )
    )
    # What `ros2 interface show ur_msgs/srv/SetPayload` lists, and the request.
    forms = [('`mass`', f'{{mass: {mass}, center_of_gravity: {{{vector}}}}}')]
    if inertia:
        forms = [
            ('`mass`, without `ixx`', forms[0][1]),
            ('`mass` and `ixx`', f'{{mass: {mass}, center_of_gravity: {{{vector}}}{inertia}}}'),
        ]
    forms.append(('`payload`', f'{{payload: {{m: {mass}, com: {{{vector}}}{inertia}}}}}'))
    lines = []
    for shown, request in forms:
        lines += [
            f'ROS 2 driver, where `ros2 interface show ur_msgs/srv/SetPayload` lists {shown}:',
            '  ros2 service call /io_and_status_controller/set_payload ur_msgs/srv/SetPayload '
            f'"{request}"',
        ]
    return lines


def payload_text(result: PayloadResult) -> str:
    """Return a payload as plain text."""
    model, found = result.model, result.found
    lines = [*wrap(f'Payload of {model.robot.name}'), '']
    for sentence in summary(found):
        lines += wrap(sentence)
    lines += ['', *text_table(HEADER, _rows(found)), '']
    lines += [*text_table(JOINT_HEADER, _joint_rows(result)), '']
    lines += bullets(found.notes)
    pasted = controller_lines(found)
    if pasted:
        lines += ['', 'For a Universal Robot:', *(f'  {line}' for line in pasted)]
    return '\n'.join(lines).rstrip() + '\n'


def explain_torque(result: PayloadResult) -> tuple[FloatArray, FloatArray]:
    """
    Return torques beyond the bare arm, and those that payload and changed friction explain.

    Both are of the first M samples that count, (M, n) [N m].
    """
    model, found, run = result.model, result.found, result.run
    chosen = np.flatnonzero(run.rows)[:MOST_DRAWN]
    last = int(chosen[-1]) + 1
    motion = run.motion.part(slice(0, last))
    bare = standard_torque(model.robot, model.parameters, model.theta_lifted, motion)
    left = (run.tau[:last] - bare)[chosen]
    parameters = np.where(np.isfinite(found.parameters), found.parameters, 0.0)
    W = inertial_regressor(model.robot, motion.rows(chosen))[:, -10:]
    explained = (W @ parameters).reshape(left.shape)
    dq = motion.dq[chosen]
    for kind, column in enumerate((np.ones_like(dq), np.sign(dq), dq)[:found.changes.shape[2]]):
        explained = explained + column * found.changes[0, :, kind]
    return left, explained


def render_payload_report(result: PayloadResult, command_line: str = '') -> str:
    """Return the report of a payload, one HTML file that needs no network."""
    model, found = result.model, result.found
    left, explained = explain_torque(result)
    return render_page(
        'payload.html.j2',
        model=model,
        found=found,
        meaning=payload_meaning(found),
        header=HEADER,
        rows=_rows(found),
        joint_header=JOINT_HEADER,
        joints=_joint_rows(result),
        call='\n'.join(controller_lines(found)),
        made=[
            ('Model of the bare arm', result.model_file),
            *(('Recording', bag) for bag in result.bags),
            ('Poses' if found.static else 'Samples', found.samples),
        ],
        command_line=command_line,
        pictures=[
            _picture(
                name, left[:, joint], explained[:, joint], model.robot.unit('N m', joint),
                joined=not found.static,
            )
            for joint, name in enumerate(model.robot.joint_names)
        ],
    )


def _picture(
    name: str, left: FloatArray, explained: FloatArray, unit: str, *, joined: bool
) -> Picture:
    at = np.arange(len(left), dtype=float)
    drawing = draw_panel(
        [(at, left, MEASURED), (at, explained, PREDICTED)], None,
        ('sample' if joined else 'pose', f'torque [{unit}]'), joined=joined,
    )
    return drawing.picture(
        name, f'Torque of {name} beyond the bare arm, and what the payload explains'
    )
