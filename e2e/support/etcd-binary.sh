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
  if [ ! -x "$built" ]; then
    echo "building $1 $version ..." >&2
    mkdir -p "$cache/etcd" "$scratch/etcd-build"
    cp "$root/e2e/etcd/tests.mod" "$scratch/etcd-build/go.mod"
    cp "$root/e2e/etcd/tests.sum" "$scratch/etcd-build/go.sum"
    (
      cd "$scratch/etcd-build"
      CGO_ENABLED=0 go build -mod=readonly -trimpath -ldflags '-s -w' -o "$built.new" "go.etcd.io/etcd/$2/v3"
    )
    mv "$built.new" "$built"
  fi
  echo "$built"
}
