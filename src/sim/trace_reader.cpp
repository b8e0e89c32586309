#include "sim/trace_reader.hpp"

#include <algorithm>
#include <cmath>

#include "sim/buffered_lines.hpp"
#include "sim/trace_formats.hpp"
#include "sim/unpacked_file.hpp"
#include "util/fingerprint_map.hpp"

namespace garner::sim {
namespace {

constexpr std::size_t examples_max = 5;
constexpr std::uint64_t lines_between_progress = 1 << 16;
constexpr int sampled_bits = 53;   // the precision of a double

/// Builds a trace from the records of one file.
class Reading {
public:
    Reading(std::string const& path, ReadOptions const& options)
        : name_(path == "-" ? "standard input" : path), options_(options),
          sample_(static_cast<std::uint64_t>(std::ceil(std::ldexp(options.sample, sampled_bits)))), file_(path),
          lines_(file_, line_bytes_max), head_(lines_.head()) {}

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
        if (!file_.fault().empty() || head_.empty()) return nullptr;
        if (!options_.format.empty()) return trace_format(options_.format);
        return find_format(name_, head_, lines_.head_is_whole());
    }

    void take_all(FormatRow const& row) {
        auto const format = row.make();
        unit_ = row.record_bytes ? "record " : "line ";
        if (!row.record_bytes) lines_.skip(head_.size() - without_mark(head_).size());
        auto const next = [&](std::string_view& piece) {
            return row.record_bytes ? lines_.next_record(piece, row.record_bytes) : lines_.next_line(piece);
        };
        for (std::string_view piece; !too_many_keys_ && next(piece);) {
            ++number_;
            take(row.record_bytes ? format(piece) : read_line(format, piece));
            if (number_ % lines_between_progress == 0) progress();
        }
    }

    void take(Record const& record) {
        into_.lines += record.kind != Record::Kind::nothing;
        switch (record.kind) {
        case Record::Kind::nothing: return;
        case Record::Kind::request: return request(record.key, record.size);
        case Record::Kind::unchanged: return unchanged(record.key);
        case Record::Kind::skipped: ++into_.skipped; return;
        case Record::Kind::broken: return broken(record);
        }
    }

    bool sampled(std::uint64_t key) const { return key >> (64 - sampled_bits) < sample_; }

    void request(std::uint64_t key, Bytes size) {
        auto& trace = into_.trace;
        if (!sampled(key)) return leave_out(size);
        if (trace.bytes + size < trace.bytes) return broken(Record::broken("the sum of sizes exceeds 2^64 bytes"));
        too_many_keys_ = trace.distinct == FingerprintMap::none - 1 && numbers_.find(key) == FingerprintMap::none;
        if (too_many_keys_) return void(--into_.lines);
        auto& number = numbers_.at(key);
        if (number == FingerprintMap::none) {
            number = trace.distinct++;
            trace.unique_bytes += size;
            last_sizes_.push_back(size);
        }
        last_sizes_[number] = size;
        trace.keys.push_back(number);
        trace.sizes.push_back(size);
        trace.bytes += size;
    }

    void unchanged(std::uint64_t key) {
        auto const requests = into_.trace.requests();
        // The size is unknown: the mean of the sample is used.
        if (!sampled(key)) return requests > 0 ? leave_out(into_.trace.bytes / requests) : void(++into_.unsampled);
        auto const number = numbers_.find(key);
        if (number == FingerprintMap::none) return void(++into_.skipped);
        request(key, last_sizes_[number]);
    }

    void leave_out(Bytes size) {
        ++into_.unsampled;
        ++into_.trace.requests_left_out;
        into_.trace.bytes_left_out += size;
    }

    void broken(Record const& record) {
        ++into_.broken;
        if (into_.examples.size() < examples_max)
            into_.examples.push_back(unit_ + std::to_string(number_) + ": " + fault_of(record));
    }

    void progress() const {
        if (options_.progress) options_.progress(file_.bytes_read(), file_.bytes_in_file(), into_.trace.requests());
    }

    std::string fault(FormatRow const* row) const {
        if (!file_.fault().empty()) return file_.fault();
        if (head_.empty()) return name_ + " is empty: give a trace or an access log";
        if (too_many_keys_) return name_ + " has more than 2^32 - 2 keys: sample it with --sample";
        if (row) return into_.trace.requests() > 0 ? "" : nothing_in_it();
        if (!options_.format.empty()) return "no trace format \"" + options_.format + "\"; valid formats: " + trace_format_names();
        return name_ + " has no known format; give it with --trace-format, one of " + trace_format_names();
    }

    std::string nothing_in_it() const {
        auto text = name_ + " has no usable request, read as " + into_.format + ": " + std::to_string(into_.skipped) +
                    " skipped, " + std::to_string(into_.broken) + " broken";
        if (!into_.examples.empty()) text += " (" + into_.examples.front() + ")";
        if (into_.unsampled > 0)
            return text + ", " + std::to_string(into_.unsampled) + " outside the sample: raise the rate of --sample";
        return text + ": check the format; valid formats: " + trace_format_names();
    }

    std::string const name_;
    ReadOptions const& options_;
    std::uint64_t const sample_;   // keys whose upper bits are below it are sampled
    UnpackedFile file_;
    BufferedLines lines_;
    std::string_view const head_;   // its bytes are valid until the first line is read
    std::string unit_;
    std::uint64_t number_ = 0;        // number of the line or record, from 1
    FingerprintMap numbers_;          // numbers of the keys
    std::vector<Bytes> last_sizes_;   // by key
    TraceRead into_;
    bool too_many_keys_ = false;
};

}   // namespace

TraceRead read_trace(std::string const& path, ReadOptions const& options) {
    TraceRead nothing;
    if (options.sample > 0 && options.sample <= 1) return Reading(path, options).run();
    nothing.fault = "the sample rate must be above 0 and at most 1";
    return nothing;
}

}   // namespace garner::sim
