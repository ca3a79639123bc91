# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Names that version 2.0 removed, each with what to use instead."""

from collections.abc import Iterable

# Estimators, laws, forms, .. by their name; options of the command line with their dashes.
REMOVED: dict[str, str] = {
    '--tables': 'reproductions/paper_tables.py makes the tables of a paper',
    '--checkpoint': 'searches are repeated by --seed and --max-evaluations',
    'multistart': 'use spectral',
    'condition_number_squared': 'use condition_number, whose square it is',
    'condition_and_smallest': 'use condition_number or trace_of_inverse',
    'smallest_eigenvalue': 'use trace_of_inverse',
    'modified_fourier': 'use fourier',
    'bspline': 'use via_points',
    'pick_and_place': 'use trapezoidal',
    '--profile': 'give --estimator, --friction and --config',
    '--mujoco-friction': 'write --yaml, whose tables have friction over speed and load, or choose '
    '--friction-form',
    '--servoj': 'write --csv, and send its samples with the program of your controller',
    'joint_states_topic': 'remap the topic, -r joint_states:=TOPIC',
    'commands_topic': 'remap the topic, -r forward_effort_controller/commands:=TOPIC',
    'bisquare': 'use huber',
    'essential': 'use wls, and read which terms are needed in report.html',
    'friction_additions': 'name friction laws with --friction',
    'friction_candidates': 'name friction laws with --friction',
    'gls': 'use wls',
    'joint_groups': 'use wls, which takes all joints at once',
    'limit_weighted': 'use wls',
    'profile': 'give estimator, friction and recipe',
    'recursive': 'use wls',
    'trajectories': 'use excite --after MODEL, which designs the next motion',
    'select': 'name friction laws, or use auto',
}


def describe_unknown(what: str, name: object, known: Iterable[str]) -> str:
    """
    Return in words that a name is not among the known ones.

    Where version 2.0 removed it, that is said, with what to use instead.
    """
    instead = REMOVED.get(str(name))
    if instead is not None:
        return f'{what} {name} was removed in 2.0: {instead}'
    return f'unknown {what} {name!r:.60}: known are {", ".join(known)}'
