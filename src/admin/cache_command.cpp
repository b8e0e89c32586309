#include "admin/cache_command.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <thread>

#include "admin/ask.hpp"
#include "admin/cache_pages.hpp"
#include "admin/cache_text.hpp"
#include "admin/human.hpp"
#include "admin/stats_json.hpp"
#include "admin/summary.hpp"
#include "store/disk_store.hpp"
#include "util/exit_code.hpp"
#include "util/progress_line.hpp"

namespace garner::admin {

namespace {


using Json = nlohmann::ordered_json;
using Kind = CacheCommand::Kind;
using What = PageQuestion::What;

/// Where the cache is: behind an admin address, or opened here.
class Source {
public:
    virtual ~Source() = default;
    /// As /stats.json, or of it only "disk". Nothing, and `trouble`, when it cannot be had.
    virtual std::optional<Json> stats(std::string& trouble) = 0;
    virtual std::optional<Json> page(PageQuestion const&, std::string& trouble) = 0;
};

class RunningProxy : public Source {
public:
    explicit RunningProxy(IpEndpoint place) : place_(place) {}

    std::optional<Json> stats(std::string& trouble) override {
        auto json = asked({.place = place_, .target = "/stats.json"}, trouble);
        if (!json || json->contains("version")) return json;
        trouble = "what answers at " + place_.text() + " is not garner";
        return std::nullopt;
    }
    std::optional<Json> page(PageQuestion const& page, std::string& trouble) override {
        Question question{.place = place_, .method = "POST", .target = "/cache/" + std::string(name_of(page.what))};
        question.body = "pattern=" + form_encoded(page.pattern) + "&at=" + form_encoded(page.at);
        question.patience = milliseconds{60'000};   // a sick disk reads slowly
        question.body_max = 256 * MiB;
        return asked(question, trouble);
    }

private:
    std::optional<Json> asked(Question const& question, std::string& trouble) const {
        auto const answered = ask(question);
        trouble = answered.trouble;
        if (!trouble.empty()) return std::nullopt;
        auto json = Json::parse(answered.body, nullptr, false);
        if (answered.status == 200 && json.is_object()) return json;
        trouble = place_.text() + " answers " + std::to_string(answered.status) + ": " + answered.body.substr(0, 500);
        if (trouble.ends_with('\n')) trouble.pop_back();
        return std::nullopt;
    }

    IpEndpoint place_;
};

class OpenedStore : public Source {
public:
    explicit OpenedStore(std::unique_ptr<store::DiskStore> disk) : disk_(std::move(disk)) {}

    std::optional<Json> stats(std::string&) override {
        Report report;
        report.figures.disk = disk_->stats();
        report.disk_costs = LapWatch().costs(report.figures.disk);
        return Json{{"disk", stats_json(report).at("disk")}};
    }
    std::optional<Json> page(PageQuestion const& question, std::string& trouble) override {
        auto page = cache_page(nullptr, disk_.get(), question);
        if (!page.contains("fault")) return page;
        trouble = page["fault"].get<std::string>();
        return std::nullopt;
    }

private:
    std::unique_ptr<store::DiskStore> disk_;
};

std::string text_at(Json const& json, char const* object, char const* name) {
    Json::json_pointer const pointer(std::string("/") + object + "/" + name);
    auto const found = json.contains(pointer) ? json.at(pointer) : Json();
    return found.is_string() ? found.get<std::string>() : "";
}

std::uint64_t number_at(Json const& json, char const* name) {
    return json.contains(name) && json[name].is_number() ? json[name].get<std::uint64_t>() : 0;
}

/// The same directory, however it is written.
bool is_same_place(std::string const& one, std::string const& other) {
    std::error_code error;
    return one == other || std::filesystem::equivalent(one, other, error);
}

/// One command on its way to its exit code.
class Running {
public:
    Running(CacheCommand const& command, std::ostream& out, std::ostream& err)
        : command_(command), out_(out), err_(err), progress_(err, "garner cache") {}

    int run() {
        if (!find_source()) return faulty_address_ ? exit_usage : exit_failed;
        if (command_.kind == Kind::stats) return stats();
        if (!has_disk_tier() && command_.kind != Kind::purge)
            return fail("there is no disk tier: disk.path is empty; the memory tier's figures: garner cache stats");
        if (!wait_for_recovery()) return exit_failed;
        if (command_.kind == Kind::list) return list();
        return command_.kind == Kind::verify ? verify() : purge();
    }

private:
    int fail(std::string const& why) {
        progress_.clear();
        err_ << "garner: " << why << "\n";
        return exit_failed;
    }

