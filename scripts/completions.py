"""Write `completions/` from the command line itself: `make completions`. `--check` only tells what is out of step."""

from __future__ import annotations

import sys
from pathlib import Path
from string import Template

from command_line import NO_FILES, Command, Parameter, command_line

FOLDER = Path(__file__).parent.parent / "completions"
FILES = {"bash": "hqt.bash", "zsh": "_hqt", "fish": "hqt.fish"}


def main() -> int:
    """Write the files, or compare them."""
    made = everything()
    if sys.argv[1:] != ["--check"]:
        FOLDER.mkdir(exist_ok=True)
        for name, text in made.items():
            (FOLDER / name).write_text(text)
        return 0
    stale = [name for name, text in made.items() if (FOLDER / name).read_text() != text]
    for name in stale:
        sys.stderr.write(f"completions/{name} is out of step with the command line: run make completions\n")
    return 1 if stale else 0


def everything() -> dict[str, str]:
    """Return every file's text."""
    root, commands = command_line()
    return {"hqt.bash": bash(root, commands), "_hqt": zsh(root, commands), "hqt.fish": fish(root, commands)}


def _text(value: str) -> str:
    """Return a text as one word of any of the three shells."""
    return "'" + value.replace("'", "'\\''") + "'"


def bash(root: Command, commands: list[Command]) -> str:
    """Return bash's file: tables, and one function that reads them."""
    lines = []
    for command in [root, *commands]:
        lines.append(f"    {_text(command.name)})")
        options = " ".join(name for option in command.options for name in option.names)
        lines.append(f"        options={_text(options)}")
        if arguments := [argument.kind for argument in command.arguments]:
            repeats = command.arguments[-1].repeats
            lines.append(f"        arguments=({' '.join(map(_text, arguments))}) repeats={'1' if repeats else ''}")
        if valued := [option for option in command.options if option.kind]:
            lines.append("        case $option in")
            lines += [f"        {' | '.join(option.names)}) kind={_text(option.kind)} ;;" for option in valued]
            lines.append("        esac")
        lines.append("        ;;")
    names = " ".join(command.name for command in commands)
    return BASH.substitute(commands=names, cases="\n".join(lines))


