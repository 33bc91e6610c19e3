// The bodies of Boost.JSON, compiled once for what links weir_migration.
#include <boost/json/src.hpp>
