-- Rules by name; {column} and the parameters are filled in where they are used.
INSERT INTO $(SchemaName).dq_rule_catalog (rule_name, rule_expression, severity, description)
VALUES
    ('COUNTED', 'range({column}, min=1)', 'FAIL', 'A number of one or more.'),
    ('WITHIN', 'range({column}, min={low}, max={high})', 'FAIL', 'A number within two bounds.');
