"""A GPU that is not there: tensors say that they are on it, and the processor computes them.

Every operation is also run on fake tensors of torch (`FakeTensorMode`), which have devices and no numbers:
they refuse tensors of different devices as a GPU would, and tell where results are. The numbers are real, so
that whatever depends on them, such as the spans that a model finds, is as it would be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch._decomp.decompositions import lstm_data_impl, lstm_impl
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_NAME = "pretended"
_CPU = torch.device("cpu")
_READS = {
    "_local_scalar_dense",
    "nonzero",
    "masked_select",
    "unique_consecutive",
    "_unique2",
    "bincount",
    "repeat_interleave",
}
"""Operations whose result the processor has to wait for, since its size or its value decides what is next."""


_LENGTHS_ON_PROCESSOR = {
    "_pack_padded_sequence": (True, False),
    "_pack_padded_sequence_backward": (True,),
    "_pad_packed_sequence": (True, False),
}
"""Operations that take lengths of sequences from the processor, and which of their results are on the GPU."""


class _Module:
    """What torch asks a kind of devices for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _ANSWERS.get(name, lambda *_, **__: None)


_ANSWERS: dict[str, Any] = {
    "is_available": lambda: True,
    "is_initialized": lambda: True,
    "device_count": lambda: 1,
    "current_device": lambda: 0,
    "_is_in_bad_fork": lambda: False,
}

# A build without CUDA has no place for tensors of CUDA, but every build has one for a kind of one's own.
_setup_privateuseone_for_python_backend(_NAME, _Module())
GPU = torch.device(_NAME, 0)


class GpuTensor(Tensor):
    """A tensor of the pretended GPU; `inner` has its numbers."""

    inner: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> GpuTensor:
        made: GpuTensor = Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=GPU,
        )
        made.inner = inner
        return made

    def __repr__(self, **_: Any) -> str:
        return f"GpuTensor({self.inner!r})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise AssertionError(f"{func}: outside of the pretended GPU")


