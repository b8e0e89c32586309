#include "util/build_id.hpp"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace garner {

namespace {

std::string in_hex(std::string_view bytes) {
    constexpr char const* digits = "0123456789abcdef";
    std::string text;
    for (auto const one : bytes) {
        auto const byte = static_cast<unsigned char>(one);
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }

/// Of one segment of notes (elf(5)): name and description of each are padded to 4 bytes.
std::string id_in(std::string_view notes) {
    ElfW(Nhdr) note{};
    while (notes.size() >= sizeof note) {
        std::memcpy(&note, notes.data(), sizeof note);
        auto const at = sizeof note + padded(note.n_namesz), end = at + padded(note.n_descsz);
        if (end > notes.size()) break;
        bool const is_gnu = notes.substr(sizeof note, note.n_namesz) == std::string_view("GNU\0", 4);
        if (is_gnu && note.n_type == NT_GNU_BUILD_ID) return in_hex(notes.substr(at, note.n_descsz));
        notes.remove_prefix(end);
    }
    return {};
}

/// For dl_iterate_phdr, which gives the program itself first.
int take_program(dl_phdr_info* program, std::size_t, void* into) {
    auto& id = *static_cast<std::string*>(into);
    for (std::size_t i = 0; i < program->dlpi_phnum && id.empty(); ++i) {
        auto const& segment = program->dlpi_phdr[i];
        if (segment.p_type != PT_NOTE) continue;
        auto const* const notes = reinterpret_cast<char const*>(program->dlpi_addr + segment.p_vaddr);
        id = id_in({notes, segment.p_memsz});
    }
    return 1;
}

}   // namespace

std::string build_id() {
    std::string id;
    ::dl_iterate_phdr(take_program, &id);
    return id;
}

}   // namespace garner
