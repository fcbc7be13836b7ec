/*
 * What the measurements ask of a server, in schema bench.
 *
 * Waiting is done in procedures that commit before each look, so that nobody
 * holds a snapshot while something is measured.
 */
CREATE SCHEMA bench;

-- ended by the workers that are there; from shared memory, so asking costs nothing
CREATE FUNCTION bench.ended() RETURNS bigint
    LANGUAGE sql VOLATILE
AS $$ SELECT coalesce(sum(w.executions), 0)::bigint FROM sandbox_exec.workers w $$;

CREATE FUNCTION bench.enqueue(n bigint, code text, owners bigint DEFAULT 1) RETURNS void
    LANGUAGE plpgsql
AS $$
BEGIN
    FOR start IN 0 .. n - 1 BY 10000 LOOP
        PERFORM count(*) FROM sandbox_exec.enqueue_many(
            (SELECT jsonb_agg(jsonb_build_object('code', code, 'owner', 'owner ' || i % owners))
             FROM generate_series(start, least(start + 10000, n) - 1) i));
    END LOOP;
END
$$;

-- the columns of a table, each as it is in the row e but for those in changes
CREATE FUNCTION bench.select_list(place regclass, changes jsonb) RETURNS text
    LANGUAGE sql
AS $$
    SELECT string_agg(coalesce(changes->>a.attname::text, 'e.' || quote_ident(a.attname)), ', ' ORDER BY a.attnum)
    FROM pg_attribute a WHERE a.attrelid = place AND a.attnum > 0 AND NOT a.attisdropped
$$;

-- n more records like this one: for millions, which enqueue() would take long to make
CREATE FUNCTION bench.copy(template uuid, n bigint) RETURNS void
    LANGUAGE plpgsql
AS $$
BEGIN
    CREATE TEMP TABLE IF NOT EXISTS made (id uuid);
    TRUNCATE made;
    INSERT INTO made SELECT sandbox_exec._uuid7() FROM generate_series(1, n);
    EXECUTE format('INSERT INTO sandbox_exec.execution_input SELECT %s FROM sandbox_exec.execution_input e, made m WHERE e.id = %L',
                   bench.select_list('sandbox_exec.execution_input', '{"id": "m.id"}'), template);
    EXECUTE format('INSERT INTO sandbox_exec.execution SELECT %s FROM sandbox_exec.execution e, made m WHERE e.id = %L',
                   bench.select_list('sandbox_exec.execution', '{"id": "m.id"}'), template);
END
$$;

-- wait until n have finished since then, at most for cap; how many a second
CREATE PROCEDURE bench.wait_finished(since timestamptz, ended_before bigint, n bigint, cap interval, INOUT rate numeric)
    LANGUAGE plpgsql
AS $$
DECLARE
    last timestamptz;
BEGIN
    LOOP
        COMMIT;
        -- workers that left took their count along: so look at the table now and then
        IF bench.ended() - ended_before >= n OR random() < 0.005 THEN
            SELECT e.finished_at INTO last FROM sandbox_exec.execution e
            WHERE e.finished_at >= since ORDER BY e.finished_at OFFSET n - 1 LIMIT 1;
            EXIT WHEN last IS NOT NULL;
        END IF;
        IF clock_timestamp() > since + cap THEN
            SELECT count(*), clock_timestamp() INTO n, last FROM sandbox_exec.execution e WHERE e.finished_at >= since;
            EXIT;
        END IF;
        COMMIT;
        PERFORM pg_sleep(0.005);
    END LOOP;
    rate := n / extract(epoch FROM last - since);
END
$$;

CREATE PROCEDURE bench.drain(n bigint, code text, owners bigint, INOUT rate numeric)
    LANGUAGE plpgsql
AS $$
DECLARE
    before bigint;
    bad bigint;
