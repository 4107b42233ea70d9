# tfprof.cdx.json in the build folder: what the program consists of, as CycloneDX 1.6. A row a library: name, version, licence, and
# how it is used: always (linked), later (loaded where a command first needs it, linked in bundled builds), loaded (always so),
# bundled (linked in bundled builds alone), static (in static ones).
include(GNUInstallDirs)
pkg_check_modules(snappy QUIET snappy)
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE libc OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "glibc " "" libc "${libc}")
set(tfprof_libraries
  "libprotobuf-c|${libprotobuf_c_VERSION}|BSD-2-Clause|always"
  "lua|${lua5_4_VERSION}|MIT|always"
  "pcre2|${libpcre2_8_VERSION}|BSD-3-Clause|always"
  "zlib|${zlib_VERSION}|Zlib|always"
  "isa-l|${libisal_VERSION}|BSD-3-Clause|always"
  "igraph|${igraph_VERSION}|GPL-2.0-or-later|later"
  "snappy|${snappy_VERSION}|BSD-3-Clause|later"
  "libedit|${libedit_VERSION}|BSD-3-Clause|loaded"
  "libmicrohttpd|${libmicrohttpd_VERSION}|LGPL-2.1-or-later|loaded"
  "nghttp2|${libnghttp2_VERSION}|MIT|loaded"
  "openssl|${libssl_VERSION}|Apache-2.0|loaded"
  "libstdc++|${CMAKE_C_COMPILER_VERSION}|GPL-3.0-or-later WITH GCC-exception-3.1|bundled"
  "glibc|${libc}|LGPL-2.1-or-later|static")

# Linked and needed, loaded where it is there, or no part of this build.
function(tfprof_sbom_scope use scope)
  set(${scope} excluded PARENT_SCOPE)
  if(use STREQUAL "always" OR (use STREQUAL "static" AND TFPROF_STATIC) OR (use MATCHES "later|bundled" AND TFPROF_BUNDLED))
    set(${scope} required PARENT_SCOPE)
  elseif(use MATCHES "later|loaded" AND NOT TFPROF_STATIC)
    set(${scope} optional PARENT_SCOPE)
  endif()
endfunction()

set(components "")
set(references "")
foreach(row IN LISTS tfprof_libraries)
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 name)
  list(GET row 1 version)
  list(GET row 2 license)
  list(GET row 3 use)
  tfprof_sbom_scope(${use} scope)
  if(version STREQUAL "" OR scope STREQUAL "excluded") # isa-l is an option
    continue()
  endif()
  string(APPEND components "${separator}\n    { \"type\": \"library\", \"bom-ref\": \"${name}\", \"name\": \"${name}\", \"version\": \"${version}\",\n"
    "      \"scope\": \"${scope}\", \"purl\": \"pkg:generic/${name}@${version}\", \"licenses\": [ { \"expression\": \"${license}\" } ] }")
  string(APPEND references "${separator}\"${name}\"")
  set(separator ", ")
endforeach()
unset(separator)
file(WRITE ${PROJECT_BINARY_DIR}/tfprof.cdx.json "{
  \"bomFormat\": \"CycloneDX\",
  \"specVersion\": \"1.6\",
  \"version\": 1,
  \"metadata\": {
    \"component\": { \"type\": \"application\", \"bom-ref\": \"tfprof\", \"name\": \"tfprof\", \"version\": \"${PROJECT_VERSION}\",
      \"purl\": \"pkg:generic/tfprof@${PROJECT_VERSION}\", \"licenses\": [ { \"expression\": \"Apache-2.0\" } ] }
  },
  \"components\": [${components}
  ],
  \"dependencies\": [ { \"ref\": \"tfprof\", \"dependsOn\": [ ${references} ] } ]
}
")
install(FILES ${PROJECT_BINARY_DIR}/tfprof.cdx.json DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tfprof COMPONENT program-package)
