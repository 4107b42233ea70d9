# Writes builtin.c: every rule as bytecode, and the prelude as text.
# cmake -DOUT=… -DCOMPILER=[EMULATOR;]compile_rule -DPRELUDE=… -DFILES=a;b -P embed.cmake
# Examples are for the checks that read checkers/; built-in rules go without them, as they stand last
# in each file.
function(bytes_of file out_variable)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  set(${out_variable} "${hex}" PARENT_SCOPE)
endfunction()

set(temporary "${OUT}.part")
function(compile file name out_variable)
  file(READ "${file}" text)
  string(FIND "${text}" "\n  examples = {" start)
  if(start GREATER_EQUAL 0)
    if(NOT text MATCHES "\n  },\n}\n$")
      message(FATAL_ERROR "${file}: examples must be the last field of the rule")
    endif()
    string(SUBSTRING "${text}" 0 ${start} text)
    string(APPEND text "\n}\n")
  endif()
  file(WRITE "${temporary}" "${text}")
  execute_process(COMMAND ${COMPILER} "${name}" "${temporary}" "${temporary}" RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    file(REMOVE "${temporary}")
    message(FATAL_ERROR "${file}: does not compile")
  endif()
  bytes_of("${temporary}" bytes)
  set(${out_variable} "${bytes}" PARENT_SCOPE)
endfunction()

set(arrays "")
set(rows "")
set(count 0)
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  compile("${file}" "${name}" bytes)
  # The comment that the file begins with says what the rule is for.
  file(STRINGS "${file}" first LIMIT_COUNT 1 ENCODING UTF-8)
  string(HEX "${first}" first)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," first "${first}")
  string(APPEND arrays "static const unsigned char bytes_${count}[] = { ${bytes}0 };\n\
static const unsigned char first_${count}[] = { ${first}0 };\n")
  string(APPEND rows "    { \"${name}\", { (const char *)first_${count}, sizeof first_${count} - 1 },\n\
      { (const char *)bytes_${count}, sizeof bytes_${count} - 1 } },\n")
  math(EXPR count "${count} + 1")
endforeach()
file(REMOVE "${temporary}")
bytes_of("${PRELUDE}" bytes)
file(WRITE "${OUT}" "/* Written by embed.cmake. */\n#include \"rules/builtin.h\"\n\n${arrays}\
static const unsigned char prelude[] = { ${bytes}0 };\n\nconst struct builtin_rule builtin_rules[] = {\n${rows}\
    { 0, { 0, 0 }, { 0, 0 } },\n};\nconst size_t builtin_rule_count = ${count};\n\
const struct str builtin_prelude = { (const char *)prelude, sizeof prelude - 1 };\n")
