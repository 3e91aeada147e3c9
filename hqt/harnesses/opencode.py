"""opencode. Facts read from 1.18.33: `opencode --help`, and starts in the jail (docs/harnesses.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from hqt.harnesses.base import RUN_FOLDER, Bind, HarnessConfigurator, private, snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONFIGURATION = (
    *("opencode.json", "opencode.jsonc", "config.json", "tui.json", "AGENTS.md"),
    *("agent", "agents", "command", "commands", "mode", "modes", "plugin", "plugins", "skill", "skills"),
    *("theme", "themes", "tool", "tools"),
)
_PLUGIN = Path("/run/hqt-opencode.js")
# A session with a parent is a subagent's: what that one does is not what the session on the screen does.
_SOURCE = """\
import { closeSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs"

const say = (file, word) => {
  writeFileSync(`FOLDER/${file}.new`, `${word}\\n`)
  renameSync(`FOLDER/${file}.new`, `FOLDER/${file}`)
}
const ring = () => {
  const terminal = openSync("/proc/self/fd/1", "w")
  writeSync(terminal, "\\x07")
  closeSync(terminal)
}
const children = new Set()
const prompts = new Set()  // each is updated once more when its turn has ended
let isThere = false

export const hqt = async () => {
  return {
    event: async ({ event: { type, properties: facts } }) => {
      const session = facts.sessionID ?? facts.info?.sessionID
      if (type.startsWith("session.") && facts.info?.parentID) children.add(facts.info.id)
      if (children.has(session)) return
      // The last thing of its start: now it reads what is typed.
      if (type === "catalog.updated" && !isThere) say("status", "idle")
      isThere ||= type === "catalog.updated" || type === "message.updated"
      if (type === "message.updated" && facts.info.role === "user" && !prompts.has(facts.info.id)) {
        prompts.add(facts.info.id)
        say("conversation", session)
        say("status", "working")
      }
      if (type === "session.status") say("status", facts.status.type === "idle" ? "idle" : "working")
      // With --auto it answers its own questions for permissions.
      if (type === "question.asked") {
        say("status", "waiting")
        ring()
      }
      if (type === "question.replied" || type === "question.rejected") say("status", "working")
    },
  }
}
"""


class OpenCode(HarnessConfigurator):
    """opencode, from its npm package or its installer: one executable."""

    name = "opencode"
    executable = "opencode"
    install_hint = "npm install -g opencode-ai"
    verified = "1.18.33"
    folder_name = ".local/share/opencode"
    resume_words = ("--session",)
    prompt_option = "--prompt"
    environment_names = (
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "GROQ_API_KEY",
        "OPENAI_API_KEY",
        "OPENCODE_API_KEY",
        "OPENROUTER_API_KEY",
    )
    sandbox_environment: ClassVar[Mapping[str, str]] = {
        "OPENCODE_CONFIG_CONTENT": f'{{"plugin":["file://{_PLUGIN}"]}}',
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
    }
    resume_grace_s = 8.0
    says_status = "in a jail"
    takes_keys = True
    said_conversation = r"ses_[0-9A-Za-z]{8,64}"
    sandbox_skip_permission_flags = ("--auto",)

    def sandbox_binds(self) -> list[Bind]:
        """Return its configuration read-only, and in place of its one database of all projects one of the session's."""
        configuration = self.home / ".config/opencode"
        return [
            *(Bind(configuration / name) for name in _CONFIGURATION),
            # It installs its plugins' packages beside it.
            Bind(configuration / "package.json", writable=True, kind="snapshot"),
            private(self.folder),
            snapshot(self.folder / "auth.json"),
            private(self.home / ".local/state/opencode"),
            snapshot(_PLUGIN),
        ]

    def snapshot_content(self, path: Path, original: bytes) -> bytes:
        """Make the plugin by which it says what it is doing; the login is as it is, and none is an object too."""
        return _SOURCE.replace("FOLDER", RUN_FOLDER).encode() if path == _PLUGIN else original or b"{}"

    def has_conversation(self, conversation: str) -> bool:
        """Take it that there is one, for it is in the session's own database: if not, opencode ends and is told."""
        return bool(conversation)
