#!/bin/sh
# Who may include whom: data flow one way, each room shows its doors alone, and each library appears in
# one place only.
#   usage: tests/layers.sh      prints each include that breaks the lists; fails when there is one
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C
broken=0

# layer FOLDER "ALLOWED-REGEX": what its quoted includes may start with
layer() {
    [ -e "$1" ] || return 0
    found=$(grep -rnE '^#include "' --include='*.[ch]' "$1" | grep -vE "#include \"($2)" || true)
    [ -z "$found" ] || { echo "$1 may include only $2:"; echo "$found"; broken=1; }
}

# only LIBRARY "HEADER-REGEX" "FILE-REGEX": who may include a library's headers
only() {
    found=$(grep -rnE "^#include [<\"]($2)" --include='*.[ch]' engine rules | grep -vE "^($3)" || true)
    [ -z "$found" ] || { echo "$1 belongs to $3:"; echo "$found"; broken=1; }
}

# Rooms, each behind those that it looks into, so that no arrow runs back; its hall is open to it, too. Doors are
# the headers that files outside of it may include.
#    room                  looks into                          doors
rooms='
analyze/recording          -                                   excerpt
analyze/step               -                                   steps,window,runs,run_programs,start_up,step_sessions,engine_mark,own_lines
analyze/device             step                                async_ops,device_activity
analyze/path               step,device                         path,work,leaves,part.def
analyze/memory             step,device                         -
analyze/comm               step,device                         collective_list,rank_times
analyze/eager              step,device                         eager_calls
analyze/kernel             step,device,eager                   kernel_names,kernel_times
analyze/ops                step,device,kernel                  op_times,op_cost
analyze/program            step,ops                            program_view
analyze/serving            step,device,ops                     -
analyze/validity           step,device                         -
analyze/input              path                                pipeline
analyze/excess             step,device,path                    excess
analyze/schedule           step,device,path,comm,kernel               event_schedule,recorder,skeleton,whatif,whatif.def,whatif_targets.def,whatif_select,why
analyze/replay             path,input,schedule                 replay,graph_replay,edit_lines,edit_text,edits_run
analyze/classic            ops                                 classic_model
analyze/diff               device,ops                          diff
read/proto                 -                                   wire,message,textproto
read/hlo                   proto                               hlo,hlo_text
read/tf                    proto                               named,tf_model
read/checkpoint            proto,tf                            checkpoint
read/kineto                -                                   kineto_names,graph_capture
read/xspace                proto,hlo,tf,kineto                    -
'
# Halls: files that stand before the rooms; others belong into a room. Each with the rooms it looks into.
halls='
analyze    analysis,emit,facts,study,table_view                          recording,step,path
read       read,read_paths,windows,recognise,same_job,clocks,float_ops,json_scan,op_kinds proto,tf,checkpoint
'
grep -rnE '^#include "(analyze|read)/' --include='*.[ch]' engine rules |
    sed -E 's/^(engine\/)?([^:]*):([0-9]+):#include "([^"]*)"/\2 \3 \4/' |
    ROOMS="$rooms" HALLS="$halls" FILES="$(cd engine && ls analyze/*.[ch] read/*.[ch])" awk '
    # A folder inside of a room belongs to it.
    function folder(path) { sub(/\/[^\/]*$/, "", path); if (split(path, part, "/") > 2) path = part[1] "/" part[2]; return path }
    function base(path) { sub(/.*\//, "", path); sub(/\.[ch]$/, "", path); return path }
    function has(list, word) { return index("," list ",", "," word ",") > 0 }
    function wrong(text) { print text; broken = 1 }
    BEGIN {
        rows = split(ENVIRON["ROOMS"], row, "\n")
        for (i = 1; i <= rows; i++) if (split(row[i], cell, / +/) == 3) {
            looks[cell[1]] = cell[2]; doors[cell[1]] = cell[3]; top = folder(cell[1])
            for (j = split(cell[2], name, ","); j > 0; j--)
                if (name[j] != "-" && !((top "/" name[j]) in doors)) wrong("tests/layers.sh: " cell[1] " looks into " name[j] ", which stands behind it")
        }
        rows = split(ENVIRON["HALLS"], row, "\n")
        for (i = 1; i <= rows; i++) if (split(row[i], cell, / +/) == 3) { hall[cell[1]] = cell[2]; looks[cell[1]] = cell[3] }
        rows = split(ENVIRON["FILES"], row, "\n")
        for (i = 1; i <= rows; i++)
            if (!has(hall[folder(row[i])], base(row[i]))) wrong("engine/" row[i] ": put it into the room of its subject")
    }
    {
        from = folder($1); to = folder($3); top = $3; sub(/\/.*/, "", top)
        if (from == to || to in hall) next
        if (!(to in doors)) { wrong($1 ":" $2 ": " to " is no room: give it a row in tests/layers.sh"); next }
        if (!has(doors[to], base($3))) wrong($1 ":" $2 ": " $3 " is no door of its room")
        room = to; sub(/.*\//, "", room)
        used[from " " room] = 1
        if (index(from, top) == 1 && !has(looks[from], room)) wrong($1 ":" $2 ": " from " may not look into " to)
    }
    END {
        for (from in looks) for (i = split(looks[from], cell, ","); i > 0; i--)
            if (cell[i] != "-" && !((from " " cell[i]) in used)) wrong("tests/layers.sh: " from " does not look into " cell[i])
        exit broken
    }' || broken=1

# The tables of docs/architecture.md say the same of rooms.
told=$(awk '/^\| room of/ { on = 1; next } /^$/ { on = 0 } on && /^\| `/' docs/architecture.md |
    sed -E 's/^\| `([a-z]+)` \| [^|]* \| *([a-z, ]*)\|$/\1 \2/; s/, /,/g; s/ +$//; s/^([a-z]+)$/\1 -/' | sort)
kept=$(echo "$rooms" | awk 'NF == 3 { sub(/.*\//, "", $1); print $1, $2 }' | sort)
[ "$told" = "$kept" ] || {
    echo "docs/architecture.md tells other rooms than tests/layers.sh, or that they look into others:"
    printf '%s\n' "$told" "$kept" | sort | uniq -u
    broken=1
}

layer engine/base    'base/'
layer engine/model   'base/|model/'
layer engine/read    'base/|model/|read/|[a-z_0-9]+\.pb-c\.h'
layer engine/analyze 'base/|model/|analyze/'
layer engine/view    'base/|model/|view/'
layer engine/synth   'base/|synth/'
layer rules          'base/|analyze/|model/(profile|op_class|names)\.h|rules/'
layer engine/gate    'base/|analyze/|model/profile\.h|rules/advice\.h|read/json_scan\.h|gate/'
layer engine/report  'base/|gate/gate\.h|gate/summary\.h|gate/history\.h|gate/verify\.h|gate/bisect\.h|rules/(advice|catalogue)\.h|analyze/(analysis|study|facts|table_view|step/steps|path/path|diff/diff|program/program_view|schedule/whatif|schedule/why)\.h|model/((profile|notes_json)\.h|stats\.def)|perfetto\.pb-c\.h|report/'
layer engine/lib     'base/|cli/|report/(arrow|tool)\.h|rules/(advise|catalogue)\.h|lib/'
layer engine/mcp     'base/|read/json_scan\.h|lib/tfprof\.h|mcp/'
layer engine/serve   'base/|serve/'
layer engine/ranks   'base/|model/(profile|names)\.h|analyze/|read/proto/wire\.h|synth/job_(sketch|course)\.h|ranks/'
layer engine/capture 'base/|read/proto/wire\.h|profiler_service\.pb-c\.h|capture/'
layer engine/cli     'base/|model/|read/|analyze/|view/|rules/|gate/|report/|serve/|capture/|ranks/|synth/|mcp/server\.h|cli/'
layer engine/main.c  'lib/tfprof\.h'
layer engine/mpi     'base/|ranks/|cli/'

only igraph   'igraph/|igraph\.h'          'engine/model/op_graph\.c:'
only PCRE2    'pcre2'                      'engine/base/pattern\.c:'
only Lua      'lua\.h|lualib|lauxlib|lua5' 'rules/'
only protobuf 'protobuf-c|[a-z_0-9]+\.pb-c\.h' 'engine/read/|engine/(report/trace/perfetto|capture/profiler_service)\.c:'
only libedit  'histedit'                'engine/cli/line_editor\.c:'
only microhttpd 'microhttpd'              'engine/serve/http\.c:'
only nghttp2  'nghttp2'                 'engine/capture/grpc\.c:'
only OpenSSL  'openssl/'                   'engine/capture/tls\.c:'
only MPI      'mpi\.h'                    'engine/mpi/main\.c:'
only snappy   'snappy'                  'engine/read/checkpoint/table\.c:'
only gzip     'zlib\.h|isa-l'              'engine/base/(gzip|deflate)\.c:'

[ $broken = 0 ] && echo "layers are kept"
exit $broken
