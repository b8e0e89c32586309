// Reads CBOR from another process.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

namespace garner::control {

/// Null for bytes that are not one CBOR item, or that nest deeper than any message.
nlohmann::json read_cbor(std::span<std::uint8_t const> bytes);

}   // namespace garner::control
