"""An export: what is stored, how it is served, the filling, and the proof that the engine returns what was measured."""
