# Sourced behind env.sh: `etcd_binary` prints the path of a real etcd, built once from the Go module proxy and kept.
# Its modules are those that tests.mod of e2e/etcd names.
etcd_binary() {
  local version=v3.7.3
  local built="$cache/etcd/etcd-$version"
  if [ ! -x "$built" ]; then
    echo "building etcd $version ..." >&2
    mkdir -p "$cache/etcd"
    mkdir "$scratch/etcd-build"
    cp "$root/e2e/etcd/tests.mod" "$scratch/etcd-build/go.mod"
    cp "$root/e2e/etcd/tests.sum" "$scratch/etcd-build/go.sum"
    (
      cd "$scratch/etcd-build"
      CGO_ENABLED=0 go build -mod=readonly -trimpath -ldflags '-s -w' -o "$built.new" go.etcd.io/etcd/server/v3
    )
    mv "$built.new" "$built"
  fi
  echo "$built"
}
