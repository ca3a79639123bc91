# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Errors of a recording or a description, as named hypotheses; see `examination`."""
