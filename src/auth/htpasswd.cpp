#include "auth/htpasswd.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "auth/credentials.hpp"
#include "auth/password_hash.hpp"
#include "util/text.hpp"

namespace garner::auth {
namespace {

class Lines {
public:
    explicit Lines(std::string_view file) : file_(file) {}

    void add(std::string_view line) {
        ++number_;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (trim(line).empty() || line.starts_with('#')) return;
        auto const colon = line.find(':');
        if (colon == npos) return refuse("has no colon", "write user:hash");
        auto const user = line.substr(0, colon);
        auto hash = line.substr(colon + 1);
        hash = trim(hash.substr(0, hash.find(':')));
        if (user.empty() || user.size() > Credentials::user_max) return refuse("has a user name that is empty or too long", "");
        auto const is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
        if (std::ranges::any_of(user, is_control)) return refuse("has a control character in the user name", "remove it");
        if (auto const* const fault = fault_of_hash(hash)) return refuse(fault, "set the password again: htpasswd -B FILE USER");
        if (!out_.hashes.emplace(lower_case(user), std::string(hash)).second)
            return refuse("has a user that an earlier line has", "remove one of them; the case of names is ignored");
        count_kind(hash);
    }

    Htpasswd end() && {
        if (refused_ > Htpasswd::faults_max)
            out_.faults.push_back({std::to_string(refused_ - Htpasswd::faults_max) + " more lines are left out", "", file_});
        return std::move(out_);
    }

private:
    void refuse(std::string what, std::string mend) {
        if (++refused_ > Htpasswd::faults_max) return;
        out_.faults.push_back({std::move(what) + " and is left out", std::move(mend), file_ + ":" + std::to_string(number_)});
    }
    /// The kind with its cost decides the time of a check: "$2y$05", "$6$", "$y$j9T".
    void count_kind(std::string_view hash) {
        auto const count = ++kinds_[std::string(hash.substr(0, 6))];
        if (count <= most_) return;
        most_ = count;
        out_.typical = hash;
    }

    std::string file_;
    Htpasswd out_;
    std::size_t number_ = 0;
    std::size_t refused_ = 0;
    std::map<std::string, std::size_t> kinds_;
    std::size_t most_ = 0;
};

}   // namespace

Htpasswd parse_htpasswd(std::string_view file, std::string_view text) {
    Lines lines(file);
    while (!text.empty()) {
        auto const end = std::min(text.find('\n'), text.size());
        lines.add(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::move(lines).end();
}

std::vector<std::string> changed_users(Htpasswd const& old, Htpasswd const& fresh) {
    std::vector<std::string> users;
    for (auto const& [user, hash] : old.hashes) {
        auto const found = fresh.hashes.find(user);
        if (found == fresh.hashes.end() || found->second != hash) users.push_back(user);
    }
    for (auto const& [user, hash] : fresh.hashes)
        if (!old.hashes.contains(user)) users.push_back(user);
    return users;
}

}   // namespace garner::auth
