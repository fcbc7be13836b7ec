/*
 * The part of JSON Schema that answers and arguments are checked against:
 *
 *      {"type": "object", "required": [name, ...], "additionalProperties": boolean,
 *       "properties": {name: {"type": string | number | integer | boolean | array | object | null,
 *                             "enum": [value, ...], "minLength": n, "maxLength": n,
 *                             "minimum": n, "maximum": n}, ...}}
 *
 * title, description, default, format and enumNames are for whoever shows a
 * form.  What else a schema says is refused where a person is to be asked by it,
 * and passed over where an application has registered it for a tool.
 *
 * Lua has one empty table, which travels as []: here it stands for {}, too.
 */

-- what is wrong with a schema, as a sentence; null: nothing
CREATE FUNCTION sandbox_exec._schema_problem(schema jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text;
BEGIN
    IF schema = '[]' THEN
        RETURN NULL;
    ELSIF jsonb_typeof(schema) <> 'object' THEN
        RETURN 'A schema is an object.';
    ELSIF octet_length(schema::text) > 65536 THEN
        RETURN format('It has %s bytes as text; the limit is 65536.', octet_length(schema::text));
    ELSIF coalesce(schema -> 'type', '"object"') <> '"object"' THEN
        RETURN 'Its type has to be "object".';
    ELSIF jsonb_typeof(schema -> 'properties') <> 'object' AND schema -> 'properties' <> '[]' THEN
        RETURN 'Its properties have to be an object.';
    ELSIF jsonb_typeof(schema -> 'additionalProperties') <> 'boolean' THEN
        RETURN 'Its additionalProperties have to be true or false.';
    ELSIF jsonb_typeof(schema -> 'required') <> 'array'
          OR jsonb_path_exists(schema, '$.required[*] ? (@.type() != "string")') THEN
        RETURN 'What is required has to be a list of names.';
    END IF;
    SELECT format('The keyword "%s" is not supported.', k) INTO problem
    FROM jsonb_object_keys(schema) k
    WHERE k NOT IN ('type', 'required', 'properties', 'additionalProperties', 'title', 'description', '$schema') LIMIT 1;
    IF NOT FOUND THEN
        SELECT format('The property "%s" %s.', p.key, sandbox_exec._rule_problem(p.value)) INTO problem
        FROM jsonb_each(coalesce(NULLIF(schema -> 'properties', '[]'), '{}')) p
        WHERE sandbox_exec._rule_problem(p.value) IS NOT NULL LIMIT 1;
    END IF;
    RETURN problem;
END
$$;

-- what is wrong with the rule of one property, as the end of a sentence
CREATE FUNCTION sandbox_exec._rule_problem(rule jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong text;
BEGIN
    IF rule = '[]' THEN
        RETURN NULL;
    ELSIF jsonb_typeof(rule) <> 'object' THEN
        RETURN 'is not described by an object';
    ELSIF coalesce(rule ->> 'type', 'string') NOT IN ('string', 'number', 'integer', 'boolean', 'array', 'object', 'null') THEN
        RETURN format('has the unknown type %s', rule -> 'type');
    ELSIF rule ? 'enum' AND (jsonb_typeof(rule -> 'enum') <> 'array' OR rule -> 'enum' = '[]') THEN
        RETURN 'has an enum that is not a list of values';
    END IF;
    SELECT k INTO wrong FROM jsonb_object_keys(rule) k
    WHERE k IN ('minLength', 'maxLength', 'minimum', 'maximum') AND jsonb_typeof(rule -> k) <> 'number' LIMIT 1;
    IF FOUND THEN
        RETURN format('has a %s that is not a number', wrong);
    END IF;
    SELECT k INTO wrong FROM jsonb_object_keys(rule) k
    WHERE k NOT IN ('type', 'enum', 'minLength', 'maxLength', 'minimum', 'maximum',
                    'title', 'description', 'default', 'format', 'enumNames') LIMIT 1;
    RETURN 'has the keyword "' || wrong || '", which is not supported';
END
$$;

CREATE FUNCTION sandbox_exec._number_in(rule jsonb, key text) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN jsonb_typeof(rule -> key) = 'number' THEN (rule ->> key)::numeric END;

-- what is wrong with a value, as the end of a sentence that begins with its name
CREATE FUNCTION sandbox_exec._value_problem(rule jsonb, value jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted CONSTANT text := coalesce(rule ->> 'type', '');
    kind CONSTANT text := jsonb_typeof(value);
BEGIN
    IF wanted IN ('string', 'number', 'integer', 'boolean', 'array', 'object', 'null')
       AND kind <> (CASE wanted WHEN 'integer' THEN 'number' ELSE wanted END) THEN
        RETURN format('must be of type %s, not %s', wanted, kind);
    ELSIF wanted = 'integer' AND value::numeric <> trunc(value::numeric) THEN
        RETURN 'must be of type integer, without a fraction';
    ELSIF jsonb_typeof(rule -> 'enum') = 'array'
          AND NOT EXISTS (SELECT FROM jsonb_array_elements(rule -> 'enum') x(allowed) WHERE x.allowed = value) THEN
        RETURN format('must be one of %s', rule -> 'enum');
    ELSIF kind = 'string' AND length(value #>> '{}') < sandbox_exec._number_in(rule, 'minLength') THEN
        RETURN format('must have at least %s characters', rule ->> 'minLength');
    ELSIF kind = 'string' AND length(value #>> '{}') > sandbox_exec._number_in(rule, 'maxLength') THEN
        RETURN format('must have at most %s characters', rule ->> 'maxLength');
    ELSIF kind = 'number' AND value::numeric < sandbox_exec._number_in(rule, 'minimum') THEN
        RETURN format('must be at least %s', rule ->> 'minimum');
    ELSIF kind = 'number' AND value::numeric > sandbox_exec._number_in(rule, 'maximum') THEN
        RETURN format('must be at most %s', rule ->> 'maximum');
    END IF;
    RETURN NULL;
END
$$;

-- what is wrong with content, and which member of it; null: nothing
CREATE FUNCTION sandbox_exec._content_problem(schema jsonb, content jsonb, what text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    properties CONSTANT jsonb := CASE jsonb_typeof(schema -> 'properties') WHEN 'object' THEN schema -> 'properties' ELSE '{}' END;
    required CONSTANT jsonb := CASE jsonb_typeof(schema -> 'required') WHEN 'array' THEN schema -> 'required' ELSE '[]' END;
    problem text;
BEGIN
    content := coalesce(content, '{}');
    IF jsonb_typeof(content) <> 'object' THEN
        RETURN format('a JSON object is wanted, not %s', jsonb_typeof(content));
    END IF;
    SELECT format('%s "%s" is missing', what, r) INTO problem
    FROM jsonb_array_elements_text(required) r WHERE NOT content ? r LIMIT 1;
    IF NOT FOUND THEN
        SELECT format('%s "%s" %s', what, m.key, sandbox_exec._value_problem(properties -> m.key, m.value)) INTO problem
        FROM jsonb_each(content) m
        WHERE sandbox_exec._value_problem(properties -> m.key, m.value) IS NOT NULL LIMIT 1;
    END IF;
    IF NOT FOUND AND schema -> 'additionalProperties' = 'false' THEN
        SELECT format('%s "%s" is unknown', what, k) INTO problem
        FROM jsonb_object_keys(content) k WHERE NOT properties ? k LIMIT 1;
    END IF;
    RETURN problem;
END
$$;
