# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""One folder per study: its options, its computation and its part of the report."""
