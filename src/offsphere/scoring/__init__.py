"""What a score is: similarities, transforms, and the scorer that joins them; names, files and lowering of scorers."""
