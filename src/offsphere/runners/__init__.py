"""Who works on the shards: this process, or the workers of a cluster; and what is gathered from them."""
