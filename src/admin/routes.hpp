// The pages and actions of the admin address, and who may use them. Knows nothing of sockets.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admin/report.hpp"
#include "web/http_message.hpp"

namespace garner::admin {

/// Figures, and sample(), are for one thread; all other requests, which may wait for peers or for the disk, for another one.
class Routes {
public:
    /// `names`: further values of Host that are accepted; outlives this object.
    Routes(proxy::Server& server, std::vector<std::string> const& names) : server_(server), names_(names) { sample(); }

    /// For clients that are neither on loopback nor in `allow`, and for requests under another name.
    std::optional<web::Reply> refusal(web::Request const&, std::span<IpNetwork const> allow) const;
    web::Reply answer(web::Request const&, std::string_view body);
    /// A request for this path is answered at once.
    static bool shows_figures(std::string_view path);
    /// To be called every Samples::interval.
    void sample();

private:
    struct Asked;
    struct Row;
    static Row const rows[];

    web::Reply metrics(Asked const&);
    web::Reply stats(Asked const&);
    web::Reply page(Asked const&);
    web::Reply purge(Asked const&);
    web::Reply purge_url(std::string_view url);
    web::Reply rebuild_digest(Asked const&);
    web::Reply cache_page(Asked const&);
    web::Reply explain(Asked const&);
    Report report();

    proxy::Server& server_;
    std::vector<std::string> const& names_;
    Samples samples_;
    LatencySamples latencies_;
    LapWatch laps_;
};

/// The value of `name` in "a=b&name=value" (application/x-www-form-urlencoded), decoded; empty when it is not there or
/// is badly encoded.
std::string form_value(std::string_view form, std::string_view name);

}  // namespace garner::admin
