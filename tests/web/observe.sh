#!/usr/bin/env bash
# `millpond web` with a real pond: the API, the metrics, who is let in, readers that are many, slow or dead, and
# deaths under it.
#   MILLPOND_BIN  the `millpond` program, with `millpond-web` beside it
#   PONDTOOL      the `pondtool` program of the tests
# It needs curl, promtool and prometheus. Runs as root: parts of it act as other users. Ends with "N passed, N failed".
set -u

: "${MILLPOND_BIN:?names the millpond program}"
: "${PONDTOOL:?names the pondtool program}"
here=$(realpath "$(dirname "$0")")
deploy=$(realpath "$here/../../deploy")
export MILLPOND_DRIVER=soft MILLPOND_SOFT_MEMORY=2G
export MILLPOND_SOFT_READINGS=utilisation=35,memory=12,temperature=41,power=312000,limit=700000,fan=30
folder=$(mktemp -d /dev/shm/mpw-XXXXXX) || exit 1
chmod 711 "$folder"
# Where every user can execute them.
cp "$MILLPOND_BIN" "$(dirname "$MILLPOND_BIN")/millpond-web" "$folder" || exit 1
millpond=$folder/millpond
export MILLPOND_RUNTIME_DIR=$folder/run MILLPOND_SOFT_DIR=$folder/soft MILLPOND_CONFIG=$folder/config.toml
: > "$MILLPOND_CONFIG"
chmod 644 "$MILLPOND_CONFIG"
# A user without a name and without a file.
stranger=60123
group=$(getent group users | cut -d : -f 3)

