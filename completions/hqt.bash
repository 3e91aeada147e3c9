# bash completion for hqt, made by scripts/completions.py from the command line: edit that.

_hqt() {
    local commands='new ls attach stop rm rename show peek send wait restore check audit doctor harnesses config dialog dash tmux completion'
    COMPREPLY=()

    # The words before the cursor without their quotes, and the last one as it was typed: names hold any character.
    local line=${COMP_LINE:0:COMP_POINT} quote='' word='' raw='' words=() character i open=''
    for ((i = 0; i < ${#line}; i++)); do
        character=${line:i:1}
        if [[ -n $quote && $character == "$quote" ]]; then
            quote=''
        elif [[ -z $quote && ($character == \' || $character == \") ]]; then
            quote=$character open=1
        elif [[ $character == \\ && $quote != \' ]]; then
            raw+=$character
            i=$((i + 1))
            character=${line:i:1}
            word+=$character open=1
        elif [[ -z $quote && $character == [[:space:]] ]]; then
            [[ -n $open ]] && words+=("$word")
            word='' raw='' open=''
            continue
        else
            word+=$character open=1
        fi
        raw+=$character
    done

    # Which command, which of its arguments, and whether an option waits for its value.
    local command='' option='' kind='' options='' arguments=() repeats='' place=0 tail='' prefix=''
    for i in "${words[@]:1}"; do
        if [[ -n $option ]]; then
            _hqt_table
            option=''
            if [[ -n $kind ]]; then
                kind=''
                continue
            fi
        fi
        case $i in
        --) tail=1 && break ;;
        --*=*) ;;
        -?*) option=$i ;;
        *) if [[ -z $command ]]; then command=$i; else place=$((place + 1)); fi ;;
        esac
    done
    if [[ -n $tail ]]; then
        kind=files
    else
        _hqt_table
        if [[ -z $kind && $word == --*=* ]]; then
            option=${word%%=*} prefix=${word%%=*}=
            _hqt_table
            word=${word#*=}
        elif [[ -z $kind && $word == -* ]]; then
            kind="values $options"
        elif [[ -z $kind && -z $command ]]; then
            kind="values $commands"
        elif [[ -z $kind ]]; then
            [[ -n $repeats && $place -ge ${#arguments[@]} ]] && place=$((${#arguments[@]} - 1))
            kind=${arguments[place]}
        fi
    fi

    local found=() name
    case $kind in
    values*) mapfile -t found < <(compgen -W "${kind#values}" -- "$word") ;;
    variables) mapfile -t found < <(compgen -e -- "$word") ;;
    folders)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "${word/#\~/$HOME}")
        return
        ;;
    files)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "${word/#\~/$HOME}")
        return
        ;;
    sessions)
        while IFS=$'\t' read -r name _; do
            [[ $name == "$word"* ]] && found+=("$name")
        done < <("${words[0]/#\~/$HOME}" complete-names 2>/dev/null)
        ;;
    esac

    # readline replaces what follows the last of its own word breaks (with the break itself where that is an @), or the
    # quote that is open.
    local given=$prefix$raw cut=''
    [[ -n $prefix ]] && given=$raw
    [[ $given == *[:=@]* ]] && cut=${given%"${given##*[:=@]}"}
    cut=${cut%@}
    for name in "${found[@]}"; do
        if [[ -z $quote ]]; then
            printf -v name %q "$name"
            name=$prefix$name
            name=${name#"$cut"}
        fi
        COMPREPLY+=("$name")
    done
}

# Sets options, arguments, repeats, and the kind of value that $option wants, for $command.
_hqt_table() {
    case $command in
    '')
        options='--socket -L --version -V --help -h'
        case $option in
        --socket | -L) kind='none' ;;
        esac
        ;;
    'new')
        options='--harness -H --name -n --sandbox -s --no-sandbox --ro --rw --net --no-net --prompt -p --prompt-file --bind --force-bind --env --hide --mcp --no-toolchains --here --memory --pids --cpu --check --detach -d --help -h'
        arguments=('folders') repeats=
        case $option in
        --harness | -H) kind='values claude codex copilot kiro gemini qwen opencode pi aider amp crush cursor generic' ;;
        --name | -n) kind='none' ;;
        --prompt | -p) kind='none' ;;
        --prompt-file) kind='files' ;;
        --bind) kind='files' ;;
        --force-bind) kind='files' ;;
        --env) kind='variables' ;;
        --hide) kind='none' ;;
        --mcp) kind='none' ;;
        --memory) kind='none' ;;
        --pids) kind='none' ;;
        --cpu) kind='none' ;;
        esac
        ;;
    'ls')
        options='--json --help -h'
        ;;
    'attach')
        options='--waiting --detach -d --help -h'
        arguments=('sessions') repeats=
        ;;
    'stop')
        options='--help -h'
        arguments=('sessions') repeats=1
        ;;
    'rm')
        options='--yes -y --help -h'
        arguments=('sessions') repeats=1
        ;;
    'rename')
        options='--help -h'
        arguments=('sessions' 'none') repeats=
        ;;
    'show')
        options='--argv --json --help -h'
        arguments=('sessions') repeats=
        ;;
    'peek')
        options='--lines -n --follow -f --help -h'
        arguments=('sessions') repeats=
        case $option in
        --lines | -n) kind='none' ;;
        esac
        ;;
    'send')
        options='--force -f --wait -w --timeout --help -h'
        arguments=('sessions' 'none') repeats=
        case $option in
        --timeout) kind='none' ;;
        esac
        ;;
    'wait')
        options='--for --any --timeout --help -h'
        arguments=('sessions') repeats=1
        case $option in
        --for) kind='values idle waiting exited' ;;
        --timeout) kind='none' ;;
        esac
        ;;
    'restore')
        options='--dry-run --json --help -h'
        arguments=('sessions') repeats=1
        ;;
    'check')
        options='--json --help -h'
        arguments=('sessions') repeats=
        ;;
    'audit')
        options='--accept --json --help -h'
        arguments=('sessions') repeats=
        ;;
    'doctor')
        options='--fix --report --json --help -h'
        ;;
    'harnesses')
        options='--json --help -h'
        ;;
    'config')
        options='--json --help -h'
        ;;
    'dialog')
        options='--detach -d --help -h'
        arguments=('folders') repeats=
        ;;
    'dash')
        options='--help -h'
        ;;
    'tmux')
        options='--install --yes -y --help -h'
        ;;
    'completion')
        options='--install --help -h'
        arguments=('values bash zsh fish') repeats=
        ;;
    esac
}

complete -F _hqt hqt
