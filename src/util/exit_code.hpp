// Exit codes of the program and of its commands.
#pragma once

namespace garner {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;          // the command failed, or its answer is "no"
inline constexpr int exit_usage = 2;           // the command line is wrong
inline constexpr int exit_pending = 3;         // done, except for keys that need a takeover
inline constexpr int exit_partial = 4;         // done here, but not confirmed by another cache
inline constexpr int exit_interrupted = 130;   // by SIGINT: the results are incomplete

}   // namespace garner