class PretendedGpu(TorchDispatchMode):
    """Computes everything while it is entered; counts what the processor waits for."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: Counter[str] = Counter()
        self._fake = FakeTensorMode()
        self._known: dict[tuple[Any, ...], Any] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        flat, form = tree_flatten((args, kwargs or {}))
        on_gpu = [isinstance(each, GpuTensor) for each in flat]
        if not any(on_gpu) and not any(_is_gpu(each) for each in flat):
            return func(*args, **(kwargs or {}))
        # Tensors of the inference mode are of another kind, which wrappers cannot be views of; and without
        # gradients, operations come here before they are taken apart.
        with torch.inference_mode(False):
            with self:
                made = func.decompose(*args, **(kwargs or {}))
            return self._run(func, flat, form) if made is NotImplemented else made

    def _run(self, func: Any, flat: list[Any], form: Any) -> Any:
        self._check(func, flat)
        self._count(func, flat)
        devices = self._devices(func, flat, form)
        args, kwargs = tree_unflatten(flat, form)
        plain_args, plain_kwargs = tree_unflatten([_plain(each) for each in flat], form)
        plain_kwargs.pop("pin_memory", None)
        made, made_form = tree_flatten(func(*plain_args, **plain_kwargs))
        if func._schema.is_mutable:
            return _changed(func, args, kwargs, made, made_form)
        return tree_unflatten(
            [_placed(each, device) for each, device in zip(made, devices(made), strict=True)], made_form
        )

    def _check(self, func: Any, flat: list[Any]) -> None:
        """Apple's GPUs have no numbers of 64 bits, and those of others are slow with them."""
        wide = [each for each in flat if isinstance(each, GpuTensor) and each.dtype == torch.float64]
        assert not wide, f"{func}: numbers of 64 bits on a GPU"

    def _count(self, func: Any, flat: list[Any]) -> None:
        name = _name(func)
        masks = any(isinstance(each, GpuTensor) and each.dtype == torch.bool for each in flat[1:])
        if name in _READS or (name.startswith(("index", "_index_put")) and masks):
            self.waits[name] += 1
        elif name == "_to_copy" and isinstance(flat[0], GpuTensor) and _CPU in flat:
            self.waits["to the processor"] += 1

    def _devices(self, func: Any, flat: list[Any], form: Any) -> Any:
        """Where the results are, by the rules of fake tensors, which refuse a mixture."""
        if places := _LENGTHS_ON_PROCESSOR.get(_name(func)):
            tensors = [each for each in flat if isinstance(each, Tensor)]
            assert [each.device.type for each in tensors] == [_NAME, "cpu"], func
            return lambda _: [GPU if on_gpu else _CPU for on_gpu in places]
        # Whatever the sizes: a device is decided by those of the others, and by which are single numbers.
        key = (func, *(_kind(each) for each in flat))
        if key not in self._known:
            self._known[key] = self._asked(func, flat, form)
        return self._known[key]

    def _asked(self, func: Any, flat: list[Any], form: Any) -> Any:
        faked = [self._faked(each) for each in flat]
        args, kwargs = tree_unflatten(faked, form)
        try:
            with self._fake:
                made = tree_flatten(func(*args, **kwargs))[0]
        except (DataDependentOutputException, DynamicOutputShapeException):
            device, _ = FakeTensor._find_common_device(func, faked)
            return lambda results: [device] * len(results)
        devices = [each.device if isinstance(each, Tensor) else None for each in made]
        # How many there are may depend on sizes, as of what `split` makes.
        return lambda results: devices[:1] * len(results) if len(set(devices)) == 1 else devices

    def _faked(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        empty = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
        return FakeTensor(self._fake, empty, value.device)


class _Calls(TorchFunctionMode):
    """Calls that would not come to the GPU as they are: LSTMs, one operation there that processors do not
    have, are taken apart, and lists are made as torch makes them, on the processor."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is Tensor.tolist and isinstance(args[0], GpuTensor):
            return args[0].cpu().tolist()
        if func is torch._VF.lstm and isinstance(args[0], GpuTensor):
            packed = isinstance(args[3], tuple | list)
            return (lstm_data_impl if packed else lstm_impl)(*args)
        return func(*args, **(kwargs or {}))


def _name(func: Any) -> str:
    return str(func._schema.name.removeprefix("aten::"))


def _kind(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.device, value.dim() == 0
    return value if isinstance(value, torch.device) else type(value)


def _is_gpu(value: object) -> bool:
    return isinstance(value, torch.device) and value.type == _NAME


def _plain(value: Any) -> Any:
    if isinstance(value, GpuTensor):
        return value.inner
    return _CPU if _is_gpu(value) else value


def _placed(value: Any, device: torch.device | None) -> Any:
    return (
        GpuTensor(value)
        if isinstance(value, Tensor) and device is not None and device.type == _NAME
        else value
    )


def _changed(func: Any, args: Any, kwargs: Any, made: list[Any], form: Any) -> Any:
    """What an operation that writes into its arguments returns: those of them that it names."""
    given = {
        argument.name: (args[at] if at < len(args) else kwargs.get(argument.name))
        for at, argument in enumerate(func._schema.arguments)
    }
    by_alias = {}
    for argument in func._schema.arguments:
        if argument.alias_info is not None and argument.alias_info.is_write:
            for name in argument.alias_info.before_set:
                by_alias[name] = given[argument.name]
    returned = []
    for result, value in zip(func._schema.returns, made, strict=False):
        names = result.alias_info.before_set if result.alias_info is not None else ()
        returned.append(next((by_alias[name] for name in names if name in by_alias), value))
    return tree_unflatten(returned, form) if returned else None


@contextmanager
def pretended_gpu() -> Iterator[PretendedGpu]:
    """Let a GPU be there; networks that are moved to `GPU` run on it."""
    # `torch.tensor` then makes its tensor on the processor, and moves it in the sight of all.
    torch._C._set_only_lift_cpu_tensors(True)
    try:
        with _Calls(), PretendedGpu() as gpu:
            yield gpu
    finally:
        torch._C._set_only_lift_cpu_tensors(False)
