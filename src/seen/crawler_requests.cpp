#include "seen/crawler_requests.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "crawl/kept_memory.hpp"
#include "http/uri.hpp"
#include "net/waiter.hpp"
#include "seen/body_forms.hpp"
#include "seen/stats_text.hpp"
#include "util/option_words.hpp"
#include "util/text.hpp"

namespace garner::seen {

using web::Reply;

namespace {

// The set always answers, so this limit is never reached.
constexpr milliseconds until_answered = std::chrono::hours{24 * 365};

constexpr std::string_view usage =
    "This service tells a crawler which URLs it has seen.\n"
    "  POST /seen         URLs one per line, a JSON list (application/json), or fingerprints of 8 bytes\n"
    "                     (application/octet-stream); ?durable=1 waits until the new URLs are on disk\n"
    "  GET /seen/stats    statistics; GET /metrics: the same for Prometheus\n";

/// Protects against DNS rebinding: a page of an attacker whose name resolves to this service would be same-origin.
bool is_literal_host(std::string_view host) {
    http::UriError error;
    auto const authority = http::parse_authority(host, error);
    return authority && (parse_ip(authority->host) || equals_ignoring_case(authority->host, "localhost"));
}

struct Asked {
    BodyForm const* form = nullptr;
    ReplyForm answer = ReplyForm::text;
    bool durable = false;
    bool forwarded = false;
};

/// The part of a batch that goes to another partition.
struct Forward {
    Forward(net::Executor executor, PeerLink& link) : link(link), waiter(executor) {}

    PeerLink& link;
    net::Waiter waiter;
    PeerLink::Task task;
};

class Conversation {
public:
    Conversation(ServiceState& state, web::HttpConnection& connection)
        : state_(state), connection_(connection), request_(connection.request()), sorter_(state.sorting()) {
        ++state_.connections_now;
        ++state_.counters.connections;
    }
    ~Conversation() {
        let_go();
        --state_.connections_now;
    }

    net::awaitable<void> answer() {
        auto reply = refusal();
        if (!reply && request_.path == "/seen" && request_.method == "POST") co_return co_await answer_batch();
        if (!reply) reply = page();
        co_await connection_.send(*reply);
    }

private:
    /// The reply to clients and web pages that may not use the service.
    std::optional<Reply> refusal() const {
        if (!state_.allows(request_.client)) return Reply{403, request_.client.text() + " is not allowed to use this service.\n"};
        if (request_.count("Origin") > 0) return Reply{403, "Web pages are not allowed to use this service.\n"};
        if (!parse_ip(state_.options().address)->is_loopback()) return std::nullopt;
        bool const host_is_literal = request_.count("Host") == 0 || is_literal_host(request_.value("Host"));
        if (!host_is_literal || (!request_.authority.empty() && !is_literal_host(request_.authority)))
            return Reply{421, "The Host field must be an IP address or localhost.\n"};
        return std::nullopt;
    }

    Reply page() const {
        auto const path = request_.path;
        bool const seen = path == "/seen";
        if (!seen && path != "/" && path != "/seen/stats" && path != "/metrics") return {404, std::string(usage)};
        if (auto const wrong = web::wrong_method(request_, seen ? "POST" : "GET, HEAD")) return *wrong;
        if (path == "/") return {200, std::string(usage)};
        if (path == "/metrics") return {200, metrics_text(state_), "text/plain; version=0.0.4; charset=utf-8"};
        return {200, stats_json(state_), "application/json"};
    }

    // ---- a batch ----

    net::awaitable<void> answer_batch() {
        Asked asked;
        auto refusal = read_question(asked);
        if (!refusal) refusal = co_await take_batch(asked);
        if (!refusal) refusal = co_await find_answers(asked);
        if (refusal) {
            co_await connection_.send(*refusal);
        } else {
            state_.count(batch_, asked.forwarded, asked.durable);
            ReplyWriter writer(asked.answer, batch_.answers);
            web::NextPiece const next = [&writer](std::string& piece) { return writer.next(piece); };
            Reply head;
            head.type = type_of(asked.answer);
            co_await connection_.send(head, writer.length(), next);
        }
        let_go();
    }

    Reply unreadable(unsigned status, std::string const& why) const {
        ++state_.counters.unreadable;
        return {status, why + "\n"};
    }

    Reply overloaded(std::string const& why) const {
        ++state_.counters.overloads;
        return {.status = 503, .body = why + " Nothing of this batch was taken.\n", .fields = "Retry-After: 1\r\n"};
    }

