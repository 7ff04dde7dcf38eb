"""Collections that exist: read where they lie, and judged."""
