"""Bounds on what a session and all that it starts may use together: a systemd scope of its own enforces them. Pure."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"([0-9]+)([KMGT]?)")
_LEAST_BYTES = 16 << 20
_LEAST_PIDS = 8
_LEAST_CPU = 0.01


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be used at most; None where nothing was asked for."""

    memory: int | None = None
    """Bytes, swap not among them: none may be used."""
    pids: int | None = None
    """Processes and threads."""
    cpu: float | None = None
    """Cores: 2 is all the time of two, 0.5 half the time of one."""

    def __bool__(self) -> bool:
        """Tell whether anything is bounded."""
        return any(value is not None for value in asdict(self).values())

    def to_json(self) -> str:
        """Return the form that `Session.limits_json` holds."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Limits:
        """Read the form that `to_json` writes.

        Raises:
            ValueError: anything else. A bound that is not understood is never left out.

        """
        values = json.loads(text)
        if not isinstance(values, dict) or sorted(values) != ["cpu", "memory", "pids"]:
            raise ValueError(f"not limits: {text}")
        for name, kinds in (("memory", int), ("pids", int), ("cpu", (int, float))):
            value = values[name]
            if value is not None and (isinstance(value, bool) or not isinstance(value, kinds) or not value > 0):
                raise ValueError(f"not limits: {text}")
        return cls(**values)

    def scope_argv(self, systemd_run: str) -> list[str]:
        """Return what a command is started behind, so that it runs in a scope with these bounds."""
        properties = []
        if self.memory is not None:
            properties += [f"--property=MemoryMax={self.memory}", "--property=MemorySwapMax=0"]
        if self.pids is not None:
            properties += [f"--property=TasksMax={self.pids}"]
        if self.cpu is not None:
            properties += [f"--property=CPUQuota={math.ceil(self.cpu * 100)}%"]
        return [systemd_run, "--user", "--scope", "--quiet", "--collect", *properties]

    @property
    def files(self) -> list[str]:
        """The files of a control group that hold these bounds: systemd says nothing where it cannot set one."""
        wanted = {"memory.max": self.memory, "pids.max": self.pids, "cpu.max": self.cpu}
        return [name for name, value in wanted.items() if value is not None]

    def in_words(self) -> str:
        """Return the bounds as a person would say them."""
        parts = []
        if self.memory is not None:
            parts.append(f"{_size_in_words(self.memory)} of memory")
        if self.pids is not None:
            parts.append(f"{self.pids} processes")
        if self.cpu is not None:
            parts.append(f"{self.cpu:g} {'core' if self.cpu == 1 else 'cores'}")
        return ", ".join(parts)


UNBOUNDED = Limits()


def memory_bytes(text: str) -> int:
    """Read `8G`, `512M` or a number of bytes.

    Raises:
        ValueError: it is none, or too little for any program.

    """
    match = _SIZE.fullmatch(text.strip().upper().removesuffix("B").removesuffix("I"))
    size = int(match[1]) * _UNITS[match[2]] if match and len(match[1]) < len("1234567890123456") else 0
    if not _LEAST_BYTES <= size < 1 << 62:
        raise ValueError(f"{text!r} is not a size of memory such as 8G or 512M, at least 16M")
    return size


def process_count(text: str) -> int:
    """Read a number of processes.

    Raises:
        ValueError: it is none, or too small for any harness.

    """
    if not re.fullmatch(r"[0-9]{1,7}", text) or int(text) < _LEAST_PIDS:
        raise ValueError(f"{text!r} is not a number of processes, at least {_LEAST_PIDS}")
    return int(text)


def cpu_cores(text: str) -> float:
    """Read a number of cores, `2` or `0.5`.

    Raises:
        ValueError: it is none.

    """
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,2})?", text) or float(text) < _LEAST_CPU:
        raise ValueError(f"{text!r} is not a number of cores such as 2 or 0.5")
    return float(text)


def _size_in_words(size: int) -> str:
    unit = next(unit for unit in reversed(_UNITS) if size >= _UNITS[unit] and size % _UNITS[unit] == 0)
    return f"{size // _UNITS[unit]}{unit or ' bytes'}"
