WITH told AS (SELECT *, trim(customer) AS name FROM bronze.orders) -- every order
SELECT order_id, ordered_at, date_format(ordered_at, 'yyyy-MM') AS month, due,
       upper(name) AS customer, amount, weight / 3 AS weight, paid
FROM told
