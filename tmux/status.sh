#!/bin/sh
# Prints the segment for tmux's status line, like `2 working · 1 waiting`. No Python; tmux asks every `status-interval`.
# What a jail wrote is only compared with the words that are known.

state=${XDG_STATE_HOME:-$HOME/.local/state}/hqt/sessions
working=0 waiting=0 idle=0 ended=0
option() {
    value=$(tmux show-option -gqv "$1")
    printf '%s' "${value:-$2}"
}

for window in $(tmux list-windows -a -f '#{@hqt_id}' -F '#{@hqt_id}:#{window_bell_flag}:#{pane_dead}'); do
    id=${window%%:*} bell=${window#*:}
    if [ "${window##*:}" = 1 ]; then
        ended=$((ended + 1))
        continue
    fi
    [ "${bell%:*}" = 1 ] && status=waiting || status=
    file=$state/$id/run/status
    case $id in *[!0-9a-f]*) file= ;; esac
    if [ -f "$file" ] && [ ! -L "$file" ]; then read -r status <"$file"; fi
    case $status in
    working) working=$((working + 1)) ;;
    waiting) waiting=$((waiting + 1)) ;;
    *) idle=$((idle + 1)) ;;
    esac
done

segment=
add() {
    [ "$1" -eq 0 ] || segment="$segment${segment:+ · }#[$3]$1 $2#[default]"
}
add "$working" working "$(option @hqt_working_style fg=green)"
add "$waiting" waiting "$(option @hqt_waiting_style fg=yellow,bold)"
add "$idle" idle "$(option @hqt_idle_style default)"
add "$ended" ended "$(option @hqt_ended_style fg=red)"
printf '%s\n' "$segment"
