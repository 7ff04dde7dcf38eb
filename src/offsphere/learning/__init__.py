"""Learning with each side's normalisation under control: losses, regularisers, adapters, encoders. Needs torch."""
