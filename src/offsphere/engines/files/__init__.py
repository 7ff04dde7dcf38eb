"""Vectors to and from other people's files."""
