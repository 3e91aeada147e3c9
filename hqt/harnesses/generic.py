"""Any command; without one, a shell that shows what can be seen from where it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hqt.harnesses.base import HarnessConfigurator, SpawnConfig

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOOK_AROUND = r"""
say() { printf '\n\033[1m%s\033[0m\n' "$1"; }
say 'What this session can see'
say "The home folder, $HOME:"
ls -A "$HOME" 2>&1 | head -n 12
for place in .ssh .aws .gnupg .config; do
    if [ -e "$HOME/$place" ]; then echo "  ~/$place: there"; else echo "  ~/$place: not there"; fi
done
say "The project, $PWD:"
ls -A 2>&1 | head -n 12
if (: > .hqt-can-write) 2>/dev/null; then rm -f .hqt-can-write; echo '  can be written'; else echo '  is read-only'; fi
say 'Network interfaces:'
sed -n 's/^ *\([^ ]*\):.*/  \1/p' /proc/net/dev | tr '\n' ' '
if [ "$(grep -c ':' /proc/net/dev)" -gt 1 ]; then echo ': the network is on'; else echo ': the network is off'; fi
say 'Environment variables:'
env | cut -d= -f1 | sort | tr '\n' ' '
say 'Processes:'
ls /proc | grep -c '^[0-9]' | sed 's/$/ can be seen/'
say 'A shell follows; leave it with exit.'
exec sh -i
"""


class Generic(HarnessConfigurator):
    """Runs the arguments as they are: the first one is the program."""

    name = "generic"
    executable = "sh"
    install_hint = "install it, or name it by its path"

    def build_spawn_config(
        self, args: Sequence[str], *, prompt: str = "", conversation: str = "", sandboxed: bool = False
    ) -> SpawnConfig:
        """Return the command itself, with the prompt, if any, as its last argument."""
        del conversation, sandboxed
        command = list(args) or ["sh", "-c", _LOOK_AROUND, "hqt"]
        return SpawnConfig([*command, *([prompt] if prompt else [])], self.project)
