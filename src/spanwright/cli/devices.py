"""What the commands that run a network have in common: the options of device and precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from spanwright.devices import KNOWN, AnyDevice, Precision, chosen_device, shown_device

if TYPE_CHECKING:
    import torch

Device = Annotated[
    str,
    typer.Option(metavar="DEVICE", help=f"What runs the network: {KNOWN}; auto takes a GPU if there is one."),
]
PrecisionName = Annotated[
    Precision,
    typer.Option(help="What Transformer blocks compute in; 16 bits are for GPUs and some CPUs."),
]


def shown_choice(asked: str) -> torch.device:
    """The device that was asked for; a GPU is shown to the user."""
    device = chosen_device(asked)
    tell_device(device)
    return device


def tell_device(device: AnyDevice) -> None:
    """Say which GPU it is; that it is the CPU needs no words."""
    if device.type != "cpu":
        typer.echo(f"note: on {shown_device(device)}", err=True)
