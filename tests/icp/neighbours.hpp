// Peers and replies for tests of the source selection.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "icp/choice.hpp"
#include "icp/peer.hpp"
#include "support/made.hpp"

namespace garner::icp {

inline PeerOptions a_peer(std::string name, PeerOptions::Type type) {
    PeerOptions options;
    options.name = std::move(name);
    options.type = type;
    options.host = "10.0.0.3";
    return options;
}
inline PeerOptions parent(std::string name) { return a_peer(std::move(name), PeerOptions::Type::parent); }
inline PeerOptions sibling(std::string name) { return a_peer(std::move(name), PeerOptions::Type::sibling); }

inline PeerOptions secured(PeerOptions options) {
    options.tls.emplace();
    return options;
}
inline PeerOptions with_https(PeerOptions options, Https https) {
    options.https = https;
    return options;
}

/// Parses "!.mil.edu" or ".edu".
inline Domain domain(std::string_view text) {
    bool const excluded = text.front() == '!';
    return {*http::HostPattern::parse(excluded ? text.substr(1) : text), excluded};
}

struct Neighbours {
    std::vector<PeerView> views;

    PeerView& add(PeerOptions options) {
        static auto const context = test::made(net::TlsContext::make({}));
        auto const tls = options.tls ? context : nullptr;
        auto peer = std::make_shared<Peer>(std::move(options), tls);
        views.push_back(peer->view(SteadyTime{}));
        return views.back();
    }
    std::size_t place_of(std::string_view name) const {
        auto const named = [&](PeerView const& view) { return view.options->name == name; };
        return static_cast<std::size_t>(std::find_if(views.begin(), views.end(), named) - views.begin());
    }
    PeerView& operator[](std::string_view name) { return views[place_of(name)]; }
    Told says(std::string_view name, ReplyKind said, milliseconds after, Protocol protocol = Protocol::icp) const {
        return {place_of(name), said, protocol, after};
    }
    std::string names(std::span<std::size_t const> places) const {
        std::string all;
        for (auto const place : places) all += (all.empty() ? "" : " ") + views[place].options->name;
        return all;
    }
};

/// Formats sources as "PARENT_HIT a, DIRECT".
inline std::string text_of(std::span<Source const> sources) {
    std::string all;
    for (auto const& source : sources) {
        all += (all.empty() ? "" : ", ") + std::string(name_of(source.why));
        if (source.peer) all += " " + source.peer->options.name;
    }
    return all;
}

inline Question question(std::string_view url = "http://www.example.edu/a", std::string_view host = "www.example.edu") {
    Question question;
    question.url = url;
    question.host = host;
    return question;
}

/// The result of a wait in which each reply arrives at its given time; the wait follows the agent's rules.
struct Outcome {
    microseconds took{0};
    std::vector<Source> sources;
};
inline Outcome resolve(Question const& question, std::span<PeerView const> views, std::vector<Told> answers,
                       milliseconds timeout = milliseconds{2'000}) {
    std::stable_sort(answers.begin(), answers.end(), [](Told const& a, Told const& b) { return a.took < b.took; });
    auto const whom = plan(question, views);
    std::vector<Told> told;
    Outcome outcome;
    if (!whom.ask.empty()) {
        auto const most = patience(whom, views, milliseconds{5}, timeout);
        auto next = answers.begin();
        for (;;) {
            auto const worth = worth_waiting(question, whom, views, told, most);
            if (worth <= outcome.took) break;
            if (next == answers.end() || next->took > worth) {
                outcome.took = worth;
                break;
            }
            outcome.took = next->took;
            told.push_back(*next++);
        }
    }
    outcome.sources = choose(question, views, told);
    return outcome;
}

}   // namespace garner::icp
