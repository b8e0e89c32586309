// The formats of a batch of links: lines of text, a list in JSON, fingerprints.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "seen/link_status.hpp"
#include "seen/batch.hpp"
#include "util/result.hpp"

namespace garner::seen {

/// Takes a body in pieces of any size. Its memory is bounded.
class BodyReader {
public:
    virtual ~BodyReader() = default;
    /// False: the rest need not be read, because the body is malformed or the batch is full.
    virtual bool read(std::string_view piece) = 0;
    /// Call after the last piece. Fails if the body is malformed; the caller must discard the batch then.
    virtual Result<void> finish() = 0;
};

struct BodyForm {
    ReplyForm answer;   // the form of the reply, unless Accept names another
    std::unique_ptr<BodyReader> (*make)(LinkSorter& to);
};

/// The form for a Content-Type; nullptr: unknown. Without Content-Type, and for application/x-www-form-urlencoded, which curl
/// sends for any data, it is text.
BodyForm const* body_form(std::string_view content_type);

/// The form that Accept prefers (RFC 9110 12.5.1), the first of several with equal q. Nothing if it names none: then the reply
/// has the form of the body.
std::optional<ReplyForm> asked_form(std::string_view accept);

}   // namespace garner::seen
