# Writes builtin.c: every rule and the prelude as bytes. cmake -DOUT=… -DPRELUDE=… -DFILES=a;b -P embed.cmake
# Examples are for the checks that read checkers/; built-in rules go without them, as they stand last
# in each file.
function(bytes_of file out_variable)
  file(READ "${file}" text)
  string(FIND "${text}" "\n  examples = {" start)
  if(start GREATER_EQUAL 0)
    if(NOT text MATCHES "\n  },\n}\n$")
      message(FATAL_ERROR "${file}: examples must be the last field of the rule")
    endif()
    string(SUBSTRING "${text}" 0 ${start} text)
    string(APPEND text "\n}\n")
  endif()
  string(HEX "${text}" hex)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  set(${out_variable} "${hex}" PARENT_SCOPE)
endfunction()

set(arrays "")
set(rows "")
set(count 0)
foreach(file IN LISTS FILES)
  bytes_of("${file}" bytes)
  get_filename_component(name "${file}" NAME)
  string(APPEND arrays "static const unsigned char script_${count}[] = { ${bytes}0 };\n")
  string(APPEND rows "    { \"${name}\", { (const char *)script_${count}, sizeof script_${count} - 1 } },\n")
  math(EXPR count "${count} + 1")
endforeach()
bytes_of("${PRELUDE}" bytes)
file(WRITE "${OUT}" "/* Written by embed.cmake. */\n#include \"rules/builtin.h\"\n\n${arrays}\
static const unsigned char prelude[] = { ${bytes}0 };\n\nconst struct builtin_rule builtin_rules[] = {\n${rows}\
    { 0, { 0, 0 } },\n};\nconst size_t builtin_rule_count = ${count};\n\
const struct str builtin_prelude = { (const char *)prelude, sizeof prelude - 1 };\n")
