// A disk tier on a map: records are encoded and decoded as on a real disk.
#pragma once
#include <map>
#include <set>
#include <string>

#include "store/disk_core.hpp"
#include "store/lent_bytes.hpp"

namespace garner::store::disk {

struct FakeCore : Core {
    struct Stored {
        std::string bytes;
        Location place;
    };
    std::map<Fingerprint, Stored> records;
    std::set<Fingerprint> dropped;
    DiskOptions options;
    NotStored answer = NotStored::none;
    int until_answer = 0;   // number of appends that succeed before `answer` is returned
    int appended = 0;
    Bytes appended_bytes = 0;
    std::uint64_t bodies = 0;
    Bytes end = 0;

    NotStored append(RecordParts& parts, Purpose) override {
        if (answer != NotStored::none && until_answer-- <= 0) return answer;
        Stored stored;
        stored.place = {42, 1, end};
        stored.bytes.resize(parts.measure());
        encode(parts, stored.place, stored.bytes);
        end += stored.bytes.size();
        ++appended;
        appended_bytes += stored.bytes.size();
        records[parts.head.hash] = std::move(stored);
        return NotStored::none;
    }
    net::awaitable<ReadRecord> read(Fingerprint hash, net::Executor) override {
        ReadRecord read;
        auto const found = records.find(hash);
        if (found == records.end()) co_return read;
        auto lent = lend(found->second.bytes);
        auto const decoded = decode(lent.bytes, found->second.place);
        if (decoded.damage != Damage::none) co_return read;
        read.record = decoded.record;
        read.owner = std::move(lent.owner);
        co_return read;
    }
    bool has(Fingerprint hash) const override { return records.contains(hash); }
    void drop(Fingerprint hash) override {
        records.erase(hash);
        dropped.insert(hash);
    }
    std::uint64_t seed() const override { return 7; }
    Bytes piece_bytes() const override { return piece_max; }
    std::uint64_t next_body() override { return ++bodies; }
    DiskOptions const& limits() const override { return options; }
};

}   // namespace garner::store::disk
