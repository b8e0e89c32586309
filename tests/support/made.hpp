// The value of a result; for tests that need it.
#pragma once
#include <stdexcept>

#include "util/result.hpp"

namespace garner::test {

/// Throws the error text if there is no value, which fails the test.
template <class T>
T made(Result<T> result) {
    if (!result) throw std::runtime_error(result.fault().text());
    return *std::move(result);
}

}   // namespace garner::test
