// A proxy and its admin address in this process, for the admin tests.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "admin/admin_server.hpp"
#include "proxy/drain.hpp"
#include "proxy/server.hpp"
#include "support/client.hpp"
#include "support/made.hpp"
#include "support/origin.hpp"

namespace garner::admin {

namespace test = garner::test;
using Json = nlohmann::ordered_json;

/// Listens on free ports of 127.0.0.1, may reach loopback origins, writes no access log.
class House {
public:
    explicit House(Options admin = {}, std::string const& accelerated_origin = "", store::DiskStore* disk = nullptr)
        : cache_({.size = 8 * MiB}) {
        cache_.set_disk({std::shared_ptr<void>(), disk});
        proxy::ServerOptions server;
        server.workers = 2;
        auto options = std::make_shared<proxy::Options>();
        options->listen = {{"127.0.0.1", 0, std::nullopt}};
        if (!accelerated_origin.empty()) options->listen.push_back({"127.0.0.1", 0, accelerated_origin});
        http::Matcher loopback;   // loopback destinations are blocked unless a rule names them
        loopback.destination = {*parse_network("127.0.0.0/8")};
        options->access = http::AccessRules({{true, loopback, "loopback"}});
        options->log.access.clear();
        server_ = test::made(proxy::Server::make(server, options, cache_));
        admin.port = 0;
        admin_ = test::made(AdminServer::open(admin, *server_));
        server_->start();
        admin_->start();
    }
    ~House() {
        admin_->stop();
        EXPECT_TRUE(proxy::stop(*server_, milliseconds{0}));
    }

    proxy::Server& server() { return *server_; }
    AdminServer& admin() { return *admin_; }
    std::string address() const { return admin_->address(); }
    std::uint16_t port() const { return port_of(address()); }

    test::Client at_admin() const { return {"127.0.0.1", port()}; }
    /// GETs an absolute URL from the forward proxy.
    test::Reply fetch(std::string const& url) const {
        test::Client client("127.0.0.1", port_of(server_->listen_addresses().front().address));
        return client.get(url);
    }
    /// GETs a path from the accelerator.
    test::Reply fetch_accelerated(std::string const& path) const {
        test::Client client("127.0.0.1", port_of(server_->listen_addresses().back().address));
        return client.get(path);
    }
    Json stats() const { return Json::parse(at_admin().get("/stats.json").body()); }

private:
    static std::uint16_t port_of(std::string const& address) {
        return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    }

    cache::Cache cache_;
    std::unique_ptr<proxy::Server> server_;
    std::unique_ptr<AdminServer> admin_;
};

}   // namespace garner::admin
