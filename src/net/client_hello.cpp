#include "net/client_hello.hpp"

#include <cstddef>

namespace garner::net {
namespace {

constexpr char host_name_type = 0;

/// Takes a vector with a length of two bytes (RFC 8446 3.4) from the front of `bytes`. False if it is truncated.
bool take_vector(std::string_view& bytes, std::string_view& vector) {
    if (bytes.size() < 2) return false;
    std::size_t const size = static_cast<unsigned char>(bytes[0]) * 256u + static_cast<unsigned char>(bytes[1]);
    if (bytes.size() - 2 < size) return false;
    vector = bytes.substr(2, size);
    bytes.remove_prefix(2 + size);
    return true;
}

}   // namespace

std::string_view server_name_in(std::string_view extension) {
    std::string_view list;
    if (!take_vector(extension, list) || !extension.empty()) return {};
    while (!list.empty()) {
        char const type = list.front();
        list.remove_prefix(1);
        std::string_view name;
        if (!take_vector(list, name)) return {};
        if (type == host_name_type) return name;
    }
    return {};
}

}   // namespace garner::net
