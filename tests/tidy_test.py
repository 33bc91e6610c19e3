#!/usr/bin/env python3
"""tidy.py sees each bad shape, and leaves the good ones alone."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tidy  # noqa: E402


def faults(path, text):
    return [fault for _, fault in tidy.check(pathlib.Path(path), text)]


def function(lines, head="int f() {"):
    return "\n".join([head, *["    g();"] * (lines - 2), "}"]) + "\n"


class Layers(unittest.TestCase):
    def test_a_folder_may_include_what_is_below_it_only(self):
        for folder, included, allowed in [
                ("routing", "protocol", True), ("routing", "config", True), ("routing", "proxy", False),
                ("protocol", "config", False), ("config", "protocol", False), ("metrics", "metrics", True),
                ("proxy", "migration", True), ("migration", "proxy", False), ("tests", "proxy", True)]:
            with self.subTest(folder=folder, included=included):
                found = faults(f"{folder}/a.cpp", f'#include "{included}/b.hpp"\n')
                self.assertEqual(found, [] if allowed else [f"{folder} may not include {included}"])

    def test_headers_of_others_stay_with_their_owners(self):
        for path, header, allowed in [
                ("proxy/a.cpp", "boost/asio/post.hpp", True), ("routing/a.cpp", "boost/asio/post.hpp", False),
                ("routing/a.hpp", "boost/beast/http.hpp", False), ("protocol/a.cpp", "boost/system/result.hpp", True),
                ("protocol/scram.cpp", "openssl/evp.h", True), ("routing/a.cpp", "openssl/evp.h", False),
                ("proxy/http/page.cpp", "boost/json.hpp", True), ("proxy/console/a.cpp", "boost/json.hpp", False),
                ("migration/a.cpp", "boost/json.hpp", True), ("config/a.cpp", "boost/json.hpp", False),
                ("routing/a.cpp", "pg_query.h", True), ("migration/rewrite.cpp", "pg_query/pg_query.pb-c.h", True),
                ("migration/runner.cpp", "pg_query.h", False), ("proxy/a.cpp", "pg_query.h", False),
                ("proxy/monitor.cpp", "libpq-fe.h", True), ("proxy/monitor/probe.cpp", "postgresql/libpq-fe.h", True),
                ("proxy/libpq.hpp", "libpq-fe.h", True), ("proxy/worker.cpp", "libpq-fe.h", False), ("config/loader.cpp", "yaml-cpp/yaml.h", True),
                ("proxy/a.cpp", "yaml-cpp/yaml.h", False), ("metrics/a.cpp", "prometheus/registry.h", True),
                ("proxy/a.cpp", "prometheus/registry.h", False), ("proxy/a.cpp", "spdlog/spdlog.h", True),
                ("routing/a.cpp", "spdlog/spdlog.h", False), ("proxy/main.cpp", "CLI/CLI.hpp", True),
                ("config/a.cpp", "CLI/CLI.hpp", False), ("tests/unit/a.cpp", "libpq-fe.h", True)]:
            with self.subTest(path=path, header=header):
                self.assertEqual(len(faults(path, f"#include <{header}>\n")), 0 if allowed else 1)


class Coroutines(unittest.TestCase):
    BAD = [
        "x = co_await f(options{1});", "co_await f({a, b});", "co_await f([s] { g(s); });",
        "co_await f([s = std::move(x)]() { });", "co_await f(c ? a : b);", "y = c ? co_await a() : co_await b();",
        "if ((co_await a()) == 1 && (co_await b()) == 1) {", "options o{.name = co_await f()};",
        "options o{.a = 1,\n    .name = co_await f()};"]
    GOOD = [
        "co_await f(named);", "co_await f(std::move(named));", "co_await f(std::string(\"a\"));",
        "co_await f([&] { g(); });", "co_await f([this] { g(); });", "const auto [ec, n] = co_await s.read(b, t);",
        "if (auto x = co_await f(); x) {", "co_await f(options{});",
        "into.error = co_await f();", "// co_await f({a, b});"]

    def test_shapes_that_gcc_12_miscompiles(self):
        for statement in self.BAD:
            with self.subTest(statement=statement):
                self.assertNotEqual(faults("proxy/a.cpp", f"void f() {{\n    {statement}\n    return;\n}}\n"), [])

    def test_shapes_that_are_right(self):
        for statement in self.GOOD:
            with self.subTest(statement=statement):
                self.assertEqual(faults("proxy/a.cpp", f"void f() {{\n    {statement}\n    return;\n}}\n"), [])


class Lengths(unittest.TestCase):
    def test_files_have_400_lines_at_most(self):
        for name in ("proxy/a.cpp", "tests/a.py", "tests/a.sh"):
            with self.subTest(name=name):
                self.assertEqual(faults(name, "\n" * 400), [])
                self.assertEqual(faults(name, "\n" * 401), ["401 lines, limit 400"])
        self.assertEqual(faults("tests/run", "#!/bin/bash\n" + "\n" * 400), ["401 lines, limit 400"])
        self.assertEqual(faults("docs/a.md", "\n" * 1000), [])

    def test_functions_have_60_lines_at_most(self):
        heads = ["int f() {", ") {", ") noexcept {", "auto a::b() const -> result<int> {", 'TEST_CASE("x") {']
        for head in heads:
            with self.subTest(head=head):
                self.assertEqual(faults("proxy/a.cpp", function(60, head)), [])
                self.assertEqual(faults("proxy/a.cpp", function(61, head)), ["function of 61 lines, limit 60"])
        for head in ("namespace weir {", "struct a {", "class b final : public c {", "constexpr int t[] = {"):
            with self.subTest(head=head):
                self.assertEqual(faults("proxy/a.cpp", function(99, head)), [])
        body = "    pass\n" * 60
        self.assertEqual(faults("tests/a.py", f"def f():\n{body}"), ["function of 61 lines, limit 60"])
        self.assertEqual(faults("tests/a.py", f"def f():\n{body[:-9]}"), [])


class Texts(unittest.TestCase):
    def test_words_and_places_that_must_not_be_there(self):
        bad = ["// TO" "DO later", "# FIX" "ME", "<!-- XX" "X -->", "HA" "CK: why", "cp /ro" "ot/x y",
               "see /ho" "me/anna/src", "cd /wo" "rk/main", "http://de" "b.debian.org/debian"]
        for line in bad:
            for path in ("proxy/a.hpp", "docs/a.md", "tests/a.py", "cmake/a.cmake"):
                with self.subTest(line=line, path=path):
                    text = f"'''{line}'''\n" if path.endswith("py") else line + "\n"
                    self.assertEqual(len(faults(path, text)), 1)

    def test_what_only_looks_like_it(self):
        for line in ("mktemp -d a.XXXXXX", "$d/work/x", "tests/root/a", "a hackathon", "/etc/pgweir.yaml", "XX000"):
            with self.subTest(line=line):
                self.assertEqual(faults("docs/a.md", line + "\n"), [])


class Tree(unittest.TestCase):
    def test_finds_scripts_without_a_suffix_and_skips_what_is_built(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for path, text in [("tests/run", "#!/bin/bash\n"), ("tests/data", "\0\1"), ("build/a.cpp", "int a;\n"),
                               ("proxy/a.cpp", "int a;\n"), ("README.md", "hello\n"), (".git/a.py", "\n")]:
                (root / path).parent.mkdir(exist_ok=True)
                (root / path).write_text(text)
            found = [path.as_posix() for path in tidy.sources(root)]
            self.assertEqual(found, ["README.md", "proxy/a.cpp", "tests/run"])


if __name__ == "__main__":
    unittest.main()
