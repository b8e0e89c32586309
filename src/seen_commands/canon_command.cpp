#include "seen_commands/seen_commands.hpp"

#include <algorithm>
#include <array>
#include <istream>
#include <ostream>

#include "crawl/canonical_url.hpp"
#include "crawl/fingerprint.hpp"
#include "crawl/url_layers.hpp"
#include "papers/rabin.hpp"
#include "sim/buffered_lines.hpp"
#include "util/command_form.hpp"
#include "util/exit_code.hpp"
#include "util/text.hpp"

namespace garner::seen_commands {
namespace {

void append_64(std::string_view text, std::string& to) { append_hex(crawl::fingerprint64(text), to); }

void append_128(std::string_view text, std::string& to) {
    auto const value = crawl::fingerprint128(text);
    append_hex(value.high, to);
    append_hex(value.low, to);
}

void append_rabin(std::string_view text, std::string& to) {
    static papers::Rabin const rabin;
    append_hex(rabin(text), to);
}

struct Kind {
    std::string_view name;
    void (*append)(std::string_view text, std::string& to);   // in hexadecimal
};
constexpr std::array kinds{Kind{"64", append_64}, Kind{"128", append_128}, Kind{"rabin", append_rabin}};

struct CanonOptions {
    crawl::UrlLayers layers;
    crawl::CanonicalUrl base;   // empty text: none
    Kind const* fingerprint = nullptr;
};

std::string read_base(std::string_view value, crawl::CanonicalUrl& base) {
    auto const fault = crawl::canonicalise(value, base);
    if (fault == crawl::UrlFault::none) return {};
    auto const why = std::string(crawl::name_of(fault));
    return "--base: " + quoted_word(value) + " is no URL of http, https, ws, wss or ftp: " + why;
}

std::string read_layers(std::string_view value, crawl::UrlLayers& layers) {
    auto const read = crawl::UrlLayers::read(value);
    if (!read) return "--layers: " + read.fault().text();
    layers = *read;
    return {};
}

std::string read_fingerprint(std::string_view value, Kind const*& fingerprint) {
    auto const kind = std::ranges::find(kinds, value, &Kind::name);
    if (kind == kinds.end()) return "--fingerprint: " + quoted_word(value) + " is not one of 64, 128, rabin";
    fingerprint = &*kind;
    return {};
}

std::string fault_names() {
    std::string text = "Reasons:";
    for (int i = 1; i < crawl::url_fault_count; ++i) text.append(" ").append(crawl::name_of(static_cast<crawl::UrlFault>(i)));
    return text;
}

constexpr char const* about_canon =
    "Prints the canonical form of URLs, and their fingerprints.\n"
    "Reads URLs from standard input, one a line. The canonical form is the serialization by the WHATWG URL Standard, "
    "without the fragment. If a line is no URL of http, https, ws, wss or ftp, prints ! and the reason.";

void declare(CommandForm& form, CanonOptions& options) {
    auto const layers = crawl::url_layer_names();
    form.group("crawl")
        .no_operand("the URLs come from standard input")
        .option("--base URL", "resolves relative references against this URL",
                [&](auto, auto value) { return read_base(value, options.base); })
        .option("--layers NAME,...", "applies normalization beyond the standard; do not use it for targets of redirects",
                [&](auto, auto value) { return read_layers(value, options.layers); })
        .values(row_names(layers))
        .option("--fingerprint KIND",
                "prints a fingerprint in hexadecimal and a tab before each URL: 64 or 128 for bits of XXH3, or rabin",
                [&](auto, auto value) { return read_fingerprint(value, options.fingerprint); })
        .values(row_names(kinds))
        .notes("Layers, in the order in which they apply:\n" + help_rows(layers) + "\n" + fault_names())
        .exit_statuses({{0, "done, also if lines are refused"},
                        {1, "the input cannot be read or the output cannot be written"},
                        {2, "wrong command line"}})
        .examples({"garner seen canon < urls.txt",
                   "echo /b?y=1 | garner seen canon --base http://example.org/a --layers query-sort --fingerprint 64"});
}

/// Answers line by line, and counts.
class Canon {
public:
    explicit Canon(CanonOptions const& options) : options_(options) {}

    void answer(std::string_view line, std::string& out) {
        ++lines_;
        if (line.ends_with('\r')) line.remove_suffix(1);
        auto const fault = canonical(line);
        if (fault != crawl::UrlFault::none) {
            ++refused_[static_cast<std::size_t>(fault)];
            out.append("!").append(crawl::name_of(fault)).push_back('\n');
            return;
        }
        options_.layers.apply(url_);
        if (options_.fingerprint) {
            options_.fingerprint->append(url_.text, out);
            out.push_back('\t');
        }
        out.append(url_.text).push_back('\n');
    }

    /// Writes nothing without errors.
    void tell_refused(std::ostream& err) const {
        std::uint64_t all = 0;
        for (auto count : refused_) all += count;
        if (all == 0) return;
        err << "garner seen canon: " << all << " of " << lines_ << " lines refused:";
        for (std::size_t i = 0; i < refused_.size(); ++i)
            if (refused_[i] > 0) err << ' ' << refused_[i] << ' ' << crawl::name_of(static_cast<crawl::UrlFault>(i));
        err << '\n';
    }

private:
    crawl::UrlFault canonical(std::string_view text) {
        return options_.base.text.empty() ? crawl::canonicalise(text, url_) : crawl::canonicalise(text, options_.base, url_);
    }

    CanonOptions const& options_;
    crawl::CanonicalUrl url_;
    std::uint64_t lines_ = 0;
    std::array<std::uint64_t, crawl::url_fault_count> refused_{};
};

/// Waits for one byte and reads the available ones, so that a line is answered before the next one is typed.
std::size_t read_some(std::istream& in, char* to, std::size_t room) {
    if (in.peek() == std::istream::traits_type::eof()) return 0;
    auto const got = in.readsome(to, static_cast<std::streamsize>(room));
    if (got == 0 && in.get(*to)) return 1;   // the stream does not know how many bytes are available
    return static_cast<std::size_t>(got);
}

int answer_all(CanonOptions const& options, std::istream& in, std::ostream& out, std::ostream& err) {
    constexpr std::size_t written_at_once = 64 * 1024;
    Canon canon(options);
    auto const read = [&in](char* to, std::size_t room) { return read_some(in, to, room); };
    sim::BufferedLines lines(read, crawl::url_bytes_max + 1);   // a line may end in CR LF
    std::string answers;
    for (std::string_view line; out && lines.next_line(line);) {
        canon.answer(line, answers);
        // Writes the answers so far before it waits for the next line, because the reader may wait for them.
        if (answers.size() < written_at_once && lines.has_line()) continue;
        out << answers << std::flush;
        answers.clear();
    }
    canon.tell_refused(err);
    if (in.bad()) return err << "garner seen canon: standard input cannot be read to its end\n", exit_failed;
    if (!out) return err << "garner seen canon: the answers cannot be written\n", exit_failed;
    return exit_done;
}

}   // namespace

int canon_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err) {
    CanonOptions options;
    CommandForm form("garner seen canon", about_canon);
    declare(form, options);
    if (auto const code = form.read(arguments).print(out, err)) return *code;
    return answer_all(options, in, out, err);
}

void use_canon_form(CommandForm::Use const& use) {
    CanonOptions options;
    CommandForm form("garner seen canon", about_canon);
    declare(form, options);
    use(form);
}

}   // namespace garner::seen_commands
