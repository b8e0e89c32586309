// The parts of a request, each driven alone: on a worker that runs on the test's thread, with a client in memory.
#pragma once
#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "proxy/delivery.hpp"
#include "proxy/fill_pump.hpp"
#include "proxy/request_places.hpp"
#include "proxy/storing.hpp"
#include "support/origin.hpp"
#include "util/check.hpp"

namespace garner::proxy {

/// Keeps what is sent to it. Its framing of bodies of unknown length is visible: "[5:hello][end]".
class KeepingClient : public ClientStream {
public:
    /// `request`: a complete head. `body`: as its Content-Length says.
    KeepingClient(std::string request, std::string body, std::shared_ptr<Client const> client)
        : ClientStream(std::move(client)), request_(std::move(request)), body_(std::move(body)) {
        std::size_t scanned = 0;
        auto const parsed = http::parse_request_head(request_, http::HeadLimits::none(), scanned, head_);
        check(parsed.kind == http::HeadParse::Kind::complete);
    }

    std::string sent;
    bool truncated = false;
    bool accepts_at_once = true;   // false: each write must wait for the socket
    /// The client disconnects: later writes fail, and a request that watches it is told.
    void leave() {
        is_gone_ = true;
        if (auto const told = std::exchange(gone_, nullptr)) told();
    }
    bool is_watched() const { return static_cast<bool>(gone_); }
    std::string body_sent() const { return sent.substr(std::min(sent.size(), sent.find("\r\n\r\n") + 4)); }

    IpAddress own_address() const override { return IpAddress::v4(127, 0, 0, 1); }
    bool body_done() const override { return body_.empty() || body_read_; }
    net::awaitable<Piece> read_body(milliseconds) override {
        Piece piece;
        if (!std::exchange(body_read_, true)) piece.data = body_;
        co_return piece;
    }
    std::string const& trailers() const override { return no_trailers_; }
    std::string_view leftover() const override { return {}; }

    bool takes_interim() const override { return true; }
    bool begin_without_length(Patch&) override {
        framed_ = true;
        return false;
    }
    std::string_view before_piece(Bytes bytes) override {
        if (!framed_) return {};
        return before_ = "[" + std::to_string(bytes) + ":";
    }
    std::string_view behind_piece() override { return framed_ ? "]" : ""; }
    std::string_view behind_body(std::string_view) override { return framed_ ? "[end]" : ""; }
    void show_truncation() override { truncated = true; }

    net::IoResult try_send(std::span<iovec>& parts) override {
        if (is_gone_) return {net::asio::error::connection_reset};
        if (!accepts_at_once) return {net::asio::error::would_block};
        return take(parts);
    }
    net::awaitable<net::IoResult> send(std::span<iovec> parts, milliseconds) override {
        net::IoResult result{net::asio::error::connection_reset};
        if (!is_gone_) result = take(parts);
        co_return result;
    }

    void cancel() override {}
    void watch(std::function<void()> gone) override { gone_ = std::move(gone); }
    void unwatch() override { gone_ = nullptr; }
    Traffic take_traffic() override { return {}; }
    Bytes received() const override { return 0; }
    Bytes acknowledged() const override { return sent.size(); }
    net::Transport& transport() override {
        check(false);   // no test opens a tunnel
        std::abort();
    }

private:
    net::IoResult take(std::span<iovec> parts) {
        net::IoResult result;
        for (auto const& part : parts) {
            sent.append(static_cast<char const*>(part.iov_base), part.iov_len);
            result.bytes += part.iov_len;
        }
        return result;
    }

