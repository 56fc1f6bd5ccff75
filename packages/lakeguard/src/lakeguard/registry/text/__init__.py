"""Definition text with positions: YAML nodes, fields and problems."""
