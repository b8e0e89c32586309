// Bodies of links: any bytes in any form give one result however they are split, and one answer per link with the announced length.
#include "seen/body_forms.hpp"
#include "fuzzed.hpp"

using namespace garner;

namespace {

constexpr std::string_view types[]{"text/plain", "application/json", "application/octet-stream"};

struct Read {
    seen::Batch batch;
    std::string fault;
};

void read(std::string_view type, std::string_view body, std::size_t piece, Read& into) {
    static seen::Sorting const sorting = [] {
        seen::Sorting two;
        two.splitter = crawl::HostSplitter(2);
        two.links_max = 100;
        return two;
    }();
    into.batch.clear(2);
    seen::LinkSorter sorter(sorting);
    sorter.begin(into.batch);
    auto const reader = seen::body_form(type)->make(sorter);
    for (std::size_t at = 0; at < body.size(); at += std::min(piece, body.size() - at))
        if (!reader->read(body.substr(at, piece))) break;
    into.fault = reader->finish().fault_text();
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size < 2) return 0;
    std::string_view const body(reinterpret_cast<char const*>(data) + 2, size - 2);
    auto const type = types[data[0] % std::size(types)];
    static Read whole, cut;
    read(type, body, body.size(), whole);
    read(type, body, data[1] + 1u, cut);
    check(whole.fault.empty() == cut.fault.empty());
    if (!whole.fault.empty() || whole.batch.too_many) return 0;
    check(whole.batch.answers == cut.batch.answers && whole.batch.own == cut.batch.own);
    check(whole.batch.foreign == cut.batch.foreign);
    whole.batch.take_own(std::vector<seen::LinkStatus>(whole.batch.own.size(), seen::is_new));
    for (auto const form : {seen::ReplyForm::text, seen::ReplyForm::json, seen::ReplyForm::octets}) {
        seen::ReplyWriter writer(form, whole.batch.answers);
        auto const length = writer.length();
        std::size_t written = 0;
        for (std::string piece; writer.next(piece);) written += piece.size();
        check(written == length);
    }
    return 0;
}
