# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The five papers this package began with, each reproduced on a simulated arm."""
