# Writes builtin.c: every rule and the prelude as bytes. cmake -DOUT=… -DPRELUDE=… -DFILES=a;b -P embed.cmake
function(bytes_of file out_variable)
  file(READ "${file}" hex HEX)
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
