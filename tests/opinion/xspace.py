"""XSpace (xplane.proto): planes, lines and events with their names and statistics, as recorded."""
import gzip
import re

import model
import wire


class Event:
    __slots__ = ('name', 'start', 'end', 'stats', 'line', 'metadata')

    def __init__(self, name, start, end, stats, line, metadata):
        self.name, self.start, self.end, self.stats = name, start, end, stats
        self.line, self.metadata = line, metadata

    def __repr__(self):
        return f'{self.name} [{self.start}, {self.end}) on {self.line.name}'


class Line:
    def __init__(self, plane):
        self.plane, self.id, self.name, self.display_name = plane, 0, '', ''
        self.timestamp_ns, self.events = 0, []


class Plane:
    def __init__(self, path):
        self.path, self.name, self.lines, self.stats = path, '', [], {}
        self.events, self.stat_names = {}, {}


def load(path):
    with open(path, 'rb') as file:
        data = file.read()
    return gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data


def text(data, span):
    return data[span[0]:span[1]].decode('utf-8', 'replace')


def stat_metadata(data, span):
    key, name = 0, ''
    for number, _, value in wire.fields(data, *span):
        if number == 1:
            key = value
        elif number == 2:
            for inner, _, part in wire.fields(data, *value):
                if inner == 1:
                    key = part or key
                elif inner == 2:
                    name = text(data, part)
    return key, name


def stat(data, span, names):
    """(name, value) of one statistic."""
    key, found = 0, None
    for number, _, value in wire.fields(data, *span):
        if number == 1:
            key = value
        elif number in (5, 6):
            found = text(data, value) if number == 5 else bytes(data[value[0]:value[1]])
        elif number == 7:
            found = names.get(value, '')
        elif number == 4:
            found = wire.signed(value)
        else:
            found = value
    return names.get(key, ''), found


def event_metadata(data, span, names):
    key, name, display, stats = 0, '', '', []
    for number, _, value in wire.fields(data, *span):
        if number == 1:
            key = value
        elif number == 2:
            for inner, _, part in wire.fields(data, *value):
                if inner == 1:
                    key = part or key
                elif inner == 2:
                    name = text(data, part)
                elif inner == 4:
                    display = text(data, part)
                elif inner == 5:
                    stats.append(part)
    return key, (name, display, dict(stat(data, part, names) for part in stats))


def floor_ns(picoseconds):
    return picoseconds // 1000


def add_events(data, line, spans, names):
    for span in spans:
        key = offset = duration = 0
        stats = {}
        for number, _, value in wire.fields(data, *span):
            if number == 1:
                key = value
            elif number == 2:
                offset = wire.signed(value)
            elif number == 3:
                duration = wire.signed(value)
            elif number == 4:
                name, found = stat(data, value, names)
                stats[name] = found
        metadata = line.plane.events.get(key, ('', '', {}))
        line.events.append(Event(metadata[0], line.timestamp_ns + floor_ns(offset),
                                 line.timestamp_ns + floor_ns(offset + duration), stats, line,
                                 metadata))


def read_line(data, span, plane):
    line, events = Line(plane), []
    for number, _, value in wire.fields(data, *span):
        if number == 4:
            events.append(value)
        elif number == 1:
            line.id = wire.signed(value)
        elif number == 2:
            line.name = text(data, value)
        elif number == 11:
            line.display_name = text(data, value)
        elif number == 3:
            line.timestamp_ns = wire.signed(value)
    add_events(data, line, events, plane.stat_names)
    return line


def read_plane(data, span, path):
    plane, lines, metadata, stats = Plane(path), [], [], []
    for number, _, value in wire.fields(data, *span):
        if number == 2:
            plane.name = text(data, value)
        elif number == 3:
            lines.append(value)
        elif number == 4:
            metadata.append(value)
        elif number == 5:
            key, name = stat_metadata(data, value)
            plane.stat_names[key] = name
        elif number == 6:
            stats.append(value)
    plane.events = dict(event_metadata(data, part, plane.stat_names) for part in metadata)
    plane.stats = dict(stat(data, part, plane.stat_names) for part in stats)
    plane.lines = [read_line(data, part, plane) for part in lines]
    return plane


