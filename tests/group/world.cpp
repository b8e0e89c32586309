#include "group/world.hpp"

#include <algorithm>
#include <utility>

namespace garner::group::simulated {

// ---- nodes ----

struct World::Node final : MemberActions {
    Node(World& world, std::uint32_t number, Clock clock)
        : world(world), number(number), clock(clock), cache(world.options_.urls) {}

    Time time() const { return clock.read(world.now_); }
    bool is_up() const { return member != nullptr; }
    bool is_current() const { return member && time() <= member->current_until(); }

    void connect(std::size_t seat) override {
        auto& link = links[seat];
        if (link) leave(*link);
        link = world.network_->open(number, life, world.voters_[seat], static_cast<std::uint8_t>(seat));
        world.network_->put(*link, to_voter, {.kind = Wire::Kind::begin}, world.now_);
    }
    void leave(std::uint64_t connection) {
        auto& one = (*world.network_)[connection];
        if (!std::exchange(one.member_has, false)) return;
        world.network_->put(connection, to_voter, {.kind = Wire::Kind::end}, world.now_);
    }
    void send(std::size_t seat, Message const& message) override {
        world.network_->put(*links[seat], to_voter, {.kind = Wire::Kind::message, .message = message}, world.now_);
    }
    void apply(cache::Invalidation const& what) override {
        cache.apply(what, time());
        if (what.origin.empty() || world.options_.fault_every != 0) return;
        world.figures_.applied.push_back(world.now_ - std::stoll(what.origin));
    }
    /// As the proxy does: a request without a client, which invalidations may come across.
    void take(Offer const& offer) override {
        ++world.figures_.offers_taken;
        auto const url = static_cast<unsigned>(std::stoul(offer.url));
        world.at(world.now_, [this, url, former = life] {
            if (!is_up() || life != former || paused_until > world.now_) return;
            world.ask(*this, url, false, {.fetch = 0, .was_current = is_current(), .began = world.now_});
        });
    }
    void raise_watermark() override {
        cache.raise_watermark(time());
        ++world.figures_.watermarks;
        world.say(number, "raises the watermark");
    }
    void report(NoticeId const& id, Progress progress, std::size_t stored, std::string const&) override {
        constexpr char const* words[]{"accepted", "not accepted", "everywhere"};
        world.say(number, "hears that " + std::to_string(id.number) + " is " + words[static_cast<int>(progress)] + " by " +
                              std::to_string(stored));
        if (!world.judge_.knows(id)) return;
        auto const after = world.now_ - world.judge_.submitted_at(id);
        if (progress == Progress::accepted) world.judge_.accepted(id, world.now_);
        if (progress == Progress::accepted) world.figures_.acceptance.push_back(after);
        if (progress == Progress::everywhere) world.judge_.confirmed(id, world.now_);
        if (progress == Progress::everywhere) world.figures_.everywhere.push_back(after);
    }

