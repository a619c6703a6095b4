# Sourced by the scripts that run on the network of `wire/`, after support/env.sh: `on_wire SECONDS COMMAND...` runs a judge on its
# host, bounded in time. The network's socket is $scratch/wire.sock, its hosts are those of wire.ts.
(cd "$root/e2e/chaos/wire" && go build -mod=readonly -o "$scratch/wire")
# Whoever is not root is root of a namespace of users, where that is allowed.
as_root=()
[ "$(id -u)" = 0 ] || as_root=(unshare --user --map-root-user)
on_wire() {
  local seconds="$1"
  shift
  bounded "$seconds" ${as_root[@]+"${as_root[@]}"} "$scratch/wire" -control "$scratch/wire.sock" -run judge \
    -hosts a=10.77.0.1,b=10.77.0.2,c=10.77.0.3,stores=10.77.0.10,judge=10.77.0.20 \
    -- "$@"
}
