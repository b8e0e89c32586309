#include "redis/redis_connection.hpp"

#include <hiredis/hiredis.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "util/units.hpp"

namespace garner::redis {
namespace {

timeval as_timeval(milliseconds time) { return {.tv_sec = time.count() / 1000, .tv_usec = time.count() % 1000 * 1000}; }

}   // namespace

void RedisDelete::operator()(redisContext* context) const { ::redisFree(context); }
void RedisDelete::operator()(redisReply* reply) const { ::freeReplyObject(reply); }

void append_command(std::initializer_list<std::string_view> words, std::string& to) {
    to.append("*").append(std::to_string(words.size())).append("\r\n");
    for (auto const word : words) to.append("$").append(std::to_string(word.size())).append("\r\n").append(word).append("\r\n");
}

bool RedisConnection::is_open(bool look) {
    if (!context_ || !look) return context_ != nullptr;
    // Servers close idle connections. Seen before a command is sent, that leaves no doubt about the command.
    char byte;
    auto const got = ::recv(context_->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    bool const closed = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
    if (closed) close();
    return !closed;
}

bool RedisConnection::open() {
    context_.reset(::redisConnectWithTimeout(endpoint_.host.c_str(), endpoint_.port, as_timeval(wait_)));
    if (!context_) return lost("out of memory");
    if (context_->err) return lost(context_->errstr);
    if (::redisSetTimeout(context_.get(), as_timeval(wait_)) != REDIS_OK) return lost(context_->errstr);
    if (password_.empty()) return true;
    auto const reply = ask({"AUTH", password_});
    if (reply && reply->type == REDIS_REPLY_ERROR) return lost(reply->str);
    return reply != nullptr;
}

// hiredis would write without MSG_NOSIGNAL: SIGPIPE if the connection is closed.
bool RedisConnection::send(std::string_view commands) {
    while (!commands.empty()) {
        auto const sent = ::send(context_->fd, commands.data(), commands.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return lost_in("accepted no data");
        commands.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

RedisReply RedisConnection::next() {
    void* reply = nullptr;
    if (::redisGetReply(context_.get(), &reply) == REDIS_OK) return RedisReply(static_cast<redisReply*>(reply));
    if (context_->err == REDIS_ERR_IO)
        lost_in("did not reply");
    else
        lost(context_->errstr);
    return nullptr;
}

RedisReply RedisConnection::ask(std::initializer_list<std::string_view> words) {
    std::string command;
    append_command(words, command);
    return send(command) ? next() : nullptr;
}

bool RedisConnection::lost(std::string const& why) {
    fault_ = endpoint_.text() + ": " + why;
    close();
    return false;
}

bool RedisConnection::lost_in(char const* doing) {
    bool const late = errno == EAGAIN || errno == EWOULDBLOCK;
    return lost(late ? std::string(doing) + " for " + time_text(wait_) : std::strerror(errno));
}

}   // namespace garner::redis
