"""The functions of `operations.py` as single passes over memory in C, for one CPU core.

`fused.c` is compiled by the C compiler of the machine when it is first needed, and kept in the
user's cache. Matrix products stay PyTorch's.
"""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from ctypes import c_double, c_float, c_long, c_void_p

import torch

FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fused.c")
# Multiples that the vectors of the C code need.
LANES, HEAD_LANES = 16, 32
libraries = {}


class Attention(ctypes.Structure):
    """`struct attention` of the C code."""

    _fields_ = [
        *((name, c_long) for name in ("texts", "length", "queries", "heads", "key_heads")),
        *((name, c_long) for name in ("width", "query_stride", "key_stride")),
        *((name, c_void_p) for name in ("query", "keys", "values", "places")),
        *((name, c_void_p) for name in ("cosine", "sine", "weight_logs")),
    ]


def fits(shape):
    """Whether a model's sizes suit the vectors."""
    return (
        shape.width % LANES == 0
        and shape.feed_forward % LANES == 0
        and shape.head_width % HEAD_LANES == 0
    )


def prepare(compute):
    """Compiles and loads the code for one kind of number; why it cannot, or `None`."""
    if compute in libraries:
        return None
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        return "there is no C compiler"
    flags = [*FLAGS, *(["-DBF16"] if compute == torch.bfloat16 else [])]
    with open(SOURCE, "rb") as file:
        source = file.read()
    known = hashlib.sha256(source + repr((flags, compiler, processor())).encode()).hexdigest()
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = os.path.join(cache, "ndbg-agent", f"fused-{known[:16]}.so")
    try:
        if not os.path.exists(path):
            build(compiler, flags, path)
        libraries[compute] = declare(ctypes.CDLL(path))
    except (OSError, subprocess.CalledProcessError) as error:
        return f"`fused.c` does not compile: {getattr(error, 'stderr', None) or error}"
    return None


