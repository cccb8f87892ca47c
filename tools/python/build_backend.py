# SPDX-License-Identifier: LGPL-2.1-only
"""Builds the package for pip (PEP 517, PEP 660). It needs nothing but Python, so that
"pip install ./tools/python" needs no network."""
import base64
import hashlib
import io
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))


def _project(key):
    # tomllib is in Python 3.11 and later.
    with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as file:
        return re.search(rf'^{key} = "(.*)"$', file.read(), re.MULTILINE).group(1)


def _file(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def _modules():
    return {f"eventlog/{name}": _file(f"eventlog/{name}")
            for name in sorted(os.listdir(os.path.join(HERE, "eventlog")))
            if name.endswith(".py") or name == "py.typed"}


def _metadata():
    return "\n".join((
        "Metadata-Version: 2.1", f"Name: {_project('name')}", f"Version: {_project('version')}",
        f"Summary: {_project('description')}", "License: LGPL-2.1-only",
        f"Requires-Python: {_project('requires-python')}",
        "Description-Content-Type: text/markdown", "", _file("README.md").decode())).encode()


def _write_wheel(directory, files):
    stem = f"{_project('name')}-{_project('version')}"
    files[f"{stem}.dist-info/METADATA"] = _metadata()
    files[f"{stem}.dist-info/WHEEL"] = (b"Wheel-Version: 1.0\nGenerator: eventlog\n"
                                        b"Root-Is-Purelib: true\nTag: py3-none-any\n")
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()[:-1]},"
        f"{len(data)}\n" for name, data in files.items())
    files[f"{stem}.dist-info/RECORD"] = f"{record}{stem}.dist-info/RECORD,,\n".encode()
    wheel = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, _modules())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, {"eventlog.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    stem = f"{_project('name')}-{_project('version')}"
    files = {**_modules(), "PKG-INFO": _metadata()}
    files.update((name, _file(name)) for name in ("pyproject.toml", "build_backend.py",
                                                  "README.md"))
    with tarfile.open(os.path.join(sdist_directory, f"{stem}.tar.gz"), "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(f"{stem}/{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return f"{stem}.tar.gz"
