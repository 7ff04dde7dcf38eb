"""Where torch computes: a device that somebody names, or the one that torch finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offsphere.base.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    import torch

EXAMPLES = "cpu, cuda, cuda:1 or mps"


def named_device(name: str) -> torch.device:
    """Read the name of a device, whether or not there is one on this machine.

    Args:
        name: As torch writes it.

    Returns:
        The device.

    Raises:
        ParameterError: Torch knows no such kind of device.
        MissingExtraError: Torch is not installed.

    Example:
        >>> named_device("cuda:1").index
        1
    """
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "learn") from error
    try:
        return torch.device(name)
    except (RuntimeError, TypeError, ValueError) as error:
        raise ParameterError(f"device {name!r}: torch knows no such device, name {EXAMPLES}") from error


def usable_device(name: str | None = None) -> torch.device:
    """The device of a name, where this machine has it; without a name what torch finds: a graphics card, or the CPU.

    Args:
        name: As torch writes it.

    Returns:
        The device.

    Raises:
        ParameterError: Torch knows no such kind of device, or has none here.
        MissingExtraError: Torch is not installed.

    Example:
        >>> usable_device("cpu").type
        'cpu'
    """
    device = named_device(name if name is not None else "cpu")
    import torch

    if name is None:
        found = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        return torch.device(found)
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, ImportError) as error:
        raise ParameterError(f"device {name!r}: torch finds none here: leave the device out, or name cpu") from error
    return device