def read(data, path=''):
    """The planes of one file."""
    return [read_plane(data, value, path) for number, _, value in wire.fields(data) if number == 1]



# Lines of device planes that tools made from others.
DERIVED = ('Steps', 'XLA Modules', 'XLA Ops', 'Async XLA Ops', 'XLA TraceMe', 'TensorFlow Ops',
           'TensorFlow Name Scope', 'Framework Ops', 'Framework Name Scope', 'Source code',
           'Source Code', 'Launch Stats', 'Host Offload Ops')
# An instruction is named after its opcode, or after the primitive of JAX that it was made from.
XLA_COLLECTIVE = re.compile(r'(all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute|'
                            r'collective-broadcast|ragged-all-to-all|psum|psum_invariant|pmax|pmin|ppermute|psum_scatter|'
                            r'all_gather|all_to_all|reduce_scatter)[.\d]*(-start|-done)?[.\d]*$')
# A TPU's work is one line of instructions, nested; the others are about it.
WORK = {'TPU': ('XLA Ops',)}
COPIES = {'memcpyh2d': 'h2d', 'memcpyd2h': 'd2h', 'memcpyd2d': 'd2d', 'memcpyp2p': 'p2p',
          'memcpyh2h': 'h2h', 'copyhosttodevice': 'h2d', 'copydevicetohost': 'd2h',
          'copydevicetodevice': 'd2d'}
# Names of nodes and their types as TensorFlow's node_def.proto allows them; those that begin with
# "_" are the runtime's own.
COPY_CALL = re.compile(r'hipMemcpy(HtoD|DtoH|DtoD|HtoH)')
# TensorFlow puts a call's name in front of the ops of a function that it sets into its caller's place.
INLINED_CALL = re.compile(r'^(?:(?:Stateful)?PartitionedCall/)+(?=.)')
# Python that a program calls back, as jax/_src/callback.py names it.
CALLBACK = re.compile(r'\$callback\.py:\d+ (pure_callback_impl|_wrapped_callback)$')
# The host's part of one, which XLA's runtime for GPUs calls by the instruction: after its primitive.
CALLBACK_THUNK = re.compile(r'(pure_callback|io_callback|debug_callback|debug_print)(\.\d+)?$')
RUNTIME = re.compile(r'ThenExecuteCallback:')  # PJRT's, with what for
OP_NAME = re.compile(r'^[A-Za-z0-9.][\w>./-]*:[A-Za-z_]\w*$')


def detail(text, key):
    found = re.search(key + r':(\d+)', text or '')
    return int(found.group(1)) if found else None


def way_of(details):
    """Of a copy by the memories that CUPTI tells: h is the host's."""
    sides = {'pageable': 'h', 'pinned': 'h', 'device': 'd'}
    ends = [re.search(key + r':(\w+)', details) for key in ('kind_src', 'kind_dst')]
    return '2'.join(sides[end[1]] for end in ends)


def add_device_event(found, event, device):
    name = event.name.lower()
    found.busy.append((device, event.start, event.end))
    found.launch_done(event.stats.get('correlation_id'), event.end)
    if name.startswith('__amd_rocclr_copybuffer'):
        found.blits.append((event, event.stats.get('correlation_id')))
    elif name in COPIES or name == 'memcpyother':
        way = COPIES.get(name) or way_of(event.stats.get('memcpy_details', ''))
        found.copies.append(model.Copy(way, event.stats.get('hlo_op') or event.name, event.start, event.end,
                                         detail(event.stats.get('memcpy_details'), 'size')))
    elif not name.startswith(('memset', '__amd_rocclr_fill')):
        found.kernels.append(model.Slice(event.name, event.start, event.end, device))
        if name.startswith('nccl'):
            found.device_collectives.append(found.kernels[-1])


# Layouts tell the memory of a core's copy: S(5) is the host's.
FROM_HOST = re.compile(r'copy-start\([^%]*S\(5\)')
TO_HOST = re.compile(r'= \([^ ]*S\(5\)')


