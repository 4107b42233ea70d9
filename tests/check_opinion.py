#!/usr/bin/env python3
"""A second opinion of what recordings hold.

    check_opinion.py TFPROF [--known LIST] [--sketches FOLDER] [--sample N FOLDER] FOLDER...

Reads every recording below the folders with readers of its own (opinion/*.py: the wire format, json and plain
sums, written from the formats) and compares what tfprof says of it: steps, ops with their self times, kernels,
copies with direction and bytes, collectives, peaks of memory, busy time of each device. Counts, nanoseconds and
bytes are the same, or the difference stands in LIST with its reason, one "recording what name" a line below a
comment. A difference that is not listed fails, and so does a line of LIST whose recording was looked at and whose
difference is gone: the list only gets shorter.

Of the folder of --sample each Nth recording is read, as there are many that differ little in what is compared.
Sketches below --sketches become recordings of a device first (tfprof synth), as XSpace and as a Kineto trace.

Numbers of tfprof are means over the steps it looks at; that these steps are real ones is part of what is compared:
they are the program's markers, or begin and end where something in the recording does.
"""
import argparse
import gc
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / 'opinion'))
import kineto  # noqa: E402
import model   # noqa: E402
import profile_proto  # noqa: E402
import xspace  # noqa: E402

REFUSED = 3


class Refused(Exception):
    """tfprof says that a file cannot be read."""


def tables(tfprof, path):
    """All tables of a recording, as its page has them: whole, and as `tfprof table` prints them (check_page.py)."""
    done = subprocess.run([tfprof, 'report', path, '--rows=0', '--slices=0', '-o', '-'], capture_output=True, text=True)
    if done.returncode == REFUSED:
        raise Refused(done.stderr.strip())
    if done.returncode:
        raise RuntimeError('report: exit %d: %s' % (done.returncode, done.stderr.strip()[-300:]))
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', done.stdout, re.S)[1])
    return {table['name']: [{column['name']: value for column, value in zip(table['columns'], row) if value is not None}
                            for row in table['rows']] for table in data['tables']}


class Comparison:
    """One recording: what tfprof says and what we read, and where the two differ."""

    def __init__(self, tfprof, path, theirs):
        self.tables, self.theirs, self.differences = tables(tfprof, path), theirs, []
        self.windows = []  # of the steps looked at, in the recording's clock
        self.called = []   # when their calls were made, on hosts

    def table(self, name):
        return self.tables.get(name, [])

    def differ(self, what, name, ours, theirs):
        self.differences.append((what, str(name), 'tfprof %s, read %s' % (ours, theirs)))

    def same_sums(self, what, rows, key, columns, theirs, devices=1):
        """Rows hold means a step, those of accelerators of one of so many devices."""
        steps = len(self.windows) * devices
        ours = model.sums((key(row), [row.get(column, 0) * steps for column in columns]) for row in rows)
        for name in sorted(set(ours) | set(theirs), key=str):
            sums = [round(number) for number in ours.get(name, [])]
            if sums != theirs.get(name, []):
                self.differ(what, name, sums, theirs.get(name, []))

    def places_of(self, slices):
        return len({item.place for item in slices if model.inside(item.start, self.windows)})

    def sums_of(self, slices, key, numbers):
        return model.sums((key(item), numbers(item)) for item in slices if model.inside(item.start, self.windows))


def compare_steps(comparison):
    theirs, rows = comparison.theirs, comparison.table('steps')
    ours = sorted((row['start_ns'], row['marker_ns'], row.get('number')) for row in rows)
    marked = sorted((start, end - start, number) for number, start, end in theirs.markers)
    origin = theirs.first if theirs.origin is None else theirs.origin
    if marked and [step[1:] for step in ours] == [step[1:] for step in marked]:
        origin = marked[0][0] - ours[0][0]  # the first one ties the clocks, the others have to agree
    here = [(start + origin, length, number) for start, length, number in ours]
    if len(here) == len(marked) > 1 and here != marked and here[-1] == theirs.without_tail(marked):
        marked[-1] = here[-1]
    odd = []
    if here != marked and not theirs.busy and marked:
        # markers of a host that only enqueues tell nothing: runs of the program are the steps
        odd = [step for step in here if step[:2] not in theirs.extents]
    elif here != marked and len(here) > 1:
        edges = theirs.edges()
        odd = [step for step in here if step[0] not in edges or step[0] + step[1] not in edges]
    comparison.windows = [(row['start_ns'] + origin, row['start_ns'] + row['duration_ns'] + origin)
                          for row in rows if row.get('used')] or [(float('-inf'), float('inf'))]
    comparison.called = comparison.windows
    launched = theirs.launched() if here != marked and theirs.busy else {}
    if launched and all(launched.get(number) == (start, start + length) for start, length, number in here):
        called = theirs.called()
        comparison.called = [called[row['number']] for row in rows if row.get('used')] or comparison.windows
    if odd and theirs.instructions:  # a core's runs: each step holds what the others hold, once
        odd = runs_that_differ(comparison)
    if odd:
        comparison.differ('steps', '-', odd[:3], marked[:3])


