// A client's first packets and its side of a SCRAM exchange, and a server's side of one: whatever
// comes, nobody gets in without the password, and nothing is read outside of what came.
#include "protocol/md5.hpp"
#include "protocol/print.hpp"
#include "protocol/saslprep.hpp"
#include "protocol/scram_client.hpp"
#include "protocol/scram_server.hpp"
#include "protocol/startup.hpp"
#include "protocol/startup_options.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <string>
#include <vector>

namespace weir::fuzz {
namespace {

using namespace protocol;

void first_packets(byte_span bytes) {
    (void)first_packet_size(bytes);
    (void)print_first_packet(bytes);
    const auto packet = decode_first_packet(bytes);
    if (!packet) {
        return;
    }
    if (const auto* cancel = std::get_if<cancel_request>(&*packet)) {
        claim(cancel->key.size() >= 4 && cancel->key.size() <= 256, "a key has its length");
    }
    const auto* asked = std::get_if<startup_message>(&*packet);
    if (asked == nullptr) {
        return;
    }
    claim(asked->user().size() <= 63 && asked->database().size() <= 63, "names are cut");
    (void)asked->wants_replication();
    const auto outcome = negotiate(*asked, 2);
    claim(outcome.version.minor <= 2, "nothing newer than what we know");
    std::vector<std::uint8_t> out;
    byte_writer writer(out);
    encode_negotiation(writer, outcome);
    if (const auto options = asked->parameter("options")) {
        (void)parse_startup_options(*options);
    }
}

// The keys cost milliseconds; these are of few iterations and made once.
const scram_keys& keys() {
    static const auto made = derive_keys("secret", "0123456789abcdef", 2).value();
    return made;
}

void exchange(input& from) {
    const auto flags = from.byte();
    scram_server server(
        {.verifier = keys().verifier,
         .genuine = (flags & 1) != 0,
         .nonce = "server-nonce",
         .plus_offered = (flags & 2) != 0,
         .plus_chosen = (flags & 6) == 6,
         .binding_data = "certificate"}
    );
    (void)server.first_message(from.text());
    claim(!server.final_message(from.text()).has_value(), "nobody gets in by chance");

    scram_client client("client-nonce");
    (void)client.first_message();
    const auto challenge = client.read_challenge(from.text());
    if (challenge) {
        claim(challenge->iterations <= scram_max_iterations, "nobody makes us work for ever");
        claim(challenge->salt.size() <= scram_max_salt, "a salt has its length");
        (void)client.final_message(keys());
    }
    claim(!!client.check_server(from.text()), "no server is believed by chance");
}

}  // namespace
}  // namespace weir::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace weir::fuzz;
    input from({data, size});
    if ((from.byte() & 1) != 0) {
        first_packets(from.rest());
        return 0;
    }
    exchange(from);
    const auto text = from.text();
    (void)prepare_password(text);
    (void)scram_verifier::parse(text);
    (void)is_md5_secret(text);
    (void)parse_startup_options(text);
    return 0;
}
