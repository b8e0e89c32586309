#include "seen/conversation.hpp"

#include <algorithm>

#include <boost/asio/write.hpp>

#include "crawl/kept_memory.hpp"
#include "http/dates.hpp"
#include "http/uri.hpp"
#include "seen/stats_text.hpp"
#include "util/least_rate.hpp"
#include "util/option_words.hpp"
#include "util/text.hpp"
#include "util/version.hpp"

namespace garner::seen {

namespace asio = net::asio;
namespace beast = boost::beast;
using beast::http::field;
using beast::http::verb;

namespace {

constexpr std::size_t piece_bytes = 64 * KiB;
// The set answers whatever happens; nobody is kept waiting for ever.
constexpr milliseconds until_answered = std::chrono::hours{24 * 365};

constexpr std::string_view usage =
    "This tells a crawler which URLs it has seen.\n"
    "  POST /seen         URLs one a line, a JSON list (application/json), or fingerprints of 8 bytes\n"
    "                     (application/octet-stream); ?durable=1 waits until what is new is on disk\n"
    "  GET /seen/stats    figures; GET /metrics the same for Prometheus\n";

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

/// RFC 9112 3.2: also of the absolute form, which a server must take.
struct Target {
    std::string_view authority{};   // of the absolute form
    std::string_view path{}, query{};
};

Target read_target(std::string_view text) {
    constexpr std::string_view scheme = "http://";
    Target target;
    if (equals_ignoring_case(text.substr(0, scheme.size()), scheme)) {
        text.remove_prefix(scheme.size());
        auto const end = std::min(text.find_first_of("/?"), text.size());
        target.authority = text.substr(0, end);
        text.remove_prefix(end);
    }
    auto const mark = std::min(text.find('?'), text.size());
    target.path = mark == 0 && !target.authority.empty() ? "/" : text.substr(0, mark);
    target.query = text.substr(std::min(mark + 1, text.size()));
    return target;
}

/// A page in a browser that an attacker's name leads here (DNS rebinding) would be one of our own.
bool is_literal_host(std::string_view host) {
    http::UriError error;
    auto const authority = http::parse_authority(host, error);
    return authority && (parse_ip(authority->host) || equals_ignoring_case(authority->host, "localhost"));
}

/// What could not be read, in HTTP's terms; status 0 when there is nobody to tell.
unsigned status_of(net::Error const& error) {
    using Fault = beast::http::error;
    static auto const& of_http = make_error_code(Fault::bad_method).category();
    if (error.category() != of_http || error == Fault::end_of_stream || error == Fault::partial_message) return 0;
    if (error == Fault::body_limit) return 413;
    return error == Fault::header_limit || error == Fault::buffer_overflow ? 431 : 400;
}

}  // namespace

/// A part of the batch that another partition is asked.
struct Conversation::Forward {
    Forward(net::Executor executor, PeerLink& link) : link(link), waiter(executor) {}

