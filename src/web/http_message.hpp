// A request to one of the program's own HTTP services, and the reply.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "util/ip.hpp"

namespace boost::beast::http {
template <class Allocator>
class basic_fields;
}

namespace garner::web {

using Fields = boost::beast::http::basic_fields<std::allocator<char>>;

/// The head of a request. Its views live until the next one is received.
struct Request {
    std::string_view method, target;           // as they came
    std::string_view authority, path, query;   // the parts of the target; the authority of an absolute one
    IpAddress client;
    IpEndpoint own;   // the address at which the connection was accepted
    Fields const* fields = nullptr;

    std::size_t count(std::string_view field) const;
    /// The value of the first field of this name; empty if there is none.
    std::string_view value(std::string_view field) const;
};

struct Reply {
    unsigned status = 200;
    std::string body = {};
    std::string type = "text/plain; charset=utf-8";
    std::string fields = {};   // further ones, each with its end of line: "Retry-After: 1\r\n"
    std::string_view content_policy = "default-src 'none'; frame-ancestors 'none'";
};

/// 405, unless the request's method is one of "GET, HEAD".
std::optional<Reply> wrong_method(Request const&, std::string_view allowed);

}   // namespace garner::web
