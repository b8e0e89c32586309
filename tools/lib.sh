# Shared by the scripts in tools/; sourced, never run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '== %s\n' "$*" >&2; }

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# The presets a person may name, from CMakePresets.json itself.
presets() { (cd "$root" && cmake --list-presets=configure) | sed -n 's/^ *"\(.*\)".*$/\1/p'; }

# One cache for every clone: paths below the clone are hashed as relative ones.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
export NINJA_STATUS='[%f/%t %es] '