    World& world;
    std::uint32_t const number;
    Clock const clock;
    std::uint32_t life = 0;
    Moment paused_until = 0;
    Moment down_until = 0;
    Moment next_wake = 0;
    Moment slow_requests = 0, slow_answers = 0;
    std::optional<std::uint32_t> parent;
    StoredResponses cache;
    std::unique_ptr<Member> member;
    std::unique_ptr<Voter> voter;
    std::vector<std::optional<std::uint64_t>> links;   // connections by seat
    std::vector<std::uint64_t> served;                 // connections to the voter here
    std::vector<std::uint64_t> fetches;                // in progress
};

World::~World() = default;

World::World(Options options) : options_(std::move(options)), random_(options_.seed), judge_(options_.urls, 1, options_.lease) {
    constexpr unsigned counts[]{1, 3, 3, 3, 5};
    settings_.voters = options_.voters ? options_.voters : counts[random_.below(5)];
    settings_.times.lease = Time(options_.lease);
    settings_.identity.lease = std::chrono::duration_cast<milliseconds>(settings_.times.lease);
    judge_ = Judge(options_.urls, static_cast<unsigned>(settings_.voters), options_.lease);
    build();
}

void World::build() {
    std::vector<Place> places;
    for (unsigned i = 0; i < options_.members; ++i) places.push_back({random_.below(1000), random_.below(1000)});
    if (options_.one_place) std::ranges::fill(places, Place{});
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < options_.members; ++i) order.push_back(i);
    constexpr Place middle{500, 500};
    if (options_.central_voters) std::ranges::stable_sort(order, {}, [&](auto i) { return distance(places[i], middle); });
    for (std::size_t i = 0; i < settings_.voters; ++i) voters_.push_back(order[i]);
    network_ = std::make_unique<Network>(options_.network, places, random_, events_);
    for (std::uint32_t i = 0; i < options_.members; ++i) {
        Clock const clock{.began = random_.below(1'000 * second), .drift = random_.between(-10'000, 10'000)};
        nodes_.push_back(std::make_unique<Node>(*this, i, clock));
        if (options_.trees && i > 0 && !random_.one_in(4)) nodes_[i]->parent = static_cast<std::uint32_t>(random_.below(i));
    }
    fetches_.emplace_back();   // number 0 is none
    for (std::uint32_t i = 0; i < options_.members; ++i) start(i);
    for (std::uint32_t i = 0; options_.client_every && i < options_.members; ++i)
        events_.add({.at = random_.below(2 * options_.client_every), .kind = Event::Kind::client, .node = i});
    if (options_.publish_every) events_.add({.at = second, .kind = Event::Kind::publish});
    if (options_.fault_every) events_.add({.at = 2 * second, .kind = Event::Kind::fault});
}

void World::start(std::uint32_t number) {
    auto& node = *nodes_[number];
    ++node.life;
    node.links.assign(settings_.voters, std::nullopt);
    auto const is_voter = std::ranges::find(voters_, number) != voters_.end();
    if (is_voter) node.voter = std::make_unique<Voter>(settings_, random_.bits() | 1, node.time());
    node.member = std::make_unique<Member>(settings_, random_.bits(), node, node.time());
    node.next_wake = 0;
    wake(node);
}

bool World::is_current(std::uint32_t node) const { return nodes_[node]->is_current(); }
Member const& World::member(std::uint32_t node) const { return *nodes_[node]->member; }

void World::say(std::uint32_t node, std::string const& what) const {
    if (options_.trace) options_.trace(std::to_string(now_) + " us, node " + std::to_string(node) + " " + what);
}

// ---- events ----

std::string World::run() {
    while (violation_.empty() && !events_.empty()) {
        auto const event = events_.take();
        if (event.at > options_.length) break;
        now_ = event.at;
        ++figures_.events;
        figures_.hash = (figures_.hash ^ static_cast<std::uint64_t>(event.at) ^ std::uint64_t{event.node} << 40 ^
                         static_cast<std::uint64_t>(event.kind) << 60 ^ event.a) *
                        0x9e3779b97f4a7c15;
        handle(event);
    }
    figures_.messages = network_->messages;
    figures_.accepted = judge_.accepted_count;
    if (options_.fault_every == 0) figures_.one_way_p99 = one_way_p99();
    return violation_;
}

Moment World::one_way_p99() {
    std::vector<Moment> all;
    for (std::uint32_t from = 0; from < options_.members; ++from)
        for (std::uint32_t to = 0; to < options_.members; ++to)
            if (from != to) all.push_back(network_->delay(from, to));
    std::ranges::sort(all);
    return all[all.size() * 99 / 100];
}

void World::handle(Event const& event) {
    using enum Event::Kind;
    auto& node = *nodes_[event.node];
    bool const is_of_process =
        event.kind == wire || event.kind == tick || event.kind == client || event.kind == request || event.kind == response;
    if (is_of_process && node.paused_until > now_) {
        auto later = event;
        later.at = node.paused_until;
        return events_.add(later);
    }
    switch (event.kind) {
    case wire: return deliver(event);
    case tick:
        if (!node.is_up() || event.life != node.life) return;
        node.next_wake = 0;
        if (node.time() >= node.member->next_tick()) node.member->tick(node.time());
        return wake(node);
    case client: return random_client(event.node);
    case request: {
        auto& child = fetches_[event.a];
        if (node.is_up())
            return ask(node, child.url, child.passes, {.fetch = event.a, .was_current = node.is_current(), .began = now_});
        child.to_origin = true;   // the parent does not answer
        return send_fetch(event.a);
    }
    case at_origin: return arrive_at_origin(event);
    case response: return finish(event);
    case publish: return random_publish();
    case fault: return random_fault();
    case restart:
        if (now_ >= node.down_until && !node.is_up()) start(event.node);
        return;
    case script: return script_[event.a]();
    }
}

void World::wake(Node& node) {
    auto const next = std::max(now_ + 1, node.clock.when(node.member->next_tick()));
    if (node.next_wake != 0 && node.next_wake <= next) return;
    node.next_wake = next;
    events_.add({.at = next, .kind = Event::Kind::tick, .node = node.number, .life = node.life});
}

// ---- connections ----

void World::deliver(Event const& event) {
    auto& connection = (*network_)[event.a];
    auto& wires = connection.wires[event.b];
    auto const wire = std::move(wires.front());
    wires.pop_front();
    auto& node = *nodes_[event.node];
    if (!node.is_up()) return;
    if (event.b == to_voter) {
        deliver_to_voter(node, event.a, wire);
        if (node.voter) pump(node);
    } else if (connection.member_has && connection.member_life == node.life) {
        deliver_to_member(node, event.a, wire);
        wake(node);
    }
}

void World::deliver_to_voter(Node& node, std::uint64_t number, Wire const& wire) {
    auto& connection = (*network_)[number];
    if (wire.kind == Wire::Kind::begin) {
        connection.voter_life = node.life;
        connection.voter_has = true;
        node.served.push_back(number);
        network_->put(number, to_member, {.kind = Wire::Kind::established}, now_);
        return;
    }
    if (!connection.voter_has || connection.voter_life != node.life) return;
    if (wire.kind == Wire::Kind::end) return close_from_voter(node, number);
    if (!node.voter->receive(number, wire.message, node.time())) {
        say(node.number, "refuses a message as voter");
        while (auto const last = node.voter->next(number))
            network_->put(number, to_member, {.kind = Wire::Kind::message, .message = *last}, now_);
        return close_from_voter(node, number);
    }
    auto const* append = std::get_if<Append>(&wire.message);
    if (append && judge_.knows(append->notice.id)) judge_.stored(append->notice.id, node.number, now_);
}

void World::close_from_voter(Node& node, std::uint64_t number) {
    node.voter->closed(number);
    (*network_)[number].voter_has = false;
    std::erase(node.served, number);
    network_->put(number, to_member, {.kind = Wire::Kind::end}, now_);
}

void World::pump(Node& node) {
    for (auto const link : node.voter->take_ready()) {
        if (node.voter->is_too_late(link)) close_from_voter(node, link);
        while (auto message = node.voter->next(link))
            network_->put(link, to_member, {.kind = Wire::Kind::message, .message = *std::move(message)}, now_);
    }
}

void World::deliver_to_member(Node& node, std::uint64_t number, Wire const& wire) {
    auto& connection = (*network_)[number];
    auto const seat = connection.seat;
    if (wire.kind == Wire::Kind::established) return node.member->connected(seat, {}, node.time());
    if (wire.kind == Wire::Kind::message && node.member->receive(seat, wire.message, node.time())) return;
    if (wire.kind == Wire::Kind::message) say(node.number, "refuses a message of voter " + std::to_string(seat));
    node.leave(number);
    node.links[seat].reset();
    node.member->disconnected(seat, node.time());
}

// ---- requests ----

bool World::may_join(Node& node, Fetch const& fetch) const {
    Held const stored{
        .outdated = is_mutant(Mutant::followers_join_older_fills) ? Outdated::no : node.cache.outdated(fetch.url, fetch.number),
        .is_fresh = true,
        .passed = fetch.passes ? fetch.sent : never};
    return use_of(stored, node.is_current(), settings_.times, node.time()) == Use::serve;
}

/// A request of a client or a child at a cache.
void World::ask(Node& node, unsigned url, bool passes, Waiter waiter) {
    auto const& response = node.cache.at(url);
    if (response && !passes) {
        auto const use = use_of(node.cache.stored(url, node.time()), node.is_current(), settings_.times, node.time());
        if (use == Use::serve) {
            ++figures_.hits;
            if (!node.is_current()) ++figures_.cut_off;
            return answer(waiter, node.number, url, response->version, false, false);
        }
    }
    for (auto const number : node.fetches) {
        auto& one = fetches_[number];
        if (passes || one.url != url || !may_join(node, one)) continue;
        one.waiters.push_back(waiter);
        return;
    }
    fetch(node, url, passes, waiter);
}

void World::fetch(Node& node, unsigned url, bool passes, Waiter waiter) {
    auto const must = node.cache.must_pass(url, node.is_current(), settings_.times, node.time());
    fetches_.push_back({.node = node.number,
                        .life = node.life,
                        .url = url,
                        .number = node.cache.next(),
                        .sent = node.time(),
                        .passes = passes || must,
                        .to_origin = !node.parent,
                        .waiters = {waiter}});
    node.fetches.push_back(fetches_.size() - 1);
    send_fetch(fetches_.size() - 1);
}

void World::send_fetch(std::uint64_t number) {
    auto const& one = fetches_[number];
    auto& node = *nodes_[one.node];
    auto delay = random_.between(ms, 40 * ms) + std::exchange(node.slow_requests, 0);
    if (options_.slow_requests && random_.one_in(50)) delay += random_.below(4 * second);
    auto const kind = one.to_origin ? Event::Kind::at_origin : Event::Kind::request;
    events_.add({.at = now_ + delay, .kind = kind, .node = one.to_origin ? one.node : *node.parent, .a = number});
}

void World::arrive_at_origin(Event const& event) {
    auto& one = fetches_[event.a];
    one.failed = now_ < origin_broken_until_;
    one.version = judge_.version(one.url);
    auto delay = random_.between(ms, 40 * ms) + std::exchange(nodes_[one.node]->slow_answers, 0);
    if (options_.slow_requests && random_.one_in(50)) delay += random_.below(4 * second);
    events_.add({.at = now_ + delay, .kind = Event::Kind::response, .node = one.node, .a = event.a});
}

void World::answer(Waiter const& waiter, std::uint32_t number, unsigned url, unsigned version, bool stale, bool failed) {
    if (waiter.fetch != 0) {
        auto& child = fetches_[waiter.fetch];
        child.failed = failed;
        child.stale = stale;
        child.version = version;
        auto const delay = random_.between(ms, 40 * ms) + std::exchange(nodes_[child.node]->slow_answers, 0);
        events_.add({.at = now_ + delay, .kind = Event::Kind::response, .node = child.node, .a = waiter.fetch});
    }
    if (failed) return;
    ++figures_.answers;
    auto wrong = judge_.verdict(url, version, stale, waiter.was_current, waiter.began);
    if (wrong.empty()) return;
    say(number, "violates the promise: " + wrong);
    violation_ = "node " + std::to_string(number) + " at " + std::to_string(now_) + " us: " + wrong +
                 ", and the request began at " + std::to_string(waiter.began) + " us";
}

/// The answer to a fetch arrives.
void World::finish(Event const& event) {
    auto& one = fetches_[event.a];
    auto& node = *nodes_[one.node];
    if (std::exchange(one.over, true) || !node.is_up() || one.life != node.life) return;
    std::erase(node.fetches, event.a);
    auto const now = node.time();
    auto& response = node.cache.at(one.url);
    if (one.failed) {
        bool const stale = response && may_serve_on_error(node.cache.stored(one.url, now), node.is_current());
        for (auto const& waiter : one.waiters) answer(waiter, one.node, one.url, stale ? response->version : 0, stale, !stale);
        return;
    }
    if (options_.offer_one_in && random_.one_in(options_.offer_one_in)) offer(node, one.url, one.version);
    if (!one.stale)
        node.cache.store(one.url, {.version = one.version,
                                   .number = one.number,
                                   .fresh_until = now + Time(random_.between(options_.fresh_least, options_.fresh_most)),
                                   .passed = one.passes ? one.sent : never});
    for (auto const& waiter : one.waiters) answer(waiter, one.node, one.url, one.version, one.stale, false);
    one.waiters.clear();
}

void World::offer(Node& node, unsigned url, unsigned version) {
    Offer const one{.url = std::to_string(url),
                    .validator = std::to_string(version),
                    .length = 1,
                    .life = static_cast<std::uint32_t>(random_.between(1, 60)),
                    .parents = {}};
    ++figures_.offered;
    figures_.offered_once.emplace(url, version);
    (void)node.member->submit(one, node.time());
    wake(node);
}

// ---- what happens by chance ----

void World::random_client(std::uint32_t number) {
    auto& node = *nodes_[number];
    unsigned const urls = options_.urls;
    auto const url = random_.one_in(2) ? last_published_ : static_cast<unsigned>(random_.below(urls));
    if (node.is_up()) ask(node, url, false, {.fetch = 0, .was_current = node.is_current(), .began = now_});
    events_.add({.at = now_ + random_.below(2 * options_.client_every) + 1, .kind = Event::Kind::client, .node = number});
}

void World::random_publish() {
    using Kind = cache::Invalidation::Kind;
    events_.add({.at = now_ + random_.below(2 * options_.publish_every) + 1, .kind = Event::Kind::publish});
    auto const node = static_cast<std::uint32_t>(random_.below(options_.members));
    if (!nodes_[node]->is_up() || nodes_[node]->paused_until > now_) return;
    auto const url = static_cast<unsigned>(random_.below(options_.urls));
    bool const soft = random_.one_in(4);
    auto const kind = random_.below(20);
    if (kind == 0) return publish(node, cache::invalidation_of_all(soft));
    publish(node, invalidation_of(kind < 5 ? Kind::tag : Kind::url, kind < 5 ? url % tags : url, soft));
}

void World::random_fault() {
    events_.add({.at = now_ + random_.below(2 * options_.fault_every) + 1, .kind = Event::Kind::fault});
    auto const any = static_cast<std::uint32_t>(random_.below(options_.members));
    auto const voter = voters_[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(voters_.size())))];
    auto const hit = random_.one_in(2) ? voter : any;
    auto const duration = random_.one_in(3) ? random_.between(100 * ms, 10 * second) : random_.between(50 * ms, 3 * second);
    switch (random_.below(8)) {
    case 0: return cut(any, voter, duration);
    case 1: return cut_one_way(any, voter, duration);
    case 2: return cut_one_way(voter, any, duration);
    case 3:   // from everything
        for (auto const other : voters_) cut(hit, other, duration);
        return;
    case 4: return pause(hit, duration);
    case 5: return crash(hit, duration, random_.one_in(2));
    case 6: return break_origin(duration / 2);
    default:
        for (auto const other : voters_)   // a voter from many members
            for (std::uint32_t i = 0; i < options_.members; ++i)
                if (other == voter && random_.one_in(2)) cut(i, other, duration);
    }
}

