"""Which files of a project run outside the jail, by what, and when: rules over paths. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

# The first pattern that fits counts. "**/" is any folder, none too; a name alone is meant in the project's own folder.
_RULES: tuple[tuple[str, str], ...] = (
    ("**/.git/config", "git: at every command (core.fsmonitor, core.pager, aliases)"),
    ("**/.git/config.worktree", "git: at every command"),
    ("**/.git/commondir", "git: at every command, by the configuration that it names"),
    ("**/.git/hooks/*.sample", ""),
    ("**/.git/hooks", "git: at commit, checkout, push, …"),
    ("**/.git/hooks/**", "git: at commit, checkout, push, …"),
    ("**/.git/modules/**/config", "git: at every command in the submodule, and at git status above it"),
    ("**/.git/modules/**/hooks/*.sample", ""),
    ("**/.git/modules/**/hooks/**", "git: in the submodule"),
    ("**/.git/worktrees/*/config.worktree", "git: at every command in the worktree"),
    ("**/.git/rebase-merge/git-rebase-todo", "git: at rebase --continue (exec lines)"),
    ("**/.git/**", ""),
    ("**/.git", "git: at every command here, by the configuration of the repository that it names"),
    ("**/.gitmodules", "git: at submodule update"),
    ("**/.envrc", "direnv: on entering the folder"),
    ("**/.direnv/**", "direnv: on entering the folder"),
    ("**/mise.toml", "mise: on entering the folder"),
    ("**/.mise.toml", "mise: on entering the folder"),
    ("**/.vscode/**", "VS Code: on opening the folder (tasks, settings, extensions)"),
    ("**/*.code-workspace", "VS Code: on opening the workspace"),
    ("**/.idea/**", "JetBrains editors: on opening the folder"),
    ("**/.zed/**", "Zed: on opening the folder"),
    ("**/.devcontainer/**", "editors: on building the container"),
    (".vimrc", "vim: where exrc is set"),
    (".exrc", "vim: where exrc is set"),
    (".nvim.lua", "Neovim: where exrc is set"),
    (".nvimrc", "Neovim: where exrc is set"),
    ("**/.claude/settings*.json", "Claude Code: at every start here (hooks)"),
    ("**/.claude/**", "Claude Code: hooks, agents, commands, skills of this project"),
    ("**/.mcp.json", "Claude Code and others: starts these MCP servers"),
    ("**/.codex/**", "Codex: at every start here"),
    ("**/.cursor/**", "Cursor: rules, hooks and MCP servers"),
    ("**/.gemini/**", "Gemini CLI: at every start here"),
    ("**/.qwen/**", "Qwen Code: at every start here"),
    ("**/.aider.conf.yml", "Aider: at every start here (commands to lint and test)"),
    (".env", "Aider: at every start here (its options, from the environment)"),
    ("**/.amp/**", "Amp: plugins, skills and MCP servers"),
    ("**/crush.json", "Crush: at every start here (hooks, MCP and language servers)"),
    ("**/.crush.json", "Crush: at every start here (hooks, MCP and language servers)"),
    ("**/.crush/**", "Crush: at every start here"),
    ("**/.kiro/**", "Kiro: hooks and settings"),
    ("**/.opencode/**", "opencode: at every start here"),
    ("**/opencode.json", "opencode: at every start here"),
    ("**/.husky/**", "git hooks, by husky"),
    ("**/.githooks/**", "git hooks, where core.hooksPath names them"),
    ("**/.pre-commit-config.yaml", "pre-commit: at commit"),
    ("**/lefthook.y*ml", "lefthook: at commit"),
    (".github/workflows/**", "GitHub: at push"),
    (".gitlab-ci.yml", "GitLab: at push"),
    ("**/node_modules/**", ""),  # what is installed: its sources are named by the lock file
    ("**/package.json", "npm and others: at install, run, test (scripts)"),
    ("**/package-lock.json", "npm: at install, from the sources that it names"),
    ("**/yarn.lock", "yarn: at install, from the sources that it names"),
    ("**/pnpm-lock.yaml", "pnpm: at install, from the sources that it names"),
    ("**/.npmrc", "npm: at every command (registry, script shell)"),
    ("**/.yarnrc*", "yarn: at every command (yarnPath)"),
    ("**/.pnpmfile.cjs", "pnpm: at install"),
    ("**/setup.py", "pip: at install"),
    ("**/pyproject.toml", "pip, uv and others: at install (build backend)"),
    ("**/uv.lock", "uv: at sync, from the sources that it names"),
    ("**/poetry.lock", "poetry: at install, from the sources that it names"),
    ("**/conftest.py", "pytest: at every run"),
    ("**/build.rs", "cargo: at build"),
    ("**/Cargo.lock", "cargo: at build, from the sources that it names"),
    ("**/.cargo/config*", "cargo: at build (runner, linker)"),
    ("**/Makefile", "make"),
    ("**/justfile", "just"),
    ("**/Rakefile", "rake"),
    ("**/Gemfile*", "bundler: at install"),
)


def runs(path: str) -> str:
    """Return what runs a file of the project and when, or nothing; `path` is relative to the project."""
    folder, _, name = path.rpartition("/")
    exact, globs = _rules_of(folder)
    found = [exact[name]] if name in exact else []
    found += [(place, what) for place, glob, what in globs if glob.fullmatch(name)]
    return min(found)[1] if found else ""


@lru_cache(maxsize=1024)
def _rules_of(folder: str) -> tuple[dict[str, tuple[int, str]], list[tuple[int, re.Pattern[str], str]]]:
    """Return the rules that count in a folder: by name, and by pattern; a project has far more files than folders."""
    exact: dict[str, tuple[int, str]] = {}
    globs = []
    for place, (where, name, what) in enumerate(_COMPILED):
        if where.fullmatch(f"/{folder}" if folder else ""):
            if "*" in name:
                globs.append((place, re.compile(_component(name), re.DOTALL), what))
            else:
                exact.setdefault(name, (place, what))
    return exact, globs


def _compiled(pattern: str) -> tuple[re.Pattern[str], str]:
    """Return a pattern's folders as a regular expression, each with a slash before it, and its last part."""
    *folders, name = pattern.split("/")
    below, name = ([*folders, "**"], "*") if name == "**" else (folders, name)
    text = "".join("(?:/.*)?" if folder == "**" else f"/{_component(folder)}" for folder in below)
    return re.compile(text, re.DOTALL), name


def _component(glob: str) -> str:
    return "[^/]*".join(map(re.escape, glob.split("*")))


_COMPILED = [(*_compiled(pattern), what) for pattern, what in _RULES]
