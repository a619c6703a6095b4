# To be sourced. `find_node ROOT` sets NODE to a node of at least NODE_MAJOR_MIN: the first on PATH that is new enough,
# else the pinned one that `make setup` brings. Fails, with NODE empty, where there is neither.
NODE_MAJOR_MIN=24

find_node() {
  node_pinned=$1/.tools/node/node_modules/node/bin
  node_ifs=$IFS
  IFS=:
  set -f
  # shellcheck disable=SC2086 # split at the colons
  set -- $PATH
  set +f
  IFS=$node_ifs
  for node_folder in "$@" "$node_pinned"; do
    NODE=${node_folder:-.}/node
    [ -x "$NODE" ] || continue
    node_major=$("$NODE" --version 2>/dev/null) || continue
    node_major=${node_major#v}
    node_major=${node_major%%.*}
    if [ "$node_major" -ge "$NODE_MAJOR_MIN" ] 2>/dev/null; then return 0; fi
  done
  NODE=
  return 1
}