// ---- scenes ----

void World::at(Moment moment, std::function<void()> action) {
    script_.push_back(std::move(action));
    events_.add({.at = moment, .kind = Event::Kind::script, .a = script_.size() - 1});
}

void World::set_parent(std::uint32_t node, std::optional<std::uint32_t> parent) { nodes_[node]->parent = parent; }

void World::cut(std::uint32_t a, std::uint32_t b, Moment duration) {
    cut_one_way(a, b, duration);
    cut_one_way(b, a, duration);
}

void World::cut_one_way(std::uint32_t from, std::uint32_t to, Moment duration) {
    say(from, "is cut off from node " + std::to_string(to) + " for " + std::to_string(duration) + " us");
    network_->cut(from, to, now_ + duration);
}

void World::pause(std::uint32_t number, Moment duration) {
    say(number, "pauses for " + std::to_string(duration) + " us");
    auto& until = nodes_[number]->paused_until;
    until = std::max(until, now_ + duration);
}

void World::crash(std::uint32_t number, Moment duration, bool with_reset) {
    auto& node = *nodes_[number];
    if (!node.is_up()) return;
    say(number, "crashes for " + std::to_string(duration) + " us");
    for (auto const& link : node.links)
        if (link && with_reset) node.leave(*link);
    for (auto const connection : std::exchange(node.served, {})) {
        (*network_)[connection].voter_has = false;
        if (with_reset) network_->put(connection, to_member, {.kind = Wire::Kind::end}, now_);
    }
    node.member.reset();
    node.voter.reset();
    node.fetches.clear();
    node.links.clear();
    node.paused_until = 0;
    if (!options_.all_have_disks && random_.one_in(2)) node.cache.clear();
    node.cache.forget_invalidations();
    node.down_until = now_ + duration;
    events_.add({.at = node.down_until, .kind = Event::Kind::restart, .node = number});
}

