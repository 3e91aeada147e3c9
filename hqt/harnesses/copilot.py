"""GitHub Copilot CLI. Facts read from 1.0.102: `copilot --help`, and starts in the jail (docs/harnesses.md)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from hqt.harnesses.base import Bind, HarnessConfigurator, private, snapshot, with_hooks
from hqt.harnesses.usage import Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hqt.harnesses.usage import Usage

_READ = ("agents", "copilot-instructions.md", "hooks", "lsp-config.json", "mcp-config.json", "skills")
_HOOKS = {"sessionStart": "idle", "userPromptSubmitted": "working", "postToolUse": "working", "agentStop": "idle"}
_LOGINS = ("COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL")


class Copilot(HarnessConfigurator):
    """GitHub Copilot CLI, from its npm package: one executable.

    Its folder holds every project's conversations in one database beside the records, and it ends without a word where
    its `config.json` is a mount: so the session has a folder of its own.
    """

    name = "copilot"
    executable = "copilot"
    install_hint = "npm install -g @github/copilot"
    verified = "1.0.102"
    folder_name = ".copilot"
    folder_variable = "COPILOT_HOME"
    folder_is_private = True
    conversation_option = "--session-id"
    resume_words = ("--session-id",)
    prompt_option = "--interactive"
    environment_names = (
        *_LOGINS,
        "COPILOT_MODEL",
        "COPILOT_OFFLINE",
        "COPILOT_PROVIDER_API_KEY",
        "COPILOT_PROVIDER_BEARER_TOKEN",
        "COPILOT_PROVIDER_MODEL_ID",
        "COPILOT_PROVIDER_TYPE",
        "COPILOT_PROVIDER_WIRE_API",
    )
    sandbox_environment: ClassVar[Mapping[str, str]] = {"COPILOT_AUTO_UPDATE": "false"}
    says_status = "in a jail"  # from the first prompt on
    input_prompt = "❯"  # noqa: RUF001  # its own
    sandbox_skip_permission_flags = ("--yolo",)

    def sandbox_binds(self) -> list[Bind]:
        """Return a folder of its own, with what the user wrote for Copilot, its login and its settings in it."""
        return [
            private(self.folder),
            *(Bind(self.folder / name) for name in _READ),
            snapshot(self.folder / "config.json"),
            snapshot(self.folder / "settings.json"),
        ]

    def snapshot_content(self, path: Path, original: bytes) -> bytes:
        """Trust the project, so that nothing is asked; in the settings, add the hooks that say what it is doing."""
        text = b"".join(line for line in original.splitlines(keepends=True) if not line.lstrip().startswith(b"//"))
        if path.name == "settings.json":
            commands = self._commands().items()
            hooks = {event: {"type": "command", "bash": command, "timeoutSec": 5} for event, command in commands}
            return with_hooks(text, hooks)
        try:
            return json.dumps({**json.loads(text or b"{}"), "trustedFolders": [str(self.project)]}).encode()
        except (ValueError, TypeError):
            return original

    def count(self, entry: Any, usage: Usage) -> None:
        """Count what a person typed, and what each answer used."""
        if entry["type"] == "user.message":
            usage.turns += 1
        elif entry["type"] == "session.usage_record":
            used = entry["data"]["usage"]
            cached = used["cacheReadTokens"]
            usage.add(entry["id"], used["model"], Tokens(used["inputTokens"] - cached, cached, used["outputTokens"]))

    def setup_hint(self) -> str:
        """Its login is in the keyring, which a jail does not reach, or in `config.json`, or in the environment."""
        if any(self.environment.get(name) for name in _LOGINS):
            return ""
        try:
            has_login = b"Token" in (self.folder / "config.json").read_bytes()
        except OSError:
            has_login = False
        return "" if has_login else "a jail cannot reach Copilot's login in the keyring: export COPILOT_GITHUB_TOKEN"

    def _record(self, conversation: str) -> Path:
        """Return the conversation's record, which is written from its start on."""
        return self.records / "session-state" / conversation / "events.jsonl"

    def _commands(self) -> dict[str, str]:
        said = {event: self._saying(status) for event, status in _HOOKS.items()}
        # A hook is given its event as JSON, and may be for any tool.
        asks = f"""case $(cat) in *'"toolName":"ask_user"'*) {self._saying("waiting")} ;; esac; exit 0"""
        return {**said, "preToolUse": asks}
