# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The file of an identified model.

Format: docs/formats/model.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.files import (
    AnyPath, check_keys, check_schema_version, dump_yaml, read_yaml, to_list, to_mapping,
    to_numbers, to_plain, to_switch,
)
from robot_identification.model.base_parameters import BaseReduction, COEFFICIENT_TOLERANCE
from robot_identification.model.corrections import CORRECTIONS, Corrections, JointCorrection
from robot_identification.model.discrepancy import discrepancy_from_content
from robot_identification.model.friction import FRICTION_LAWS
from robot_identification.model.friction.law import check_positive
from robot_identification.model.identified_model import (
    IdentifiedModel, LONGEST_DELAY, SignalSource,
)
from robot_identification.model.kinematic_filter import kinematic_filter_from_options
from robot_identification.model.parameters import EFFORT_UNITS, FrictionTerm, StandardParameters
from robot_identification.model.payload import Payload
from robot_identification.model.robot_model import (
    Drives, JointLimits, make_robot_model, RobotModel,
)
from robot_identification.model.urdf import parse_urdf

SCHEMA_VERSION = 5  # of the file
# Figures of `quality` that are calculated with: one number a joint, or a row of them.
_JOINT_FIGURES = {
    'speeds': (), 'loads': (), 'residual_standard_deviation': (), 'temperatures': (2,),
    'prediction_deviation': (2,), 'live_deviation': (2,),
    'uncorrected_prediction_deviation': (2,), 'uncorrected_live_deviation': (2,),
    'parameter_deviation': (),
}
# What corrections are made no larger than, by the kinematics.
_LIMITS = ('offline_limit', 'live_limit')
_KEYS = {
    'schema_version', 'robot', 'effort', 'base_parameters', 'friction', 'covariance',
    'standard_parameters', 'reflected_inertia', 'kinematics', 'temperature', 'payload',
    'provenance', 'quality', 'corrections',
}


def dump_model(model: IdentifiedModel) -> str:
    """Return the text of the model file."""
    robot, names = model.robot, model.reduction.names
    content = {
        'schema_version': SCHEMA_VERSION,
        'robot': _robot_content(robot),
        'effort': {
            'unit': model.effort_unit,
            'drive_gains': robot.drives.drive_gain,
            'relative_scale': model.relative_scale,
        },
        'base_parameters': _base_content(model),
        'friction': {
            joint: [
                _friction_entry(model, term, columns)
                for term, columns in model.parameters.friction_columns
                if term.joint == number
            ]
            for number, joint in enumerate(robot.joint_names)
        },
        'covariance': {
            'kind': model.covariance_kind, 'names': list(names), 'matrix': model.covariance,
        },
        'standard_parameters': {
            'note': model.consistency_note,
            'values': (
                None
                if model.theta_consistent is None
                else dict(zip(model.parameters.names, model.theta_consistent, strict=True))
            ),
        },
        'reflected_inertia': model.parameters.reflected_inertia,
        'kinematics': {
            'topic': model.source.topic,
            'joint_names': dict(model.source.joint_names),
            'filter': model.source.kinematic_filter.options(),
            'delay': model.source.delay,
            'command_delay': model.source.command_delay,
        },
        'temperature': model.temperature,
        'payload': [
            {'frame': payload.frame, **vars(payload)} for payload in model.payloads
        ] or None,
        'corrections': _corrections_content(model),
        'provenance': model.provenance,
        'quality': model.quality,
    }
    return dump_yaml(to_plain(content))


def _corrections_content(model: IdentifiedModel) -> dict[str, Any] | None:
    """Return the corrections by kinematics, None where there are none."""
    corrections, joints = model.corrections, model.robot.joint_names
    if not corrections.offline and not corrections.live:
        return None
    limits = {name: getattr(corrections, name) for name in _LIMITS}
    return {
        'rate': corrections.rate,
        **{name: limit for name, limit in limits.items() if limit is not None},
        **{
            name: [
                {
                    'joint': joints[one.joint],
                    'group': one.group.name,
                    'constants': one.group.constants(),
                    'coefficients': one.coefficients,
                    'decrease': one.decrease,
                }
                for one in getattr(corrections, name)
            ]
            for name in ('offline', 'live')
        },
    }


def _robot_content(robot: RobotModel) -> dict[str, Any]:
    return {
        'name': robot.name,
        'joints': list(robot.joint_names),
        'gravity': robot.mounting_gravity,
        'limits': vars(robot.limits),
        'sampling_rate': robot.sampling_rate,
        'encoders': {'sign': robot.encoders.sign, 'zero': robot.encoders.zero},
        'locked': dict(robot.locked),
        'urdf_sha256': robot.urdf_sha256,
        'urdf': robot.urdf.text,
    }


