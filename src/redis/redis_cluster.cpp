#include "redis/redis_cluster.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <thread>

#include "util/text.hpp"
#include "util/units.hpp"

namespace garner::redis {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t sent_at_once = 16'384;   // questions to a node: these are in doubt if its connection is lost
constexpr auto pause = 20ms;                   // if no question was answered
constexpr auto rest = 200ms;                   // before an unreachable node is tried again
constexpr std::size_t nodes_at_most = 4'096;

bool is_text(redisReply const& reply) { return reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS; }
std::string_view text_of(redisReply const& reply) {
    bool const has_text = is_text(reply) || reply.type == REDIS_REPLY_ERROR;
    return has_text ? std::string_view(reply.str, static_cast<std::size_t>(reply.len)) : std::string_view();
}
std::span<redisReply* const> parts_of(redisReply const& reply) {
    return reply.type == REDIS_REPLY_ARRAY ? std::span(reply.element, reply.elements) : std::span<redisReply* const>();
}

/// Reads "MOVED 3999 127.0.0.1:6381". Without a host the node that sent it is meant.
bool read_redirection(std::string_view error, RedisEndpoint const& from, std::uint64_t& slot, RedisEndpoint& to) {
    auto const first = error.find(' '), second = error.find(' ', first + 1);
    if (first == error.npos || second == error.npos) return false;
    auto const number = parse_decimal(error.substr(first + 1, second - first - 1));
    if (!number || *number >= redis_slots || !read_redis_endpoint(error.substr(second + 1), to)) return false;
    if (to.host.empty()) to.host = from.host;
    slot = *number;
    return true;
}

/// States of a cluster that is changing.
bool passes_by_itself(std::string_view error) {
    constexpr std::string_view all[]{"CLUSTERDOWN", "LOADING", "TRYAGAIN", "MASTERDOWN", "READONLY", "BUSY", "NOREPLICAS"};
    return std::ranges::any_of(all, [&](std::string_view word) { return error.starts_with(word); });
}

}   // namespace

// A wait is a part of the patience, so that a silent node is asked more than once.
RedisCluster::Node::Node(RedisEndpoint const& endpoint, RedisAddress const& address)
    : connection(endpoint, address.password, address.patience / 4) {}

std::int16_t RedisCluster::node_at(RedisEndpoint const& endpoint) {
    auto const found =
        std::ranges::find_if(nodes_, [&](std::unique_ptr<Node> const& node) { return node->connection.endpoint() == endpoint; });
    if (found != nodes_.end()) return static_cast<std::int16_t>(found - nodes_.begin());
    if (nodes_.size() == nodes_at_most) return -1;
    nodes_.push_back(std::make_unique<Node>(endpoint, address_));
    return static_cast<std::int16_t>(nodes_.size() - 1);
}

void RedisCluster::gone(Node& node) {
    trouble_ = node.connection.fault();
    unsettled_ = true;
    node.not_before = steady_now() + rest;
}

bool RedisCluster::is_ready(Node& node) {
    if (node.connection.is_open(true)) return true;
    if (steady_now() < node.not_before) return false;
    if (node.connection.open() && keeps_all(node)) return ++opened_, true;
    if (lasting_.empty()) gone(node);
    return false;
}

// A node that evicts keys when its memory is full would lose URLs without an error.
bool RedisCluster::keeps_all(Node& node) {
    auto const reply = node.connection.ask({"INFO", "memory"});
    if (!reply) return false;
    auto const text = text_of(*reply);
    constexpr std::string_view label = "maxmemory_policy:";
    auto const at = text.find(label);
    auto const policy = at == text.npos ? "" : text.substr(at + label.size(), text.find('\r', at) - at - label.size());
    bool const keeps = policy == "noeviction" || policy.starts_with("volatile-");
    if (!keeps) {
        bool const refused = reply->type == REDIS_REPLY_ERROR;
        auto const said = refused ? std::string(text) : "its maxmemory-policy is " + std::string(policy);
        lasting_ = node.connection.endpoint().text() + ": " + said + "; set it to noeviction, or the set loses URLs";
        node.connection.close();
    }
    return keeps;
}

