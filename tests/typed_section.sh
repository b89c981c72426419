# A pond on the software driver, and a section of docs/protocol.md that is typed beside it. For tests that source this.
#   MILLPOND_BIN  the `millpond` program
# Leaves `root`, `work`, `pond`, `passed` and `failed`.
: "${MILLPOND_BIN:?names the millpond program}"
MILLPOND_BIN=$(realpath "$MILLPOND_BIN")
root=$PWD
passed=0 failed=0
pass() { passed=$((passed + 1)); echo "ok      $1"; }
fail() { failed=$((failed + 1)); echo "FAILED  $1"; }

expect() { # what, found, expected
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: '$2' instead of '$3'"; fi
}

begin_pond() {
    work=$(mktemp -d)
    export MILLPOND_DRIVER=soft MILLPOND_SOFT_DIR="$work/gpu" MILLPOND_SOFT_MEMORY=256M MILLPOND_CONFIG="$work/config.toml"
    export MILLPOND_RUNTIME_DIR="$work/pond"
    mkdir -m 700 "$MILLPOND_SOFT_DIR"
    : >"$MILLPOND_CONFIG"
    "$MILLPOND_BIN" serve 2>"$work/log" >/dev/null &
    pond=$!
    trap end_pond EXIT
    for _ in $(seq 1 200); do
        "$MILLPOND_BIN" status >/dev/null 2>&1 && break
        sleep 0.05
    done
}

end_pond() {
    kill "$pond" 2>/dev/null
    wait "$pond"
    rm -rf "$work"
}

# As in the repository, but what flatc writes lies elsewhere.
enter_repository() {
    mkdir "$work/repository"
    ln -s "$root/schema" "$root/examples" "$work/repository"
    cd "$work/repository" || exit 1
}

# Types the `sh` blocks of a section; what they say is what the `text` block behind them says, every number taken for equal
# to another one. `sh setup` is the test's own to do.
type_section() { # heading
    local block kind
    awk -v folder="$work" -v heading="## $1" '
        /^## / { wanted = ($0 == heading) }
        /^```/ && wanted && !inside { inside = 1; name = sprintf("%s/block-%03d", folder, ++count); print substr($0, 4) > name; next }
        /^```$/ && inside { inside = 0; close(name); next }
        inside { print >> name }
    ' "$root/docs/protocol.md"
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
                diff <(numberless "$work/typed") <(numberless "$work/said")
                expect "what the page says they print" "$?" 0 ;;
        esac
    done
}
numberless() { sed -E 's/[0-9]+(\.[0-9]+)?/#/g' "$1"; }

# The last line, and the exit status.
closing() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}
