#include "crawl/canon_command.hpp"

#include <array>
#include <ostream>

#include "crawl/canonical_url.hpp"
#include "crawl/fingerprint.hpp"
#include "crawl/line_reader.hpp"
#include "crawl/rabin.hpp"
#include "crawl/url_layers.hpp"
#include "util/option_words.hpp"

namespace garner::crawl {
namespace {

constexpr int done = 0, failed = 1, wrong = 2;

void append_hex(std::uint64_t value, std::string& to) {
    for (int shift = 60; shift >= 0; shift -= 4) to.push_back("0123456789abcdef"[value >> shift & 15]);
}

void append_64(std::string_view text, std::string& to) { append_hex(fingerprint64(text), to); }

void append_128(std::string_view text, std::string& to) {
    auto const value = fingerprint128(text);
    append_hex(value.high, to);
    append_hex(value.low, to);
}

void append_rabin(std::string_view text, std::string& to) {
    static Rabin const rabin;
    append_hex(rabin(text), to);
}

struct Kind {
    std::string_view name;
    void (*append)(std::string_view text, std::string& to);   // in hexadecimal
};
constexpr std::array kinds{Kind{"64", append_64}, Kind{"128", append_128}, Kind{"rabin", append_rabin}};

struct CanonOptions {
    UrlLayers layers;
    CanonicalUrl base;                // with an empty text: none
    Kind const* fingerprint = nullptr;
    bool help = false;
    std::string fault;
};

std::string read_base(std::string_view value, CanonicalUrl& base) {
    auto const fault = canonicalise(value, base);
    if (fault == UrlFault::none) return {};
    auto const why = std::string(name_of(fault));
    return "--base: \"" + std::string(value) + "\" is no URL of http, https, ws, wss or ftp: " + why;
}

/// Takes one option into `options`; the fault, if any.
std::string take(std::string_view name, std::string_view value, CanonOptions& options) {
    if (name == "--base") return read_base(value, options.base);
    if (name == "--layers") {
        auto read = UrlLayers::read(value);
        options.layers = read.layers;
        return read.fault.empty() ? "" : "--layers: " + read.fault;
    }
    for (auto const& kind : kinds)
        if (kind.name == value) options.fingerprint = &kind;
    return options.fingerprint ? "" : "--fingerprint: \"" + std::string(value) + "\" is none of 64, 128, rabin";
}

CanonOptions read_options(std::span<std::string const> arguments) {
    CanonOptions options;
    constexpr std::string_view names[]{"--layers", "--base", "--fingerprint"};
    OptionForm const form{.names = names, .instead = "the URLs come from standard input"};
    options.fault = read_option_words(arguments, form, options.help,
                                      [&](std::string_view name, std::string_view value) { return take(name, value, options); });
    return options;
}

std::string help() {
    std::string text =
        "Usage: garner seen canon [--base URL] [--layers NAME,...] [--fingerprint 64|128|rabin]\n"
        "\n"
        "Reads URLs from standard input, one a line, and prints the canonical form of each: what the WHATWG URL\n"
        "Standard makes of it, without the fragment. For what is none of http, https, ws, wss and ftp it prints !\n"
        "and the reason.\n"
        "\n"
        "  --base URL           the page on which they stand: relative references are resolved\n"
        "  --layers NAME,...    what is done beyond the standard; not meant for targets of redirects\n"
        "  --fingerprint KIND   prints the fingerprint in hexadecimal and a tab before each: 64 or 128 bits of XXH3,\n"
        "                       or Rabin's\n"
        "\n"
        "Layers, in the order in which they apply:\n";
    for (auto const& layer : url_layer_names()) {
        text.append("  ").append(layer.name).append(18 - layer.name.size(), ' ').append(layer.what).push_back('\n');
    }
    text += "\nReasons:";
    for (int i = 1; i < url_fault_count; ++i)
        text.append(i % 7 == 1 ? "\n  " : " ").append(name_of(static_cast<UrlFault>(i)));
    return text + "\n\nExit codes: 0 done, whatever the lines hold; 1 the input cannot be read, or the answers not be "
                  "written; 2 wrong command line.\n";
}

/// Answers line by line, and counts.
class Canon {
public:
    explicit Canon(CanonOptions const& options) : options_(options) {}

    void answer(LineReader::Line const& line, std::string& out) {
        ++lines_;
        auto text = line.text;
        if (text.ends_with('\r')) text.remove_suffix(1);
        auto const fault = line.too_long ? UrlFault::too_long : canonical(text);
        if (fault != UrlFault::none) {
            ++refused_[static_cast<std::size_t>(fault)];
            out.append("!").append(name_of(fault)).push_back('\n');
            return;
        }
        options_.layers.apply(url_);
        if (options_.fingerprint) {
            options_.fingerprint->append(url_.text, out);
            out.push_back('\t');
        }
        out.append(url_.text).push_back('\n');
    }

    /// Says nothing when there is nothing wrong.
    void tell_refused(std::ostream& err) const {
        std::uint64_t all = 0;
        for (auto count : refused_) all += count;
        if (all == 0) return;
        err << "garner seen canon: " << all << " of " << lines_ << " lines refused:";
        for (std::size_t i = 0; i < refused_.size(); ++i)
            if (refused_[i] > 0) err << ' ' << refused_[i] << ' ' << name_of(static_cast<UrlFault>(i));
        err << '\n';
    }

private:
    UrlFault canonical(std::string_view text) {
        return options_.base.text.empty() ? canonicalise(text, url_) : canonicalise(text, options_.base, url_);
    }

    CanonOptions const& options_;
    CanonicalUrl url_;
    std::uint64_t lines_ = 0;
    std::array<std::uint64_t, url_fault_count> refused_{};
};

int answer_all(CanonOptions const& options, std::istream& in, std::ostream& out, std::ostream& err) {
    constexpr std::size_t written_at_once = 64 * 1024;
    Canon canon(options);
    LineReader lines(in, url_bytes_max + 1);   // a line may end in CR LF
    std::string answers;
    for (LineReader::Line line; out && lines.next(line);) {
        canon.answer(line, answers);
        // Who waits for an answer to the last line gets it before the next one is waited for.
        if (answers.size() < written_at_once && lines.has_next()) continue;
        out << answers << std::flush;
        answers.clear();
    }
    canon.tell_refused(err);
    if (in.bad()) return err << "garner seen canon: standard input cannot be read to its end\n", failed;
    if (!out) return err << "garner seen canon: the answers cannot be written\n", failed;
    return done;
}

}  // namespace

int canon_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err) {
    auto const options = read_options(arguments);
    if (options.help) return out << help(), done;
    if (!options.fault.empty()) {
        err << "garner seen canon: " << options.fault << "\nTry: garner seen canon --help\n";
        return wrong;
    }
    return answer_all(options, in, out, err);
}

}  // namespace garner::crawl
