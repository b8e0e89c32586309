// The keys of the admin server.
#include <algorithm>
#include <set>

#include "config/address_form.hpp"
#include "config/key_parts.hpp"
#include "util/text.hpp"

namespace garner::config {
namespace {

constexpr std::size_t tokens_max = 100, token_name_max = 64, digest_digits = 64;

/// It appears in lines of the log.
Form<std::string> token_name() {
    auto const accept = [](std::string const& name, std::string& why) {
        constexpr std::string_view others = "-._@";
        auto const good = [&](char c) { return is_alpha(c) || is_digit(c) || others.find(c) != others.npos; };
        why = name.empty() ? "is empty" : name.size() > token_name_max ? "is longer than 64 bytes" : "has another character";
        return !name.empty() && name.size() <= token_name_max && std::ranges::all_of(name, good);
    };
    return checked("text", "a name", R"(write letters, digits and "-._@", such as "desk")", accept);
}

/// A fault does not repeat the value, which may be the token itself.
Form<std::string> token_digest() {
    constexpr char const* suggestion = "write the line that garner token prints; sha256sum prints such digits, too";
    auto read = [](Reader& reader, Json const& value, std::string& into) {
        if (!value.is_string()) return reader.fault("expects text, not " + kind_of(value), suggestion);
        auto const& digits = value.get_ref<std::string const&>();
        if (std::ranges::any_of(digits, [](char c) { return hex_value(c) < 0; }))
            return reader.fault("has a character that is no hexadecimal digit", suggestion);
        if (digits.size() != digest_digits)
            return reader.fault("has " + std::to_string(digits.size()) + " digits, and a SHA-256 has 64", suggestion);
        into = lower_case(digits);
        return true;
    };
    auto describe = []() -> Description { return type_schema("string").text("pattern", "^[0-9A-Fa-f]{64}$"); };
    return {"text", std::move(describe), std::move(read), nullptr};
}

/// Two tokens of one name could not be told apart in the log; two of one digest could have two roles.
void check_unique(Reader& reader, Json const& list, char const* member, char const* what) {
    std::set<std::string> before;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!list[i].is_object() || !list[i].contains(member) || !list[i][member].is_string()) continue;
        if (!before.insert(lower_case(list[i][member].get_ref<std::string const&>())).second)
            reader.fault({"tokens", i, member}, std::string("is also the ") + what + " of another token", "make another token");
    }
}

void check_tokens(Reader& reader, Json const& value, Admin&) {
    if (!value.contains("tokens") || !value["tokens"].is_array()) return;
    auto const& list = value["tokens"];
    if (list.size() > tokens_max)
        reader.fault({"tokens"}, "has more than " + std::to_string(tokens_max) + " tokens", "remove some");
    check_unique(reader, list, "name", "name");
    check_unique(reader, list, "sha256", "digest");
}

Form<Admin::Token> token() {
    return object_of<Admin::Token>({
        required(key<Admin::Token>("name", &Admin::Token::name, token_name(), "Name of the holder, for the log.")),
        key<Admin::Token>("role", &Admin::Token::role, choice({"viewer", "operator"}),
                          "A viewer may read; an operator may also purge and change."),
        required(key<Admin::Token>("sha256", &Admin::Token::sha256, token_digest(),
                                   "SHA-256 of the token, in hexadecimal digits. `garner token` makes a token and this line.")),
    });
}

}   // namespace

Form<Admin> admin() {
    return object_of<Admin>(
        {
            address_key<Admin>(
                endpoint(true), R"("127.0.0.1:3131")",
                "Address of the admin page, metrics and purges; empty: none. An address that is not on loopback needs "
                "`admin.tokens`."),
            key<Admin>("allow", &Admin::allow, list_of(network()),
                       "Networks that may use the admin address, in addition to loopback."),
            key<Admin>("names", &Admin::names, list_of(host_name()),
                       "Names and addresses that Host may have in addition to the admin address itself, such as a DNS name, or "
                       "`localhost` behind an ssh forward. Requests with others are rejected."),
            key<Admin>(
                "tokens", &Admin::tokens, list_of(token()),
                "Tokens of the viewers and operators of the admin address. Without tokens each client that reaches it may do "
                "everything."),
        },
        check_tokens);
}

}   // namespace garner::config
