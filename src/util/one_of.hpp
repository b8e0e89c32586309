// Comparison with a fixed set of values.
#pragma once

namespace garner {

/// True when `value` is one of the values named: is_one_of<404, 410>(status).
template <auto... values>
constexpr bool is_one_of(auto value) {
    return ((value == values) || ...);
}

}   // namespace garner
