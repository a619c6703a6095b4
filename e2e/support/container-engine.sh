# Sourced behind env.sh: a container engine, Debian's dockerd with what it runs, unpacked into the cache; nothing of it is installed.
#
#   fetch_engine                 unpacks it if it is not there, and sets $engine (its folder) and $docker (its client)
#   in_engine SECONDS COMMAND... runs a command beside an engine of its own, which ends with it: see with-engine

# What the engine needs of Debian, and what its programs link that not every machine has.
engine_packages=(docker.io containerd runc libdevmapper1.02.1
  iptables libip4tc2 libip6tc2 libxtables12 libmnl0 libnetfilter-conntrack3 libnfnetlink0 libnftnl11)

fetch_engine() {
  engine="$cache/engine"
  docker="$engine/usr/bin/docker"
  if [ "$(cat "$engine/packages" 2>/dev/null)" = "${engine_packages[*]}" ]; then return; fi
  echo "fetching a container engine ..." >&2
  mkdir -p "$scratch/debs" "$scratch/apt/lists/partial" "$scratch/apt/cache/archives/partial"
  local options=(-qq -o APT::Sandbox::User= -o "Dir::State::Lists=$scratch/apt/lists" -o "Dir::Cache=$scratch/apt/cache")
  apt-get "${options[@]}" update || return
  (cd "$scratch/debs" && apt-get "${options[@]}" download "${engine_packages[@]}") || return
  rm -rf "$engine.new"
  for package in "$scratch"/debs/*.deb; do dpkg-deb --extract "$package" "$engine.new" || return; done
  # The names by which the engine calls them; an installation makes these links.
  for name in iptables ip6tables; do ln -sf xtables-nft-multi "$engine.new/usr/sbin/$name"; done
  echo "${engine_packages[*]}" >"$engine.new/packages"
  rm -rf "$engine"
  mv "$engine.new" "$engine"
}

# The engine and the command have a network, mounts and process numbers of their own: what the engine sets there is gone with
# them, and so is every container, also when this run is killed. $scratch/wire makes the network: see e2e/chaos/wire.
in_engine() {
  local seconds="$1" status=0
  shift
  (cd "$root/e2e/chaos/wire" && CGO_ENABLED=0 go build -mod=readonly -trimpath -o "$scratch/wire")
  bounded "$seconds" "$scratch/wire" -control "$scratch/wire.sock" -hosts here=10.78.0.1 -run here -- \
    unshare --mount --pid --fork --kill-child --mount-proc \
    "$root/e2e/support/with-engine" "$engine" "$scratch" "$@" || status="$?"
  find /sys/fs/cgroup -mindepth 2 -depth -type d -path "*/$(basename "$scratch")*" -exec rmdir {} + 2>/dev/null || true
  return "$status"
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
