#include "seen/batch.hpp"

#include "crawl/fingerprint.hpp"
#include "crawl/kept_memory.hpp"
#include "util/check.hpp"

namespace garner::seen {

namespace {

void fill_in(std::span<LinkStatus> answers, LinkStatus open, std::span<LinkStatus const> answered) {
    auto next = answered.begin();
    for (auto& answer : answers)
        if (answer == open) answer = *next++;
    check(next == answered.end());
}

}   // namespace

Bytes Batch::held_bytes() const {
    auto bytes = answers.capacity() + own.capacity() * sizeof(Fingerprint);
    for (auto const& links : foreign) bytes += links.capacity() * sizeof(Fingerprint);
    return bytes;
}

void Batch::clear(std::uint32_t partitions) {
    crawl::give_back(answers), crawl::give_back(own);
    foreign.resize(partitions);
    for (auto& links : foreign) crawl::give_back(links);
    refused = kept_home = 0;
    too_many = false;
}

void Batch::take_own(std::span<LinkStatus const> answered) {
    check(answered.size() == own.size());
    fill_in(answers, asked_here, answered);
}

void Batch::take_foreign(std::uint32_t partition, std::span<LinkStatus const> answered) {
    check(answered.size() == foreign[partition].size());
    fill_in(answers, unreachable(partition), answered);
}

bool LinkSorter::has_room() {
    if (batch_->answers.size() < sorting_.links_max) return true;
    batch_->too_many = true;
    return false;
}

void LinkSorter::take(std::string_view text) {
    if (text.ends_with('\r')) text.remove_suffix(1);   // avoids a copy of a URL that is canonical without it
    auto const fault = crawl::canonicalise(text, url_);
    if (fault != crawl::UrlFault::none) return refuse(refused(fault));
    if (!has_room()) return;
    sorting_.layers.apply(url_);
    // The layers are applied before the host is read: otherwise texts that become one URL could go to several processes.
    auto const partition = sorting_.splitter.partitions() > 1 ? sorting_.splitter.partition_of(url_) : sorting_.own;
    auto const print = crawl::fingerprint64(url_.text);
    if (partition == sorting_.own) {
        batch_->own.push_back(print);
        batch_->answers.push_back(asked_here);
    } else if (!durable_ && sorting_.answered && sorting_.answered->holds(print)) {
        ++batch_->kept_home;
        batch_->answers.push_back(already_seen);
    } else {
        batch_->foreign[partition].push_back(print);
        batch_->answers.push_back(unreachable(partition));
    }
}

void LinkSorter::refuse(LinkStatus why) {
    if (!has_room()) return;
    ++batch_->refused;
    batch_->answers.push_back(why);
}

void LinkSorter::take_fingerprint(Fingerprint url) {
    if (!has_room()) return;
    batch_->own.push_back(url);
    batch_->answers.push_back(asked_here);
}

}   // namespace garner::seen
