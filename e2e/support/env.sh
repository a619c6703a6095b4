# Sourced by the `run` of every part of e2e/: where things are, and nothing that outlives the run.
#
#   STORE_CMD          the command that starts the store; etcd's flags are appended (default: this repository's engram)
#   ENGRAM_E2E_CACHE   what a part builds once and keeps between runs (default: ~/.cache/engram-e2e)
#   E2E_PREPARE=1      what the part needs is built and fetched, and nothing is tested: see `prepared`
#   TMPDIR             data directories and logs of one run, removed at its end (E2E_KEEP=1 keeps them)
#
# A part may define `at_end`, which is called when its children have ended.
#
# After it: $root, $part, $cache, $scratch, $store_launcher (one executable that starts the store), node on the PATH,
# `prepared`, `bounded SECONDS COMMAND...`, `bounded_go_test SECONDS COMMAND...` and `locked NAME COMMAND...`.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
part="$(basename "$(cd "$(dirname "$0")" && pwd)")"
cache="${ENGRAM_E2E_CACHE:-$HOME/.cache/engram-e2e}"
mkdir -p "$cache"
. "$root/tools/find-node.sh"
find_node "$root" || { echo "e2e: there is no node >= $NODE_MAJOR_MIN: run 'make setup' first" >&2; exit 1; }
PATH="$(dirname "$NODE"):$PATH"
export STORE_CMD="${STORE_CMD:-$root/packages/server/bin/engram}"
# All programs and tests of Go are built alike: what two of them have in common is then compiled once.
export CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -buildvcs=false -trimpath"

scratch="$(mktemp -d "${TMPDIR:-/tmp}/engram-e2e-$part.XXXXXX")"
children=()
at_end() { :; }
end_run() {
  local status=$?
  trap - EXIT INT TERM
  for child in ${children[@]+"${children[@]}"}; do
    kill -TERM "$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  done
  at_end || true
  if [ "${E2E_KEEP:-}" = 1 ]; then echo "kept: $scratch"; else rm -rf "$scratch"; fi
  exit "$status"
}
trap end_run EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# A suite that starts the store from a folder of its own cannot follow a relative path, and some take one executable
# instead of a command: the launcher is both. `exec` keeps one process, so that a signal to it reaches the store.
store_launcher="$scratch/store"
printf '#!/bin/sh\ncd %q && exec %s "$@"\n' "$PWD" "$STORE_CMD" >"$store_launcher"
chmod +x "$store_launcher"

# Runs a command in a process group of its own, which ends as a whole when the time is over or this run ends.
bounded() {
  local seconds="$1" status=0
  shift
  timeout --kill-after=15 "$seconds" "$@" &
  children=("$!")
  wait "$!" || status=$?
  children=()
  [ "$status" = 124 ] && echo "ended after $seconds s: $1" >&2
  return "$status"
}

# Runs a command that fills the cache, or a function that does. Another run that fills the same waits for it, for LOCKED_SECONDS_MAX.
LOCKED_SECONDS_MAX=900
locked() {
  local name="$1"
  shift
  (
    flock --wait "$LOCKED_SECONDS_MAX" 9 || {
      echo "e2e: another run has filled the cache for more than $LOCKED_SECONDS_MAX s: it holds $cache/$name.lock" >&2
      exit 1
    }
    "$@" 9>&-
  ) 9>"$cache/$name.lock"
}

# Calls `prepare`, in which a part builds and fetches what it needs; two runs of one part do so one after the other. With E2E_PREPARE=1
# the run ends here. tools/e2e runs parts so, ahead of their tests, if `prepared` stands alone on a line of their `run`.
PREPARED_SECONDS_MAX=1800
prepared() {
  exec 7>"$cache/prepare-$part.lock"
  flock --wait "$PREPARED_SECONDS_MAX" 7 || {
    echo "e2e: another run has prepared $part for more than $PREPARED_SECONDS_MAX s: it holds $cache/prepare-$part.lock" >&2
    exit 1
  }
  prepare
  exec 7>&-
  [ -z "${E2E_PREPARE:-}" ] || exit 0
}

# `bounded` for a `go test -json`: its last line, and its status, are the summary's.
bounded_go_test() {
  mkfifo "$scratch/events"
  node "$root/e2e/support/go-test-summary.ts" "$part" <"$scratch/events" &
  local summary="$!"
  bounded "$@" >"$scratch/events" 2>&1 || true
  wait "$summary"
}
