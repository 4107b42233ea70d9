"""XSpace (xplane.proto): planes, lines and events with their names and statistics, as recorded."""
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
