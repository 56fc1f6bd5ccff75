SELECT
  concat_ws(
    '-', make_date(year, month, day), carrier, flight, origin, sched_dep_time
  ) AS flight_key,
  make_date(year, month, day) AS flight_date,
  carrier,
  flight AS flight_number,
  tailnum AS tail_num,
  origin,
  dest,
  dep_delay,
  arr_delay,
  air_time,
  distance
FROM bronze.flights