def _base_content(model: IdentifiedModel) -> list[dict[str, Any]]:
    reduction, errors = model.reduction, model.standard_errors
    units = reduction.units_of(model.robot)
    friction = range(model.parameters.size)[model.parameters.friction_slice]
    return [
        {
            'name': reduction.names[row],
            'value': model.theta_base[row],
            'standard_error': errors[row],
            'unit': units[row],
            'combination': {
                reduction.parameters.names[column]: float(reduction.K[row, column])
                for column in np.flatnonzero(np.abs(reduction.K[row]) > COEFFICIENT_TOLERANCE)
            },
        }
        for row in range(reduction.rank)
        if reduction.independent[row] not in friction
    ]


def _friction_entry(
    model: IdentifiedModel, term: FrictionTerm, columns: slice
) -> dict[str, Any]:
    entry: dict[str, Any] = {'law': term.law.name, 'constants': term.law.constants()}
    if term.constant_errors:
        entry['constant_standard_errors'] = {
            name: float(error) if np.isfinite(error) else None
            for name, error in zip(term.law.shape, term.constant_errors, strict=True)
        }
    # Null where the data do not determine the coefficient; it then counts as zero.
    places = range(columns.start, columns.stop)
    for name, values in (
        ('coefficients', model.theta_base), ('standard_errors', model.standard_errors)
    ):
        found = dict(zip(model.reduction.independent.tolist(), values, strict=True))
        entry[name] = [found.get(column) for column in places]
    entry['units'] = list(term.law.units)
    return entry


def load_model(path: AnyPath) -> IdentifiedModel:
    """
    Read a model file.

    Raises UsageError if there is no such file, DescriptionError if it is not a model file of this
    version, or its parts contradict each other.
    """
    content, source = _upgraded(read_yaml(Path(path))), str(path)
    check_schema_version(content, source, SCHEMA_VERSION)
    check_keys(content, source, _KEYS, set())
    try:
        return _model_from_content(content)
    except DescriptionError as error:
        raise DescriptionError(f'{source}: {error}') from error
    except (
        KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, UsageError
    ) as error:
        raise DescriptionError(
            f'{source} is damaged or was edited: {type(error).__name__}: {error}'
        ) from error


