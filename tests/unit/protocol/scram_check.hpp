// An exchange between both roles, with a hand on every message.
#pragma once

#include "protocol/scram_client.hpp"
#include "protocol/scram_message.hpp"
#include "protocol/scram_server.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <string>

namespace weir::protocol::test {

inline const std::string client_nonce = "rOprNGfwEbeRWgbNEkqO";
inline const std::string server_nonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";

inline constexpr std::uint32_t few = 2;  // iterations, where the count does not matter

inline scram_server_options
known_user(std::string_view password = "pencil", std::uint32_t iterations = few) {
    scram_server_options options;
    options.verifier = derive_keys(password, "0123456789abcdef", iterations)->verifier;
    options.nonce = server_nonce;
    return options;
}

inline scram_server challenged(const scram_server_options& options) {
    scram_server server(options);
    REQUIRE(server.first_message("n,,n=,r=" + client_nonce).has_value());
    return server;
}

struct exchange_outcome {
    error_code ec;  // the first error of either side
    // From 1, the message whose reader failed, or the maker of the answer to it; 0: none.
    std::size_t failed = 0;
    std::array<std::string, 4> messages;
    sha256_digest client_key{};
};

// Called with the number of each message, from 1, before it arrives.
using tamper = std::function<void(std::size_t number, std::string& message)>;

inline exchange_outcome run_exchange(
    scram_client client,
    scram_server server,
    const std::string& password,
    const tamper& change = {}
) {
    exchange_outcome outcome;
    const auto deliver = [&](std::size_t number, std::string message) {
        if (change) {
            change(number, message);
        }
        outcome.messages.at(number - 1) = message;
        return message;
    };
    const auto fail = [&](std::size_t number, error_code ec) {
        outcome.failed = number;
        outcome.ec = ec;
        return outcome;
    };
    const auto server_first = server.first_message(deliver(1, client.first_message()));
    if (!server_first) {
        return fail(1, server_first.error());
    }
    const auto challenge = client.read_challenge(deliver(2, *server_first));
    if (!challenge) {
        return fail(2, challenge.error());
    }
    const auto keys = derive_keys(password, challenge->salt, challenge->iterations);
    if (!keys) {
        return fail(2, keys.error());
    }
    const auto client_final = client.final_message(*keys);
    if (!client_final) {
        return fail(2, client_final.error());
    }
    const auto server_final = server.final_message(deliver(3, *client_final));
    if (!server_final) {
        return fail(3, server_final.error());
    }
    if (const auto check_ec = client.check_server(deliver(4, *server_final))) {
        return fail(4, check_ec);
    }
    outcome.client_key = server.client_key();
    return outcome;
}

}  // namespace weir::protocol::test