MOST_DRIFT = 1e-4


def line_below(points, middle):
    """The points that the highest line at the middle touches which has no point below it."""
    left = [point for point in points if point[0] <= middle]
    right = [point for point in points if point[0] > middle] or left
    slope = None
    while True:
        a = min(left, key=lambda point: (point[1] - (slope or 0) * point[0], -point[0]))
        b = min(right, key=lambda point: (point[1] - (slope or 0) * point[0], point[0]))
        found = (b[1] - a[1]) / (b[0] - a[0]) if b[0] > a[0] else 0.0
        if slope is not None and found == slope:
            return a, b
        slope = found


def own_clock(line):
    """Puts the instructions of a core where its own clock has them.

    A core tells when an instruction ran on its own clock (device_offset_ps, device_duration_ps), and on the host's as well as
    the profiler knew it: at the moment it was seen, which is never before. So host - core is, over time, at least the shift
    of the two clocks; the shift is the line that lies below all of these differences and touches them on both sides of the
    middle. Where the host's clock was wrong for a moment, ops seem to be seen before they happened: the lower
    end of a line that is steeper than clocks drift does not count, nor what says the same. Whole nanoseconds are those of both ends, rounded down."""
    told = [event for event in line.events if 'device_duration_ps' in event.stats]
    if not told:
        return
    core = {event: (floor_ns(event.stats['device_offset_ps']),
                    floor_ns(event.stats['device_offset_ps'] + event.stats['device_duration_ps'])) for event in told}
    points = sorted((core[event][0], event.start - core[event][0]) for event in told)
    middle = (points[0][0] + points[-1][0]) / 2
    while True:
        a, b = line_below(points, middle)
        slope = (b[1] - a[1]) / (b[0] - a[0]) if b[0] > a[0] else 0.0
        if abs(slope) <= MOST_DRIFT:
            break
        low = min(a, b, key=lambda point: point[1])
        points = [point for point in points if point[1] - low[1] > 2 + MOST_DRIFT * abs(point[0] - low[0])]
    for event in told:
        start, end = core[event]
        event.start = start + a[1] + int(slope * (start - a[0]))
        event.end = event.start + end - start


def add_instruction(found, event, device):
    """What a core runs: copies that it begins and ends, collectives, and the rest, which computes."""
    name, kind = event.metadata[1] or event.name, event.metadata[2].get('hlo_category', '')
    found.busy.append((device, event.start, event.end))
    if kind in ('copy-start', 'copy-done'):
        found.halves.append((device, name, event))
        return
    found.instructions.append(model.Slice(name, event.start, event.end, device))
    found.kernels.append(model.Slice(name, event.start, event.end, device))
    if XLA_COLLECTIVE.match(name):
        found.device_collectives.append(found.kernels[-1])


def join_halves(found):
    """A copy from where a core begins it to where it has waited for its end."""
    begun = {}
    for device, name, event in sorted(found.halves, key=lambda half: half[2].start):
        if not name.startswith('copy-done'):
            begun[device, name] = event
        elif (device, name.replace('-done', '-start', 1)) in begun:
            start = begun.pop((device, name.replace('-done', '-start', 1)))
            way = 'h2d' if FROM_HOST.search(start.name) else 'd2h' if TO_HOST.search(start.name) else 'd2d'
            found.begun.append((device, model.Copy(way, start.metadata[1], start.start, event.end,
                                                   start.metadata[2].get('bytes_accessed', 0))))


