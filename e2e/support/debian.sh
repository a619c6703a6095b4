# Sourced behind env.sh: programs of Debian's packages, unpacked into the cache; nothing of them is installed.
#
#   folder="$(debian_packages NAME PACKAGE...)"   the folder of the cache with what the packages hold
debian_packages() {
  local name="$1" folder
  shift
  folder="$cache/$name-$(cksum <<<"$*" | tr ' ' '-')"
  # In a substitution a failed command does not end the function.
  [ -e "$folder" ] || locked "$name" unpack_debian "$folder" "$@" || return
  echo "$folder"
}

unpack_debian() {
  local folder="$1" work options package
  shift
  [ ! -e "$folder" ] || return 0 # by the run that had the lock
  echo "fetching $1 ..." >&2
  work="$(mktemp -d "$scratch/debian.XXXXXX")" || return
  mkdir -p "$work/debs" "$work/lists/partial" "$work/cache/archives/partial" || return
  options=(-qq -o APT::Sandbox::User= -o Acquire::Retries=3 -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache")
  apt-get "${options[@]}" update >&2 || return
  (cd "$work/debs" && apt-get "${options[@]}" download "$@" >&2) || return
  rm -rf "$folder.new"
  for package in "$work"/debs/*.deb; do dpkg-deb --extract "$package" "$folder.new" || return; done
  rm -rf "$work"
  mv "$folder.new" "$folder"
}
