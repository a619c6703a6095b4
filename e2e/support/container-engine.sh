# Sourced behind env.sh: a container engine, Debian's dockerd with what it runs, unpacked into the cache; nothing of it is installed.
#
#   fetch_engine                 unpacks it if it is not there, and sets $engine (its folder) and $docker (its client)
#   in_engine SECONDS COMMAND... runs a command beside an engine of its own, which ends with it: see with-engine
#
# Engines of several runs have nothing in common but the cache and the processor: engine-preconditions says what they need.
source "$root/e2e/support/debian.sh"

# What the engine needs of Debian, what its programs link that not every machine has, and the tools of engine-preconditions.
engine_packages=(docker.io containerd runc libdevmapper1.02.1 libseccomp2
  iptables libip4tc2 libip6tc2 libxtables12 libmnl0 libnetfilter-conntrack3 libnfnetlink0 libnftnl11 busybox-static)

fetch_engine() {
  local name
  engine="$(debian_packages engine "${engine_packages[@]}")" || return
  docker="$engine/usr/bin/docker"
  # The names by which the engine calls them; an installation makes these links.
  for name in iptables ip6tables; do
    [ -e "$engine/usr/sbin/$name" ] || ln -sf xtables-nft-multi "$engine/usr/sbin/$name"
  done
}

# The engine and the command have a network, mounts and process numbers of their own: what the engine sets there is gone with
# them, and so is every container, also when this run is killed. $scratch/wire makes the network: see e2e/chaos/wire.
in_engine() {
  local seconds="$1" status=0
  shift
  (cd "$root/e2e/chaos/wire" && go build -mod=readonly -o "$scratch/wire")
  bounded "$seconds" "$scratch/wire" -control "$scratch/wire.sock" -hosts here=10.78.0.1 -run here -- \
    unshare --mount --pid --fork --kill-child --mount-proc \
    "$root/e2e/support/with-engine" "$engine" "$scratch" "$@" || status="$?"
  return "$status"
}

# Control groups outlive the engine. Those of this run go when the last process of its containers has. An `at_end` that replaces this one
# calls remove_groups.
at_end() { remove_groups; }
GROUPS_EMPTY_MAX_S=20
remove_groups() {
  local begin="$SECONDS" left
  while true; do
    left="$(find /sys/fs/cgroup -mindepth 1 -depth -type d -path "*/$(basename "$scratch")*" 2>/dev/null)"
    [ -n "$left" ] || return 0
    xargs --delimiter '\n' rmdir <<<"$left" 2>/dev/null && return 0
    [ $((SECONDS - begin)) -lt "$GROUPS_EMPTY_MAX_S" ] || break
    sleep 0.2
  done
  echo "e2e: control groups are left: $left" >&2
}

# lab_image: makes $scratch/lab-image, from which `docker build` makes an image of PD, stores and etcdctl. Sets $etcdctl.
lab_image() {
  bounded 1200 "$root/e2e/tikv/lab/build"
  etcdctl="$(etcd_tool etcdctl)"
  local bin="$root/e2e/tikv/bin"
  mkdir -p "$scratch/lab-image"
  cp "$root/e2e/support/lab-image/Dockerfile" "$bin/pd-server" "$bin/unistore-lab" "$scratch/lab-image"
  cp "$etcdctl" "$scratch/lab-image/etcdctl"
  "$root/e2e/tikv/lab/pd-settings" 3 >"$scratch/lab-image/pd.toml"
}