def runs_that_differ(comparison):
    """Steps of a core's runs that do not hold each instruction of the program once; of the core where they are fewest."""
    fewest = None
    for core in {item.place for item in comparison.theirs.instructions}:
        items = [item for item in comparison.theirs.instructions if item.place == core]
        names = [sorted(item.name for item in items if begin <= item.start and item.end <= end)
                 for begin, end in comparison.windows]
        odd = [held for held in names if held != names[0] or not held or len(set(held)) < len(held)]
        fewest = odd if fewest is None or len(odd) < len(fewest) else fewest
    return fewest


def op_name(row):
    """A collective of TensorFlow bears the event's name, "scope/name:Type"."""
    name, _, kind = row['name'].rpartition(':')
    return name if name and row['kind'] == 'collective' and kind.startswith('Collective') else row['name']


def compare_ops(comparison):
    rows = [row for row in comparison.table('ops')
            if row['kind'] in ('op', 'callback', 'collective', 'output') and not row.get('device')]
    theirs = model.sums((item.name, (1, item.end - item.start, max(own, 0)))
                        for item, own in model.self_times(comparison.theirs.ops)
                        if model.inside(item.start, comparison.called))
    comparison.same_sums('ops', rows, op_name, ('calls', 'total_ns', 'self_ns'), theirs)


def compare_devices(comparison):
    rows, busy = comparison.table('devices'), {}
    if not rows and not comparison.theirs.busy:
        return
    for device, start, end in comparison.theirs.busy:
        busy.setdefault(device, []).extend(model.clip(start, end, comparison.windows))
    ours = sorted(round(row['busy_ns'] * len(comparison.windows)) for row in rows if row['busy_ns'])
    theirs = sorted(filter(None, map(model.union, busy.values())))
    if ours != theirs:
        comparison.differ('busy', '-', ours, theirs)
    comparison.same_sums('kernels', comparison.table('kernels'), lambda row: row['name'], ('calls', 'total_ns'),
                         comparison.sums_of(comparison.theirs.kernels, lambda item: item.name,
                                            lambda item: (1, item.end - item.start)),
                         comparison.places_of(comparison.theirs.kernels) or 1)
    copies = [row for row in comparison.table('copies') if row.get('where') != 'host']
    if comparison.theirs.begun:
        compare_begun(comparison, copies)
        return
    # Where not all copies of a name tell their bytes, as those by a kernel, their instruction may: no opinion then.
    untold = {copy_name(item.direction, item.name) for item in comparison.theirs.copies if item.bytes is None}
    copies = [row | {'bytes': 0} if copy_name(row.get('direction'), row['name']) in untold else row for row in copies]
    # A copy is of the step that asked for it, which may be made ahead of that step's work.
    of_steps = [item for item in comparison.theirs.copies
               if (model.inside(item.start, comparison.windows) if item.asked is None
                   else model.inside(item.asked, comparison.called))]
    comparison.same_sums('copies', copies, lambda row: copy_name(row.get('direction'), row['name']),
                         ('count', 'bytes', 'ns'),
                         model.sums((copy_name(item.direction, item.name),
                                     (1, 0 if copy_name(item.direction, item.name) in untold else item.bytes,
                                      item.end - item.start)) for item in of_steps),
                         comparison.places_of(comparison.theirs.kernels) or 1)


def copy_name(direction, name):
    return ((direction or '') + ' ' + name).strip()


def compare_begun(comparison, rows):
    """Copies beside a core: how many and what they carry; and how long any of one way was under way on a core."""
    begun = [(core, copy) for core, copy in comparison.theirs.begun if model.inside(copy.start, comparison.windows)]
    cores = len({core for core, _ in begun})
    comparison.same_sums('copies', rows, lambda row: copy_name(row['direction'], row['name']), ('count', 'bytes'),
                         model.sums((copy_name(copy.direction, copy.name), (1, copy.bytes)) for _, copy in begun),
                         cores)
    spans = {}
    for core, copy in begun:
        spans.setdefault((copy.direction, core), []).append((copy.start, copy.end))
    comparison.same_sums('copying', rows, lambda row: row['direction'], ('ns',),
                         model.sums((way, (model.union(ranges),)) for (way, _), ranges in spans.items()), cores)


def compare_collectives(comparison):
    comparison.same_sums('collectives', comparison.table('collectives'), lambda row: row['name'], ('count', 'ns'),
                         comparison.sums_of(comparison.theirs.collectives(), lambda item: item.name,
                                            lambda item: (1, item.end - item.start)),
                         comparison.places_of(comparison.theirs.device_collectives) or 1)


def compare_memory(comparison):
    ours = sorted(row['peak_bytes'] for row in comparison.table('allocators'))
    theirs = sorted(comparison.theirs.memory.values())
    if ours != theirs:
        comparison.differ('memory', '-', ours, theirs)


