"""Special tokens: those that stand for no word of a text, such as [CLS] and [PAD]."""

from __future__ import annotations

from typing import Any

ROLES = ("bos_token_id", "eos_token_id", "sep_token_id", "pad_token_id", "cls_token_id", "mask_token_id")


def special_ids(tokenizer: Any) -> frozenset[int]:
    """The numbers of a tokenizer's special tokens.

    [UNK] is none of them, since it stands for a word that the tokenizer does not know, unless it has another role too,
    as in GPT-2, whose one special token has all of them.

    Args:
        tokenizer: One of transformers.

    Example:
        >>> from types import SimpleNamespace
        >>> from offsphere.encode.special_tokens import special_ids
        >>> sorted(special_ids(SimpleNamespace(all_special_ids=[0, 1, 2], unk_token_id=1, pad_token_id=0)))
        [0, 2]
    """
    others = {getattr(tokenizer, role, None) for role in ROLES}
    return frozenset(tokenizer.all_special_ids) - ({tokenizer.unk_token_id} - others)
