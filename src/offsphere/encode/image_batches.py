"""Images on their way to a model: decoded a batch at a time, the next one while the model works on this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from offsphere.base.arrays import Rows
from offsphere.data.image import Image
from offsphere.data.items import Item, as_items

if TYPE_CHECKING:
    from PIL.Image import Image as Picture


def decoded_batches(images: Sequence[Image], size: int) -> Iterator[list[Picture]]:
    """Decode images in their order.

    Args:
        images: Of any length; at most two batches of pictures are in memory.
        size: How many pictures a batch has.

    Yields:
        The pictures of a batch, in RGB.

    Raises:
        DataError: One cannot be read; it is named.
    """
    batches = [images[start : start + size] for start in range(0, len(images), size)]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(_decode, batches[0]) if batches else None
        for following in [*batches[1:], None]:
            if waiting is None:
                return
            pictures = waiting.result()
            waiting = pool.submit(_decode, following) if following is not None else None
            yield pictures


def by_kind(
    items: Sequence[Item], texts: Callable[[Sequence[str]], Rows], images: Callable[[Sequence[Image]], Rows]
) -> Rows:
    """Encode items of both kinds, each kind by its own function, and put the rows into the order of the items.

    Args:
        items: Texts and images, or what becomes them: paths, arrays, pictures of Pillow.
        texts: Encodes texts.
        images: Encodes images.

    Returns:
        One row an item.

    Example:
        >>> import numpy as np
        >>> from offsphere.encode.image_batches import by_kind
        >>> square = np.zeros((1, 1), np.uint8)
        >>> by_kind(["a", square, "b"], lambda t: np.ones((len(t), 1)), lambda i: np.zeros((len(i), 1))).tolist()
        [[1.0], [0.0], [1.0]]
    """
    given = as_items(items) or []
    of_texts = [(row, item) for row, item in enumerate(given) if isinstance(item, str)]
    of_images = [(row, item) for row, item in enumerate(given) if isinstance(item, Image)]
    if not of_images:
        return texts([text for _, text in of_texts])
    if not of_texts:
        return images([image for _, image in of_images])
    rows = np.concatenate([texts([text for _, text in of_texts]), images([image for _, image in of_images])])
    order = np.argsort([row for row, _ in [*of_texts, *of_images]])
    return rows[order]


def _decode(images: Sequence[Image]) -> list[Picture]:
    return [image.picture() for image in images]
