"""Several processes that train one model, as `accelerate launch` or `torchrun` start them.

Without sharding each process has the whole model and gradients are averaged (DDP); with it each
holds a part of every weight (FSDP2). A checkpoint holds whole tensors either way, so that a run may
go on with another number of processes. Large tensors are gathered for it one at a time.
"""

import os
from dataclasses import dataclass

import torch
import torch.distributed as distributed
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.nn.parallel import DistributedDataParallel


@dataclass(frozen=True)
class Workers:
    """`rank` of `count`, where it computes, and whether weights are sharded."""

    rank: int
    count: int
    device: torch.device
    sharded: bool

    @property
    def first(self):
        return self.rank == 0


def join():
    """Meets the other processes that the environment tells of."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    cuda = torch.cuda.is_available() and not truth("ACCELERATE_USE_CPU")
    place = int(os.environ.get("LOCAL_RANK", "0"))
    device = torch.device("cuda", place) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    if count == 1:
        return Workers(0, 1, device, False)
    distributed.init_process_group("nccl" if cuda else "gloo")
    return Workers(distributed.get_rank(), count, device, truth("ACCELERATE_USE_FSDP"))


def truth(name):
    return os.environ.get(name, "").lower() in ("1", "true", "yes")


def leave(workers):
    if workers.count > 1:
        distributed.destroy_process_group()


def spread(model, workers, blocks=(), half=False):
    """What to call for the loss; `model` itself is changed if it is sharded.

    `blocks` are the modules that are gathered one after the other. `half` gathers and computes
    in bf16.
    """
    model.to(workers.device)
    if workers.count == 1:
        return model
    if not workers.sharded:
        ids = [workers.device.index] if workers.device.type == "cuda" else None
        return DistributedDataParallel(model, device_ids=ids)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16 if half else None)
    mesh = distributed.init_device_mesh(workers.device.type, (workers.count,))
    for block in blocks:
        fully_shard(block, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return model


def add_up(workers, values):
    """The sums of numbers over all processes."""
    if workers.count == 1:
        return values
    tensor = torch.tensor(values, dtype=torch.float64, device=workers.device)
    distributed.all_reduce(tensor)
    return tensor.tolist()


def collect(workers, value):
    """A list with every process's small value."""
    if workers.count == 1:
        return [value]
    values = [None] * workers.count
    distributed.all_gather_object(values, value)
    return values


def local(tensor):
    """The part of a tensor that lies here."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def whole(tensor):
    """All of a tensor; every process must ask."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def part(tensor, like):
    """The part of the whole `tensor` that lies here if it is sharded as `like` is."""
    if not isinstance(like, DTensor):
        return tensor
    placed = distribute_tensor(
        tensor.to(like.device), like.device_mesh, like.placements, src_data_rank=None
    )
    return placed.to_local()


def rejoin(piece, like):
    """The whole of a tensor of which every process holds the piece that `part` gives."""
    if not isinstance(like, DTensor):
        return piece
    return DTensor.from_local(
        piece, like.device_mesh, like.placements, shape=like.shape, stride=like.stride()
    ).full_tensor()


def wait(workers):
    """Until every process is here."""
    if workers.count > 1:
        distributed.barrier()
