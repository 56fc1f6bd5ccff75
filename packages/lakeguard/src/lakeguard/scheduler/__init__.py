"""Jobs as they stand now: their graph, their switches, and what starts them or holds them back."""