    PeerLink& link;
    net::Waiter waiter;
    PeerLink::Task task;
};

Conversation::Conversation(Desk& desk, net::TcpSocket socket, IpAddress client)
    : desk_(desk), client_(client), stream_(std::move(socket)), buffer_(desk.options().head_bytes + piece_bytes),
      sorter_(desk.sorting()) {
    ++desk_.connections_now;
    ++desk_.counters.connections;
    buffer_.reserve(piece_bytes);
}

Conversation::~Conversation() {
    let_go();
    --desk_.connections_now;
}

net::awaitable<void> Conversation::run() {
    for (bool more = true; more && !desk_.draining;) more = co_await exchange();
}

/// One request and its answer; false when it was the last.
net::awaitable<bool> Conversation::exchange() {
    auto& parser = parser_.emplace();
    parser.header_limit(desk_.options().head_bytes);
    parser.body_limit(desk_.options().body_bytes);
    idle_ = true;
    idle_since_ = steady_now();
    stream_.expires_after(desk_.options().idle);
    auto [error, bytes] = co_await beast::http::async_read_header(stream_, buffer_, parser, net::as_values);
    (void)bytes;
    idle_ = false;
    if (error) {
        auto const status = status_of(error);
        if (status == 0) co_return false;
        Reply reply{status, "The request cannot be read: " + error.message() + "\n"};
        if (status == 413) reply = counted(reply, desk_.counters.too_large);
        co_return co_await send(reply, true);
    }
    if (auto const reply = refusal()) co_return co_await send(*reply, true);
    auto const path = read_target(view(parser.get().target())).path;
    if (path == "/seen" && parser.get().method() == verb::post) co_return co_await answer_batch();
    auto const reply = page(path);
    // A body with a GET is not read: what follows would be no request.
    co_return co_await send(reply, !parser.is_done() || !keeps());
}

/// Who may not ask at all, or asks what cannot be read safely.
std::optional<Conversation::Reply> Conversation::refusal() const {
    auto const& request = parser_->get();
    if (!desk_.allows(client_)) return Reply{403, client_.text() + " may not ask here.\n"};
    if (request.count(field::origin) > 0) return Reply{403, "Pages in browsers may not ask here.\n"};
    if (request.count(field::host) != 1 && request.version() > 10) return Reply{400, "One Host field is wanted.\n"};
    bool const loopback = parse_ip(desk_.options().address)->is_loopback();
    auto const authority = read_target(view(request.target())).authority;
    bool const host_is_literal = request.count(field::host) == 0 || is_literal_host(view(request[field::host]));
    if (loopback && (!host_is_literal || (!authority.empty() && !is_literal_host(authority))))
        return Reply{421, "Here the host is an IP address, or localhost.\n"};
    return framing_fault();
}

/// A body that we and the client might measure differently.
std::optional<Conversation::Reply> Conversation::framing_fault() const {
    auto const& request = parser_->get();
    auto const codings = request.count(field::transfer_encoding), lengths = request.count(field::content_length);
    bool const chunked = codings == 1 && equals_ignoring_case(view(request[field::transfer_encoding]), "chunked");
    if (codings > 0 && (!chunked || lengths > 0)) return Reply{400, "Of Transfer-Encoding there is chunked alone.\n"};
    if (lengths > 1 || (lengths == 1 && !parse_decimal(view(request[field::content_length]))))
        return Reply{400, "One Content-Length is wanted, a number.\n"};
    auto const coding = view(request[field::content_encoding]);
    if (!coding.empty() && !equals_ignoring_case(coding, "identity"))
        return Reply{415, "A body is taken as it is, without Content-Encoding.\n"};
    auto const expected = view(request[field::expect]);
    if (!expected.empty() && !equals_ignoring_case(expected, "100-continue"))
        return Reply{417, "Of expectations there is 100-continue alone.\n"};
    return std::nullopt;
}

Conversation::Reply Conversation::page(std::string_view path) const {
    bool const seen = path == "/seen";
    if (!seen && path != "/" && path != "/seen/stats" && path != "/metrics") return {404, std::string(usage)};
    auto const method = parser_->get().method();
    if (seen || (method != verb::get && method != verb::head)) {
        std::string const allow = seen ? "POST" : "GET, HEAD";
        return {405, "Here is only: " + allow + "\n", "text/plain; charset=utf-8", allow};
    }
    if (path == "/") return {200, std::string(usage)};
    if (path == "/metrics") return {200, metrics_text(desk_), "text/plain; version=0.0.4; charset=utf-8"};
    return {200, stats_json(desk_), "application/json"};
}

// ---- a batch ----

net::awaitable<bool> Conversation::answer_batch() {
    Asked asked;
    auto trouble = read_question(asked);
    if (!trouble) trouble = co_await take_batch(asked);
    bool const unread = !parser_->is_done();
    if (!trouble) trouble = co_await find_answers(asked);
    if (!trouble) desk_.count(batch_, asked.forwarded, asked.durable);
    bool more = false;
    if (trouble) more = co_await send(*trouble, unread || !keeps());
    else more = co_await send_answers(asked.answer);
    let_go();
    co_return more;
}

std::optional<Conversation::Reply> Conversation::read_question(Asked& asked) const {
    auto const& request = parser_->get();
    auto unreadable = [this](unsigned status, std::string why) {
        return counted({status, std::move(why) + "\n"}, desk_.counters.unreadable);
    };
    auto const query = read_target(view(request.target())).query;
    if (!query.empty() && query != "durable=1" && query != "durable=0")
        return unreadable(400, quoted_word(query) + " is not known; there is durable=1");
    asked.durable = query == "durable=1";
    auto const type = view(request[field::content_type]);
    asked.form = body_form(type);
    if (!asked.form)
        return unreadable(415, quoted_word(type) + " is not known; send text/plain, application/json or "
                                                   "application/octet-stream");
    asked.answer = asked_form(view(request[field::accept])).value_or(asked.form->answer);
    beast::string_view const name(forwarded_field.data(), forwarded_field.size());
    asked.forwarded = request.count(name) > 0;
    if (asked.forwarded && view(request[name]) != desk_.own_words())
        return unreadable(421, (desk_.own_words().empty() ? "There are no partitions here, and it is not "
                                                          : "This is partition " + desk_.own_words() + ", not ") +
                                   std::string(view(request[name])));
    // One that is forwarded is answered link by link.
    auto const& forgets = desk_.keeper().why_it_forgets();
    if (asked.durable && !asked.forwarded && !forgets.empty()) return unreadable(400, "Nothing here is durable: " + forgets);
    // Whose they are only their hosts tell.
    bool const octets = asked.form->answer == AnswerForm::octets;
    if (octets && desk_.partitions() > 1 && !asked.forwarded)
        return unreadable(400, "A fingerprint does not tell its host, and hosts are shared between " +
                                   std::to_string(desk_.partitions()) + " partitions: send URLs");
    if (!desk_.keeper().has_room(0)) return overloaded("Too much waits for the set.");
    return std::nullopt;
}

net::awaitable<std::optional<Conversation::Reply>> Conversation::take_batch(Asked const& asked) {
    if (parser_->get().count(field::expect) > 0 && parser_->get().version() > 10) {
        bool const told = co_await write("HTTP/1.1 100 Continue\r\n\r\n");
        if (!told) co_return Reply{400, ""};
    }
    batch_.clear(desk_.partitions());
    sorter_.begin(batch_, asked.durable);
    auto const reader = asked.form->make(sorter_);
    auto trouble = co_await read_body(*reader);
    if (trouble) co_return trouble;
    auto const fault = reader->finish();
    if (!fault.empty()) co_return counted({400, fault + "\n"}, desk_.counters.unreadable);
    if (!batch_.too_many) co_return std::nullopt;
    co_return counted({413, "A batch has at most " + std::to_string(desk_.options().batch_links) + " links.\n"},
                      desk_.counters.too_large);
}

net::awaitable<std::optional<Conversation::Reply>> Conversation::read_body(BodyReader& reader) {
    piece_.resize(piece_bytes);
    auto const begun = steady_now();
    Bytes received = 0;
    while (!parser_->is_done()) {
        auto& body = parser_->get().body();
        body.data = piece_.data();
        body.size = piece_.size();
        stream_.expires_after(desk_.options().progress);
        auto [error, bytes] = co_await beast::http::async_read_some(stream_, buffer_, *parser_, net::as_values);
        if (error && error != beast::http::error::need_buffer) {
            auto const status = status_of(error);
            bool const too_long = error == beast::http::error::buffer_overflow;   // chunked: what stands between the data
            auto const why = too_long ? std::string("the line of a chunk, or the trailers, are too long") : error.message();
            Reply reply{status && !too_long ? status : 400, "The body cannot be read: " + why + "\n"};
            co_return counted(reply, status == 413 ? desk_.counters.too_large : desk_.counters.unreadable);
        }
        bool const more = reader.read(std::string_view(piece_).substr(0, piece_.size() - body.size));
        received += bytes;
        auto const took = std::chrono::duration_cast<milliseconds>(steady_now() - begun);
        if (is_too_slow(received, took, {KiB, desk_.options().progress})) co_return counted({408, "The body came too slowly: below 1 KiB a second.\n"}, desk_.counters.unreadable);
        auto const before = held_;
        held_ = batch_.held_bytes();
        if (!desk_.hold(before, held_)) co_return overloaded("Too many batches are under way.");
        if (!more) break;
    }
    co_return std::nullopt;
}

/// Asks the set and the other partitions at once, and puts together what they say.
net::awaitable<std::optional<Conversation::Reply>> Conversation::find_answers(Asked const& asked) {
    if (!desk_.has_room(batch_)) co_return overloaded("Too much waits for the set, or for another partition.");
    own_answers_.resize(batch_.own.size());
    net::Waiter waiter(desk_.io().get_executor());
    SetKeeper::Task task{.links = batch_.own, .answers = own_answers_, .durable = asked.durable, .done = {}};
    task.done = [handle = waiter.handle()] { handle.wake(net::Wake::ready); };
    if (!batch_.own.empty()) {
        if (!desk_.keeper().add(task)) co_return overloaded("Too much waits for the set.");
    }
    auto const until = steady_now() + desk_.options().peer_answer;
    begin_forwards(asked.durable, until);
    if (!batch_.own.empty()) co_await waiter.wait(until_answered);
    for (auto const& forward : forwards_) {
        co_await await_answer(*forward, until);
        batch_.take_foreign(forward->link.partition(), forward->task.answers);
    }
    if (task.outcome == SetKeeper::Outcome::not_durable) std::ranges::replace(own_answers_, is_new, not_durable);
    bool const added = task.outcome != SetKeeper::Outcome::not_added;
    if (!added && forwards_.empty()) co_return Reply{503, task.fault + "\n", "text/plain; charset=utf-8", "", 10};
    // What the others have told is new is told, whatever is the matter here.
    if (!added) own_answers_.assign(own_answers_.size(), unreachable(desk_.sorting().own));
    batch_.take_own(own_answers_);
    co_return std::nullopt;
}

net::awaitable<void> Conversation::await_answer(Forward& forward, SteadyTime until) {
    auto const left = std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(until - steady_now()));
    auto const woken = co_await forward.waiter.wait(left);
    if (woken == net::Wake::deadline) forward.link.give_up(forward.task);
}

