"""Attacks that read what is not the project's."""

from tests.attacks.attack import Attack

LEAK = "grep -rqs planted-secret {} && echo BREACH"


def leak(name, place, *, naive=False):
    """An attack that looks for the planted secret below a place."""
    return Attack(name, LEAK.format(place), naive=naive)


READING = [
    leak("ssh_key", "~/.ssh"),
    leak("aws_credentials", "~/.aws"),
    leak("browser_profile", "~/.mozilla"),
    leak("stored_git_credentials", "~/.git-credentials ~/.config/git/credentials"),
    leak("netrc_and_npmrc", "~/.netrc ~/.npmrc"),
    leak("other_project", "~/other-project"),
    Attack(
        "other_users_files",
        'ls -A /var/tmp | grep -v "$(echo $PWD | cut -d/ -f4)" | grep -q . && echo BREACH',
        naive=False,
    ),
    leak("host_tmp", "/tmp/.hqt-attack-*"),
    leak("other_projects_conversations", "~/.claude/projects", naive=True),
    leak("other_projects_prompts", "~/.claude/history.jsonl", naive=True),
    leak("other_projects_file_history", "~/.claude/file-history", naive=True),
    leak("other_projects_in_claude_json", "~/.claude.json"),
    leak("copies_of_claude_json", "~/.claude/backups", naive=True),
    leak("editor_tokens", "~/.claude/ide", naive=True),
    leak("parent_folders_by_dotdot", "../other-project ../../home/.ssh"),
    leak("symlink_out_of_the_project", "link-to-ssh/id_rsa"),
    Attack("hqts_database", "test -e ~/.local/state/hqt/hqt.db && echo BREACH", naive=False),
    Attack(
        "hqts_folders_of_sessions", "ls ~/.local/state/hqt/sessions 2>/dev/null | grep -q . && echo BREACH", naive=False
    ),
    Attack(
        "homes_and_mounts",
        "ls -A /home /mnt /media /srv /boot /root/.bashrc 2>/dev/null | grep -qv : && echo BREACH",
        naive=False,
    ),
    Attack("shadow", "test -e /etc/shadow && echo BREACH", naive=False),
    Attack("host_accounts", "grep -qE '^(daemon|www-data|games):' /etc/passwd && echo BREACH"),
    Attack("host_groups", "grep -qE '^(daemon|www-data|sudo):' /etc/group && echo BREACH", naive=False),
    Attack("private_tls_keys", "ls /etc/ssl/private 2>/dev/null | grep -q . && echo BREACH", naive=False),
    Attack("environment_of_pid_1", "tr '\\0' '\\n' < /proc/1/environ | grep -q planted-secret && echo BREACH"),
    Attack("environment_of_every_process", "cat /proc/*/environ 2>/dev/null | grep -aq planted-secret && echo BREACH"),
    Attack("own_environment", "env | grep -q planted-secret && echo BREACH"),
    Attack(
        "host_processes",
        "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -q 'sleep 98765[4]' && echo BREACH",
        naive=False,
    ),
    Attack("sys", "ls /sys 2>/dev/null | grep -q . && echo BREACH", naive=False),
    Attack("kernel_log", "{ dmesg || cat /dev/kmsg; } 2>/dev/null | head -c 1 | grep -q . && echo BREACH", naive=False),
    Attack(
        "kernel_memory",
        "test -e /dev/mem -o -e /dev/kmem -o -r /proc/kcore && head -c 1 /proc/kcore && echo BREACH",
        naive=False,
    ),
    Attack("block_devices", "find /dev -type b | grep -q . && echo BREACH", naive=False),
    Attack(
        "leaked_descriptors",
        'python3 -c \'import os; print(*("BREACH" for f in os.listdir("/proc/self/fd") '
        'if int(f) > 2 and os.path.exists(f"/proc/self/fd/{f}") and "/proc" not in os.readlink(f"/proc/self/fd/{f}")))\'',
        naive=False,
    ),
]
