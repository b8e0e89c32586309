// The texts of a URL that expressions are matched with.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace garner::http {

/// `text` with its percent-escapes decoded once, as Squid does before it matches an expression: "%%" is "%", and an escape of
/// NUL and a malformed escape stay. Returns `text` itself if nothing is to be decoded, otherwise a view into `scratch`.
std::string_view decoded_once(std::string_view text, std::string& scratch);

/// Path and query of a URL in normal form; empty for the "host:port" of CONNECT.
std::string_view path_and_query_of(std::string_view url);

/// The URLs that origins may take a URL for, because they resolve its path: without dot segments and empty segments, a backslash as
/// a slash, with the escapes of append_unescaped undone, and with all escapes undone once and twice.
class ResolvedUrls {
public:
    /// `url`: in normal form; its path begins at `path_at`. Those that are equal to it or to append_unescaped(url) are left out.
    /// Keeps its memory.
    void assign(std::string_view url, std::size_t path_at);
    void clear() { count_ = 0, climbs_ = false; }

    std::span<std::string const> all() const { return std::span(texts_).first(count_); }
    /// A segment ".." is removed: the URL may be in another folder than it seems.
    bool climbs() const { return climbs_; }

    /// Calls use(text) for each text, to account for its memory.
    void each(auto&& use) {
        for (auto& text : texts_) use(text);
    }

private:
    void add(std::string_view origin, std::string_view path, std::string_view query);

    std::array<std::string, 3> texts_;
    std::size_t count_ = 0;
    bool climbs_ = false;
};

/// False if ResolvedUrls has none for a URL with this path and query. A cheap look at its characters.
bool may_be_resolved(std::string_view path_and_query);

}   // namespace garner::http
