"""Attacks that reach a process or daemon of the host, or the network when it is off."""

from tests.attacks.attack import Attack

CONNECT = """python3 -c '
import socket, sys
s = socket.socket({family}); s.settimeout(3)
s.connect({address}); print("BREACH")' 2>/dev/null"""


def unix(name, address, *, naive=False):
    """An attack that connects to a unix socket."""
    return Attack(name, CONNECT.format(family="socket.AF_UNIX", address=address), naive=naive)


REACHING = [
    unix("abstract_socket", '"\\0" + sys.argv[1]', naive=True),
    unix("tmux_socket", '"TMUX_SOCKET"'),
    unix("session_bus", '"RUNTIME/bus"'),
    unix("wayland", '"RUNTIME/wayland-0"'),
    unix("docker_socket", '"RUNTIME/docker.sock"'),
    unix("x11", '"/tmp/.X11-unix/X0"'),
    unix("gpg_agent", '"HOME/.gnupg/S.gpg-agent"'),
    unix("ssh_agent", 'open("/proc/1/environ").read().split("SSH_AUTH_SOCK=")[1].split("\\0")[0]'),
    unix("editors_socket", '"HOME/.claude/ide/editor.sock"', naive=True),
    Attack("tmux_from_its_environment", "env | grep -q ^TMUX && echo BREACH"),
    Attack(
        "signal_to_a_host_process",
        "kill -0 HOST_PID 2>/dev/null && tr '\\0' ' ' < /proc/HOST_PID/cmdline | grep -q 98765 && echo BREACH",
        naive=False,
    ),
    Attack(
        "signal_to_everything",
        "(python3 -c 'import os; os.kill(HOST_PID, 9)') 2>/dev/null; true",
        lambda world: not world.host_is_alive(),
        naive=False,
    ),
    Attack(
        "tracing_a_host_process",
        'python3 -c \'import ctypes; print("BREACH" if ctypes.CDLL(None).ptrace(16, HOST_PID, 0, 0) == 0 else "")\'',
        naive=False,
    ),
    Attack("host_ipc", "ipcs -m | grep -q HOST_SEGMENT && echo BREACH", naive=False),
    Attack(
        "network_ipv4",
        CONNECT.format(family="socket.AF_INET", address='("127.0.0.1", HOST_PORT)'),
        needs_network_off=True,
    ),
    Attack(
        "network_ipv6", CONNECT.format(family="socket.AF_INET6", address='("::1", HOST_PORT6)'), needs_network_off=True
    ),
    Attack("network_interfaces", "grep -c : /proc/net/dev | grep -qv '^1$' && echo BREACH", needs_network_off=True),
    Attack(
        "name_resolution",
        "timeout 5 getent hosts localhost.localdomain.invalid; grep -qs . /proc/net/route && tail -n +2 /proc/net/route | grep -q . && echo BREACH",
        needs_network_off=True,
    ),
    Attack("making_an_interface", "ip link add hqt0 type dummy 2>/dev/null && echo BREACH", naive=False),
    Attack(
        "raw_sockets",
        "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print(\"BREACH\")' 2>/dev/null",
        naive=False,
    ),
]
