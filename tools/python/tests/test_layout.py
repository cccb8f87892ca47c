# SPDX-License-Identifier: GPL-2.0-only
"""The C compiler checks what _libelog.py says of libelog: offsets, constants, prototypes."""
import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import elogfile
from eventlog import _libelog as c

TREE = Path(__file__).resolve().parents[3]
CC = os.environ.get("CC", "cc")
NAMES = {
    ctypes.c_int: "int", ctypes.c_uint: "unsigned int", ctypes.c_bool: "bool",
    ctypes.c_char_p: "char *", ctypes.c_void_p: "void *", ctypes.c_ubyte: "unsigned char",
    ctypes.c_uint32: "uint32_t", ctypes.c_uint64: "uint64_t", ctypes.c_int64: "int64_t",
    ctypes.c_size_t: "size_t", None: "void",
}
STRUCTS = c.STRUCTS + [elogfile.WriterOptions]
PROTOTYPES = {**c.PROTOTYPES, **elogfile.PROTOTYPES}


def c_type(kind):
    """Returns how C writes a type, except for const."""
    if kind is c.OwnedString:
        return "char *"
    if kind is not None and issubclass(kind, c.Opaque):
        return f"struct {kind.c_name} *"
    if kind is not None and issubclass(kind, c.CStruct):
        return f"struct {kind.c_name}"
    if hasattr(kind, "contents"):
        return f"{c_type(kind._type_)} *"
    return NAMES[kind]


def compile_c(path, lines, *options):
    path.write_text("#include <stdio.h>\n#include <elog.h>\n" + "\n".join(lines))
    return subprocess.run(
        [CC, "-std=gnu11", "-Wall", "-Wconversion", "-Wsign-conversion", "-Werror",
         "-Dconst=",
         f"-I{TREE}/tools/libelog/include", f"-I{TREE}/uapi", *options, str(path)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


pytestmark = pytest.mark.skipif(not shutil.which(CC), reason="there is no C compiler")


def test_structs_and_constants_are_those_of_the_c_compiler(tmp_path):
    expected, lines = [], ["int main(void)", "{"]
    for struct in STRUCTS:
        name = f"struct {struct.c_name}"
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        expected.append((name, ctypes.sizeof(struct)))
        for member, *_ in struct._fields_:
            what = getattr(struct, member)
            for value, text in ((what.offset, f"offsetof({name}, {member})"),
                                (what.size, f"sizeof((({name} *)0)->{member})")):
                lines.append(f'printf("%zu\\n", {text});')
                expected.append((text, value))
    constants = [name for name in vars(c) if name.startswith(("ELOG_", "EVENTLOG_"))]
    assert len(constants) > 30
    for name in constants:
        lines.append(f'printf("%llu\\n", (unsigned long long){name});')
        expected.append((name, getattr(c, name)))
    built = compile_c(tmp_path / "layout.c", lines + ["return 0;", "}"],
                      "-o", str(tmp_path / "layout"))
    assert built.returncode == 0, built.stdout
    output = subprocess.run([str(tmp_path / "layout")], stdout=subprocess.PIPE, text=True)
    found = list(map(int, output.stdout.split()))
    assert [(name, value) for name, value in expected] == \
        list(zip((name for name, _ in expected), found))
    assert len(found) == len(expected)


def calls(prototypes):
    """A call of each function, with arguments and a result of the types that we say."""
    for name, (result, *parameters) in prototypes.items():
        arguments = ", ".join(f"*({c_type(kind)} *)0" for kind in parameters)
        call = f"{name}({arguments})"
        if result:
            call = f"{c_type(result)} result = {call}; (void)result"
        yield f"void call_{name}(void);"
        yield f"void call_{name}(void) {{ {call}; }}"


def test_prototypes_are_those_of_the_header(tmp_path):
    built = compile_c(tmp_path / "calls.c", calls(PROTOTYPES), "-fsyntax-only")
    assert built.returncode == 0, built.stdout


@pytest.mark.parametrize("name, change", [
    ("elog_consumer_wait", (ctypes.c_int, c.Reader, ctypes.c_int, ctypes.c_void_p)),
    ("elog_reader_follow", (ctypes.c_int, c.Reader)),
    ("elog_consumer_stat", (ctypes.c_int, c.Consumer, ctypes.c_uint64, ctypes.c_uint32,
                            ctypes.POINTER(c.Stat))),
])
def test_a_wrong_prototype_is_found(tmp_path, name, change):
    built = compile_c(tmp_path / "calls.c", calls({name: change}), "-fsyntax-only")
    assert built.returncode != 0
    assert name in built.stdout
