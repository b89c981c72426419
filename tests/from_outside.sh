#!/usr/bin/env bash
# Kills every process of a pond with -9, from outside, and looks whether anything is lost or leaked.
# Uses nothing but two programs:
#   MILLPOND_BIN  the `millpond` program
#   PONDTOOL      the `pondtool` program of the tests
# MILLPOND_DRIVER chooses the driver; the software driver unless set. Ends with "N passed, N failed".
set -u

: "${MILLPOND_BIN:?names the millpond program}"
: "${PONDTOOL:?names the pondtool program}"
export MILLPOND_DRIVER="${MILLPOND_DRIVER:-soft}"

# On a card, contexts of processes that just ended go a little later, and every process that called
# cuInit costs some megabytes; so the known bytes are many more than the difference allowed.
if [ "$MILLPOND_DRIVER" = soft ]; then
    parent=/dev/shm bytes=$((36 << 20)) tolerance=0
    [ -d "$parent" ] || parent=/tmp
else
    parent=/tmp bytes=$((512 << 20)) tolerance=$((96 << 20))
fi
folder=$(mktemp -d "$parent/mpo-XXXXXX") || exit 1
export MILLPOND_RUNTIME_DIR="$folder/run" MILLPOND_SOFT_DIR="$folder/soft"
export MILLPOND_SOFT_MEMORY="${MILLPOND_SOFT_MEMORY:-1G}" MILLPOND_CONFIG="$folder/config.toml"
: > "$MILLPOND_CONFIG"

passed=0 failed=0 holder='' watching=''

pass() { passed=$((passed + 1)); echo "ok      $1"; }
fail() { failed=$((failed + 1)); echo "FAILED  $1"; }
expect() { # what, found, expected
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: '$2' instead of '$3'"; fi
}

# A number of `millpond status --json`; of the first GPU, where it is one of a GPU.
field() { "$MILLPOND_BIN" status --json 2>/dev/null | sed -n "s/^ *\"$1\": \([0-9][0-9]*\),*$/\1/p" | head -n 1; }

# Asks until the answer is right: time decides nothing, it only ends what hangs.
settles() { # what, expected, command...
    local what=$1 expected=$2 found='' try
    shift 2
    for try in $(seq 1 300); do
        found=$("$@")
        [ "$found" = "$expected" ] && break
        sleep 0.05
    done
    expect "$what" "$found" "$expected"
}

near() { # expected bytes; prints "same" if the card's own count is about that
    local used difference
    used=$(field physical_used_bytes)
    [ -n "$used" ] || { echo unknown; return; }
    difference=$((used > $1 ? used - $1 : $1 - used))
    if [ "$difference" -le "$tolerance" ]; then echo same; else echo "$used"; fi
}

# The card's own count once it stays the same: what ended processes held goes a moment later.
steady() {
    local before now try
    before=$(field physical_used_bytes)
    for try in $(seq 1 50); do
        [ "$tolerance" -eq 0 ] || sleep 0.3
        now=$(field physical_used_bytes)
        [ "$now" = "$before" ] && break
        before=$now
    done
    echo "$before"
}

accounts() { echo "$(field slab_bytes) $(field tensor_bytes) $(field tensors) $(field leases) $(field lost_tensors)"; }

is_gone() { if kill -0 "$1" 2>/dev/null && ! grep -q '^State:.[ZX]' "/proc/$1/status" 2>/dev/null; then echo no; else echo yes; fi; }

