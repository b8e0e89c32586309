// The forms in which a batch of links comes: lines of text, a list in JSON, fingerprints.
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

/// Takes a body piece by piece, however it is cut, in bounded memory.
class BodyReader {
public:
    virtual ~BodyReader() = default;
    /// False once the rest is not worth reading: the body is broken, or the batch is full.
    virtual bool read(std::string_view piece) = 0;
    /// After the last piece. Fails if this is no such body at all; then nothing of it counts.
    virtual Result<void> finish() = 0;
};

struct BodyForm {
    ReplyForm answer;   // in which it is answered, unless another is asked for
    std::unique_ptr<BodyReader> (*make)(LinkSorter& to);
};

/// By Content-Type: nullptr when there is no such form. Without one it is text, and so is what HTML forms send: curl says
/// that of anything.
BodyForm const* body_form(std::string_view content_type);

/// By Accept (RFC 9110 12.5.1): the one it wants most, of equals the first; nothing when it names none: then it is as the
/// body's.
std::optional<ReplyForm> asked_form(std::string_view accept);

}   // namespace garner::seen
