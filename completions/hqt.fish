# fish completion for hqt, made by scripts/completions.py from the command line: edit that.

# True if the command is this one ('' for none yet), and, when a place is given, if that argument is being typed.
function __hqt_command_is
    set -l command ''
    set -l place 1
    set -l waits ''
    for word in (commandline -opc)[2..]
        if test -n "$waits"
            set waits ''
            continue
        end
        switch $word
            case --
                return 1
            case --socket -L --harness -H --name -n --prompt -p --prompt-file --bind --force-bind --env --hide --mcp --memory --pids --cpu --lines --timeout --for
                set waits 1
            case '-*'
            case '*'
                if test -z "$command"
                    set command $word
                else
                    set place (math $place + 1)
                end
        end
    end
    test "$command" = "$argv[1]"; or return 1
    test (count $argv) -lt 2; and return 0
    string match -q '*+' -- $argv[2]; and test $place -ge (string trim -r -c + -- $argv[2]); and return 0
    test "$place" = "$argv[2]"
end

function __hqt_sessions
    set -l program (commandline -opc)[1]
    $program complete-names 2>/dev/null
end

complete -c hqt -f
complete -c hqt -n "__hqt_command_is ''" -l socket -s L -x -d 'tmux server, as for tmux -L; a path if it holds a /.'
complete -c hqt -n "__hqt_command_is ''" -l version -s V -d 'Show the version and exit.'
complete -c hqt -n "__hqt_command_is ''" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is ''" -a new -d 'Make a session, start it, and show it.'
complete -c hqt -n "__hqt_command_is ''" -a ls -d 'List the sessions.'
complete -c hqt -n "__hqt_command_is ''" -a attach -d 'Show a session; one that is stopped is started again, with its policy and its conversation.'
complete -c hqt -n "__hqt_command_is ''" -a stop -d 'Stop sessions. `hqt attach` brings them back where they were.'
complete -c hqt -n "__hqt_command_is ''" -a rm -d 'Remove sessions, stopped first if they run: the row, the private copies, the cache.'
complete -c hqt -n "__hqt_command_is ''" -a rename -d 'Rename a session, and its window.'
complete -c hqt -n "__hqt_command_is ''" -a show -d 'Show a session\'s policy, binds and command.'
complete -c hqt -n "__hqt_command_is ''" -a peek -d 'Print what a session\'s window has shown, the scrollback too, as plain text.'
complete -c hqt -n "__hqt_command_is ''" -a send -d 'Type a prompt into a session, as if it were pasted, and make sure that it was taken.'
complete -c hqt -n "__hqt_command_is ''" -a wait -d 'Wait for sessions, and print each with what it came to. Exit 1 if one can no longer get there, 7 out of time.'
complete -c hqt -n "__hqt_command_is ''" -a restore -d 'Start again every session that should be running, each with its policy and its conversation.'
complete -c hqt -n "__hqt_command_is ''" -a check -d 'Prove a session\'s jail: a probe in the harness\'s place tries each promise. Exit 0 only if all hold.'
complete -c hqt -n "__hqt_command_is ''" -a audit -d 'Show what a session made or changed that would run outside its jail. Exit 1 if there is something to look at.'
complete -c hqt -n "__hqt_command_is ''" -a doctor -d 'Look at this host, the sandbox, tmux, the harnesses and hqt\'s own state. Exit 0 only without problems.'
complete -c hqt -n "__hqt_command_is ''" -a harnesses -d 'List the agents that hqt knows: installed or not, the version, the one hqt was verified with.'
complete -c hqt -n "__hqt_command_is ''" -a config -d 'Show the settings in force, and where each comes from.'
complete -c hqt -n "__hqt_command_is ''" -a dialog -d 'Ask for a new session in a dialog, start it, and show it.'
complete -c hqt -n "__hqt_command_is ''" -a dash -d 'Show all sessions live, with a key for all that can be done with each.'
complete -c hqt -n "__hqt_command_is ''" -a tmux -d 'Print the lines for tmux.conf that bring hqt\'s keys: prefix H, then n, a, w, d, s, p, c or ?.'
complete -c hqt -n "__hqt_command_is ''" -a completion -d 'Print a shell\'s completion script: eval "$(hqt completion bash)".'

