"""What a recording holds, in plain lists, the same for all formats, and sums over them."""
import bisect
import statistics
from collections import namedtuple

# direction is h2d, d2h, d2d, p2p, h2h or ""; bytes is None where they are not recorded; asked: when the thread that marks
# steps asked for it, None where another one did or none is recorded
Copy = namedtuple('Copy', 'direction name start end bytes asked', defaults=(None,))


class Slice:
    __slots__ = ('name', 'start', 'end', 'place')

    def __init__(self, name, start, end, place):
        self.name, self.start, self.end, self.place = name, start, end, place


class Opinion:
    """Times are whole nanoseconds of the recording's own clock."""

    def __init__(self):
        self.markers = []             # (number, start, end) of steps that the program marked
        self.ops = []                 # Slice, place: the thread
        self.kernels = []             # Slice, place: the device
        self.copies = []              # Copy, on devices
        self.device_collectives = []  # Slice
        self.host_collectives = []    # Slice
        self.busy = []                # (device, start, end) of kernels, copies and sets
        self.memory = {}              # allocator or device -> most bytes in use
        self.instructions = []        # Slice, place: the core; none of copies
        self.halves, self.begun = [], []  # of copies beside a core: (core, name, event); (core, Copy) of both
        self.blits, self.copy_calls = [], {}  # copies by a kernel, and calls by correlation
        self.calls, self.done = {}, {}  # by correlation: when a host called, when what that launched was done
        self.call_places, self.marking = {}, set()  # by correlation: the calling thread; threads that mark steps
        self.first = None             # start of the earliest event
        self.work = []                # (start, end) of what is neither a mark nor a frame of Python
        self.origin = None            # what times count from, where that is not the earliest event
        self.extents = set()          # (start, length) of all events, and of runs of programs

    def see(self, start, end):
        if self.first is None or start < self.first:
            self.first = start
        self.extents.add((start, end - start))

    def collectives(self):
        """Calls that launch what a device then does do not count beside it."""
        return self.device_collectives or self.host_collectives

    def launch_done(self, correlation, end):
        """One launch of a graph is many kernels."""
        if correlation is not None:
            self.done[correlation] = max(self.done.get(correlation, end), end)

    def called(self):
        """{number: (start, end)} of markers, up to the next one."""
        marked = sorted(self.markers, key=lambda marker: marker[1])
        return {number: (start, following[1]) for (number, start, _), following in zip(marked, marked[1:])} | {
            number: (start, end) for number, start, end in marked[-1:]}

    def launched(self):
        """{number: (start, end)} of steps that end when all that was launched between their markers is done, each
        from the end of the one before. A host that runs ahead of its device marks when it launched, not what a step takes."""
        found, reach = {}, None
        called = sorted(self.called().items(), key=lambda item: item[1])
        done = {number: end for number, (_, end) in called}
        starts = [start for _, (start, _) in called]
        for key, end in self.done.items():
            row = bisect.bisect_right(starts, self.calls.get(key, float('-inf'))) - 1
            if row >= 0 and self.calls[key] < called[row][1][1]:
                done[called[row][0]] = max(done[called[row][0]], end)
        for number, (start, _) in called:
            start = start if reach is None else max(start, reach)
            reach = max(done[number], start)
            found[number] = start, reach
        return found

    def without_tail(self, marked):
        """The last of such steps, (start, length, number), where what is behind its last work is longer than behind that of
        any other by a tenth of a step: leaving the loop. It ends then as far behind its work as is usual. None: it is not."""
        ends = [start for start, _, _ in marked[1:]] + [marked[-1][0] + marked[-1][1]]
        tails = [max(end - max((done for begin, done in self.work if start <= begin < end), default=start), 0)
                 for (start, _, _), end in zip(marked, ends)]
        usual = statistics.median(tails[:-1])
        length = statistics.median(end - start for (start, _, _), end in zip(marked[:-1], ends))
        if tails[-1] - max(tails[:-1]) <= 0.1 * length:
            return None
        return marked[-1][0], marked[-1][1] - int(tails[-1] - usual), marked[-1][2]

    def edges(self):
        return {start for start, _ in self.extents} | {start + length for start, length in self.extents}


def self_times(slices):
    """[slice, self time]: its time less that of slices nested directly in it, a thread at a time."""
    found, by_place = [], {}
    for item in slices:
        by_place.setdefault(item.place, []).append(item)
    for items in by_place.values():
        items.sort(key=lambda item: (item.start, -item.end))
        stack = []
        for item in items:
            while stack and (stack[-1][0].end <= item.start or stack[-1][0].end < item.end):
                stack.pop()
            entry = [item, item.end - item.start]
            if stack:
                stack[-1][1] -= item.end - item.start
            found.append(entry)
            stack.append(entry)
    return found


def outermost(slices):
    """Those that no other one of the same thread holds."""
    reach, found = {}, []
    for item in sorted(slices, key=lambda item: (item.start, -item.end)):
        if item.start >= reach.get(item.place, item.start):
            reach[item.place] = item.end
            found.append(item)
    return found


def union(ranges):
    """Total length of ranges; what several cover counts once."""
    total, reach = 0, None
    for start, end in sorted(ranges):
        start = start if reach is None or start > reach else reach
        if end > start:
            total += end - start
        reach = end if reach is None or end > reach else reach
    return total


def clip(start, end, windows):
    for begin, stop in windows:
        if start < stop and end > begin:
            yield max(start, begin), min(end, stop)


def inside(start, windows):
    return any(begin <= start < stop for begin, stop in windows)


def sums(rows):
    """{key: [sum, ...]} of (key, (number, ...))."""
    found = {}
    for key, numbers in rows:
        entry = found.setdefault(key, [0] * len(numbers))
        for i, number in enumerate(numbers):
            entry[i] += number
    return found
