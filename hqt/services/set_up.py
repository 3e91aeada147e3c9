"""What of a user's set-up a new session's jail needs, and what of it cannot work there: found once, then recorded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hqt import elsewhere, hiding, toolchains
from hqt.errors import UsageError
from hqt.executables import which
from hqt.found import Found
from hqt.mcp import why_left_out
from hqt.sandbox import SYSTEM_FOLDERS
from hqt.services import gitconfig
from hqt.services import hiding as of_git
from hqt.services.environment import known_names
from hqt.services.start import git_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hqt.harnesses.base import HarnessConfigurator
    from hqt.refusals import Surroundings
    from hqt.repository import GitFolders
    from hqt.services.creation import NewSession

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class SetUp:
    """The set-up of a user, for one harness in one project; `bound` are the paths that were asked for by name."""

    harness: HarnessConfigurator
    project: Path
    environment: Mapping[str, str]
    around: Surroundings
    bound: list[Path]

    def found(self, request: NewSession, linked: GitFolders | None) -> Found:
        """Return what was found.

        Raises:
            UsageError: an MCP server is asked for that there is not.

        """
        found = elsewhere.find(self.harness, self.around)
        if request.toolchains:
            guarded = list(self.around.guarded)
            found += toolchains.find(self.project, self.harness.home, self._path_value, guarded)
        found += self._git(linked, [needed.target for needed in found.needed])
        found += self._servers(request, found)
        return found + self._secrets(request.policy.hide if request.policy else (), linked)

    @property
    def _path_value(self) -> str:
        return self.environment["PATH"]

    def _git(self, linked: GitFolders | None, visible: list[Path]) -> Found:
        settings = gitconfig.read(self.project, git_folder(self.project, linked), self.environment)
        return gitconfig.find(
            settings,
            self.project,
            self.harness.home,
            self.around,
            self._path_value,
            visible=visible,
            bound=self.bound,
        )

    def _secrets(self, hide: Sequence[str], linked: GitFolders | None) -> Found:
        """Say what looks like a secret and is not hidden, and what is hidden and can be read in git's objects."""
        hidden = hiding.find(self.project, hide)
        said = []
        if open_ones := hiding.looking_like_secrets(self.project, hidden):
            shown = ", ".join(open_ones[:_SHOWN]) + (f" and {len(open_ones) - _SHOWN} more" * (len(open_ones) > _SHOWN))
            said.append(f"look like secrets and are not hidden: {shown}; --hide PATTERN shows them empty")
        folder = git_folder(self.project, linked)
        paths = [entry.path for entry in hidden]
        if tracked := sorted(map(str, of_git.tracked(self.project, paths, folder, self.environment))):
            shown = ", ".join(tracked[:_SHOWN]) + (f" and {len(tracked) - _SHOWN} more" * (len(tracked) > _SHOWN))
            said.append(f"hidden, but git tracks them, and its objects can be read: {shown}")
        return Found(said=tuple(said))

    def _servers(self, request: NewSession, found: Found) -> Found:
        """Return which of the agent's MCP servers go into the jail."""
        servers = self.harness.mcp_servers()
        if unknown := [name for name in request.servers if name not in servers]:
            raise UsageError(
                f"there is no MCP server named {unknown[0]!r} in what {self.harness.name} is configured with",
                f"known: {', '.join(servers) or 'none'}",
            )
        visible = [*map(Path, SYSTEM_FOLDERS), self.project, *self.bound]
        visible += [needed.target for needed in found.needed]

        def has(name: str) -> bool:
            program = which(name, self._path_value, self.project)
            return program is not None and any(program.is_relative_to(folder) for folder in visible)

        given = {*request.variable_names, *self.harness.environment_names, *known_names()}
        reasons = {name: why_left_out(server, has, given) for name, server in servers.items()}
        out = {name: reason for name, reason in reasons.items() if reason and name not in request.servers}
        told = ", ".join(f"{name} ({reason})" for name, reason in out.items())
        said = (f"MCP servers left out of the jail: {told}; --mcp NAME lets one in",) if out else ()
        return Found(servers=tuple(name for name in servers if name not in out), left_out=tuple(out), said=said)
