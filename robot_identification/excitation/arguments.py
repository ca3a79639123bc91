# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of a design as users give them: on the command line and as parameters."""

from __future__ import annotations

from dataclasses import dataclass
import math

from robot_identification.errors import UsageError
from robot_identification.excitation.optimizers.optimizer import Budget
from robot_identification.files import LARGEST_INTEGER
from robot_identification.options import check_options, option

GENERIC = 'generic'  # name of the experiment that needs no file
# Processes of a search: more than any computer at hand has processors.
MOST_PROCESSES = 1024
# Evaluations where time is the limit: more than ten days of them at a millisecond each.
UNLIMITED = 10**9
# Processes take a few seconds to start [s], as long as some hundred evaluations.
SHORT_TIME, FEW_EVALUATIONS = 10.0, 300


@dataclass(frozen=True)
class DesignArguments:
    """
    Options of the search for a motion; None means that an option is not given.

    The fields say in their declaration what each is; 0 as a parameter, too.
    """

    experiment: str = option(
        str, "experiment file, or name of a shipped one; generic: from the limits of the arm's "
        'description', default=GENERIC, metavar='FILE',
    )
    seed: int = option(
        int, 'seed of the search; the same one gives the same trajectory',
        default=0, minimum=0, maximum=LARGEST_INTEGER, metavar='S',
    )
    max_evaluations: int | None = option(
        int, 'evaluations of the criterion', minimum=1, maximum=10_000_000, metavar='N',
        otherwise=f'{Budget().evaluations}, and no limit with --time-limit',
    )
    time_limit: float | None = option(
        float, 'longest search [s]; it ends with the best motion so far', otherwise='no limit',
        minimum=0.0,
        maximum=86_400.0, metavar='SECONDS',
    )
    processes: int | None = option(
        int, 'number of worker processes; the result does not depend on it', minimum=1,
        maximum=MOST_PROCESSES, metavar='N',
        otherwise='as many as there are processors, and 1, this process, for short searches',
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.time_limit == 0.0:
            raise UsageError('--time-limit is 0 s, it must be positive')

    @property
    def budget(self) -> Budget:
        """Limits of the search; evaluations are one by default where time is none."""
        seconds = math.inf if self.time_limit is None else self.time_limit
        if self.max_evaluations is not None:
            return Budget(self.max_evaluations, seconds)
        return Budget(seconds=seconds) if seconds == math.inf else Budget(UNLIMITED, seconds)

    @property
    def is_short(self) -> bool:
        """Return whether one process is done before others would have started."""
        budget = self.budget
        return budget.seconds < SHORT_TIME or budget.evaluations < FEW_EVALUATIONS