finish() {
    local round pid
    exec 7>&- 8<&- 2>/dev/null
    [ -n "$holder" ] && kill -9 "$holder" 2>/dev/null
    [ -n "$watching" ] && kill -9 "$watching" 2>/dev/null
    # Keeper and daemon start each other again, so both by their numbers, until nobody answers.
    for round in 1 2 3 4 5; do
        pid="$(field keeper_pid) $(field daemon_pid)"
        [ "$pid" = " " ] && break
        # shellcheck disable=SC2086 # two numbers
        kill -9 $pid 2>/dev/null
        sleep 0.1
    done
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM

# With a descriptor that nobody needs, as a driver leaves them open.
"$MILLPOND_BIN" serve --recycle-bytes 0 2> "$folder/serve.log" 9> "$folder/stray" &
serve=$!
for try in $(seq 1 300); do
    [ -n "$(field physical_used_bytes)" ] && break
    sleep 0.05
done
if [ -z "$(field daemon_pid)" ]; then
    cat "$folder/serve.log"
    fail "the pond answers"
    echo "$passed passed, $failed failed"
    exit 1
fi
pass "the pond answers"
inherited() { find "/proc/$1/fd" -lname '*/stray' | wc -l; }
expect "the keeper was started with a descriptor too many" "$(inherited "$serve")" 1
expect "the daemon has not inherited it" "$(inherited "$(field daemon_pid)")" 0
empty=$(steady)

known=$("$PONDTOOL" put known "$bytes" 42)
small=$("$PONDTOOL" put small 65536 43)
expect "hashes are hashes" "${#known} ${#small}" "32 32"

# The old client: it maps the bytes now and reads them through this mapping after every death.
mkfifo "$folder/to" "$folder/from"
"$PONDTOOL" hold known < "$folder/to" > "$folder/from" &
holder=$!
exec 7> "$folder/to" 8< "$folder/from"
read -r -t 60 -u 8 answer
expect "an old client holds the bytes" "$answer" "holding $known"
settles "one lease" 1 field leases
before=$(accounts)
physical=$(steady)

old() {
    local hash=''
    echo hash >&7
    read -r -t 60 -u 8 hash
    echo "$hash"
}

look() { # after what
    expect "$1: a new client reads the bytes" "$("$PONDTOOL" hash known)" "$known"
    expect "$1: a new client reads the small ones" "$("$PONDTOOL" hash small)" "$small"
    expect "$1: the old client reads the bytes" "$(old)" "$known"
    settles "$1: the account book is the same" "$before" accounts
    settles "$1: the driver counts the same" same near "$physical"
}

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

kill_daemon() {
    local pid epoch start
    pid=$(field daemon_pid) epoch=$(field epoch) start=$(milliseconds)
    kill -9 "$pid"
    for try in $(seq 1 600); do
        [ "$(field epoch)" != "$epoch" ] && [ -n "$(field epoch)" ] && break
        sleep 0.02
    done
    echo "        daemon $pid killed, the next one answers after $(($(milliseconds) - start)) ms"
    if [ "$(field epoch)" -gt "$epoch" ]; then pass "$1: the epoch rises"; else fail "$1: the epoch rises"; fi
    settles "$1: the daemon is gone" yes is_gone "$pid"
}

kill_keeper() {
    local pid epoch start
    pid=$(field keeper_pid) epoch=$(field epoch) start=$(milliseconds)
    kill -9 "$pid"
    for try in $(seq 1 600); do
        [ "$(field keeper_pid)" != "$pid" ] && [ -n "$(field keeper_pid)" ] && break
        sleep 0.02
    done
    echo "        keeper $pid killed, the next one holds after $(($(milliseconds) - start)) ms"
    expect "$1: the daemon goes on" "$(field epoch)" "$epoch"
    settles "$1: the keeper is gone" yes is_gone "$pid"
}

look "at first"

mkfifo "$folder/to2"
"$PONDTOOL" hold known < "$folder/to2" > "$folder/holding" &
watching=$!
exec 9> "$folder/to2"
settles "a worker holds the bytes" 2 field leases
kill -9 "$watching"
wait "$watching" 2>/dev/null
exec 9>&-
watching=''
settles "its lease ends with it" 1 field leases
look "worker killed"

for round in 1 2 3; do
    kill_daemon "daemon killed ($round)"
    look "daemon killed ($round)"
done
for round in 1 2 3; do
    kill_keeper "keeper killed ($round)"
    look "keeper killed ($round)"
done
for round in 1 2 3; do
    kill_daemon "in turn ($round)"
    kill_keeper "in turn ($round)"
    look "in turn ($round)"
done

"$MILLPOND_BIN" tensor rm known small > /dev/null
expect "deleted, but never under a reader" "$(old)" "$known"
settles "one slab is left for the reader" 1 field slabs
echo bye >&7
exec 7>&- 8<&-
wait "$holder"
expect "the old client ends well" $? 0
holder=''
settles "nothing is left in the account book" "0 0 0 0 0" accounts
settles "nothing is left on the card" same near "$empty"

keeper=$(field keeper_pid) daemon=$(field daemon_pid)
kill -TERM "$keeper"
settles "SIGTERM ends the keeper" yes is_gone "$keeper"
settles "and the daemon" yes is_gone "$daemon"
if [ -e "$MILLPOND_RUNTIME_DIR/sock" ]; then fail "the socket is removed"; else pass "the socket is removed"; fi
"$MILLPOND_BIN" status > /dev/null 2>&1
expect "nobody answers any more" $? 15
wait "$serve" 2>/dev/null

[ "$failed" -eq 0 ] || { echo "--- the pond's log"; cat "$folder/serve.log"; }
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
