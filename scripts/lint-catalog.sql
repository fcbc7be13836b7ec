-- What an installed extension must look like.  Each row is a complaint.
WITH member AS (
	SELECT d.classid, d.objid
	FROM pg_catalog.pg_depend d
	JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_catalog.pg_extension'::regclass
	WHERE e.extname = 'sandbox_exec' AND d.deptype = 'e'
), function AS (
	SELECT p.*, p.oid::pg_catalog.regprocedure AS signature, p.proname ~ '^_' AS internal
	FROM member m JOIN pg_catalog.pg_proc p ON m.classid = 'pg_catalog.pg_proc'::regclass AND m.objid = p.oid
), relation AS (
	SELECT c.*, c.oid::pg_catalog.regclass AS name, c.relname ~ '^_' AS internal
	FROM member m JOIN pg_catalog.pg_class c ON m.classid = 'pg_catalog.pg_class'::regclass AND m.objid = c.oid
)
SELECT 'function ' || signature || ' has no comment'
FROM function WHERE NOT internal AND pg_catalog.obj_description(oid, 'pg_proc') IS NULL
UNION ALL
SELECT 'function ' || signature || ' does not pin search_path'
FROM function
WHERE prolang <> (SELECT oid FROM pg_catalog.pg_language WHERE lanname = 'c')
	AND (prosecdef OR NOT internal)
	AND NOT coalesce(proconfig::text LIKE '%search_path=%', false)
UNION ALL
SELECT 'function ' || signature || ' is granted to PUBLIC'
FROM function
WHERE EXISTS (
	SELECT FROM pg_catalog.aclexplode(coalesce(proacl, pg_catalog.acldefault('f', proowner))) a WHERE a.grantee = 0)
UNION ALL
SELECT 'relation ' || name || ' has no comment'
FROM relation WHERE relkind = 'v' AND NOT internal AND pg_catalog.obj_description(oid, 'pg_class') IS NULL
UNION ALL
SELECT 'column ' || name || '.' || attname || ' has no comment'
FROM relation JOIN pg_catalog.pg_attribute ON attrelid = oid AND attnum > 0 AND NOT attisdropped
WHERE relkind = 'v' AND NOT internal AND pg_catalog.col_description(oid, attnum) IS NULL
UNION ALL
SELECT 'view ' || name || ' is no security_barrier'
FROM relation
WHERE relkind = 'v' AND NOT internal AND NOT coalesce(reloptions::text LIKE '%security_barrier=true%', false)
UNION ALL
SELECT 'relation ' || name || ' is granted to PUBLIC'
FROM relation
WHERE EXISTS (SELECT FROM pg_catalog.aclexplode(relacl) a WHERE a.grantee = 0)
UNION ALL
SELECT 'table ' || name || '.' || attname || ' holds oids: a dump gives them another meaning'
FROM relation JOIN pg_catalog.pg_attribute ON attrelid = oid AND attnum > 0 AND NOT attisdropped
WHERE relkind = 'r'
	AND (atttypid = 'oid'::regtype OR atttypid::regtype::text ~ '^reg' AND atttypid <> 'regrole'::regtype)
UNION ALL
SELECT 'table ' || name || ' is not dumped (pg_extension_config_dump)'
FROM relation JOIN pg_catalog.pg_extension e ON e.extname = 'sandbox_exec'
WHERE relkind IN ('r', 'S') AND NOT coalesce(relation.oid = ANY (e.extconfig), false)
ORDER BY 1;
