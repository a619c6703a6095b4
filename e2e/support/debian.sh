# Sourced behind env.sh: programs of Debian's packages, unpacked into the cache; nothing of them is installed.
#
#   folder="$(debian_packages FOLDER PACKAGE...)"   what the packages hold, below $cache/FOLDER
debian_packages() {
  local folder="$cache/$1"
  shift
  if [ "$(cat "$folder/packages" 2>/dev/null)" != "$*" ]; then
    echo "fetching $1 ..." >&2
    local work
    work="$(mktemp -d "$scratch/debian.XXXXXX")"
    mkdir -p "$work/debs" "$work/lists/partial" "$work/cache/archives/partial"
    local options=(-qq -o APT::Sandbox::User= -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache")
    apt-get "${options[@]}" update
    (cd "$work/debs" && apt-get "${options[@]}" download "$@")
    rm -rf "$folder.new"
    for package in "$work"/debs/*.deb; do dpkg-deb --extract "$package" "$folder.new"; done
    echo "$*" >"$folder.new/packages"
    rm -rf "$folder"
    mv "$folder.new" "$folder"
  fi
  echo "$folder"
}
