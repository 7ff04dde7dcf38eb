"""What numbers mean in plain words: every finding of a verdict is told here, from its claim and its numbers alone.

Sections, tables and results say a sentence of their own where they are; the words of certainty, and how a change, a
share or a p is written, come from here.
"""
