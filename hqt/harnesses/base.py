"""What hqt knows of a harness: the command to run, the paths it needs, the variables it may see.

A configurator looks at files and runs nothing. It declares flags and binds; it never builds a bwrap command.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import uuid
from abc import ABC
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from hqt.mcp import only

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from hqt.harnesses.usage import Usage
    from hqt.mcp import Servers

BindKind = Literal["bind", "private", "snapshot", "cleaned", "link", "mask", "copy"]
_SCRIPT_SUFFIXES = {".bash", ".cjs", ".js", ".lua", ".mjs", ".pl", ".ps1", ".py", ".rb", ".sh", ".ts", ".zsh"}

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The name of an environment variable."""

STATUS_FILE = "status"
"""The file in a session's run folder that its harness writes `working`, `waiting` or `idle` into."""
CONVERSATION_FILE = "conversation"
"""The file beside it that some harnesses write the id of their conversation into."""
RUN_FOLDER = "/run/hqt"
"""Where a jail has its session's run folder."""

# The bell of the window, by the terminal that the harness itself writes to: in a jail no other way leads there.
_RING = "[ -c /proc/$PPID/fd/1 ] && printf '\\a' 2>/dev/null >/proc/$PPID/fd/1"

FOLDER: Literal["folder"] = "folder"
"""The value of `Bind.create` that means an empty folder."""


@dataclass(frozen=True, slots=True)
class Bind:
    """A path to expose inside the sandbox.

    `target` is where it appears, `src` itself unless given. `create` is what is made at `src` first when nothing is
    there: a file's content, or `FOLDER`; without it, what is missing is left out. A `snapshot` is bound as a private
    writable copy that is never copied back. A `private` folder is the session's own in place of the user's: what the
    harness keeps there stays until the session is removed. A `cleaned` file is shown as a private copy without the
    passwords in it. A `link` is one that leads to `src`, made in the jail. A `mask` is an empty folder in place of what
    is there. A `copy` is a file with the content that `src` has at the start, which nobody can write, and no mount.
    What is `opened` lies where a jail could replace it: it is opened without following links, and bound by that.
    """

    src: Path
    writable: bool = False
    target: Path | None = None
    kind: BindKind = "bind"
    create: bytes | Literal["folder"] | None = None
    opened: bool = False
    reason: str = ""
    """For what it is there, where that is not plain from who declares it."""

    @property
    def where(self) -> Path:
        """The path inside the jail."""
        return self.target or self.src

    @property
    def mode(self) -> str:
        """The mode in a word, as `hqt show` prints it."""
        if self.kind == "mask":
            return "masked"
        if self.kind not in ("bind", "cleaned", "copy"):
            return self.kind
        return "rw" if self.writable else "ro"


def snapshot(path: Path, *, empty: bytes = b"") -> Bind:
    """Return a private copy of `path`, made afresh at each start: for files that could carry commands out.

    `empty` is what it is made from where the user has no such file.
    """
    return Bind(path, writable=True, kind="snapshot", create=empty)


def private(path: Path) -> Bind:
    """Return a folder of the session's own in place of `path`: for what cannot be taken apart by project."""
    return Bind(path, writable=True, kind="private", create=FOLDER)


def mask(path: Path) -> Bind:
    """Return an empty folder in place of `path`: for sockets and tokens."""
    return Bind(path, kind="mask", create=FOLDER)


def json_of(path: Path) -> Any:
    """Return what a file of JSON holds, an empty object where it cannot be read."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}


def with_hooks(original: bytes, ours: Mapping[str, object]) -> bytes:
    """Return a harness's settings with a hook of ours for each event added, as they are where they cannot be read."""
    try:
        settings = json.loads(original or b"{}")
        hooks = {**settings.get("hooks", {})}
        for event, hook in ours.items():
            hooks[event] = [*hooks.get(event, []), hook]
    except (ValueError, TypeError, AttributeError):
        return original  # with comments, or damaged: the harness itself knows what to say
    return json.dumps({**settings, "hooks": hooks}).encode()


