// The options of each part of the program, from the configuration. Pure.
#pragma once
#include <memory>
#include <string>

#include "admin/admin_server.hpp"
#include "config/config.hpp"
#include "proxy/server.hpp"

namespace garner::app {

std::shared_ptr<proxy::Options const> proxy_options(config::Config const&);
/// With the proxies that PAC files name.
icp::Options mesh_options(config::Config const&);
/// Without inherited sockets.
proxy::ServerOptions server_options(config::Config const&);
/// `policy`: the running one, also if the configuration has "auto".
cache::Options cache_options(config::Config const&, std::string const& policy);
admin::Options admin_options(config::Config const&);

}   // namespace garner::app
