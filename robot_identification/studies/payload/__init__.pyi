# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .estimate import (
    BODY_LENGTH as BODY_LENGTH, CHANGES as CHANGES, estimate_payload as estimate_payload,
    loaded_run as loaded_run, LoadedRun as LoadedRun, PayloadErrors as PayloadErrors,
    PayloadOptions as PayloadOptions, resting_run as resting_run,
)
from .report import (
    MODEL_FILE as MODEL_FILE, payload_content as payload_content, PAYLOAD_FILES as PAYLOAD_FILES,
    payload_text as payload_text, save_payload as save_payload,
)
