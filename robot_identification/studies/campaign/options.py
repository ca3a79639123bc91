# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of a campaign that are not in its file: where its runs are computed."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.options import check_options, option
from robot_identification.parallel import LOCAL


@dataclass(frozen=True)
class CampaignOptions:
    """Options of a campaign that are not in its file, each explained in its declaration."""

    scheduler: str = option(
        str, f'where runs are computed: {LOCAL} (processes on this machine), or the address of a '
        'Dask scheduler, tcp://HOST:8786, whose workers see bags and folder', default=LOCAL,
        metavar='ADDRESS',
    )
    processes: int | None = option(
        int, f'number of worker processes of --scheduler {LOCAL}', otherwise='one for each CPU',
        minimum=1, metavar='N',
    )
    retry: bool = option(
        bool, 'repeat failed runs that have not changed', default=False,
    )

    def __post_init__(self) -> None:
        check_options(self)
