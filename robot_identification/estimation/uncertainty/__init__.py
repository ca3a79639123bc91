# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Errors of estimates: covariances, intervals, tests between nested models."""
