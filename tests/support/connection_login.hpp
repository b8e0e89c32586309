// An origin with logins that belong to a connection, as those by NTLM do (RFC 4559).
#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "support/origin.hpp"

namespace garner::test {

/// A script. The sender of Authorization is the user of all later requests on this connection. Requests without a user get 401.
inline Script logs_connections_in() {
    struct Users {
        std::mutex mutex;
        std::map<std::size_t, std::string> of_connections;
    };
    return [users = std::make_shared<Users>()](Hand& hand) {
        std::lock_guard const lock(users->mutex);
        auto& user = users->of_connections[hand.request().connection];
        auto const login = hand.request().head.field("Authorization");
        if (!login.empty()) user = login;
        hand.answer(user.empty() ? Answer{.status = 401, .fields = {{"WWW-Authenticate", "NTLM"}}} : fresh("mail of " + user));
    };
}

}   // namespace garner::test
