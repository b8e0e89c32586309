#include "auth/negotiate_source.hpp"

#include <fcntl.h>
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "util/text.hpp"

namespace garner::auth {
namespace {

// ---- owners of GSS-API's objects (RFC 2744) ----

struct Context {
    gss_ctx_id_t id = GSS_C_NO_CONTEXT;
    Context() = default;
    Context(Context const&) = delete;
    Context& operator=(Context const&) = delete;
    ~Context() {
        OM_uint32 minor = 0;
        gss_delete_sec_context(&minor, &id, GSS_C_NO_BUFFER);
    }
};

struct Name {
    gss_name_t name = GSS_C_NO_NAME;
    Name() = default;
    Name(Name const&) = delete;
    Name& operator=(Name const&) = delete;
    ~Name() {
        OM_uint32 minor = 0;
        gss_release_name(&minor, &name);
    }
};

struct Buffer {
    gss_buffer_desc bytes = GSS_C_EMPTY_BUFFER;
    Buffer() = default;
    Buffer(Buffer const&) = delete;
    Buffer& operator=(Buffer const&) = delete;
    ~Buffer() {
        OM_uint32 minor = 0;
        gss_release_buffer(&minor, &bytes);
    }
    std::string_view view() const { return {static_cast<char const*>(bytes.value), bytes.length}; }
};

void append_status(OM_uint32 code, int type, gss_OID mechanism, std::string& out) {
    OM_uint32 more = 0, minor = 0;
    do {
        Buffer text;
        if (GSS_ERROR(gss_display_status(&minor, code, type, mechanism, &more, &text.bytes))) return;
        if (text.bytes.length > 0) out.append(out.empty() ? "" : ": ").append(text.view());
    } while (more != 0);
}

/// "Unspecified GSS failure...: Ticket expired"
std::string status_text(OM_uint32 major, OM_uint32 minor, gss_OID mechanism = GSS_C_NO_OID) {
    std::string text;
    append_status(major, GSS_C_GSS_CODE, GSS_C_NO_OID, text);
    if (minor != 0) append_status(minor, GSS_C_MECH_CODE, mechanism, text);
    return text;
}

bool is_kerberos(gss_OID mechanism) {
    return mechanism && mechanism->length == gss_mech_krb5->length &&
           std::string_view(static_cast<char const*>(mechanism->elements), mechanism->length) ==
               std::string_view(static_cast<char const*>(gss_mech_krb5->elements), gss_mech_krb5->length);
}

Verdict refused(std::string reason) { return {.kind = Verdict::Kind::wrong, .reason = std::move(reason)}; }

}   // namespace

std::string user_of_principal(std::string_view principal, std::string_view realm) {
    // A backslash precedes each `@` inside of the name.
    auto const at = principal.rfind('@');
    bool const is_local = at != npos && !realm.empty() && principal.substr(at + 1) == realm;
    return lower_case(is_local ? principal.substr(0, at) : principal);
}

struct NegotiateSource::Acceptor {
    gss_cred_id_t credential = GSS_C_NO_CREDENTIAL;
    ~Acceptor() {
        OM_uint32 minor = 0;
        gss_release_cred(&minor, &credential);
    }
};

NegotiateSource::NegotiateSource(std::unique_ptr<Acceptor> acceptor, NegotiateOptions options)
    : acceptor_(std::move(acceptor)), options_(std::move(options)) {}

NegotiateSource::~NegotiateSource() = default;

Result<std::unique_ptr<NegotiateSource>> NegotiateSource::load(NegotiateOptions const& options) {
    auto acceptor = std::make_unique<Acceptor>();
    auto const keytab = "FILE:" + options.keytab;
    gss_key_value_element_desc element{"keytab", keytab.c_str()};
    gss_key_value_set_desc const store{1, &element};
    // Without this choice a plugin for NTLM would be accepted as well.
    gss_OID_set_desc kerberos{1, gss_mech_krb5};
    gss_OID_desc spnego_oid{6, const_cast<char*>("\x2b\x06\x01\x05\x05\x02")};
    std::array<gss_OID_desc, 2> oids{*gss_mech_krb5, spnego_oid};
    gss_OID_set_desc both{oids.size(), oids.data()};
    OM_uint32 minor = 0;
    auto major = gss_acquire_cred_from(&minor, GSS_C_NO_NAME, GSS_C_INDEFINITE, &both, GSS_C_ACCEPT, &store, &acceptor->credential,
                                       nullptr, nullptr);
    if (!GSS_ERROR(major)) major = gss_set_neg_mechs(&minor, acceptor->credential, &kerberos);
    if (GSS_ERROR(major))
        return Fault{"cannot be used: " + status_text(major, minor, gss_mech_krb5),
                     "give garner read access to a keytab with the key of HTTP/HOST@REALM", options.keytab};
    return std::unique_ptr<NegotiateSource>(new NegotiateSource(std::move(acceptor), options));
}

Verdict NegotiateSource::check(Credentials const& credentials, WallTime now) {
    auto const token = credentials.secret.view();
    gss_buffer_desc input{token.size(), const_cast<char*>(token.data())};   // GSS-API reads it only
    Context context;
    Name client;
    Buffer reply, name;   // the reply is not sent: see docs/design/users.md
    gss_OID mechanism = GSS_C_NO_OID;
    OM_uint32 minor = 0, flags = 0, lifetime = 0;
    auto major = gss_accept_sec_context(&minor, &context.id, acceptor_->credential, &input, GSS_C_NO_CHANNEL_BINDINGS, &client.name,
                                        &mechanism, &reply.bytes, &flags, &lifetime, nullptr);
    if (GSS_ERROR(major)) return refused(status_text(major, minor, gss_mech_krb5));
    if ((major & GSS_S_CONTINUE_NEEDED) != 0) return refused("the client needs another round, which is not supported");
    if (!is_kerberos(mechanism)) return refused("the mechanism is not Kerberos");
    if ((flags & GSS_C_ANON_FLAG) != 0) return refused("the ticket is anonymous");
    major = gss_display_name(&minor, client.name, &name.bytes, nullptr);
    if (GSS_ERROR(major)) return refused(status_text(major, minor, gss_mech_krb5));
    auto const until = lifetime == GSS_C_INDEFINITE ? WallTime::max() : now + seconds{lifetime};
    return {.kind = Verdict::Kind::accepted, .facts = {.user = user_of_principal(name.view(), options_.realm), .until = until}};
}

Changes NegotiateSource::refresh() {
    int const descriptor = ::open(options_.keytab.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    auto const before =
        std::exchange(unreadable_, descriptor < 0 ? std::string("cannot be read: ") + std::strerror(errno) : std::string());
    if (descriptor >= 0) {
        ::close(descriptor);
        readable_ = wall_now();
    }
    Changes changes;
    if (!unreadable_.empty() && unreadable_ != before)
        changes.notices.push_back({unreadable_ + "; tickets are refused", "give garner read access to it", options_.keytab});
    return changes;
}

std::vector<Trouble> NegotiateSource::troubles() {
    if (unreadable_.empty()) return {};
    return {{Trouble::Kind::file, options_.keytab, unreadable_, "tickets are refused", "give garner read access to it", readable_}};
}

}   // namespace garner::auth
