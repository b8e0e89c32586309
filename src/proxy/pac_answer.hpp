// Answers a request for the PAC file with the proxies that can be used at this moment.
#pragma once
#include <vector>

#include "proxy/pac.hpp"
#include "proxy/request.hpp"
#include "proxy/response_writer.hpp"

namespace garner::proxy {

/// Belongs to one request.
class PacAnswer {
public:
    PacAnswer(Request& request, ResponseWriter& writer) : request_(request), writer_(writer) {}

    net::awaitable<void> run();

private:
    bool is_offered() const;
    PacProxy reached() const;
    net::awaitable<std::vector<bool>> find_unusable(std::vector<PacProxy> const& all);
    bool is_dead(PacProxy const& proxy) const;
    net::awaitable<bool> is_this_proxy(PacProxy const& proxy);
    net::awaitable<void> send(std::string const& text);

    Request& request_;
    ResponseWriter& writer_;
};

}   // namespace garner::proxy
