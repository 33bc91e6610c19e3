// A value is the same whether it comes from the stream, from a binary SELECT, or as text.
#include "migration/capture/row_select.hpp"
#include "migration/value_codec.hpp"
#include "migration/vector_codec.hpp"
#include "tests/migration/capture_tools.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace weir::migration {

using test::captured;

namespace {

// A column for each type, named after it.
std::vector<column> all_types() {
    using kind = value_kind;
    return {
        {"a_int2", kind::integer, "smallint"},
        {"a_int4", kind::integer, "integer"},
        {"a_int8", kind::integer, "bigint"},
        {"a_float4", kind::real, "real"},
        {"a_float8", kind::real, "double precision"},
        {"a_numeric", kind::numeric, "numeric"},
        {"a_money", kind::numeric, "numeric(10,2)"},
        {"a_text", kind::text, "text"},
        {"a_varchar", kind::text, "character varying(20)"},
        {"a_bpchar", kind::text, "character(5)"},
        {"a_name", kind::text, "name"},
        {"a_mood", kind::text, "mood"},
        {"a_bool", kind::boolean, "boolean"},
        {"a_uuid", kind::uuid, "uuid"},
        {"a_timestamp", kind::timestamp, "timestamp without time zone"},
        {"a_timestamptz", kind::timestamp, "timestamp with time zone"},
        {"a_date", kind::date, "date"},
        {"a_json", kind::json, "json"},
        {"a_jsonb", kind::json, "jsonb"},
        {"a_domain", kind::integer, "positive"}};
}

plan wide_plan() {
    auto what = test::captured_plan(3);
    what.layout.attributes = all_types();
    what.tenant.reset();
    return what;
}

std::string wide_table() {
    std::string text =
        "DROP DOMAIN IF EXISTS public.positive; DROP TYPE IF EXISTS public.mood;"
        "CREATE TYPE mood AS ENUM ('glad', 'a \"quoted\" one');"
        "CREATE DOMAIN positive AS int CHECK (value > 0);"
        "CREATE TABLE captured (id bigint PRIMARY KEY, e vector(3)";
    for (const auto& column : all_types()) {
        text += ", " + column.name + ' ' + column.type;
    }
    return text + ')';
}

const char* const rows = R"(
INSERT INTO captured VALUES
 (1, '[0.1,-2e-10,3.4e38]', 1, -2, 3, 0.1, 0.1, 12.340, 5, 'ä "quoted" \ text', 'varchar', 'ab',
  'name', 'a "quoted" one', true, 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
  '2024-02-29 12:34:56.789', '2024-02-29 12:34:56.789+05:30', '2024-02-29',
  ' {"b": 1,  "a": [1.50]}', ' {"b": 1,  "a": [1.50]}', 7),
 (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL),
 (3, '[0,-0,1]', -32768, -2147483648, -9223372036854775808, '-Infinity', 'NaN', 'NaN', -0.01, '', '',
  '', '', 'glad', false, '00000000-0000-0000-0000-000000000000', 'infinity', '-infinity',
  '-infinity', '"\u00e4"', '"\u00e4"', 1),
 (4, '[1e-45,1,1]', 32767, 2147483647, 9223372036854775807, 3.4028235e38, 5e-324, 1e130, 99999999.99,
  repeat('long ', 2000), 'x', 'abcde', 'n', 'glad', true, 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '4714-11-24 00:00:00 BC', '1900-01-01 00:00:00.000001+00', '0044-03-15 BC', 'null', 'null', 2),
 (5, '[1,1,1]', 0, 0, 0, '-0', 1e308, -0.000000123400, 0, 'a', 'b', 'c', 'd', 'glad', true,
  'ffffffff-ffff-ffff-ffff-ffffffffffff', '12024-02-29 23:59:59.999999', '1969-12-31 23:59:59.5+00',
  '5874-01-01', '[]', '[]', 3))";

bool same(const value& left, const value& right) {
    const auto* one = std::get_if<double>(&left);
    const auto* two = std::get_if<double>(&right);
    if (one != nullptr && two != nullptr && std::isnan(*one)) {
        return std::isnan(*two);
    }
    return left == right;
}

}  // namespace

TEST_SUITE_BEGIN("migration.capture_values");

