"""What a page leaves: one operation after another in the order of `seq`, and one frame for many of them."""