def op_of(event):
    """Name of the op that an event of a host thread is, or None."""
    stats = event.stats
    if CALLBACK.match(event.name) or ('hlo_op' not in stats and CALLBACK_THUNK.match(event.name)):
        return event.name
    if 'hlo_op' in stats:  # ROCm writes there on a launch which op it is for
        return None if event.name.startswith(('end: ', 'hip', 'cuda', 'cuLaunch')) else str(stats['hlo_op'])
    if stats.get('eager_op') and not stats.get('is_func'):
        # asynchronous: the call only hands it over to another thread, which records it
        return None if stats['eager_op'].startswith('Collective') else str(stats['eager_op'])
    # asynchronous in name only: on a host these compute where they start (core/kernels/image/crop_and_resize_op.cc)
    if event.name == 'ExecutorState::ProcessAsync::Start' and str(stats.get('kernel_type')).startswith('CropAndResize'):
        return str(stats.get('name'))
    if OP_NAME.match(event.name) and '::' not in event.name and not RUNTIME.match(event.name):
        return INLINED_CALL.sub('', event.name.rpartition(':')[0])
    return None


INPUT_WAITS = ('IteratorGetNext', 'IteratorGetNextAsOptional')  # asks the input pipeline: no op, wherever it runs


def add_run(runs, event):
    """A run from the call that asks for it, and, where that call returns before, from its first op."""
    run = event.stats.get('run_id')
    if run is None or 'wait for completion' in event.name:
        return
    for key in [(run, False)] + ([(run, True)] if 'hlo_op' in event.stats else []):
        start, end = runs.get(key, (event.start, event.end))
        runs[key] = min(start, event.start), max(end, event.end)


def add_host_event(found, event, place):
    stats = event.stats
    if 'correlation_id' in stats:
        found.calls[stats['correlation_id']] = event.start
    if COPY_CALL.match(event.name) and 'correlation_id' in stats:
        found.copy_calls[stats['correlation_id']] = event.name, stats.get('hlo_op')
    if 'step_num' in stats and stats.get('_r'):
        found.markers.append((stats['step_num'], event.start, event.end))
    if 'allocator_name' in stats and 'bytes_allocated' in stats:
        key = stats['allocator_name']
        found.memory[key] = max(found.memory.get(key, 0), stats['bytes_allocated'])
    elif 'index_on_host' in stats and 'bytes_allocated' in stats:  # a core's: what programs reserve is not the heap's
        key = 'core %d' % stats['index_on_host']
        found.memory[key] = max(found.memory.get(key, 0), stats['bytes_allocated'] + stats.get('bytes_reserved', 0))
    op = op_of(event)
    if op is not None and (event.name.rpartition(':')[2].startswith('Collective') or
                           ('hlo_op' in stats and XLA_COLLECTIVE.match(op))):
        found.host_collectives.append(model.Slice(event.name, event.start, event.end, place))
    if op is not None and event.name.rpartition(':')[2] not in INPUT_WAITS and op not in INPUT_WAITS:
        found.ops.append(model.Slice(op, event.start, event.end, place))


UNIX_2001_NS = 10 ** 18


def opinion_of(path):
    data = load(path)
    found = model.Opinion()
    runs = {}
    for plane in read(data, path):
        is_device = plane.name.startswith('/device:')
        for index, line in enumerate(plane.lines):
            derived = is_device and line.name not in WORK.get(plane.name[8:11], ()) and (
                plane.name[8:11] in WORK or line.name.startswith(DERIVED))
            if is_device and not derived:
                own_clock(line)
            for event in line.events:
                if not derived:
                    found.see(event.start, event.end)
                if is_device and not derived and plane.name[8:11] in WORK:
                    add_instruction(found, event, plane.name)
                elif is_device and not derived:
                    add_device_event(found, event, plane.name)
                elif plane.name.startswith('/host:'):
                    add_host_event(found, event, (plane.name, index))
                    add_run(runs, event)
    join_halves(found)
    for event, correlation in found.blits:  # ROCm's copies by a kernel: the call tells the way and the instruction
        call, instruction = found.copy_calls.get(correlation, ('', None))
        way = COPY_CALL.match(call)
        found.copies.append(model.Copy(COPIES['memcpy' + way.group(1).lower().replace('to', '2')] if way else 'unknown',
                                       instruction or event.name, event.start, event.end, None))
    found.extents.update((start, end - start) for start, end in runs.values())
    if found.first is not None and found.first < UNIX_2001_NS:
        found.origin = 0  # times since the profiler began
    return found
