"""What numbers are worth: metrics, intervals, tests, cross-validation, power. It knows no tasks and no models."""
