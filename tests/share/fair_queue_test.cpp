// The fair queue compared with a fluid reference: a server that serves all waiting flows at once, in proportion to their weights.
#include "share/fair_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <list>
#include <numeric>
#include <random>
#include <vector>

namespace garner::share {
namespace {

/// Generalized processor sharing.
class Fluid {
public:
    explicit Fluid(std::vector<double> weights)
        : weights_(std::move(weights)), backlog_(weights_.size()), served_(weights_.size()) {}
    void add(std::size_t flow, double bytes) { backlog_[flow] += bytes; }
    void serve(double bytes) {
        while (bytes > 1e-6) {
            double weights = 0, step = bytes;
            for (std::size_t i = 0; i < backlog_.size(); ++i)
                if (backlog_[i] > 0) weights += weights_[i];
            if (weights == 0) return;
            for (std::size_t i = 0; i < backlog_.size(); ++i)
                if (backlog_[i] > 0) step = std::min(step, backlog_[i] * weights / weights_[i]);
            for (std::size_t i = 0; i < backlog_.size(); ++i) {
                if (backlog_[i] <= 0) continue;
                auto const part = step * weights_[i] / weights;
                served_[i] += part;
                backlog_[i] = backlog_[i] - part < 1e-6 ? 0 : backlog_[i] - part;
            }
            bytes -= step;
        }
    }
    double served(std::size_t flow) const { return served_[flow]; }

private:
    std::vector<double> weights_, backlog_, served_;
};

/// The queue with its flows and their tickets.
class Server {
public:
    explicit Server(std::vector<double> const& weights, Bytes credit = 0) : flows_(weights.size()), served_(weights.size()) {
        queue_.set_credit(credit);
        for (std::size_t i = 0; i < weights.size(); ++i) queue_.set_weight(flows_[i], static_cast<float>(weights[i]));
    }
    ~Server() {
        while (!queue_.empty()) serve();
    }
    void add(std::size_t flow, Bytes bytes) {
        auto& ticket = tickets_.emplace_back();
        ticket.bytes = bytes;
        ticket.flow = flow;
        queue_.add(flows_[flow], ticket);
    }
    /// The flow that was served.
    std::size_t serve() {
        auto& ticket = static_cast<Numbered&>(queue_.serve());
        served_[ticket.flow] += ticket.bytes;
        last_bytes_ = ticket.bytes;
        return ticket.flow;
    }
    Bytes last_bytes() const { return last_bytes_; }
    Bytes served(std::size_t flow) const { return served_[flow]; }
    FairQueue& queue() { return queue_; }
    Flow& flow(std::size_t flow) { return flows_[flow]; }

private:
    struct Numbered : Ticket {
        std::size_t flow = 0;
    };
    FairQueue queue_;
    std::deque<Flow> flows_;
    std::list<Numbered> tickets_;
    std::vector<Bytes> served_;
    Bytes last_bytes_ = 0;
};

double jain(std::vector<double> const& values) {
    auto const sum = std::accumulate(values.begin(), values.end(), 0.0);
    auto const squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
    return sum * sum / (static_cast<double>(values.size()) * squares);
}

constexpr Bytes piece_max = 64 * KiB;

/// Flows that come and go. Returns the greatest difference to the fluid server, in bytes by weight.
double greatest_lag(std::uint32_t seed, Bytes credit) {
    std::mt19937 random(seed);
    std::vector<double> const weights{1, 1, 1, 2, 2, 3, 4, 8};
    Server server(weights, credit);
    Fluid fluid(weights);
    auto const pick = [&](std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most - 1)(random); };
    double greatest = 0;
    for (int step = 0; step < 20'000; ++step) {
        // About as much comes as is served, in bursts: flows are sometimes idle and sometimes far behind.
        if (pick(20) == 0) {
            auto const flow = pick(weights.size());
            for (std::size_t i = pick(40); i > 0; --i) {
                Bytes const bytes = 1 + pick(piece_max);
                server.add(flow, bytes);
                fluid.add(flow, static_cast<double>(bytes));
            }
        }
        if (server.queue().empty()) continue;
        server.serve();
        fluid.serve(static_cast<double>(server.last_bytes()));
        for (std::size_t i = 0; i < weights.size(); ++i)
            greatest = std::max(greatest, std::abs(static_cast<double>(server.served(i)) - fluid.served(i)) / weights[i]);
    }
    return greatest;
}

TEST(FairQueue, follows_a_fluid_server) {
    for (std::uint32_t seed = 1; seed <= 8; ++seed) EXPECT_LT(greatest_lag(seed, 0), 3 * piece_max) << seed;
}

TEST(FairQueue, follows_a_fluid_server_within_a_few_credits) {
    constexpr Bytes credit = 4 * piece_max;
    for (std::uint32_t seed = 1; seed <= 8; ++seed) EXPECT_LT(greatest_lag(seed, credit), 4 * credit) << seed;
}

TEST(FairQueue, a_hundred_flows_with_1_to_64_tickets_get_equal_shares) {
    std::vector<double> const weights(100, 1);
    Server server(weights, 256 * KiB);
    for (std::size_t flow = 0; flow < weights.size(); ++flow)
        for (std::size_t i = 0; i <= flow * 63 / 99; ++i) server.add(flow, piece_max);
    for (int i = 0; i < 50'000; ++i) {
        auto const flow = server.serve();
        server.add(flow, piece_max);   // the connection goes on
    }
    std::vector<double> served;
    for (std::size_t flow = 0; flow < weights.size(); ++flow) served.push_back(static_cast<double>(server.served(flow)));
    EXPECT_GT(jain(served), 0.9999);
}

TEST(FairQueue, shares_are_in_proportion_to_the_weights) {
    Server server({1, 2, 4});
    for (std::size_t flow : {0, 1, 2}) server.add(flow, 1'000);
    for (int i = 0; i < 7'000; ++i) server.add(server.serve(), 1'000);
    EXPECT_NEAR(static_cast<double>(server.served(0)), 1e6, 2e3);
    EXPECT_NEAR(static_cast<double>(server.served(1)), 2e6, 4e3);
    EXPECT_NEAR(static_cast<double>(server.served(2)), 4e6, 8e3);
}

TEST(FairQueue, a_weight_below_one_leaves_nearly_all_to_the_others) {
    constexpr Bytes piece = 1'000;
    Server server({1, 1, 1.0 / 16}, 4 * piece);
    for (int i = 0; i < 4; ++i) server.add(2, piece);   // it was alone until the others came
    for (std::size_t flow : {0, 1}) server.add(flow, piece);
    for (int i = 0; i < 33'000; ++i) server.add(server.serve(), piece);
    EXPECT_NEAR(static_cast<double>(server.served(0)), 16e6, 1e5);
    EXPECT_NEAR(static_cast<double>(server.served(1)), 16e6, 1e5);
    EXPECT_NEAR(static_cast<double>(server.served(2)), 1e6, 1e4);
}

TEST(FairQueue, who_took_less_goes_first_by_the_credit_at_most) {
    constexpr Bytes credit = 10'000;
    Server server({1, 1}, credit);
    for (int i = 0; i < 1'000; ++i) server.queue().charge(server.flow(0), 1'000);
    EXPECT_TRUE(server.queue().is_behind(server.flow(1), credit - 1'000));
    EXPECT_FALSE(server.queue().is_behind(server.flow(1), credit + 1'000));
    for (int i = 0; i < 100; ++i) server.add(0, 1'000);
    for (int i = 0; i < 100; ++i) server.add(1, 1'000);
    int first = 0;
    while (server.serve() == 1) ++first;
    EXPECT_GE(first, 9);
    EXPECT_LE(first, 11);
    for (int i = 0; i < 20; ++i) server.serve();
    auto const lead = static_cast<double>(server.served(1)) - static_cast<double>(server.served(0));
    EXPECT_LE(lead, credit + 1'000.0) << "then both get equal shares";
}

TEST(FairQueue, a_ticket_that_leaves_costs_nothing) {
    Server server({1, 1});
    Ticket gone, kept;
    gone.bytes = kept.bytes = piece_max;
    auto& queue = server.queue();
    queue.add(server.flow(0), gone);
    queue.add(server.flow(0), kept);
    EXPECT_EQ(queue.tickets(server.flow(0)), 2u);
    queue.remove(server.flow(0), gone);
    EXPECT_EQ(queue.tickets(), 1u);
    queue.remove(server.flow(0), kept);
    EXPECT_TRUE(queue.empty());
    EXPECT_FALSE(queue.waits(server.flow(0)));
    EXPECT_EQ(queue.tag(server.flow(0)), queue.tag(server.flow(1)));
}

}   // namespace
}   // namespace garner::share