def programs_in(folder: Path) -> list[Bind]:
    """Return a read-only bind of each program that lies directly in a harness's folder, such as a status line's script.

    The harness's configuration may name any of them, and then runs it outside the jail too.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    return [Bind(entry) for entry in entries if _is_program(entry)]


def _is_program(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:  # what a running instance made for a moment: a database's journal, say
        return False
    return stat.S_ISREG(mode) and (bool(mode & 0o111) or path.suffix in _SCRIPT_SUFFIXES)


@dataclass(frozen=True, slots=True)
class SpawnConfig:
    """What to run: the harness's own argv, before any wrapping, and its working folder."""

    command: list[str]
    cwd: Path


class HarnessConfigurator(ABC):
    """The knowledge of one harness, for one project of one user.

    `environment` holds the variables that the harness would see (the recorded ones and the caller's), which may move
    its folders. `run_folder` is where it says what it is doing. `private_folders`, where it is sandboxed, is where its
    private folders lie on the host, each by its path in the jail.
    """

    is_declared: ClassVar[bool] = False
    """Whether the user's configuration declares it: its binds are then checked as the user's own are."""
    name: str
    executable: str
    install_hint: str
    verified: str = ""
    """The version that hqt's facts were read from, nothing where the program could not be had."""
    folder_name: str = ""
    """Its own folder, below the home folder."""
    folder_variable: str = ""
    """The variable that moves that folder, if one does."""
    folder_is_private: bool = False
    """Whether a jail has a folder of the session's own in place of that one."""
    conversation_option: str = ""
    """The option by which a fresh start takes the id of its conversation; nothing where it chooses its own."""
    resume_words: tuple[str, ...] = ()
    """What stands before the id of the conversation that it is to go on with."""
    prompt_option: str = ""
    """The option that takes the first prompt, in one word with it; without it, the prompt is the last argument."""
    takes_prompt: bool = True
    """Whether an interactive start can be given the first prompt."""
    environment_names: tuple[str, ...] = ()
    """Variables that reach the harness when they are set: keys, base URLs, its own folders."""
    sandbox_environment: ClassVar[Mapping[str, str]] = {}
    """Variables set inside the jail only; constants, never secrets."""
    sandbox_skip_permission_flags: tuple[str, ...] = ()
    resume_grace_s: float = 2.0
    """How long it may take to end when it does not know the conversation that it should go on with."""
    says_status: Literal["always", "in a jail", "never"] = "never"
    """Where it says what it is doing, from its start on; elsewhere that is guessed from tmux."""
    said_conversation: str = ""
    """The form (a regular expression) of the conversation's id where it says that too, in a jail, beside its status."""
    input_prompt: str = ""
    """What stands before its input line; nothing where it is not known how an empty one looks."""
    takes_keys: bool = False
    """Whether it takes each key as it is pressed from its start on, so that what is typed before is lost on it."""

    def __init__(
        self,
        home: Path,
        project: Path,
        environment: Mapping[str, str],
        run_folder: str = RUN_FOLDER,
        private_folders: Path | None = None,
    ) -> None:
        self.home = home
        self.project = project
        self.environment = environment
        self.run_folder = run_folder
        self.private_folders = private_folders
        self.allowed_servers: Collection[str] | None = None
        """The MCP servers that go into its jail, None for all."""
        self.left_out_servers: Collection[str] = ()
        """Those of the project that do not."""

    @property
    def folder(self) -> Path:
        """Its own folder: `folder_name` in the home folder, or where `folder_variable` puts it."""
        moved = self.environment.get(self.folder_variable)
        return Path(moved) if moved else self.home / self.folder_name

    @property
    def records(self) -> Path:
        """The folder, on the host, of its records of conversations: in a jail, the session's own if it has one."""
        if self.folder_is_private and self.private_folders:
            return self.private_folders / self.folder.relative_to("/")
        return self.folder

    def sandbox_binds(self) -> list[Bind]:
        """Return the paths that the harness needs in its jail, in mount order."""
        return []

    def mcp_servers(self) -> Servers:
        """Return the MCP servers that it is configured with, the project's too, each by its name."""
        return {}

    def snapshot_content(self, path: Path, original: bytes) -> bytes:
        """Return what the private copy of `path` holds, made from the user's own file."""
        del path
        return original

    def build_spawn_config(
        self, args: Sequence[str], *, prompt: str = "", conversation: str = "", sandboxed: bool = False
    ) -> SpawnConfig:
        """Return the command of a fresh start; `conversation` is the id it should take, if it can be chosen."""
        tail = self._prompt_arguments(prompt) if prompt else []
        is_chosen = self.conversation_option and conversation
        chosen = [self.conversation_option, self._conversation_argument(conversation)] if is_chosen else []
        return self._config(*chosen, *args, *tail, sandboxed=sandboxed)

    def build_resume_config(self, args: Sequence[str], *, conversation: str, sandboxed: bool = False) -> SpawnConfig:
        """Return the command that goes on with a conversation."""
        named = self._conversation_argument(conversation)
        return self._config(*self.resume_words, named, *args, sandboxed=sandboxed)

    def new_conversation(self) -> str:
        """Return an id for a conversation that is yet to start, or nothing where the harness chooses its own."""
        return str(uuid.uuid4()) if self.conversation_option else ""

    def has_conversation(self, conversation: str) -> bool:
        """Tell whether the harness's own record of the conversation is on disk."""
        return self.conversation_file(conversation) is not None

    def conversation_file(self, conversation: str) -> Path | None:
        """Return the harness's own record of the conversation, a file of JSON lines below `records`, if it is there."""
        path = self._record(conversation) if conversation else None
        return path if path and os.path.isfile(path) else None

    def count(self, entry: Any, usage: Usage) -> None:
        """Add an entry of such a record to what was used.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: the entry is none that counts.

        """
        del entry, usage

    def find_conversation(self, since: datetime, *, claimed: Collection[str], open_files: Collection[Path]) -> str:
        """Return the id of the conversation that this session started, or nothing when it cannot be told exactly.

        `claimed` are ids that belong to other sessions; `open_files` are the files that the session's own processes
        hold open, empty when it does not run.
        """
        del since, claimed, open_files
        return ""

    def setup_hint(self) -> str:
        """Return what is missing before the harness can work in a jail and the command that does it, or nothing."""
        return ""

    def _own_folder(self, files: Mapping[str, bytes], folders: Iterable[str]) -> list[Bind]:
        """Return its folder writable, and these in it read-only, made first where they are missing."""
        return [
            Bind(self.folder, writable=True, create=FOLDER),
            *(Bind(self.folder / name, create=content) for name, content in files.items()),
            *(Bind(self.folder / name, create=FOLDER) for name in folders),
        ]

    def _record(self, conversation: str) -> Path | None:
        """Return where that record lies, or would."""
        del conversation
        return None

    def _conversation_argument(self, conversation: str) -> str:
        """Return the word that names a conversation on its command line."""
        return conversation

    def _prompt_arguments(self, prompt: str) -> list[str]:
        # In one word, or after `--`: a prompt that begins with a dash is a prompt, not an option.
        return [f"{self.prompt_option}={prompt}"] if self.prompt_option else ["--", prompt]

    def _allowed(self, settings: Any) -> Any:
        """Return settings, as JSON has them, with the MCP servers alone that go into the jail."""
        if self.allowed_servers is None or not isinstance(settings, dict) or "mcpServers" not in settings:
            return settings
        return {**settings, "mcpServers": only(settings["mcpServers"], self.allowed_servers)}

    def _allowed_in(self, original: bytes) -> bytes:
        """Return a file of settings so, as it is where it cannot be read: the harness itself says what is wrong."""
        try:
            return json.dumps(self._allowed(json.loads(original or b"{}"))).encode()
        except ValueError:
            return original

    def _saying(self, status: str) -> str:
        """Return the shell command of a hook that says what the session is doing, whole or not at all."""
        path = shlex.quote(f"{self.run_folder}/{STATUS_FILE}")
        said = f"echo {status} >{path}.$$ && mv -f {path}.$$ {path}"
        return f"{said}; {_RING}; exit 0" if status == "waiting" else f"{said}; exit 0"

    def _saying_hooks(self, statuses: Mapping[str, str]) -> dict[str, object]:
        """Return hooks that say these, in the form that the settings of several harnesses share."""
        return {
            event: {"hooks": [{"type": "command", "name": "hqt", "command": self._saying(status)}]}
            for event, status in statuses.items()
        }

    def _config(self, *arguments: str, sandboxed: bool) -> SpawnConfig:
        flags = self.sandbox_skip_permission_flags if sandboxed else ()
        return SpawnConfig([self.executable, *flags, *arguments], self.project)
