#include "seen_commands/seen_commands.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <ostream>

#include <nlohmann/json.hpp>

#include "catalog/url_sets.hpp"
#include "crawl/disk_set.hpp"
#include "seen_commands/fingerprint_file.hpp"
#include "seen_commands/wide_set.hpp"
#include "util/clock.hpp"
#include "util/command_form.hpp"
#include "util/exit_code.hpp"
#include "util/numbers.hpp"
#include "util/progress_line.hpp"
#include "util/text.hpp"
#include "util/units.hpp"

namespace garner::seen_commands {
namespace {

constexpr Bytes least_memory = 16 * MiB;

struct SetOptions {
    std::string input;
    std::string path;                      // empty: in memory
    std::string set;                       // empty: depends on `path`
    std::optional<FingerprintForm> form;   // nothing: from the name of the input
    Bytes memory = 1 * GiB;
    std::uint64_t expected = 0, batch = 0;
    bool wide = false;   // fingerprints of 128 bits
    bool json = false, verify = false;

    /// The set is in memory, limited by --memory.
    bool in_memory() const {
        auto const* row = catalog::find_url_set(set);
        return wide || (row && !row->on_disk && !row->elsewhere);
    }
    FingerprintForm input_form() const {
        auto const by_name = form_of(input);
        return form ? *form : wide && by_name == FingerprintForm::u64 ? FingerprintForm::u128 : by_name;
    }
};

std::string read_set(std::string_view value, std::string& to) {
    to = value;
    return catalog::find_url_set(value) ? "" : "--set: no set " + quoted_word(value) + "; valid sets: " + catalog::url_set_names();
}

std::string read_form(std::string_view value, std::optional<FingerprintForm>& form) {
    auto const found = std::ranges::find(fingerprint_forms, value);
    if (found == fingerprint_forms.end()) return "--form: " + quoted_word(value) + " is not one of u64, u32, urls, u128";
    form = static_cast<FingerprintForm>(found - fingerprint_forms.begin());
    return {};
}

std::string read_width(std::string_view value, bool& wide) {
    wide = value == "128";
    return wide || value == "64" ? "" : "--fingerprint: " + quoted_word(value) + " is neither 64 nor 128";
}

std::string check_wide(SetOptions& options) {
    if (!options.set.empty() || !options.path.empty())
        return "fingerprints of 128 bits have a set of their own, in memory; leave out --set and --path";
    auto const name = without_packing(options.input);
    if (options.input_form() == FingerprintForm::u64 || (!options.form && name.ends_with(".u64")))
        return "the input has fingerprints of 64 bits; leave out --fingerprint 128, or say --form u128";
    options.set = "wide";
    return {};
}

std::string check_set(SetOptions& options) {
    if (options.verify && options.input == "-") return "--verify reads the input twice, and standard input can be read once";
    if (options.wide) return check_wide(options);
    if (options.input_form() == FingerprintForm::u128) return "fingerprints of 128 bits need --fingerprint 128";
    if (options.set.empty()) options.set = options.path.empty() ? "lines" : "runs";
    auto const* row = catalog::find_url_set(options.set);
    if (row->on_disk && options.path.empty()) return "the set " + options.set + " lies on disk; say where with --path DIR";
    if (!row->on_disk && !options.path.empty())
        return "the set " + options.set + (row->elsewhere ? " lies elsewhere" : " lies in memory") + "; leave out --path, or --set";
    return {};
}

constexpr char const* about_set =
    "Puts URLs or fingerprints into an exact set.\n"
    "Adds them in batches. Prints how many were new, the memory and disk space per entry, and the checks per second.";

void declare(CommandForm& form, SetOptions& options) {
    constexpr std::uint64_t most = 100'000'000'000;
    form.group("crawl")
        .required("--input FILE",
                  "fingerprints of 8 bytes, URL numbers of 4 bytes (*.u32) or URLs one a line (*.urls, *.txt); plain or "
                  "compressed with zstd or gzip; - for standard input",
                  options.input)
        .option("--form FORM", "form of the input: u64, u32, urls or u128 (16 bytes); default: by the name of the file",
                [&](auto, auto value) { return read_form(value, options.form); })
        .values({fingerprint_forms.begin(), fingerprint_forms.end()})
        .option("--fingerprint N",
                "bits of a fingerprint, 64 or 128; default: 64. Those of 128 bits have no collisions in practice. Their set "
                "is in memory and takes at least 146 bits per entry. Without --expected it grows by copying, and for a "
                "moment takes up to twice --memory",
                [&](auto, auto value) { return read_width(value, options.wide); })
        .values({"64", "128"})
        .option("--memory SIZE", "memory for the set and one batch; default: 1GiB", size_into(options.memory, least_memory))
        .option("--path DIR", "keeps the set in this directory; continues a set that is there", options.path)
        .option("--set NAME", "kind of set, see below; default: lines without --path, runs with --path",
                [&](auto, auto value) { return read_set(value, options.set); })
        .values(row_names(catalog::url_sets()))
        .option("--expected N", "expected number of entries; lines allocates memory for exactly so many",
                number_into<std::uint64_t>(options.expected, 1, most))
        .option("--batch N", "fingerprints per batch; default: depends on --memory",
                number_into<std::uint64_t>(options.batch, 1, most))
        .flag("--verify", "reads the input a second time; it is an error if any entry is new then", options.verify)
        .option("--format FORMAT", "table or json; default: table", format_into(options.json))
        .values({"table", "json"})
        .check([&] { return check_set(options); })
        .notes("Sets:\n" + help_rows(catalog::url_sets()))
        .exit_statuses(
            {{0, "done"}, {1, "the input cannot be read, the set cannot be kept or --verify failed"}, {2, "wrong command line"}})
        .examples({"garner seen set --input urls.txt", "garner seen set --input urls.txt.zst --path seen --verify"});
}

struct Figures {
    std::uint64_t checked = 0, fresh = 0, doubtful = 0;
    std::uint64_t lines = 0, no_urls = 0;   // lines of the input; those that are no URLs
    double seconds = 0;                     // time spent in the set

