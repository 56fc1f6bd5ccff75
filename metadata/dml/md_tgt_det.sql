-- How tables of a zone are written.
INSERT INTO $(SchemaName).md_tgt_det (target_id, detail_name, detail_value) VALUES
    (201, 'format', 'delta'),
    (201, 'partition_by', '["radio"]');
