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
XLA_COLLECTIVE = re.compile(r'(all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute|'
                            r'collective-broadcast|ragged-all-to-all)[.\d]*(-start|-done)?[.\d]*$')
# A TPU's work is one line of instructions, nested; the others are about it.
WORK = {'TPU': ('XLA Ops',)}
COPIES = {'memcpyh2d': 'h2d', 'memcpyd2h': 'd2h', 'memcpyd2d': 'd2d', 'memcpyp2p': 'p2p',
          'memcpyh2h': 'h2h', 'copyhosttodevice': 'h2d', 'copydevicetohost': 'd2h',
          'copydevicetodevice': 'd2d'}
# Names of nodes and their types as TensorFlow's node_def.proto allows them; those that begin with
# "_" are the runtime's own.
COPY_CALL = re.compile(r'hipMemcpy(HtoD|DtoH|DtoD|HtoH)')
OP_NAME = re.compile(r'^[A-Za-z0-9.][\w>./-]*:[A-Za-z_]\w*$')


def detail(text, key):
    found = re.search(key + r':(\d+)', text or '')
    return int(found.group(1)) if found else None


def add_device_event(found, event, device):
    name = event.name.lower()
    found.busy.append((device, event.start, event.end))
    if name.startswith('__amd_rocclr_copybuffer'):
        found.blits.append((event, event.stats.get('correlation_id')))
    elif name in COPIES:
        found.copies.append(model.Copy(COPIES[name], event.name, event.start, event.end,
                                         detail(event.stats.get('memcpy_details'), 'size')))
    elif not name.startswith(('memset', '__amd_rocclr_fill')):
        found.kernels.append(model.Slice(event.name, event.start, event.end, device))
        if name.startswith('nccl'):
            found.device_collectives.append(found.kernels[-1])


def op_of(event):
    """Name of the op that an event of a host thread is, or None."""
    stats = event.stats
    if 'hlo_op' in stats:  # ROCm writes there on a launch which op it is for
        return None if event.name.startswith(('end: ', 'hip', 'cuda', 'cuLaunch')) else str(stats['hlo_op'])
    if stats.get('eager_op') and not stats.get('is_func'):
        # asynchronous: the call only hands it over to another thread, which records it
        return None if stats['eager_op'].startswith('Collective') else str(stats['eager_op'])
    if OP_NAME.match(event.name) and '::' not in event.name:
        return event.name.rpartition(':')[0]
    return None


INPUT_WAITS = ('IteratorGetNext', 'IteratorGetNextAsOptional')  # asks the input pipeline: no op, wherever it runs


def add_run(runs, event):
    run = event.stats.get('run_id')
    if run is not None and 'wait for completion' not in event.name:
        start, end = runs.get(run, (event.start, event.end))
        runs[run] = min(start, event.start), max(end, event.end)


def add_host_event(found, event, place):
    stats = event.stats
    if COPY_CALL.match(event.name) and 'correlation_id' in stats:
        found.copy_calls[stats['correlation_id']] = event.name
    if 'step_num' in stats and stats.get('_r'):
        found.markers.append((stats['step_num'], event.start, event.end))
    if 'allocator_name' in stats and 'bytes_allocated' in stats:
        key = stats['allocator_name']
        found.memory[key] = max(found.memory.get(key, 0), stats['bytes_allocated'])
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
            for event in line.events:
                if not derived:
                    found.see(event.start, event.end)
                if is_device and not derived:
                    add_device_event(found, event, plane.name)
                elif plane.name.startswith('/host:'):
                    add_host_event(found, event, (plane.name, index))
                    add_run(runs, event)
    for event, correlation in found.blits:  # ROCm's copies by a kernel: the call tells the way
        way = COPY_CALL.match(found.copy_calls.get(correlation, ''))
        found.copies.append(model.Copy(COPIES['memcpy' + way.group(1).lower().replace('to', '2')] if way else 'unknown',
                                       event.name, event.start, event.end, None))
    found.extents.update((start, end - start) for start, end in runs.values())
    if found.first is not None and found.first < UNIX_2001_NS:
        found.origin = 0  # times since the profiler began
    return found
