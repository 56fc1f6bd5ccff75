"""The gate: the rule language, what rules ask of data, and the decision. Pure throughout."""
