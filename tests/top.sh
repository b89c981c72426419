#!/usr/bin/env bash
# `millpond top` in a real terminal: tmux types the keys and reads the screen, on a pond of its own with the software
# driver. The pond's processes are killed under it, the terminal shrinks, stops and goes away.
#   MILLPOND_BIN  the `millpond` program, with `millpond-top` beside it
#   PONDTOOL      the `pondtool` program of the tests
# Ends with "N passed, N failed".
set -u
: "${MILLPOND_BIN:?names the millpond program}" "${PONDTOOL:?names the pondtool program}"
MILLPOND_BIN=$(realpath "$MILLPOND_BIN") PONDTOOL=$(realpath "$PONDTOOL")
command -v tmux >/dev/null || { echo "SKIPPED: top: tmux is not installed"; echo "0 passed, 0 failed"; exit 0; }
work=$(mktemp -d /tmp/top-XXXXXX)
export MILLPOND_DRIVER=soft MILLPOND_SOFT_DIR=$work/soft MILLPOND_RUNTIME_DIR=$work/run MILLPOND_LOG_FILE=$work/log
export MILLPOND_CONFIG=$work/config.toml LC_ALL=C.UTF-8 TERM=xterm-256color
export MILLPOND_SOFT_MEMORY=1G
unset NO_COLOR TMUX COLUMNS LINES
mkdir -m 700 "$MILLPOND_SOFT_DIR"
: >"$MILLPOND_CONFIG"
passed=0 failed=0 tool=

pass() { passed=$((passed + 1)); echo "ok      $1"; }
fail() { failed=$((failed + 1)); echo "FAILED  $1"; }
expect() { # what, found, expected
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: '$2' instead of '$3'"; fi
}
millpond() { "$MILLPOND_BIN" "$@"; }
mux() { tmux -f /dev/null -S "$work/tmux" "$@"; }
finish() {
    mux kill-server 2>/dev/null
    [ -n "$tool" ] && kill "$tool" 2>/dev/null && wait "$tool" 2>/dev/null
    millpond stop >/dev/null 2>&1
    rm -rf "$work"
}
trap finish EXIT

screen() { mux capture-pane -p -t "${1:-top}"; }
keys() { mux send-keys -t top "$@"; }
# Waits until the screen has a text, or has it no more. Patience is long: only a failure needs it.
until_screen() { # what, there|gone, pattern
    local step
    for ((step = 0; step < 200; step++)); do
        if screen | grep -qE -- "$3"; then [ "$2" = there ] && pass "$1" && return; else [ "$2" = gone ] && pass "$1" && return; fi
        sleep 0.05
    done
    fail "$1: '$3' is not $2"
    screen | sed 's/^/    | /'
}
sees() { until_screen "$1" there "$2"; }
misses() { until_screen "$1" gone "$2"; }
until_true() { # what, command...
    local what=$1 step
    shift
    for ((step = 0; step < 200; step++)); do
        if "$@"; then pass "$what"; return; fi
        sleep 0.05
    done
    fail "$what"
}
row() { screen | grep -E '^> ' | sed -E 's/^> *([^ ]+).*/\1/'; }
row_is() { [ "$(row)" = "$1" ]; }
status() { millpond status --json | python3 -c "import json,sys; print(json.load(sys.stdin)['$1'])"; }
current() {
    millpond models --json | python3 -c "
import json,sys
print([model['current'] for model in json.load(sys.stdin)['models'] if model['name'] == 'llama'][0])"
}
current_is() { [ "$(current)" = "$1" ]; }
limit_is() {
    [ "$(millpond group ls --json | python3 -c "
import json,sys
print(json.load(sys.stdin)['groups'][0]['devices'][0]['limit_bytes'])")" = "$1" ]
}
top_pid() { pgrep -P "$(mux display-message -p -t top '#{pane_pid}')" -x millpond-top; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }
is_restored() { [ "$(mux display-message -p -t top '#{alternate_on}#{cursor_flag}')" = 01 ]; }
is_taken() { [ "$(mux display-message -p -t top '#{alternate_on}')" = 1 ]; }
serve() { millpond serve --detach >/dev/null || { echo "FAILED  a pond"; exit 1; }; }
# A shell whose terminal is what it was, says so.
is_sane() {
    keys 'stty -a | grep -c " icanon .* echo " | sed s/^/sane=/' Enter
    sees "$1" '^sane=[1-9]'
    keys C-l
}

