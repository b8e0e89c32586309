#include "admin/purge_command.hpp"

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admin/admin_client.hpp"
#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "util/exit_code.hpp"
#include "util/numbers.hpp"
#include "util/text.hpp"

namespace garner::admin {

namespace {

// A lease of a minute, until a majority has stored it and again until it holds everywhere.
constexpr milliseconds orders_patience{150'000};

std::string everywhere_in(Json const& answer) {
    if (!answer.contains("everywhere_milliseconds")) return "";
    return ", everywhere in " + short_number(answer.value("everywhere_milliseconds", 0.0)) + " ms";
}

std::string text_of(Json const& answer) {
    auto const voters = answer.value("voters", 1), stored = answer.value("stored", 0);
    return "accepted " + answer.value("accepted", std::string()) + (is(answer, "soft") ? " (soft)" : "") + ": stored by " +
           std::to_string(stored) + " of " + std::to_string(voters) + (voters == 1 ? " voter in " : " voters in ") +
           short_number(answer.value("milliseconds", 0.0)) + " ms" + everywhere_in(answer);
}

/// Sends orders to one place, and prints a line for each.
class Sender {
public:
    Sender(IpEndpoint const& place, std::string token, std::ostream& out) : place_(place), token_(std::move(token)), out_(out) {}

    int send(PurgeOrder const& order, std::ostream& errors, char const* begin) const {
        auto const refuse = [&](Fault const& fault, int code) { return errors << begin << fault.text() << std::endl, code; };
        if (auto const right = invalidation_of(order); !right) return refuse(right.fault(), exit_usage);
        Question const question{.place = place_,
                                .method = "POST",
                                .target = "/purge",
                                .form = form_of(order),
                                .token = token_,
                                .patience = orders_patience};
        auto const answer = ask(question, "accepted");
        if (!answer) return refuse(answer.fault(), exit_failed);
        out_ << text_of(*answer) << std::endl;   // a program that writes the lines may wait for each answer
        return exit_done;
    }

private:
    IpEndpoint place_;
    std::string token_;
    std::ostream& out_;
};

}   // namespace

int run_purge_command(PurgeCommand const& command, std::istream& in, std::ostream& out, std::ostream& err) {
    auto const place = place_at(command.address, command.port);
    if (!place) return err << "garner: " << place.fault().text() << "\n", exit_usage;
    Sender const sender(*place, command.token, out);
    if (!command.reads_lines) return sender.send(command.order, err, "garner: ");
    int worst = exit_done;
    for (std::string line; std::getline(in, line);) {
        if (line.ends_with('\r')) line.pop_back();
        auto const text = trim(line);
        bool const is_order = !text.empty() && !text.starts_with('#');
        if (is_order) worst = std::max(worst, sender.send(purge_order_of_line(text, command.order), out, "refused: "));
    }
    return worst;
}

}   // namespace garner::admin
