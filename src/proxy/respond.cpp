// Sending: our own answers, and the one place through which every byte goes to the client.
#include <algorithm>
#include <boost/asio/error.hpp>

#include "http/dates.hpp"
#include "proxy/error_page.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

using http::Method;

/// False when the client is gone or takes nothing for too long; the connection closes then.
net::awaitable<bool> Transaction::send(std::span<iovec> parts, Bytes body) {
    body_sent_ += body;
    if (interim_rest_.empty() && !client_.try_send(parts).error) {
        count_client_traffic();
        co_return true;
    }
    co_return co_await send_waiting(parts, body);
}

/// What the socket does not take at once, behind what is left of an interim response.
net::awaitable<bool> Transaction::send_waiting(std::span<iovec> parts, Bytes body) {
    auto const rest = std::exchange(interim_rest_, {});
    std::vector<iovec> all;
    if (!rest.empty()) {
        all.push_back({const_cast<char*>(rest.data()), rest.size()});
        all.insert(all.end(), parts.begin(), parts.end());
        parts = all;
    }
    Bytes unsent = 0;
    for (auto const& part : parts) unsent += part.iov_len;
    send_pace_.wait();
    auto sent = co_await client_.send(parts, options_->deadlines.body);
    send_pace_.resume();
    count_client_traffic();
    if (!sent.error) co_return true;
    unsent -= sent.bytes;
    reason_ = send_pace_.too_slow()                          ? send_pace_.too_slow()
              : sent.error == net::asio::error::timed_out ? "the client takes nothing"
                                                            : "the client is gone";
    body_sent_ -= std::min(body, unsent);
    client_gone_ = close_ = true;
    co_return false;
}

/// Without waiting: would_block when something is left yet.
net::Error Transaction::send_interim_rest() {
    iovec part{interim_rest_.data(), interim_rest_.size()};
    std::span<iovec> parts(&part, 1);
    auto const sent = client_.try_send(parts);
    interim_rest_.erase(0, sent.bytes);
    if (!sent.error) interim_rest_.clear();
    count_client_traffic();
    return sent.error;
}

/// Writes the patch; whether the connection closes is said here, so that it is said truly.
std::string_view Transaction::patch_of(Patch const& patch) {
    auto with_close = patch;
    if (services_.draining || (!client_.body_done() && !upload_.running)) close_ = true;
    with_close.close = close_;
    return write_patch(patch_, with_close, services_.shared.via_name);
}

/// A body of unknown length goes to HTTP/1.0 until close, to HTTP/1.1 in chunks.
bool Transaction::starts_closing(Patch& patch) {
    if (client_.head().version == http::Version::http_1_1) return false;
    patch.close = close_ = true;
    return true;
}

/// The client must not take what it has for the whole. HTTP/1.1 sees it by the framing; a body that ends with the
/// connection needs a reset.
void Transaction::show_truncation() {
    close_ = truncated_ = true;
    if (client_.head().version == http::Version::http_1_0) client_.transport().close_with_reset();
}

/// An accelerator's visitors learn neither the origin's name nor its address; the log has both.
ErrorPage Transaction::page_of(std::uint16_t status, std::string_view what, std::string_view rule) const {
    ErrorPage page{.status = status, .what = what, .rule = rule, .url = target_.url, .server = services_.shared.via_name};
    if (!target_.accelerated) return page;
    page.url = target_.path;
    if (status >= 502 && status <= 504) page.what = what.substr(0, what.find(": "));
    return page;
}

net::awaitable<void> Transaction::error(std::uint16_t status, std::string_view what, std::string_view rule,
                                        std::string_view more) {
    if (head_sent_) {
        show_truncation();
        co_return;
    }
    if (reason_.empty()) reason_.assign(what);
    std::string_view const logged = rule == rule_text_ && !rule.empty() ? logged_rule_ : rule;
    if (!logged.empty() && reason_ != logged) reason_.append(" [").append(logged).append("]");
    auto body = error_page(page_of(status, what, rule));
    auto extra = std::string("Cache-Control: no-store\r\n").append(more);
    status_.detail = rule;
    co_await own_answer(status, "text/html;charset=utf-8", body, extra);
}

net::awaitable<void> Transaction::own_answer(std::uint16_t status, std::string_view type, std::string_view body,
                                             std::string_view extra) {
    sent_status_ = status;
    content_type_ = type;
    head_text_.clear();
    append_status_line(status, reason_phrase(status), head_text_);
    head_text_.append("Date: ").append(http::format_http_date(unix_seconds(wall_now()))).append("\r\n");
    if (!type.empty()) head_text_.append("Content-Type: ").append(type).append("\r\n");
    Patch patch;
    patch.status = status_;
    patch.content_length = body.size();
    patch.extra = extra;
    auto tail = patch_of(patch);
    head_sent_ = true;
    std::array<iovec, 3> parts;
    std::size_t used = 0;
    parts[used++] = {head_text_.data(), head_text_.size()};
    parts[used++] = {const_cast<char*>(tail.data()), tail.size()};
    if (client_.head().method == Method::head) body = {};
    if (!body.empty()) parts[used++] = {const_cast<char*>(body.data()), body.size()};
    co_await send(std::span(parts.data(), used), body.size());
}

}  // namespace garner::proxy