BASH = Template(r"""# bash completion for hqt, made by scripts/completions.py from the command line: edit that.

_hqt() {
    local commands='$commands'
    COMPREPLY=()

    # The words before the cursor without their quotes, and the last one as it was typed: names hold any character.
    local line=$${COMP_LINE:0:COMP_POINT} quote='' word='' raw='' words=() character i open=''
    for ((i = 0; i < $${#line}; i++)); do
        character=$${line:i:1}
        if [[ -n $$quote && $$character == "$$quote" ]]; then
            quote=''
        elif [[ -z $$quote && ($$character == \' || $$character == \") ]]; then
            quote=$$character open=1
        elif [[ $$character == \\ && $$quote != \' ]]; then
            raw+=$$character
            i=$$((i + 1))
            character=$${line:i:1}
            word+=$$character open=1
        elif [[ -z $$quote && $$character == [[:space:]] ]]; then
            [[ -n $$open ]] && words+=("$$word")
            word='' raw='' open=''
            continue
        else
            word+=$$character open=1
        fi
        raw+=$$character
    done

    # Which command, which of its arguments, and whether an option waits for its value.
    local command='' option='' kind='' options='' arguments=() repeats='' place=0 tail='' prefix=''
    for i in "$${words[@]:1}"; do
        if [[ -n $$option ]]; then
            _hqt_table
            option=''
            if [[ -n $$kind ]]; then
                kind=''
                continue
            fi
        fi
        case $$i in
        --) tail=1 && break ;;
        --*=*) ;;
        -?*) option=$$i ;;
        *) if [[ -z $$command ]]; then command=$$i; else place=$$((place + 1)); fi ;;
        esac
    done
    if [[ -n $$tail ]]; then
        kind=files
    else
        _hqt_table
        if [[ -z $$kind && $$word == --*=* ]]; then
            option=$${word%%=*} prefix=$${word%%=*}=
            _hqt_table
            word=$${word#*=}
        elif [[ -z $$kind && $$word == -* ]]; then
            kind="values $$options"
        elif [[ -z $$kind && -z $$command ]]; then
            kind="values $$commands"
        elif [[ -z $$kind ]]; then
            [[ -n $$repeats && $$place -ge $${#arguments[@]} ]] && place=$$(($${#arguments[@]} - 1))
            kind=$${arguments[place]}
        fi
    fi

    local found=() name
    case $$kind in
    values*) mapfile -t found < <(compgen -W "$${kind#values}" -- "$$word") ;;
    variables) mapfile -t found < <(compgen -e -- "$$word") ;;
    folders)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$${word/#\~/$$HOME}")
        return
        ;;
    files)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$${word/#\~/$$HOME}")
        return
        ;;
    sessions)
        while IFS=$$'\t' read -r name _; do
            [[ $$name == "$$word"* ]] && found+=("$$name")
        done < <("$${words[0]/#\~/$$HOME}" complete-names 2>/dev/null)
        ;;
    esac

    # readline replaces what follows the last of its own word breaks (with the break itself where that is an @), or the
    # quote that is open.
    local given=$$prefix$$raw cut=''
    [[ -n $$prefix ]] && given=$$raw
    [[ $$given == *[:=@]* ]] && cut=$${given%"$${given##*[:=@]}"}
    cut=$${cut%@}
    for name in "$${found[@]}"; do
        if [[ -z $$quote ]]; then
            printf -v name %q "$$name"
            name=$$prefix$$name
            name=$${name#"$$cut"}
        fi
        COMPREPLY+=("$$name")
    done
}

# Sets options, arguments, repeats, and the kind of value that $$option wants, for $$command.
_hqt_table() {
    case $$command in
$cases
    esac
}

complete -F _hqt hqt
""")


def zsh(root: Command, commands: list[Command]) -> str:
    """Return zsh's file, for `_arguments`."""
    described = "\n".join(f"            {_text(f'{_colons(c.name)}:{c.help}')}" for c in commands)
    cases = []
    for command in commands:
        specs = [_zsh_option(option) for option in command.options]
        specs += [_zsh_argument(argument, place) for place, argument in enumerate(command.arguments, 1)]
        if command.name == "new":
            specs.append(_text("*::the harness's arguments:_files"))
        body = " \\\n".join(f"            {spec}" for spec in specs)
        cases.append(f"        {command.name})\n            _arguments -s -S \\\n{body}\n            ;;")
    options = " \\\n".join(f"        {_zsh_option(option)}" for option in root.options)
    return ZSH.substitute(options=options, commands=described, cases="\n".join(cases))


def _zsh_option(option: Parameter) -> str:
    about = option.help.replace("[", "\\[").replace("]", "\\]")
    value = f":{max(option.names, key=len).lstrip('-')}:{_zsh_action(option.kind)}" if option.kind else ""
    exclusive = "*" if option.repeats else f"({' '.join(option.names)})"
    if len(option.names) == 1:
        star = "*" if option.repeats else ""
        return _text(f"{star}{option.names[0]}[{about}]{value}")
    return f"{_text(exclusive)}{{{','.join(option.names)}}}{_text(f'[{about}]{value}')}"


def _zsh_argument(argument: Parameter, place: int) -> str:
    start = "*" if argument.repeats else str(place)
    return _text(f"{start}:{_colons(argument.help.removesuffix('.'))}:{_zsh_action(argument.kind)}")


def _zsh_action(kind: str) -> str:
    if kind.startswith("values "):
        return f"({kind.removeprefix('values ')})"
    actions = {"folders": "_directories", "files": "_files", "variables": '_parameters -g "*export*"',
               "sessions": "_hqt_sessions"}  # fmt: skip
    return actions.get(kind, " ")


def _colons(text: str) -> str:
    return text.replace(":", "\\:")


