"""Several processes that train one model together, as torchrun starts them; or one, which asks nobody.

Every process has the whole model and all documents. Of each optimiser step a process takes some parts of the
batches; then gradients are summed, and all make the same step. The first process alone scores, writes and
reports; what it decides goes to all others, and so does its failure.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import nn

from spanwright.arrays import Integers
from spanwright.devices import AUTO, chosen_device
from spanwright.errors import InputError, SpanwrightError
from spanwright.training.runtime import shared_threads

_STEP_TIME = timedelta(minutes=30)
"""How long a process waits for the others' gradients; one that is lost must not stop the rest for ever."""
_WORK_TIME = timedelta(hours=12)
"""How long the others wait while the first process scores, calibrates or writes."""
_PROCESSOR = torch.device("cpu")
_VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")

Answer = TypeVar("Answer")


class ProcessError(SpanwrightError):
    """Another process of the same training failed."""


@dataclass(frozen=True, slots=True, eq=False)
class BatchPart:
    """Windows that one process trains on at once: a batch, or a part of one."""

    positions: Integers
    draw: tuple[int, ...]
    """What everything random depends on: seed, epoch, number of the batch and, if it is cut, of the part."""
    share: float
    """Its share of the windows of the step."""


def parts_of(
    group: Sequence[Integers], *, draw: tuple[int, int], first: int, accumulate: int, processes: int
) -> list[BatchPart]:
    """The parts of the batches of one optimiser step, the same in every process.

    `draw` is seed and epoch, `first` the number of the first batch in its epoch. Where steps have at least as
    many batches as there are processes, batches stay whole. Else each is cut by windows, so that there is
    equally much to do for all.
    """
    cuts = 1 if accumulate >= processes else processes // math.gcd(accumulate, processes)
    windows = sum(len(batch) for batch in group)
    parts: list[BatchPart] = []
    for number, batch in enumerate(group, start=first):
        for cut in range(min(cuts, len(batch))):
            # In turns, as the windows of a batch stand by length: all parts are equally long.
            positions = batch[cut::cuts]
            place = (*draw, number, cut) if cuts > 1 else (*draw, number)
            parts.append(BatchPart(positions, place, len(positions) / windows))
    return parts


@dataclass(frozen=True, slots=True, eq=False)
class Processes:
    """Which process this is, of how many, and what they do together."""

    rank: int = 0
    count: int = 1
    device: torch.device = _PROCESSOR
    waiting: dist.ProcessGroup | None = None
    """For what the first process does alone; it has a longer time limit. None for a single process."""

    @property
    def is_first(self) -> bool:
        """Whether this process scores, writes and reports."""
        return self.rank == 0

    def own(self, parts: Sequence[BatchPart]) -> Sequence[BatchPart]:
        """The parts that this process trains on; there may be none."""
        return parts[self.rank :: self.count]

    def from_first(self, work: Callable[[], Answer]) -> Answer:
        """Let the first process do some work while the others wait; its answer, or its failure, is all's."""
        if self.waiting is None:
            return work()
        sent: list[Any] = [None, None]
        failure: Exception | None = None
        if self.is_first:
            try:
                sent[0] = work()
            except Exception as error:
                failure, sent[1] = error, f"{type(error).__name__}: {error}"
        dist.broadcast_object_list(sent, src=0, group=self.waiting, device=_PROCESSOR)
        if failure is not None:
            raise failure
        if sent[1] is not None:
            raise ProcessError(f"the first process failed: {sent[1]}")
        answer: Answer = sent[0]
        return answer

    def share_weights(self, network: nn.Module) -> None:
        """Give all processes the weights of the first."""
        if self.waiting is None:
            return
        for tensor in chain(network.parameters(), network.buffers()):
            # A copy, as a broadcast needs its numbers in a row, and weights need not be.
            sent = tensor.detach().contiguous()
            dist.broadcast(sent, src=0)
            tensor.detach().copy_(sent)

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Add up the gradients of all processes; those of this one are replaced by the sums."""
        if self.waiting is None:
            return
        by_kind: dict[torch.dtype, list[nn.Parameter]] = {}
        for parameter in parameters:
            if parameter.requires_grad:
                by_kind.setdefault(parameter.dtype, []).append(parameter)
        for learning in by_kind.values():
            _sum_flat(learning)

    def sums(self, *values: float) -> list[float]:
        """Numbers added up over all processes."""
        if self.waiting is None:
            return list(values)
        row = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(row)
        return row.tolist()


def _sum_flat(parameters: Sequence[nn.Parameter]) -> None:
    """Sum the gradients of parameters of one type as one row.

    A gradient that is missing here counts as zero. One that is missing everywhere stays missing: from a zero,
    the optimiser would decay a weight that has not been trained. So the row ends with how many have each.
    """
    present = [float(parameter.grad is not None) for parameter in parameters]
    rows = [
        (torch.zeros_like(parameter) if parameter.grad is None else parameter.grad).flatten()
        for parameter in parameters
    ]
    flat = torch.cat([*rows, rows[0].new_tensor(present)])
    dist.all_reduce(flat)
    sizes = [parameter.numel() for parameter in parameters]
    *summed, counts = torch.split(flat, [*sizes, len(sizes)])
    for parameter, gradient, count in zip(parameters, summed, counts.tolist(), strict=True):
        parameter.grad = gradient.view_as(parameter) if count else None


def is_first_process() -> bool:
    """Whether this is the process that talks to the user; known before the processes have met."""
    return os.environ.get("RANK", "0") == "0" or int(os.environ.get("WORLD_SIZE", "1")) == 1


def refuse_several(command: str, work: str = "trains one model after another") -> None:
    """An error for a command whose work is that of one process, if torchrun started it more than once."""
    if _several():
        raise InputError(f"{command} {work} in one process; start it without torchrun")


@contextmanager
def joined_processes(asked: str = AUTO) -> Iterator[Processes]:
    """The processes that torchrun started, or this one alone; they part again at the end, also on an error.

    Each has the device that was asked for; where no GPU is named, those of a machine take one each. An error
    here ends this process. Those that wait for it then fail, too: gloo notices that it is gone, and torchrun
    ends what is left.
    """
    device = chosen_device(asked, number=int(os.environ.get("LOCAL_RANK", "0")) if _several() else 0)
    if not _several():
        yield Processes(device=device)
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, timeout=_STEP_TIME)
    try:
        waiting = dist.new_group(backend="gloo", timeout=_WORK_TIME)
        with shared_threads(int(os.environ.get("LOCAL_WORLD_SIZE", "1"))):
            yield Processes(dist.get_rank(), dist.get_world_size(), device, waiting)
    finally:
        dist.destroy_process_group()


def _several() -> bool:
    """Whether the environment is that of a process which torchrun started beside others."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return False
    if missing := [name for name in _VARIABLES if name not in os.environ]:
        raise InputError(
            f"WORLD_SIZE is {os.environ['WORLD_SIZE']}, but {', '.join(missing)} is not set; start several "
            f"processes with torchrun, such as: torchrun --nproc-per-node 2 -m spanwright train ..."
        )
    return True


def check_same(processes: Processes, values: dict[str, Any]) -> None:
    """Refuse processes whose settings or documents differ, as on machines with other files."""
    first = processes.from_first(lambda: values)
    if different := sorted(key for key in values if values[key] != first[key]):
        raise InputError(
            f"process {processes.rank} has other {', '.join(different)} than the first; start "
            f"all with the same command and files"
        )
