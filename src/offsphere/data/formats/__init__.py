"""One file for each format, or way to make a task: what is on disk or on the hub becomes a task."""
