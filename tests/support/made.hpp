// The value of a result that a test needs.
#pragma once
#include <stdexcept>

#include "util/result.hpp"

namespace garner::test {

/// Throws the fault's text if there is no value: the test fails with it.
template <class T>
T made(Result<T> result) {
    if (!result) throw std::runtime_error(result.fault().text());
    return *std::move(result);
}

}   // namespace garner::test
