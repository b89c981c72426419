#!/usr/bin/env bash
# A pond under a real service manager: socket activation, every kill, restart. The units are those of
# deploy/systemd/ with their sandbox, run by a `systemd --user` of root in a mount namespace of its
# own.
#   MILLPOND_BIN  the `millpond` program, with `millpond-web` beside it
#   PONDTOOL      the `pondtool` program of the tests
# Ends with "N passed, N failed"; what cannot run here is said as `SKIPPED: why`.
set -u

skip() { echo "SKIPPED: systemd: $1"; echo "0 passed, 0 failed"; exit 0; }

if [ "${1:-}" != inside ]; then
    : "${MILLPOND_BIN:?names the millpond program}"
    : "${PONDTOOL:?names the pondtool program}"
    MILLPOND_BIN=$(realpath "$MILLPOND_BIN")
    PONDTOOL=$(realpath "$PONDTOOL")
    units=$(realpath "$(dirname "$0")/../deploy/systemd")
    export MILLPOND_BIN PONDTOOL units
    [ -x /usr/lib/systemd/systemd ] || skip "it is not installed"
    [ "$(id -u)" = 0 ] || skip "a mount namespace needs root"
    version=$(/usr/lib/systemd/systemd --version | sed -n '1s/systemd \([0-9]*\).*/\1/p')
    [ "$version" -ge 250 ] || skip "version $version has no ExitType=cgroup"
    unshare --mount true 2>/dev/null || skip "no mount namespaces here"
    exec unshare --mount --propagation private "$0" inside
fi

passed=0 failed=0
pass() { passed=$((passed + 1)); echo "ok      $1"; }
fail() { failed=$((failed + 1)); echo "FAILED  $1"; }
expect() { # what, found, expected
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: '$2' instead of '$3'"; fi
}