std::string RedisCluster::begin() {
    auto fault = learn();
    // A connection lost meanwhile does not mean that the next one fails.
    for (int again = 0; again < 2 && !fault.empty() && lasting_.empty(); ++again) {
        std::this_thread::sleep_for(rest);
        fault = learn();
    }
    return fault;
}

std::string RedisCluster::learn() {
    lasting_.clear();
    if (nodes_.empty())
        for (auto const& endpoint : address_.nodes) node_at(endpoint);
    // Another node is asked first each time: one that is cut off from the others knows outdated slots.
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        auto& node = *nodes_[(next_teacher_ + i) % nodes_.size()];
        if (!is_ready(node) || !learn_from(node)) continue;
        next_teacher_ = (next_teacher_ + i + 1) % nodes_.size();
        return unserved();
    }
    return !lasting_.empty() ? lasting_ : trouble_;
}

bool RedisCluster::learn_from(Node& node) {
    auto const reply = node.connection.ask({"CLUSTER", "SLOTS"});
    if (!reply) return gone(node), false;
    if (reply->type == REDIS_REPLY_ERROR && text_of(*reply).find("cluster support disabled") != std::string_view::npos) {
        serving_.fill(node_at(node.connection.endpoint()));
        return true;
    }
    if (reply->type == REDIS_REPLY_ERROR)
        return trouble_ = node.connection.endpoint().text() + ": " + std::string(text_of(*reply)), false;
    return take_slots(node, *reply);
}

// An entry is: first slot, last slot, [host, port, ...] of the master, then of its replicas.
bool RedisCluster::take_slots(Node const& from, redisReply const& slots) {
    auto const teacher = from.connection.endpoint();
    serving_.fill(-1);
    for (auto const* range : parts_of(slots)) {
        auto const parts = parts_of(*range);
        if (parts.size() < 3 || parts[0]->type != REDIS_REPLY_INTEGER || parts[1]->type != REDIS_REPLY_INTEGER) continue;
        auto const master = parts_of(*parts[2]);
        if (master.size() < 2 || master[1]->type != REDIS_REPLY_INTEGER) continue;
        auto const host = text_of(*master[0]);   // nil: the node that was asked
        auto const node = node_at(
            {host.empty() || host == "?" ? teacher.host : std::string(host), static_cast<std::uint16_t>(master[1]->integer)});
        for (auto slot = std::max(0ll, parts[0]->integer); slot <= parts[1]->integer && slot < redis_slots; ++slot)
            serving_[static_cast<std::size_t>(slot)] = node;
    }
    return true;
}

std::string RedisCluster::unserved() const {
    auto const lacking = std::ranges::count(serving_, std::int16_t{-1});
    if (lacking == 0) return {};
    return "no node serves " + std::to_string(lacking) + " of the cluster's " + std::to_string(redis_slots) +
           " slots; run redis-cli --cluster check";
}

std::string RedisCluster::each_master(std::function<std::string(RedisConnection&)> const& look) {
    lasting_.clear();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (std::ranges::find(serving_, static_cast<std::int16_t>(i)) == serving_.end()) continue;
        if (auto fault = look_at(*nodes_[i], look); !fault.empty()) return fault;
    }
    return {};
}

/// Retries if the connection is lost.
std::string RedisCluster::look_at(Node& node, std::function<std::string(RedisConnection&)> const& look) {
    for (auto const until = steady_now() + address_.patience;; std::this_thread::sleep_for(pause)) {
        bool const ready = is_ready(node);
        if (!lasting_.empty()) return lasting_;
        auto fault = ready ? look(node.connection) : trouble_;
        if (fault.empty() || (ready && node.connection.is_open()) || steady_now() > until) return fault;
    }
}