    std::optional<Reply> read_question(Asked& asked) const {
        auto const query = request_.query, type = request_.value("Content-Type"), accept = request_.value("Accept");
        if (!query.empty() && query != "durable=1" && query != "durable=0")
            return unreadable(400, quoted_word(query) + " is unknown; write durable=1");
        asked.durable = query == "durable=1";
        asked.form = body_form(type);
        if (!asked.form)
            return unreadable(
                415, quoted_word(type) + " is not supported; send text/plain, application/json or application/octet-stream");
        asked.answer = asked_form(accept).value_or(asked.form->answer);
        asked.forwarded = request_.count(forwarded_field) > 0;
        auto const meant = request_.value(forwarded_field);
        if (asked.forwarded && meant != state_.own_words())
            return unreadable(421, (state_.own_words().empty() ? "This process has no partitions; requested: "
                                                               : "This is partition " + state_.own_words() + ", not ") +
                                       std::string(meant));
        // A forwarded batch has a status for each link instead.
        auto const& forgets = state_.keeper().why_it_forgets();
        if (asked.durable && !asked.forwarded && !forgets.empty())
            return unreadable(400, "Durable storage is not available: " + forgets);
        // The partition of a link depends on its host, which a fingerprint does not have.
        bool const octets = asked.form->answer == ReplyForm::octets;
        if (octets && state_.partitions() > 1 && !asked.forwarded)
            return unreadable(400, "Fingerprints do not contain the host, and the hosts are divided among " +
                                       std::to_string(state_.partitions()) + " partitions: send URLs");
        if (!state_.keeper().has_room(0)) return overloaded("Too many links wait for the URL set.");
        return std::nullopt;
    }

    net::awaitable<std::optional<Reply>> take_batch(Asked const& asked) {
        batch_.clear(state_.partitions());
        sorter_.begin(batch_, asked.durable);
        auto const reader = asked.form->make(sorter_);
        bool fits = true;
        auto take_piece = [&](std::string_view piece) {
            bool const more = reader->read(piece);
            auto const before = std::exchange(held_, batch_.held_bytes());
            fits = state_.hold(before, held_);
            return more && fits;
        };
        web::TakePiece const take = std::ref(take_piece);
        auto refusal = co_await connection_.read_body(take);
        if (refusal) {
            ++(refusal->status == 413 ? state_.counters.too_large : state_.counters.unreadable);
            co_return refusal;
        }
        if (!fits) co_return overloaded("Too many batches are in progress.");
        if (auto const whole = reader->finish(); !whole) co_return unreadable(400, whole.fault().text());
        if (!batch_.too_many) co_return std::nullopt;
        ++state_.counters.too_large;
        co_return Reply{413, "A batch has at most " + std::to_string(state_.options().batch_links) + " links.\n"};
    }

    /// Asks the set and the other partitions at once, and joins their answers.
    net::awaitable<std::optional<Reply>> find_answers(Asked const& asked) {
        if (!state_.has_room(batch_)) co_return overloaded("Too many links wait for the URL set or for another partition.");
        own_answers_.resize(batch_.own.size());
        net::Waiter waiter(state_.io().get_executor());
        SetKeeper::Task task{.links = batch_.own, .answers = own_answers_, .durable = asked.durable, .done = {}};
        task.done = [handle = waiter.handle()] { handle.wake(net::Wake::ready); };
        if (!batch_.own.empty()) {
            if (!state_.keeper().add(task)) co_return overloaded("Too many links wait for the URL set.");
        }
        auto const until = steady_now() + state_.options().peer_answer;
        begin_forwards(asked.durable, until);
        if (!batch_.own.empty()) co_await waiter.wait(until_answered);
        for (auto const& forward : forwards_) {
            co_await await_answer(*forward, until);
            batch_.take_foreign(forward->link.partition(), forward->task.answers);
        }
        if (task.status == SetKeeper::TaskStatus::not_durable) std::ranges::replace(own_answers_, is_new, not_durable);
        bool const added = task.status != SetKeeper::TaskStatus::not_added;
        if (!added && forwards_.empty()) co_return Reply{.status = 503, .body = task.fault + "\n", .fields = "Retry-After: 10\r\n"};
        // The answers of other partitions are delivered even if this set fails.
        if (!added) own_answers_.assign(own_answers_.size(), unreachable(state_.sorting().own));
        batch_.take_own(own_answers_);
        co_return std::nullopt;
    }

    static net::awaitable<void> await_answer(Forward& forward, SteadyTime until) {
        auto const left = std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(until - steady_now()));
        auto const woken = co_await forward.waiter.wait(left);
        if (woken == net::Wake::deadline) forward.link.give_up(forward.task);
    }

    void begin_forwards(bool durable, SteadyTime until) {
        forwards_.clear();
        for (auto const& link : state_.links()) {
            if (!link || batch_.foreign[link->partition()].empty()) continue;
            auto& forward = *forwards_.emplace_back(std::make_unique<Forward>(state_.io().get_executor(), *link));
            forward.task.links = batch_.foreign[link->partition()];
            forward.task.durable = durable;
            forward.task.until = until;
            forward.task.done = forward.waiter.handle();
            link->add(forward.task);
        }
    }

    void let_go() {
        batch_.clear(state_.partitions());
        forwards_.clear();
        crawl::give_back(own_answers_);
        state_.hold(held_, 0);
        held_ = 0;
    }

    ServiceState& state_;
    web::HttpConnection& connection_;
    web::Request const& request_;
    LinkSorter sorter_;
    Batch batch_;
    Bytes held_ = 0;   // bytes that the state counts for the batch
    std::vector<LinkStatus> own_answers_;
    std::vector<std::unique_ptr<Forward>> forwards_;
};

}   // namespace

net::awaitable<void> converse(ServiceState& state, web::HttpConnection& connection) {
    Conversation conversation(state, connection);
    while (co_await connection.receive()) co_await conversation.answer();
    if (connection.refused_with() == 413) ++state.counters.too_large;
}

}   // namespace garner::seen
