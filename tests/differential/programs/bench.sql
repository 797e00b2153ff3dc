-- Inserts, an index, joins, sorting, text functions, deletes: about a second in memory.
CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER, t TEXT);
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 400000)
INSERT INTO a SELECT x, (x * 7919) % 100003, 'row number ' || x FROM c;
CREATE INDEX an ON a(n);
SELECT count(*), sum(n), max(length(t)) FROM a;
SELECT count(*) FROM a x JOIN a y ON x.n = y.id WHERE y.n % 3 = 0;
SELECT sum(length(upper(t)) + instr(t, '9')) FROM a;
SELECT count(DISTINCT substr(t, 12, 3)) FROM a ORDER BY 1;
UPDATE a SET t = t || '!', n = n + 1 WHERE id % 2 = 0;
DELETE FROM a WHERE id % 5 = 0;
SELECT count(*), sum(n) FROM a;
SELECT t FROM a ORDER BY t DESC LIMIT 3;
