/* user_source: which frames are the user's own, by where their files lie. */
#include "base/macros.h"
#include "model/profile.h"

#include <string.h>

/* Anywhere in a path. */
static const struct str folders[] = {
    STR_INIT("site-packages/"),
    STR_INIT("dist-packages/"),
    STR_INIT("/lib/python3"),
    STR_INIT("/tensorflow/python/"),
    STR_INIT("/tensorflow_core/python/"),
    STR_INIT("/tf_keras/"),
    STR_INIT("/keras/src/"),
    STR_INIT("/torch/nn/"),
    STR_INIT("/jax/_src/"),
};
/* Profilers of Python cut paths at the folder that packages are installed in. */
static const char *const packages[] = {
    "torch",
    "torchvision",
    "torchaudio",
    "torchmetrics",
    "torchtext",
    "transformers",
    "timm",
    "lightning",
    "pytorch_lightning",
    "lightning_fabric",
    "lightning_utilities",
    "accelerate",
    "datasets",
    "tokenizers",
    "huggingface_hub",
    "safetensors",
    "peft",
    "diffusers",
    "deepspeed",
    "fairscale",
    "xformers",
    "flash_attn",
    "triton",
    "functorch",
    "numpy",
    "scipy",
    "pandas",
    "sklearn",
    "PIL",
    "cv2",
    "matplotlib",
    "tqdm",
    "einops",
    "jax",
    "jaxlib",
    "flax",
    "optax",
    "haiku",
    "equinox",
    "orbax",
    "chex",
    "numpyro",
    "distrax",
    "jraph",
    "tensorflow",
    "keras",
    "tf_keras",
    "tensorboard",
    "tensorboardX",
    "absl",
    "google",
    "grain",
    "apex",
    "bitsandbytes",
    "vllm",
    "sglang",
    "megatron",
    "wandb",
    "mlflow",
    "psutil",
    "fsspec",
    "pyarrow",
    "h5py",
    "dill",
    "multiprocess",
    "filelock",
    "packaging",
    "yaml",
    "requests",
    "urllib3",
    "regex",
    "sympy",
    "networkx",
    "jinja2",
    /* Python's own */
    "asyncio",
    "collections",
    "concurrent",
    "ctypes",
    "email",
    "encodings",
    "html",
    "http",
    "importlib",
    "json",
    "logging",
    "multiprocessing",
    "re",
    "sqlite3",
    "unittest",
    "urllib",
    "xml",
    "zoneinfo",
};
/* Modules of Python that are one file. */
static const char *const modules[] = {
    "abc",
    "argparse",
    "ast",
    "base64",
    "bisect",
    "bz2",
    "codecs",
    "contextlib",
    "copy",
    "copyreg",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "dis",
    "enum",
    "fnmatch",
    "fractions",
    "functools",
    "genericpath",
    "getpass",
    "glob",
    "gzip",
    "hashlib",
    "heapq",
    "hmac",
    "inspect",
    "io",
    "ipaddress",
    "keyword",
    "linecache",
    "locale",
    "lzma",
    "numbers",
    "opcode",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "pkgutil",
    "platform",
    "posixpath",
    "pprint",
    "queue",
    "random",
    "reprlib",
    "runpy",
    "sched",
    "secrets",
    "selectors",
    "shutil",
    "signal",
    "site",
    "socket",
    "socketserver",
    "sre_compile",
    "sre_parse",
    "ssl",
    "stat",
    "statistics",
    "string",
    "struct",
    "subprocess",
    "sysconfig",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "timeit",
    "token",
    "tokenize",
    "traceback",
    "types",
    "typing",
    "typing_extensions",
    "uuid",
    "warnings",
    "weakref",
    "zipfile",
    "_collections_abc",
    "_weakrefset",
};

static bool is_listed(struct str name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(name, str_from(list[i])))
            return true;
    return false;
}

static bool is_library(struct str file)
{
    size_t slash = str_find(file, '/');

    if (file.len == 0 || file.data[0] == '<')
        return true;
    for (size_t i = 0; i < ARRAY_COUNT(folders); i++)
        if (str_contains(file, folders[i]))
            return true;
    if (slash < file.len)
        return slash > 0 && is_listed(str_slice(file, 0, slash), packages, ARRAY_COUNT(packages));
    return str_ends(file, STR(".py")) &&
           is_listed(str_slice(file, 0, file.len - 3), modules, ARRAY_COUNT(modules));
}

bool profile_is_user_source(const struct profile *profile, uint32_t source)
{
    return source < profile->sources.count && !profile->sources.items[source].is_packaged &&
           !is_library(profile_str(profile, profile->sources.items[source].file));
}

uint32_t profile_user_source(const struct profile *profile, uint32_t source)
{
    /* No stack is deeper than there are frames, whatever the file says of callers. */
    for (uint32_t frame = source, depth = 0;
         frame < profile->sources.count && depth < profile->sources.count;
         frame = profile->sources.items[frame].caller, depth++)
        if (profile_is_user_source(profile, frame))
            return frame;
    return source;
}

bool profile_mark_packaged(struct profile *profile, struct arena *scratch)
{
    struct intern outermost;

    if (!intern_init(&outermost, scratch))
        return false;
    for (size_t i = 0; i < profile->sources.count; i++)
        if (profile->sources.items[i].caller == NO_ID &&
            intern_add(&outermost, profile_str(profile, profile->sources.items[i].file)) == NO_ID)
            return false;
    for (size_t i = 0; i < profile->sources.count; i++) {
        struct str file = profile_str(profile, profile->sources.items[i].file);

        profile->sources.items[i].is_packaged =
            str_find(file, '/') == file.len && intern_find(&outermost, file) == NO_ID;
    }
    return true;
}
