# SPDX-License-Identifier: GPL-2.0-only
"""README.md: its code runs."""
import logging
import re
from pathlib import Path

import pytest

import eventlog
from test_files import TYPES, typed
from elogfile import ElogFile

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.S)


def test_the_code_has_no_syntax_errors():
    assert len(BLOCKS) == 5
    for block in BLOCKS:
        compile(block, "README.md", "exec")


def test_reading_prints_events(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    schema = ("eventlog 1\nprovider proc\nevent 1 exec info -\n\tu32 pid\n\tchar[8] file\n")
    with ElogFile("job.elog", {1: schema, 2: TYPES}) as file:
        for number in (50, 150):
            file.event(1, number.to_bytes(4, "little") + b"ls\0\0\0\0\0\0")
        file.event(2, typed())
    exec(BLOCKS[0], {})
    [line] = capsys.readouterr().out.splitlines()
    assert line.endswith(' worker proc/exec 150 pid=150 file="ls"')


def test_pandas_takes_rows(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    with ElogFile("job.elog", {1: TYPES}) as file:
        file.event(1, typed())
    names = {"eventlog": eventlog}
    exec(BLOCKS[1], names)
    assert len(names["frame"]) == 1 and names["frame"]["cpu"][0] == 1


def test_emitting_runs():
    exec(BLOCKS[3], {"eventlog": eventlog, "measure": lambda: 1})


def test_logging_runs(monkeypatch):
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    exec(BLOCKS[4], {})
    [handler] = logging.getLogger().handlers
    assert handler.provider == "shop" and handler.invalid is None