ZSH = Template(r"""#compdef hqt
# zsh completion for hqt, made by scripts/completions.py from the command line: edit that.

_hqt_sessions() {
    local line name
    local -a names abouts
    for line in "$${(@f)$$(_call_program sessions $$_hqt_program complete-names)}"; do
        [[ -n $$line ]] || continue
        name=$${line%%$$'\t'*}
        names+=("$$name")
        abouts+=("$${name}  -- $${line#*$$'\t'}")
    done
    _wanted sessions expl 'session' compadd -l -d abouts -a names
}

_hqt() {
    local curcontext=$$curcontext state line _hqt_program=$$words[1]
    typeset -A opt_args
    _arguments -C -s -S \
$options \
        '1:command:->command' \
        '*::argument:->argument'
    case $$state in
    command)
        local -a commands=(
$commands
        )
        _describe -t commands 'command' commands
        ;;
    argument)
        curcontext=$${curcontext%:*}-$${words[1]}:
        case $${words[1]} in
$cases
        esac
        ;;
    esac
}

if [[ $$funcstack[1] == _hqt ]]; then
    _hqt "$$@"
else
    compdef _hqt hqt
fi
""")


def fish(root: Command, commands: list[Command]) -> str:
    """Return fish's file."""
    lines = [_fish_option("__hqt_command_is ''", option) for option in root.options]
    lines += [
        f"complete -c hqt -n \"__hqt_command_is ''\" -a {command.name} -d {_text_of_fish(command.help)}"
        for command in commands
    ]
    for command in commands:
        condition = f"__hqt_command_is {command.name}"
        lines.append("")
        lines += [_fish_option(condition, option) for option in command.options]
        for place, argument in enumerate(command.arguments, 1):
            if argument.kind == NO_FILES:
                continue
            place_is = f"{condition} {place}{'+' if argument.repeats else ''}"
            action = _fish_action(argument.kind)
            lines.append(f'complete -c hqt -n "{place_is}" {action}')
    valued = [name for command in [root, *commands] for option in command.options
              for name in option.names if option.kind]  # fmt: skip
    return FISH.substitute(lines="\n".join(lines), valued=" ".join(dict.fromkeys(valued)))


def _fish_option(condition: str, option: Parameter) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    value = f" -x {_fish_action(option.kind)}" if option.kind else ""
    return f'complete -c hqt -n "{condition}" {names}{value.rstrip()} -d {_text_of_fish(option.help)}'


def _fish_action(kind: str) -> str:
    if kind.startswith("values "):
        return f"-a {_text(kind.removeprefix('values '))}"
    actions = {"folders": "(__fish_complete_directories)", "files": "(__fish_complete_path)",
               "variables": "(set --names --export)", "sessions": "(__hqt_sessions)"}  # fmt: skip
    return f"-a {_text(actions[kind])}" if kind in actions else ""


def _text_of_fish(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


FISH = Template(r"""# fish completion for hqt, made by scripts/completions.py from the command line: edit that.

# True if the command is this one ('' for none yet), and, when a place is given, if that argument is being typed.
function __hqt_command_is
    set -l command ''
    set -l place 1
    set -l waits ''
    for word in (commandline -opc)[2..]
        if test -n "$$waits"
            set waits ''
            continue
        end
        switch $$word
            case --
                return 1
            case $valued
                set waits 1
            case '-*'
            case '*'
                if test -z "$$command"
                    set command $$word
                else
                    set place (math $$place + 1)
                end
        end
    end
    test "$$command" = "$$argv[1]"; or return 1
    test (count $$argv) -lt 2; and return 0
    string match -q '*+' -- $$argv[2]; and test $$place -ge (string trim -r -c + -- $$argv[2]); and return 0
    test "$$place" = "$$argv[2]"
end

function __hqt_sessions
    set -l program (commandline -opc)[1]
    $$program complete-names 2>/dev/null
end

complete -c hqt -f
$lines
""")


if __name__ == "__main__":
    sys.exit(main())
