"""Every file that comes in is opened here: one reader a kind, which checks what a file claims before it believes it.

A reader gives the right content or raises ``DataError`` with one line, whatever the bytes are. Sizes are checked
against the file before anything is allocated, nothing is unpickled, and what is large is mapped or read in blocks.
"""
