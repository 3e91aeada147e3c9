"""A process that has imported hqt already, and forks for each command: what is tested is hqt, not Python's imports.

The commands run as they would by themselves: their own process, account, environment, folder and descriptors. How hqt
starts, and what it imports, is tested with real starts.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import signal
import socket
import struct
import sys
import traceback

_LENGTH = struct.Struct("=Q")


def ask(path, request, descriptors):
    """Have a command run with these descriptors as its standard ones, and return its exit status."""
    data = json.dumps(request).encode()
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(path)
        socket.send_fds(asking, [_LENGTH.pack(len(data))], descriptors)
        asking.sendall(data)
        answer = asking.recv(_LENGTH.size)
    if not answer:
        raise RuntimeError("the fork server gave no answer")
    return _LENGTH.unpack(answer)[0]


def serve(path):
    """Answer requests until the process that started this one is gone."""
    _import_everything()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(64)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        print("ready", flush=True)
        while True:
            asked = listening.accept()[0]
            if os.fork() == 0:
                listening.close()
                _answer(asked)
            asked.close()


def _import_everything():
    import pkgutil

    import rich.console
    import rich.table  # noqa: F401  # what commands import late

    import hqt

    for module in pkgutil.walk_packages(hqt.__path__, "hqt."):
        if module.name != "hqt.__main__":
            importlib.import_module(module.name)


def _answer(asked):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, descriptors, _, _ = socket.recv_fds(asked, _LENGTH.size, 3)
    data = b""
    while len(data) < _LENGTH.unpack(length)[0]:
        data += asked.recv(1 << 16)
    child = os.fork()
    if child == 0:
        asked.close()
        _become(json.loads(data), descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    asked.sendall(_LENGTH.pack(status & 0xFFFFFFFF))
    os._exit(0)


def _become(request, descriptors):
    status = 1
    try:
        for place, descriptor in enumerate(descriptors):
            os.dup2(descriptor, place)
            os.close(descriptor)
        if request["uid"] != os.getuid():
            os.setgroups([])
            os.setgid(request["uid"])
            os.setuid(request["uid"])
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["environment"])
        if (wanted := os.environ.pop("END_AT_STEP", "")).isdigit():
            importlib.import_module("faults").end_at(int(wanted))  # beside this file, whichever hqt is tested
        sys.argv = ["hqt", *request["arguments"]]
        sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8", write_through=True)
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8", errors="backslashreplace",
                                      write_through=True)  # fmt: skip
        from hqt.cli import main

        main()
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001  # as an interpreter would print it
        traceback.print_exc()
    finally:
        os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1])
