// Objects as a stream of bytes, for a file or for another process: records of the disk store's format, one after another. The
// format is described in docs/reference/object-stream-format.md.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "store/disk_format.hpp"
#include "store/object.hpp"
#include "util/bytes.hpp"

namespace garner::store {

/// Used on one thread.
class ObjectWriter {
public:
    /// Gets the bytes in their order. False: no more can be written.
    using Sink = std::function<bool(std::string_view)>;
    /// `id`: random. It identifies the stream.
    ObjectWriter(std::uint64_t id, Sink sink);

    /// False after the sink has failed. An object whose bytes are not all in memory is left out. `rank`: lower ones are more
    /// valuable, and objects without one are more valuable than all others.
    bool write(Object const& object, std::optional<std::uint64_t> rank = std::nullopt);
    /// The reader asked for the object under this key: it came before, or does not come.
    bool answer(std::string_view key);
    /// Hands the sink what was written so far.
    bool flush();

    Bytes bytes() const { return offset_; }
    std::uint64_t objects() const { return objects_; }

private:
    void append(disk::RecordParts& record);
    void append_rank(std::uint64_t rank);
    void append_pieces(Body const& body, std::uint64_t number);

    std::uint64_t const id_;
    Sink const sink_;
    std::string waiting_;   // for the sink
    Bytes offset_ = 0;      // of the next record in the stream
    std::uint64_t objects_ = 0, bodies_ = 0;
    bool failed_ = false;
};

/// Finds the records of a stream, whose bytes are added in blocks of any size. Used on one thread.
class RecordStream {
public:
    /// The records that next() has returned become invalid.
    void add(std::string_view bytes);
    /// No bytes follow.
    void end() { ended_ = true; }
    /// The next record with valid checksums; it views bytes of this stream. Nothing: it needs more bytes. Damaged records are
    /// passed over.
    std::optional<disk::Record> next();

    /// False if the stream begins with other bytes, or is of another version: then it has no records.
    bool is_known() const { return !foreign_; }
    Bytes damaged() const { return damaged_; }

private:
    bool read_head();
    void pass(Bytes bytes);

    std::string bytes_;
    std::size_t at_ = 0;   // the first of `bytes_` that was not passed
    Bytes offset_ = 0;     // of that byte in the stream
    std::optional<std::uint64_t> id_;
    Bytes damaged_ = 0;
    bool ended_ = false, foreign_ = false;
};

}   // namespace garner::store
