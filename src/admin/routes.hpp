// What the admin address answers to a request: who may ask, what there is, and purges. Knows nothing of sockets.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "admin/report.hpp"
#include "util/ip.hpp"

namespace garner::admin {

struct Request {
    std::string_view method;
    std::string_view target;                 // as it came
    std::vector<std::string_view> hosts;     // the values of all Host fields
    bool meant = false;                      // has "Garner-Admin: 1"
    std::string_view body;
    IpEndpoint own;                          // where the connection was accepted
};

struct Reply {
    unsigned status = 200;
    std::string type = "text/plain; charset=utf-8";
    std::string body;
    std::string allow;                       // 405: the methods there are
    std::string content_policy = "default-src 'none'; frame-ancestors 'none'";
};

/// Figures, and sample(), are for one thread; all other requests, which may wait for peers or for the disk, for another one.
class Routes {
public:
    /// `names`: further values of Host that are accepted; outlives this object.
    Routes(proxy::Server& server, std::vector<std::string> const& names) : server_(server), names_(names) { sample(); }

    Reply answer(Request const&);
    /// A request for this target is answered at once.
    static bool shows_figures(std::string_view target);
    /// To be called every Samples::interval.
    void sample();

private:
    Reply show(std::string_view path);
    Reply purge(Request const&, std::string_view url);
    Reply rebuild_digest(Request const&);
    Reply cache_page(Request const&, std::string_view which);
    Reply explain(Request const&, std::string_view form);
    Report report();

    proxy::Server& server_;
    std::vector<std::string> const& names_;
    Samples samples_;
    LatencySamples latencies_;
    LapWatch laps_;
};

/// All values of `name`, as form_value.
std::vector<std::string> form_values(std::string_view form, std::string_view name);

/// The value of `name` in "a=b&name=value" (application/x-www-form-urlencoded), decoded; empty when it is not there or
/// is badly encoded.
std::string form_value(std::string_view form, std::string_view name);

}  // namespace garner::admin