passed=0 failed=0 started=()
pass() { passed=$((passed + 1)); echo "ok      $1"; }
fail() { failed=$((failed + 1)); echo "FAILED  $1"; }
expect() { # what, found, expected
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: '$2' instead of '$3'"; fi
}
has() { # what, text, part
    case "$2" in *"$3"*) pass "$1" ;; *) fail "$1: '$3' is not in '${2:0:400}'" ;; esac
}
lacks() { # what, text, part
    case "$2" in *"$3"*) fail "$1: '$3' is in it" ;; *) pass "$1" ;; esac
}
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
ended() {
    local pid
    for pid in "${started[@]}"; do kill -9 "$pid" 2>/dev/null; done
    "$millpond" stop >/dev/null 2>&1
    wait 2>/dev/null
    [ -z "${place:-}" ] || rmdir "$place" 2>/dev/null
    [ "$failed" = 0 ] || tail -n 20 "$folder"/*.log
    rm -rf "$folder"
}
trap ended EXIT

serve() {
    "$millpond" serve "$@" >>"$folder/serve.log" 2>&1 &
    pond=$!
    started+=("$pond")
    settles "a pond serves" yes answers
}
answers() { "$millpond" status -q >/dev/null 2>&1 && echo yes; }
field() { "$millpond" status --json 2>/dev/null | sed -n "s/^ *\"$1\": \([0-9][0-9]*\),*$/\1/p" | head -n 1; }

# Starts `millpond web` on a free port; `web` is its process then and `url` where it is.
apart=()
start_web() { # arguments
    : > "$folder/web.out"
    "${apart[@]}" "$millpond" web --listen 127.0.0.1:0 "$@" >"$folder/web.out" 2>>"$folder/web.log" &
    web=$!
    started+=("$web")
    settles "it says where it is" 1 lines_of "$folder/web.out"
    url=$(cat "$folder/web.out")
}
lines_of() { wc -l < "$1"; }
end_web() {
    kill "$web"
    wait "$web"
    expect "it ends in order" $? 0
}
get() { curl -s --max-time 30 "$url$1" "${@:2}"; }
status() { curl -s --max-time 30 -o /dev/null -w '%{http_code}' "$url$1" "${@:2}"; }
# The same by a pattern, for values that are not known before.
metric_of() { get metrics | sed -n "s/^millpond_$1 //p"; }
metric() { get metrics | grep -F "millpond_$1 " | grep -v '^#' | head -n 1 | sed 's/.* //'; }
# A value of what is read as JSON; nothing where it is not there yet.
json() { python3 -c 'import json,os,sys; print(eval(sys.argv[1], {"it": json.load(sys.stdin), "evil": os.environ.get("evil")}))' "$1" 2>/dev/null; }
token() { echo "Authorization: Bearer $1"; }
posted() { # action, body, arguments
    get "api/v1/actions/$1" -H 'Content-Type: application/json' -d "$2" "${@:3}"
}

serve --socket-group root
pondtool() { coproc POND { exec "$PONDTOOL" shell; }; started+=("$POND_PID"); }
tell() { # words; the answer is in `said`
    echo "$*" >&"${POND[1]}"
    read -r -t 60 said <&"${POND[0]}"
    case "$said" in ok*) ;; *) fail "$*: $said" ;; esac
}
pondtool

echo "# from a container"
apart=(unshare --user --map-root-user --pid --ipc --mount --fork --kill-child --mount-proc)
if "${apart[@]}" true 2>/dev/null; then
    start_web
    settles "a page in a container sees the pond" 1 metric up
    expect "it knows its user by the socket" "$(status api/v1/overview)" 200
    kill -9 "$web"
    wait "$web" 2>/dev/null
else
    echo "SKIPPED: \`unshare\` with a user namespace is not permitted here"
fi
apart=()

echo "# what is told"
(umask 077; echo reader-reader-reader-1 > "$folder/readers"; echo actor-actor-actor-actor > "$folder/actors")
start_web --token-file "$folder/readers" --actions-token-file "$folder/actors" --host gpu7.example.org
settles "it sees the pond" 1 metric up
expect "it is up" "$(get healthz)" ok
expect "the pond is ready" "$(get readyz)" ok
export evil='<img/src=x/onerror=alert(1)>"&{}=,\'
tell put "acts/$evil" 3000000 7
tell model make "net/$evil" v1 2 1
tell model make "net/$evil" v2 2 2
tell model attach "net/$evil"
"$millpond" group set team --limit 1G >/dev/null
tell cache open team kv 1048576
tell cache commit kv 4
overview() { get api/v1/overview | json "$1"; }
settles "a tensor is told" True overview '"acts/" + evil in [t["name"] for t in it["tensors"]]'
expect "a model is told" "$(overview 'it["models"][0]["name"]')" "net/$evil"
expect "it sees everything" "$(get api/v1/whoami | json 'it["sees"], it["actions"]')" "('everything', False)"
expect "the segments add up to the card" \
    "$(overview 'sum(s["bytes"] for s in it["cards"][0]["segments"]) == it["cards"][0]["total_bytes"]')" True
expect "an overview with one tensor" "$(get 'api/v1/overview?tensors=1' | json 'it["tensors_shown"], it["tensors_total"]')" "(1, 1)"
expect "a page of tensors" "$(get 'api/v1/tensors?prefix=acts/&most=1' | json 'len(it["tensors"])')" 1
expect "events with their reasons" "$(get 'api/v1/events?from=0' | json '"model_swapped" in {e["kind"] for e in it["events"]}')" True
expect "the history of a card" "$(get 'api/v1/history?device=gpu0&since_s=60' | json 'len(it["points"]) > 0')" True
expect "the history of a card that is not there" "$(status 'api/v1/history?device=gpu9')" 404
expect "a number that is none" "$(status 'api/v1/tensors?most=x')" 400
expect "a path that is not there" "$(get nothing | json 'it["error"]["kind"]')" not_found
expect "a way that is not there" "$(status metrics -X PUT)" 405
headers=$(get '' -D - -o /dev/null)
has "the page has a policy" "$headers" "content-security-policy: default-src 'none'; script-src 'sha256-"
lacks "the policy allows no inline script" "$headers" unsafe
for header in 'x-content-type-options: nosniff' 'referrer-policy: no-referrer' 'x-frame-options: DENY'; do
    has "the header $header" "$headers" "$header"
done
lacks "nobody else's page may read it" "$headers" access-control

# A container, as a runtime makes it: a cgroup with its name.
container=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
pod=9bd6f5c0_1d2e_4f3a_8b9c_0d1e2f3a4b5c
place=
for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/pids /sys/fs/cgroup/freezer /sys/fs/cgroup/cpu; do
    place=$root/kubepods-pod$pod.slice:cri-containerd:$container
    [ -e "$root/cgroup.procs" ] && mkdir "$place" 2>/dev/null && echo "$POND_PID" > "$place/cgroup.procs" 2>/dev/null && break
    rmdir "$place" 2>/dev/null
    place=
done
if [ -n "$place" ]; then
    charged=$("$millpond" group ls --json | json 'it["groups"][0]["devices"][0]["process_bytes"]')
    settles "memory by pod and container" "$charged" metric_of 'container_memory_bytes{.*pod_uid="9bd6f5c0-1d2e-4f3a-8b9c-0d1e2f3a4b5c",container_id="'"$container"'"}'
else
    echo "SKIPPED: memory by container: no cgroup can be made here"
fi

echo "# metrics"
"$millpond" rm nothing 2>/dev/null
sleep 1
get metrics > "$folder/scrape"
get metrics -H 'Accept: text/plain' > "$folder/scrape.classic"
expect "the last line" "$(tail -n 1 "$folder/scrape")" '# EOF'
expect "promtool finds nothing wrong with them" "$(promtool check metrics < "$folder/scrape.classic" 2>&1)" ""
expect "holders add up to what is in use" "$(python3 -B "$here/observe.py" sums "$folder/scrape")" same
lacks "no label is a tensor" "$(cat "$folder/scrape")" acts/
has "a model is a label, escaped" "$(cat "$folder/scrape")" 'model="net/<img/src=x/onerror=alert(1)>\"&{}=,\\"'
expect "temperature" "$(grep -c '^millpond_gpu_temperature_celsius{.*} 41\(\.0\)*$' "$folder/scrape")" 1
expect "alerts are in order" "$(promtool check rules "$deploy/prometheus/millpond.rules.yml" >/dev/null 2>&1; echo $?)" 0
expect "alerts fire when they should, and not when not" "$(promtool test rules "$deploy/prometheus/millpond.rules.test.yml" >/dev/null 2>&1; echo $?)" 0
expect "the example of a configuration" "$(promtool check config --syntax-only "$deploy/prometheus/prometheus.yml" >/dev/null 2>&1; echo $?)" 0
python3 -B "$here/observe.py" rules "$deploy/grafana/dashboards/millpond.json" > "$folder/dashboard.rules.yml"
said=$(promtool check rules "$folder/dashboard.rules.yml" 2>&1)
has "every expression of the dashboard can be read" "$said" SUCCESS
expect "every name of dashboard and alerts is one of a metric" \
    "$(python3 -B "$here/observe.py" names "$folder/scrape.classic" "$deploy/grafana/dashboards/millpond.json" "$deploy/prometheus/millpond.rules.yml")" ""
python3 -B "$here/observe.py" prometheus "$url" "$folder" "$deploy" reader-reader-reader-1 > "$folder/prometheus.said" 2>&1 &
prometheus=$!
asked() { metric 'requests_total{kind="status",result="answered"}'; }
before=$(asked)
python3 -B "$here/observe.py" scrape "$url" 300 0.01 > "$folder/scraped"
after=$(asked)
expect "300 scrapes, one every 10 ms" "$(cat "$folder/scraped")" "300 answered"
if [ $((after - before)) -le 15 ]; then pass "cost the daemon $((after - before)) requests"; else fail "300 scrapes cost the daemon $((after - before)) requests"; fi
wait "$prometheus"
expect "Prometheus scrapes it and evaluates every expression" "$(tail -n 1 "$folder/prometheus.said")" "all is well"

echo "# who is let in"
expect "root" "$(status metrics)" 200
as_stranger() { setpriv --reuid $stranger --regid $group --clear-groups "$@"; }
foreign() { as_stranger curl -s --max-time 30 -o /dev/null -w '%{http_code}' "$url$1" "${@:2}"; }
expect "another user on this machine" "$(foreign metrics)" 401
expect "another user with a token" "$(foreign metrics -H "$(token reader-reader-reader-1)")" 200
expect "another user with a wrong token" "$(foreign metrics -H "$(token reader-reader-reader-2)")" 401
expect "another user gets the page, to ask for a token" "$(foreign '')" 200
expect "another user's events" "$(foreign api/v1/live)" 401
expect "a name that is not ours" "$(status '' -H 'Host: evil.example')" 403
expect "a name that is ours" "$(status '' -H 'Host: gpu7.example.org:7711')" 200
expect "the page of another site" "$(status api/v1/overview -H 'Origin: http://evil.example')" 403
expect "a browser for another site" "$(status api/v1/overview -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: no-cors')" 403
expect "two origins" "$(status api/v1/overview -H "Origin: ${url%/}" -H 'Origin: http://evil.example')" 400
expect "a header of 40 KiB" "$(status metrics -H "X-Long: $(head -c 40000 /dev/zero | tr '\0' x)")" 431
expect "100 headers" "$(status metrics $(for n in $(seq 100); do echo "-H X-$n:1"; done))" 431

python3 -B "$here/observe.py" flood "$url" 1200 $stranger > "$folder/flooded" 2>&1 &
flood=$!
started+=("$flood")
settles "a user without a token has 1,200 connections with half a request each" "1200 connections" cat "$folder/flooded"
other() { setpriv --reuid $((stranger + 1)) --regid "$group" --clear-groups curl -s --max-time 30 -o /dev/null -w '%{http_code} ' "$@"; }
ten() { for _ in $(seq 10); do "$@"; done; }
expect "another one with a token gets the metrics all the same" \
    "$(ten other "${url}metrics" -H "$(token reader-reader-reader-1)")" "$(ten echo -n '200 ')"
expect "root does too" "$(ten status metrics)" "$(ten echo -n 200)"
kill "$flood"

echo "# actions"
act=$(token actor-actor-actor-actor)
version() { overview 'it["models"][0]["current"]'; }
body=$(python3 -c 'import json,sys; print(json.dumps({"model": sys.argv[1], "version": "v2"}))' "net/$evil")
expect "without a token" "$(posted swap "$body" | json 'it["error"]["kind"]')" denied
expect "with a token that only reads" "$(posted swap "$body" -H "$(token reader-reader-reader-1)" -o /dev/null -w '%{http_code}')" 403
expect "from another site" "$(posted swap "$body" -H "$act" -H 'Origin: http://evil.example' -o /dev/null -w '%{http_code}')" 403
expect "as a form" "$(get api/v1/actions/swap -H "$act" -d "$body" -o /dev/null -w '%{http_code}')" 415
expect "too long" "$(posted swap "{\"model\":\"$(head -c 5000 /dev/zero | tr '\0' x)\",\"version\":\"v\"}" -H "$act" -o /dev/null -w '%{http_code}')" 413
expect "nonsense" "$(posted swap '{"model":1}' -H "$act" -o /dev/null -w '%{http_code}')" 400
expect "nothing has changed" "$("$millpond" models --json | json '[m["current"] for m in it["models"]]')" "['v2']"
expect "a model that is not there" "$(posted rollback '{"model":"none"}' -H "$act" | json 'it["error"]["kind"]')" not_found
expect "a rollback" "$(posted rollback "${body%,*}}" -H "$act" | json 'it["version"], it["replaced"]')" "('v1', 'v2')"
settles "the page sees it" v1 version
expect "a swap" "$(posted swap "$body" -H "$act" | json 'it["version"], it["replaced"]')" "('v2', 'v1')"
expect "a retirement" "$(posted retire "${body/v2/v1}" -H "$act" | json 'it["version"]')" v1
expect "a limit" "$(posted limit '{"group":"team","bytes":536870912}' -H "$act" | json 'it["devices"][0]["limit_bytes"]')" 536870912
expect "no limit" "$(posted limit '{"group":"team","bytes":null}' -H "$act" | json 'it["devices"][0]["limit_bytes"]')" None
expect "a limit without a number" "$(posted limit '{"group":"team"}' -H "$act" -o /dev/null -w '%{http_code}')" 400
expect "a group that is not there" "$(posted limit '{"group":"none","bytes":1}' -H "$act" | json 'it["error"]["kind"]')" not_found

echo "# readers: many, slow, dead, gone"
python3 -B "$here/observe.py" readers "$url" 1000 "$PONDTOOL" > "$folder/readers.said" 2>&1
while read -r line; do
    case "$line" in ok\ *) pass "${line#ok }" ;; *) fail "$line" ;; esac
done < "$folder/readers.said"
grep -q '^ok every reader' "$folder/readers.said" || fail "the readers did not come to their end"
resident=$(sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$web/status")
echo "resident after 1,000 readers: $resident KiB"
if [ "$resident" -lt 81920 ]; then pass "its memory stays small"; else fail "it takes $resident KiB"; fi
settles "readers that have gone are forgotten" 0 metric web_readers
settles "an overview has long names" True overview 'len(str(it["tensors"])) > 500000'
peak=$(python3 -B "$here/observe.py" unread "$url" 1000 "$web" 2>&1)
echo "at most resident with 1,000 readers that do not read: $peak KiB"
if [ "$peak" -lt 81920 ]; then pass "what they do not read is kept once"; else fail "it took $peak KiB"; fi
settles "readers that have gone are forgotten" 0 metric web_readers

echo "# deaths"
python3 -B "$here/observe.py" follow "$url" > "$folder/followed" 2>&1 &
follower=$!
started+=("$follower")
seen() { grep -c "$1" "$folder/followed"; }
settles "a reader follows" 1 seen '^pond up'
epoch=$(field epoch)
kill -9 "$(field daemon_pid)"
settles "the next daemon is seen" $((epoch + 1)) metric daemon_epoch
settles "a reader sees it too" 1 seen "^epoch $((epoch + 1))\$"
settles "and why" 1 seen '^event recovered'
stopped=$(field daemon_pid)
kill -STOP "$stopped" "$(field keeper_pid)"
settles "a pond that stands still is away" 503 status readyz
expect "the process is up all the same" "$(get healthz)" ok
settles "a reader is told" 1 seen '^pond away'
expect "the metrics say so" "$(metric up)" 0
expect "an overview says why" "$(get api/v1/overview | json 'it["error"]["kind"] in ("no_pond", "timeout")')" True
kill -CONT "$stopped" "$(cat "$MILLPOND_RUNTIME_DIR/lock" 2>/dev/null | head -n 1)" 2>/dev/null
pkill -CONT -P "$pond" 2>/dev/null
kill -CONT "$pond"
settles "it comes back" 1 metric up
settles "a reader is told that too" 2 seen '^pond up'
"$millpond" stop >/dev/null
settles "a pond that was stopped is away" 0 metric up
serve --socket-group root
settles "another pond at the same place is seen" 1 metric up
settles "a reader follows it" 3 seen '^pond up'
kill "$follower"

echo "# starts that go wrong"
said=$("$millpond" web --listen "${url:7:-1}" 2>&1)
expect "a port that is taken" $? 1
has "it names the port" "$said" "another program listens on ${url:7:-1}"
has "and the way out" "$said" "--listen 127.0.0.1:0"
end_web
said=$("$millpond" web --listen 0.0.0.0:0 2>&1)
expect "open to others without a token" $? 2
has "it says how" "$said" --token-file
chmod 644 "$folder/readers"
said=$("$millpond" web --listen 127.0.0.1:0 --token-file "$folder/readers" 2>&1)
expect "tokens that others can read" $? 1
has "it says what to type" "$said" "chmod 600"
chmod 600 "$folder/readers"
"$millpond" web --readonly --actions-token-file x >/dev/null 2>&1
expect "read-only, with tokens for actions" $? 2

echo "# without a token, and without the right to see others' objects"
start_web
settles "it sees the pond" 1 metric up
expect "another user" "$(foreign metrics)" 403
expect "an action" "$(posted rollback '{"model":"none"}' | json 'it["error"]["hint"][:14]')" '`millpond web '
end_web
"$millpond" stop >/dev/null
wait "$pond" 2>/dev/null
exec {POND[1]}>&- 2>/dev/null
# Everybody may use this one, and only root watches.
chmod 755 "$folder"
serve --socket-group users
"$PONDTOOL" put secret/plans 4096 1 >/dev/null
"$PONDTOOL" put public/open 4096 1 >/dev/null
"$PONDTOOL" shell <<< 'model make secret-model v1 1 1' >/dev/null
cat > "$folder/own-web" <<END
#!/bin/sh
exec setpriv --reuid $stranger --regid $group --clear-groups "$folder/millpond" "\$@"
END
chmod 755 "$folder/own-web"
: > "$folder/web.out"
"$folder/own-web" web --listen 127.0.0.1:0 >"$folder/web.out" 2>>"$folder/web.log" &
web=$!
started+=("$web")
settles "another user's page says where it is" 1 lines_of "$folder/web.out"
url=$(cat "$folder/web.out")
settles "it sees the pond" 1 metric up
expect "it sees its own" "$(get api/v1/whoami | json 'it["sees"]')" own
everything="$(get api/v1/overview) $(get api/v1/tensors) $(get metrics) $(get 'api/v1/events?from=0') $(timeout 3 curl -sN "${url}api/v1/live")"
lacks "it tells nothing of another user's objects" "$everything" secret
has "it tells what is everybody's" "$everything" public/open
expect "the card adds up all the same" "$(overview 'sum(s["bytes"] for s in it["cards"][0]["segments"]) == it["cards"][0]["total_bytes"]')" True
end_web

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
