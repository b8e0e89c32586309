#include "seen_commands/seen_commands.hpp"

#include <algorithm>
#include <fstream>
#include <ostream>

#include "papers/link_model.hpp"
#include "util/command_form.hpp"
#include "util/exit_code.hpp"

namespace garner::seen_commands {
namespace {

struct ModelOptions {
    papers::LinkModelOptions model = {};
    std::uint64_t links = 10'000'000;
    std::string output = "-";
};

CommandForm::Reading read_model_options(std::span<std::string const> arguments, ModelOptions& options) {
    auto& model = options.model;
    auto const share = [](double& to) { return number_into(to, 0.0, 1.0); };
    auto const count = [](std::uint32_t& to, std::uint32_t most = 1'000'000) { return number_into(to, 1u, most); };
    CommandForm form("garner seen model",
                     "Makes the links that a crawl of many threads extracts, as Broder, Najork, Wiener (2003) conjecture them, for\n"
                     "garner seen sim: URL numbers, little-endian u32.");
    form.option("--links N", "default: 10000000", number_into<std::uint64_t>(options.links, 1, 1'000'000'000'000))
        .option("--threads N", "crawler threads, each on a host of its own, a page at a time, in turn; default: 500",
                count(model.threads))
        .option("--alpha P", "share of links into a global set; default: 0.03", share(model.alpha))
        .option("--beta-page P", "share of links to URLs already on the page or to the host's home page; default: 0.27",
                share(model.beta_page))
        .option("--beta-host P", "share of links into the host's set; default: 0.51. All other links lead to new URLs",
                share(model.beta_host))
        .option("--global-set N", "URLs in the global set; default: 10000", count(model.global_set, 100'000'000))
        .option("--host-set N", "URLs in a host's set; default: 420", count(model.host_set))
        .option("--host-pages N", "pages of a host before its thread takes up the next host; default: 150",
                count(model.host_pages, 100'000'000))
        .option("--page-links N", "median of links on a page; default: 23", number_into(model.page_links, 1.0, 2'000.0))
        .flag("--even-pages", "all pages have that many links, as garner seen sim --threads-model deals them out",
              model.even_pages)
        .option("--seed N", "default: 1; the same seed gives the same links",
                number_into<std::uint64_t>(model.seed, 0, UINT64_MAX))
        .option("--output FILE", "default: -, standard output", options.output)
        .check([&] {
            return model.alpha + model.beta_page + model.beta_host <= 1
                       ? ""
                       : "--alpha, --beta-page and --beta-host are more than 1 together; what is left is the share of new URLs";
        })
        .notes("Exit codes: 0 done, 1 the links cannot be written, 2 wrong command line.");
    return form.read(arguments);
}

bool write_links(ModelOptions const& options, std::ostream& to) {
    papers::LinkModel model(options.model);
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
    if (auto const code = read_model_options(arguments, options).print(out, err)) return *code;

    std::ofstream file;
    if (options.output != "-") file.open(options.output, std::ios::binary);
    if (write_links(options, options.output == "-" ? out : file)) return exit_done;
    return err << "garner seen model: the links cannot be written to " << options.output << '\n', exit_failed;
}

}  // namespace garner::seen_commands
