# SPDX-License-Identifier: GPL-2.0-only
"""Tests use the package in the tree, unless PYTHONPATH says otherwise."""
import os
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[3]
TOOLS = Path(os.environ.get("EVENTLOG_TOOLS", TREE / "build/tools"))
sys.path[:0] = [str(Path(__file__).parent), str(TREE / "tools/python")]


@pytest.fixture
def elog():
    return str(TOOLS / "elog")
