#include "control/cbor.hpp"

namespace garner::control {
namespace {

using Json = nlohmann::json;
using Builder = nlohmann::detail::json_sax_dom_parser<Json>;

constexpr int depth_max = 8;

/// Stops at too deep a nesting: the parser recurses.
class Bounded : public Builder {
public:
    explicit Bounded(Json& root) : Builder(root, false) {}
    bool start_object(std::size_t size) { return ++depth_ <= depth_max && Builder::start_object(size); }
    bool start_array(std::size_t size) { return ++depth_ <= depth_max && Builder::start_array(size); }
    bool end_object() { return --depth_, Builder::end_object(); }
    bool end_array() { return --depth_, Builder::end_array(); }

private:
    int depth_ = 0;
};

}   // namespace

/// The parser throws for an excessive length, although it was told not to.
Json read_cbor(std::span<std::uint8_t const> bytes) {
    try {
        Json root;
        Bounded builder(root);
        bool const good = Json::sax_parse(bytes.begin(), bytes.end(), &builder, Json::input_format_t::cbor);
        return good ? root : Json();
    } catch (Json::exception const&) {
        return Json();
    }
}

}   // namespace garner::control