def build(compiler, flags, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # Several processes may come at once: each writes a file of its own, the last rename stays.
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        made = os.path.join(folder, "fused.so")
        words = [compiler, *flags, "-shared", "-fPIC", SOURCE, "-o", made, "-lm"]
        subprocess.run(words, check=True, capture_output=True, text=True)
        os.replace(made, path)


def processor():
    """What `-march=native` depends on."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = file.read().splitlines()
        return next(line for line in lines if line.startswith(("flags", "Features")))
    except (OSError, StopIteration):
        return platform.processor()


def declare(library):
    pointer = c_void_p
    signatures = {
        "add_norm": [c_long, c_long, *[pointer] * 3, c_float, *[pointer] * 3],
        "add_norm_back": [c_long, c_long, *[pointer] * 8],
        "swiglu": [c_long, c_long, *[pointer] * 2],
        "swiglu_back": [c_long, c_long, *[pointer] * 3],
        "cross_entropy": [c_long, c_long, *[pointer] * 2, c_float, pointer],
        "attend": [pointer] * 2,
        "attend_back": [pointer] * 5,
    }
    for name, types in signatures.items():
        function = getattr(library, name)
        function.argtypes = types
        function.restype = c_double if name == "cross_entropy" else None
    return library


def norm(stream, gain, epsilon, compute):
    return Norm.apply(stream, gain, epsilon, compute)


def add_norm(stream, delta, gain, epsilon, compute):
    return AddNorm.apply(stream, delta, gain, epsilon)


def swiglu(joined):
    return Swiglu.apply(joined)


def attend(joined, tables, shape):
    return Attend.apply(joined, *tables, shape)


def attend_at(query, joined, at, tables, shape):
    return AttendAt.apply(query, joined, at, *tables, shape)


def cross_entropy(logits, targets, factor):
    """As in `operations.py`; the logits are lost."""
    return CrossEntropy.apply(logits, targets, factor)


def address(tensor):
    return None if tensor is None else tensor.data_ptr()


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stream, gain, epsilon, compute):
        stream = stream.contiguous()
        normed = torch.empty(stream.shape, dtype=compute)
        scale = torch.empty(stream.shape[:-1])
        libraries[compute].add_norm(
            scale.numel(), stream.shape[-1], address(stream), None, address(gain), epsilon, None,
            address(normed), address(scale),
        )  # fmt: skip
        ctx.save_for_backward(stream, gain, scale)
        return normed

    @staticmethod
    def backward(ctx, d_normed):
        return *norm_back(ctx, None, d_normed, False)[::2], None, None


class AddNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stream, delta, gain, epsilon):
        stream, delta = stream.contiguous(), delta.contiguous()
        total, normed = torch.empty_like(stream), torch.empty_like(delta)
        scale = torch.empty(stream.shape[:-1])
        libraries[delta.dtype].add_norm(
            scale.numel(), stream.shape[-1], address(stream), address(delta), address(gain),
            epsilon, address(total), address(normed), address(scale),
        )  # fmt: skip
        ctx.save_for_backward(total, gain, scale)
        ctx.set_materialize_grads(False)
        return total, normed

    @staticmethod
    def backward(ctx, d_total, d_normed):
        return *norm_back(ctx, d_total, d_normed, True), None


def norm_back(ctx, d_total, d_normed, with_delta):
    """Gradients of the stream, of what was added to it, and of the gain."""
    total, gain, scale = ctx.saved_tensors
    d_normed = d_normed.contiguous()
    d_total = None if d_total is None else d_total.contiguous()
    d_stream, d_gain = torch.empty_like(total), torch.zeros_like(gain)
    d_delta = torch.empty_like(d_normed) if with_delta else None
    libraries[d_normed.dtype].add_norm_back(
        scale.numel(), gain.numel(), address(total), address(gain), address(scale),
        address(d_total), address(d_normed), address(d_stream), address(d_delta), address(d_gain),
    )  # fmt: skip
    return d_stream, d_delta, d_gain


class Swiglu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, joined):
        width = joined.shape[-1] // 2
        out = joined.new_empty(*joined.shape[:-1], width)
        libraries[joined.dtype].swiglu(out.numel() // width, width, address(joined), address(out))
        ctx.save_for_backward(joined)
        return out

    @staticmethod
    def backward(ctx, d_out):
        (joined,) = ctx.saved_tensors
        width = joined.shape[-1] // 2
        d_out, d_joined = d_out.contiguous(), torch.empty_like(joined)
        libraries[joined.dtype].swiglu_back(
            d_out.numel() // width, width, address(joined), address(d_out), address(d_joined)
        )
        return d_joined


def columns(tensor, place):
    """Address of the column `place` of a matrix."""
    return tensor.data_ptr() + place * tensor.element_size()


class Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, joined, cosine, sine, shape):
        ctx.shape = shape
        texts, length, _ = joined.shape
        logs = torch.empty(texts, shape.heads, length)
        ctx.save_for_backward(joined, cosine, sine, logs)
        out = joined.new_empty(texts, length, shape.width)
        task = Attend.task(shape, joined, cosine, sine, logs)
        libraries[joined.dtype].attend(ctypes.byref(task), address(out))
        return out

    @staticmethod
    def task(shape, joined, cosine, sine, logs):
        texts, length, stride = joined.shape
        narrow = shape.kv_heads * shape.head_width
        return Attention(
            texts, length, length, shape.heads, shape.kv_heads, shape.head_width, stride, stride,
            address(joined), columns(joined, shape.width), columns(joined, shape.width + narrow),
            None, address(cosine), address(sine), address(logs),
        )  # fmt: skip

    @staticmethod
    def backward(ctx, d_out):
        joined, cosine, sine, logs = ctx.saved_tensors
        d_out, d_joined = d_out.contiguous(), torch.empty_like(joined)
        task = Attend.task(ctx.shape, joined, cosine, sine, logs)
        width = ctx.shape.width
        narrow = ctx.shape.kv_heads * ctx.shape.head_width
        libraries[joined.dtype].attend_back(
            ctypes.byref(task), address(d_out), address(d_joined), columns(d_joined, width),
            columns(d_joined, width + narrow),
        )  # fmt: skip
        return d_joined, None, None, None


class AttendAt(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, joined, at, cosine, sine, shape):
        ctx.shape = shape
        at = at.contiguous()
        logs = torch.empty(at.shape[0], shape.heads, at.shape[1])
        ctx.save_for_backward(query, joined, at, cosine, sine, logs)
        out = torch.empty_like(query)
        task = AttendAt.task(shape, query, joined, at, cosine, sine, logs)
        libraries[joined.dtype].attend(ctypes.byref(task), address(out))
        return out

    @staticmethod
    def task(shape, query, joined, at, cosine, sine, logs):
        texts, length, stride = joined.shape
        return Attention(
            texts, length, at.shape[1], shape.heads, shape.kv_heads, shape.head_width,
            query.shape[-1], stride, address(query), address(joined), columns(joined, stride // 2),
            address(at), address(cosine), address(sine), address(logs),
        )  # fmt: skip

    @staticmethod
    def backward(ctx, d_out):
        query, joined, at, cosine, sine, logs = ctx.saved_tensors
        d_out, d_query = d_out.contiguous(), torch.empty_like(query)
        d_joined = torch.empty_like(joined)
        task = AttendAt.task(ctx.shape, query, joined, at, cosine, sine, logs)
        libraries[joined.dtype].attend_back(
            ctypes.byref(task), address(d_out), address(d_query), address(d_joined),
            columns(d_joined, joined.shape[-1] // 2),
        )  # fmt: skip
        return d_query, d_joined, None, None, None, None


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets, factor):
        vocabulary = logits.shape[-1]
        room = torch.empty(vocabulary)
        total = libraries[logits.dtype].cross_entropy(
            targets.numel(), vocabulary, address(logits), address(targets), factor, address(room)
        )
        # What was the logits is their gradient now.
        ctx.save_for_backward(logits.detach())
        return torch.tensor(total * factor)

    @staticmethod
    def backward(ctx, d_loss):
        (gradient,) = ctx.saved_tensors
        return gradient if float(d_loss) == 1.0 else gradient * d_loss, None, None
