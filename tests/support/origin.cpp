#include "support/origin.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace garner::test {

namespace {

char const* reason(int status) {
    switch (status) {
    case 200: return "OK";
    case 206: return "Partial Content";
    case 304: return "Not Modified";
    case 404: return "Not Found";
    default: return "Scripted";
    }
}

bool has_field(Fields const& fields, std::string_view name) {
    for (auto const& field : fields)
        if (same_name(field.first, name)) return true;
    return false;
}

/// Path and query of a target in origin-form or absolute-form.
std::string path_of(std::string const& target) {
    auto const scheme = target.find("://");
    if (scheme == target.npos) return target;
    auto const slash = target.find('/', scheme + 3);
    return slash == target.npos ? "/" : target.substr(slash);
}

}   // namespace

// ---- responses ----

std::string Answer::head_text(std::optional<std::size_t> length) const {
    Head head{version + " " + std::to_string(status) + " " + reason(status), fields};
    if (dated && !has_field(fields, "Date")) head.fields.emplace_back("Date", http_date());
    bool const bodiless = status == 304 || status == 204;
    if (delimited == Delimited::by_chunks) head.fields.emplace_back("Transfer-Encoding", "chunked");
    if (delimited == Delimited::by_length && !bodiless && !has_field(fields, "Content-Length"))
        head.fields.emplace_back("Content-Length", std::to_string(length.value_or(body.size())));
    if (close || delimited == Delimited::by_close) head.fields.emplace_back("Connection", "close");
    return head.text();
}

std::string Answer::text() const {
    auto text = head_text();
    if (delimited != Delimited::by_chunks) return text + body;
    if (!body.empty()) text += chunk(body);
    text += "0\r\n";
    for (auto const& [name, value] : trailers) text += name + ": " + value + "\r\n";
    return text + "\r\n";
}

Answer fresh(std::string body, int max_age, Fields more) {
    more.emplace_back("Cache-Control", "max-age=" + std::to_string(max_age));
    return {.fields = std::move(more), .body = std::move(body)};
}

Answer no_store(std::string body) { return {.fields = {{"Cache-Control", "no-store"}}, .body = std::move(body)}; }

void Hand::answer(Answer const& answer) {
    wire_.send(request_.head.method() == "HEAD" ? answer.head_text() : answer.text());
    if (answer.close || answer.delimited == Delimited::by_close) leave();
}

void Hand::read_body() {
    if (same_name(request_.head.field("Expect"), "100-continue")) wire_.send("HTTP/1.1 100 Continue\r\n\r\n");
    auto body = Body::of_request(request_.head);
    for (body.take(wire_.buffer()); !body.done(); body.take(wire_.buffer()))
        if (wire_.receive() != Wire::Read::data) body.ended();
    request_.body = body.bytes();
    request_.trailers = body.trailers();
    if (body.cut_short()) leave();
    note_(request_);
}

// ---- held exchanges ----

void HeldExchange::head(Answer const& answer, std::size_t length) {
    delimited_ = answer.delimited;
    hand_.send(answer.head_text(length));
}

void HeldExchange::piece(std::string_view bytes) {
    hand_.send(delimited_ == Delimited::by_chunks ? chunk(bytes) : std::string(bytes));
}

void HeldExchange::raw(std::string_view bytes) { hand_.send(bytes); }

void HeldExchange::finish() {
    if (delimited_ == Delimited::by_chunks) hand_.send("0\r\n\r\n");
    if (delimited_ == Delimited::by_close) return close();
    let_go();
}

void HeldExchange::release(Answer const& answer) {
    hand_.answer(answer);
    let_go();
}

void HeldExchange::close() {
    hand_.leave();
    let_go();
}

void HeldExchange::reset() {
    hand_.wire().reset_at_close();
    close();
}

bool HeldExchange::abandoned(Millis limit) {
    return eventually([&] { return hand_.wire().peer_closed(); }, limit);
}

void HeldExchange::let_go() {
    std::lock_guard lock(mutex_);
    through_ = true;
    changed_.notify_all();
}

void HeldExchange::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return through_; });
}

HeldExchange& Held::nth(std::size_t index) {
    std::unique_lock lock(inside_->mutex);
    bool const came = inside_->changed.wait_for(lock, patience, [&] { return inside_->exchanges.size() > index; });
    if (!came) throw Trouble("the origin waits for request number " + std::to_string(index + 1) + " in vain");
    return *std::next(inside_->exchanges.begin(), static_cast<std::ptrdiff_t>(index));
}

std::size_t Held::count() const {
    std::lock_guard lock(inside_->mutex);
    return inside_->exchanges.size();
}

// ---- the origin ----

Origin::Origin() : Origin(Setup{}) {}

Origin::Origin(Setup setup) : setup_(std::move(setup)), listening_(listen_on(setup_.address, setup_.port)) {
    otherwise_ = [](Hand& hand) { hand.answer({.status = 404, .fields = {{"Cache-Control", "no-store"}}}); };
    acceptor_ = std::thread([this] { accept(); });
}

