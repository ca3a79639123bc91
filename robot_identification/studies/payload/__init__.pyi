# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .estimate import (
    BODY_LENGTH as BODY_LENGTH, payload_errors as payload_errors, PayloadErrors as PayloadErrors,
    PayloadOptions as PayloadOptions, UNKNOWN_PAYLOAD as UNKNOWN_PAYLOAD, whitened as whitened,
)
from .report import (
    payload_content as payload_content, payload_text as payload_text,
    PayloadResult as PayloadResult, run_payload as run_payload,
)
