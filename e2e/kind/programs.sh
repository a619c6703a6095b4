# Sourced behind env.sh, kube-binary.sh, etcd-binary.sh and chart-tools.sh: what a cluster of kind is made of, built or fetched once and kept.
#
#   kind_programs    fills $programs with all programs, and sets $debian, $kind_files, $node_tag

# What a node and the image of kube-proxy have of Debian.
node_packages=systemd,systemd-sysv,dbus,conntrack,iptables,nftables,iproute2,ethtool,util-linux,mount,kmod,libseccomp2,pigz
node_packages+=,e2fsprogs,bash,ca-certificates,jq,procps,socat,curl,runc,containernetworking-plugins

# go_program FOLDER NAME PACKAGE [TAGS]: the path of a program that the Go module e2e/kind/FOLDER pins.
go_program() {
  local built
  built="$cache/kind/$2-$(cd "$root/e2e/kind/$1" && find . -name '*.go' -o -name 'go.*' | sort | xargs cat | cksum | tr ' ' '-')"
  if [ ! -x "$built" ]; then
    echo "building $2 ..." >&2
    local start="$SECONDS"
    (cd "$root/e2e/kind/$1" && go build -mod=readonly -tags "${4:-}" -ldflags '-s -w' -o "$built.new" "$3") || return
    mv "$built.new" "$built"
    echo "built in $((SECONDS - start)) s" >&2
  fi
  echo "$built"
}

# The file system of a node, by a program of Debian's that is unpacked and not installed.
debian_filesystem() {
  local made folder
  made="$cache/kind/debian-$(echo "$node_packages" | cksum | tr ' ' '-').tar"
  if [ ! -f "$made" ]; then
    echo "making a file system of Debian ..." >&2
    folder="$scratch/mmdebstrap"
    mkdir -p "$folder" "$scratch/apt/lists/partial" "$scratch/apt/cache/archives/partial"
    local options=(-qq -o APT::Sandbox::User= -o "Dir::State::Lists=$scratch/apt/lists" -o "Dir::Cache=$scratch/apt/cache")
    apt-get "${options[@]}" update || return
    (cd "$folder" && apt-get "${options[@]}" download mmdebstrap libdpkg-perl &&
      for package in *.deb; do dpkg-deb --extract "$package" .; done)
    PERL5LIB="$folder/usr/share/perl5" perl "$folder/usr/bin/mmdebstrap" --quiet --variant=minbase --include="$node_packages" bookworm "$made.new.tar" >&2 || return
    mv "$made.new.tar" "$made"
  fi
  echo "$made"
}

# link NAME COMMAND...: the program whose path the command prints, in $programs.
link() {
  local name="$1" path
  shift
  path="$("$@")" || return
  ln -s "$path" "$programs/$name"
}

kind_programs() {
  programs="$scratch/programs"
  mkdir -p "$programs" "$cache/kind"
  local name package
  for name in kube-apiserver kubectl; do link "$name" kube_binary "$name"; done
  for name in kubelet kubeadm kube-controller-manager kube-scheduler kube-proxy; do
    link "$name" kube_binary "$name" kind/kubernetes
  done
  package=github.com/containerd/containerd/v2/cmd
  for name in containerd ctr containerd-shim-runc-v2; do
    link "$name" go_program runtime "$name" "$package/$name" no_btrfs,no_devmapper,no_zfs,no_aufs
  done
  link kind go_program runtime kind sigs.k8s.io/kind
  for name in coredns pause; do link "$name" go_program programs "$name" "./$name"; done
  link etcd etcd_binary
  link etcdctl etcd_tool etcdctl
  link helm chart_tool helm4 helm.sh/helm/v4/cmd/helm
  debian="$(debian_filesystem)"
  kind_files="$(cd "$root/e2e/kind/runtime" && go list -mod=readonly -m -f '{{.Dir}}' sigs.k8s.io/kind)/images/base/files"
  # What an image of a node is made from: another image for each.
  local made
  made="$({ for name in "$programs"/*; do readlink "$name"; done; echo "$debian"; cat "$root/e2e/kind/node"/* "$root/e2e/kind/node-image"; } |
    cksum | cut -d' ' -f1)"
  node_tag="engram-kind-node:$made"
}
