#include "sim/trace_reader.hpp"

#include <algorithm>
#include <cmath>

#include "sim/key_numbers.hpp"
#include "sim/trace_formats.hpp"
#include "sim/trace_lines.hpp"
#include "sim/unpacked_file.hpp"

namespace garner::sim {
namespace {

constexpr std::size_t examples_max = 5;
constexpr std::uint64_t lines_between_progress = 1 << 16;

/// Makes a trace of records.
class Collector {
public:
    Collector(TraceRead& into, double sample)
        : into_(into), sample_(static_cast<std::uint64_t>(std::ceil(std::ldexp(sample, sampled_bits)))) {}

    /// `place`: of the line in its file, from 1; `unit`: "line", "record".
    void take(Record const& record, std::uint64_t place, std::string_view unit) {
        into_.lines += record.kind != Record::Kind::nothing;
        switch (record.kind) {
        case Record::Kind::nothing: return;
        case Record::Kind::request: return request(record, place, unit);
        case Record::Kind::unchanged: return unchanged(record, place, unit);
        case Record::Kind::skipped: ++into_.skipped; return;
        case Record::Kind::broken: return broken(record, place, unit);
        }
    }
    bool too_many_keys() const { return too_many_keys_; }

private:
    static constexpr int sampled_bits = 53;   // doubles hold that many

    bool sampled(std::uint64_t key) const { return key >> (64 - sampled_bits) < sample_; }

    void request(Record const& record, std::uint64_t place, std::string_view unit) {
        auto& trace = into_.trace;
        if (!sampled(record.key)) {
            ++into_.unsampled;
            ++trace.requests_left_out;
            trace.bytes_left_out += record.size;
            return;
        }
        if (trace.bytes + record.size < trace.bytes)
            return broken(Record::broken("with the sizes before it, beyond 2^64 bytes"), place, unit);
        auto key = numbers_.number(record.key);
        if (key == KeyNumbers::none) {
            too_many_keys_ = true;
            --into_.lines;
            return;
        }
        if (key == trace.distinct) {
            ++trace.distinct;
            trace.unique_bytes += record.size;
            last_sizes_.push_back(record.size);
        }
        last_sizes_[key] = record.size;
        trace.keys.push_back(key);
        trace.sizes.push_back(record.size);
        trace.bytes += record.size;
    }

    void unchanged(Record const& record, std::uint64_t place, std::string_view unit) {
        if (!sampled(record.key)) return unsampled_unchanged();
        auto key = numbers_.find(record.key);
        if (key == KeyNumbers::none) return void(++into_.skipped);
        request(Record::request(record.key, last_sizes_[key]), place, unit);
    }

    /// Its size is not known: it counts as one of the sample's mean.
    void unsampled_unchanged() {
        auto& trace = into_.trace;
        ++into_.unsampled;
        if (trace.requests() == 0) return;
        ++trace.requests_left_out;
        trace.bytes_left_out += trace.bytes / trace.requests();
    }

    void broken(Record const& record, std::uint64_t place, std::string_view unit) {
        ++into_.broken;
        if (into_.examples.size() < examples_max)
            into_.examples.push_back(std::string(unit) + " " + std::to_string(place) + ": " + fault_of(record));
    }

    TraceRead& into_;
    std::uint64_t const sample_;
    KeyNumbers numbers_;
    std::vector<Bytes> last_sizes_;   // by key
    bool too_many_keys_ = false;
};

class Reading {
public:
    Reading(std::string const& path, ReadOptions const& options)
        : name_(path == "-" ? "standard input" : path), options_(options), file_(path), lines_(file_) {}

    TraceRead run() {
        auto const* row = format();
        if (row) {
            into_.format = row->name;
            take_all(*row);
            progress();
        }
        into_.fault = fault(row);
        if (!into_.fault.empty()) into_.trace = {};
        return std::move(into_);
    }

private:
    FormatRow const* format() const {
        if (!file_.fault().empty() || lines_.head().empty()) return nullptr;
        if (!options_.format.empty()) return trace_format(options_.format);
        return find_format(name_, lines_.head(), lines_.head_is_whole());
    }

    void take_all(FormatRow const& row) {
        auto format = row.make();
        Collector collector(into_, options_.sample);
        lines_.skip(row.record_bytes ? 0 : lines_.head().size() - without_mark(lines_.head()).size());
        std::uint64_t place = 0;
        for (std::string_view piece; !collector.too_many_keys() && next(row, piece);) {
            auto record = row.record_bytes ? format->read(piece) : read_line(*format, piece);
            collector.take(record, ++place, row.record_bytes ? "record" : "line");
            if (place % lines_between_progress == 0) progress();
        }
        too_many_keys_ = collector.too_many_keys();
    }

    bool next(FormatRow const& row, std::string_view& piece) {
        return row.record_bytes ? lines_.next_record(piece, row.record_bytes) : lines_.next_line(piece);
    }

    void progress() const {
        if (options_.progress) options_.progress(file_.bytes_read(), file_.bytes_in_file(), into_.trace.requests());
    }

    std::string fault(FormatRow const* row) const {
        if (!file_.fault().empty()) return file_.fault();
        if (!row) return no_format();
        if (too_many_keys_) return name_ + " has more than 2^32 - 2 keys: sample it with --sample";
        if (into_.trace.requests() == 0) return nothing_in_it();
        return {};
    }

    std::string no_format() const {
        if (lines_.head().empty()) return name_ + " is empty: name a trace or an access log";
        if (!options_.format.empty())
            return "no trace format \"" + options_.format + "\"; there are " + trace_format_names();
        return name_ + " fits no known format; name it with --trace-format, one of " + trace_format_names();
    }

    std::string nothing_in_it() const {
        auto text = name_ + " has no request that counts, read as " + into_.format + ": " +
                    std::to_string(into_.skipped) + " skipped, " + std::to_string(into_.broken) + " broken";
        if (!into_.examples.empty()) text += " (" + into_.examples.front() + ")";
        if (into_.unsampled > 0) return text + ", " + std::to_string(into_.unsampled) + " not in the sample: take more";
        return text + "; is the format another one? There are " + trace_format_names();
    }

    std::string const name_;
    ReadOptions const& options_;
    UnpackedFile file_;
    TraceLines lines_;
    TraceRead into_;
    bool too_many_keys_ = false;
};

}  // namespace

TraceRead read_trace(std::string const& path, ReadOptions const& options) {
    TraceRead nothing;
    if (options.sample > 0 && options.sample <= 1) return Reading(path, options).run();
    nothing.fault = "a sample is a share of the keys: above 0, at most 1";
    return nothing;
}

bool is_trace_format(std::string_view name) {
    return std::ranges::any_of(trace_formats(), [&](auto const& row) { return row.name == name; });
}

std::string trace_format_names() {
    std::string names;
    for (auto const& row : trace_formats()) names += (names.empty() ? "" : ", ") + std::string(row.name);
    return names;
}

}  // namespace garner::sim
