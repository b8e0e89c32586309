// A temporary folder for a test.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace garner::crawl {

class Folder {
public:
    Folder() {
        auto name = (std::filesystem::temp_directory_path() / "garner-crawl-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(Folder const&) = delete;
    std::filesystem::path path(std::string const& name = "") const { return name.empty() ? path_ : path_ / name; }

private:
    std::filesystem::path path_;
};

}   // namespace garner::crawl