void World::break_origin(Moment duration) { origin_broken_until_ = std::max(origin_broken_until_, now_ + duration); }
void World::slow_request(std::uint32_t node, Moment duration) { nodes_[node]->slow_requests = duration; }
void World::slow_answer(std::uint32_t node, Moment duration) { nodes_[node]->slow_answers = duration; }

void World::client(std::uint32_t number, unsigned url) {
    auto& node = *nodes_[number];
    if (node.is_up()) ask(node, url, false, {.fetch = 0, .was_current = node.is_current(), .began = now_});
}

void World::publish(std::uint32_t number, cache::Invalidation const& what) {
    auto& node = *nodes_[number];
    for (unsigned url = 0; url < options_.urls; ++url)
        if (covers(what, url)) judge_.change(url);
    for (unsigned url = 0; url < options_.urls; ++url)
        if (covers(what, url)) last_published_ = url;
    auto stamped = what;
    stamped.origin = std::to_string(now_);   // for the figures
    ++figures_.submitted;
    auto const before = now_;
    auto const id = node.member->submit(stamped, node.time());
    judge_.submitted(id, stamped, before);
    say(number, "publishes " + std::to_string(static_cast<int>(what.kind)) + ":" + what.text + " as " + std::to_string(id.number));
    wake(node);
}

}   // namespace garner::group::simulated
