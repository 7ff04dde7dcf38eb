"""Learning with each side's normalisation under control: losses, regularisers, adapters, ablations. Needs torch."""
