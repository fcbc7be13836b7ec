/*
 * purge: the end of a record's life, in bounded batches, with its input, its
 * journal, its pauses and its log.  A row that lives, or that another session holds, stays.
 */
CREATE FUNCTION sandbox_exec.purge(older_than interval, max_rows integer DEFAULT 1000) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    gone uuid[];
BEGIN
    PERFORM sandbox_exec._not_by_tool('purge()');
    IF older_than IS NULL THEN
        RAISE EXCEPTION 'older_than must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give the age from which on finished executions are deleted, such as ''30 days''.';
    ELSIF older_than < interval '0' THEN
        RAISE EXCEPTION 'older_than must not be negative' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is %s.', older_than),
            HINT = 'Give zero to delete everything that has finished.';
    END IF;
    max_rows := sandbox_exec._check_max_rows(max_rows, 1000);
    -- nothing is older than the calendar
    older_than := least(older_than, interval '6000 years');
    gone := ARRAY(
        SELECT e.id FROM sandbox_exec.execution e
        WHERE e.finished_at <= clock_timestamp() - older_than
        ORDER BY e.finished_at LIMIT max_rows
        FOR UPDATE SKIP LOCKED);
    DELETE FROM sandbox_exec.pause p WHERE p.execution_id = ANY (gone);
    DELETE FROM sandbox_exec.call c WHERE c.execution_id = ANY (gone);
    DELETE FROM sandbox_exec.event v WHERE v.execution_id = ANY (gone);
    DELETE FROM sandbox_exec.execution_input i WHERE i.id = ANY (gone);
    DELETE FROM sandbox_exec.execution e WHERE e.id = ANY (gone);
    RETURN cardinality(gone);
END
$$;
COMMENT ON FUNCTION sandbox_exec.purge(interval, integer) IS
    'deletes executions that finished that long ago, oldest first, at most max_rows; returns how many';

-- what sandbox_exec.retention asks for
CREATE FUNCTION sandbox_exec._retain(max_rows integer) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    retention CONSTANT interval := (sandbox_exec._limits()).retention;
BEGIN
    RETURN CASE WHEN retention IS NULL THEN 0 ELSE sandbox_exec.purge(retention, max_rows) END;
END
$$;
