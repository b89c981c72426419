#!/usr/bin/env bash
# Runs docs/serve-one-model.md as a newcomer does: every shell block, in order, in one shell.
#
#   tests/serve_page.sh               installs the wheel of dist/wheels first, as the page says
#   tests/serve_page.sh --installed   uses `millpond` and `python` of PATH instead
#   tests/serve_page.sh --print       prints the page's commands with what they print; for the page
#
# Blocks of `sh background` stay in the background, to where the page says that they are stopped. `sh
# cleanup` is not typed. A `text` block is what the block before it prints: it is compared, with every
# number and every run of blanks taken for equal to another one; `text shortened` is not. Ends with "N
# passed, N failed".
set -u
cd "$(dirname "$0")/.."
root=$PWD
page=$root/docs/serve-one-model.md
installed=no show=no
for flag in "$@"; do
    case $flag in
        --installed) installed=yes ;;
        --print) show=yes ;;
        *) sed -n '2,11p' "$0" | sed 's/^# \{0,1\}//'; exit 2 ;;
    esac
done
work=$(mktemp -d)
export MILLPOND_DRIVER="${MILLPOND_DRIVER:-soft}" MILLPOND_SOFT_DIR="$work/gpu" MILLPOND_CONFIG="$work/config.toml"
# A pond of the page's own, whose log goes nowhere else.
export MILLPOND_RUNTIME_DIR="$work/pond" XDG_STATE_HOME="$work/state" MILLPOND_LOG_FILE="$work/pond.log"
mkdir -m 700 "$MILLPOND_SOFT_DIR"
: >"$MILLPOND_CONFIG"
passed=0 failed=0 background=()

# Ends what was started, the last one first.
stop() {
    local index code
    for ((index = ${#background[@]} - 1; index >= 0; index--)); do
        kill "${background[index]}" 2>/dev/null
        wait "${background[index]}"
        code=$?
        if [ "$code" = 0 ]; then pass "it stops in order"; else fail "it ends with $code"; cat "$work/background-$index"; fi
    done
    background=()
}
finish() {
    stop >/dev/null
    millpond stop >/dev/null 2>&1
    rm -rf "$work" /tmp/pool-v1.safetensors /tmp/pool-v2.safetensors
}
trap finish EXIT

# A machine without curl gets one that can do what the page needs.
if ! command -v curl >/dev/null; then
    mkdir "$work/bin"
    cat >"$work/bin/curl" <<'SCRIPT'
#!/usr/bin/env python3
import sys, urllib.request
url, data = sys.argv[2], sys.argv[4].encode() if sys.argv[3:4] == ["-d"] else None
print(urllib.request.urlopen(f"http://{url}", data).read().decode(), end="")
SCRIPT
    chmod +x "$work/bin/curl"
    PATH="$work/bin:$PATH"
fi

pass() { passed=$((passed + 1)); echo "ok      $1"; }
fail() { failed=$((failed + 1)); echo "FAILED  $1"; }

# One file for each block, named by its number; its first line is what follows the three ticks.
awk -v folder="$work" '
    /^```/ && !inside { inside = 1; name = sprintf("%s/block-%03d", folder, ++count); print substr($0, 4) > name; next }
    /^```$/ && inside { inside = 0; close(name); next }
    inside { print >> name }
    /^<!-- tests.serve_page.sh: stop -->$/ { print "stop" > sprintf("%s/block-%03d", folder, ++count) }
' "$page"

same() {
    sed -E 's/[0-9a-f]{8}[0-9a-f-]*/#/g; s/[0-9]+(\.[0-9]+)?/#/g; s/[[:space:]]+/ /g
        s/# (us|ms|s|seconds?|minutes?)\b/# s/g; s/[kMG]B\/s/B\/s/g' "$1"
}

# Whether the coordinator in the background has workers that the next commands can use.
ready() {
    local try
    for try in $(seq 1 600); do
        curl -s localhost:8080/stats 2>/dev/null | grep -q '"state": "idle"' &&
            ! curl -s localhost:8080/stats | grep -q '"state": "starting"' && return
        sleep 0.1
    done
    return 1
}

# A reader takes longer to type the next line than a worker to follow a swap; a script does not.
followed() {
    local current try
    current=$(millpond inspect net --json | sed -n 's/^ *"\(tag\|version\)": "\([^"]*\)",*$/\2/p' | head -n 1)
    for try in $(seq 1 600); do
        curl -s localhost:8080/stats >"$work/stats"
        [ "$(grep -o '"version": [^,]*' "$work/stats" | sort -u)" = "\"version\": \"$current\"" ] && return
        sleep 0.1
    done
    fail "the workers do not follow to $current"
}

for block in "$work"/block-*; do
    kind=$(head -n 1 "$block")
    sed 1d "$block" >"$work/commands"
    title=$(head -n 1 "$work/commands")
    case $kind in
        "sh install") [ "$installed" = yes ] && continue ;;&
        "sh background")
            mapfile -t command <"$work/commands"
            # Exec, so that the signal at the end reaches the command itself.
            (eval "exec ${command[0]}") >"$work/background-${#background[@]}" 2>&1 &
            background+=($!)
            if ready; then pass "$title"; else fail "$title: it does not start"; break; fi
            ;;
        sh | "sh install")
            : >"$work/output"
            while IFS= read -r line; do
                [ "$show" = no ] || echo "\$ $line"
                # In this shell, so that a `cd` and an `export` stay.
                eval "$line" >"$work/line" 2>&1 </dev/null
                code=$?
                cat "$work/line" >>"$work/output"
                [ "$show" = no ] || cat "$work/line"
                cat "$work/line" >>"$work/everything"
                if [ "$code" = 0 ]; then pass "$line"; else fail "$line: exit code $code"; cat "$work/line"; fi
                case $line in *" swap "* | *" rollback "*) followed ;; esac
            done <"$work/commands"
            ;;
        stop) stop ;;
        text)
            if diff <(same "$work/output") <(same "$work/commands") >"$work/difference"; then
                pass "output as on the page"
            else
                fail "output is not as on the page (<: found, >: page)"
                cat "$work/difference"
            fi
            ;;
    esac
done

# One answer for each version, and another one for the other.
answers=$(sed -n 's/.*"digest": "\([0-9a-f]*\)", "version": "\([^"]*\)".*/\2 \1/p' "$work/everything")
if [ "$(cut -d' ' -f1 <<<"$answers" | tr '\n' ' ')" = "v1 v1 v1 v1 v2 v1 " ]; then
    pass "the answers are of the versions that were current"
else
    fail "the answers are of other versions: $answers"
fi
if [ "$(sort -u <<<"$answers" | wc -l) $(cut -d' ' -f2 <<<"$answers" | sort -u | wc -l)" = "2 2" ]; then
    pass "a version has one answer"
else
    fail "a version has several answers, or two have the same: $answers"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
