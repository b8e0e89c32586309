# Functions of the scripts in tools/, which source this file.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '== %s\n' "$*" >&2; }

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Prints the names of the presets in CMakePresets.json.
presets() { (cd "$root" && cmake --list-presets=configure) | sed -n 's/^ *"\(.*\)".*$/\1/p'; }

# All clones share one cache: paths below the clone are hashed as relative paths.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
export NINJA_STATUS='[%f/%t %es] '
