"""Attacks that leave something behind which runs outside the jail without a question."""

from tests.attacks.attack import Attack
from tests.attacks.writing import PROJECT, changed, planted

HOOK = "printf '#!/bin/sh\\ntouch /var/tmp/planted\\n'"
CLAUDE = "home/.claude"

PERSISTENCE = [
    Attack(
        "git_hook",
        f"{HOOK} > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        planted(f"{PROJECT}/.git/hooks/pre-commit"),
    ),
    Attack(
        "git_hooks_deleted_and_made_anew",
        "rm -rf .git/hooks; mkdir -p .git/hooks; echo planted > .git/hooks/post-checkout",
        planted(f"{PROJECT}/.git/hooks/post-checkout"),
    ),
    Attack("git_fsmonitor", "git config core.fsmonitor planted", changed(f"{PROJECT}/.git/config")),
    Attack("git_hookspath", "git config core.hooksPath planted", changed(f"{PROJECT}/.git/config")),
    Attack("git_include", "git config include.path /planted", changed(f"{PROJECT}/.git/config")),
    Attack(
        "git_commondir",
        "mkdir -p evil; cp -r .git/. evil/ 2>/dev/null; echo ../evil/planted > .git/commondir",
        lambda world: (
            (world.project / ".git/commondir").exists() and "planted" in (world.project / ".git/commondir").read_text()
        ),
    ),
    Attack(
        "git_renamed_away_and_made_anew",
        "mv .git .git2; cp -r .git2 .git; git config core.fsmonitor planted",
        lambda world: (world.project / ".git2").exists() or changed(f"{PROJECT}/.git/config")(world),
    ),
    Attack(
        "git_folder_replaced_by_a_file",
        "rm -rf .git 2>/dev/null; echo 'gitdir: planted' > .git",
        lambda world: not (world.project / ".git").is_dir(),
    ),
    Attack(
        "git_configuration_of_the_user",
        "git config --global core.fsmonitor planted",
        changed("home/.gitconfig"),
        naive=False,
    ),
    Attack(
        "git_configuration_of_a_submodule",
        "git -C sub config core.fsmonitor planted; echo '# planted' >> .git/modules/sub/config",
        changed(f"{PROJECT}/.git/modules/sub/config"),
    ),
    Attack(
        "git_hook_of_a_submodule",
        f"mkdir -p .git/modules/sub/hooks; {HOOK} > .git/modules/sub/hooks/pre-commit",
        planted(f"{PROJECT}/.git/modules/sub/hooks/pre-commit"),
    ),
    Attack(
        "git_configuration_of_a_repository_inside",
        "git -C nested/deep config core.fsmonitor planted; echo '# planted' >> nested/deep/.git/config",
        changed(f"{PROJECT}/nested/deep/.git/config"),
    ),
    Attack(
        "a_repository_inside_renamed_away_and_made_anew",
        "mv nested n; mkdir -p nested; cp -r n/deep nested/deep; echo '# planted' >> nested/deep/.git/config",
        changed(f"{PROJECT}/nested/deep/.git/config"),
    ),
    Attack(
        "git_hook_of_a_repository_inside",
        f"{HOOK} > nested/deep/.git/hooks/pre-commit",
        planted(f"{PROJECT}/nested/deep/.git/hooks/pre-commit"),
    ),
    Attack("envrc", "echo planted >> .envrc", changed(f"{PROJECT}/.envrc")),
    Attack(
        "editor_tasks", "echo planted > .vscode/tasks.json; rm -rf .vscode", changed(f"{PROJECT}/.vscode/tasks.json")
    ),
    Attack(
        "editor_folder_renamed_away",
        "mv .vscode .v && cp -r .v .vscode && echo planted > .vscode/tasks.json",
        changed(f"{PROJECT}/.vscode/tasks.json"),
    ),
    Attack(
        "the_projects_claude_settings",
        "echo planted > .claude/settings.json; mv .claude .c; mkdir .claude; echo planted > .claude/settings.json",
        changed(f"{PROJECT}/.claude/settings.json"),
    ),
    Attack("the_projects_mcp_servers", "echo planted > .mcp.json; rm -f .mcp.json", changed(f"{PROJECT}/.mcp.json")),
    Attack(
        "claude_settings",
        "echo planted > ~/.claude/settings.json; mv ~/.claude/settings.json ~/.claude/s",
        changed(f"{CLAUDE}/settings.json"),
    ),
    Attack(
        "claude_local_settings_made_anew",
        "echo planted > ~/.claude/settings.local.json",
        lambda world: "planted" in _text(world.base / CLAUDE / "settings.local.json"),
    ),
    Attack(
        "claude_mcp_servers",
        "echo planted > ~/.claude.json; mv ~/.claude.json ~/.c",
        changed("home/.claude.json"),
        naive=False,
    ),
    Attack(
        "claude_memory",
        "echo planted > ~/.claude/CLAUDE.md",
        lambda world: "planted" in _text(world.base / CLAUDE / "CLAUDE.md"),
    ),
    *(
        Attack(
            f"claude_{folder.replace('-', '_')}",
            f"mkdir -p ~/.claude/{folder}; echo planted > ~/.claude/{folder}/planted",
            planted(f"{CLAUDE}/{folder}/planted"),
        )
        for folder in ("agents", "commands", "hooks", "output-styles", "plugins", "skills")
    ),
    Attack("claude_status_line_script", "echo planted >> ~/.claude/statusline.sh", changed(f"{CLAUDE}/statusline.sh")),
    Attack(
        "another_instances_shell_snapshot",
        "for f in ~/.claude/shell-snapshots/*; do echo planted >> $f; done",
        changed(f"{CLAUDE}/shell-snapshots/running.sh"),
    ),
    Attack(
        "shell_start_files",
        "for f in .bashrc .profile .zshrc; do echo planted >> ~/$f; done",
        lambda world: changed("home/.bashrc")(world) or planted("home/.profile", "home/.zshrc")(world),
        naive=False,
    ),
    Attack(
        "a_program_on_path",
        "mkdir -p ~/.local/bin; echo planted > ~/.local/bin/ls; echo planted > ~/bin/claude",
        lambda world: planted("home/.local/bin/ls")(world) or changed("home/bin/claude")(world),
        naive=False,
    ),
    Attack(
        "user_systemd_unit",
        "mkdir -p ~/.config/systemd/user; echo planted > ~/.config/systemd/user/x.service",
        planted("home/.config/systemd/user/x.service"),
        naive=False,
    ),
    Attack(
        "autostart",
        "mkdir -p ~/.config/autostart; echo planted > ~/.config/autostart/x.desktop",
        planted("home/.config/autostart/x.desktop"),
        naive=False,
    ),
    Attack(
        "cron",
        "{ echo '* * * * * planted' | crontab - || echo planted > /var/spool/cron/crontabs/x; } 2>/dev/null && echo BREACH",
        naive=False,
    ),
    Attack(
        "a_conversation_of_another_project",
        "echo planted > ~/.claude/projects/-other/planted.jsonl",
        planted(f"{CLAUDE}/projects/-other/planted.jsonl"),
    ),
]


def _text(path):
    return path.read_text() if path.exists() else ""
