#include "sim/seen_model_command.hpp"

#include <algorithm>
#include <fstream>
#include <ostream>

#include "crawl/link_model.hpp"
#include "util/exit_code.hpp"
#include "util/option_words.hpp"
#include "util/numbers.hpp"

namespace garner::sim {
namespace {


struct ModelOptions {
    crawl::LinkModelOptions model = {};
    std::uint64_t links = 10'000'000;
    std::string output = "-";
    bool help = false;
};

constexpr std::string_view model_option_names[]{"--links",     "--threads",    "--alpha",    "--beta-page",
                                          "--beta-host", "--global-set", "--host-set", "--host-pages",
                                          "--page-links", "--seed",      "--output"};
constexpr std::string_view model_flags[]{"--even-pages"};

template <class Number>
std::string take_number(std::string_view name, std::string_view value, Number least, Number most, Number& number) {
    if (read_whole_number(value, number) && number >= least && number <= most) return {};
    return std::string(name) + ": " + quoted_word(value) + " is not a number from " +
           short_number(static_cast<double>(least)) + " to " + short_number(static_cast<double>(most));
}

std::string take_model_option(std::string_view name, std::string_view value, ModelOptions& options) {
    auto& model = options.model;
    auto count = [&](std::uint32_t& number) { return take_number(name, value, 1u, 100'000'000u, number); };
    if (name == "--even-pages") return model.even_pages = true, std::string();
    if (name == "--output") return options.output = value, std::string();
    if (name == "--links") return take_number<std::uint64_t>(name, value, 1, 1'000'000'000'000, options.links);
    if (name == "--seed") return take_number<std::uint64_t>(name, value, 0, UINT64_MAX, model.seed);
    if (name == "--threads") return take_number(name, value, 1u, 1'000'000u, model.threads);
    if (name == "--global-set") return count(model.global_set);
    if (name == "--host-set") return take_number(name, value, 1u, 1'000'000u, model.host_set);
    if (name == "--host-pages") return count(model.host_pages);
    if (name == "--page-links") return take_number(name, value, 1.0, 2'000.0, model.page_links);
    auto& share = name == "--alpha" ? model.alpha : name == "--beta-page" ? model.beta_page : model.beta_host;
    return take_number(name, value, 0.0, 1.0, share);
}

std::string model_help() {
    return "Usage: garner seen model [--links N] [--threads N] [--output FILE] [--seed N] [--even-pages] ...\n"
           "\n"
           "Makes the links that a crawl of many threads extracts, as Broder, Najork, Wiener (2003) conjecture them, for\n"
           "garner seen sim: URL numbers, little-endian u32.\n"
           "\n"
           "  --links N        10000000 without it\n"
           "  --threads N      crawler threads, each on a host of its own, a page at a time, in turn; 500\n"
           "  --alpha P        the share of links into a global set; 0.03\n"
           "  --beta-page P    ... that stand on the page already, or lead to the host's home page; 0.27\n"
           "  --beta-host P    ... into the host's set; 0.51. What is left leads to URLs never met before\n"
           "  --global-set N   URLs in the global set; 10000\n"
           "  --host-set N     URLs in a host's set; 420\n"
           "  --host-pages N   pages of a host until its thread takes up another one; 150\n"
           "  --page-links N   the median of links on a page; 23\n"
           "  --even-pages     all pages have that many, as garner seen sim --threads-model deals them out\n"
           "  --seed N         1 without it; the same numbers give the same links\n"
           "  --output FILE    - for standard output, as without it\n"
           "\n"
           "Exit codes: 0 done, 1 the links cannot be written, 2 wrong command line.\n";
}

bool write_links(ModelOptions const& options, std::ostream& to) {
    crawl::LinkModel model(options.model);
    for (auto left = options.links; left > 0 && to;) {
        auto const page = model.next_page();
        auto const taken = std::min<std::uint64_t>(left, page.size());
        to.write(reinterpret_cast<char const*>(page.data()), static_cast<std::streamsize>(taken * sizeof page[0]));
        left -= taken;
    }
    to.flush();
    return to.good();
}

}  // namespace

int seen_model_command(std::span<std::string const> arguments, std::istream&, std::ostream& out, std::ostream& err) {
    ModelOptions options;
    auto fault = read_option_words(arguments, {model_option_names, model_flags}, options.help,
                                   [&](std::string_view name, std::string_view value) { return take_model_option(name, value, options); });
    if (options.help) return out << model_help(), exit_done;
    auto const& model = options.model;
    if (fault.empty() && model.alpha + model.beta_page + model.beta_host > 1)
        fault = "--alpha, --beta-page and --beta-host are more than 1 together; what is left is the share of new URLs";
    if (!fault.empty()) return err << "garner seen model: " << fault << "\nTry: garner seen model --help\n", exit_usage;

    std::ofstream file;
    if (options.output != "-") file.open(options.output, std::ios::binary);
    if (write_links(options, options.output == "-" ? out : file)) return exit_done;
    return err << "garner seen model: the links cannot be written to " << options.output << '\n', exit_failed;
}

}  // namespace garner::sim
