#!/bin/sh
# hqt's tmux plugin: a key table behind one key, and a segment for the status line. TPM runs this file; so do
# `run-shell 'sh /path/to/hqt.tmux'` and `source-file /path/to/hqt.conf`. Run twice, it changes nothing more.
#
# Nothing that a pane, a window's title or a folder's name says becomes part of a command here: a folder goes to a popup by
# its -d, and a session by its @hqt_id, which only hqt writes.

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1

option() {
    value=$(tmux show-option -gqv "$1")
    printf '%s' "${value:-$2}"
}

# The text as a word of tmux's language.
word() {
    printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}

version=$(tmux -V | sed -n 's/^[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
major=${version% *} minor=${version#* }
if [ -n "$version" ] && { [ "$major" -lt 3 ] || { [ "$major" -eq 3 ] && [ "$minor" -lt 2 ]; }; }; then
    tmux display-message "hqt: $(tmux -V) is too old: its keys need tmux 3.2 or newer"
    exit 0
fi

hqt=$(option @hqt_command hqt)
size=$(word "$(option @hqt_popup_size 90%)")
binds='' menu=''

# key NAME DEFAULT LABEL COMMAND: a key of hqt's table, and its line in the help. `set -g @hqt_key_NAME none` leaves it out.
key() {
    wanted=$(option "@hqt_key_$1" "$2")
    [ "$wanted" != none ] || return 0
    binds="$binds
bind-key -T hqt $(word "$wanted") $4"
    menu="$menu $(word "$3") $(word "$wanted") { $4 }"
}

# The text as a word that tmux expands to itself, with the session looked at and the client that pressed the key, and
# nothing else, filled in when the key is pressed, whatever is looked at a moment later.
filled() {
    word "$(printf '%s' "$1" | sed 's/#/##/g; s/##{@hqt_id}/#{@hqt_id}/g; s/##{client_name}/#{client_name}/g')"
}

# In a popup, told whose it is: of several clients tmux would take the one that was used last.
popup() {
    shown="display-popup -E -w $size -h $size -d '#{pane_current_path}' $(word "env HQT_CLIENT=#{client_name} $1")"
    printf 'run-shell -C %s' "$(filled "$shown")"
}

# (`if-shell -F` takes whatever begins with a 0 for false: not the id itself.)
of_this_session() {
    printf "if-shell -F '#{?@hqt_id,1,0}' { run-shell -C %s } { display-message 'hqt: this window is not a session of hqt' }" \
        "$(filled "$1")"
}

# In a popup with a pager, for what is read.
page() {
    of_this_session "display-popup -E -w $size -h $size $(word "{ $1; } 2>&1 | LESS=-R \${PAGER:-\$(command -v less || echo more)}")"
}

key_waiting="env HQT_CLIENT=#{client_name} $hqt attach --waiting >/dev/null 2>&1 || tmux display-message 'hqt: no session waits for you'"
key_stop="run-shell $(word "$hqt stop #{@hqt_id} 2>&1 | grep -v '^stopped ' || true")"

key new n 'New session' "$(popup "$hqt dialog")"
key attach a 'Attach to …' "$(popup "$hqt attach")"
key waiting w 'Next that waits for you' "run-shell $(filled "$key_waiting")"
key dashboard d 'Dashboard' "$(popup "$hqt dash")"
key stop s 'Stop this session' \
    "$(of_this_session "confirm-before -p 'stop the session #{window_name}? (y/n)' $(word "$key_stop")")"
key peek p 'Read what it has shown' "$(page "$hqt peek #{@hqt_id}")"
key check c 'Check its jail' "$(page "$hqt check #{@hqt_id}")"
{
    # Unbound first, so that a key that was changed since is not left behind.
    tmux list-keys -T hqt >/dev/null 2>&1 && echo 'unbind-key -a -q -T hqt'
    printf '%s\n' "$binds"
    printf 'bind-key -T hqt %s display-menu -T hqt %s\n' "$(word "$(option @hqt_key_help '?')")" "$menu"
} | tmux source-file -

# The key that opens the table: taken only where it is free, unless it was asked for by name.
asked=$(tmux show-option -gqv @hqt_key)
wanted=${asked:-H}
taken=$(tmux list-keys -T prefix 2>/dev/null | awk -v key="$wanted" '$4 == key' | grep -v 'switch-client -T hqt')
if [ "$wanted" = none ]; then
    :
elif [ -z "$taken" ] || [ -n "$asked" ]; then
    tmux bind-key -T prefix "$wanted" switch-client -T hqt
else
    tmux display-message "hqt: prefix $wanted is bound already: set -g @hqt_key to another key"
fi

# `set -g @hqt_restore on`: what should be running is started when the server is, and not when this is loaded again.
if [ "$(option @hqt_restore off)" = on ] && [ -z "$(option @hqt_restored '')" ]; then
    tmux set-option -g @hqt_restored yes
    tmux run-shell -b "$(printf '%s' "$hqt restore >/dev/null 2>&1 || tmux display-message 'hqt: some sessions were not restored: hqt doctor'" | sed 's/#/##/g')"
fi

# `#{hqt_status}` in the status line becomes the segment.
for side in status-left status-right; do
    before=$(tmux show-option -gv "$side")
    case $before in
    *'#{hqt_status}'*)
        after=$(printf '%s\n' "$before" | sed "s|#{hqt_status}|#(sh '$here/status.sh')|g")
        tmux set-option -g "$side" "$after"
        ;;
    esac
done