    double per_second() const { return seconds > 0 ? static_cast<double>(checked) / seconds : 0; }
};

std::string count_text(std::uint64_t number) { return std::to_string(number); }
std::string million(double per_second) { return with_decimals(per_second / 1e6, 2) + " M checks/s"; }

template <class Print>
class Run {
public:
    Run(SetOptions const& options, std::ostream& err) : options_(options), err_(err) {
        // A batch takes about 20 bytes a link, with its order and answers. Each batch reads all of a set on disk, which needs
        // little other memory, so batches are large. A set in memory gets most of the memory.
        bool const on_disk = !options.path.empty();
        std::uint64_t const least = 1 << 16, most = on_disk ? 64 << 20 : 16 << 20;
        auto const fitting = std::clamp<std::uint64_t>(options.memory / (on_disk ? 32 : 160), least, most);
        batch_.resize(options.batch ? options.batch : fitting);
        is_new_.resize(batch_.size());
    }

    /// Returns the error; empty: none.
    std::string pass(crawl::SetOf<Print>& set, Figures& figures, std::string const& what) {
        ProgressLine line(err_, "garner seen set");
        FingerprintFile file(options_.input, options_.input_form());
        while (auto const count = file.read(batch_)) {
            auto const begin = steady_now();
            auto const added = set.add(std::span(batch_).first(count), std::span(is_new_).first(count));
            if (!added.fault.empty()) return added.fault;
            figures.seconds += std::chrono::duration<double>(steady_now() - begin).count();
            figures.checked += count;
            figures.fresh += added.fresh;
            figures.doubtful += added.doubtful;
            if (auto fault = beyond_memory(set); !fault.empty()) return fault;
            auto const all = file.bytes_in_file();
            auto const far = all ? std::to_string(100 * file.bytes_read() / all) + " %, " : "";
            line.say(what + ": " + far + count_text(figures.checked) + " checked, " + count_text(figures.fresh) + " new, " +
                     million(figures.per_second()));
        }
        figures.lines = file.lines();
        figures.no_urls = file.no_urls();
        return file.fault();
    }

private:
    std::string beyond_memory(crawl::SetFigures const& set) const {
        auto const taken = set.memory_bytes();
        if (taken <= options_.memory || !options_.in_memory()) return {};
        auto const gib = with_decimals(static_cast<double>(taken) / GiB, 2);
        return "after " + count_text(set.size()) + " entries the set takes " + gib + " GiB, more than --memory " +
               size_text(options_.memory) + "; --path DIR keeps it on disk";
    }

