#include "proxy/no_client.hpp"

#include "util/check.hpp"

namespace garner::proxy {

NoClient::NoClient(std::string_view request, std::shared_ptr<Client const> client)
    : ClientStream(std::move(client)), request_(request) {
    std::size_t scanned = 0;
    auto const parsed = http::parse_request_head(request_, http::HeadLimits::none(), scanned, head_);
    check(parsed.kind == http::HeadParse::Kind::complete);
}

net::Transport& NoClient::transport() {
    check(false);   // a request without a client never asks for a tunnel
    std::abort();
}

}   // namespace garner::proxy
