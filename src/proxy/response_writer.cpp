#include "proxy/response_writer.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>

#include "http/dates.hpp"
#include "http/hop_by_hop.hpp"
#include "proxy/login_check.hpp"
#include "proxy/proxy_status.hpp"
#include "util/gather.hpp"

namespace garner::proxy {

ResponseWriter::ResponseWriter(Request& request)
    : request_(request), pace_(request.client, request.services.worker.wheel, request.services.cache) {
    pace_.begin(request.options->limits.min_rate);
}

bool ResponseWriter::try_send(std::span<iovec>& parts, Bytes body, Pages pages) {
    if (!interim_rest_.empty()) return false;
    auto& client = request_.client;
    auto const sent = pages == Pages::lent ? client.lender()->try_lend(parts) : client.try_send(parts);
    if (sent.error) return false;
    request_.record.body_sent += body;
    return true;
}

net::awaitable<bool> ResponseWriter::send(std::span<iovec> parts, Bytes body, Pages pages) {
    if (!try_send(parts, body, pages)) co_return co_await send_waiting(parts, body, pages);
    request_.record.count_traffic(request_);
    co_return true;
}

/// Sends the bytes that the socket did not accept at once, after the rest of an interim response.
net::awaitable<bool> ResponseWriter::send_waiting(std::span<iovec> parts, Bytes body, Pages pages) {
    request_.record.body_sent += body;
    auto const rest = std::exchange(interim_rest_, {});
    std::vector<iovec> all;
    if (!rest.empty()) {
        all.push_back({const_cast<char*>(rest.data()), rest.size()});
        all.insert(all.end(), parts.begin(), parts.end());
        parts = all;
    }
    Bytes unsent = 0;
    for (auto const& part : parts) unsent += part.iov_len;
    pace_.wait();
    auto const limit = request_.options->deadlines.body;
    net::IoResult sent;
    if (pages == Pages::lent)
        sent = co_await request_.client.lender()->lend(parts, limit);
    else
        sent = co_await request_.client.send(parts, limit);
    pace_.resume();
    request_.record.count_traffic(request_);
    if (!sent.error) co_return true;
    unsent -= sent.bytes;
    request_.record.texts.reason = pace_.too_slow()                            ? pace_.too_slow()
                                   : sent.error == net::asio::error::timed_out ? "the client stopped reading"
                                                                               : "the client closed the connection";
    request_.record.body_sent -= std::min(body, unsent);
    request_.client_gone = request_.close = true;
    co_return false;
}

/// Without waiting: would_block when some bytes are left.
net::Error ResponseWriter::send_interim_rest() {
    if (interim_rest_.empty()) return {};
    iovec part{interim_rest_.data(), interim_rest_.size()};
    std::span<iovec> parts(&part, 1);
    auto const sent = request_.client.try_send(parts);
    interim_rest_.erase(0, sent.bytes);
    if (!sent.error) interim_rest_.clear();
    request_.record.count_traffic(request_);
    return sent.error;
}

/// An interim response is dropped if the socket accepts none of it: followers may wait for the final response.
bool ResponseWriter::pass_interim(http::ResponseHead const& interim) {
    if (!request_.client.takes_interim() || request_.head_sent) return true;
    if (request_.client_gone) return false;
    if (send_interim_rest() == net::asio::error::would_block) return true;
    auto& text = request_.scratch.head_text;
    text.clear();
    append_status_line(interim.status, interim.reason, text);
    http::HopByHop hop_by_hop(interim.fields);
    for (auto const& field : interim.fields)
        if (!hop_by_hop.dropped(field) && field.id != http::Name::content_length)
            text.append(field.name).append(": ").append(field.value).append("\r\n");
    text.append("\r\n");
    interim_rest_ = text;
    auto const error = send_interim_rest();
    if (interim_rest_.size() == text.size()) interim_rest_.clear();
    if (!error || error == net::asio::error::would_block) return true;
    request_.client_gone = request_.close = true;
    return false;
}

std::string_view ResponseWriter::patch_of(Patch& patch) {
    auto& client = request_.client;
    // A request that was pipelined before the client reads the response must be answered, too.
    bool const moves = request_.services.drain.departures && client.may_move() && !client.client()->identity &&
                       client.client()->own_connections == 0;
    if (request_.services.drain.begun && !moves && !client.more_received()) request_.close = true;
    // The rest of the body would be read as the next request. An upload ends with its response (RFC 9112 9.6).
    if (!client.body_done() || request_.uploading) request_.close = true;
    patch.close = request_.close;
    return write_patch(request_.scratch.patch, patch, request_.scratch.signature);
}

void ResponseWriter::begin_without_length(Patch& patch) {
    if (request_.client.begin_without_length(patch)) request_.close = true;
}

void ResponseWriter::show_truncation() {
    request_.close = request_.record.truncated = true;
    request_.client.show_truncation();
}

/// Visitors of an accelerator learn neither the origin's name and address nor the rules; the log has them.
ErrorPage ResponseWriter::page_of(std::uint16_t status, std::string_view what, std::string_view rule) const {
    auto const& target = request_.target;
    ErrorPage page;
    page.status = status;
    page.what = what;
    page.server = request_.options->via_name;
    bool const is_read = !target.url.empty();   // otherwise the target is the last request's
    if (request_.accelerated_origin) {
        if (is_read) page.url = target.path;
        if (status >= 502 && status <= 504) page.what = what.substr(0, what.find(": "));
        return page;
    }
    page.rule = rule;
    if (rule == request_.record.texts.rule) {
        page.because = request_.record.texts.because;
        auto const rules = request_.options->access.rules();
        auto const index = request_.record.rule;
        if (request_.record.by_port)
            page.subject = RefusedFor::port;
        else if (index < rules.size() && rules[index].label() == rule)
            page.subject = refused_for(rules[index].match);
    }
    page.url = target.url;
    if (is_read) page.host = request_.head().method == http::Method::connect ? target.url : target.host_field;
    return page;
}

void ResponseWriter::log_reason(std::string_view what, std::string_view rule) {
    auto& texts = request_.record.texts;
    if (texts.reason.empty()) texts.reason.assign(what);
    std::string_view const logged = rule == texts.rule && !rule.empty() ? texts.logged_rule : rule;
    if (!logged.empty() && texts.reason != logged) texts.reason.append(" [").append(logged).append("]");
}

/// Proxy-Status. Visitors of an accelerator have no page of refusals.
std::string ResponseWriter::note_refusal() {
    auto const& texts = request_.record.texts;
    auto const& server = request_.options->via_name;
    if (request_.accelerated_origin) {
        request_.services.shared.refusals.note(refused(texts.rule, {}));
        return proxy_status(server, request_.record.by_destination, {}, texts.id);
    }
    if (!request_.identity && request_.options->logins) LoginCheck(request_).look();   // others see nothing of a known user
    keep_refusal(texts.rule, texts.because);
    return proxy_status(server, request_.record.by_destination, texts.rule, texts.id);
}

void ResponseWriter::note_refused_tunnel() {
    (void)request_.record.draw_id();
    (void)note_refusal();
}

/// A 407 without credentials is the usual beginning of a login.
bool ResponseWriter::is_failed_login(std::uint16_t status, std::string_view rule) const {
    bool const is_read = !request_.target.url.empty();
    bool const is_login = rule == "auth" ? status == 407 || status == 503 : rule == "auth.failures_per_minute";
    return is_login && is_read && request_.head().fields.has(http::Name::proxy_authorization);
}

Refused ResponseWriter::refused(std::string_view rule, std::string_view because) const {
    auto const url = request_.target.url;
    return {.id = request_.record.texts.id,
            .at = wall_now(),
            .method = std::string(request_.head().method_text),
            .url = std::string(url.substr(0, url.find('?'))),
            .groups = request_.identity ? request_.identity->groups : std::vector<std::string>(),
            .unknown_groups = request_.identity ? request_.identity->unknown_groups : std::vector<std::string>(),
            .user = request_.identity ? request_.identity->user : std::string(),
            .rule = std::string(rule),
            .because = std::string(because),
            .listener = request_.client.client()->listener,
            .client = request_.client.peer().address,
            .destination = request_.record.refused_address};
}

/// For the page of refusals and `garner rules why --id`.
void ResponseWriter::keep_refusal(std::string_view rule, std::string_view because) {
    request_.services.shared.refusals.add(refused(rule, because));
}

net::awaitable<void> ResponseWriter::error(std::uint16_t status, std::string_view what, std::string_view rule,
                                           cache::FailureKind kind, std::string_view more) {
    if (request_.head_sent) {
        show_truncation();
        co_return;
    }
    log_reason(what, rule);
    auto page = page_of(status, what, rule);
    page.kind = kind;
    page.id = request_.record.draw_id();
    auto const format = error_format(request_.head().fields);
    auto const body = error_page(page, format);
    std::string extra = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
    if (format == ErrorFormat::html) extra += "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n";
    extra.append(more);
    // A rule of access is for the log; a visitor of an accelerator learns only that there is one.
    bool const is_access_rule = !rule.empty() && rule == request_.record.texts.rule;
    if (is_access_rule) extra += note_refusal();
    if (is_failed_login(status, rule))
        keep_refusal(rule, what);
    else if (!is_access_rule && status != 407)
        request_.services.shared.failures.note(refused(std::to_string(status) + " " + std::string(what), {}));
    request_.record.cache_status.detail = request_.accelerated_origin && is_access_rule ? "access" : rule;
    co_await own_answer(status, content_type(format), body, extra);
}

net::awaitable<void> ResponseWriter::own_answer(std::uint16_t status, std::string_view type, std::string_view body,
                                                std::string_view extra) {
    request_.record.sent_status = status;
    request_.record.texts.content_type = type;
    auto& head = request_.scratch.head_text;
    head.clear();
    append_status_line(status, reason_phrase(status), head);
    head.append("Date: ").append(http::format_http_date(unix_seconds(wall_now()))).append("\r\n");
    if (!type.empty()) head.append("Content-Type: ").append(type).append("\r\n");
    head.append(extra);   // challenges may be longer than a patch
    Patch patch;
    patch.status = request_.record.cache_status;
    if (status != 304) patch.content_length = body.size();   // RFC 9110 8.6: in a 304 it would be that of the 200
    auto tail = patch_of(patch);
    request_.head_sent = true;
    Gather<3> pieces;
    pieces.add(head);
    pieces.add(tail);
    if (request_.head().method == http::Method::head) body = {};
    pieces.add(body);
    co_await send(pieces.take(), body.size());
}

}   // namespace garner::proxy