    SetOptions const& options_;
    std::ostream& err_;
    std::vector<Print> batch_;
    std::vector<std::uint8_t> is_new_;
};

// log2 C(2^bits, n) / n, by Stirling.
double bound_bits(double bits, std::uint64_t entries) {
    if (entries == 0) return 0;
    auto const n = static_cast<double>(entries);
    return bits - std::log2(n) + 1 / std::log(2.0) - std::log2(2 * 3.14159265358979 * n) / (2 * n);
}

void print(SetOptions const& options, crawl::SetFigures const& set, Figures const& figures, std::ostream& out) {
    auto const bound = bound_bits(options.wide ? 128 : 64, set.size());
    if (options.json) {
        nlohmann::ordered_json const line{{"set", options.set},
                                          {"input", options.input},
                                          {"checked", figures.checked},
                                          {"new", figures.fresh},
                                          {"known", figures.checked - figures.fresh},
                                          {"doubtful", figures.doubtful},
                                          {"no_urls", figures.no_urls},
                                          {"entries", set.size()},
                                          {"bits_per_entry", set.bits_per_entry()},
                                          {"bound_bits_per_entry", bound},
                                          {"memory_bytes", set.memory_bytes()},
                                          {"file_bytes", set.file_bytes()},
                                          {"checks_per_second", figures.per_second()}};
        out << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
        return;
    }
    out << "checked         " << figures.checked << "\n"
        << "new             " << figures.fresh << "\n"
        << "known           " << figures.checked - figures.fresh << "\n";
    if (figures.doubtful > 0) out << "doubtful        " << figures.doubtful << " of the new: an answer was lost\n";
    if (figures.lines > 0) out << "no URLs         " << figures.no_urls << " of " << figures.lines << " lines\n";
    out << "entries         " << set.size() << "\n"
        << "bits an entry   " << with_decimals(set.bits_per_entry(), 2) << " (none exact below " << with_decimals(bound, 2) << ")\n"
        << "memory          " << size_text(set.memory_bytes()) << "\n";
    if (set.file_bytes() > 0)
        out << (options.path.empty() ? "elsewhere       " : "on disk         ") << size_text(set.file_bytes()) << "\n";
    out << "speed           " << million(figures.per_second()) << "\n";
}

/// Returns the reason why added entries may be lost; empty: none.
std::string finish(crawl::SetFigures& set, SetOptions const& options) {
    if (auto* runs = dynamic_cast<crawl::DiskSet*>(&set))
        if (auto fault = runs->merge(); !fault.empty()) return fault;
    // A set in memory is lost anyway. The servers of a remote set decide about its durability.
    return options.path.empty() ? "" : set.sync();
}

template <class Print>
int build(SetOptions const& options, crawl::SetOf<Print>& set, std::ostream& out, std::ostream& err) {
    auto fail = [&](std::string const& fault) { return err << "garner seen set: " << fault << "\n", exit_failed; };
    Run<Print> run(options, err);
    Figures figures;
    if (auto fault = run.pass(set, figures, "adding"); !fault.empty()) return fail(fault);
    if (auto fault = finish(set, options); !fault.empty()) return fail(fault);
    print(options, set, figures, out);
    auto written = [&] { return out << std::flush ? exit_done : fail("the figures cannot be written"); };
    if (!options.verify) return written();
    Figures again;
    if (auto fault = run.pass(set, again, "verifying"); !fault.empty()) return fail(fault);
    if (again.fresh > 0) return fail(count_text(again.fresh) + " were new the second time");
    if (!options.json) out << "verified        " << million(again.per_second()) << "\n";
    return written();
}

int build(SetOptions const& options, std::ostream& out, std::ostream& err) {
    auto fail = [&](std::string const& fault) { return err << "garner seen set: " << fault << "\n", exit_failed; };
    if (options.wide) {
        if (auto const bytes = WideSet::bytes_for(options.expected); bytes > options.memory)
            return fail(count_text(options.expected) + " entries of 128 bits take " + size_text(bytes) + ", more than --memory " +
                        size_text(options.memory) + "; give it more");
        WideSet set({.expected = options.expected});
        return build<crawl::Fingerprint128>(options, set, out, err);
    }
    catalog::SetOptions how{.expected = options.expected, .memory = options.memory, .directory = options.path};
    // Fingerprints do not tell which layers their URLs had.
    if (options.input_form() == FingerprintForm::urls) how.layers = "";
    auto const made = catalog::make_url_set(options.set, how);
    if (!made) return fail(made.fault().text());
    return build<Fingerprint>(options, **made, out, err);
}

}   // namespace

int seen_set_command(std::span<std::string const> arguments, std::istream&, std::ostream& out, std::ostream& err) {
    SetOptions options;
    CommandForm form("garner seen set", about_set);
    declare(form, options);
    if (auto const code = form.read(arguments).print(out, err)) return *code;
    try {
        return build(options, out, err);
    } catch (std::bad_alloc const&) {
        return err << "garner seen set: out of memory; --path DIR keeps the set on disk\n", exit_failed;
    }
}

void use_set_form(CommandForm::Use const& use) {
    SetOptions options;
    CommandForm form("garner seen set", about_set);
    declare(form, options);
    use(form);
}

}   // namespace garner::seen_commands
