-- Guarantees of the platform, above every pipeline.
INSERT INTO $(SchemaName).policy_rules
    (policy_id, applies_to_layer, policy_type, policy_expression, enforcement, active) VALUES
    ('NO_PII_IN_GOLD', 'gold', 'PII', 'forbid tag:pii', 'BLOCK', TRUE),
    ('STRICT_GOLD', 'gold', 'SCHEMA', 'mode STRICT', 'BLOCK', TRUE);
