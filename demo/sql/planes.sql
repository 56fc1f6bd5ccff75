SELECT
  tailnum AS tail_num,
  year AS built,
  manufacturer,
  model,
  seats
FROM bronze.planes
