"""The process of one shard: its start, its lease and fence, and what runs next to it."""
