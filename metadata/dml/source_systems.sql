-- The same source in the words of the ingestion framework: the two must agree.
INSERT INTO $(SchemaName).source_systems
    (source_system_id, source_name, source_type, active, technical_owner, escalation_list) VALUES
    (101, 'OpenCellID', 'CSV', 1, 'network-team', 'network-oncall'),
    (102, 'Country Codes', 'CSV', 1, 'reference-team', 'reference-oncall');
