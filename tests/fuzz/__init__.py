"""Fuzzing that stays: whatever bytes come in, the right answer or one clear line, within the memory limit."""
