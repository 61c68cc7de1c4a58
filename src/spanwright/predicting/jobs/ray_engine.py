"""The engine of a Ray cluster: Ray Data reads groups in tasks and tags shards in actors that hold the model.

    groups -> tasks that read, a shard at a time -> actors that tag -> this process, which writes the folder

Every machine must see the inputs and the model under the same paths; the folder of the job is only written
here. Ray Data holds reading back while actors are behind, so memory stays bounded. A shard whose actor was
lost is tried again as often as by the local engine, and the bytes are the same.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from spanwright.devices import AUTO
from spanwright.errors import InputError, MissingExtraError, SpanwrightError
from spanwright.predicting.jobs.folder import JobError
from spanwright.predicting.jobs.running import RETRIES, Events, Job, LostShard
from spanwright.predicting.jobs.shard_tagging import Loader, ShardResult, tag_shard
from spanwright.predicting.jobs.shards import Group, GroupEnd, Reading, Shard, unfinished
from spanwright.predicting.tagging_options import TaggingOptions, load_tagger

_READERS_SHARE = 8
"""Actors for each task that reads: reading is much quicker than tagging."""


class RayEngine:
    """Tags with the actors of a Ray cluster."""

    def __init__(
        self, processes: int | None = None, *, address: str | None = None, load: Loader = load_tagger
    ) -> None:
        """As many actors as `processes`, or as the GPUs or else the cores of the cluster allow."""
        self._processes = processes
        self._address = address
        self._load = load
        _import_ray()

    def run(self, job: Job, groups: Sequence[Group], finished: AbstractSet[str]) -> Events:
        """Yield each shard that is not finished as it is tagged or lost, and the end of each group."""
        if not groups:
            return
        ray = _import_ray()
        tagged = set(finished)
        sizes: dict[str, tuple[int, ...]] = {}
        wanted = (self._processes or 0) * (job.tagging.threads or 1)
        with _connected(ray, self._address, wanted), _block_for_each_shard(ray):
            for item in _items(ray, self._dataset(ray, job, groups, finished)):
                if isinstance(item, _Stop):
                    raise InputError(item.reason) if item.is_input else JobError(item.reason)
                if isinstance(item, ShardResult):
                    tagged.add(item.name)
                else:
                    sizes[item.group] = item.sizes
                yield item
        yield from _lost(groups, sizes, tagged)

    def _dataset(self, ray: Any, job: Job, groups: Sequence[Group], finished: AbstractSet[str]) -> Any:
        """The `ray.data.Dataset` of all that is to be done; its rows come one by one as they are made."""
        threads, resources = job.tagging.threads or 1, ray.cluster_resources()
        # Ray shows each actor its own GPUs alone; where one is named, it is that of each machine.
        gpus = int(resources.get("GPU", 0)) if job.tagging.device in (AUTO, "cuda") else 0
        actors = self._processes or gpus or max(1, int(resources.get("CPU", 1)) // threads)
        orders = [_Order(group, job.reading, _of_group(group, finished)) for group in groups]
        rows = ray.data.from_items([{"item": order} for order in orders], override_num_blocks=len(orders))
        return rows.map_batches(
            _read, batch_size=1, num_cpus=0, concurrency=1 + actors // _READERS_SHARE
        ).map_batches(
            _TaggingActor,
            fn_constructor_args=(job.tagging, self._load),
            batch_size=1,
            num_cpus=threads,
            num_gpus=min(1.0, gpus / actors),
            compute=ray.data.ActorPoolStrategy(size=actors, max_tasks_in_flight_per_actor=2),
            max_restarts=-1,
            max_task_retries=RETRIES,
        )


def _items(ray: Any, dataset: Any) -> Iterator[ShardResult | GroupEnd | _Stop]:
    """What comes out of a `ray.data.Dataset`; an end of Ray itself is an end of the job."""
    try:
        for row in dataset.iter_rows():
            yield row["item"]
    except ray.exceptions.RayError as error:
        reason = " ".join(str(error).split())
        raise JobError(f"Ray had to stop: {reason:.300}. What is finished is kept") from error


@dataclass(frozen=True, slots=True)
class _Order:
    """A group to read, and its shards that are finished."""

    group: Group
    reading: Reading
    finished: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Stop:
    """Something for which the whole job has to stop."""

    reason: str
    is_input: bool


def _of_group(group: Group, finished: AbstractSet[str]) -> frozenset[str]:
    return frozenset(name for name in finished if name.startswith(f"{group.name}-"))


def _read(batch: dict[str, Any]) -> Iterator[dict[str, list[Any]]]:
    """Read a group; runs in a task."""
    for order in batch["item"]:
        try:
            for item in unfinished([order.group], order.reading, order.finished):
                yield {"item": [item]}
        except (OSError, SpanwrightError) as error:
            yield {"item": [_Stop(str(error), isinstance(error, InputError))]}


class _TaggingActor:
    """Holds the model in a process of the cluster."""

    def __init__(self, tagging: TaggingOptions, load: Loader) -> None:
        self._tagging = tagging
        self._stop: _Stop | None = None
        try:
            self._tagger = load(tagging)
        except SpanwrightError as error:
            # An error in here would be tried again for ever.
            self._stop = _Stop(str(error), isinstance(error, InputError))

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Tag the shards of a batch; the ends of groups pass."""
        return {"item": [self._done(item) for item in batch["item"]]}

    def _done(self, item: Shard | GroupEnd | _Stop) -> ShardResult | GroupEnd | _Stop:
        if not isinstance(item, Shard):
            return item
        return self._stop or tag_shard(self._tagger, item, self._tagging)


def _lost(
    groups: Sequence[Group], sizes: dict[str, tuple[int, ...]], tagged: AbstractSet[str]
) -> Iterator[LostShard]:
    """What was to come and has not: Ray has given it up after as many losses."""
    for group in groups:
        if group.name not in sizes:
            raise JobError(
                f"{group.inputs[0].path}: the task that was to read it was lost, and the files after it; "
                f"what is finished is kept: run the same command again"
            )
        for number, documents in enumerate(sizes[group.name]):
            if (name := f"{group.name}-{number:05}") not in tagged:
                yield LostShard(name, documents)


@contextmanager
def _connected(ray: Any, address: str | None, cores: int) -> Iterator[None]:
    """A cluster: the one that this process has, that of the address or environment, or one of its own."""
    if ray.is_initialized():
        yield
        return
    is_own = address is None and "RAY_ADDRESS" not in os.environ
    own: dict[str, Any] = {"num_cpus": max(cores, os.cpu_count() or 1), "include_dashboard": False}
    try:
        ray.init(
            address=address, log_to_driver=False, logging_level=logging.WARNING, **(own if is_own else {})
        )
    except Exception as error:  # of many classes, some of them no others' base
        place = "on this machine" if is_own else f"at {address or os.environ['RAY_ADDRESS']}"
        reason = " ".join(str(error).split())
        raise JobError(f"no Ray cluster can be used {place}: {reason:.200}") from error
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _block_for_each_shard(ray: Any) -> Iterator[None]:
    """Let Ray Data hand on each shard by itself: blocks of many would be written late or lost together."""
    context = ray.data.DataContext.get_current()
    wanted = {"target_max_block_size": 1, "max_errored_blocks": -1, "enable_progress_bars": False}
    before = {name: getattr(context, name) for name in wanted}
    try:
        for name, value in wanted.items():
            setattr(context, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(context, name, value)


def _import_ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError:
        raise MissingExtraError("the engine 'ray'", "ray", "ray") from None
    return ray
