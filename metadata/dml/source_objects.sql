-- What is read of each source, and how it becomes a table.
INSERT INTO $(SchemaName).source_objects
    (source_object_id, source_system_id, object_name, dataset_id, layer, load_type, hash_strategy,
     business_keys, schema_compat_profile, dq_enabled, dq_fail_behavior, active, owner,
     description, created_at) VALUES
    (501, 101, 'cell_towers*.csv', 301, 'BRONZE', 'FULL', 'NONE',
     NULL, 'LANDING_ZONE', 1, 'WARN', 1, 'network-team',
     'One row per cell that a phone has seen.', SYSUTCDATETIME()),
    (502, 102, 'countries.csv', 302, 'BRONZE', 'FULL', 'NONE',
     NULL, 'DEFAULT', 1, 'FAIL', 1, 'reference-team',
     'Mobile country codes and their countries.', SYSUTCDATETIME());
