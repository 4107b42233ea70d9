#include "read/windows.h"
#include "base/file.h"
#include "base/sort.h"

#include <string.h>

struct recorded { /* no process: another file */
    struct str process, what, time;
};

/* "host_42.1795965375766380463.pt.trace.json.gz": the process "host_42." and the time behind it.
 * What of its program a file holds stands in between where Lightning's profiler calls them
 * "fit-run-[Strategy]DDPStrategy.training_step.1795974170138965925.pt.trace.json". */
static struct recorded recorded_in(const char *name)
{
    struct str      text = str_from(name), end = STR(".pt.trace.json");
    struct recorded none = { 0 }, file;
    size_t          first, last, what;

    if (str_ends(text, STR(".gz")))
        text.len -= 3;
    if (!str_ends(text, end))
        return none;
    text.len -= end.len;
    for (first = last = text.len;
         first > 0 && text.data[first - 1] >= '0' && text.data[first - 1] <= '9';)
        first--;
    if (first < 2 || first == last || text.data[first - 1] != '.')
        return none;
    what = str_find_last(str_slice(text, 0, first), '[');
    what = what > 0 && what < first && text.data[what - 1] == '-' ? what - 1 : first;
    file.process = str_slice(text, 0, what);
    file.what = str_slice(text, what, first);
    file.time = str_slice(text, first, last);
    return file;
}

static bool is_of_training(struct recorded file)
{
    return str_contains(file.what, STR("training"));
}

/* Numbers have no sign and no zeros in front: a longer one is larger. */
static int compare_numbers(struct str a, struct str b)
{
    return a.len != b.len ? COMPARE(a.len, b.len) : str_compare(a, b);
}

/* Is it the second of two recordings of one process: of training, else the later one? */
static bool is_better(struct recorded one, struct recorded other)
{
    return is_of_training(one) != is_of_training(other) ? is_of_training(other)
                                                        : compare_numbers(one.time, other.time) < 0;
}

struct marks { /* numbers of the steps that a file marks */
    int64_t first, last;
    bool    is_any;
};

/* Marks in these bytes; one that their end cuts has no '"' and does not count. */
static void read_marks(struct str bytes, struct marks *marks)
{
    for (;;) {
        size_t     at = str_find(bytes, '#'), digits = 0; /* few names have one */
        bool       is_mark = str_ends(str_slice(bytes, 0, at), STR("\"ProfilerStep"));
        struct str number;
        int64_t    step;

        if (at == bytes.len)
            return;
        bytes = str_slice(bytes, at + 1, bytes.len);
        while (digits < bytes.len && bytes.data[digits] >= '0' && bytes.data[digits] <= '9')
            digits++;
        number = str_slice(bytes, 0, digits);
        if (!is_mark || digits == bytes.len || bytes.data[digits] != '"' ||
            !str_to_int64(number, &step))
            continue;
        marks->first = marks->is_any && marks->first < step ? marks->first : step;
        marks->last = marks->is_any && marks->last > step ? marks->last : step;
        marks->is_any = true;
    }
}

/* Steps that a recording marks, by their numbers; 0: none, or it cannot be read. */
static int64_t steps_in(const char *path)
{
    enum { LONGEST_MARK = 40 };
    struct err          err = { 0 };
    struct file_stream *stream = file_stream_open(path, &err);
    struct marks        marks = { 0 };
    struct str          bytes;
    char                seam[2 * LONGEST_MARK]; /* the end of one run and the start of the next */
    size_t              kept = 0;

    while (stream && (bytes = file_stream_next(stream)).len > 0) {
        size_t more = bytes.len < LONGEST_MARK ? bytes.len : LONGEST_MARK;

        memcpy(seam + kept, bytes.data, more);
        read_marks((struct str) { seam, kept + more }, &marks);
        read_marks(bytes, &marks);
        kept = more;
        memcpy(seam, bytes.data + bytes.len - kept, kept);
    }
    if (stream)
        file_stream_close(stream);
    return marks.is_any ? marks.last - marks.first + 1 : 0;
}

/* Whether the end of the program cut a window: the one before it holds more steps. */
static bool is_cut(const char *folder, const char *name, const char *before, struct arena *scratch)
{
    char *path = arena_text(scratch, "%s/%s", folder, name);
    char *whole = arena_text(scratch, "%s/%s", folder, before);

    return path && whole && steps_in(path) < steps_in(whole);
}

size_t window_choose(const char *folder, char *const *names, size_t count, size_t first,
                     struct arena *scratch, size_t *end)
{
    struct recorded best = recorded_in(names[first]);
    size_t          chosen = first, before = first;

    for (*end = first + 1; best.process.len && *end < count; (*end)++) {
        struct recorded next = recorded_in(names[*end]);

        if (!str_equal(best.process, next.process))
            break;
        if (is_better(best, next)) {
            before = is_of_training(best) == is_of_training(next) ? chosen : *end;
            best = next;
            chosen = *end;
        }
    }
    return before != chosen && is_cut(folder, names[chosen], names[before], scratch) ? before
                                                                                     : chosen;
}
