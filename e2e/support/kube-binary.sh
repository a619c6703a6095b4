# Sourced behind env.sh: programs of Kubernetes, of the version that e2e/kube pins, built once and kept.
#
#   kube_version             prints it
#   kube_binary NAME [MOD]   prints the path of cmd/NAME, built in the Go module e2e/MOD (default: kube)
kube_version() {
  (cd "$root/e2e/kube" && go list -mod=readonly -m -f '{{.Version}}' k8s.io/kubernetes)
}

kube_binary() {
  local version bin major minor ldflags package start
  version="$(kube_version)"
  bin="$cache/kube/$version"
  if [ ! -x "$bin/$1" ]; then
    echo "building $1 $version ..." >&2
    start=$SECONDS
    mkdir -p "$bin"
    IFS=. read -r major minor _ <<<"${version#v}"
    # Names of a release, where programs look for it: kubectl and kubeadm compare their own with the server's.
    ldflags="-s -w"
    for package in k8s.io/component-base k8s.io/client-go/pkg; do
      ldflags+=" -X $package/version.gitVersion=$version -X $package/version.gitMajor=$major"
      ldflags+=" -X $package/version.gitMinor=$minor -X $package/version.gitTreeState=clean"
    done
    (cd "$root/e2e/${2:-kube}" && go build -mod=readonly -ldflags "$ldflags" -o "$bin/$1.new" \
      "k8s.io/kubernetes/cmd/$1") || return
    mv "$bin/$1.new" "$bin/$1"
    echo "built in $((SECONDS - start)) s" >&2
  fi
  echo "$bin/$1"
}
