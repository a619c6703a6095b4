# Sourced with $engine, the folder of fetch_engine: its programs by their names, with the libraries and plugins that lie beside them.
PATH="$engine/bin:$engine/usr/bin:$engine/usr/sbin:$PATH"
LD_LIBRARY_PATH="$(find "$engine" -name 'lib*.so.*' -printf '%h\n' | sort -u | paste -sd:)"
XTABLES_LIBDIR="$(dirname "$(find "$engine" -name 'libxt_addrtype.so' -print -quit)")"
export PATH LD_LIBRARY_PATH XTABLES_LIBDIR
