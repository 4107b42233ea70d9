"""Kineto traces (JSON of torch.profiler): what ran, as recorded."""
import gzip
import json
import re
import zlib
from decimal import Decimal

import model

KERNEL, COPY, SET = {'kernel'}, {'gpu_memcpy', 'memcpy'}, {'gpu_memset', 'memset'}
CALL = {'cuda_runtime', 'cuda_driver', 'hip_runtime', 'runtime'}
OP, RANGE = {'cpu_op', 'operator'}, {'user_annotation', 'cpu_op', 'operator'}
HOST_COLLECTIVES = ('nccl:', 'rccl:', 'gloo:', 'mpi:', 'ucc:', 'xccl:', 'hccl:')
DEVICE_COLLECTIVES = re.compile(r'^nccl|^rccl|multimem_all_reduce|cross_device_reduce|\bep::(internode|intranode)::')
DIRECTIONS = {'htod': 'h2d', 'dtoh': 'd2h', 'dtod': 'd2d', 'ptop': 'p2p', 'htoh': 'h2h'}
# Categories "cpu_op" that are no ops but bookkeeping, steps, or what a user wrote around ops.
NO_OPS = ('autograd::engine::evaluate_function', 'ProfilerStep#', 'enumerate(DataLoader)#',
          'enumerate(DataPipe)#', 'Optimizer.', '## Call CompiledFxGraph', 'Torch-Compiled Region',
          'TorchDynamo Cache Lookup', 'Python GC')
# What torch.compile made for a host is called from Python, and no op stands for it.
COMPILED = '<built-in function kernel>'
# Stages of torch.compile, which are no ops; the outermost ones have no suffix.
COMPILER, STAGES = '(dynamo_timed)', {'dynamo', 'entire_frame_compile', 'entire_backward_compile'}


def nanoseconds(text):
    """Microseconds as written, without a float between."""
    if not isinstance(text, str):
        return text * 1000
    whole, _, rest = text.partition('.')
    if not rest.isdigit() or not whole.lstrip('-').isdigit():
        return int(Decimal(text) * 1000)
    part = int((rest + '00')[:3])
    return int(whole) * 1000 + (-part if whole.startswith('-') else part)


def load(path):
    with open(path, 'rb') as file:
        data = file.read()
    if data[:2] == b'\x1f\x8b':
        data = gzip.decompress(data)
    return json.loads(data, parse_float=str)


def number(value, other=0):
    try:
        return int(value)
    except (TypeError, ValueError):
        return other


def device_of(event, args):
    return number(args.get('device', event.get('pid')))


def direction(name):
    words = name.lower().replace('(', ' ').split()
    return next((DIRECTIONS[word] for word in words if word in DIRECTIONS), '')


def add_accelerator(found, name, start, end, args, device):
    """Meta's accelerator: requests to its copy engines and programs; waits are no work."""
    if name.startswith('event_'):
        return
    found.busy.append((device, start, end))
    if name == 'dma_request':
        words = str(args.get('direction', '')).lower().split('_to_')
        way = {'host': 'h', 'device': 'd'}
        found.copies.append(model.Copy('2'.join(way.get(word, '?') for word in words), name, start,
                                         end, number(args.get('size'), None)))
    else:
        found.kernels.append(model.Slice(name, start, end, device))


def add_slice(found, event, start, end):
    category, args = str(event.get('cat', '')).lower(), event.get('args') or {}
    name = event.get('name', '')
    place = (event.get('pid'), event.get('tid'))
    if category in CALL and 'correlation' in args:
        found.calls[args['correlation']] = start
        found.call_places[args['correlation']] = place
    if category in OP | CALL | KERNEL | COPY | SET and not name.startswith(('ProfilerStep#', 'Optimizer.', 'enumerate(')):
        found.work.append((start, end))
    if category in KERNEL | COPY | SET:
        device = device_of(event, args)
        found.busy.append((device, start, end))
        found.launch_done(args.get('correlation'), end)
        if category in COPY:
            found.copies.append(model.Copy(direction(name), name, start, end,
                                             number(args.get('bytes'), None), args.get('correlation')))
        elif category in KERNEL:
            found.kernels.append(model.Slice(name, start, end, device))
            if DEVICE_COLLECTIVES.search(name):
                found.device_collectives.append(model.Slice(name, start, end, device))
        return
    if category == 'mtia_ccp_events':
        add_accelerator(found, name, start, end, args, device_of(event, args))
    elif category in RANGE and name.startswith('ProfilerStep#'):
        found.markers.append((number(name[13:], None), start, end))
        found.marking.add(place)
    elif category in RANGE and (name.startswith(HOST_COLLECTIVES) or name == 'record_param_comms'):
        found.host_collectives.append(model.Slice(name, start, end, place))
        found.ops.append(model.Slice(name, start, end, place))
    elif category in OP and not name.startswith(NO_OPS) and not name.endswith(COMPILER) and name not in STAGES:
        found.ops.append(model.Slice(name, start, end, place))
    elif category == 'python_function' and name == COMPILED:
        found.ops.append(model.Slice(name, start, end, place))


def add_memory(found, args, in_use):
    """Older traces tell what was allocated or freed, later ones also what is in use then."""
    place = 'cpu' if number(args.get('Device Type')) == 0 else number(args.get('Device Id'))
    in_use[place] = number(args.get('Total Allocated', in_use.get(place, 0) + number(args.get('Bytes'))))
    found.memory[place] = max(found.memory.get(place, 0), in_use[place])


def opinion_of(path):
    found, in_use = model.Opinion(), {}
    for event in load(path)['traceEvents']:
        phase = event.get('ph')
        if phase == 'X' and str(event.get('cat', '')) != 'Trace' and 'ts' in event:
            start = nanoseconds(event['ts'])
            end = start + nanoseconds(event.get('dur', 0))
            if end < start:
                continue
            found.see(start, end)
            add_slice(found, event, start, end)
        elif phase in ('i', 'I') and event.get('name') == '[memory]':
            add_memory(found, event.get('args') or {}, in_use)
    found.host_collectives = model.outermost(found.host_collectives)
    found.copies = [copy._replace(asked=found.calls.get(copy.asked) if found.call_places.get(copy.asked) in found.marking
                                  else None) for copy in found.copies]
    return found


def begin_of(path):
    """Enough of a file to know a trace by."""
    with open(path, 'rb') as file:
        data = file.read(1 << 16)
    return zlib.decompressobj(31).decompress(data, 1 << 18) if data[:2] == b'\x1f\x8b' else data
