-- Zones of the lake: where tables lie.
INSERT INTO $(SchemaName).md_tgt_ctrl
    (target_id, target_name, location, target_type, zone, status, description) VALUES
    (201, 'Raw Zone', 'raw', 'FOLDER', 'RAW', 'ENABLED', 'What came, as it came.');
