# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Errors of a recording or a description, as named hypotheses.

Each hypothesis is a function of the same evidence and returns the warnings that it would raise;
the best supported ones are named.
"""
