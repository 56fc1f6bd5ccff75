"""The gate: rule language, measures and the promotion decision. Pure; no I/O."""