void Conversation::begin_forwards(bool durable, SteadyTime until) {
    forwards_.clear();
    for (auto const& link : desk_.links()) {
        if (!link || batch_.foreign[link->partition()].empty()) continue;
        auto& forward = *forwards_.emplace_back(std::make_unique<Forward>(desk_.io().get_executor(), *link));
        forward.task.links = batch_.foreign[link->partition()];
        forward.task.durable = durable;
        forward.task.until = until;
        forward.task.done = forward.waiter.handle();
        link->add(forward.task);
    }
}

net::awaitable<bool> Conversation::send_answers(AnswerForm form) {
    AnswerWriter writer(form, batch_.answers);
    Reply reply;
    reply.type = type_of(form);
    bool const last = !keeps();
    out_ = head_of(reply, writer.length(), last);
    for (bool more = writer.next(piece_); more || !out_.empty(); more = writer.next(piece_)) {
        if (more) out_ += piece_;
        bool const sent = co_await write(out_);
        if (!sent) co_return false;
        out_.clear();
        if (!more) break;
    }
    if (last) co_await say_goodbye();
    co_return !last;
}

void Conversation::let_go() {
    batch_.clear(desk_.partitions());
    forwards_.clear();
    crawl::give_back(own_answers_), crawl::give_back(piece_), crawl::give_back(out_);
    desk_.hold(held_, 0);
    held_ = 0;
}

