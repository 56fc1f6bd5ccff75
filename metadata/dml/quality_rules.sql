-- What good data is, beyond single columns of a source.
INSERT INTO $(SchemaName).quality_rules
    (rule_id, dataset_id, layer, rule_type, rule_expression, severity, active) VALUES
    ('QR_CELL_KEY', 303, 'silver', 'UNIQUE', 'cell_key', 'FAIL', TRUE),
    ('QR_CELL_NAMED', 303, 'silver', 'NOT_NULL', 'cell_key', 'FAIL', TRUE),
    ('QR_SAMPLES', 303, 'silver', 'RANGE', 'samples >= 0', 'WARN', TRUE),
    ('QR_COVERAGE', 304, 'gold', 'RANGE', 'cells between 1 and 1000000000', 'FAIL', TRUE);
