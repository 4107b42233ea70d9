/*
 * kineto_names: what the category and the name of a Kineto event mean. Tables only; knows CUDA,
 * HIP, XPU and MTIA, and the categories of traces from 2021 on ("Operator") as well as today's
 * ("cpu_op").
 */
#ifndef TFPROF_READ_KINETO_NAMES_H
#define TFPROF_READ_KINETO_NAMES_H

#include "base/str.h"
#include "model/profile.h"

enum kineto_class {
    KINETO_OP,
    KINETO_ANNOTATION,
    KINETO_PYTHON,
    KINETO_RUNTIME, /* calls into a driver */
    KINETO_KERNEL,
    KINETO_MEMCPY,
    KINETO_MEMSET,
    KINETO_DEVICE_ANNOTATION,
    KINETO_DEVICE_SYNC,
    KINETO_OVERHEAD,
    KINETO_ACCELERATOR, /* device work whose kind only its name tells (MTIA) */
    KINETO_COUNTERS,
    KINETO_FLOW,   /* forward to backward; on Ascend from ops to what they launched */
    KINETO_LAUNCH, /* launch flows: they repeat what correlation ids say */
    KINETO_FRAME,  /* spans of the profiler itself */
    KINETO_UNKNOWN
};
enum kineto_class   kineto_class(struct str category);
/* Of events without one, as those of Ascend are that are no ops of PyTorch's: work tells its kind of task, and what has
 * no arguments sums the timeline up. */
enum kineto_class kineto_class_without_category(struct str name, bool is_task, bool is_bare);
/* What stands before the kind of event in a category of a backend that is no GPU's: "npu" of "npu_kernel", "hpu" of
 * "hpu_op". A part of `category`; empty: a GPU's, a host's, or none is named. */
struct str          kineto_backend(struct str category);
bool                kineto_is_device(enum kineto_class class);
enum activity_kind  kineto_kind(enum kineto_class class, struct str name);
enum copy_direction kineto_copy(struct str name);
/* "float", "c10::BFloat16", "long int", and NCCL's "Float". */
enum dtype kineto_dtype(struct str name);
bool       kineto_is_tensor_type(struct str name); /* not a scalar, a list of scalars or none */
/* "allreduce", "all_gather_into_tensor_coalesced", "nccl:all_reduce", a kernel's name ->
 * "all-reduce"; empty when it is no collective known. */
struct str kineto_collective(struct str name);

/* The framework that an event of such a name is of, in a trace or in XSpace; empty: any. */
struct str framework_of_event(struct str name);

#endif