def _upgraded(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a file of an earlier version with what it did not have yet."""
    if content.get('schema_version') not in range(1, SCHEMA_VERSION):
        return content
    robot = content.get('robot')
    joints = robot.get('joints') if isinstance(robot, dict) else None
    n = len(joints) if isinstance(joints, list) else 0
    lacking: dict[str, dict[str, Any]] = {
        # The driver read the model's positions, and locked joints were at neutral.
        'robot': {'encoders': {'sign': [1.0] * n, 'zero': [0.0] * n}, 'locked': {}},
        # The covariance took residuals as white.
        'covariance': {'kind': 'residual'},
        # No effort was made of commands.
        'kinematics': {'command_delay': None},
    }
    filled = {
        key: {**defaults, **content[key]} for key, defaults in lacking.items()
        if isinstance(content.get(key), dict)
    }
    return {'corrections': None, **content, **filled, 'schema_version': SCHEMA_VERSION}


def _finite(values: Any, shape: tuple[int, ...], what: str) -> FloatArray:
    array = np.array(values, dtype=float)
    if array.shape != shape or not np.all(np.isfinite(array)):
        raise DescriptionError(f'{what} must be finite numbers of shape {shape}')
    return array


def _covariance(matrix: Any, names: list[str]) -> FloatArray:
    """Return a matrix (b, b) that can be the covariance of the parameters of these names."""
    covariance = _finite(matrix, (len(names), len(names)), 'the covariance')
    variances = np.diag(covariance)
    if np.any(variances < 0.0):
        worst = int(np.argmin(variances))
        raise DescriptionError(
            f'the variance of {names[worst]} is {variances[worst]:g}, it must not be negative: '
            'identify again'
        )
    errors = np.sqrt(variances)
    # Divided by standard errors, not by their products, which can be below the smallest number.
    with np.errstate(divide='ignore', invalid='ignore'):
        apart = np.abs(covariance - covariance.T) / errors[:, None] / errors
    apart = np.where(covariance == covariance.T, 0.0, apart)
    # Rounding makes entries (i, j) and (j, i) differ, by far less than this share.
    tolerance = 1e-6
    if np.any(apart > tolerance):
        i, j = (int(k) for k in np.unravel_index(np.argmax(apart), apart.shape))
        raise DescriptionError(
            f'the covariance of {names[i]} and {names[j]} is {covariance[i, j]:g} one way and '
            f'{covariance[j, i]:g} the other, apart by more than {tolerance:g} of their '
            'standard errors: identify again'
        )
    return covariance


def _quality(content: Any, joints: Sequence[str], b: int) -> Mapping[str, Any]:
    """Return the quality figures of a model with some joints and b parameters."""
    figures = to_mapping(content, 'quality')
    shapes = {name: (*rows, len(joints)) for name, rows in _JOINT_FIGURES.items()}
    for name, shape in {**shapes, 'degrees_of_freedom': (b,)}.items():
        stated = figures.get(name)
        if stated is not None and np.array(stated, dtype=float).shape != shape:
            raise DescriptionError(f'quality.{name} is {stated!r:.60}, numbers of shape {shape} '
                                   'are needed')
    if figures.get('discrepancy') is not None:
        discrepancy_from_content(figures['discrepancy'], joints, b)
    for name in ('reasons', 'lost'):
        to_list(figures.get(name, []), f'quality.{name}')
    to_mapping(figures.get('cross_validation', {}), 'quality.cross_validation')
    return figures


def _provenance(content: Any) -> Mapping[str, Any]:
    provenance = to_mapping(content, 'provenance')
    bags = provenance.get('bags', [])
    if not isinstance(bags, list) or not all(isinstance(bag, dict) for bag in bags):
        raise DescriptionError(f'provenance.bags is {bags!r:.60}, a list of mappings is needed')
    to_mapping(provenance.get('options', {}), 'provenance.options')
    return provenance


def _corrections(content: Any, joints: Sequence[str]) -> Corrections:
    if content is None:
        return Corrections()
    rate = content['rate']
    check_positive(rate, 'the rate of the corrections')
    offline, live = (
        tuple(_joint_correction(entry, joints) for entry in content[kinematics])
        for kinematics in ('offline', 'live')
    )
    limits = {
        name: np.array(to_numbers(content[name], len(joints), f'corrections.{name}'))
        for name in _LIMITS if content.get(name) is not None
    }
    for name, limit in limits.items():
        if np.any(limit < 0.0):
            raise DescriptionError(
                f'corrections.{name} is {content[name]!r:.60}: it must not be negative'
            )
    return Corrections(float(rate), offline, live, **limits)


def _joint_correction(entry: Mapping[str, Any], joints: Sequence[str]) -> JointCorrection:
    if entry['group'] not in CORRECTIONS:
        raise DescriptionError(
            f'corrections {entry["group"]!r} are unknown: known are {", ".join(CORRECTIONS)}'
        )
    group = CORRECTIONS[entry['group']](**entry['constants'])
    return JointCorrection(
        joints.index(entry['joint']), group,
        _finite(entry['coefficients'], (group.size,), f'the coefficients of {entry["group"]}'),
        float(entry.get('decrease', np.nan)),
    )


def _model_from_content(content: Mapping[str, Any]) -> IdentifiedModel:
    robot = _robot_from_content(content)
    friction = _friction_from_content(content, robot)
    parameters = StandardParameters(
        robot.n,
        tuple(term for term, _ in friction),
        to_switch(content['reflected_inertia'], 'reflected_inertia'),
    )
    names = list(content['covariance']['names'])
    reduction, theta = _reduction_from_content(
        content['base_parameters'], names, parameters, [values for _, values in friction]
    )
    covariance = _covariance(content['covariance']['matrix'], names)
    consistent = content['standard_parameters']['values']
    kinematics = content['kinematics']
    command = kinematics['command_delay']
    if not abs(float(kinematics['delay'])) <= LONGEST_DELAY:
        raise DescriptionError(
            f'the delay is {kinematics["delay"]} s, at most {LONGEST_DELAY:g} s are plausible'
        )
    return IdentifiedModel(
        robot=robot,
        effort_unit=content['effort']['unit'],
        reduction=reduction,
        theta_base=theta,
        covariance=covariance,
        theta_consistent=None if consistent is None else _finite(
            [consistent[name] for name in parameters.names], (parameters.size,),
            'standard parameters',
        ),
        consistency_note=str(content['standard_parameters']['note']),
        source=SignalSource(
            topic=str(kinematics['topic']),
            joint_names=dict(kinematics['joint_names']),
            kinematic_filter=kinematic_filter_from_options(kinematics['filter']),
            delay=float(kinematics['delay']),
            command_delay=None if command is None else float(command),
        ),
        provenance=_provenance(content['provenance']),
        quality=_quality(content['quality'], robot.joint_names, len(names)),
        relative_scale=to_switch(content['effort']['relative_scale'], 'relative_scale'),
        covariance_kind=str(content['covariance']['kind']),
        payloads=tuple(
            Payload(
                float(entry['mass']),
                _finite(entry['center_of_mass'], (3,), 'the centre of mass of a payload'),
                _finite(entry['inertia'], (3, 3), 'the inertia of a payload'),
                str(entry['frame']),
            )
            for entry in content['payload'] or ()
        ),
        corrections=_corrections(content['corrections'], robot.joint_names),
        temperature=(
            None if content['temperature'] is None
            else _finite(content['temperature'], (robot.n,), 'temperatures')
        ),
    )


def _reduction_from_content(
    base: Sequence[Mapping[str, Any]],
    names: list[str],
    parameters: StandardParameters,
    coefficients: Sequence[Sequence[float | None]],
) -> tuple[BaseReduction, FloatArray]:
    """Return the reduction and the base parameters (b,), coefficients by friction term."""
    independent = np.array([parameters.names.index(name) for name in names])
    K = np.zeros((len(names), parameters.size))
    K[np.arange(len(names)), independent] = 1.0
    theta = np.full(len(names), np.nan)
    for entry in base:
        row = names.index(entry['name'])
        theta[row] = entry['value']
        for name, value in entry['combination'].items():
            K[row, parameters.names.index(name)] = value
    for values, (_, columns) in zip(coefficients, parameters.friction_columns, strict=True):
        for column, value in zip(range(columns.start, columns.stop), values, strict=True):
            if value is not None:
                theta[names.index(parameters.names[column])] = value
    _finite(theta, (len(names),), 'base parameters and friction coefficients')
    _finite(K, K.shape, 'combinations of the base parameters')
    return BaseReduction(parameters, K, independent, gap=np.inf), theta


def _robot_from_content(content: Mapping[str, Any]) -> RobotModel:
    entry, effort = content['robot'], content['effort']
    if effort['unit'] not in EFFORT_UNITS:
        raise DescriptionError(f'effort unit {effort["unit"]!r} is unknown')
    n = len(entry['joints'])
    gains = np.array(effort['drive_gains'], dtype=float)
    # With effort in N m the gains are not used, and may be unknown.
    if gains.shape != (n,) or np.any(gains == 0.0) or (
        EFFORT_UNITS[effort['unit']].is_current and not np.all(np.isfinite(gains))
    ):
        raise DescriptionError(
            f'drive gains {gains.tolist()} for {n} joints; one for each is needed, not zero'
        )
    limits = {key: np.array(value, dtype=float) for key, value in entry['limits'].items()}
    if any(values.shape != (n,) or np.any(np.isnan(values)) for values in limits.values()):
        raise DescriptionError(f'limits must have {n} values each')
    sign, zero = (
        _finite(entry['encoders'][key], (n,), f'encoder {key}') for key in ('sign', 'zero')
    )
    if not np.all(np.abs(sign) == 1.0):
        raise DescriptionError(f'encoder signs are {sign.tolist()}, each must be 1 or -1')
    robot = make_robot_model(
        parse_urdf(entry['urdf'], 'its urdf'),
        name=str(entry['name']),
        joints=list(entry['joints']),
        gravity=np.array(entry['gravity'], dtype=float),
        locked={str(joint): float(at) for joint, at in entry['locked'].items()},
    )
    robot = replace(
        robot,
        limits=JointLimits(**limits),
        drives=Drives(np.ones(gains.size), gains, np.full(gains.size, np.nan)),
        effort_unit=effort['unit'],
        sampling_rate=float(entry['sampling_rate']),
        encoders=replace(robot.encoders, sign=sign, zero=zero),
    )
    if robot.urdf_sha256 != entry['urdf_sha256']:
        raise DescriptionError('the URDF inside does not match its hash')
    return robot.for_effort(effort['unit'])


def _friction_from_content(
    content: Mapping[str, Any], robot: RobotModel
) -> list[tuple[FrictionTerm, list[float | None]]]:
    """Return the friction terms by kind, joints inner, as `make_standard_parameters` orders."""
    by_joint = [content['friction'][joint] for joint in robot.joint_names]
    terms = []
    for position in range(max((len(entries) for entries in by_joint), default=0)):
        for number, entries in enumerate(by_joint):
            if position < len(entries):
                entry = entries[position]
                law = FRICTION_LAWS[entry['law']](**entry['constants'])
                errors = entry.get('constant_standard_errors', {})
                term = FrictionTerm(number, law, tuple(
                    np.nan if errors.get(name) is None else float(errors[name])
                    for name in law.shape if errors
                ))
                terms.append((term, list(entry['coefficients'])))
    return terms