def compare(tfprof, path, read):
    comparison = Comparison(tfprof, path, read(path))
    for check in (compare_steps, compare_ops, compare_devices, compare_collectives, compare_memory):
        check(comparison)
    return comparison.differences


def compare_profile(tfprof, path, read):
    """A ProfileProto has sums of runs a step, and no timeline."""
    theirs = read(path)
    comparison = Comparison(tfprof, path, theirs)
    used = [row['number'] for row in comparison.table('steps') if row.get('used')]
    comparison.windows = used
    if not set(used) <= theirs.steps:
        comparison.differ('steps', '-', used, sorted(theirs.steps))
    comparison.same_sums('ops', comparison.table('ops'), lambda row: row['name'], ('calls', 'total_ns'),
                         model.sums(row for step in used for row in theirs.runs(step)))
    return comparison.differences


def formats_of(path, names):
    """How to compare a file, or None: by its content, as its name says little."""
    if path.name.endswith(('.xplane.pb', '.xplane.pb.gz')):
        return compare, xspace.opinion_of
    if path.name.startswith('profile_') and not path.suffix:
        return compare_profile, profile_proto.opinion_of
    if path.name.endswith(('.json', '.json.gz')) and not any('.xplane.pb' in name for name in names):
        begin = kineto.begin_of(path)
        if b'"traceEvents"' in begin and b'"schemaVersion"' in begin:
            return compare, kineto.opinion_of
    return None


def recordings(folder):
    for root, folders, names in os.walk(folder):
        folders.sort()
        folders[:] = [name for name in folders if name != 'expect']  # answers of other tools
        for name in sorted(names):
            path = pathlib.Path(root, name)
            found = formats_of(path, names)
            if found:
                yield path, found


def name_of(path, folder):
    """ "torch-ddp-straggler/slow/rank0": enough of the path to know it by."""
    parts = [part for part in path.relative_to(folder).parts if part not in ('plugins', 'profile')
             and not part.startswith('20')]
    return '/'.join(parts[:-1] + [parts[-1].split('.')[0]]) if parts else path.name


def sketch_all(tfprof, sketches, folder):
    for sketch in sorted(pathlib.Path(sketches).glob('*.synth')):
        for ending in ('.xplane.pb', '.json'):
            target = pathlib.Path(folder, sketch.stem, ending.split('.')[1], sketch.stem + ending)
            target.parent.mkdir(parents=True)
            subprocess.run([tfprof, 'synth', sketch, '-o', target], capture_output=True, check=True)


def look(job):
    tfprof, path, name = job
    check, read = formats_of(path, [path.name])
    gc.collect()  # of the last one; within one there is nothing to collect
    try:
        return name, check(tfprof, str(path), read)
    except ValueError as error:  # no reader can make sense of it: then tfprof has to say so
        try:
            tables(tfprof, str(path))
        except Refused:
            return name, []
        return name, [('failed', '-', repr(error))]
    except (RuntimeError, KeyError, IndexError, Refused) as error:
        return name, [('failed', '-', repr(error))]


def known_differences(path):
    lines = path.read_text().splitlines() if path else []
    return {tuple(line.split(None, 2)) for line in lines if line and not line.startswith('#')}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('tfprof')
    parser.add_argument('folders', nargs='+', type=pathlib.Path)
    parser.add_argument('--known', type=pathlib.Path)
    parser.add_argument('--sketches', type=pathlib.Path)
    parser.add_argument('--sample', nargs=2, action='append', default=[], metavar=('N', 'FOLDER'))
    options = parser.parse_args()
    known, met, wrong = known_differences(options.known), set(), 0
    with tempfile.TemporaryDirectory() as made, ProcessPoolExecutor(initializer=gc.disable) as pool:
        folders = [(folder, 1) for folder in options.folders]
        folders += [(pathlib.Path(folder), int(every)) for every, folder in options.sample]
        if options.sketches:
            sketch_all(options.tfprof, options.sketches, made)
            folders.append((pathlib.Path(made), 1))
        jobs = [(options.tfprof, path, name_of(path, folder)) for folder, every in folders
                for path, _ in list(recordings(folder))[::every]]
        for name, differences in pool.map(look, jobs):
            for what, which, words in differences:
                met.add((name, what, which))
                if (name, what, which) not in known:
                    print('%s: %s %s: %s' % (name, what, which, words[:400]))
                    wrong += 1
    looked = {name for _, _, name in jobs}
    for line in sorted(known - met):
        if line[0] in looked:
            print('%s: no longer differs: remove it from %s' % (' '.join(line), options.known))
            wrong += 1
    print('%d recordings, %d differences of which %d are known' % (len(jobs), len(met), len(met & known)))
    if not jobs:
        print('no recordings below %s' % ', '.join(map(str, options.folders)))
    return 1 if wrong or not jobs else 0


if __name__ == '__main__':
    sys.exit(main())
