// The answer to what an operator writes into the page's field.
#pragma once
#include <string>

#include "admin/page.hpp"

namespace garner::proxy {
class Server;
}

namespace garner::admin {

/// `asked`: a URL, "host:port", a host, the address of a client, the id of an error page, or a row of the page (explain_rows.hpp).
/// `asks_others`: as in proxy::ExplainQuestion. Waits as proxy::explain does, so it is not for a worker's thread.
Explained explanation_of(proxy::Server& server, std::string const& asked, bool asks_others);

/// The URL that is explained for a text: "http://HOST/" for a host, "http://HOST:PORT/PATH" for one with a path, and
/// "https://HOST:PORT/" for host:port, because a browser sends CONNECT there (port 80: http). Otherwise the text itself.
std::string url_of(std::string const& asked);

}   // namespace garner::admin
