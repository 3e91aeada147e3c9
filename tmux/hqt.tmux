#!/bin/sh
# hqt's tmux plugin: a key table behind one key, and a segment for the status line. TPM runs this file; so can
# `run-shell /path/to/hqt.tmux`, or `source-file /path/to/hqt.conf`. Run twice it changes nothing more.
#
# Nothing that a pane, a window's title or a folder's name says ever becomes part of a shell command here: a folder goes to
# a popup by -d, a session by its @hqt_id, which is hqt's own.

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1

option() {
    value=$(tmux show-option -gqv "$1")
    printf '%s' "${value:-$2}"
}

version=$(tmux -V | sed -n 's/^[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
major=${version% *} minor=${version#* }
if [ -n "$version" ] && { [ "$major" -lt 3 ] || { [ "$major" -eq 3 ] && [ "$minor" -lt 2 ]; }; }; then
    tmux display-message "hqt: $(tmux -V) is too old: the keys need tmux 3.2 or newer"
    exit 0
fi

hqt=$(option @hqt_command hqt)
size=$(option @hqt_popup_size 80%)
popup="display-popup -E -w $size -h $size -d '#{pane_current_path}'"
still="display-popup -w $size -h $size -d '#{pane_current_path}'"
ours="if-shell -F '#{@hqt_id}'"
not_ours="{ display-message 'hqt: this window is not a session of hqt' }"

# key NAME DEFAULT COMMAND: bind it in hqt's own table; `set -g @hqt_key_NAME ''` is left out, `none` switches it off.
key() {
    wanted=$(option "@hqt_key_$1" "$2")
    [ "$wanted" = none ] || printf 'bind-key -T hqt %s %s\n' "'$wanted'" "$3"
}

{
    # Unbound first, so that a key that was changed since is not left behind.
    tmux list-keys -T hqt >/dev/null 2>&1 && echo 'unbind-key -a -q -T hqt'
    key new n "$popup '$hqt dialog'"
    key attach a "$popup '$hqt attach'"
    key waiting w "run-shell '$hqt attach --waiting 2>&1 || true'"
    key dashboard d "$popup '$hqt dash'"
    key stop s "$ours { confirm-before -p 'stop the session #{window_name}? (y/n)' { run-shell '$hqt stop #{@hqt_id} 2>&1' } } $not_ours"
    key peek p "$still '$hqt peek'"
    key check c "$ours { $still '$hqt check' } $not_ours"
    key help '?' "display-menu -T hqt 'New session' n { $popup '$hqt dialog' } 'Attach' a { $popup '$hqt attach' } 'Next waiting' w { run-shell '$hqt attach --waiting 2>&1 || true' } 'Dashboard' d { $popup '$hqt dash' } 'Check the jail' c { $still '$hqt check' }"
} | tmux source-file -

# The key that opens the table: taken only where it is free, unless it was asked for by name.
asked=$(tmux show-option -gqv @hqt_key)
wanted=${asked:-H}
taken=$(tmux list-keys -T prefix 2>/dev/null | awk -v key="$wanted" '$4 == key' | grep -v 'switch-client -T hqt')
if [ -z "$taken" ] || [ -n "$asked" ]; then
    tmux bind-key -T prefix "$wanted" switch-client -T hqt
else
    tmux display-message "hqt: prefix $wanted is bound already: set -g @hqt_key to another key"
fi

# `#{hqt_status}` in the status line becomes the segment.
for side in status-left status-right; do
    before=$(tmux show-option -gv "$side")
    case $before in
    *'#{hqt_status}'*)
        after=$(printf '%s\n' "$before" | sed "s|#{hqt_status}|#($here/status.sh)|g")
        tmux set-option -g "$side" "$after"
        ;;
    esac
done
