#!/usr/bin/env bash
# Types what docs/protocol.md says about a whole client: its `sh` blocks, against a pond of their own on the software driver.
#   MILLPOND_BIN  the `millpond` program
# `sh setup` is done here in another way: flatc with apt-get, packages into an environment of this test's. A `text` block is
# what the block before it prints; every number is taken for equal to another one. Ends with "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
root=$PWD
: "${MILLPOND_BIN:?names the millpond program}"
MILLPOND_BIN=$(realpath "$MILLPOND_BIN")
target="${CARGO_TARGET_DIR:-target}"
venv="$target/protocol-tests"
requirements=(flatbuffers==25.12.19 xxhash==4.1.0)
passed=0 failed=0
pass() { passed=$((passed + 1)); echo "ok      $1"; }
fail() { failed=$((failed + 1)); echo "FAILED  $1"; }

expect() { # what, found, expected
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: '$2' instead of '$3'"; fi
}

command -v flatc >/dev/null || {
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq && $sudo apt-get install -y -qq flatbuffers-compiler
} || exit 1
if [ "$(cat "$venv/requirements" 2>/dev/null)" != "${requirements[*]}" ]; then
    rm -rf "$venv"
    mkdir -p "$target"
    python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check "${requirements[@]}" || exit 1
    echo "${requirements[*]}" >"$venv/requirements"
fi

work=$(mktemp -d)
export MILLPOND_DRIVER=soft MILLPOND_SOFT_DIR="$work/gpu" MILLPOND_SOFT_MEMORY=256M MILLPOND_CONFIG="$work/config.toml"
export MILLPOND_RUNTIME_DIR="$work/pond"
mkdir -m 700 "$MILLPOND_SOFT_DIR"
: >"$MILLPOND_CONFIG"
"$MILLPOND_BIN" serve 2>"$work/log" >/dev/null &
pond=$!
finish() {
    kill "$pond" 2>/dev/null
    wait "$pond"
    rm -rf "$work"
}
trap finish EXIT
for _ in $(seq 1 200); do
    "$MILLPOND_BIN" status >/dev/null 2>&1 && break
    sleep 0.05
done

# As in the repository, but what flatc writes lies elsewhere.
mkdir "$work/repository"
ln -s "$root/schema" "$root/examples" "$work/repository"
cd "$work/repository" || exit 1
PATH="$(realpath "$root/$venv" 2>/dev/null || realpath "$venv")/bin:$PATH"
export PYTHONDONTWRITEBYTECODE=1

awk -v folder="$work" '
    /^## / { wanted = ($0 == "## A whole client") }
    /^```/ && wanted && !inside { inside = 1; name = sprintf("%s/block-%03d", folder, ++count); print substr($0, 4) > name; next }
    /^```$/ && inside { inside = 0; close(name); next }
    inside { print >> name }
' "$root/docs/protocol.md"
same() { sed -E 's/[0-9]+(\.[0-9]+)?/#/g' "$1"; }
for block in "$work"/block-*; do
    kind=$(head -n 1 "$block")
    tail -n +2 "$block" >"$work/typed"
    case $kind in
        sh)
            if bash -e "$work/typed" >"$work/said" 2>"$work/complained"; then pass "the commands of the page"; else
                fail "the commands of the page"
                cat "$work/said" "$work/complained"
                tail -n 20 "$work/log"
            fi ;;
        text)
            diff <(same "$work/typed") <(same "$work/said")
            expect "what the page says they print" "$?" 0 ;;
    esac
done

hashes() { "$MILLPOND_BIN" inspect "$1" | sed -n 's/^content hash *//p; s/^layout hash *//p'; }
"$MILLPOND_BIN" verify example-model >/dev/null 2>&1
expect "its version is as its manifest says" "$?" 0
saved=$work/saved.safetensors
"$MILLPOND_BIN" save example-model "$saved" >/dev/null 2>&1 && "$MILLPOND_BIN" load again "$saved" >/dev/null 2>&1
expect "it can be saved and loaded" "$?" 0
expect "with the same hashes of layout and content" "$(hashes again)" "$(hashes example-model)"
left() { "$MILLPOND_BIN" status --json | sed -n 's/^ *"leases": \([0-9]*\),*$/\1/p' | head -n 1; }
expect "no lease is left" "$(left)" 0
expect "nor a tensor" "$("$MILLPOND_BIN" tensor ls --quiet)" ""
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
