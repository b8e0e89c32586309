#include "admin/group_command.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

#include "admin/admin_client.hpp"
#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "util/exit_code.hpp"
#include "util/numbers.hpp"

namespace garner::admin {

namespace {

// The head of a slow origin's response, and the voters.
constexpr milliseconds fetch_patience{150'000};

}   // namespace

int run_group_fetch_command(GroupFetchCommand const& command, std::ostream& out, std::ostream& err) {
    auto const place = place_at(command.address, command.port);
    if (!place) return err << "garner: " << place.fault().text() << "\n", exit_usage;
    int worst = exit_done;
    for (auto const& url : command.urls) {
        Question const question{.place = *place,
                                .method = "POST",
                                .target = "/group/fetch",
                                .form = {{"url", url}},
                                .token = command.token,
                                .patience = fetch_patience};
        auto const answer = ask(question, "accepted");
        if (answer) {
            out << "accepted " << answer->value("accepted", std::string()) << ": stored by " << answer->value("stored", 0) << " of "
                << answer->value("voters", 1) << " voters in " << short_number(answer->value("milliseconds", 0.0)) << " ms"
                << std::endl;
        } else {
            out << "refused " << url << ": " << answer.fault().text() << std::endl;
            worst = exit_failed;
        }
    }
    return worst;
}

}   // namespace garner::admin
