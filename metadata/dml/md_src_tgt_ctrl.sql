-- Which source may land in which zone.
INSERT INTO $(SchemaName).md_src_tgt_ctrl
    (source_id, target_id, relationship_type, description, enabled) VALUES
    (101, 201, 'ingestion', 'OpenCellID raw feed lands in Raw Zone', TRUE);
