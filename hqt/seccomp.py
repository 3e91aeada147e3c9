"""The system calls that a jail may not make, as the kernel's own filter program. Pure: from a machine's name to bytes.

What is refused is what an agent has no use for and a kernel's attackers have: keyrings, tracing of others, bpf,
userfaultfd, performance events, io_uring, mounting the new way, opening by handle, modules, typing into a terminal.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_EPERM = 1

# Numbers on x86_64, aarch64, i386 and arm (<asm/unistd.h>); from 424 on they are the same everywhere.
_X86_64, _AARCH64, _I386, _ARM = range(4)
_REFUSED = {
    "add_key": (248, 217, 286, 309),
    "bpf": (321, 280, 357, 386),
    "delete_module": (176, 106, 129, 129),
    "finit_module": (313, 273, 350, 379),
    "init_module": (175, 105, 128, 128),
    "kexec_file_load": (320, 294, -1, 401),
    "kexec_load": (246, 104, 283, 347),
    "keyctl": (250, 219, 288, 311),
    "open_by_handle_at": (304, 265, 342, 371),
    "perf_event_open": (298, 241, 336, 364),
    "process_vm_readv": (310, 270, 347, 376),
    "process_vm_writev": (311, 271, 348, 377),
    "request_key": (249, 218, 287, 310),
    "userfaultfd": (323, 282, 374, 388),
}
_REFUSED_EVERYWHERE = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "open_tree_attr": 467,
}
_IOCTL, _PTRACE = (16, 29, 54, 54), (101, 117, 26, 26)
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_PTRACE_ATTACH, _PTRACE_SEIZE = 16, 0x4206  # not PTRACE_TRACEME: a debugger may start its own child

# <linux/audit.h>: the machine's own mode, then its 32-bit mode.
_MACHINES = {
    "x86_64": ((0xC000003E, _X86_64), (0x40000003, _I386)),
    "aarch64": ((0xC00000B7, _AARCH64), (0x40000028, _ARM)),
}
_X32 = 0x40000000  # a third numbering, on x86_64

# <linux/bpf_common.h>, <linux/seccomp.h>
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | _EPERM, 0x80000000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24  # offsets in struct seccomp_data


def program(machine: str) -> bytes:
    """Return the filter for a machine (a name as of `os.uname()`), or nothing where its numbers are not known."""
    modes = _MACHINES.get(machine)
    if modes is None:
        return b""
    body = b""
    for architecture, column in modes:
        calls = _calls(column, refuse_x32=machine == "x86_64" and column == _X86_64)
        length = len(calls) // 8
        # A conditional jump reaches 255 instructions at most; a mode has fewer.
        body += _instruction(_IF_EQUAL, architecture, 0, length) + calls
    return _instruction(_LOAD, _ARCHITECTURE) + body + _instruction(_RETURN, _KILL)


def _calls(column: int, *, refuse_x32: bool) -> bytes:
    """Return the instructions of one mode; each way through them ends in a return."""
    refused = [numbers[column] for numbers in _REFUSED.values() if numbers[column] >= 0]
    refused += _REFUSED_EVERYWHERE.values()
    start = _instruction(_LOAD, _NUMBER)
    if refuse_x32:
        start += _instruction(_IF_AT_LEAST, _X32, 0, 1) + _instruction(_RETURN, _REFUSE)
    ioctl = _refuse_arguments(_IOCTL[column], _SECOND_ARGUMENT, (_TIOCSTI, _TIOCLINUX))
    ptrace = _refuse_arguments(_PTRACE[column], _FIRST_ARGUMENT, (_PTRACE_ATTACH, _PTRACE_SEIZE))
    return start + _refuse_values(refused) + ioctl + ptrace + _instruction(_RETURN, _ALLOW)


def _refuse_values(values: Iterable[int]) -> bytes:
    return b"".join(_instruction(_IF_EQUAL, value, 0, 1) + _instruction(_RETURN, _REFUSE) for value in values)


def _refuse_arguments(call: int, offset: int, values: tuple[int, ...]) -> bytes:
    """Return what refuses a call with one of these values (the low 32 bits: the kernel looks at no more)."""
    inside = _instruction(_LOAD, offset) + _refuse_values(values) + _instruction(_RETURN, _ALLOW)
    return _instruction(_IF_EQUAL, call, 0, len(inside) // 8) + inside


def _instruction(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)
