#include "proxy/explain_sources.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <optional>

#include "proxy/server.hpp"
#include "proxy/way.hpp"

namespace garner::proxy {

namespace {

/// Owns the coroutine's inputs, because the caller may stop waiting first.
struct Asking {
    std::string url, host;
    icp::Question question;
};

net::awaitable<icp::Resolution> resolve(icp::Mesh& mesh, unsigned worker, std::shared_ptr<Asking> asking) {
    co_return co_await mesh.agent(worker).resolve(asking->question, nullptr);
}

net::awaitable<net::NamesPtr> resolve_name(net::Resolver& resolver, std::shared_ptr<std::string> host) {
    co_return co_await resolver.resolve(*host);
}

/// Runs `work` on that worker and waits for it; nothing when it takes longer than `longest`.
template <class Result>
std::optional<Result> await_on(net::Worker& worker, net::awaitable<Result> work, milliseconds longest) {
    auto result = net::asio::co_spawn(worker.io.get_executor(), std::move(work), net::asio::use_future);
    if (result.wait_for(longest) != std::future_status::ready) return std::nullopt;
    return result.get();
}

}   // namespace

net::NamesPtr resolve_on_worker(Server& server, std::string const& host) {
    auto& worker = server.first_worker();
    auto resolving = resolve_name(worker.resolver, std::make_shared<std::string>(host));
    return await_on(worker, std::move(resolving), net::Resolver::lookup_limit).value_or(nullptr);
}

SourceExplanation explain_sources(Server& server, SourceQuestion const& question, http::RuleRequest const& facts) {
    auto& mesh = server.mesh();
    auto const peer_table = mesh.peer_table();
    auto const& lists = peer_table->options.direct;
    auto const* destination = question.destination ? &*question.destination : nullptr;
    SourceExplanation out;
    out.direct = direct_of(lists, facts, destination);
    out.hierarchical = question.hierarchical;
    out.undecided =
        !destination && (net::is_localhost(question.host) || question.source_matters || needs_destination(lists, facts));

    auto asking = std::make_shared<Asking>(Asking{question.url, question.host, {}});
    auto& asked = asking->question;
    asked.url = asking->url;
    asked.host = asking->host;
    asked.hierarchical = question.hierarchical;
    asked.only_parents = question.only_parents;
    asked.direct = out.direct;
    asked.https = question.https;
    if (peer_table->options.source_ping) {
        auto const known = mesh.origins().find(asked.host, steady_now());
        asked.origin_rtt = known.rtt;
        asked.origin_throughput = known.throughput;
    }

    auto& worker = server.first_worker();
    auto resolving = resolve(mesh, worker.number, std::move(asking));
    auto resolution = await_on(worker, std::move(resolving), SourceExplanation::longest);
    out.answered = resolution.has_value();
    if (resolution) out.resolution = std::move(*resolution);
    return out;
}

}   // namespace garner::proxy
