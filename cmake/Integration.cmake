# Integration tests: the cluster they share and what they find in their environment.
#
# ctest starts the cluster before the first test that requires the fixture `cluster` and destroys it after the
# last. Its data lies in a temporary folder that the servers' user can reach; the note tells where.
set(WEIR_CLUSTER_TOOL "${PROJECT_SOURCE_DIR}/tests/cluster/cluster.py")
set(WEIR_CLUSTER_NOTE "${PROJECT_BINARY_DIR}/test-cluster.json")
add_test(NAME integration.cluster.start COMMAND "${WEIR_CLUSTER_TOOL}"
  start --replace --replicas 2 --tls --note "${WEIR_CLUSTER_NOTE}")
add_test(NAME integration.cluster.destroy COMMAND "${WEIR_CLUSTER_TOOL}"
  --cluster "${WEIR_CLUSTER_NOTE}" destroy)
set_tests_properties(integration.cluster.start PROPERTIES FIXTURES_SETUP cluster)
set_tests_properties(integration.cluster.destroy PROPERTIES FIXTURES_CLEANUP cluster)
set_tests_properties(integration.cluster.start integration.cluster.destroy PROPERTIES
  LABELS integration TIMEOUT 120)

# One at a time (RESOURCE_LOCK), because they pause, delay and kill the same servers.
set(WEIR_INTEGRATION_PROPERTIES LABELS integration FIXTURES_REQUIRED cluster RESOURCE_LOCK cluster TIMEOUT 600)
set(WEIR_INTEGRATION_ENVIRONMENT
  "PGWEIR_TEST_CLUSTER=${WEIR_CLUSTER_NOTE}"
  "PGWEIR_CLUSTER_TOOL=${WEIR_CLUSTER_TOOL}"
  "PGWEIR_BIN=$<TARGET_FILE:pgweir>"
  "PGWEIR_BUILD_DIR=${PROJECT_BINARY_DIR}")

# weir_add_integration_script(<name> COMMAND …): a program that is one test, in any language.
function(weir_add_integration_script name)
  add_test(NAME integration.${name} ${ARGN})
  set_tests_properties(integration.${name} PROPERTIES ${WEIR_INTEGRATION_PROPERTIES}
    ENVIRONMENT "${WEIR_INTEGRATION_ENVIRONMENT}")
endfunction()

# weir_add_integration_tests(SOURCES … LIBRARIES …): the executable integration_tests, every case a ctest.
# The properties are set by a file that ctest reads after the one with the discovered names, since their
# values are lists, which doctest_discover_tests cannot hand on.
function(weir_add_integration_tests)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "SOURCES;LIBRARIES")
  add_executable(integration_tests ${arg_SOURCES})
  target_link_libraries(integration_tests PRIVATE ${arg_LIBRARIES})
  weir_test_options(integration_tests)
  add_dependencies(integration_tests pgweir)
  doctest_discover_tests(integration_tests TEST_PREFIX "integration." PROPERTIES LABELS integration)
  set(properties "${CMAKE_CURRENT_BINARY_DIR}/integration_properties.cmake")
  list(JOIN WEIR_INTEGRATION_PROPERTIES " " common)
  file(GENERATE OUTPUT "${properties}" CONTENT "\
if(integration_tests_TESTS)
  set_tests_properties(\${integration_tests_TESTS} PROPERTIES ${common}
    ENVIRONMENT \"${WEIR_INTEGRATION_ENVIRONMENT}\")
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${properties}")
endfunction()
