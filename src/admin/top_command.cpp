#include "admin/top_command.hpp"

#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>

#include "admin/admin_client.hpp"
#include "admin/top_text.hpp"
#include "proxy/moment.hpp"
#include "util/exit_code.hpp"

namespace garner::admin {

namespace {

/// The screen from its top left corner on; the rest of each line and of the screen is erased.
void draw(std::string const& screen, std::ostream& out) {
    out << "\x1b[H";
    for (char const c : screen) {
        if (c == '\n') out << "\x1b[K";
        out << c;
    }
    out << "\x1b[K\x1b[J" << std::flush;
}

void print(TopCommand const& command, TopView const& view, std::ostream& out) {
    if (command.screen) {
        auto const size = command.screen();
        draw(top_screen(view, size.lines, size.columns), out);
    } else {
        out << top_lines(view, proxy::moment_text(wall_now())) << std::flush;
    }
}

}   // namespace

int run_top_command(TopCommand const& command, std::ostream& out, std::ostream& err) {
    auto const fail = [&err](int code, Fault const& fault) { return err << "garner: " << fault.text() << "\n", code; };
    auto const place = place_at(command.address, command.port);
    if (!place) return fail(exit_usage, place.fault());
    Question question{.place = *place, .target = "/stats.json", .token = command.token};
    question.body_max = 64 * MiB;
    nlohmann::ordered_json before;
    auto next = steady_now();
    for (std::uint32_t printed = 0; out && (command.count == 0 || printed < command.count); ++printed) {
        std::this_thread::sleep_until(next);
        auto stats = ask(question, "version");
        if (!stats && printed == 0) return fail(exit_failed, stats.fault());
        if (!stats)
            fail(exit_failed, stats.fault());
        else
            print(command, top_view(before, *stats), out);
        before = stats ? *std::move(stats) : nlohmann::ordered_json();
        next = steady_now() > next + seconds{1} ? steady_now() : next + seconds{1};
    }
    return exit_done;
}

}   // namespace garner::admin