complete -c hqt -n "__hqt_command_is new" -l harness -s H -x -a 'claude codex copilot kiro gemini qwen opencode pi aider amp crush cursor generic' -d 'An agent of hqt harnesses, or generic.'
complete -c hqt -n "__hqt_command_is new" -l name -s n -x -d 'The session\'s name.'
complete -c hqt -n "__hqt_command_is new" -l sandbox -s s -d 'Run in a jail.'
complete -c hqt -n "__hqt_command_is new" -l no-sandbox -d 'The opposite of --sandbox.'
complete -c hqt -n "__hqt_command_is new" -l ro -d 'The project read-only in the jail.'
complete -c hqt -n "__hqt_command_is new" -l rw -d 'The opposite of --ro.'
complete -c hqt -n "__hqt_command_is new" -l net -d 'The network in the jail.'
complete -c hqt -n "__hqt_command_is new" -l no-net -d 'The opposite of --net.'
complete -c hqt -n "__hqt_command_is new" -l prompt -s p -x -d 'The first prompt.'
complete -c hqt -n "__hqt_command_is new" -l prompt-file -x -a '(__fish_complete_path)' -d 'The first prompt, from a file; - reads it.'
complete -c hqt -n "__hqt_command_is new" -l bind -x -a '(__fish_complete_path)' -d 'A further path for the jail.'
complete -c hqt -n "__hqt_command_is new" -l force-bind -x -a '(__fish_complete_path)' -d 'The same, where hqt refuses: hqt show says what is open.'
complete -c hqt -n "__hqt_command_is new" -l env -x -a '(set --names --export)' -d 'A variable for the jail, by its name alone.'
complete -c hqt -n "__hqt_command_is new" -l hide -x -d 'Show what fits of the project empty: .env, secrets/, *.pem.'
complete -c hqt -n "__hqt_command_is new" -l mcp -x -d 'An MCP server that hqt would leave out.'
complete -c hqt -n "__hqt_command_is new" -l no-toolchains -d 'None of the toolchains in the home folder that are in use.'
complete -c hqt -n "__hqt_command_is new" -l here -d 'A window of this tmux session, not of the session hqt.'
complete -c hqt -n "__hqt_command_is new" -l memory -x -d 'At most so much memory, as 8G.'
complete -c hqt -n "__hqt_command_is new" -l pids -x -d 'At most so many processes.'
complete -c hqt -n "__hqt_command_is new" -l cpu -x -d 'At most so many cores, as 2 or 0.5.'
complete -c hqt -n "__hqt_command_is new" -l check -d 'Start only if the jail holds; see hqt check.'
complete -c hqt -n "__hqt_command_is new" -l detach -s d -d 'Start it only; print its name.'
complete -c hqt -n "__hqt_command_is new" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is new 1" -a '(__fish_complete_directories)'

complete -c hqt -n "__hqt_command_is ls" -l json -d 'For programs; see docs/json.md.'
complete -c hqt -n "__hqt_command_is ls" -l help -s h -d 'Show this help.'

complete -c hqt -n "__hqt_command_is attach" -l waiting -d 'The one that has waited longest for you.'
complete -c hqt -n "__hqt_command_is attach" -l detach -s d -d 'Start it only, if it does not run.'
complete -c hqt -n "__hqt_command_is attach" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is attach 1" -a '(__hqt_sessions)'

complete -c hqt -n "__hqt_command_is stop" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is stop 1+" -a '(__hqt_sessions)'

complete -c hqt -n "__hqt_command_is rm" -l yes -s y -d 'Do not ask, even if one is running.'
complete -c hqt -n "__hqt_command_is rm" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is rm 1+" -a '(__hqt_sessions)'

complete -c hqt -n "__hqt_command_is rename" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is rename 1" -a '(__hqt_sessions)'

