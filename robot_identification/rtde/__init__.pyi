# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .client import (
    check_host as check_host, check_keys as check_keys, PERIODS_TO_WAIT as PERIODS_TO_WAIT,
    PORT as PORT, RtdeOptions as RtdeOptions, RtdeRefusedError as RtdeRefusedError,
    TIMESTAMP as TIMESTAMP, Value as Value,
)
from .stream import (
    Arrivals as Arrivals, CONNECTING as CONNECTING, judge_arrivals as judge_arrivals,
    RECEIVING as RECEIVING, REFUSED as REFUSED, RtdeStream as RtdeStream,
    StreamStatus as StreamStatus,
)
