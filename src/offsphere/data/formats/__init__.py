"""One file for each format, or way to make a task: what is on disk or on the hub becomes a task.

``FORMATS`` in ``offsphere/data/load.py`` lists them in the order in which they are asked: the first that recognises
the data loads it.
"""