# What is looked at.
serve
millpond tensor create weights/y --dtype f32 --shape 1024,1024 --zero >/dev/null
millpond tensor create acts/x --dtype bf16 --shape 1024,1024 --zero >/dev/null
python3 - "$work" <<'END'
import json, struct, sys
for number in (1, 2, 3):
    size = 1 << 16
    head = json.dumps({"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    head += b" " * (-len(head) % 8)
    with open(f"{sys.argv[1]}/v{number}.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + bytes([number]) * size)
END
for number in 1 2 3; do millpond load "llama@v$number" "$work/v$number.safetensors" >/dev/null 2>&1 || fail "a model"; done
millpond group set team-a --limit 512M >/dev/null
# A program whose name orders the terminal about, with a lease.
evil=$work/$'evil\e[2J\e]0;owned\a'
cp "$PONDTOOL" "$evil"
mkfifo "$work/words"
"$evil" shell <>"$work/words" >"$work/said" 2>&1 &
tool=$!
echo "get weights/y" >"$work/words"
until_true "a program has a lease" grep -q '^ok' "$work/said"

# Without a terminal.
expect "once: the pond as text" "$(millpond top --once | grep -cE 'GPU 0 |weights/y|acts/x')" 3
expect "once: as wide as COLUMNS says" "$(COLUMNS=120 millpond top --once --ascii | wc -L)" 119
expect "once: ASCII" "$(millpond top --once --ascii | LC_ALL=C grep -c '[^ -~]')" 0
expect "once: data" "$(millpond top --once --json | python3 -c 'import json,sys; it=json.load(sys.stdin); print(it["tensors_total"], len(it["cards"]), len(it["models"]))')" "2 1 1"
millpond top --once --svg "$work/top.svg"
expect "once: a drawing" "$(python3 -c "import xml.dom.minidom as dom; print(dom.parse('$work/top.svg').documentElement.tagName)")" svg
said=$(millpond top </dev/null 2>&1 >/dev/null)
expect "without a terminal: refused" "$?" 2
expect "without a terminal: the way out" "$(grep -c -- '--once' <<<"$said")" 1
said=$(millpond --runtime-dir "$work/none" top --once 2>&1)
expect "without a pond: the code of 'no_pond'" "$?" "$(millpond --runtime-dir "$work/none" status >/dev/null 2>&1; echo $?)"
millpond top --interval 0.01 >/dev/null 2>&1
expect "an interval that is too short" "$?" 2

# A screen.
mux new-session -d -s top -x 100 -y 30 "PATH=$(dirname "$MILLPOND_BIN"):\$PATH PS1='prompt> ' bash --norc --noprofile"
keys 'millpond top --interval 0.2' Enter
sees "the pond" 'epoch 1 up'
sees "GPUs to scale" 'tensors [0-9.]+ ?[MG]'
sees "tensors, the largest first" '^> weights/y '
sees "the panes and their counts" '1 Tensors 2.*2 Models 1.*3 Groups 1'
keys S
until_true "the order is reversed" row_is acts/x
keys s
sees "sorted by the next column" 'GPU▼'
keys s s s s s s s s
until_true "and back, once around" row_is weights/y
millpond tensor create live/z --dtype u8 --shape 64 >/dev/null
sees "what is made meanwhile" 'live/z'
keys / acts
sees "a filter as it is written" '/acts_'
misses "which hides the others" 'weights/y'
keys Enter
sees "and is kept" 'filter acts'
keys Escape
sees "until Esc" 'weights/y'
keys 1 g
until_true "the largest is selected" row_is weights/y
keys Enter
sees "a tensor: its identity" 'identity +[0-9a-f]{8}-'
sees "its lease, and a program with a name that cannot be obeyed" 'ro .*evil.u\{1b\}\[2J'
keys Escape
misses "closed" 'identity '
keys 5
sees "processes" 'evil.u\{1b\}'
keys 6
sees "events" 'tensor_created'
keys '?'
sees "the keys" 'Sort by the next column'
keys q
misses "q closes the keys, and does not quit" 'Sort by the next column'
keys Space
sees "held" 'HELD for'
millpond tensor rm live/z >/dev/null
keys 1
sees "a held picture stays" 'live/z'
keys Space
misses "and goes on" 'live/z'

# Changes.
keys 2 g j w
sees "a swap asks first" 'Make llama@v2 the current version\?'
keys n
sees "cancelled" 'nothing was changed'
expect "and nothing was" "$(current)" v1
keys w y
sees "a swap is done" 'llama@v2 is current'
until_true "and the pond says so" current_is v2
keys r
sees "a rollback asks first" 'Roll llama back to v1\?'
keys y
until_true "a rollback is done" current_is v1
sees "and said" 'llama@v1 is current again'
keys g x
sees "the current version is not retired" 'is the current version'
keys Escape
misses "closed" 'is the current version'
keys G x
sees "retiring asks first" 'Retire llama@v3\?'
keys y
misses "a version is retired" '^[> ] llama +v3'
keys 3 L
sees "a limit is written" 'A limit for group team-a on GPU 0'
keys 2X Enter
sees "one that cannot be read" "'2X' is"
keys BSpace 56M Enter
sees "is confirmed" 'Give group team-a a limit of 256 MiB'
keys n
limit_is $((512 << 20)) && pass "cancelled: 512 MiB" || fail "cancelled: 512 MiB"
keys L 256M Enter y
until_true "done: 256 MiB" limit_is $((256 << 20))
sees "and seen" 'of 256 MiB'

# Kills, and a daemon that hangs.
daemon=$(status daemon_pid) epoch=$(status epoch)
kill -STOP "$daemon"
sees "a daemon that hangs: the age of the picture" 'picture [0-9]+s old'
kill -CONT "$daemon"
misses "and none when it goes on" 'picture [0-9]+s old'
kill -9 "$daemon"
sees "a daemon that was killed: the next one" "epoch $((epoch + 1)) up"
keeper=$(status keeper_pid) daemon=$(status daemon_pid)
kill -9 "$keeper" "$daemon"
sees "a pond that was killed" 'POND AWAY, picture [0-9]+s old'
sees "with its last picture" 'team-a'
serve
misses "another pond: back by itself" 'POND AWAY'
sees "with what it has" '1 Tensors 0'
keys 6
sees "and its events" 'group_|recovery|tensor|gap|client'
keys 1

# The terminal.
mux resize-window -t top -x 80 -y 24
sees "80 columns" '^ millpond · pond'
[ "$(screen | wc -L)" -le 80 ] && pass "nothing is wider" || fail "nothing is wider"
mux resize-window -t top -x 40 -y 10
sees "too small" 'needs 60 columns, 14 rows'
mux resize-window -t top -x 100 -y 30
sees "and large again" 'millpond · pond'
keys C-z
sees "Ctrl-Z: the shell" 'Stopped'
until_true "with its screen" is_restored
is_sane "and its terminal"
keys fg Enter
sees "fg: the pond again" 'millpond · pond'
until_true "with a screen of its own" is_taken
kill -TSTP "$(top_pid)"
sees "SIGTSTP stops it too" 'Stopped'
keys fg Enter
sees "and it comes back" 'millpond · pond'
keys q
sees "q: the shell" '^prompt>$'
until_true "with its screen" is_restored
is_sane "and its terminal"
keys 'millpond top; echo code=$?' Enter
sees "started again" 'millpond · pond'
kill -TERM "$(top_pid)"
sees "SIGTERM ends it in order" '^code=0'
until_true "and gives the screen back" is_restored
is_sane "and the terminal"
keys 'NO_COLOR=1 millpond top --ascii --readonly' Enter
sees "read-only" 'all users, read-only'
expect "ASCII" "$(screen | LC_ALL=C grep -c '[^ -~]')" 0
expect "no colour" "$(mux capture-pane -p -e -t top | grep -cE $'\e\\[[0-9;]*(3[0-7]|38;5)')" 0
keys 2 w
sees "nothing is changed" 'read-only|--readonly'
keys Escape
misses "closed" 'Not done'
keys q
sees "q: the shell" '^prompt>$'
keys C-l 'millpond top --watch' Enter
sees "only watching" 'all users, read-only'
keys 3 L
sees "is told why nothing is changed" 'its connection is for watching'
keys Escape
pid=$(top_pid)
mux kill-session -t top
until_true "a terminal that goes away ends it" is_gone "$pid"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