Conversation::Reply Conversation::counted(Reply reply, std::uint64_t& counter) const {
    ++counter;
    return reply;
}

Conversation::Reply Conversation::overloaded(std::string why) const {
    Reply reply{503, std::move(why) + " Nothing of this batch was taken.\n"};
    reply.retry_after = 1;
    return counted(std::move(reply), desk_.counters.overloads);
}

// ---- answers ----

bool Conversation::keeps() const { return parser_->get().keep_alive() && !desk_.draining; }

std::string Conversation::head_of(Reply const& reply, std::uint64_t length, bool last) const {
    auto const reason = beast::http::obsolete_reason(static_cast<beast::http::status>(reply.status));
    std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " " + std::string(reason) + "\r\n";
    auto add = [&head](std::string_view name, std::string_view value) {
        head.append(name).append(": ").append(value).append("\r\n");
    };
    add("Server", std::string("garner/") + version);
    add("Date", http::format_http_date(unix_seconds(wall_now())));
    add("Content-Type", reply.type);
    add("Content-Length", std::to_string(length));
    if (!reply.allow.empty()) add("Allow", reply.allow);
    if (reply.retry_after > 0) add("Retry-After", std::to_string(reply.retry_after));
    add("Cache-Control", "no-store");
    add("X-Content-Type-Options", "nosniff");
    if (last) add("Connection", "close");
    else if (parser_->get().version() == 10) add("Connection", "keep-alive");
    return head + "\r\n";
}

/// `last`: the connection ends with it. False when it has ended.
net::awaitable<bool> Conversation::send(Reply const& reply, bool last) {
    out_ = head_of(reply, reply.body.size(), last);
    if (parser_->get().method() != verb::head) out_ += reply.body;
    bool const sent = co_await write(out_);
    if (!sent) co_return false;
    if (last) co_await say_goodbye();
    co_return !last;
}

net::awaitable<bool> Conversation::write(std::string_view bytes) {
    stream_.expires_after(desk_.options().progress);
    auto const buffer = asio::buffer(bytes);
    auto [error, sent] = co_await asio::async_write(stream_, buffer, net::as_values);
    (void)sent;
    co_return !error;
}

/// Closing with bytes unread would be a reset, which may take the answer with it.
net::awaitable<void> Conversation::say_goodbye() {
    constexpr seconds patience{2};
    constexpr std::size_t most = 4 * MiB;
    net::Error error;
    stream_.socket().shutdown(asio::socket_base::shutdown_send, error);
    stream_.expires_after(patience);
    piece_.resize(piece_bytes);
    for (std::size_t total = 0; !error && total < most;) {
        auto const buffer = asio::buffer(piece_);
        auto [end, bytes] = co_await stream_.async_read_some(buffer, net::as_values);
        error = end;
        total += bytes;
    }
}

}  // namespace garner::seen
