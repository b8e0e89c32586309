// The requests of a crawler on one connection: batches of links, and statistics.
#pragma once
#include "seen/service_state.hpp"
#include "web/http_connection.hpp"

namespace garner::seen {

/// Answers until the connection has no more requests.
net::awaitable<void> converse(ServiceState&, web::HttpConnection&);

}   // namespace garner::seen
