#include "http/cache_status.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "http/message.hpp"
#include "util/text.hpp"

namespace garner::http {

std::string_view text(Fwd fwd) {
    switch (fwd) {
    case Fwd::none: return "";
    case Fwd::bypass: return "bypass";
    case Fwd::method: return "method";
    case Fwd::uri_miss: return "uri-miss";
    case Fwd::vary_miss: return "vary-miss";
    case Fwd::miss: return "miss";
    case Fwd::request: return "request";
    case Fwd::stale: return "stale";
    case Fwd::partial: return "partial";
    }
    return "";
}

namespace {

constexpr std::size_t name_max = 32;
constexpr std::size_t source_max = 48;
constexpr std::size_t detail_max = 64;

class Writer {
public:
    explicit Writer(char* out) : begin_(out), out_(out) {}

    void raw(std::string_view bytes) {
        std::memcpy(out_, bytes.data(), bytes.size());
        out_ += bytes.size();
    }
    void number(std::int64_t value) { out_ = std::to_chars(out_, out_ + 20, value).ptr; }
    /// A string (RFC 8941 3.3.3) that needs no escapes.
    void quoted(std::string_view bytes) {
        *out_++ = '"';
        inside_quotes(bytes);
        *out_++ = '"';
    }
    void inside_quotes(std::string_view bytes) {
        for (char c : bytes) *out_++ = c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c;
    }
    std::size_t size() const { return static_cast<std::size_t>(out_ - begin_); }

private:
    char* begin_;
    char* out_;
};

/// RFC 8941 3.3.4, without its ":" and "/".
bool is_plain_token(std::string_view name) { return is_token(name) && to_lower(name[0]) >= 'a' && to_lower(name[0]) <= 'z'; }

void write_name(Writer& writer, std::string_view text) {
    auto const name = text.substr(0, name_max);
    is_plain_token(name) ? writer.raw(name) : writer.quoted(name);
}

void write_parameters(Writer& writer, CacheStatus const& status) {
    // RFC 9211 2.1, 2.2: hit and fwd exclude each other; the forwarding parameters belong to fwd.
    if (status.hit)
        writer.raw("; hit");
    else if (status.fwd != Fwd::none) {
        writer.raw("; fwd=");
        writer.raw(text(status.fwd));
        if (status.fwd_status != 0) {
            writer.raw("; fwd-status=");
            writer.number(status.fwd_status);
        }
        if (status.stored) writer.raw("; stored");
        if (status.collapsed) writer.raw("; collapsed");
    }
    if (status.ttl) {
        // RFC 8941 3.3.1: an integer has at most 15 digits.
        constexpr std::int64_t integer_max = 999'999'999'999'999;
        writer.raw("; ttl=");
        writer.number(std::clamp(*status.ttl, -integer_max, integer_max));
    }
    if (!status.source.empty() || !status.detail.empty()) {
        writer.raw("; detail=\"");
        writer.inside_quotes(status.source.substr(0, source_max));
        if (!status.source.empty() && !status.detail.empty()) writer.raw("; ");
        writer.inside_quotes(status.detail.substr(0, detail_max));
        writer.raw("\"");
    }
}

}   // namespace

std::size_t write_cache_status(char* out, CacheStatus const& status) {
    Writer writer(out);
    write_name(writer, status.cache_name);
    write_parameters(writer, status);
    return writer.size();
}

std::size_t write_cache_parameters(char* out, CacheStatus const& status) {
    Writer writer(out);
    write_parameters(writer, status);
    return writer.size();
}

std::string cache_name_item(std::string_view name) {
    char text[name_max + 2];
    Writer writer(text);
    write_name(writer, name);
    return {text, writer.size()};
}

}   // namespace garner::http
