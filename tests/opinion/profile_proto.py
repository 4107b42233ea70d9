"""ProfileProto (tfprof_log.proto of TensorFlow 1): runs of each node in each step, as recorded."""
import wire


class Runs:
    def __init__(self):
        self.steps = set()
        self.nodes = []  # (name, {step: [microseconds of a run]})

    def runs(self, step):
        for name, by_step in self.nodes:
            for micros in by_step.get(step, []):
                yield name, (1, micros * 1000)


def numbers(data, span, wanted):
    """A repeated int64, packed or not."""
    for number, kind, value in wire.fields(data, *span):
        if number == wanted and kind == 0:
            yield wire.signed(value)
        elif number == wanted:
            at, end = value
            while at < end:
                item, at = wire.varint(data, at)
                yield wire.signed(item)


def entry(data, span):
    """Key and value of a map's entry."""
    key, value = 0, (0, 0)
    for number, _, part in wire.fields(data, *span):
        if number == 1:
            key = part
        elif number == 2:
            value = part
    return key, value


def runs_of(data, execution):
    """ExecProfile: ExecTime of each device, tuples of start and length in microseconds. Streams that repeat
    what numbered ones hold ("stream:all") stand for them."""
    times = {}
    for number, _, value in wire.fields(data, *execution):
        if number in (4, 5):  # accelerator_execs, cpu_execs
            key, time = entry(data, value)
            name = data[key[0]:key[1]].decode()
            for inner, _, pair in wire.fields(data, *time):
                if inner == 1:
                    times.setdefault(name, []).append(list(numbers(data, pair, 1))[1])
    everything = [name for name in times if name.endswith('stream:all')]
    chosen = everything + [name for name in times if 'stream:' not in name] if everything else times
    return [length for name in chosen for length in times[name]]


def add_node(data, span, found):
    name, by_step = '', {}
    for number, _, value in wire.fields(data, *span):
        if number == 1:
            name = data[value[0]:value[1]].decode()
        elif number == 12:
            step, execution = entry(data, value)
            by_step[wire.signed(step)] = runs_of(data, execution)
    found.nodes.append((name, by_step))


def opinion_of(path):
    with open(path, 'rb') as file:
        data = file.read()
    found = Runs()
    for number, kind, value in wire.fields(data):
        if number == 1:
            add_node(data, entry(data, value)[1], found)
        elif number == 3:
            found.steps.update([wire.signed(value)] if kind == 0 else numbers(data, (0, 0), 0))
    for _, by_step in found.nodes:
        found.steps.update(by_step)
    return found
