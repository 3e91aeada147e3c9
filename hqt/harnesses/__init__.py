"""The harnesses that hqt knows, one file each; they declare, and run nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hqt.harnesses.aider import Aider
from hqt.harnesses.amp import Amp
from hqt.harnesses.claude import Claude
from hqt.harnesses.codex import Codex
from hqt.harnesses.copilot import Copilot
from hqt.harnesses.crush import Crush
from hqt.harnesses.cursor import Cursor
from hqt.harnesses.gemini import Gemini
from hqt.harnesses.generic import Generic
from hqt.harnesses.kiro import Kiro
from hqt.harnesses.opencode import OpenCode
from hqt.harnesses.pi import Pi
from hqt.harnesses.qwen import Qwen

if TYPE_CHECKING:
    from hqt.harnesses.base import HarnessConfigurator

HARNESSES: dict[str, type[HarnessConfigurator]] = {
    h.name: h for h in (Claude, Codex, Copilot, Kiro, Gemini, Qwen, OpenCode, Pi, Aider, Amp, Crush, Cursor, Generic)
}
