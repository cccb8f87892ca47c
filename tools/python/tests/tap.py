# SPDX-License-Identifier: GPL-2.0-only
"""A plugin of pytest that prints TAP, for scripts/run-tests: pytest -p tap"""
import sys

import pytest


class Tap:
    def __init__(self):
        self.count = 0

    def line(self, passed, name, text=None, skipped=None):
        self.count += 1
        print(f"{'' if passed else 'not '}ok {self.count} {name}" +
              (f" # SKIP {skipped}" if skipped is not None else ""))
        for line in (text or "").splitlines()[:60]:
            print(f"# {line}")
        sys.stdout.flush()

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.replace("#", "")
        if report.failed:
            self.line(False, name, report.longreprtext)
        elif report.skipped:
            self.line(True, name, skipped=report.longrepr[2])
        elif report.when == "call":
            self.line(True, name)

    def pytest_collectreport(self, report):
        if report.failed:
            self.line(False, report.nodeid, report.longreprtext)

    def pytest_sessionfinish(self):
        print(f"1..{self.count}")


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(Tap())
