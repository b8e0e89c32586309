// The pages and actions of the admin address, and their access checks. Independent of sockets.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admin/history.hpp"
#include "admin/page.hpp"
#include "admin/report.hpp"
#include "web/http_message.hpp"

namespace garner::admin {

/// sample() and requests that do not wait are for one thread; those that wait are for another one.
class Routes {
public:
    /// `names`: further values of Host that are accepted; outlives this object.
    /// `former`: null, or outlives this object.
    explicit Routes(proxy::Server& server, FormerTotals const* former = nullptr) : server_(server), former_(former) { sample(); }

    /// Refuses clients that are neither on loopback nor in `allow`, and requests with another Host.
    static std::optional<web::Reply> refusal(web::Request const&, std::span<IpNetwork const> allow,
                                             std::span<std::string const> names);
    web::Reply answer(web::Request const&, std::string_view body);
    /// Whether the request is for the page with an explanation. Then explain_first() comes before page_with(): it may wait for
    /// peers or the disk, and may be called on any thread.
    static bool explains(web::Request const&);
    Explained explain_first(web::Request const&) const;
    web::Reply page_with(web::Request const&, Explained const*);
    /// The page as it is now.
    PageModel model();
    /// Whether answer() may wait for peers or the disk.
    static bool waits(web::Request const&);
    /// The paths and their methods, for the test of docs/reference/admin-api.md: {"/purge", "POST, PURGE"}.
    static std::vector<std::pair<std::string_view, std::string_view>> paths();
    /// To be called every Samples::interval.
    void sample();

private:
    struct Asked;
    struct Row;
    static Row const rows[];
    static Row const* row_of(web::Request const&);

    web::Reply metrics(Asked const&);
    web::Reply stats(Asked const&);
    web::Reply page(Asked const&);
    web::Reply style(Asked const&);
    web::Reply script(Asked const&);
    web::Reply events(Asked const&);
    web::Reply explanation(Asked const&);
    web::Reply health(Asked const&);
    web::Reply reopen_logs(Asked const&);
    web::Reply purge(Asked const&);
    web::Reply purge_url(std::string_view url);
    web::Reply invalidate(cache::Invalidation const& what);
    web::Reply rebuild_digest(Asked const&);
    web::Reply cache_page(Asked const&);
    web::Reply explain(Asked const&);
    web::Reply refusal(Asked const&);
    web::Reply pins(Asked const&);
    web::Reply erase_pins(Asked const&);
    Report report();
    Report whole_report();

    proxy::Server& server_;
    FormerTotals const* const former_;
    Samples samples_;
    LatencySamples latencies_;
    History history_;
    LapWatch laps_;
};

/// The value of `name` in "a=b&name=value" (application/x-www-form-urlencoded), decoded; empty when absent or wrongly
/// encoded.
std::string form_value(std::string_view form, std::string_view name);

}   // namespace garner::admin
