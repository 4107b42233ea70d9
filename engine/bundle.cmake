# For packages that run anywhere: libraries are linked from their archives, those that are otherwise loaded when needed too, so
# that only libc is asked of the system. Distributions do not build archives for shared objects: what they take from libc's data
# (stdin, stdout, stderr) gets names of our own, which bundle/streams.c fills. libedit and libmicrohttpd, which prompts on a
# terminal and `serve` need, stay what they are: loaded where the system has them.
add_library(tfprof_streams STATIC ${CMAKE_CURRENT_LIST_DIR}/bundle/streams.c)
target_link_libraries(tfprof_streams PRIVATE tfprof_warnings)

# Makes TARGET (of PkgConfig) the archive of a library and what it needs besides.
function(tfprof_bundle target archive)
  find_library(${target}_ARCHIVE ${archive} REQUIRED)
  set(copy ${PROJECT_BINARY_DIR}/bundle/${archive})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/bundle)
  execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-sym stdin=tfprof_stdin --redefine-sym stdout=tfprof_stdout
    --redefine-sym stderr=tfprof_stderr ${${target}_ARCHIVE} ${copy} COMMAND_ERROR_IS_FATAL ANY)
  set_property(TARGET PkgConfig::${target} PROPERTY INTERFACE_LINK_LIBRARIES ${copy} tfprof_streams ${ARGN})
endfunction()
tfprof_bundle(libprotobuf_c libprotobuf-c.a)
tfprof_bundle(libpcre2_8 libpcre2-8.a)
tfprof_bundle(lua5_4 liblua5.4.a ${MATH_LIBRARY} ${CMAKE_DL_LIBS})
tfprof_bundle(zlib libz.a)
tfprof_bundle(igraph libigraph.a ${MATH_LIBRARY})
add_library(PkgConfig::snappy INTERFACE IMPORTED)
tfprof_bundle(snappy libsnappy.a -l:libstdc++.a -static-libgcc ${MATH_LIBRARY})
add_compile_definitions(TFPROF_BUNDLED)
if(TFPROF_STATIC)
  add_compile_definitions(TFPROF_STATIC)
  set(CMAKE_C_LINK_OPTIONS_PIE -static-pie) # what CMake would add, -pie, takes precedence over one of ours
endif()
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)