    std::string const request_;
    std::string const body_;
    std::string const no_trailers_;
    std::string before_;
    std::function<void()> gone_;
    bool body_read_ = false;
    bool framed_ = false;
    bool is_gone_ = false;
};

/// A worker without a thread, its services, and an accelerator of `origin`.
struct OneWorker {
    explicit OneWorker(test::Origin const& at, cache::Options memory = {.size = 8 * MiB, .what_if = false, .object_max = 256 * KiB})
        : cache(memory), options(std::make_shared<Options const>(options_of_tests())) {
        services.own = std::make_shared<http::OwnAddresses const>();
        auto fixed = std::make_shared<FixedOrigin>();
        fixed->text = at.url();
        http::UriError error;
        fixed->uri = http::parse_absolute(fixed->text, error).value();
        origin = std::move(fixed);
        worker.wheel.start();
    }
    ~OneWorker() {
        run_until([this] { return services.background.pumps.empty(); });
    }

    void begin(net::awaitable<void> work, bool& done) {
        net::asio::co_spawn(worker.io, std::move(work), [&done](std::exception_ptr fault) {
            if (fault) std::rethrow_exception(fault);
            done = true;
        });
    }
    void run(net::awaitable<void> work) {
        bool done = false;
        begin(std::move(work), done);
        run_until([&] { return done; });
    }
    template <class T>
    T run(net::awaitable<T> work) {
        std::optional<T> result;
        net::asio::co_spawn(worker.io, std::move(work), [&](std::exception_ptr fault, T value) {
            if (fault) std::rethrow_exception(fault);
            result.emplace(std::move(value));
        });
        run_until([&] { return result.has_value(); });
        return std::move(*result);
    }
    template <class Condition>
    void run_until(Condition done) {
        auto const give_up = steady_now() + seconds{30};
        while (!done()) {
            check(steady_now() < give_up);
            worker.io.run_one_for(milliseconds{100});
        }
    }

    static Options options_of_tests() {
        Options options;
        options.via_name = "test";
        return options;
    }

    net::NameCache names{net::ResolverOptions()};
    cache::Cache cache;
    Counters counters;
    Shared shared;
    RequestPlaces places;
    net::Worker worker{0, names, nullptr, {}};
    std::shared_ptr<Options const> options;
    std::shared_ptr<FixedOrigin const> origin;
    Services services{worker, cache, shared, nullptr, counters, places, options};
};

/// A request of its own, with the classes that process it.
struct OneRequest {
    OneRequest(OneWorker& on, std::string const& head, std::string body = {}, Client const& from = local_client())
        : worker(on), client(head + "\r\n\r\n", std::move(body), std::make_shared<Client const>(from)) {
        client.begin_body();
        check(read_target(client.head(), request.only_origin(), request.target) == nullptr);
        request.control = http::parse_request_cache_control(client.head().fields);
        request.key = worker.cache.key(request.target.key_text);
    }
    static Client local_client() { return {.peer = {IpAddress::v4(127, 0, 0, 1), 40'000}, .listener = 3128}; }

    /// Asks the sources; the failure is in upstream.failure().
    bool ask(RequestChanges const& changes = {}) { return worker.run(upstream.ask(changes)); }
    /// Fetches a response to be stored, as the leader of others.
    bool fetch() {
        auto found = worker.cache.lookup(request.query(cache::Collapse::lead_and_follow));
        state.lead = std::move(found.lead);
        state.stale = std::move(found.object);
        request.record.cache_status.fwd = http::Fwd::uri_miss;
        return ask();
    }
    Step store() {
        state.control = http::parse_response_cache_control(upstream.head().fields, {});
        return worker.run(storing.store());
    }
    void deliver() { worker.run(delivery.deliver(state.object, state.follower ? &*state.follower : nullptr)); }

    OneWorker& worker;
    KeepingClient client;
    Scratch scratch;
    Request request{worker.services, client, worker.origin.get(), scratch, worker.options};
    ResponseWriter writer{request};
    Upstream upstream{request, writer};
    RestOfBody rest{request, upstream};
    PassThrough pass_through{request, writer, upstream, rest};
    Delivery delivery{request, writer, rest, pass_through};
    FetchState state;
    Storing storing{request, upstream, rest, state};
};

}   // namespace garner::proxy
