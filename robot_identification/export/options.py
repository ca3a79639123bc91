# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of exports, for the command line and Python."""

from dataclasses import dataclass

from robot_identification.export.friction_forms import FORMS, PLAIN
from robot_identification.options import check_options, option


@dataclass(frozen=True)
class ExportOptions:
    """Options of exports: of friction in MJCF, of a pack for simulators, and of a scene."""

    friction_form: str = option(
        str, 'friction of joints in MJCF: '
        + '; '.join(f'{form}, {what}' for form, what in FORMS.items()),
        choices=tuple(FORMS), default=PLAIN,
    )
    models: int = option(
        int, 'number of models in --sim, drawn from the covariance', metavar='N',
        # A hundred hold 98 % of what the covariance does; more than the most take minutes of conic
        # programs, and make a folder too long to list.
        default=100, minimum=1, maximum=10_000,
    )
    seed: int = option(int, 'seed of these models', default=0, minimum=0)
    usd_joints: str = option(
        str, 'prim of the USD that holds the joints, in --sim', metavar='PATH',
        otherwise='/ROBOT/joints', default='',
    )
    joint_names: str = option(
        str, 'joints with other names in the scene than in the model', metavar='SCENE=MODEL,..',
        default='', otherwise='',
    )
    override_defaults: bool = option(
        bool, 'give joints of a scene attributes of their own where their class has a default',
        default=False,
    )
    extra_bodies: tuple[str, ...] = option(
        str, 'bodies of the scene that were not on the arm when it was identified', count='+',
        metavar='BODY', default=(),
    )

    def __post_init__(self) -> None:
        check_options(self)