BEGIN
    PERFORM bench.enqueue(n, code, owners);
    before := bench.ended();
    COMMIT;
    CALL bench.wait_finished(clock_timestamp(), before, n, '5 min', rate);
    COMMIT;
    SELECT count(*) INTO bad FROM sandbox_exec.execution e WHERE e.status NOT IN ('succeeded', 'paused');
    IF bad > 0 THEN
        RAISE EXCEPTION '% executions did not succeed', bad;
    END IF;
END
$$;

-- the first n of a backlog that is there already
CREATE PROCEDURE bench.drain_some(n bigint, INOUT rate numeric)
    LANGUAGE plpgsql
AS $$
DECLARE
    before CONSTANT bigint := bench.ended();
BEGIN
    PERFORM sandbox_exec.resume_queue();
    COMMIT;
    CALL bench.wait_finished(clock_timestamp(), before, n, '5 min', rate);
    PERFORM sandbox_exec.pause_queue();
END
$$;

-- keep the workers busy for that long; executions a second in its last part
CREATE PROCEDURE bench.busy(total interval, measured interval, INOUT rate numeric)
    LANGUAGE plpgsql
AS $$
DECLARE
    finish CONSTANT timestamptz := clock_timestamp() + total;
    before CONSTANT bigint := bench.ended();
    enqueued bigint := 0;
    began timestamptz;
    ended bigint;
BEGIN
    WHILE clock_timestamp() < finish LOOP
        IF began IS NULL AND clock_timestamp() >= finish - measured THEN
            began := clock_timestamp();
            ended := bench.ended();
        END IF;
        IF enqueued - (bench.ended() - before) < 5000 THEN
            PERFORM bench.enqueue(1000, 'return 1+1');
            enqueued := enqueued + 1000;
        ELSE
            PERFORM pg_sleep(0.01);
        END IF;
        COMMIT;
    END LOOP;
    rate := (bench.ended() - ended) / extract(epoch FROM clock_timestamp() - began);
END
$$;

-- all records go, those that still wait as well; what runs is waited for
CREATE PROCEDURE bench.clear()
    LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM sandbox_exec.pause_queue();
    COMMIT;
    WHILE EXISTS (SELECT FROM sandbox_exec.execution e WHERE e.status = 'running') LOOP
        COMMIT;
        PERFORM pg_sleep(0.01);
    END LOOP;
    TRUNCATE sandbox_exec.execution, sandbox_exec.execution_input, sandbox_exec.call, sandbox_exec.pause, sandbox_exec.event;
    PERFORM sandbox_exec.resume_queue();
END
$$;

-- a row's values as literals, in the order of its columns; its id is m.id
CREATE FUNCTION bench.literals(place regclass, template uuid) RETURNS text
    LANGUAGE plpgsql
AS $$
DECLARE
    place_column record;
    value text;
    list text[];
BEGIN
    FOR place_column IN
        SELECT a.attname, format_type(a.atttypid, a.atttypmod) AS type
        FROM pg_attribute a WHERE a.attrelid = place AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
    LOOP
        EXECUTE format('SELECT e.%I::text FROM %s e WHERE e.id = $1', place_column.attname, place)
            INTO value USING template;
        list := list || CASE WHEN place_column.attname = 'id' THEN 'm.id'
                             ELSE format('%L::%s', value, place_column.type) END;
    END LOOP;
    RETURN array_to_string(list, ', ');
END
$$;

-- the statement that a client would write to insert n such rows by itself
CREATE FUNCTION bench.bare_insert(template uuid, n bigint) RETURNS text
    LANGUAGE sql
AS $$
    SELECT format('WITH m AS MATERIALIZED (SELECT sandbox_exec._uuid7() AS id FROM generate_series(1, %s)), '
                  'i AS (INSERT INTO sandbox_exec.execution_input SELECT %s FROM m) '
                  'INSERT INTO sandbox_exec.execution SELECT %s FROM m;',
                  n, bench.literals('sandbox_exec.execution_input', template),
                  bench.literals('sandbox_exec.execution', template))
$$;
