// A change that can no longer fail.
#pragma once
#include <functional>

namespace garner {

/// Applies a change for which everything that can fail has been done. Destroyed without a call, it has changed nothing. At most one
/// call.
using Prepared = std::function<void()>;

}   // namespace garner
