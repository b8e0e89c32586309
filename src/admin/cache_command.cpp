#include "admin/cache_command.hpp"

#include <filesystem>
#include <ostream>
#include <thread>

#include "admin/admin_client.hpp"
#include "admin/cache_pages.hpp"
#include "admin/cache_text.hpp"
#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "admin/metrics.hpp"
#include "admin/summary.hpp"
#include "store/disk_store.hpp"
#include "util/exit_code.hpp"
#include "util/progress_line.hpp"

namespace garner::admin {

namespace {

using Kind = CacheCommand::Kind;
using What = PageQuestion::What;

/// The cache's data: from an admin address, or from a store opened here.
struct Source {
    std::function<Result<Json>()> stats;   // /stats.json, or only its member "disk"
    std::function<Result<Json>(PageQuestion const&)> page;
};

Source running_proxy(IpEndpoint place, std::string const& token) {
    return {[place, token] { return ask({.place = place, .target = "/stats.json", .token = token}, "version"); },
            [place, token](PageQuestion const& page) {
                Question question{.place = place, .method = "POST", .target = "/cache/" + std::string(name_of(page.what))};
                question.form = {{"pattern", page.pattern}, {"at", page.at}};
                question.token = token;
                question.patience = milliseconds{60'000};   // a failing disk reads slowly
                question.body_max = 256 * MiB;
                return ask(question, "next");
            }};
}

Source opened_store(std::shared_ptr<store::DiskStore> disk) {
    return {[disk]() -> Result<Json> {
                Report report;
                report.figures.disk = disk->stats();
                report.disk_costs = LapWatch().costs(report.figures.disk);
                return Json{{"disk", stats_json(report).at("disk")}};
            },
            [disk](PageQuestion const& page) { return cache_page(nullptr, disk.get(), page); }};
}

/// Also compares directories by their inodes.
bool is_same_place(std::string const& one, std::string const& other) {
    std::error_code error;
    return one == other || std::filesystem::equivalent(one, other, error);
}

/// Runs one command and determines its exit code.
class Running {
public:
    Running(CacheCommand const& command, std::ostream& out, std::ostream& err)
        : command_(command), out_(out), err_(err), progress_(err, "garner cache") {}

    int run() {
        if (auto const code = find_source(); code != exit_done) return code;
        if (command_.kind == Kind::stats) return stats();
        if (!has_disk_tier() && command_.kind != Kind::purge)
            return fail({"there is no disk tier: disk.path is empty; for the memory tier use: garner cache stats"});
        if (!wait_for_recovery()) return exit_failed;
        if (command_.kind == Kind::list) return list();
        return command_.kind == Kind::verify ? verify() : purge();
    }

private:
    int fail(Fault const& fault, int code = exit_failed) {
        progress_.clear();
        err_ << "garner: " << fault.text() << "\n";
        return code;
    }

    int find_source() {
        if (command_.address.empty()) return open_store("the configuration has no admin address");
        auto const place = place_at(command_.address, command_.port);
        if (!place) return fail(place.fault(), exit_usage);
        source_ = running_proxy(*place, command_.token);
        auto const stats = source_.stats();
        if (!stats) return open_store(stats.fault().what);
        stats_ = *stats;
        bool const ours = command_.disk.path.empty() || is_same_place(text_at(stats_, "disk.path"), command_.disk.path);
        return ours ? exit_done : open_store("the Garner at " + place->text() + " uses another disk.path");
    }

    int open_store(std::string const& no_proxy) {
        if (command_.disk.path.empty()) return fail({no_proxy, "start it, or pass the --config FILE of the running proxy"});
        auto disk = command_.open(command_.disk);
        if (!disk) return fail({disk.fault().text() + "; " + no_proxy});
        source_ = opened_store(*std::move(disk));
        opened_here_ = true;
        stats_ = *source_.stats();
        return exit_done;
    }

    std::string state() const { return text_at(stats_, "disk.state"); }
    bool has_disk_tier() const { return !state().empty() && state() != "off"; }

    /// Waits until recovery has found all objects. False, after an error message, when the store fails.
    bool wait_for_recovery() {
        constexpr milliseconds pause{50};
        while (state() == "recovering") {
            progress_.say("scanning segment " + count_at(stats_, "disk.segments_recovered") + " of " +
                          count_at(stats_, "disk.segments"));
            std::this_thread::sleep_for(pause);
            auto const again = source_.stats();
            if (!again) return fail(again.fault()), false;
            stats_ = *again;
        }
        if (state() != "failing") return true;
        fail({"the disk tier is failing: " + text_at(stats_, "disk.trouble")});
        return command_.kind == Kind::purge;   // memory and the index can still be purged
    }

    /// Calls take(page) for each page in turn. False, after an error message, when a page is unavailable.
    template <class Take>
    bool each_page(What what, Take take) {
        PageQuestion question{.what = what, .pattern = command_.pattern};
        for (std::int64_t pages = 0;; ++pages) {
            auto const page = source_.page(question);
            if (!page) return fail(page.fault()), false;
            take(*page);
            question.at = text_at(*page, "next");
            if (question.at.empty()) return true;
            if (pages > laps_max * number_at(*page, "of") + pages_more)
                return fail({"objects are written faster than they can be scanned; repeat the command at lower load"}), false;
        }
    }
    static constexpr std::int64_t laps_max = 16, pages_more = 10'000;   // pages_more is for memory

    static std::string count_at(Json const& json, char const* path) {
        return human_count(static_cast<std::uint64_t>(number_at(json, path)));
    }

    void say_how_far(Json const& page, std::string const& found) {
        auto const* doing = command_.kind == Kind::list ? "listing" : command_.kind == Kind::verify ? "verifying" : "purging";
        progress_.say(std::string(doing) + ", " + count_at(page, "done") + " of " + count_at(page, "of") + " segments: " + found);
    }

    int stats() {
        if (opened_here_) wait_for_recovery();
        Json tiers = Json::object();
        for (auto const* tier : {"cache", "disk"})
            if (stats_.contains(tier)) tiers[tier] = stats_[tier];
        out_ << (command_.json ? tiers.dump(2) + "\n" : tiers_text(tiers));
        return exit_done;
    }

    int list() {
        std::uint64_t listed = 0;
        bool const all = each_page(What::list, [&](Json const& page) {
            progress_.clear();
            for (auto const& object : at(page, "objects")) {
                out_ << (command_.json ? line_of_json(object) : line_of_object(object)) << "\n";
                ++listed;
            }
            say_how_far(page, human_count(listed) + " objects");
        });
        out_.flush();
        return all ? exit_done : exit_failed;
    }

    /// Limits the read rate, so that requests are not slowed down.
    void keep_to_rate(std::uint64_t bytes, SteadyTime begun) const {
        if (command_.rate == 0) return;
        auto const due = std::chrono::duration<double>(static_cast<double>(bytes) / static_cast<double>(command_.rate));
        std::this_thread::sleep_until(begun + std::chrono::duration_cast<SteadyTime::duration>(due));
    }

    int verify() {
        std::uint64_t records = 0, damaged = 0, bytes = 0;
        auto const begun = steady_now();
        bool const all = each_page(What::verify, [&](Json const& page) {
            records += number_at(page, "records");
            damaged += number_at(page, "damaged");
            bytes += number_at(page, "bytes");
            say_how_far(page, human_bytes(bytes) + " read, " + human_count(damaged) + " damaged");
            keep_to_rate(bytes, begun);
        });
        progress_.clear();
        Json const sum{{"records", records}, {"damaged", damaged}, {"bytes", bytes}, {"complete", all}};
        if (command_.json)
            out_ << sum.dump(2) << "\n";
        else
            out_ << human_count(records) << " records with " << human_bytes(bytes) << " checked: "
                 << (damaged > 0 ? human_count(damaged) + " damaged and removed"
                     : all       ? "none damaged"
                                 : "none damaged so far")
                 << (all ? "\n" : "; the rest was not checked\n");
        return all && damaged == 0 ? exit_done : exit_failed;
    }

    int purge() {
        std::uint64_t purged = 0;
        bool durable = true;
        bool const all = each_page(What::purge, [&](Json const& page) {
            purged += number_at(page, "purged");
            durable = durable && !(at(page, "durable") == false);
            say_how_far(page, human_count(purged) + " objects purged");
        });
        progress_.clear();
        if (!durable)
            fail({"the disk did not confirm all purges: some objects may be back after a crash, or when the disk "
                  "works again"});
        Json const sum{{"purged", purged}, {"durable", durable}, {"complete", all}};
        out_ << (command_.json ? sum.dump(2) : "purged " + human_count(purged) + (purged == 1 ? " object" : " objects")) << "\n";
        return all && durable && purged > 0 ? exit_done : exit_failed;
    }

    CacheCommand const& command_;
    std::ostream& out_;
    std::ostream& err_;
    ProgressLine progress_;
    Source source_;
    Json stats_;
    bool opened_here_ = false;
};

}   // namespace

int run_cache_command(CacheCommand const& command, std::ostream& out, std::ostream& err) {
    return Running(command, out, err).run();
}

}   // namespace garner::admin
