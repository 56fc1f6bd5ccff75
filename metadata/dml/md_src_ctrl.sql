-- Sources: id, name, and whether anything may be read from them.
INSERT INTO $(SchemaName).md_src_ctrl (source_id, source_name, enabled, description, owner) VALUES
    (101, 'OpenCellID', TRUE, 'Cell towers of the world, exported daily.', 'network-team');