# What is mounted and started here is nobody else's.
home=$(mktemp -d /dev/shm/mps-XXXXXX)
mount -t tmpfs tmpfs /run || skip "nothing can be mounted over /run"
mkdir -p /run/systemd/system /run/user/0
chmod 700 /run/user/0
export XDG_RUNTIME_DIR=/run/user/0 HOME=$home
unset DBUS_SESSION_BUS_ADDRESS MILLPOND_CONFIG
export MILLPOND_RUNTIME_DIR=/run/user/0/millpond MILLPOND_SOFT_DIR=$home/soft MILLPOND_DRIVER=soft
export MILLPOND_SOFT_MEMORY=1G
folder=$home/.config/systemd/user
mkdir -p "$folder/millpond.service.d"
cp "$units"/*.service "$units"/*.socket "$folder"
# Where the sandbox does not hide it.
cp "$MILLPOND_BIN" "$home/millpond"
cp "$(dirname "$MILLPOND_BIN")/millpond-web" "$home/millpond-web"
MILLPOND_BIN=$home/millpond
: > "$home/config.toml"
cat > "$folder/millpond.service.d/test.conf" <<END
[Service]
ExecStart=
ExecStart=$MILLPOND_BIN serve --runtime-dir %t/millpond
Environment=MILLPOND_DRIVER=soft MILLPOND_SOFT_DIR=$home/soft MILLPOND_SOFT_MEMORY=1G
Environment=MILLPOND_CONFIG=$home/config.toml
StandardError=append:$home/log
# These three cannot be set up inside a container without /home or with a masked /proc.
ProtectHome=no
ProtectKernelTunables=no
ProtectKernelLogs=no
END

# The page's service has a user and tokens of root, which a user manager cannot give it.
mkdir -p "$folder/millpond-web.service.d"
web_tokens=$home/tokens
(umask 077; echo 'abcdefgh-abcdefgh' > "$web_tokens")
sed -i '/^User=/d; /^LoadCredential=/d' "$folder/millpond-web.service"
cat > "$folder/millpond-web.service.d/test.conf" <<END
[Service]
ExecStart=
ExecStart=$MILLPOND_BIN web --runtime-dir %t/millpond --token-file $web_tokens --listen 127.0.0.1:0
Environment=MILLPOND_DRIVER=soft MILLPOND_SOFT_DIR=$home/soft
StandardOutput=append:$home/web.url
StandardError=append:$home/web.log
ProtectHome=no
ProtectKernelTunables=no
ProtectKernelLogs=no
END

SYSTEMD_LOG_TARGET=console /usr/lib/systemd/systemd --user >"$home/manager" 2>&1 &
manager=$!
ended() {
    if [ "$failed" != 0 ]; then
        ctl status --no-pager millpond.service
        tail -n 25 "$home/log" "$home/manager" "$home/web.log"
    fi
    ctl stop millpond-web.service millpond.service 2>/dev/null
    kill $manager 2>/dev/null
    wait $manager 2>/dev/null
    rm -rf "$home"
}
trap ended EXIT
ctl() { systemctl --user "$@"; }
for _ in $(seq 1 100); do
    ctl show-environment >/dev/null 2>&1 && break
    sleep 0.1
done
ctl show-environment >/dev/null 2>&1 || skip "a user manager does not start here: $(tail -n 1 "$home/manager")"

show() { ctl show -p "$1" --value millpond.service; }
status() { "$MILLPOND_BIN" status --json 2>/dev/null; }
field() { status | sed -n "s/^ *\"$1\": \([0-9][0-9]*\),*$/\1/p" | head -n 1; }
settles() { # what, expected, command...
    local what=$1 expected=$2 found=''
    shift 2
    for _ in $(seq 1 300); do
        found=$("$@")
        [ "$found" = "$expected" ] && break
        sleep 0.05
    done
    expect "$what" "$found" "$expected"
}
# Kept by the service manager: everything of both processes, and the table.
stored() { show NFileDescriptorStore; }
rises() { # what, epoch before
    local now
    now=$(field epoch)
    if [ "${now:-0}" -gt "$2" ]; then pass "$1: epoch $2, then $now"; else fail "$1: epoch $2, then '$now'"; fi
}
# Everything is as it was: bytes, accounts, and one that has held all the time.
whole() { # after what
    expect "the bytes after $1" "$("$PONDTOOL" hash kept)" "$hash"
    settles "the slabs after $1" "$slabs" field slab_bytes
    settles "the tensors after $1" 2 field tensors
    echo hash >&"${holder[1]}"
    read -r -t 20 said <&"${holder[0]}"
    expect "who maps it sees it after $1" "${said:-}" "$hash"
    settles "who maps it is known after $1" 0 field silent_clients
    settles "one lease after $1" 1 field leases
    settles "what the service manager keeps after $1" "$kept" stored
}

same_keeper() { [ "$(field keeper_pid)" = "$(show MainPID)" ] && echo yes; }

# Neither sees the other die: both stand still before they are killed. The daemon is the first, because
# the kernel continues a stopped process whose parent dies, and a daemon that runs starts a keeper.
kill_both() {
    local keeper daemon
    keeper=$(field keeper_pid) daemon=$(field daemon_pid)
    kill -STOP "$daemon" "$keeper"
    for _ in $(seq 1 1000); do
        stands_still "$daemon" && stands_still "$keeper" && break
        sleep 0.01
    done
    kill -9 "$daemon"
    kill -9 "$keeper"
}
stands_still() { [ "$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status")" = T ]; }

# What is seen at `watch.sock`, and what is answered to a delete there.
watched() { printf 'watch\nnames\n' | "$PONDTOOL" shell | tail -n 1; }
deleted() { printf 'watch\ndelete kept\n' | "$PONDTOOL" shell | tail -n 1 | cut -d ' ' -f 1,2; }

ctl start millpond.socket millpond-admin.socket millpond-watch.socket || fail "the socket units start"
expect "nobody serves before somebody asks" "$(show ActiveState)" inactive
hash=$("$PONDTOOL" put kept 3000000 7)
expect "the first client starts it" "$(show ActiveState)" active
[ "$failed" = 0 ] || { echo "$passed passed, $failed failed"; exit 1; }
"$PONDTOOL" put other 40000000 8 >/dev/null
coproc holder { "$PONDTOOL" hold kept; }
read -r -t 20 said <&"${holder[0]}"
expect "a client holds" "${said:-}" "holding $hash"
slabs=$(field slab_bytes)
# And whatever else the daemon holds: the same number after everything that happens.
at_least_seven() { [ "$(stored)" -ge 7 ] && echo yes; }
settles "two slabs, a client, a lock of a folder and of a GPU, journal and table are kept" yes at_least_seven
sleep 1
kept=$(stored)
whole "the start"
expect "nothing is deleted at the watching socket" "$(deleted)" "error denied"

# The page under its sandbox: it sees the pond, knows whose process asks, and comes back.
ctl start millpond-web.service || fail "the page's service starts"
url() { tail -n 1 "$home/web.url" 2>/dev/null; }
page() { curl -s --max-time 20 "$(url)$1"; }
seen() { page metrics | sed -n "s/^millpond_$1 //p"; }
settles "the page sees the pond" 1 seen up
expect "root is known by its socket, without a token" "$(page api/v1/whoami | grep -c '"sees":"everything"')" 1
expect "the page's tensors" "$(page api/v1/tensors | grep -o '"name":"[a-z]*"' | sort | tr '\n' ' ')" '"name":"kept" "name":"other" '
before=$(ctl show -p MainPID --value millpond-web.service)
kill -9 "$before"
another() { [ "$(ctl show -p MainPID --value millpond-web.service)" != "$before" ] && [ "$(seen up)" = 1 ] && echo yes; }
settles "the page's service is started again" yes another
settles "the page is no client that holds anything" 1 field leases

for round in 1 2 3; do
    epoch=$(field epoch) keeper=$(field keeper_pid) pond=$(field daemon_pid)
    kill -9 "$keeper"
    for _ in $(seq 1 300); do
        [ "$(field keeper_pid)" != "$keeper" ] && break
        sleep 0.02
    done
    expect "the daemon goes on without its keeper, $round" "$(field epoch)" "$epoch"
    settles "the new keeper is the service, $round" "$(field keeper_pid)" show MainPID
    whole "the keeper's death $round"

    kill -9 "$pond"
    settles "the next daemon serves, $round" $((epoch + 1)) field epoch
    whole "the daemon's death $round"

    epoch=$(field epoch)
    kill_both
    rises "both killed at once, $round" "$epoch"
    whole "the death of both $round"

    epoch=$(field epoch)
    ctl restart millpond.service || fail "a restart"
    rises "a restart, $round" "$epoch"
    whole "a restart $round"
    expect "who watches sees it after all of that, $round" "$(watched)" "ok kept other"
done
expect "no start was too many" "$(show ActiveState)" active
settles "the page sees the pond after all of that" 1 seen up
ctl stop millpond-web.service || fail "a stop of the page's service"

# Memory of other transports: a restart of the service ends hosts, and nothing else.
pooled=$("$PONDTOOL" shared make pooled mempool 3000000 9)
"$PONDTOOL" shared make hosted ipc 3000000 9 >/dev/null
expect "memory of a pool before a restart" "$("$PONDTOOL" hash pooled)" "$pooled"
expect "memory of a host before a restart" "$("$PONDTOOL" hash hosted)" "$pooled"
host() { status | sed -n '/"hosts"/,/\]/s/^ *"pid": \([0-9]*\),*$/\1/p'; }
lost() { "$PONDTOOL" hash hosted 2>&1 | grep -c "the process that kept its memory is gone"; }
for end in kill_both "ctl restart millpond.service"; do
    before=$(host)
    $end || fail "$end with a host"
    expect "memory of a pool after '$end'" "$("$PONDTOOL" hash pooled)" "$pooled"
    settles "memory of a host is lost with '$end'" 1 lost
    expect "the host is gone after '$end'" "$(kill -0 "$before" 2>/dev/null || echo gone)" gone
    expect "the next host starts after '$end'" "$("$PONDTOOL" shared make hosted ipc 3000000 9)" "$pooled"
done
"$MILLPOND_BIN" tensor rm pooled hosted >/dev/null
# A host stays for a while, without a tensor.
tensors() { status | sed -n '/^ *"devices": \[/,/^ *"tensors"/s/^ *"tensors": \([0-9]*\),*$/\1/p' | head -n 1; }
settles "their memory is given back" 2 tensors

# Nothing stays kept that was given back; a stop gives everything back, and the next is new.
echo bye >&"${holder[1]}"
"$MILLPOND_BIN" tensor rm kept other >/dev/null
settles "slabs that were given back" 0 field tensors
epoch=$(field epoch)
kill_both
rises "both killed when nothing is left" "$epoch"
kill -9 "$(field keeper_pid)"
settles "the new keeper is the service" yes same_keeper
ctl stop millpond.service 2>/dev/null
# Not its state: a keeper that was killed makes that `failed`, whatever came later.
# Keeper and daemon write their last lines in any order.
shut_down() { tail -n 6 "$home/log" | grep -c 'the pond shuts down'; }
settles "a stop in order" 1 shut_down
expect "nothing is kept after it" "$(stored)" 0
expect "the next pond is a new one" "$(field epoch)" 1
ctl stop millpond.socket millpond-admin.socket millpond-watch.socket millpond.service
expect "nobody listens" "$([ -e /run/user/0/millpond/sock ] || echo gone)" gone

for set in system:. user:user; do
    for unit in millpond.service millpond.socket millpond-admin.socket millpond-watch.socket; do
        folder=$units/${set#*:}
        said=$(SYSTEMD_UNIT_PATH="$folder:" systemd-analyze verify "--${set%:*}" --man=no "$folder/$unit" 2>&1 |
            grep -v 'Command /usr/bin/millpond is not executable')
        expect "$unit (${set%:*}) is in order" "$said" ""
    done
done
for companion in redis web; do
    said=$(SYSTEMD_UNIT_PATH="$units:" systemd-analyze verify --system --man=no "$units/millpond-$companion.service" 2>&1 |
        grep -v 'Command /usr/bin/millpond is not executable')
    expect "millpond-$companion.service (system) is in order" "$said" ""
done
for unit in millpond millpond-web; do
    level=$(systemd-analyze security --offline=yes --no-pager "$units/$unit.service" 2>&1 | sed -n 's/.*Overall exposure.*: \([0-9.]*\) .*/\1/p')
    echo "exposure of $unit.service: $level of 10"
    if [ "${level%.*}" -lt 3 ] 2>/dev/null; then pass "little is exposed by $unit"; else fail "exposure of $unit '$level'"; fi
done


echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
