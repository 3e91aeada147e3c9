#!/bin/sh
# Prints the segment for tmux's status line, like `2 working · 1 waiting`, and marks the windows that wait. Without Python;
# tmux runs it every `status-interval`. What a jail wrote is read in a few bytes, within a second, and only compared.

state=${XDG_STATE_HOME:-$HOME/.local/state}/hqt/sessions
# One call: the styles, then a line a window, a linked one once.
found=$(tmux display-message -p \
    '#{?@hqt_working_style,#{@hqt_working_style},fg=green}|#{?@hqt_waiting_style,#{@hqt_waiting_style},fg=yellow#,bold}|#{?@hqt_idle_style,#{@hqt_idle_style},default}|#{?@hqt_ended_style,#{@hqt_ended_style},fg=red}' \; \
    list-windows -a -f '#{@hqt_id}' -F '#{@hqt_id}|#{window_id}|#{window_bell_flag}|#{pane_dead}|#{@hqt_status}') || exit 0
styles=${found%%
*}
windows=$(printf '%s\n' "$found" | sed 1d | sort -u)
[ -n "$windows" ] || exit 0

IFS='|'
set --
while read -r id _; do
    case $id in *[!0-9a-f-]*) continue ;; esac
    [ -f "$state/$id/run/status" ] && [ ! -L "$state/$id/run/status" ] && set -- "$@" "$state/$id/run/status"
done <<END
$windows
END
said=
[ "$#" -eq 0 ] || said=$(timeout 1 head -v -c 8 -- "$@" 2>/dev/null | awk -F/ '
    /^==> .*\/run\/status <==$/ { id = $(NF - 2); next }
    /^(working|waiting|idle)$/ { print id "=" $0 }')

working=0 waiting=0 idle=0 ended=0
while read -r id window bell dead before; do
    case "
$said
" in
    *"
$id=working
"*) status=working ;;
    *"
$id=waiting
"*) status=waiting ;;
    *) status=idle && [ "$bell" = 1 ] && status=waiting ;;
    esac
    [ "$dead" = 1 ] && status=ended
    case $status in
    working) working=$((working + 1)) ;;
    waiting) waiting=$((waiting + 1)) ;;
    ended) ended=$((ended + 1)) ;;
    *) idle=$((idle + 1)) ;;
    esac
    if [ "$status" != "$before" ]; then
        style=${styles#*|}
        if [ "$status" = waiting ]; then
            tmux set-option -w -t "$window" window-status-style "${style%%|*}"
        elif [ "$status" = ended ]; then
            tmux set-option -w -t "$window" window-status-style "${styles##*|}"
        elif [ "$before" = waiting ] || [ "$before" = ended ]; then
            tmux set-option -wu -t "$window" window-status-style
        fi
        tmux set-option -w -t "$window" @hqt_status "$status"
    fi
done <<END
$windows
END

segment=
add() {
    [ "$1" -eq 0 ] || segment="$segment${segment:+ · }#[${styles%%|*}]$1 $2#[default]"
    styles=${styles#*|}
}
add "$working" working
add "$waiting" waiting
add "$idle" idle
add "$ended" ended
printf '%s\n' "$segment"
