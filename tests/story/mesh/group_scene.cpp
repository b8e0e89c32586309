#include "story/mesh/group_scene.hpp"

#include "support/child.hpp"

namespace garner::test {

using nlohmann::json;

Lab::Lab(std::size_t members, std::size_t voters, std::string const& patch) : patch_(json::parse(patch)), members_(members) {
    for (std::size_t i = 0; i < voters; ++i) voters_.push_back("127.0.0.1:" + std::to_string(free_port()));
    for (std::size_t i = 0; i < members; ++i) restart(i);
    if (!become_current()) throw Trouble("the members do not become current: " + state(0).dump(2));
}

std::string Lab::patch_of(std::size_t member, json const& group) const {
    json own{
        {"group", {{"name", "lab"}, {"member", "cache" + std::to_string(member)}, {"voters", voters_}, {"secret", "open sesame"}}}};
    if (member < voters_.size()) own["group"]["address"] = voters_[member];
    own.merge_patch(patch_);
    own["group"].merge_patch(group);
    return own.dump();
}

void Lab::restart(std::size_t member) {
    members_[member] = nullptr;
    members_[member] = std::make_unique<Proxy>(patch_of(member));
}

void Lab::kill(std::size_t member) { members_[member]->kill(); }

json Lab::state(std::size_t member) {
    auto const reply = Client("127.0.0.1", members_[member]->admin()).get("/group");
    return json::parse(reply.body());
}

bool Lab::become_current() {
    return eventually([this] {
        for (std::size_t i = 0; i < size(); ++i) {
            auto const told = state(i);
            if (told["state"] != "current") return false;
            // Until a voter is trusted, the loss of another one raises the watermark.
            for (auto const& voter : told["voters"])
                if (voter["trusted"] != true) return false;
        }
        return true;
    });
}

std::string Lab::ask(std::size_t member, std::string const& path, Fields const& fields) {
    return told(get(*members_[member], pages.origin(), path, fields));
}

Finished Lab::garner(std::size_t member, std::vector<std::string> words) {
    words.insert(words.begin(), garner_binary());
    words.insert(words.end(), {"--set", "admin.address=127.0.0.1:" + std::to_string(members_[member]->admin())});
    return run(words, Millis{60'000});
}

std::string Lab::purge(std::size_t member, std::vector<std::string> words) {
    words.insert(words.begin(), "purge");
    auto const done = garner(member, words);
    EXPECT_EQ(done.code, 0) << done.output << done.errors;
    return done.output;
}

}   // namespace garner::test
