"""Killing that stays: whatever the moment, a command that is run again ends with what it would have given at once."""
