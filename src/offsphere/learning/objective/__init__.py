"""The one contrastive objective: losses, normalisation, scale, regularisers. Tensors in, a scalar out."""
