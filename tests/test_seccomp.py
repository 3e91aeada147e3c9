"""The system call filter, by an interpreter of its program: on every architecture, and with libseccomp's numbers.

That the kernel obeys it is shown by the attacks, on the machine that runs them.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hqt import seccomp

ALLOW, EPERM, KILL = 0x7FFF0000, 0x00050001, 0x80000000
MODES = {
    "x86_64": ("x86_64", 0xC000003E, 0),
    "i386": ("x86_64", 0x40000003, 2),
    "aarch64": ("aarch64", 0xC00000B7, 1),
    "arm": ("aarch64", 0x40000028, 3),
}
HARMLESS = ["read", "write", "openat", "clone", "execve", "mmap", "futex", "connect", "unlink", "pidfd_open", "wait4"]


def run(program, architecture, number, arguments=()):
    """Interpret a classic BPF program over `struct seccomp_data`, as the kernel does."""
    data = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *[*arguments, *[0] * 6][:6])
    accumulator, at = 0, 0
    while True:
        code, if_true, if_false, operand = struct.unpack_from("=HBBI", program, at * 8)
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, operand)
        elif code in (0x15, 0x35):
            holds = accumulator == operand if code == 0x15 else accumulator >= operand
            at += if_true if holds else if_false
        elif code == 0x06:
            return operand
        else:
            pytest.fail(f"an instruction that the filter is not made of: {code:#x}")


@pytest.fixture(params=MODES)
def mode(request):
    machine, architecture, column = MODES[request.param]
    program = seccomp.program(machine)
    return lambda number, *arguments: run(program, architecture, number, arguments), architecture, column


@pytest.fixture(scope="module")
def number_of():
    """What libseccomp says the number of a call is."""
    path = ctypes.util.find_library("seccomp")
    if path is None:
        pytest.skip("libseccomp is not installed")
    resolve = ctypes.CDLL(path).seccomp_syscall_resolve_name_arch
    return lambda architecture, name: resolve(ctypes.c_uint32(architecture), name.encode())


def test_every_refused_call_is_refused_and_has_the_number_that_libseccomp_knows(mode, number_of):
    decide, architecture, column = mode
    calls = {name: numbers[column] for name, numbers in seccomp._REFUSED.items() if numbers[column] >= 0}
    calls |= seccomp._REFUSED_EVERYWHERE
    for name, number in calls.items():
        assert decide(number) == EPERM, name
        known = number_of(architecture, name)
        assert known in (number, -1), name  # -1: newer than the library


def test_calls_that_programs_live_on_are_allowed(mode, number_of):
    decide, architecture, _ = mode
    for name in HARMLESS:
        assert decide(number_of(architecture, name)) == ALLOW, name


def test_typing_into_the_terminal_is_refused_and_other_controls_are_not(mode):
    decide, _, column = mode
    ioctl = seccomp._IOCTL[column]
    assert decide(ioctl, 0, 0x5412) == decide(ioctl, 0, 0x541C) == decide(ioctl, 0, 0xFFFFFFFF00005412) == EPERM
    assert decide(ioctl, 0, 0x5401) == decide(ioctl, 0x5412, 0x5413) == ALLOW


def test_tracing_another_is_refused_and_being_traced_is_not(mode):
    decide, _, column = mode
    ptrace = seccomp._PTRACE[column]
    assert decide(ptrace, 16) == decide(ptrace, 0x4206) == EPERM
    assert decide(ptrace, 0) == decide(ptrace, 7) == ALLOW


@given(st.sampled_from(["x86_64", "aarch64"]), st.integers(0, 0xFFFFFFFF), st.integers(0, 0xFFFFFFFF))
def test_a_mode_that_is_not_the_machines_is_ended(machine, architecture, number):
    known = {architecture for _machine, architecture, _ in MODES.values() if _machine == machine}
    if architecture not in known:
        assert run(seccomp.program(machine), architecture, number) == KILL


@given(st.integers(0x40000000, 0xFFFFFFFF))
def test_the_third_numbering_of_x86_64_is_refused(number):
    assert run(seccomp.program("x86_64"), 0xC000003E, number) == EPERM


def test_a_machine_whose_numbers_are_not_known_has_no_filter():
    assert seccomp.program("riscv64") == b""


# The kernel's own tables, by linux-libc-dev: arm64's is the generic one (arch/arm64/include/uapi/asm/unistd.h).
TABLES = {
    seccomp._AARCH64: "/usr/include/asm-generic/unistd.h",
    seccomp._X86_64: f"/usr/include/{platform.machine()}-linux-gnu/asm/unistd_64.h",
    seccomp._I386: f"/usr/include/{platform.machine()}-linux-gnu/asm/unistd_32.h",
}


@pytest.mark.parametrize("column", TABLES)
def test_the_numbers_are_those_of_the_kernels_own_tables(column):
    table = Path(TABLES[column])
    if not table.exists():
        pytest.skip("linux-libc-dev of this machine does not bring it")
    defined = dict(re.findall(r"^#define __NR_(\w+)\s+(\d+)$", table.read_text(), re.MULTILINE))
    named = {name: numbers[column] for name, numbers in seccomp._REFUSED.items() if numbers[column] >= 0}
    named |= {"ioctl": seccomp._IOCTL[column], "ptrace": seccomp._PTRACE[column], **seccomp._REFUSED_EVERYWHERE}
    known = {name: number for name, number in named.items() if name in defined}
    assert {name: int(defined[name]) for name in known} == known
    assert set(named) - set(known) <= {"open_tree_attr", "mount_setattr"}  # newer than some distribution's headers
