# The probe of `hqt check`: run by /bin/sh in the jail, with the lists and facts that hqt puts before it. It uses what a
# POSIX shell has built in, and prints a line for each key, and one for each thing that got through: KEY<tab>WHAT.

said() { printf '%s\t%s\n' "$1" "$2"; }
tab=$(printf '\t')
newline='
'
# Whether the list $2, a line each, holds $1.
holds() { case "$newline$2$newline" in *"$newline$1$newline"*) return 0 ;; esac; return 1; }
can_make() { (: >"$1/.hqt-check") 2>/dev/null && rm -f "$1/.hqt-check"; }

said home
for entry in "$HOME"/* "$HOME"/.[!.]*; do
    [ -e "$entry" ] || continue
    holds "${entry##*/}" "$HOME_ENTRIES" || said home "$entry"
done

said state
[ -e "$STATE" ] && said state "$STATE"

said shadow
[ -e /etc/shadow ] && said shadow /etc/shadow
while IFS=: read -r name _; do
    case $name in daemon | bin | www-data | sshd) said shadow "the account $name" ;; esac
done </etc/passwd

said project
can_make . && said project "$PWD"

said hidden
read_out() {
    for place in "$1" "$1"/* "$1"/.[!.]*; do
        [ -f "$place" ] && IFS= read -r line <"$place" 2>/dev/null && [ -n "$line" ] && said hidden "$place"
    done
}
IFS=$newline
for place in $HIDDEN; do
    read_out "$place"
    mv "$place" "$place.hqt-check" 2>/dev/null && said hidden "$place can be renamed" && mv "$place.hqt-check" "$place"
done
unset IFS

said system
for place in / /usr /etc /opt /dev /usr/local "$(cd .. && pwd -P)"; do
    can_make "$place" && said system "$place"
done
# By these hqt tells, outside, what lies in a file system of the jail's own.
while IFS= read -r mount; do said mounts "$mount"; done </proc/self/mountinfo

said settings
for setting in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sysrq-trigger; do
    (: >>"$setting") 2>/dev/null && said settings "$setting"
done

said guards
IFS=$newline
set -f
for guard in $GUARDS; do
    if [ -d "$guard" ]; then
        can_make "$guard" && said guards "$guard"
    else
        (: >>"$guard") 2>/dev/null && said guards "$guard"
    fi
done

said pins
for pin in $PINS; do
    mv "$pin" "$pin.hqt-check" 2>/dev/null && mv "$pin.hqt-check" "$pin" && said pins "$pin"
done
unset IFS
set +f

said processes
if IFS= read -r line <"/proc/$HOST_PID/stat"; then
    set -- ${line##*) }
    shift 19
    [ "$1" = "$HOST_STARTED" ] && said processes "hqt's own"
fi 2>/dev/null
for process in /proc/[0-9]*; do
    read -r environment <"$process/environ" 2>/dev/null
    case $environment in *"$CANARY"*) said processes "$process" ;; esac
done 2>/dev/null

said sockets
IFS=$newline
for place in $SOCKETS; do
    [ -e "$place" ] && said sockets "$place"
done
unset IFS
[ -n "$TMUX" ] && said sockets "\$TMUX"

said privileges
seccomp=0
while IFS="$tab :" read -r key value _; do
    case $key in
    CapInh | CapPrm | CapEff | CapBnd | CapAmb) [ "$value" = 0000000000000000 ] || said privileges "$key $value" ;;
    NoNewPrivs) [ "$value" = 1 ] || said privileges "$key $value" ;;
    Seccomp) seccomp=$value ;;
    esac
done </proc/self/status
[ "$seccomp" = 2 ] || said privileges 'no system call filter'

said namespaces
unshare -U true 2>/dev/null && said namespaces 'a user namespace was made'

said environment
export -p | while read -r _ assignment; do
    case $assignment in *=*) ;; *) continue ;; esac
    name=${assignment%%=*}
    case $name in '' | *[!A-Za-z0-9_]*) continue ;; esac
    holds "$name" "$NAMES" || said environment "$name"
done
read -r first </proc/1/environ
case $first in *"$CANARY"*) said environment 'the environment of the process 1' ;; esac

said descriptors
for descriptor in /proc/self/fd/*; do
    case ${descriptor##*/} in 0 | 1 | 2 | 10 | 255) continue ;; esac
    [ -e "$descriptor" ] && said descriptors "${descriptor##*/}"
done

said network
while read -r name _; do
    case $name in lo:* | Inter-* | face) ;; *) said network "the interface ${name%%:*}" ;; esac
done </proc/net/dev
while read -r _ address _; do
    case $address in *:"$PORT") said network 'a listening port of the host' ;; esac
done </proc/net/tcp

printf 'tried all\n'
