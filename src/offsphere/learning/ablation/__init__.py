"""Many variants of a training under equal conditions, and which claims of the papers hold."""
