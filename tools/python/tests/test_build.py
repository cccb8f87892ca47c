# SPDX-License-Identifier: GPL-2.0-only
"""pip installs the package without a network, and what it installs works."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import eventlog

PACKAGE = Path(__file__).resolve().parents[1]


def run(*command, **environment):
    return subprocess.run(command, cwd="/", env={**os.environ, "PYTHONPATH": "", **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.fixture(scope="module")
def pip():
    for python in (sys.executable, shutil.which("python3")):
        if python and run(python, "-m", "pip", "--version").returncode == 0:
            return python
    pytest.skip("there is no pip")


def test_pip_installs_it_without_a_network(pip, tmp_path):
    source = tmp_path / "source"
    shutil.copytree(PACKAGE, source)
    # No index, and a proxy that does not exist.
    installed = run(pip, "-m", "pip", "install", "--no-index", "--no-cache-dir",
                    "--disable-pip-version-check", "--target", str(tmp_path / "site"),
                    str(source), https_proxy="http://127.0.0.1:1")
    assert installed.returncode == 0, installed.stdout
    assert "Successfully installed eventlog" in installed.stdout
    names = {path.name for path in (tmp_path / "site/eventlog").iterdir()}
    assert {"__init__.py", "py.typed"} <= names
    imported = run(sys.executable, "-c", "import eventlog; print(eventlog.__file__)",
                   PYTHONPATH=str(tmp_path / "site"))
    assert imported.stdout.startswith(str(tmp_path / "site"))
    show = run(pip, "-m", "pip", "show", "eventlog", PYTHONPATH=str(tmp_path / "site"))
    assert f"Version: {eventlog.__version__}" in show.stdout


def test_the_source_archive_can_be_installed(pip, tmp_path):
    made = run(sys.executable, "-c",
               f"import build_backend; print(build_backend.build_sdist({str(tmp_path)!r}))",
               PYTHONPATH=str(PACKAGE))
    archive = tmp_path / made.stdout.strip()
    installed = run(pip, "-m", "pip", "install", "--no-index", "--no-cache-dir",
                    "--disable-pip-version-check", "--target", str(tmp_path / "site"),
                    str(archive))
    assert installed.returncode == 0, installed.stdout
    assert (tmp_path / "site/eventlog/py.typed").exists()


def test_versions_agree():
    project = (PACKAGE / "pyproject.toml").read_text()
    assert re.search(r'^version = "(.*)"$', project, re.M).group(1) == eventlog.__version__


def test_a_missing_library_is_an_import_error(tmp_path):
    said = run(sys.executable, "-c", "import eventlog", PYTHONPATH=str(PACKAGE),
               LD_LIBRARY_PATH=str(tmp_path))
    if said.returncode == 0:
        pytest.skip("libelog.so.0 is installed")
    assert "ImportError: cannot load eventlog's library" in said.stdout
    assert "LD_LIBRARY_PATH" in said.stdout


def test_a_library_of_another_interface_is_an_import_error(tmp_path):
    (tmp_path / "other.c").write_text("int elog_device_open(void) { return 0; }\n")
    (tmp_path / "other.map").write_text("LIBELOG_0.0 { elog_device_open; };\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "libelog.so.0", "other.c",
                    "-Wl,--version-script,other.map"], cwd=tmp_path, check=True)
    said = run(sys.executable, "-c", "import eventlog", PYTHONPATH=str(PACKAGE),
               LD_LIBRARY_PATH=str(tmp_path))
    assert "ImportError: libelog.so.0 has no elog_device_open of interface LIBELOG_" \
        in said.stdout


@pytest.mark.parametrize("module", sorted((PACKAGE / "eventlog").glob("*.py")),
                         ids=lambda path: path.name)
@pytest.mark.skipif(sys.version_info < (3, 10), reason="Python does not list its modules")
def test_modules_need_only_the_standard_library(module):
    imports = re.findall(r"^(?:from|import) +(\.?\w*)", module.read_text(), re.M)
    assert all(name.startswith(".") or name in sys.stdlib_module_names for name in imports)
