#include "app/takeover.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "app/handed_state.hpp"
#include "app/handed_windows.hpp"
#include "io/log.hpp"
#include "proxy/capacity.hpp"
#include "store/disk_format.hpp"
#include "util/version.hpp"

namespace garner::app {
namespace {

constexpr milliseconds greeting_patience{10'000};
constexpr milliseconds disk_patience{60'000};   // the running process writes its buffers
constexpr char const* not_handed_over = "the running proxy does not hand over";

/// --set changes the path of the new process: another option names that of the running one.
Fault for_a_takeover(Fault fault) {
    if (fault.mend == control::start_or_name_it) fault.mend = "start the proxy, or name its control.path by --from PATH";
    return fault;
}

}   // namespace

Result<std::unique_ptr<Takeover>> Takeover::begin(std::string const& path) {
    (void)proxy::raise_file_limit();   // a process at its limit would lose descriptors
    auto channel = control::Channel::connect(path);
    if (!channel) return for_a_takeover(channel.fault());
    std::unique_ptr<Takeover> takeover(new Takeover(*std::move(channel)));
    if (auto const greeted = takeover->greet(); !greeted) return greeted.fault().at(not_handed_over);
    return takeover;
}

Result<void> Takeover::greet() {
    takeover::Hello hello;
    hello.version = version;
    hello.record_format = store::disk::format_version;
    hello.objects = hello.counters = hello.clients = hello.state = hello.quotas = true;
    if (!conversation_->send(takeover::json_of(hello))) return Fault{"it does not read the greeting"};
    auto const answer = conversation_->expect({"welcome"}, greeting_patience);
    if (!answer) return answer.fault();
    auto welcome = takeover::welcome_of(answer->json);
    if (!welcome) return welcome.fault();
    welcome_ = *std::move(welcome);
    return conversation_->receive(*sockets_, greeting_patience);
}

std::shared_ptr<net::TicketKeys> Takeover::ticket_keys() const {
    auto keys = std::make_shared<net::TicketKeys>(steady_now());
    if (!keys->restore({welcome_.ticket_keys, welcome_.ticket_age}, steady_now()))
        spdlog::warn("takeover: the session ticket keys of the running process are not valid; TLS clients do not resume");
    return keys;
}

std::unique_ptr<control::Socket> Takeover::control_socket(std::string const& path) const {
    int const descriptor = sockets_->copy("control");
    return descriptor < 0 ? nullptr : control::Socket::adopt(descriptor, path);
}

/// If the former process has ended, this one goes on with what it has.
Result<void> Takeover::tolerate_end(Fault const& fault) const {
    if (!conversation_->lost()) return fault.at(not_handed_over);
    spdlog::warn("takeover: the former process has ended early; this one goes on");
    return {};
}

Result<void> Takeover::ready(cache::Cache& cache) {
    (void)conversation_->send(takeover::plain("ready"));
    while (true) {
        auto received = conversation_->expect({"objects", "disk"}, disk_patience);
        if (!received) return tolerate_end(received.fault());
        if (takeover::what_of(received->json) == "disk") return {};
        if (objects_ || received->descriptors.size() != 1)
            return Fault{"a message lost descriptors", "raise the limit of open files"}.at(not_handed_over);
        int const stream = received->descriptors.release(0);
        auto const asks = takeover::answers_wants(received->json) ? Restoring::Asks::yes : Restoring::Asks::no;
        objects_ = std::make_unique<Restoring>(cache, stream, "takeover", Restoring::Pace::fast, welcome_.sequence, asks);
    }
}

/// The acknowledgement follows when this process serves: clients do not wait for the disk.
Result<void> Takeover::serving(takeover::Serving const& uses, Parts& parts) {
    auto& removals = removals_.emplace(conversation_, parts.cache, FormerRemovals::Begins::first);
    if (conversation_->lost()) return {};
    (void)conversation_->send(takeover::json_of(uses));
    admin::Past past;
    bool has_past = true;
    for (bool goes = false; !goes;) {
        auto const message = conversation_->expect({"counters", "quotas", "state", "forget", "go"}, greeting_patience);
        if (!message) {
            quotas_.reset();
            return tolerate_end(message.fault());
        }
        if (auto const rows = takeover::quotas_of(message->json); rows) {
            add_quotas(*rows);
            continue;
        }
        if (auto const more = takeover::counters_of(message->json); more) {
            parts.former_totals.add(*more);
            continue;
        }
        if (takeover::what_of(message->json) == "state") {
            auto const adopted = adopt_state(message->json, parts, steady_now());
            if (!adopted) return adopted.fault().at(not_handed_over);
            auto const read = read_windows(message->json, past);
            if (read) continue;
            spdlog::warn("takeover: the windows of the statistics begin anew: {}", read.fault().text());
            has_past = false;
            continue;
        }
        auto const removed = removals.remove(message->json);
        if (!removed) return removed.fault().at(not_handed_over);
        goes = takeover::what_of(message->json) == "go";
    }
    if (parts.admin && has_past && !past.samples.empty()) parts.admin->adopt(past);
    if (!removals.owes_everything()) return {};
    return Fault{"the disk store cannot remove all its objects while it is recovering", "try again later"};
}

void Takeover::add_quotas(std::string const& rows) {
    if (!quotas_) quotas_.emplace();
    std::ranges::move(share::parse_ledger(rows).rows, std::back_inserter(*quotas_));
}

std::vector<std::unique_ptr<Predecessor>> Takeover::finish(Parts& parts, std::function<void()> const& over) {
    std::vector<std::unique_ptr<Predecessor>> all;
    for (int number = 0;; ++number) {
        int const descriptor = sockets_->copy("former/" + std::to_string(number));
        if (descriptor < 0) break;
        auto conversation = std::make_shared<takeover::Conversation>(control::Channel(descriptor));
        FormerRemovals removals(std::move(conversation), parts.cache, FormerRemovals::Begins::after_another);
        all.push_back(std::make_unique<Predecessor>(std::move(removals), parts, [] {}));
    }
    if (!conversation_->lost()) all.push_back(std::make_unique<Predecessor>(FormerRemovals(*removals_), parts, over));
    removals_.reset();
    sockets_ = nullptr;
    return all;
}

void Takeover::use_standard_output() const {
    use(STDIN_FILENO, "");
    use(STDOUT_FILENO, "stdout");
}

void Takeover::use_standard_error() const { use(STDERR_FILENO, "stderr"); }

/// /dev/null if the running process has no file of this name.
void Takeover::use(int standard, char const* name) const {
    int const handed = sockets_->copy(name);
    int const file = handed >= 0 ? handed : ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(file, standard);
    if (file > STDERR_FILENO) ::close(file);
}

}   // namespace garner::app