TEST_CASE("the stream and a binary SELECT and texts give identical values") {
    captured at(wide_table(), wide_plan());
    at.run(rows);
    const auto streamed = at.changes();
    REQUIRE(streamed.size() == 5);
    sql_session session;
    REQUIRE_FALSE(session.connect(test::capture_address()));
    at.run("SET TimeZone = 'Asia/Kathmandu'");
    for (const auto& each : streamed) {
        const auto& row = std::get<row_written>(each.what).row;
        CAPTURE(to_text(row.key));
        const std::vector<const key*> keys = {&row.key};
        const auto answer =
            session.run(select_by_key(at.what()), key_arrays(at.what(), keys), true);
        REQUIRE_MESSAGE(answer, answer.error->text);
        REQUIRE(answer.rows.size() == 1);
        const auto selected = read_row(at.what(), answer.rows, 0);
        REQUIRE_MESSAGE(selected.has_value(), selected.error());
        CHECK((selected->key == row.key));
        CHECK(selected->embedding == row.embedding);
        const auto texts = at.session().query(
            "SELECT " + row_columns(at.what()) + " FROM " + from_table(at.what()) +
            " WHERE id = " + to_text(row.key)
        );
        if (row.embedding) {
            CHECK(*read_vector_text(texts.at(0, 1)) == *row.embedding);
            CHECK(vector_text(*row.embedding) == texts.at(0, 1));
        }
        const auto columns = all_types();
        REQUIRE(row.attributes.size() == columns.size());
        REQUIRE(selected->attributes.size() == columns.size());
        for (std::size_t i = 0; i < columns.size(); ++i) {
            CAPTURE(columns[i].name);
            CHECK(same(selected->attributes[i], row.attributes[i]));
            const int field = static_cast<int>(i) + 2;
            if (texts.null_at(0, field)) {
                CHECK(is_null(row.attributes[i]));
                continue;
            }
            const auto text = texts.at(0, field);
            CAPTURE(text);
            const auto read =
                read_value(columns[i].kind, PQftype(texts.get(), field), value_format::text, text);
            REQUIRE(read.has_value());
            CHECK(same(*read, row.attributes[i]));
            if (columns[i].kind == value_kind::numeric || columns[i].kind == value_kind::text ||
                columns[i].kind == value_kind::json) {
                CHECK((row.attributes[i] == value(text)));
            }
        }
    }
    at.run("DROP TABLE captured; DROP DOMAIN positive; DROP TYPE mood");
}

TEST_CASE("a value as a parameter finds its row whatever its type and settings") {
    captured at(wide_table(), wide_plan());
    at.run(rows);
    const auto streamed = at.changes();
    REQUIRE(streamed.size() == 5);
    at.run("SET TimeZone = 'Asia/Kathmandu'; SET DateStyle = 'German'");
    for (const auto& each : streamed) {
        const auto& row = std::get<row_written>(each.what).row;
        CAPTURE(to_text(row.key));
        const auto columns = all_types();
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto text = parameter_text(columns[i].kind, row.attributes[i]);
            if (!text || columns[i].name == "a_json") {
                continue;
            }
            CAPTURE(columns[i].name);
            CAPTURE(*text);
            const auto found = at.session().query(
                "SELECT FROM captured WHERE id = $1 AND " + columns[i].name +
                    " = $2::" + columns[i].type,
                {to_text(row.key), *text}
            );
            CHECK(found.rows() == 1);
        }
    }
    at.run("DROP TABLE captured; DROP DOMAIN positive; DROP TYPE mood");
}

TEST_CASE("numeric of every size is the text that the server writes") {
    auto what = test::captured_plan(3);
    what.layout.attributes = {{.name = "n", .kind = value_kind::numeric, .type = "numeric"}};
    what.tenant.reset();
    captured at("CREATE TABLE captured (id bigserial PRIMARY KEY, e vector(3), n numeric)", what);
    at.run(
        "INSERT INTO captured (n) SELECT (s * 10::numeric ^ p * d)::numeric"
        " FROM unnest(ARRAY[-1, 1]) s, generate_series(-30, 30) p,"
        " unnest(ARRAY[1, 0.5, 1234, 99999999, 1.00000001, 7.000]) d;"
        "INSERT INTO captured (n) VALUES (0), (0.000), ('1e1000'), ('-1e-1000'), ('infinity'),"
        " ('-infinity'), (repeat('9', 500)::numeric)"
    );
    const auto streamed = at.changes();
    REQUIRE(streamed.size() == 2 * 61 * 6 + 7);
    const auto texts = at.session().query("SELECT n FROM captured ORDER BY id");
    int row = 0;
    for (const auto& each : streamed) {
        const auto& attributes = std::get<row_written>(each.what).row.attributes;
        REQUIRE((attributes.front() == value(texts.at(row++, 0))));
    }
}

TEST_SUITE_END();

}  // namespace weir::migration
