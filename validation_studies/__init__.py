# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Studies of how right results are, whose tables stand in `docs`.

Run: `python -m validation_studies [NAME ...]`.

They take long and run by hand. A study is a file with `measure(repeats)` that returns its figures.
"""
