/* slow_length: an eager program chooses the length of its Fourier transforms, as it pads what goes
 * in or cuts a signal into frames, and takes one with large prime factors: 551 for 25 ms of a sound
 * at 22050 Hz takes several times as long as 576. */
#include "analyze/excess/ledger.h"
#include "analyze/excess/transforms.h"

#include <string.h>

enum { MOST_LENGTHS = 16 };

struct chosen { /* lengths that data was padded to: transforms back have them, too */
    int64_t lengths[MOST_LENGTHS];
    int     count;
};

static bool is_chosen(const struct chosen *chosen, int64_t length)
{
    for (int i = 0; i < chosen->count; i++)
        if (chosen->lengths[i] == length)
            return true;
    return false;
}

/* The length of a transform where it is the program's choice; 0: it is none. */
static int64_t chosen_length(const struct ledger *ledger, const struct work_unit *unit,
                             struct chosen *chosen)
{
    struct str           type = unit_type(ledger, unit);
    const struct tensor *from = unit_input(ledger, unit, 0);
    int64_t              length;

    if (unit->kind != UNIT_OP || !from || from->rank < 1 ||
        !str_fits(type, "aten::stft|aten::istft|aten::fft_fft|aten::fft_ifft|aten::fft_rfft|"
                        "aten::fft_irfft") ||
        unit_numbers(ledger, unit, 1, &length, 1) != 1)
        return 0;
    if (str_fits(type, "aten::stft|aten::istft") || is_chosen(chosen, length))
        return length;
    if (!str_fits(type, "aten::fft_fft|aten::fft_rfft") || length <= from->dims[from->rank - 1])
        return 0;
    if (chosen->count < MOST_LENGTHS)
        chosen->lengths[chosen->count++] = length;
    return length;
}

/* The way back holds copies and sums beside the transforms, which take what they take for any
 * length. `marks`, by unit, are none before and behind. */
static bool claim_way_back(struct ledger *ledger, uint32_t cell, uint32_t at, double share,
                           bool *marks)
{
    struct work_unit *units = ledger->units.items;
    uint32_t          end = ledger->first_unit[units[at].step + 1];

    if (!units_mark_backward(ledger, at, at, marks))
        return false;
    for (uint32_t u = at + 1; u < end; u++)
        if (marks[u] && str_fits(unit_type(ledger, &units[u]), "*fft_*|*stft"))
            ledger_claim(ledger, cell, &units[u], share);
    memset(&marks[at], 0, (end - at) * sizeof *marks);
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct chosen chosen = { .count = 0 };
    int64_t       last = 0; /* the length that `kept` is of: factors are looked for once in a row */
    double        kept = 1;
    uint32_t      cell = NO_ID;
    bool         *marks;

    if (!ledger->is_torch)
        return true;
    marks = arena_new_array(ledger->scratch, bool, ledger->units.count + 1);
    if (!marks)
        return false;
    for (uint32_t u = 0; u < ledger->units.count; u++) {
        int64_t length = chosen_length(ledger, &ledger->units.items[u], &chosen);

        if (length != last && length)
            kept = transform_kept(length), last = length;
        if (!length || kept == 1)
            continue;
        if (!ledger_cell_once(ledger, self, &ledger->units.items[u], &cell,
                              "transforms of %lld points", (long long)length))
            return false;
        ledger_claim(ledger, cell, &ledger->units.items[u], 1 - kept);
        if (!claim_way_back(ledger, cell, u, 1 - kept, marks))
            return false;
    }
    return true;
}

const struct detector detector_slow_length = { "slow-transform", CAUSE_SHAPE, GRADE_STRUCTURE,
                                               find };
