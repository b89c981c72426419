#!/usr/bin/env bash
# The protocol is a contract: a client in C++, which has no line of Millpond in it, and the `millpond` program use one pond, and see each
# other's tensors and versions byte for byte. Types what docs/protocol.md says about that client first, which builds it.
#   MILLPOND_BIN           the `millpond` program
#   MILLPOND_SOFT_LIBRARY  the software driver's libcuda.so
# `sh setup` is done here with apt-get too, where something is missing. Ends with "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
source tests/typed_section.sh
: "${MILLPOND_SOFT_LIBRARY:?names the software driver}"
MILLPOND_SOFT_LIBRARY=$(realpath "$MILLPOND_SOFT_LIBRARY")

missing=()
command -v g++ >/dev/null || missing+=(g++)
command -v flatc >/dev/null || missing+=(flatbuffers-compiler)
[ -e /usr/include/flatbuffers/flatbuffers.h ] || missing+=(libflatbuffers-dev)
[ -e /usr/include/xxhash.h ] || missing+=(libxxhash-dev)
[ "${#missing[@]}" = 0 ] || {
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq && $sudo apt-get install -y -qq "${missing[@]}"
} || exit 1

begin_pond
mkdir "$work/soft"
ln -s "$MILLPOND_SOFT_LIBRARY" "$work/soft/libcuda.so.1"
export LD_LIBRARY_PATH="$work/soft"
enter_repository
type_section "A whole client in C++"
client=$work/repository/generated/client

millpond() { "$MILLPOND_BIN" "$@" 2>>"$work/complained"; }
works() { # what, command...
    local what=$1
    shift
    if "$@" >"$work/answer" 2>>"$work/complained"; then pass "$what"; else
        fail "$what"
        tail -n 5 "$work/complained"
    fi
}
same() { # what, file, file
    if cmp "$2" "$3"; then pass "$1"; else fail "$1"; fi
}
# A number of `millpond status --json`.
field() { millpond status --json | sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" | head -n 1; }
# Asks until the answer is right: time decides nothing, it only ends what hangs.
settles() { # what, expected, command...
    local what=$1 expected=$2 found=''
    shift 2
    for _ in $(seq 1 400); do
        found=$("$@")
        [ "$found" = "$expected" ] && break
        sleep 0.05
    done
    expect "$what" "$found" "$expected"
}

# The schema, as another compiler of schemas reads it.
flags=(-std=c++17 -Wall -Wextra -Werror -I generated)
works "the schema has all that golden messages have" g++ "${flags[@]}" "$root/tests/programs/protocol_golden.cpp" -o generated/golden
if generated/golden "$root/tests/golden" >"$work/golden"; then pass "every golden message is read, written and read again"; else
    fail "every golden message is read, written and read again"
    cat "$work/golden"
fi
if command -v clang++ >/dev/null; then
    works "clang builds the client too" clang++ "${flags[@]}" examples/protocol/client.cpp -o generated/clang-client -ldl
else
    echo "SKIPPED: clang++ is not installed, the client was built with g++ alone"
fi

# Tensors, both ways.
data=$work/data
head -c 3145733 /dev/urandom >"$data"
works "C++ makes a tensor" "$client" put both/from-cpp "$data"
works "Rust saves it" millpond tensor get both/from-cpp --format raw -o "$work/out"
same "with the same bytes" "$work/out" "$data"
works "Rust makes a tensor" millpond tensor put both/from-rust "$data" --format raw --dtype u8
works "C++ reads it" "$client" cat both/from-rust
same "with the same bytes" "$work/answer" "$data"
for transport in ipc mempool; do
    works "Rust makes one of transport $transport" millpond tensor create "both/$transport" --dtype u8 --shape 4096 --zero --transport "$transport"
    works "C++ opens it" "$client" cat "both/$transport"
    same "and it is zero" "$work/answer" <(head -c 4096 /dev/zero)
done
expect "they list the same names, C++ in pages of two" "$("$client" list both/ 2 2>/dev/null | sort)" "$(millpond tensor ls --quiet | grep '^both/' | sort)"
if "$client" put both/from-cpp "$data" 2>"$work/refused"; then fail "what is there is not made again"; else
    expect "what is there is not made again" "$(cat "$work/refused")" "client: 'both/from-cpp' is there already"
fi

# Versions, both ways.
works "C++ commits a version" "$client" commit both-model "$data"
works "Rust finds it as its manifest says" millpond verify both-model
works "and saves it" millpond save both-model "$work/both.safetensors"
works "Rust loads a version" millpond load again "$work/both.safetensors"
works "C++ attaches it" "$client" attach again data
same "with the same bytes" "$work/answer" "$data"
hashes() { millpond inspect "$1" | sed -n 's/^content hash *//p; s/^layout hash *//p'; }
expect "both have the same hashes of layout and content" "$(hashes again)" "$(hashes both-model)"

# Groups.
works "Rust makes a group" millpond group set crew --limit 64M
works "C++ lists groups" "$client" groups
expect "with its limit" "$(cat "$work/answer")" "crew: 0 processes, limit 67108864"

# The daemon is killed under a client that asks nothing.
mkfifo "$work/input"
epoch=$(field epoch)
"$client" keep both/from-cpp <"$work/input" >"$work/kept" 2>&1 &
keeper=$!
exec 7>"$work/input"
settles "C++ holds a lease" "epoch $epoch, leases 1" tail -n 1 "$work/kept"
for round in 1 2; do
    kill -9 "$(field daemon_pid)"
    settles "C++ claims it from the next daemon ($round)" "epoch $((epoch + round)), leases 1, refused 0, the bytes are kept" tail -n 1 "$work/kept"
    settles "which knows it" 1 field leases
done
works "C++ reads from that one" "$client" cat both/from-cpp
same "the same bytes" "$work/answer" "$data"

# Another pond comes where this one was: nothing can be claimed there, and what is mapped stays.
until ! millpond status >/dev/null; do kill -9 "$(field keeper_pid)" "$(field daemon_pid)"; done 2>/dev/null
wait "$pond" 2>/dev/null
# Without the write end of the pipe, which is to close.
"$MILLPOND_BIN" serve 2>>"$work/log" >/dev/null 7>&- &
pond=$!
settles "a lease is lost with its pond, and its memory is not" "epoch 1, leases 0, refused 1, the bytes are kept" tail -n 1 "$work/kept"
exec 7>&-
wait "$keeper"
expect "and it ends well" "$?" 0
works "C++ makes the tensor in the other pond" "$client" put both/from-cpp "$data"
works "Rust saves it there" millpond tensor get both/from-cpp --format raw -o "$work/other"
same "with the same bytes" "$work/other" "$data"
settles "no lease is left" 0 field leases

# What is no pond, or is somebody else's, is refused.
mkdir "$work/fake"
: >"$work/fake/sock"
MILLPOND_RUNTIME_DIR=$work/fake "$client" groups 2>"$work/refused"
expect "a file that is no socket is not trusted" "$(cat "$work/refused")" "client: '$work/fake/sock' is not to be trusted"
closing
