# Sourced behind env.sh: a real etcd and its tools, built once from the Go module proxy and kept. Their modules are those
# that tests.mod of e2e/etcd names. `etcd_binary` and `etcd_tool etcdctl|etcdutl` print the path of what they built.
etcd_binary() {
  etcd_build etcd server
}

etcd_tool() {
  etcd_build "$1" "$1"
}

etcd_build() {
  local version=v3.7.3
  local built="$cache/etcd/$1-$version"
  # In a substitution a failed command does not end the function.
  [ -x "$built" ] || locked etcd build_etcd "$built" "$2" || return
  echo "$built"
}

build_etcd() {
  local built="$1" module="$2" folder="$scratch/etcd-build"
  [ ! -x "$built" ] || return 0 # by the run that had the lock
  echo "building $(basename "$built") ..." >&2
  mkdir -p "$cache/etcd" "$folder" || return
  cp "$root/e2e/etcd/tests.mod" "$folder/go.mod" || return
  cp "$root/e2e/etcd/tests.sum" "$folder/go.sum" || return
  (
    cd "$folder" || exit
    go build -mod=readonly -ldflags '-s -w' -o "$built.new" "go.etcd.io/etcd/$module/v3"
  ) || return
  mv "$built.new" "$built"
}
