# The runner of steps: sourced by scripts/test and, on a machine with a GPU, by dist/gpu/run.
#
#   step NAME COMMAND...   runs a step and counts its tests from what it prints
#   beside FUNCTION        runs a function of steps as a lane of its own; `join` waits for all lanes
#   await NAME             waits for a step of another lane; fails if that step failed
#   table                  every step with its time, then what decided how long all of it took
#   closing                the last line, `N passed, N failed`; fails if something failed
#
# What the caller may set: `only` and `without`, regular expressions of names; `listing=yes`, names
# instead of steps; `most_seconds`, after which a step is ended; `skips=fail`, where nothing may be
# skipped; `whole_log`, a file for everything that steps print; `contained`, a command before the
# command of each step.

steps=$(mktemp -d)
: >"$steps/done"
trap 'rm -rf "$steps"' EXIT
lane=main
# What the last step of this lane has printed.
step_log="$steps/log-$lane"
lanes=()
steps_begun=$SECONDS

step() { # name, command...
    local name=$1 log=$step_log begun=$SECONDS code=0 before=()
    shift
    [[ $name =~ ${only:-.} && ! $name =~ ${without:-^$} ]] || { settle "$name" ok; return 0; }
    [ "${listing:-no}" = no ] || { echo "$name"; settle "$name" ok; return 0; }
    # In the background a shell ignores interrupts, and so would every program that is tested.
    [ "$lane" = main ] || before=(env --default-signal=INT,QUIT)
    [ -z "${most_seconds:-}" ] || before+=(timeout "$most_seconds")
    local TIMEFORMAT='%U %S' good bad skip cpu
    { time "${before[@]}" ${contained:-} "$@" >"$log" 2>&1; } 2>"$log.time" || code=$?
    good=$(count passed "$log")
    bad=$(count failed "$log")
    # After a test's name too: libtest has printed that without an end of line.
    skip=$(grep -cE '(^|\.\.\. )SKIPPED: ' "$log")
    cpu=$(awk 'END { printf "%.0f", $1 + $2 }' "$log.time")
    # A step without tests counts as one.
    [ "$code" = 0 ] || [ "$bad" -gt 0 ] || bad=1
    [ "$good" -gt 0 ] || [ "$bad" -gt 0 ] || good=1
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$good" "$bad" "$skip" "$((SECONDS - begun))" "$cpu" "$lane" \
        "$((begun - steps_begun))" >>"$steps/done"
    local summary="   $good passed, $bad failed, $skip skipped, $((SECONDS - begun)) s"
    [ -z "${whole_log:-}" ] || { echo "== $name"; cat "$log"; echo "$summary"; } >>"$whole_log"
    # In one piece, because several lanes speak.
    if [ "$bad" = 0 ]; then
        say "== $name" "$(grep -oE '(^|\.\.\. )SKIPPED: .*' "$log")" "$summary"
        settle "$name" ok
    else
        say "== $name" "$(faults "$log")" "$(tail -n 100 "$log")" "$summary: $*"
        settle "$name" failed
    fi
}

say() { # line...
    printf '%s\n' "$@" | grep -v '^$'
}

# What failed, wherever it is: the tests after it go on.
faults() { # log
    grep -nE '^test .* FAILED$|panicked at|^error|^SURVIVED' -A 12 "$1" | grep -vE '^[0-9]+-(test .*(ok|ignored))?$' | head -n 200
}

# Adds up cargo's and our own closing lines.
count() { # passed|failed, log
    grep -vE '^seed ' "$2" | grep -oE "[0-9]+ $1" | awk '{ sum += $1 } END { print sum + 0 }'
}

settle() { # name of a step, ok|failed
    echo "$2" >"$steps/settled-${1//[^a-zA-Z0-9]/_}"
}

await() { # name of a step
    local marker="$steps/settled-${1//[^a-zA-Z0-9]/_}"
    until [ -s "$marker" ]; do sleep 0.2; done
    grep -q '^ok' "$marker"
}

beside() { # function
    (
        lane=$1 step_log="$steps/log-$1"
        # The folder is the caller's to remove.
        trap - EXIT
        "$1"
        echo done >"$steps/lane-$1"
    ) &
    lanes+=("$1")
}

join() {
    wait
    local name
    for name in "${lanes[@]}"; do
        [ -s "$steps/lane-$name" ] || {
            echo "the lane '$name' broke off"
            printf 'lane %s\t0\t1\t0\t0\t0\t%s\t0\n' "$name" "$name" >>"$steps/done"
        }
    done
    lanes=()
}

table() {
    [ -s "$steps/done" ] || return 0
    sort -s -t $'\t' -k7,7 -k8,8n "$steps/done" | awk -F '\t' -v wall="$((SECONDS - steps_begun))" '
        BEGIN { printf "\n%-12s %6s %7s %7s %6s  %s\n", "LANE", "AT", "SECONDS", "CPU", "TESTS", "STEP" }
        {
            printf "%-12s %6d %7d %7d %6d  %s%s\n", $7, $8, $5, $6, $2 + $3, $1, ($3 > 0 ? "  FAILED" : "")
            busy[$7] += $5; cpu[$7] += $6; all += $6
            if ($8 + $5 > ends[$7]) ends[$7] = $8 + $5
            if ($5 > longest[$7]) { longest[$7] = $5; name[$7] = $1 }
            # What comes after all lanes decides nothing; without lanes there is nothing else.
            if (last == "" || last == "main" || ($7 != "main" && ends[$7] > ends[last])) last = $7
        }
        END {
            for (each in busy) printf "%-12s ends at %d s: %d s in steps, %d s of CPU\n", each, ends[each], busy[each], cpu[each]
            printf "%d s of CPU in %d s. The last lane is \"%s\", its longest step \"%s\" with %d s.\n", all, wall, last, name[last], longest[last]
        }'
}

closing() {
    local good bad
    read -r good bad < <(awk -F '\t' -v skips="${skips:-}" '{ good += $2; bad += $3 + (skips == "fail" ? $4 : 0) }
        END { print good + 0, bad + 0 }' "$steps/done")
    echo "$good passed, $bad failed"
    # Who asked for no step at all has mistyped.
    [ "$bad" = 0 ] && [ "$good" != 0 ]
}
