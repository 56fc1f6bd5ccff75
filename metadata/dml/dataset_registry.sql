-- Datasets that are built from others. Ingested ones need no row here.
INSERT INTO $(SchemaName).dataset_registry
    (dataset_id, dataset_name, domain, layer, owner, description, active, created_at,
     parents, load_type, columns, sql_text) VALUES
    (303, 'cells', 'telecom', 'silver', 'network-team', 'One row per cell, with its country.',
     TRUE, CURRENT_TIMESTAMP, '["bronze.opencellid_cells", "bronze.countries"]', 'FULL',
     '[{"name": "cell_key", "type": "string", "tags": ["identifier"]},
       {"name": "radio", "type": "string"}, {"name": "country", "type": "string"},
       {"name": "lon", "type": "double"}, {"name": "lat", "type": "double"},
       {"name": "samples", "type": "integer"}]',
     'SELECT concat_ws(''-'', c.radio, c.mcc, c.net, c.area, c.cell) AS cell_key,
       c.radio, k.country, c.lon, c.lat, c.samples
FROM bronze.opencellid_cells c
LEFT JOIN bronze.countries k ON k.mcc = c.mcc
'),
    (304, 'coverage', 'telecom', 'gold', 'network-team', 'Cells and samples by country and radio.',
     TRUE, CURRENT_TIMESTAMP, '["silver.cells"]', 'FULL',
     '[{"name": "country", "type": "string"}, {"name": "radio", "type": "string"},
       {"name": "cells", "type": "long"}, {"name": "samples", "type": "long"}]',
     'SELECT country, radio, count(*) AS cells, sum(samples) AS samples
FROM silver.cells
GROUP BY country, radio
');
