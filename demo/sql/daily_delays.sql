SELECT
  flights.flight_date,
  flights.carrier,
  airlines.airline,
  count(*) AS flights,
  count(*) - count(flights.dep_delay) AS cancelled,
  round(avg(flights.dep_delay), 2) AS mean_dep_delay
FROM silver.flights AS flights
INNER JOIN silver.airlines AS airlines
  ON flights.carrier = airlines.carrier
GROUP BY flights.flight_date, flights.carrier, airlines.airline
