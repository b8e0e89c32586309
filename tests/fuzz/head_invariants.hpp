// Invariants of every head, request or response.
#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "fuzzed.hpp"
#include "http/hop_by_hop.hpp"
#include "http/message.hpp"

namespace garner::fuzz {

inline constexpr http::HeadLimits limits{.bytes = 2048, .fields = 32, .target = 512};

inline bool is_clean(std::string_view text) {
    for (char c : text)
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) return false;
    return true;
}

inline void check_fields(http::Fields const& fields, std::string_view bytes) {
    check(fields.size() <= limits.fields);
    http::HopByHop const hop_by_hop(fields);
    for (auto const& field : fields) {
        check(http::is_token(field.name) && lies_inside(field.name, bytes));
        check(is_clean(field.value) && lies_inside(field.value, bytes));
        check(field.value.empty() || (field.value.front() != ' ' && field.value.back() != ' '));
        check(field.id == http::name_of(field.name) && fields.has(field.id));
        check(fields.find(field.name) != nullptr);
        if (field.id == http::Name::host) check(!hop_by_hop.dropped(field));
        if (field.id == http::Name::connection) check(hop_by_hop.dropped(field));
    }
}

/// Parses the whole input, then a growing buffer that moves: both give one result. True if complete.
template <class Head, class Parse>
bool check_head(Input const& input, Parse parse, Exact const& bytes, Head& head) {
    using Kind = http::HeadParse::Kind;
    std::size_t scanned = 0;
    auto const whole = parse(bytes.view(), limits, scanned, head);
    Head grown_head;
    http::HeadParse grown;
    std::unique_ptr<Exact> buffer;
    std::size_t grown_scanned = 0;
    for (auto end : cuts(input.bytes.size(), input.seed)) {
        buffer = std::make_unique<Exact>(input.bytes.substr(0, end));
        grown = parse(buffer->view(), limits, grown_scanned, grown_head);
        if (grown.kind != Kind::incomplete) break;
    }
    check(grown.kind == whole.kind);
    check(whole.kind != Kind::incomplete || bytes.view().size() < limits.bytes);
    if (whole.kind == Kind::refused) check(whole.status == grown.status && !std::strcmp(whole.refusal, grown.refusal));
    if (whole.kind != Kind::complete) return false;

    check(whole.bytes == grown.bytes && whole.bytes <= limits.bytes && whole.bytes <= bytes.view().size());
    check(bytes.view().substr(0, whole.bytes).ends_with("\r\n\r\n") || head.fields.empty());
    check(head.version == grown_head.version && head.fields.size() == grown_head.fields.size());
    for (auto a = head.fields.begin(), b = grown_head.fields.begin(); a != head.fields.end(); ++a, ++b)
        check(a->name == b->name && a->value == b->value && a->id == b->id);
    check_fields(head.fields, bytes.view().substr(0, whole.bytes));
    check_fields(grown_head.fields, buffer->view());
    return true;
}

/// The field section as it would be forwarded.
inline void append_fields(http::Fields const& fields, std::string& out) {
    for (auto const& field : fields) out.append(field.name).append(": ").append(field.value).append("\r\n");
    out += "\r\n";
}

}   // namespace garner::fuzz
