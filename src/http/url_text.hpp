// The texts of a URL that expressions are matched with.
#pragma once
#include <string>
#include <string_view>

namespace garner::http {

/// `text` with its percent-escapes decoded once, as Squid does before it matches an expression: "%%" is "%", and an escape of
/// NUL and a malformed escape stay. Returns `text` itself if nothing is to be decoded, otherwise a view into `scratch`.
std::string_view decoded_once(std::string_view text, std::string& scratch);

/// Path and query of a URL in normal form; empty for the "host:port" of CONNECT.
std::string_view path_and_query_of(std::string_view url);

}   // namespace garner::http
