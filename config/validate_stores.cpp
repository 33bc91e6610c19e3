#include "config/names.hpp"
#include "config/scalar.hpp"
#include "config/validate.hpp"

#include <algorithm>

namespace weir::config {

namespace {

// "http://host", with a port and a path if one likes. No user, query or fragment: they would be
// lost, and a password would show.
bool is_http_url(std::string_view url) {
    const auto scheme = url.find("://");
    const auto known = url.starts_with("http://") || url.starts_with("https://");
    if (!known || url.find_first_of("@?# \t\"<>{}") != std::string_view::npos) {
        return false;
    }
    const auto address = url.substr(scheme + 3);
    const auto host = address.substr(0, address.find('/'));
    const auto has_port = host.find(':') != std::string_view::npos && host.back() != ']';
    return !host.empty() && (!has_port || parse_host_port(host).has_value());
}

class store_check {
public:
    store_check(const store& one, diagnostics& out)
        : path_("stores." + one.name),
          type_(" of type " + std::string(to_string(one.type))),
          one_(one),
          out_(out) {}

    void run() {
        if (out_.broken(path_) || out_.broken(path_ + ".type")) {
            return;
        }
        const auto postgres = one_.type == store_type::postgres;
        belongs("url", one_.url, !postgres, "host and database");
        belongs("api_key", one_.api_key, !postgres, "user and password");
        for (const auto& [name, given] :
             {std::pair{"host", &one_.host},
              {"database", &one_.database},
              {"user", &one_.user},
              {"password", &one_.password}}) {
            belongs(name, *given, postgres, "url and api_key");
        }
        needs("url", one_.url, !postgres);
        needs("api_key", one_.api_key, one_.type == store_type::turbopuffer);
        needs("host", one_.host, postgres);
        needs("database", one_.database, postgres);
        needs("user", one_.user, postgres);
        check_url();
        check_pem_file(path_ + ".ca", one_.ca, out_);
        check_tls();
    }

private:
    void belongs(
        const std::string& name,
        const std::string& given,
        bool right,
        const std::string& instead
    ) {
        if (!given.empty() && !right) {
            const auto own = path_ + "." + name;
            out_.report(own, own + " is nothing for a store" + type_ + "; expected " + instead);
        }
    }

    void needs(const std::string& name, const std::string& given, bool needed) {
        const auto own = path_ + "." + name;
        if (needed && given.empty() && !out_.broken(own)) {
            out_.report(path_, own + " is missing; a store" + type_ + " needs it");
        }
    }

    void check_url() {
        const auto own = path_ + ".url";
        if (!one_.url.empty() && !out_.broken(own) && !is_http_url(one_.url)) {
            out_.report(
                own,
                own +
                    " is no address of a server; expected http:// or https://, a host, and "
                    "perhaps a port and a path"
            );
        }
    }

    void check_tls() {
        const auto verifies = one_.tls == tls_mode::verify_ca || one_.tls == tls_mode::verify_full;
        const auto own = path_ + ".tls";
        if (out_.broken(own)) {
            return;
        }
        if (one_.type != store_type::postgres && one_.tls != tls_mode::disable) {
            belongs("tls", "given", false, "a url with https://");
        } else if (verifies && one_.ca.empty()) {
            out_.report(
                own,
                own + " " + std::string(to_string(one_.tls)) +
                    " needs to know whom to trust; expected ca"
            );
        }
    }

    std::string path_;
    std::string type_;
    const store& one_;
    diagnostics& out_;
};

}  // namespace

void validate_stores(const config& c, diagnostics& out) {
    for (const auto& one : c.stores) {
        store_check(one, out).run();
    }
}

}  // namespace weir::config
