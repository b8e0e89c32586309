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

constexpr char const* about_model =
    "Generates the links of a crawl with many threads.\n"
    "Follows the model of Broder, Najork and Wiener (2003). The output is a stream for garner seen sim: URL numbers, "
    "little-endian u32.";

void declare(CommandForm& form, ModelOptions& options) {
    auto& model = options.model;
    auto const share = [](double& to) { return number_into(to, 0.0, 1.0); };
    auto const count = [](std::uint32_t& to, std::uint32_t most = 1'000'000) { return number_into(to, 1u, most); };
    form.group("simulate")
        .option("--links N", "number of links; default: 10000000", number_into<std::uint64_t>(options.links, 1, 1'000'000'000'000))
        .option("--threads N", "crawler threads; each crawls its own host and takes one page per turn; default: 500",
                count(model.threads))
        .option("--alpha P", "share of links into a global set; default: 0.03", share(model.alpha))
        .option("--beta-page P", "share of links to URLs already on the page or to the host's home page; default: 0.27",
                share(model.beta_page))
        .option("--beta-host P", "share of links into the host's set; default: 0.51. All other links lead to new URLs",
                share(model.beta_host))
        .option("--global-set N", "URLs in the global set; default: 10000", count(model.global_set, 100'000'000))
        .option("--host-set N", "URLs in a host's set; default: 420", count(model.host_set))
        .option("--host-pages N", "pages of a host before its thread begins the next host; default: 150",
                count(model.host_pages, 100'000'000))
        .option("--page-links N", "median of links on a page; default: 23", number_into(model.page_links, 1.0, 2'000.0))
        .flag("--even-pages", "gives every page --page-links links, as garner seen sim --threads-model assumes", model.even_pages)
        .option("--seed N", "seed of the random numbers; equal seeds give equal links; default: 1",
                number_into<std::uint64_t>(model.seed, 0, UINT64_MAX))
        .option("--output FILE", "file for the links; default: -, standard output", options.output)
        .check([&] {
            return model.alpha + model.beta_page + model.beta_host <= 1
                       ? ""
                       : "--alpha, --beta-page and --beta-host add up to more than 1; the remainder is the share of new URLs";
        })
        .exit_statuses({{0, "done"}, {1, "the links cannot be written"}, {2, "wrong command line"}})
        .examples({"garner seen model --links 1000000 --output links.u32",
                   "garner seen model --links 1000000 | garner seen sim --stream - --policy lru,line --entries 2^12"});
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

}   // namespace

int seen_model_command(std::span<std::string const> arguments, std::istream&, std::ostream& out, std::ostream& err) {
    ModelOptions options;
    CommandForm form("garner seen model", about_model);
    declare(form, options);
    if (auto const code = form.read(arguments).print(out, err)) return *code;

    std::ofstream file;
    if (options.output != "-") file.open(options.output, std::ios::binary);
    if (write_links(options, options.output == "-" ? out : file)) return exit_done;
    return err << "garner seen model: the links cannot be written to " << options.output << '\n', exit_failed;
}

void use_model_form(CommandForm::Use const& use) {
    ModelOptions options;
    CommandForm form("garner seen model", about_model);
    declare(form, options);
    use(form);
}

}   // namespace garner::seen_commands
