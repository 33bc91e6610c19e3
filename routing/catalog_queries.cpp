#include "routing/catalog_queries.hpp"

#include <array>

namespace weir::routing {

namespace {

// Objects made by initdb have oids below 16384.
#define WEIR_BUILT_IN(oid) oid " < 16384"

// Extensions whose stable functions are trusted too: they read nothing but their arguments and
// their own tables. Of other extensions only immutable compiled functions are. dblink, tablefunc
// and xml2, whose functions run SQL texts given to them, must never stand here.
#define WEIR_TRUSTED_EXTENSIONS                                                                 \
    "('vector','vchord','pg_trgm','citext','hstore','ltree','cube','earthdistance','intarray'," \
    "'isn','seg','unaccent','fuzzystrmatch','btree_gin','btree_gist','pgcrypto','uuid-ossp',"   \
    "'postgis')"

// The origin of the function p.
#define WEIR_ORIGIN                                                                          \
    "case when " WEIR_BUILT_IN("p.oid"                                                       \
    ) " then 'b' when exists (select from pg_depend d "                                      \
      "join pg_extension e on e.oid = d.refobjid where d.classid = 'pg_proc'::regclass "     \
      "and d.objid = p.oid and d.refclassid = 'pg_extension'::regclass and d.deptype = 'e' " \
      "and (e.extname in " WEIR_TRUSTED_EXTENSIONS                                           \
      " or (p.provolatile = 'i' and p.prolang in "                                           \
      "(select oid from pg_language where lanname in ('c', 'internal'))))) then 'e' else 'u' end"

// Types whose own code may not be trusted, and domains and arrays over them. A base type is judged
// by its input function; a range by its subtype and canonical function; a composite type by its
// columns.
#define WEIR_CUSTOM_TYPES                                                                        \
    "with recursive custom(oid) as (select t.oid from pg_type t join pg_proc p on p.oid = "      \
    "t.typinput where t.oid >= 16384 and (t.typtype = 'b' and " WEIR_ORIGIN                      \
    " = 'u' "                                                                                    \
    "or t.typtype in ('r', 'm') and exists (select from pg_range r where t.oid in "              \
    "(r.rngtypid, r.rngmultitypid) and (r.rngsubtype >= 16384 or r.rngcanonical <> 0)) "         \
    "or t.typtype = 'c' and exists (select from pg_attribute a where a.attrelid = t.typrelid "   \
    "and a.attnum > 0 and not a.attisdropped and a.atttypid >= 16384)) "                         \
    "union select t.oid from custom c join pg_type t on c.oid = case when t.typtype = 'd' then " \
    "t.typbasetype when t.typinput = 'array_in'::regproc then t.typelem else 0 end) "

constexpr std::string_view functions_sql =
    "select distinct n.nspname, p.proname, p.provolatile, " WEIR_ORIGIN
    " from pg_proc p join pg_namespace n on n.oid = p.pronamespace";

constexpr std::string_view operators_sql =
    "select distinct n.nspname, o.oprname, fn.nspname, p.proname, p.provolatile, " WEIR_ORIGIN
    " from pg_operator o join pg_namespace n on n.oid = o.oprnamespace "
    "join pg_proc p on p.oid = o.oprcode join pg_namespace fn on fn.oid = p.pronamespace";

// Row types of tables are left out: a cast to one is unknown, which means the primary.
constexpr std::string_view types_sql = WEIR_CUSTOM_TYPES
    "select n.nspname, t.typname, exists (select from custom c where c.oid = t.oid), "
    "coalesce(bn.nspname, ''), coalesce(b.typname, '') "
    "from pg_type t join pg_namespace n on n.oid = t.typnamespace "
    "left join pg_type b on b.oid = t.typbasetype and t.typtype = 'd' "
    "left join pg_namespace bn on bn.oid = b.typnamespace "
    "where t.typtype <> 'c' or exists (select from pg_class c where c.oid = t.typrelid "
    "and c.relkind = 'c')";

constexpr std::string_view domain_checks_sql =
    "select n.nspname, t.typname, pg_get_expr(c.conbin, 0) from pg_constraint c "
    "join pg_type t on t.oid = c.contypid join pg_namespace n on n.oid = t.typnamespace "
    "where c.contypid <> 0 and c.contype = 'c'";

// Casts with code of users, and operator classes of users that are a type's default (ORDER BY,
// GROUP BY and DISTINCT use those unasked, so they count like implicit casts).
constexpr std::string_view casts_sql =
    "select k.castcontext, tn.nspname, t.typname, fn.nspname, p.proname from pg_cast k "
    "join pg_type t on t.oid = k.casttarget join pg_namespace tn on tn.oid = t.typnamespace "
    "join pg_proc p on p.oid = k.castfunc join pg_namespace fn on fn.oid = p.pronamespace "
    "where k.oid >= 16384 and " WEIR_ORIGIN
    " = 'u' "
    "union all select 'i', n.nspname, o.opcname, fn.nspname, p.proname from pg_opclass o "
    "join pg_namespace n on n.oid = o.opcnamespace join pg_am m on m.oid = o.opcmethod "
    "join pg_amproc a on a.amprocfamily = o.opcfamily and a.amproclefttype = o.opcintype "
    "join pg_proc p on p.oid = a.amproc join pg_namespace fn on fn.oid = p.pronamespace "
    "where o.oid >= 16384 and o.opcdefault and o.opcintype < 16384 "
    "and m.amname in ('btree', 'hash') and " WEIR_ORIGIN " = 'u'";

constexpr std::string_view relations_sql = WEIR_CUSTOM_TYPES
    "select n.nspname, c.relname, c.relkind, c.relpersistence, exists (select from pg_attribute a "
    "join custom k on k.oid = a.atttypid where a.attrelid = c.oid and a.attnum > 0 "
    "and not a.attisdropped) from pg_class c join pg_namespace n on n.oid = c.relnamespace "
    "where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S', 't') and c.relpersistence <> 't'";

constexpr std::string_view views_sql =
    "select n.nspname, c.relname, pg_get_viewdef(c.oid) from pg_class c "
    "join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'v' and c.relpersistence <> "
    "'t'";

constexpr std::string_view policies_sql =
    "select n.nspname, c.relname, pg_get_expr(p.polqual, p.polrelid) from pg_policy p "
    "join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace "
    "where c.relrowsecurity and p.polqual is not null and p.polcmd in ('r', '*')";

constexpr std::string_view inheritance_sql =
    "select pn.nspname, p.relname, cn.nspname, c.relname from pg_inherits i "
    "join pg_class p on p.oid = i.inhparent join pg_namespace pn on pn.oid = p.relnamespace "
    "join pg_class c on c.oid = i.inhrelid join pg_namespace cn on cn.oid = c.relnamespace "
    "where p.relkind in ('r', 'p', 'f') and p.relpersistence <> 't'";

// `items.total` calls total(items) when there is no such column, so nobody sees it in the text.
constexpr std::string_view row_functions_sql =
    "select n.nspname, c.relname, fn.nspname, p.proname from pg_proc p "
    "join pg_namespace fn on fn.oid = p.pronamespace join pg_type t on t.oid = p.proargtypes[0] "
    "join pg_class c on c.oid = t.typrelid join pg_namespace n on n.oid = c.relnamespace "
    "where p.pronargs >= 1 and p.pronargs - p.pronargdefaults <= 1 and t.typtype = 'c' "
    "and c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relpersistence <> 't' and " WEIR_ORIGIN
    " = 'u'";

#define WEIR_SUM(table, where)                                                      \
    "(select count(*)::text || ',' || coalesce(sum(hashint8((oid::bigint << 32) | " \
    "xmin::text::bigint)::bigint), 0) from " table where ")"

constexpr std::string_view version_sql =
    "select " WEIR_SUM("pg_proc", "") " || ';' || " WEIR_SUM("pg_operator", "") " || ';' || "
    WEIR_SUM("pg_cast", "") " || ';' || " WEIR_SUM("pg_opclass", "") " || ';' || "
    WEIR_SUM("pg_policy", "") " || ';' || " WEIR_SUM("pg_extension", "") " || ';' || "
    WEIR_SUM("pg_namespace", " where nspname !~ '^pg_(toast_)?temp_'") " || ';' || "
    WEIR_SUM("pg_constraint", " where contypid <> 0") " || ';' || "
    WEIR_SUM("pg_class", " where relpersistence <> 't'") " || ';' || "
    WEIR_SUM("pg_type", " where typtype <> 'c' and typelem = 0") " || ';' || "
    WEIR_SUM("pg_rewrite", " where rulename = '_RETURN' and ev_class in (select oid from pg_class "
             "where relpersistence <> 't')");

#undef WEIR_SUM
#undef WEIR_CUSTOM_TYPES
#undef WEIR_ORIGIN
#undef WEIR_TRUSTED_EXTENSIONS
#undef WEIR_BUILT_IN

constexpr std::array queries{
    catalog_query{catalog_rows::functions, 4, functions_sql},
    catalog_query{catalog_rows::operators, 6, operators_sql},
    catalog_query{catalog_rows::types, 5, types_sql},
    catalog_query{catalog_rows::domain_checks, 3, domain_checks_sql},
    catalog_query{catalog_rows::casts, 5, casts_sql},
    catalog_query{catalog_rows::relations, 5, relations_sql},
    catalog_query{catalog_rows::views, 3, views_sql},
    catalog_query{catalog_rows::policies, 3, policies_sql},
    catalog_query{catalog_rows::inheritance, 4, inheritance_sql},
    catalog_query{catalog_rows::row_functions, 4, row_functions_sql},
};

}  // namespace

std::string_view catalog_setup_sql() {
    return "SET search_path TO pg_catalog";
}

std::string_view catalog_version_sql() {
    return version_sql;
}

std::span<const catalog_query> catalog_queries() {
    return queries;
}

}  // namespace weir::routing
