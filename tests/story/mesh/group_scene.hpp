// Garners on loopback that share invalidations.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "story/scene.hpp"
#include "support/versioned_origin.hpp"

namespace garner::test {

class Lab {
public:
    /// The first `voters` of the members are voters. `patch`: merged over the configuration of all.
    explicit Lab(std::size_t members = 3, std::size_t voters = 3, std::string const& patch = "{}");
    Proxy& operator[](std::size_t member) { return *members_[member]; }
    std::size_t size() const { return members_.size(); }
    /// The address of a voter: "127.0.0.1:3133".
    std::string voter(std::size_t member) const { return voters_[member]; }
    /// The configuration of a member, with `group` merged over its group.
    std::string patch_of(std::size_t member, nlohmann::json const& group = nlohmann::json::object()) const;
    /// Starts a member again after its end.
    void restart(std::size_t member);
    void kill(std::size_t member);

    nlohmann::json state(std::size_t member);
    bool is_current(std::size_t member) { return state(member)["state"] == "current"; }
    bool become_current();

    /// "version 2 hit"
    std::string ask(std::size_t member, std::string const& path, Fields const& fields = {});
    /// `garner WORDS...` with the admin address of a member.
    Finished garner(std::size_t member, std::vector<std::string> words);
    /// `garner purge WORDS...`, which must be accepted; returns what it printed.
    std::string purge(std::size_t member, std::vector<std::string> words);

    VersionedOrigin pages;

private:
    std::vector<std::string> voters_;
    nlohmann::json patch_;
    std::vector<std::unique_ptr<Proxy>> members_;
};

}   // namespace garner::test