complete -c hqt -n "__hqt_command_is show" -l argv -d 'Only the window\'s exact command, quoted for a shell.'
complete -c hqt -n "__hqt_command_is show" -l json -d 'For programs; see docs/json.md.'
complete -c hqt -n "__hqt_command_is show" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is show 1" -a '(__hqt_sessions)'

complete -c hqt -n "__hqt_command_is peek" -l lines -s n -x -d 'Only that many of the last lines.'
complete -c hqt -n "__hqt_command_is peek" -l follow -s f -d 'Then go on with what is new, until it ends.'
complete -c hqt -n "__hqt_command_is peek" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is peek 1" -a '(__hqt_sessions)'

complete -c hqt -n "__hqt_command_is send" -l force -s f -d 'Even over a half-typed draft or a question that it asks.'
complete -c hqt -n "__hqt_command_is send" -l wait -s w -d 'Until the end of the prompt\'s turn.'
complete -c hqt -n "__hqt_command_is send" -l timeout -x -d 'With --wait.'
complete -c hqt -n "__hqt_command_is send" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is send 1" -a '(__hqt_sessions)'

complete -c hqt -n "__hqt_command_is wait" -l for -x -a 'idle waiting exited' -d 'May be given several times.'
complete -c hqt -n "__hqt_command_is wait" -l any -d 'Until the first of them, not all.'
complete -c hqt -n "__hqt_command_is wait" -l timeout -x -d 'Then end with 7.'
complete -c hqt -n "__hqt_command_is wait" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is wait 1+" -a '(__hqt_sessions)'

complete -c hqt -n "__hqt_command_is restore" -l dry-run -d 'Only say which.'
complete -c hqt -n "__hqt_command_is restore" -l json -d 'For programs; see docs/json.md.'
complete -c hqt -n "__hqt_command_is restore" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is restore 1+" -a '(__hqt_sessions)'

complete -c hqt -n "__hqt_command_is check" -l json -d 'For programs; see docs/json.md.'
complete -c hqt -n "__hqt_command_is check" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is check 1" -a '(__hqt_sessions)'

complete -c hqt -n "__hqt_command_is audit" -l accept -d 'Take what is there now as looked at.'
complete -c hqt -n "__hqt_command_is audit" -l json -d 'For programs; see docs/json.md.'
complete -c hqt -n "__hqt_command_is audit" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is audit 1" -a '(__hqt_sessions)'

complete -c hqt -n "__hqt_command_is doctor" -l fix -d 'Mend what hqt can mend itself; asks for each.'
complete -c hqt -n "__hqt_command_is doctor" -l report -d 'Print a text for a bug report, personal paths left out.'
complete -c hqt -n "__hqt_command_is doctor" -l json -d 'For programs; see docs/json.md.'
complete -c hqt -n "__hqt_command_is doctor" -l help -s h -d 'Show this help.'

complete -c hqt -n "__hqt_command_is harnesses" -l json -d 'For programs; see docs/json.md.'
complete -c hqt -n "__hqt_command_is harnesses" -l help -s h -d 'Show this help.'

complete -c hqt -n "__hqt_command_is config" -l json -d 'For programs; see docs/json.md.'
complete -c hqt -n "__hqt_command_is config" -l help -s h -d 'Show this help.'

complete -c hqt -n "__hqt_command_is dialog" -l detach -s d -d 'Start it only; print its name.'
complete -c hqt -n "__hqt_command_is dialog" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is dialog 1" -a '(__fish_complete_directories)'

complete -c hqt -n "__hqt_command_is dash" -l help -s h -d 'Show this help.'

complete -c hqt -n "__hqt_command_is tmux" -l install -d 'Add them, once, and show the difference first.'
complete -c hqt -n "__hqt_command_is tmux" -l yes -s y -d 'Do not ask.'
complete -c hqt -n "__hqt_command_is tmux" -l help -s h -d 'Show this help.'

complete -c hqt -n "__hqt_command_is completion" -l install -d 'Put it where that shell looks.'
complete -c hqt -n "__hqt_command_is completion" -l help -s h -d 'Show this help.'
complete -c hqt -n "__hqt_command_is completion 1" -a 'bash zsh fish'
