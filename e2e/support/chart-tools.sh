# Sourced behind env.sh. chart_tool NAME PACKAGE: the path of a tool that the go.mod of e2e/chart pins, built once and kept.
chart_tool() {
  local built
  built="$cache/chart/$1-$(cksum <"$root/e2e/chart/go.sum" | tr ' ' '-')"
  if [ ! -x "$built" ]; then
    echo "building $1 ..." >&2
    mkdir -p "$cache/chart"
    (cd "$root/e2e/chart" && go build -mod=readonly -ldflags '-s -w' -o "$built.new" "$2")
    mv "$built.new" "$built"
  fi
  echo "$built"
}