    bool find_source() {
        std::string nobody = "its configuration has no admin address to ask";
        if (!command_.address.empty()) {
            auto const place = place_at(command_.address, command_.port);
            faulty_address_ = !place;
            if (!place) return fail("the admin address \"" + command_.address + "\" is not an IP address"), false;
            source_ = std::make_unique<RunningProxy>(*place);
            std::string trouble;
            stats_ = source_->stats(trouble).value_or(Json());
            auto const theirs = text_at(stats_, "disk", "path");
            bool const ours = command_.disk.path.empty() || is_same_place(theirs, command_.disk.path);
            if (stats_.is_object() && ours) return true;
            nobody = stats_.is_object() ? "the garner at " + place->text() + " has another store"
                                        : "no garner answers at " + place->text() + ": " + trouble;
        }
        return open_store(nobody);
    }

    bool open_store(std::string const& nobody) {
        if (command_.disk.path.empty()) return fail(nobody + "; start it or pass --config FILE"), false;
        std::string fault;
        auto disk = command_.open(command_.disk, fault);
        if (!disk) return fail(fault + "; " + nobody), false;
        source_ = std::make_unique<OpenedStore>(std::move(disk));
        opened_here_ = true;
        stats_ = source_->stats(fault).value_or(Json());
        return true;
    }

    bool has_disk_tier() const {
        auto const state = text_at(stats_, "disk", "state");
        return !state.empty() && state != "off";
    }

    /// Until all that is there has been found. False, and it has been told why, when the store fails.
    bool wait_for_recovery() {
        constexpr milliseconds pause{50};
        while (text_at(stats_, "disk", "state") == "recovering") {
            auto const& disk = stats_["disk"];
            progress_.say("looking through segment " + human_count(number_at(disk, "segments_recovered")) + " of " +
                          human_count(number_at(disk, "segments")));
            std::this_thread::sleep_for(pause);
            std::string trouble;
            auto again = source_->stats(trouble);
            if (!again) return fail(trouble), false;
            stats_ = std::move(*again);
        }
        if (text_at(stats_, "disk", "state") != "failing") return true;
        fail("the disk tier fails: " + text_at(stats_, "disk", "trouble"));
        return command_.kind == Kind::purge;   // what memory has, and what the index knows
    }

    /// Calls take(page) with one page after the other. False, and it has been told why, when one cannot be had.
    template <class Take>
    bool each_page(What what, Take take) {
        PageQuestion question{.what = what, .pattern = command_.pattern};
        for (std::uint64_t pages = 0;; ++pages) {
            std::string trouble;
            auto const page = source_->page(question, trouble);
            if (!page) return fail(trouble), false;
            take(*page);
            if (!page->contains("next") || !page->at("next").is_string()) return true;
            if (pages > laps_max * number_at(*page, "of") + pages_more)
                return fail("more is written than can be looked through; do it again when there is less to do"), false;
            question.at = page->at("next").get<std::string>();
        }
    }
    static constexpr std::uint64_t laps_max = 16, pages_more = 10'000;   // the latter for memory

    void say_how_far(Json const& page, std::string const& found) {
        progress_.say(std::string(name_of_kind()) + ", " + human_count(number_at(page, "done")) + " of " +
                      human_count(number_at(page, "of")) + " segments: " + found);
    }
    char const* name_of_kind() const {
        return command_.kind == Kind::list ? "listing" : command_.kind == Kind::verify ? "verifying" : "purging";
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
            if (!page.contains("objects")) return;
            progress_.clear();
            for (auto const& object : page["objects"]) {
                out_ << (command_.json ? line_of_json(object) : line_of_object(object)) << "\n";
                ++listed;
            }
            say_how_far(page, human_count(listed) + " objects");
        });
        out_.flush();
        return all ? exit_done : exit_failed;
    }

    /// Reading slower than the disk could leaves it to those who wait for it.
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
                 << (damaged > 0 ? human_count(damaged) + " damaged, and forgotten" : all ? "none damaged" : "none damaged so far")
                 << (all ? "\n" : "; the rest was not checked\n");
        return all && damaged == 0 ? exit_done : exit_failed;
    }

    int purge() {
        std::uint64_t purged = 0;
        bool durable = true;
        bool const all = each_page(What::purge, [&](Json const& page) {
            purged += number_at(page, "purged");
            durable = durable && page.value("durable", true);
            say_how_far(page, human_count(purged) + " objects purged");
        });
        progress_.clear();
        if (!durable) fail("the disk does not confirm all of it: after a crash, or once it works again, some of it may be back");
        Json const sum{{"purged", purged}, {"durable", durable}, {"complete", all}};
        out_ << (command_.json ? sum.dump(2) : "purged " + human_count(purged) + (purged == 1 ? " object" : " objects")) << "\n";
        return all && durable && purged > 0 ? exit_done : exit_failed;
    }

    CacheCommand const& command_;
    std::ostream& out_;
    std::ostream& err_;
    ProgressLine progress_;
    std::unique_ptr<Source> source_;
    Json stats_;
    bool faulty_address_ = false;
    bool opened_here_ = false;
};

}  // namespace

int run_cache_command(CacheCommand const& command, std::ostream& out, std::ostream& err) {
    return Running(command, out, err).run();
}

}  // namespace garner::admin
