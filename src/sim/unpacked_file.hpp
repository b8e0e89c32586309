// The unpacked bytes of a file.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "util/bytes.hpp"

namespace garner::sim {

struct Unpacked {
    std::size_t taken = 0, made = 0;
    std::string fault = {};
    bool complete = true;   // the packed bytes may end here
};
/// Unpacks bytes incrementally.
using Unpack = std::function<Unpacked(std::string_view packed, char* to, std::size_t room)>;

/// Reads a file or, for "-", standard input. Several zstd frames or gzip members in sequence are one text.
class UnpackedFile {
public:
    explicit UnpackedFile(std::string const& path);
    ~UnpackedFile();
    UnpackedFile(UnpackedFile const&) = delete;
    UnpackedFile& operator=(UnpackedFile const&) = delete;

    /// Reads up to `room` bytes, at least one; 0 at the end and after a fault.
    std::size_t read(char* to, std::size_t room);

    /// Names the file, the reason, the byte position if it matters, and a suggested fix. Empty: no fault.
    std::string const& fault() const { return fault_; }
    Bytes bytes_read() const { return bytes_read_; }         // bytes before unpacking
    Bytes bytes_in_file() const { return bytes_in_file_; }   // 0: unknown

private:
    void open(std::string const& path);
    bool refill();

    std::string name_;   // for faults
    std::string fault_;
    int descriptor_ = -1;
    Bytes bytes_in_file_ = 0;
    Bytes bytes_read_ = 0;
    std::vector<char> block_;
    std::string_view packed_;   // remaining packed bytes of the block
    bool ended_ = false;
    Unpack unpack_;
};

}   // namespace garner::sim
