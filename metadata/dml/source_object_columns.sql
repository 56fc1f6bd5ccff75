-- The approved schema of each object, with the rules of its columns.
INSERT INTO $(SchemaName).source_object_columns
    (source_object_id, column_name, ordinal_position, data_type, is_nullable, dq_rule_set,
     dq_severity, active) VALUES
    (501, 'Radio', 1, 'varchar(10)', 0,
     '[{"rule": "VALID_VALUES", "values": ["GSM", "UMTS", "LTE", "NR", "CDMA"]}]', 'FAIL', 1),
    (501, 'MCC', 2, 'int', 0, '[{"rule": "RANGE_CHECK", "min": 1, "max": 999}]', 'FAIL', 1),
    (501, 'Net', 3, 'int', 0, NULL, NULL, 1),
    (501, 'Area', 4, 'int', 1, NULL, NULL, 1),
    (501, 'Cell', 5, 'bigint', 0, '[{"rule": "POSITIVE"}]', 'WARN', 1),
    (501, 'Lon', 6, 'double precision', 1,
     '[{"rule": "RANGE_CHECK", "min": -180, "max": 180}]', 'WARN', 1),
    (501, 'Lat', 7, 'double precision', 1,
     '[{"rule": "RANGE_CHECK", "min": -90, "max": 90}]', 'WARN', 1),
    (501, 'Range', 8, 'int', 1, '[{"rule": "WITHIN", "low": 0, "high": 200000}]', 'WARN', 1),
    (501, 'Samples', 9, 'int', 1, NULL, NULL, 1),
    (502, 'MCC', 1, 'int', 0, NULL, NULL, 1),
    (502, 'Country', 2, 'nvarchar(100)', 0,
     '[{"rule": "MAX_LENGTH", "max": 100}, "unique"]', NULL, 1);
