#include "app/handover.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <future>
#include <iterator>
#include <utility>

#include "admin/metrics.hpp"
#include "app/handed_state.hpp"
#include "app/handed_windows.hpp"
#include "cache/key.hpp"
#include "io/log.hpp"
#include "proxy/drain.hpp"
#include "util/units.hpp"

namespace garner::app {
namespace {

constexpr milliseconds build_patience{60'000};   // the new process reads files, and opens the disk
constexpr milliseconds undo_time{5'000};         // a new process that fails in this time is always followed by this one
constexpr milliseconds worker_patience{2'000};
constexpr milliseconds talk_often{20}, talk_seldom{200};
constexpr milliseconds quotas_often{1'000};
constexpr milliseconds handover_soon{10'000};
constexpr milliseconds objects_patience{1'000};   // requests miss the disk meanwhile
constexpr milliseconds after_idle{1'000};         // the last responses of idle connections
constexpr milliseconds slow_patience{10'000};     // the new process removes many objects
constexpr char const* successor_ended = "the new process has ended";

void set_draining(proxy::Server& server, bool draining) {
    for (auto* services : server.shared().workers)
        net::asio::post(services->worker.io, [services, draining] { services->drain.begun = draining; });
}

/// False if a worker has not run in time what was posted to it before.
bool have_run(proxy::Server& server) {
    std::vector<std::future<void>> answers;
    for (auto* services : server.shared().workers) {
        auto const answer = std::make_shared<std::promise<void>>();
        answers.push_back(answer->get_future());
        net::asio::post(services->worker.io, [answer] { answer->set_value(); });
    }
    auto const until = steady_now() + worker_patience;
    return std::ranges::all_of(answers, [until](auto const& one) { return one.wait_until(until) == std::future_status::ready; });
}

takeover::Json message_of(store::SuccessorDisk::Removals const& removals, char const* what) {
    return takeover::json_of({.number = removals.number,
                              .keys = removals.keys,
                              .power = removals.what == store::Survives::power,
                              .everything = removals.everything},
                             what);
}

}   // namespace

Handover::Handover(Needs const& needs, control::Channel channel, takeover::Welcome welcome, Predecessors predecessors,
                   takeover::Hello hello)
    : needs_(needs), welcome_(std::move(welcome)), hello_(std::move(hello)),
      conversation_(std::make_shared<takeover::Conversation>(std::move(channel))), predecessors_(std::move(predecessors)) {}

Handover::Ending Handover::run() {
    auto const begun = begin();
    return begun ? end_requests() : undo(begun.fault());
}

void Handover::stop() {
    stopped_at_ = steady_now();
    stops_ = true;
    conversation_->cancel();
    wake_->set();
}

// ---- until the new process serves ----

Result<void> Handover::begin() {
    auto const handed = sockets();
    if (!handed) return handed.fault();
    if (!conversation_->send(takeover::json_of(welcome_)) || !conversation_->send(*handed))
        return Fault{"the new process does not read its sockets"};
    if (auto const ready = await("ready", build_patience); !ready) return ready.fault();
    if (auto const disk = needs_.parts.cache.disk().store()) disk_stats_ = disk->stats();
    release_disk();
    if (hello_.objects) send_objects();
    close_seen();
    if (!conversation_->send(takeover::plain("disk"))) return Fault{successor_ended};
    auto const message = await("serving", build_patience);
    if (!message) return message.fault();
    auto const serving = takeover::serving_of(*message);
    if (!serving) return serving.fault();
    shares_control_ = serving->control;
    if (objects_) objects_->wait_for_first(objects_patience);
    if (hello_.state) send_windows();
    if (auto const paused = pause(); !paused) return paused;
    if (hello_.counters) send_counters();
    if (hello_.state)
        for (auto const& message : state_messages(needs_.parts, steady_now())) (void)send_patiently(message);
    if (hello_.quotas) hand_over_quotas();
    if (serving->disk) needs_.parts.disk.leave_unless_at(*serving->disk);
    return go();
}

Result<std::vector<net::NamedSocket>> Handover::sockets() {
    auto& parts = needs_.parts;
    auto all = parts.server->listening().sockets();
    auto udp = parts.server->mesh().sockets();
    if (!udp) return udp.fault();
    std::ranges::move(*udp, std::back_inserter(all));
    if (int const admin = parts.admin ? parts.admin->descriptor() : -1; admin >= 0)
        all.push_back({"admin/" + parts.admin->address() + "/0", admin});
    if (parts.group && parts.group->descriptor() >= 0)
        all.push_back({"group/" + parts.group->address() + "/0", parts.group->descriptor()});
    if (parts.seen) all.push_back({"seen/" + parts.seen->address() + "/0", parts.seen->descriptor()});
    all.push_back({"control", needs_.socket.descriptor()});
    all.push_back({"stdout", STDOUT_FILENO});
    all.push_back({"stderr", STDERR_FILENO});
    std::erase_if(predecessors_, [](auto const& one) { return one->is_over(); });
    for (auto const& one : predecessors_) {
        if (!hello_.clients) one->keep_clients();
        former_.push_back(one->conversation());
    }
    for (std::size_t i = 0; i < former_.size(); ++i)
        all.push_back({"former/" + std::to_string(i), former_[i]->channel().descriptor()});
    return all;
}

Result<takeover::Json> Handover::await(char const* what, milliseconds patience) {
    auto message = conversation_->expect({what}, patience);
    if (message) return std::move(message->json);
    return conversation_->lost() ? Fault{successor_ended} : message.fault();
}

void Handover::release_disk() {
    for (auto const& one : predecessors_) one->set_disk_is_here(false);
    // The new process removes whole URLs.
    stand_in_ = std::make_shared<store::SuccessorDisk>(
        needs_.parts.disk.store(), [wake = wake_] { wake->set(); }, cache::url_of);
    needs_.parts.disk.hand_over(needs_.parts.cache, stand_in_);
}

/// After release_disk(): each later removal is told to the new process. Without descriptors that process begins without objects.
void Handover::send_objects() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return spdlog::warn("takeover: the objects in memory are not handed over: {}", std::strerror(errno));
    (void)conversation_->send(takeover::objects(), {ends + 1, 1});
    ::close(ends[1]);
    objects_ = std::make_unique<ObjectSender>(needs_.parts.cache.memory(), ends[0]);
}

/// Sends the counts since the last call. Some names a message: it has a greatest length.
void Handover::send_counters() {
    constexpr std::size_t names_a_message = 20;
    admin::Report report;
    report.figures = admin::take_figures(*needs_.parts.server);
    report.figures.disk = disk_stats_;
    report.former = &needs_.parts.former_totals;
    auto const now = admin::totals_of(report), more = admin::increase(counted_, now);
    auto some = takeover::Json::object();
    for (auto const& [name, value] : more.items()) {
        some[name] = value;
        if (some.size() < names_a_message) continue;
        (void)send_patiently(takeover::counters(std::exchange(some, takeover::Json::object())));
    }
    if (!some.empty()) (void)send_patiently(takeover::counters(some));
    counted_ = now;
}

/// While this process still serves: an hour of samples takes some milliseconds. Without them the windows begin anew.
void Handover::send_windows() {
    auto const past = needs_.parts.admin ? needs_.parts.admin->past() : std::nullopt;
    if (!past) return;
    for (auto const& message : window_messages(*past))
        if (!send_patiently(message)) return;
}

/// From now on the new process has the ledger, and this one tells it what its last requests use.
void Handover::hand_over_quotas() {
    has_handed_quotas_ = true;
    needs_.parts.quotas->stop();
    send_quotas(needs_.parts.server->quotas().begin_counting(wall_now()));
}

/// At least one message, which tells that there are no more.
void Handover::send_quotas(std::vector<share::LedgerRow> const& rows) {
    constexpr Bytes enough = 8 * KiB;
    std::string text;
    for (auto const& row : rows) {
        append_row(row, text);
        if (text.size() >= enough) (void)send_patiently(takeover::quotas(std::exchange(text, {})));
    }
    (void)send_patiently(takeover::quotas(text));
}

void Handover::send_counted_quotas() {
    quotas_sent_ = steady_now();
    auto const rows = needs_.parts.server->quotas().take_counted();
    if (!rows.empty()) send_quotas(rows);
}

/// Its clients wait in the queue of the kernel.
void Handover::close_seen() {
    auto& seen = needs_.parts.seen;
    if (!seen) return;
    seen_socket_.add(::fcntl(seen->descriptor(), F_DUPFD_CLOEXEC, 0));
    if (auto const closed = seen->stop(); !closed) spdlog::error("URL set: {}", closed.fault().text());
    seen = nullptr;
}

void Handover::open_seen() {
    if (seen_socket_.size() == 0) return;
    auto opened = seen::Service::open(needs_.config.seen, seen_socket_.release(0));
    if (!opened) return spdlog::error("the URL-seen service has ended: {}; restart the proxy", opened.fault().text());
    needs_.parts.seen = *std::move(opened);
    needs_.parts.seen->start();
}

/// From now on connections wait in the queues of the kernel until the new process accepts them. The fault: a worker may still
/// accept some.
Result<void> Handover::pause() {
    for (auto const& one : predecessors_) one->stop();
    predecessors_.clear();
    paused_ = true;
    auto& parts = needs_.parts;
    parts.server->listening().pause();
    parts.server->mesh().pause();
    if (parts.admin) parts.admin->pause();
    if (parts.group && !parts.group->pause()) return Fault{"the group of this proxy does not respond"};
    return have_run(*parts.server) ? Result<void>() : Fault{"a worker does not respond"};
}

Result<void> Handover::go() {
    stand_in_->begin_to_wait();
    auto last = stand_in_->take();
    for (auto next = last ? stand_in_->take() : std::nullopt; next; next = stand_in_->take()) {
        if (auto const sent = send_patiently(message_of(*last, "forget")); !sent) return sent;
        last = std::move(next);
    }
    auto const sent = send_patiently(message_of(last ? *last : store::SuccessorDisk::Removals(), "go"));
    if (!sent) return sent;
    if (objects_) objects_->go(needs_.config.proxy.deadlines.drain_idle + after_idle);
    spdlog::info("takeover: process {} serves; this one ends its requests within {}", conversation_->channel().process(),
                 time_text(needs_.config.proxy.deadlines.handover));
    return {};
}

/// Reads meanwhile: otherwise both processes could wait for each other.
Result<void> Handover::send_patiently(takeover::Json const& message) {
    auto const until = steady_now() + slow_patience;
    while (true) {
        auto const sent = conversation_->try_send(message);
        if (sent == control::Sent::done) return {};
        if (sent == control::Sent::ended || !read()) return Fault{successor_ended};
        if (steady_now() >= until || conversation_->cancelled()) return Fault{"the new process does not read its messages"};
    }
}

// ---- the last requests ----

Handover::Ending Handover::end_requests() {
    proxy::Drain drain(needs_.parts.server->shared(), hurry_);
    sends_clients_ = hello_.clients;
    drain.begin(sends_clients_ ? clients_.departures() : nullptr);
    SteadyTime::duration limit = needs_.config.proxy.deadlines.handover;
    for (auto const begun = steady_now();;) {
        auto const age = steady_now() - begun;
        if (stops_) limit = std::min<SteadyTime::duration>(limit, stopped_at_.load() - begun + needs_.config.proxy.deadlines.drain);
        if (!talk(age < handover_soon ? talk_often : talk_seldom)) return undo({successor_ended});
        if (has_handed_quotas_ && !alone_ && steady_now() - quotas_sent_ >= quotas_often) send_counted_quotas();
        bool const ended = drain.wait(milliseconds{0});
        if (ended && (stops_ || age >= limit || (age >= undo_time && has_sent_objects()))) return bye(true);
        if (!ended && (hurry_ || age >= limit)) {
            take_clients_back(proxy::Departures::Next::stays);
            log_pending(drain.pending());
            return bye(drain.abort());
        }
    }
}

/// Sends what was removed, and reads acknowledgements. False if the new process has ended.
bool Handover::talk(milliseconds patience) {
    pollfd both[]{{.fd = wake_->descriptor(), .events = POLLIN, .revents = 0},
                  {.fd = conversation_->channel().descriptor(), .events = POLLIN, .revents = 0}};
    ::poll(both, alone_ ? 1 : std::size(both), static_cast<int>(patience.count()));
    wake_->clear();
    if (alone_) clients_.give_up_answer(conversation_ended_);
    if (!sends_clients_) clients_.resume(proxy::Departures::Next::stays);
    if (alone_) return true;
    if (sends_clients_) clients_.take();
    if (!unsent_) unsent_ = stand_in_->take();
    while (unsent_ && conversation_->send(message_of(*unsent_, "forget"))) {
        unsent_ = stand_in_->take();
        if (!read()) return false;
    }
    // The new process first hears of everything that these clients have seen removed.
    if (sends_clients_ && !unsent_) clients_.send(*conversation_);
    return read();
}

bool Handover::read() {
    while (true) {
        auto const message = conversation_->channel().poll();
        if (!message) return may_go_on_alone();
        if (!*message) return true;
        if (!take((*message)->json)) return false;
    }
}

/// Messages of later programs are ignored. False if it is invalid.
bool Handover::take(takeover::Json const& message) {
    auto const what = takeover::what_of(message);
    if (what == "bye") follow_stop();
    if (what == "keep") end_clients();
    if (what == "taken") return static_cast<bool>(clients_.answered(message));
    if (what != "settled") return true;
    auto const number = takeover::settled_of(message);
    if (number && stand_in_) stand_in_->acknowledge(*number);
    return static_cast<bool>(number);
}

/// True after an orderly stop of the new process. Its removals need no acknowledgement any more.
bool Handover::may_go_on_alone() {
    conversation_ended_ = true;
    alone_ = successor_stops_;
    if (alone_) stand_in_->finish();
    return alone_;
}

/// The new process stops in order: so does this one. The new one gets removals while it lives.
void Handover::follow_stop() {
    spdlog::info("takeover: the new process stops; this one has {} for its requests",
                 time_text(needs_.config.proxy.deadlines.drain));
    successor_stops_ = true;
    end_clients();
    stop();
}

/// Those that are on the way stay.
void Handover::end_clients() {
    if (!std::exchange(sends_clients_, false)) return;
    proxy::Drain(needs_.parts.server->shared(), hurry_).end_departures();
}

void Handover::take_clients_back(proxy::Departures::Next next) {
    end_clients();
    (void)have_run(*needs_.parts.server);   // then none is added any more
    clients_.give_up_answer(conversation_ended_);
    clients_.resume(next);
}

Handover::Ending Handover::bye(bool requests_ended) {
    objects_ = nullptr;
    talk(milliseconds{0});
    int const next = conversation_->channel().process();
    if (shares_control_) needs_.socket.leave();
    if (!alone_ && hello_.counters) send_counters();
    if (!alone_ && has_handed_quotas_) send_counted_quotas();
    if (!alone_) {
        needs_.manager.main_process(next);
        if (!conversation_->send_surely(takeover::plain("bye")))
            spdlog::warn("takeover: process {} does not read its messages; it may report that this one has ended early", next);
        spdlog::info("takeover: complete; process {} goes on, with {} client connections of this one", next, clients_.taken());
    }
    return needs_.shutdown.end_parts(requests_ended) ? Ending::over : Ending::stuck;
}

// ---- undo ----

Handover::Ending Handover::undo(Fault const& why) {
    if (!conversation_->lost()) (void)send_patiently(takeover::refusal(why.text()));
    spdlog::error("takeover: {}; this process goes on", why.text());
    objects_ = nullptr;
    if (paused_) resume();
    if (stand_in_) {
        needs_.parts.disk.take_back(needs_.parts.cache, *stand_in_);
        stand_in_->finish();
    }
    for (auto const& one : predecessors_) one->set_disk_is_here(true);
    take_back_quotas();
    open_seen();
    return Ending::undone;
}

void Handover::take_back_quotas() {
    auto& parts = needs_.parts;
    if (!std::exchange(has_handed_quotas_, false)) return;
    parts.server->quotas().end_counting();
    parts.quotas->begin_anew();
    parts.quotas->start();
}

/// The other process may have removed what is still in memory here.
void Handover::resume() {
    auto& parts = needs_.parts;
    parts.cache.memory().forget_all();
    set_draining(*parts.server, false);
    take_clients_back(proxy::Departures::Next::may_leave);
    parts.server->listening().resume();
    parts.server->mesh().resume();
    if (parts.admin) parts.admin->resume();
    if (parts.group) parts.group->resume();
    for (auto const& one : former_) {
        FormerRemovals removals(one, parts.cache, FormerRemovals::Begins::after_another);
        predecessors_.push_back(std::make_unique<Predecessor>(std::move(removals), parts, [] {}));
    }
    paused_ = false;
}

}   // namespace garner::app