std::string RedisCluster::ask(std::vector<Question>& questions, Write const& write, Take const& take, Try how) {
    auto const patience = how == Try::once ? milliseconds{0} : address_.patience;
    std::vector<Question> again;
    auto answered_at = steady_now();
    lasting_.clear();
    while (!questions.empty()) {
        auto const at_once = sent_at_once * std::max<std::size_t>(1, nodes_.size());
        std::uint64_t answered = 0;
        again.clear();
        for (std::size_t from = 0; from < questions.size(); from += at_once) {
            auto const some = std::span(questions).subspan(from, std::min(at_once, questions.size() - from));
            if (lasting_.empty())
                answered += ask_some(some, write, take, again);
            else
                again.insert(again.end(), some.begin(), some.end());
        }
        questions.swap(again);
        if (!lasting_.empty()) return lasting_;
        if (questions.empty()) break;
        if (answered > 0)
            answered_at = steady_now();
        else if (steady_now() - answered_at > patience)
            return trouble_ + "; no reply for " + time_text(patience);
        else
            std::this_thread::sleep_for(pause);
        // A redirection is more recent than what another node knows.
        if (answered > 0 && !unsettled_) continue;
        unsettled_ = false;
        if (auto fault = learn(); !fault.empty()) trouble_ = fault;
    }
    return {};
}

std::uint64_t RedisCluster::ask_some(std::span<Question const> questions, Write const& write, Take const& take,
                                     std::vector<Question>& again) {
    prepare(questions, write, again);
    for (auto const& node : nodes_) {
        if (node->sent.empty() || node->connection.send(node->commands)) continue;
        gone(*node);
        for (auto& question : node->sent) question.doubtful = true, again.push_back(question);
        node->sent.clear();
    }
    std::uint64_t answered = 0;
    auto const count = nodes_.size();   // redirections add nodes
    for (std::size_t i = 0; i < count; ++i) answered += read_answers(*nodes_[i], take, again);
    return answered;
}

void RedisCluster::prepare(std::span<Question const> questions, Write const& write, std::vector<Question>& again) {
    for (auto const& node : nodes_) node->commands.clear(), node->sent.clear();
    for (auto question : questions) {
        auto const index = question.ask >= 0 ? question.ask : serving_[question.slot];
        bool const can = index >= 0 && (!nodes_[index]->sent.empty() || is_ready(*nodes_[index]));
        if (!can) {
            unsettled_ = true;
            question.ask = -1;
            again.push_back(question);
            continue;
        }
        auto& node = *nodes_[index];
        if (question.ask >= 0) append_command({"ASKING"}, node.commands);
        write(question.number, node.commands);
        node.sent.push_back(question);
    }
}

std::uint64_t RedisCluster::read_answers(Node& node, Take const& take, std::vector<Question>& again) {
    std::uint64_t answered = 0;
    bool lost = false;
    for (auto question : node.sent) {
        if (!lost && question.ask >= 0) lost = !node.connection.next();
        question.ask = -1;
        auto reply = lost ? nullptr : node.connection.next();
        lost = !reply;
        if (lost) {
            question.doubtful = true;
            again.push_back(question);
        } else if (reply->type == REDIS_REPLY_ERROR) {
            refused(node, text_of(*reply), question, again);
        } else {
            ++answered;
            take(question.number, std::move(reply), question.doubtful);
        }
    }
    if (lost) gone(node);
    node.sent.clear();
    return answered;
}

// A refused command was not executed.
void RedisCluster::refused(Node const& node, std::string_view error, Question question, std::vector<Question>& again) {
    auto const from = node.connection.endpoint();
    std::uint64_t slot = 0;
    RedisEndpoint to;
    bool const moved = error.starts_with("MOVED "), moving = error.starts_with("ASK ");
    if ((moved || moving) && read_redirection(error, from, slot, to)) {
        auto const index = node_at(to);
        if (moved)
            serving_[slot] = index;
        else
            question.ask = index;
    } else if (error.starts_with("OOM ")) {
        lasting_ = from.text() + " has no memory for more URLs; raise its maxmemory, or add nodes";
    } else if (!passes_by_itself(error)) {
        lasting_ = from.text() + ": " + std::string(error);
    }
    unsettled_ |= !moved && !moving;
    trouble_ = from.text() + ": " + std::string(error);
    again.push_back(question);
}

RedisReply RedisCluster::ask_one(std::string_view key, std::initializer_list<std::string_view> words, std::string& fault, Try how) {
    RedisReply kept;
    std::vector<Question> questions{{.number = 0, .slot = redis_slot(key)}};
    fault = ask(
        questions, [&](std::uint32_t, std::string& to) { append_command(words, to); },
        [&](std::uint32_t, RedisReply reply, bool) { kept = std::move(reply); }, how);
    return kept;
}

}   // namespace garner::redis
