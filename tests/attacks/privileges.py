"""Attacks that gain privileges, or use kernel interfaces that an agent has no use for; and attacks on the terminal."""

from tests.attacks.attack import Attack

SYSCALL = """python3 -c '
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall({call})
print("BREACH" if result >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS) else "")'"""


def syscall(name, call, *, naive=True):
    """An attack that makes a system call, which must be refused before it looks at its arguments."""
    return Attack(name, SYSCALL.format(call=call), naive=naive)


PRIVILEGES = [
    Attack("capabilities", "grep -q '^CapEff:.*[1-9a-f]' /proc/self/status && echo BREACH", naive=False),
    Attack(
        "capabilities_to_be_had",
        "grep -qE '^Cap(Bnd|Inh|Amb|Prm):.*[1-9a-f]' /proc/self/status && echo BREACH",
        naive=False,
    ),
    Attack("new_privileges", "grep -q '^NoNewPrivs:.*1' /proc/self/status || echo BREACH", naive=False),
    Attack("nested_user_namespace", "unshare -Ur true 2>/dev/null && echo BREACH"),
    Attack("nested_mount_namespace", "unshare -m true 2>/dev/null && echo BREACH", naive=False),
    Attack(
        "setuid_program",
        "find / -xdev -perm -4000 -user 0 -executable 2>/dev/null | head -1 | while read f; do "
        "grep -q '^Uid:.0' /proc/self/status || { cp $f /tmp/s; chmod 4755 /tmp/s; }; done; su -c 'echo BREACH' </dev/null 2>/dev/null; true",
        naive=False,
    ),
    Attack(
        "device_node",
        "mknod /tmp/disk b 8 0 2>/dev/null && head -c 1 /tmp/disk 2>/dev/null | grep -q . && echo BREACH",
        naive=False,
    ),
    Attack("mounting", "mount -t tmpfs none /mnt 2>/dev/null && echo BREACH", naive=False),
    Attack("chroot", "chroot / true 2>/dev/null && echo BREACH", naive=False),
    Attack("core_pattern", 'p=/proc/sys/kernel/core_pattern; v=$(cat $p); (echo "$v" > $p) 2>/dev/null && echo BREACH'),
    Attack("sysrq", "(echo h > /proc/sysrq-trigger) 2>/dev/null && echo BREACH", naive=False),
    syscall("bpf", "321, 0, 0, 0"),
    syscall("userfaultfd", "323, 0", naive=False),
    syscall("perf_event_open", "298, 0, 0, -1, -1, 0"),
    syscall("io_uring", "425, 1, 0"),
    syscall("adding_a_key", '248, b"user", b"hqt", b"x", 1, -3'),
    syscall("reading_keys", "250, 0, -3, 0"),
    syscall("requesting_a_key", '249, b"user", b"none", 0, 0'),
    syscall("mounting_the_new_way", '430, b"tmpfs", 0'),
    syscall("opening_a_mount_tree", '428, -100, b"/usr", 1'),
    syscall("moving_a_mount", '429, -1, b"", -1, b"", 0'),
    syscall("tracing_another_process", "101, 16, 1, 0, 0", naive=False),
    syscall("reading_another_processs_memory", "310, 1, 0, 0, 0, 0, 0"),
    syscall("kexec", "246, 0, 0, 0, 0", naive=False),
    syscall("kernel_module", "313, -1, 0, 0", naive=False),
    syscall("opening_by_handle", "304, -100, 0, 0"),
    Attack(
        "typing_into_the_terminal",
        'python3 -c \'import fcntl; fcntl.ioctl(0, 0x5412, b"x"); print("BREACH")\' 2>/dev/null',
        naive=False,
    ),
    Attack(
        "pasting_into_the_console",
        'python3 -c \'\nimport fcntl, errno\ntry:\n    fcntl.ioctl(0, 0x541C, b"\\3")\nexcept OSError as e:\n    print("" if e.errno == errno.EPERM else "BREACH")\'',
    ),
]
TERMINAL = [
    Attack(
        "renaming_the_window",
        "printf '\\033kplanted\\033\\\\' > $TTY",
        lambda world: "planted" in world.tmux("list-windows", "-a"),
        naive=False,
    ),
    Attack(
        "title_of_formats",
        "printf '\\033]2;#(touch /var/tmp/planted)[bold]x[/bold]\\007' > $TTY",
        lambda world: world.hqt("ls").returncode,
        naive=False,
    ),
    Attack(
        "passing_through_to_the_outer_terminal",
        "printf '\\033Ptmux;\\033\\033]52;c;cGxhbnRlZA==\\007\\033\\\\' > $TTY",
        lambda world: "planted" in world.tmux("show-buffer"),
        naive=False,
    ),
]
