# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Print what became of the changed files."""


def pytest_terminal_summary(terminalreporter):
    """Show a line for each target that was run here, or by a worker."""
    lines = sorted(
        f'{dict(report.user_properties)["target"]:>14} {dict(report.user_properties)["fuzz"]}'
        for reports in (terminalreporter.stats.get(kind, ()) for kind in ('passed', 'failed'))
        for report in reports if 'fuzz' in dict(getattr(report, 'user_properties', ()))
    )
    if lines:
        terminalreporter.section('changed files')
        for line in lines:
            terminalreporter.write_line(line)
