#include "cache/key.hpp"

namespace garner::cache {

std::string variant_text(std::string_view key, std::string_view variant) {
    std::string text(key);
    text += '\x01';   // invalid in a URI
    text += variant;
    return text;
}

std::string_view url_of(std::string_view key) { return key.substr(0, key.find_first_of("\x01\x02")); }

std::string_view plain_url_of(std::string_view key) {
    auto const url = url_of(key);
    return url.substr(url.empty() ? 0 : 1);
}

std::string parts_text(std::string_view key) {
    std::string text;
    text.reserve(key.size() + 1);
    text.append(key) += '\x02';   // invalid in a URI or in a variant's text
    return text;
}

std::string twin_text(std::string_view key) {
    if (key.starts_with(static_cast<char>(Partition::forward))) return {};
    bool const secure = key.starts_with(static_cast<char>(Partition::secure_accelerator));
    std::string twin(key);
    twin.front() = static_cast<char>(secure ? Partition::accelerator : Partition::secure_accelerator);
    return twin;
}

}   // namespace garner::cache
