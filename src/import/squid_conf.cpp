#include "import/squid_conf.hpp"

#include "import/context.hpp"

namespace garner::importing {
namespace {

void take(Context& context, Line const& line) {
    auto const* const row = find_directive(line.name);
    if (!row) return context.report.needs_you(line, "Squid 5 and Garner know no such directive; remove it");
    row->take(context, line, *row);
}

/// The parts in the order of the reference page.
Json ordered(Json const& config) {
    auto all = Json::object();
    for (auto const* key :
         {"listen",          "workers", "auth",    "matchers", "access", "purge",  "misses",    "memory",    "disk",
          "caching",         "dns",     "connect", "tls",      "pool",   "limits", "deadlines", "forwarded", "forwarded_received",
          "forwarded_trust", "via",     "log",     "admin",    "icp",    "htcp",   "digest",    "peers",     "direct"})
        if (auto const* const part = config.find(key)) all[key] = *part;
    return all;
}

}   // namespace

Result<Imported> import_squid(std::string const& name, std::string_view text, Files const& files) {
    Report report;
    auto const directives = read_directives(name, text, files, report);
    if (!directives) return directives.fault();
    Context context(files, report);
    for (auto const& line : directives->lines) take(context, line);
    finish(context);
    return Imported{ordered(context.config).text() + "\n", report.text(directives->count), report.needing() > 0};
}

}   // namespace garner::importing
