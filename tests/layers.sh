#!/bin/sh
# Who may include whom: data flow one way, and each library appears in one place only.
#   usage: tests/layers.sh      prints each include that breaks the list; fails when there is one
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C
broken=0

# layer FOLDER "ALLOWED-REGEX": what its quoted includes may start with
layer() {
    [ -d "$1" ] || return 0
    found=$(grep -rnE '^#include "' --include='*.[ch]' "$1" | grep -vE "#include \"($2)" || true)
    [ -z "$found" ] || { echo "$1 may include only $2:"; echo "$found"; broken=1; }
}

# only LIBRARY "HEADER-REGEX" "FILE-REGEX": who may include a library's headers
only() {
    found=$(grep -rnE "^#include [<\"]($2)" --include='*.[ch]' engine rules | grep -vE "^($3)" || true)
    [ -z "$found" ] || { echo "$1 belongs to $3:"; echo "$found"; broken=1; }
}

layer engine/base    'base/'
layer engine/model   'base/|model/'
layer engine/read    'base/|model/|read/|[a-z_0-9]+\.pb-c\.h'
layer engine/analyze 'base/|model/|analyze/'
layer engine/view    'base/|model/|view/'
layer engine/synth   'base/|synth/'
layer rules          'base/|analyze/|model/profile\.h|rules/'
layer engine/gate    'base/|analyze/|model/profile\.h|rules/advice\.h|read/json_scan\.h|gate/'
layer engine/report  'base/|gate/gate\.h|gate/summary\.h|gate/history\.h|rules/(advice|catalogue)\.h|analyze/(analysis|study|facts|steps|path|table_view|diff|whatif|why)\.h|model/(profile|notes_json)\.h|report/'
layer engine/cli     'base/|model/|read/|analyze/|view/|rules/|gate/|report/|synth/|cli/'

only igraph   'igraph/|igraph\.h'          'engine/model/op_graph\.c:'
only PCRE2    'pcre2'                      'engine/base/pattern\.c:'
only Lua      'lua\.h|lualib|lauxlib|lua5' 'rules/'
only protobuf 'protobuf-c|[a-z_0-9]+\.pb-c\.h' 'engine/read/'
only libedit  'histedit'                'engine/cli/line_editor\.c:'
only "the ledger's room" 'analyze/excess/(ledger|op_class)\.' 'engine/analyze/excess/'
only snappy   'snappy'                  'engine/read/table\.c:'
only gzip     'zlib\.h|isa-l'              'engine/base/(gzip|deflate)\.c:'

[ $broken = 0 ] && echo "layers are kept"
exit $broken
