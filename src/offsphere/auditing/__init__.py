"""The main job: from evidence to findings to a recommendation, in words a person can check."""
