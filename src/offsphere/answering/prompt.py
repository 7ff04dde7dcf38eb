"""What a reader is asked: the passages that were found, the question, and how short the answer is to be."""

from __future__ import annotations

from collections.abc import Sequence

INSTRUCTION = (
    "Answer the question from the passages. Give the answer alone, in as few words as possible: a name, a date, a "
    "number, yes or no. No sentence, no explanation."
)
LONGEST_PASSAGE = 4_000  # characters


def prompt_of(question: str, passages: Sequence[str]) -> str:
    """Write the prompt for a question and the passages that were found for it, best first.

    Example:
        >>> from offsphere.answering.prompt import prompt_of
        >>> prompt_of("Who?", ["It was Ann."]).splitlines()[-2:]
        ['Question: Who?', 'Answer:']
    """
    numbered = [f"[{number}] {' '.join(text.split())[:LONGEST_PASSAGE]}" for number, text in enumerate(passages, 1)]
    return "\n\n".join([INSTRUCTION, *numbered, f"Question: {question}\nAnswer:"])