Origin::~Origin() {
    stopping_ = true;
    ::shutdown(listening_.fd, SHUT_RDWR);
    acceptor_.join();
    ::close(listening_.fd);
    {
        std::lock_guard lock(mutex_);
        for (auto const& [number, fd] : open_) ::shutdown(fd, SHUT_RDWR);
        for (auto& held : held_) {
            std::lock_guard inside(held.inside_->mutex);
            held.inside_->over = true;
            for (auto& exchange : held.inside_->exchanges) exchange.let_go();
        }
    }
    for (auto& [number, thread] : threads_) thread.join();
}

std::string Origin::authority() const {
    auto const host = setup_.address.find(':') == std::string::npos ? setup_.address : "[" + setup_.address + "]";
    return host + ":" + std::to_string(port());
}

std::string Origin::url(std::string const& path) const {
    return (setup_.certificate ? "https://" : "http://") + authority() + path;
}

void Origin::answer(std::string const& path, Answer answer) { this->answer(path, std::vector<Answer>{std::move(answer)}); }

void Origin::answer(std::string const& path, std::vector<Answer> in_turn) {
    auto next = std::make_shared<std::atomic<std::size_t>>(0);
    by_hand(path, [in_turn = std::move(in_turn), next](Hand& hand) {
        hand.read_body();
        hand.answer(in_turn[std::min(next->fetch_add(1), in_turn.size() - 1)]);
    });
}

void Origin::raw(std::string const& path, std::string bytes) {
    by_hand(path, [bytes = std::move(bytes)](Hand& hand) {
        hand.read_body();
        hand.send(bytes);
        hand.leave();
    });
}

void Origin::by_hand(std::string const& path, Script script) {
    std::lock_guard lock(mutex_);
    scripts_[path] = std::move(script);
}

void Origin::otherwise(Script script) {
    std::lock_guard lock(mutex_);
    otherwise_ = std::move(script);
}

Held Origin::hold(std::string const& path) {
    Held held;
    auto inside = held.inside_;
    by_hand(path, [inside](Hand& hand) {
        hand.read_body();
        HeldExchange* exchange = nullptr;
        {
            std::lock_guard lock(inside->mutex);
            if (inside->over) return hand.leave();
            exchange = &inside->exchanges.emplace_back(hand);
            inside->changed.notify_all();
        }
        exchange->wait();
    });
    std::lock_guard lock(mutex_);
    held_.push_back(held);
    return held;
}

std::size_t Origin::requests(std::string const& path) const { return seen(path).size(); }

std::vector<Request> Origin::seen(std::string const& path) const {
    std::lock_guard lock(mutex_);
    std::vector<Request> copies;
    if (auto const found = seen_.find(path); found != seen_.end())
        for (auto const& request : found->second) copies.push_back(*request);
    return copies;
}

Request Origin::last(std::string const& path) const {
    auto const all = seen(path);
    if (all.empty()) throw Trouble("the origin has seen no request for " + path);
    return all.back();
}

void Origin::forget_requests() {
    std::lock_guard lock(mutex_);
    seen_.clear();
}

void Origin::accept() {
    while (!stopping_) {
        int fd = ::accept4(listening_.fd, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) continue;
        auto const number = ++connections_;
        std::lock_guard lock(mutex_);
        join_ended();
        open_[number] = fd;
        threads_.emplace(number, [this, fd, number] { converse(Wire(fd), number); });
    }
}

// Frees the stacks of ended threads, which hold them until they are joined. Called with the lock; these threads need it no more.
void Origin::join_ended() {
    for (auto number : ended_) {
        threads_.at(number).join();
        threads_.erase(number);
    }
    ended_.clear();
}

void Origin::converse(Wire wire, std::size_t number) {
    try {
        if (setup_.certificate) wire.start_tls_server(*setup_.certificate);
        while (!stopping_ && one_request(wire, number)) {
        }
    } catch (Trouble const&) {
        // A client that rejects the certificate closes during the handshake; the scene sees that at the client.
    }
    // Closing with unread bytes would send a reset, which can overtake the
    // response: half-close, wait for the peer's close, then close.
    wire.half_close();
    while (!wire.will_reset() && !stopping_ && wire.receive(Millis{1000}) == Wire::Read::data) {
    }
    std::lock_guard lock(mutex_);
    open_.erase(number);   // before the descriptor is closed and its number reused
    wire.close();
    ended_.push_back(number);
}

Script Origin::script_for(std::string const& path) const {
    std::lock_guard lock(mutex_);
    auto const found = scripts_.find(path);
    return found != scripts_.end() ? found->second : otherwise_;
}

// Answers one request; false if the connection is to be closed.
bool Origin::one_request(Wire& wire, std::size_t number) {
    std::optional<Head> head;
    while (!(head = take_head(wire.buffer())))
        if (wire.receive(Millis{600'000}) != Wire::Read::data) return false;
    Request request{.head = *head, .connection = number};
    auto const path = path_of(request.head.target());
    auto const record = std::make_shared<Request>(request);
    {
        std::lock_guard lock(mutex_);
        seen_[path].push_back(record);
    }
    Hand hand(wire, request, [&](Request const& whole) {
        std::lock_guard lock(mutex_);
        *record = whole;
    });
    script_for(path)(hand);
    return !hand.leaves() && wire.is_open();
}

}   // namespace garner::test
