// The pages and actions of the admin address, and their access checks. Independent of sockets.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admin/access.hpp"
#include "admin/history.hpp"
#include "admin/page.hpp"
#include "admin/past.hpp"
#include "admin/report.hpp"
#include "group/state.hpp"
#include "web/http_message.hpp"

namespace garner::admin {

/// sample() and requests that do not wait are for one thread. Those that wait are for two others: changes for one of them.
class Routes {
public:
    /// All outlive this object. `former`: may be null.
    Routes(proxy::Server& server, Access& access, FormerTotals const* former = nullptr)
        : server_(server), access_(access), former_(former) {
        sample();
    }

    /// Refuses clients that are neither on loopback nor in `allow`, and requests with another Host.
    static std::optional<web::Reply> refusal(web::Request const&, std::span<IpNetwork const> allow,
                                             std::span<std::string const> names);
    /// Refuses unknown paths and methods, visitors without the role that the path needs, changes that a page of another site may
    /// have sent, and replies that such a page would load as a part of itself.
    static std::optional<web::Reply> denial(web::Request const&, std::string_view body, Visitor const&);
    /// Only without a denial.
    web::Reply answer(web::Request const&, std::string_view body, Visitor const&);
    /// Whether the request is for the page with an explanation. Then explain_first() comes before page_with(): it may wait for
    /// peers or the disk, and may be called on any thread.
    static bool explains(web::Request const&);
    Explained explain_first(web::Request const&) const;
    web::Reply page_with(web::Request const&, Explained const*);
    /// The page as it is now.
    PageModel model();
    /// Whether answer() may wait for peers or the disk.
    static bool waits(web::Request const&);
    /// Whether the request may change something.
    static bool changes(web::Request const&);
    /// For the log: the change that the request makes, "POST /purge url http://example.com/"; empty if it makes none.
    static std::string change(web::Request const&, std::string_view body);
    /// The rows of the table, for tests and for the test of docs/reference/admin-api.md.
    struct Path {
        std::string_view path, methods;   // "/purge", "POST, PURGE"
        Role role;
        bool changes;
    };
    static std::vector<Path> paths();
    /// To be called every Samples::interval.
    void sample();
    /// On the thread of sample().
    Past past() const;
    /// Before the first request.
    void adopt(Past const& past);

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
    web::Reply invalidate(cache::Invalidation const& what, bool waits);
    group::SubmissionResult submit(cache::Invalidation const& what, bool waits);
    web::Reply group(Asked const&);
    web::Reply fetch_for_group(Asked const&);
    web::Reply rebuild_digest(Asked const&);
    web::Reply cache_page(Asked const&);
    web::Reply explain(Asked const&);
    web::Reply refusal(Asked const&);
    web::Reply user(Asked const&);
    web::Reply pins(Asked const&);
    web::Reply erase_pins(Asked const&);
    web::Reply reset_quota(Asked const&);
    web::Reply login(Asked const&);
    web::Reply logout(Asked const&);
    Report report();
    Report whole_report();

    proxy::Server& server_;
    Access& access_;
    FormerTotals const* const former_;
    Samples samples_;
    LatencySamples latencies_;
    History history_;
    LapWatch laps_;
};

}   // namespace garner::admin
