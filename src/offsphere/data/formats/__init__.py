"""One file a format or a way to make a task: what is on disk or on the hub becomes a task."""
