#!/bin/sh
# Runs one end-to-end case and compares what it printed.
#   usage: tests/run_case.sh [--update] cases/NAME
# A case is a folder:
#   cmd            shell commands; `tfprof` is the built program, $RECORDINGS is cases/recordings
#   setup          optional: shell commands that make inputs first (cut a file, patch a byte)
#   *.txtpb        optional: protobuf text; "# proto: MESSAGE" in the first line; becomes *.pb
#   stdout         what must be printed, exactly; or stdout.glob: a shell pattern a line, where the
#                  line "..." stands for any lines
#   stderr         the same; absent: nothing may be printed (also stderr.glob)
#   exit           the status; absent: 0
# It runs in a copy of the folder. --update writes stdout, stderr and exit anew (not *.glob).
# TFPROF_BIN names the folder of the program; by default the one of the dev build.
set -eu
update=
[ "${1-}" != --update ] || { update=1; shift; }
[ $# = 1 ] && [ -f "$1/cmd" ] || { sed -n '2,4p' "$0" >&2; exit 2; }
case_dir=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
PATH=${TFPROF_BIN:-$root/build/dev/bin}:$PATH
RECORDINGS=$root/cases/recordings
LC_ALL=C TZ=UTC COLUMNS=100
export PATH RECORDINGS LC_ALL TZ COLUMNS
unset TFPROF_TRACE NO_COLOR CLICOLOR_FORCE || true

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/case" "$work/got"
cp -R "$case_dir/." "$work/case"
cd "$work/case"
for text in *.txtpb; do
    [ -f "$text" ] || continue
    message=$(sed -n '1s/^# proto: //p' "$text")
    protoc --proto_path="$root/proto" --encode="$message" "$root"/proto/*.proto \
        <"$text" >"${text%.txtpb}.pb" 2>"$work/protoc" || { cat "$work/protoc"; exit 1; }
done
[ ! -f setup ] || sh -eu setup
status=0
sh -eu cmd >"$work/got/stdout" 2>"$work/got/stderr" </dev/null || status=$?

if [ -n "$update" ]; then
    for stream in stdout stderr; do
        [ ! -f "$case_dir/$stream.glob" ] || continue
        rm -f "$case_dir/$stream"
        [ ! -s "$work/got/$stream" ] || cp "$work/got/$stream" "$case_dir/$stream"
    done
    rm -f "$case_dir/exit"
    [ $status = 0 ] || echo $status >"$case_dir/exit"
    exit 0
fi

# same_as_glob PATTERNS FILE: line by line; after "..." lines are skipped up to one that fits
same_as_glob() {
    exec 3<"$1" 4<"$2"
    skip=
    while IFS= read -r pattern <&3 || [ -n "$pattern" ]; do
        if [ "$pattern" = ... ]; then
            skip=1
            continue
        fi
        while :; do
            IFS= read -r line <&4 || [ -n "$line" ] || { echo "nothing fits: $pattern"; return 1; }
            # shellcheck disable=SC2254  # it is a pattern
            case $line in
            $pattern) break ;;
            esac
            [ -n "$skip" ] || { echo "expected: $pattern"; echo "but got:  $line"; return 1; }
        done
        skip=
    done
    [ -n "$skip" ] || ! IFS= read -r line <&4 || { echo "more than expected: $line"; return 1; }
}

failed=0
for stream in stdout stderr; do
    if [ -f "$case_dir/$stream.glob" ]; then
        same_as_glob "$case_dir/$stream.glob" "$work/got/$stream" && continue
        echo "--- $stream was:"
        cat "$work/got/$stream"
        failed=1
    else
        expected=$case_dir/$stream
        [ -f "$expected" ] || expected=/dev/null
        diff -u "$expected" "$work/got/$stream" || failed=1
    fi
done
expected_status=0
[ ! -f "$case_dir/exit" ] || expected_status=$(cat "$case_dir/exit")
[ "$status" = "$expected_status" ] || { echo "exit status $status, not $expected_status"; failed=1; }
exit $failed
