#!/usr/bin/env python3
"""Writes runs/placed-by-hand: a graph of TensorFlow 1 as for a program with one GPU and the times that a run there could take, as
there was no such machine to run it on. Needs TensorFlow:  placed_by_hand.py runs/placed-by-hand

Each device, op, size and key is as TensorFlow writes it; the times are made up. What is wrong with it: weights and a table of
constants lie on the CPU, where a running sum is computed in the middle as well; convolutions in 16 bits run with channels first, and
one of them takes a workspace of 1.5 GB."""
import gzip
import pathlib
import sys

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
OUT = pathlib.Path(sys.argv[1])
HOST, GPU = "/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:GPU:0"
STREAM = "/device:GPU:0/stream:all"


def build():
    with tf.device(HOST):
        weights = v1.get_variable("fc/weights", (4096, 2048), use_resource=False)
        table = tf.constant(np.linspace(0, 1, 1 << 20, dtype=np.float32).reshape(512, 2048), name="positions")
    with tf.device(GPU):
        x = v1.placeholder(tf.float16, (64, 64, 32, 32), name="images")
        for i in range(2):
            kernel = v1.get_variable(f"conv{i}/kernel", (3, 3, 64, 64), tf.float16, use_resource=False)
            x = tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME", data_format="NCHW", name=f"conv{i}/Conv2D"), name=f"conv{i}/Relu")
        x = tf.cast(tf.reshape(x, (1024, 4096)), tf.float32)
        x = tf.matmul(x, weights, name="fc/MatMul")
    with tf.device(HOST):
        x = tf.cumsum(x, axis=0, name="sum/Cumsum")
    with tf.device(GPU):
        x = tf.add(tf.reshape(x, (2, 512, 2048)), table, name="sum/add")
        return tf.reduce_mean(x, name="loss")


TIMES = {"conv0/Conv2D": 8000, "conv1/Conv2D": 8000, "fc/MatMul": 3000, "sum/Cumsum": 9000, "sum/add": 400, "loss": 200}
graph = tf.Graph()
with graph.as_default():
    build()
graph_def = graph.as_graph_def(add_shapes=True)
meta, now = v1.RunMetadata(), 1_700_000_000_000_000
devices = {name: meta.step_stats.dev_stats.add(device=name) for name in (HOST, GPU, STREAM)}
for node in graph_def.node:
    micros = TIMES.get(node.name, 5)
    for name in {HOST: (HOST,), GPU: (GPU, STREAM)}.get(node.device, (HOST,)):
        stats = devices[name].node_stats.add(node_name=node.name, all_start_micros=now, op_start_rel_micros=1,
                                             op_end_rel_micros=micros, all_end_rel_micros=micros + 1)
        stats.timeline_label = f"{node.name} = {node.op}({', '.join(node.input)})"
        if name == STREAM:
            stats.node_name = f"{node.name}:{node.op}"
        elif name == GPU and node.op == "Conv2D":
            stats.memory_stats.temp_memory_size = 1_500_000_000 if node.name == "conv0/Conv2D" else 0
        for output in node.attr["_output_shapes"].list.shape if name != STREAM else ():
            described = stats.output.add().tensor_description
            described.dtype = node.attr["T"].type or node.attr["dtype"].type
            described.shape.CopyFrom(output)
            size = int(np.prod([dim.size for dim in output.dim])) * (tf.as_dtype(described.dtype).size if described.dtype else 4)
            described.allocation_description.requested_bytes = described.allocation_description.allocated_bytes = size
    now += micros + 2
OUT.mkdir(exist_ok=True)
for name, message in ("graph.pb", graph_def), ("run_meta_0", meta):
    if name == "graph.pb":
        for node in message.node:
            if node.name == "positions":      # its values are of no interest
                node.attr["value"].tensor.tensor_content = b""
    (OUT / f"{name}.gz").write_bytes(gzip.compress(message.SerializeToString(), mtime=0))
