-- Which differences of a schema may pass. DEFAULT and others exist without being defined.
INSERT INTO $(SchemaName).schema_compatibility_rules
    (profile_name, allow_column_drop, allow_type_widen, allow_type_narrow, allow_nullable_change,
     auto_add_columns, description) VALUES
    ('LANDING_ZONE', 1, 1, 0, 1, 1, 'Takes what comes, but no narrower type.');
