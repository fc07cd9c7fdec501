/**
 * The tables of the purge log in PostgreSQL, and the functions that write to them. Each function is one statement for its
 * caller, so that no process can hold the lock on the log's row while it is cut off from the database.
 */

/** The format of tables and functions. */
export const SCHEMA_FORMAT = 5;

/**
 * Readers may go on without a purge until its commit, which nobody can foresee. So its row is written without the time at
 * which it settles: this number stands there, and with it how long it waits beyond the leases. The first statement after
 * the commit dates it. It lies so far ahead that the purge counts as unsettled until then. Epoch milliseconds.
 */
export const UNDATED = 9_000_000_000_000_000;

/** On this channel the functions tell that the log has changed, and which machine has confirmed what. */
export const CHANNEL = "tidemark_log";

/** Any number that other programs are unlikely to use, for the lock under which the tables are made. */
export const SCHEMA_LOCK = "8388346167743836780";

const TABLES = ["machines", "repeats", "ids", "audit", "keys"];

const DROP_FUNCTIONS = `
DROP FUNCTION IF EXISTS tidemark_log_append, tidemark_log_run_due, tidemark_log_confirm, tidemark_log_notice,
  tidemark_log_replace, tidemark_log_all_met, tidemark_log_meet, tidemark_log_longest, tidemark_log_date,
  tidemark_log_add, tidemark_log_forget, tidemark_log_now, tidemark_log_id;
`;

const DROP_SQL = `
DROP TABLE IF EXISTS tidemark_log, tidemark_log_format, ${TABLES.map((name) => `tidemark_log_${name}`).join(", ")};
${DROP_FUNCTIONS}
`;

/**
 * A part of the log's id that no dump holds: PostgreSQL dumps no generated column, and computes its value again when
 * the row is restored, however and wherever. That needs a function that is declared immutable and is not. The row is
 * written once, so nothing else makes the value anew. An older dump that is restored leaves this table as it was.
 */
const RESTORE = `
DROP TABLE IF EXISTS tidemark_log_restore;
DROP FUNCTION IF EXISTS tidemark_log_new_restore;
CREATE FUNCTION tidemark_log_new_restore() RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
  SELECT left(gen_random_uuid()::text, 8)
$$;
CREATE TABLE tidemark_log_restore (
  is_only BOOLEAN PRIMARY KEY DEFAULT true CHECK (is_only),
  id TEXT GENERATED ALWAYS AS (tidemark_log_new_restore()) STORED
);
INSERT INTO tidemark_log_restore DEFAULT VALUES;
`;

/**
 * "met_as": the whole id under which readers have last met the log; "met_at": when they first did, unless it is known what
 * was granted before; "longest_until": until when a purge waits for the longest use that a site may ask for, because that
 * is not known (R13).
 */
const LOG = `
CREATE TABLE tidemark_log_format (format INTEGER NOT NULL);
INSERT INTO tidemark_log_format VALUES (${SCHEMA_FORMAT});

CREATE TABLE tidemark_log (
  is_only BOOLEAN PRIMARY KEY DEFAULT true CHECK (is_only), id TEXT NOT NULL DEFAULT left(gen_random_uuid()::text, 8),
  head BIGINT NOT NULL DEFAULT 0, floor BIGINT NOT NULL DEFAULT 0, keys BIGINT NOT NULL DEFAULT 0,
  hard BIGINT NOT NULL DEFAULT 0, soft BIGINT NOT NULL DEFAULT 0, invalidate BIGINT NOT NULL DEFAULT 0,
  met_as TEXT, met_at BIGINT, longest_until BIGINT
);
INSERT INTO tidemark_log DEFAULT VALUES;
`;

/**
 * A log's id changes with whatever may bring back an older state (R13): with each restore of a dump; with the identifiers
 * of the database and its system, so that a copy is another log; and with the timeline, which PostgreSQL changes when a
 * standby is promoted and when it recovers a backup. A standby has none, and so grants nothing, and neither has a log whose
 * tables are being restored. The function is stable, so that it sees the snapshot of the statement that calls it (R14).
 */
const IDENTITY = `
CREATE FUNCTION tidemark_log_id(own TEXT) RETURNS TEXT LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN NOT pg_is_in_recovery() THEN
    own || '-' || (SELECT id FROM tidemark_log_restore)
      || '-' || ltrim(substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), '0')
      || '-' || (SELECT oid FROM pg_database WHERE datname = current_database())
      || '-' || (SELECT system_identifier FROM pg_control_system()) END
$$;

CREATE FUNCTION tidemark_log_now(given BIGINT) RETURNS BIGINT LANGUAGE sql AS $$
  SELECT coalesce(given, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;
`;

const CONTENTS = `
CREATE TABLE tidemark_log_keys (a INTEGER, b INTEGER, seq BIGINT NOT NULL, PRIMARY KEY (a, b));
CREATE INDEX tidemark_log_keys_by_seq ON tidemark_log_keys (seq);

CREATE TABLE tidemark_log_audit (
  seq BIGINT PRIMARY KEY, at BIGINT NOT NULL, token_name TEXT NOT NULL, reason TEXT, mode TEXT NOT NULL,
  accepted TEXT NOT NULL, purge_keys TEXT NOT NULL, purge_key_count INTEGER NOT NULL, id TEXT, repeat_of BIGINT,
  settles_at BIGINT NOT NULL,
  -- Two histories of one log may have the same numbers, and never the same marks.
  mark TEXT NOT NULL DEFAULT gen_random_uuid()::text
);

CREATE INDEX tidemark_log_undated ON tidemark_log_audit (seq) WHERE settles_at >= ${UNDATED};

CREATE TABLE tidemark_log_ids (
  seq BIGINT PRIMARY KEY, id TEXT NOT NULL UNIQUE, at BIGINT NOT NULL, content TEXT NOT NULL, mode TEXT NOT NULL
);

CREATE TABLE tidemark_log_repeats (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, due_at BIGINT NOT NULL, repeat_of BIGINT NOT NULL,
  purge JSONB NOT NULL
);

-- The readers. "lease_ms" is the longest lease or view age that a process of the machine may use.
CREATE TABLE tidemark_log_machines (
  machine TEXT PRIMARY KEY, name TEXT NOT NULL, incarnation TEXT NOT NULL, beat BIGINT NOT NULL DEFAULT 0,
  lease_ms BIGINT NOT NULL, log_id TEXT, confirmed BIGINT, heard_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
`;

/**
 * Readers meet a log before they use it. A log that they knew under another id has replaced that one: its rows of
 * machines may be old, and it may lack rows of machines that run. So every machine registers anew, and for a day purges
 * wait for the longest use. A log that was made new has taken the place of another if a reader comes from there within
 * a day. Each log that is met gets a random id of its own, because two standbys of one primary begin the same timeline.
 */
const MEETING = `
CREATE FUNCTION tidemark_log_meet(comes_from_another BOOLEAN, bounds JSONB, given_now BIGINT) RETURNS VOID
LANGUAGE plpgsql AS $$
DECLARE log tidemark_log; remembered BIGINT := (bounds->>'rememberedMs')::bigint; moment BIGINT;
BEGIN
  SELECT * INTO log FROM tidemark_log FOR UPDATE;
  moment := tidemark_log_now(given_now);
  IF log.met_as IS DISTINCT FROM tidemark_log_id(log.id) THEN
    IF log.met_as IS NOT NULL THEN
      DELETE FROM tidemark_log_machines;
      comes_from_another := true;
    END IF;
    log.id := left(gen_random_uuid()::text, 8);
    log.met_at := moment;
    UPDATE tidemark_log SET id = log.id, met_as = tidemark_log_id(log.id), met_at = moment;
  END IF;
  IF comes_from_another AND moment <= log.met_at + remembered THEN
    UPDATE tidemark_log SET longest_until = log.met_at + remembered;
  END IF;
END $$;

CREATE FUNCTION tidemark_log_longest(moment BIGINT, bounds JSONB) RETURNS BIGINT LANGUAGE sql AS $$
  SELECT greatest((SELECT max(lease_ms) FROM tidemark_log_machines),
    CASE WHEN moment <= longest_until THEN (bounds->>'longestUseMs')::bigint ELSE 0 END) FROM tidemark_log
$$;
`;

/**
 * Dates the purges that have been committed, because from now on every read finds them. Returns the longest lease of those
 * that may not have found them, in milliseconds.
 */
const DATING = `
CREATE FUNCTION tidemark_log_date(bounds JSONB, given_now BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE moment BIGINT := tidemark_log_now(given_now); longest BIGINT := tidemark_log_longest(moment, bounds);
BEGIN
  UPDATE tidemark_log_audit SET settles_at = moment + longest + settles_at - ${UNDATED}
    WHERE settles_at >= ${UNDATED};
  RETURN longest;
END $$;
`;

/** A machine shows every ten seconds that it lives, so one that was not heard of for longer is gone, or cut off. */
const ALIVE = "30 seconds";

/**
 * For the owner, who alone knows how many machines run: once all of them are readers of this log, purges no longer wait for
 * the longest use.
 */
const ALL_MET = `
CREATE FUNCTION tidemark_log_all_met(machines INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE alive TEXT[]; silent TEXT[]; is_met BOOLEAN;
BEGIN
  SELECT met_as IS NOT DISTINCT FROM tidemark_log_id(id) INTO is_met FROM tidemark_log FOR UPDATE;
  -- Until a machine has met this log, the rows are of the one before.
  SELECT coalesce(array_agg(name ORDER BY name) FILTER (WHERE is_heard), '{}'),
      coalesce(array_agg(name ORDER BY name) FILTER (WHERE NOT is_heard), '{}') INTO alive, silent
    FROM (SELECT name, clock_timestamp() BETWEEN heard_at - interval '${ALIVE}' AND heard_at + interval '${ALIVE}' AS is_heard
      FROM tidemark_log_machines WHERE is_met) AS known;
  IF cardinality(alive) IS DISTINCT FROM machines THEN
    RAISE EXCEPTION 'all % machines must have reached this database: % have, and nothing has changed', machines,
      cardinality(alive)
      USING DETAIL = 'They are: ' || coalesce(nullif(array_to_string(alive, ', '), ''), 'none')
        || coalesce('. Not heard of for ${ALIVE}: ' || nullif(array_to_string(silent, ', '), ''), ''),
      HINT = 'A machine that cannot reach it may show purged pages for an hour.';
  END IF;
  UPDATE tidemark_log SET longest_until = NULL;
END $$;
`;

/** Numbers are given out under a lock on the log's one row, which lasts until the commit. */
const NUMBERS = `
CREATE FUNCTION tidemark_log_forget(up_to BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE forgotten BIGINT;
BEGIN
  DELETE FROM tidemark_log_keys WHERE seq <= up_to;
  GET DIAGNOSTICS forgotten = ROW_COUNT;
  UPDATE tidemark_log SET floor = greatest(floor, up_to), keys = keys - forgotten;
END $$;

CREATE FUNCTION tidemark_log_add(purge JSONB, repeated BIGINT, moment BIGINT, bounds JSONB) RETURNS BIGINT
LANGUAGE plpgsql AS $$
DECLARE
  n BIGINT; added BIGINT; held BIGINT;
  given_id TEXT := CASE WHEN repeated IS NULL THEN purge->>'id' END;
BEGIN
  SELECT head + 1 INTO n FROM tidemark_log;
  IF n > (bounds->>'maxSeq')::bigint THEN
    DELETE FROM tidemark_log_keys;
    DELETE FROM tidemark_log_audit;
    DELETE FROM tidemark_log_ids;
    UPDATE tidemark_log SET id = left(gen_random_uuid()::text, 8), head = 0, floor = 0, keys = 0, hard = 0, soft = 0,
      invalidate = 0;
    UPDATE tidemark_log SET met_as = tidemark_log_id(id), met_at = NULL; -- the machines of this log are known
    n := 1;
  END IF;
  WITH raised AS (
    INSERT INTO tidemark_log_keys
      SELECT DISTINCT (pair->>0)::integer, (pair->>1)::integer, n FROM jsonb_array_elements(purge->'hashes') AS pair
      ON CONFLICT (a, b) DO UPDATE SET seq = excluded.seq RETURNING xmax = 0 AS is_new
  )
  SELECT count(*) FILTER (WHERE is_new) INTO added FROM raised;
  UPDATE tidemark_log SET head = n, keys = keys + added,
    hard = CASE purge->>'mode' WHEN 'hard' THEN n ELSE hard END,
    soft = CASE purge->>'mode' WHEN 'soft' THEN n ELSE soft END,
    invalidate = CASE purge->>'mode' WHEN 'invalidate' THEN n ELSE invalidate END;
  INSERT INTO tidemark_log_audit VALUES (n, moment, purge->>'by', purge->>'reason', purge->>'mode', purge->>'accepted',
    purge->>'purgeKeys', (purge->>'purgeKeyCount')::integer, given_id, repeated,
    ${UNDATED} + (purge->>'skewMs')::bigint);
  IF given_id IS NOT NULL THEN
    INSERT INTO tidemark_log_ids VALUES (n, given_id, moment, purge->>'content', purge->>'mode');
  END IF;
  -- A purge with more keys than a reply has room for could never be sent.
  IF (purge->>'purgeKeyCount')::integer > (bounds->>'maxReplyKeys')::bigint THEN
    PERFORM tidemark_log_forget(n);
  END IF;
  SELECT keys INTO held FROM tidemark_log;
  IF held > (bounds->>'maxHeldKeys')::bigint THEN
    PERFORM tidemark_log_forget((SELECT seq FROM tidemark_log_keys ORDER BY seq
      OFFSET held - (bounds->>'maxHeldKeys')::bigint - 1 LIMIT 1));
  END IF;
  IF n % 256 = 0 THEN
    DELETE FROM tidemark_log_audit WHERE mode = 'invalidate'
      AND seq <= n - (bounds->>'keptInvalidations')::bigint;
    DELETE FROM tidemark_log_audit WHERE seq < (SELECT seq FROM tidemark_log_audit
      WHERE at >= moment - (bounds->>'auditRetentionMs')::bigint AND seq >= coalesce((SELECT seq FROM tidemark_log_audit
        ORDER BY seq DESC LIMIT 1 OFFSET (bounds->>'maxAuditRows')::bigint - 1), 0)
      ORDER BY seq LIMIT 1);
    DELETE FROM tidemark_log_ids WHERE seq < coalesce((SELECT seq FROM tidemark_log_ids
      WHERE at >= moment - (bounds->>'idRetentionMs')::bigint
        AND (seq > n - (bounds->>'maxIds')::bigint OR at >= moment - (bounds->>'minIdMs')::bigint)
      ORDER BY seq LIMIT 1), n + 1);
  END IF;
  PERFORM pg_notify('${CHANNEL}', '');
  RETURN n;
END $$;
`;

/**
 * A number that a machine has read and that is not in the log, or is the number of another purge, shows that the log's
 * storage went back in time (R13). Without an id, the log is replaced in any case: that is for the owner, who has put back
 * its files.
 */
const HISTORY = `
CREATE FUNCTION tidemark_log_replace(old_id TEXT DEFAULT NULL) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM tidemark_log FOR UPDATE;
  UPDATE tidemark_log SET id = left(gen_random_uuid()::text, 8) WHERE old_id IS NULL OR tidemark_log_id(id) = old_id;
  PERFORM pg_notify('${CHANNEL}', '');
END $$;

CREATE FUNCTION tidemark_log_notice(known JSONB) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE log tidemark_log; one JSONB;
BEGIN
  FOR one IN SELECT * FROM jsonb_array_elements(known) LOOP
    SELECT * INTO log FROM tidemark_log;
    CONTINUE WHEN one->>'logId' IS DISTINCT FROM tidemark_log_id(log.id);
    IF (one->>'seq')::bigint > log.head OR EXISTS (
      SELECT FROM tidemark_log_audit WHERE seq = (one->>'seq')::bigint AND mark <> one->>'mark'
    ) THEN
      PERFORM tidemark_log_replace(one->>'logId');
    END IF;
  END LOOP;
END $$;
`;

const CALLS = `
CREATE FUNCTION tidemark_log_append(purge JSONB, known JSONB, reader JSONB, bounds JSONB, given_now BIGINT)
RETURNS JSONB LANGUAGE plpgsql AS $$
DECLARE n BIGINT; moment BIGINT; earlier tidemark_log_ids; log_id TEXT;
  may_be_confirmed BOOLEAN;
BEGIN
  PERFORM FROM tidemark_log FOR UPDATE;
  moment := tidemark_log_now(given_now);
  PERFORM tidemark_log_notice(known);
  PERFORM tidemark_log_meet(EXISTS (SELECT FROM jsonb_array_elements(known) AS one, tidemark_log AS log
    WHERE one->>'logId' <> tidemark_log_id(log.id)), bounds, given_now);
  IF NOT EXISTS (SELECT FROM tidemark_log_machines WHERE machine = reader->>'machine'
      AND incarnation = reader->>'incarnation' AND lease_ms >= (reader->>'leaseMs')::bigint) THEN
    RETURN NULL;
  END IF;
  SELECT tidemark_log_id(id), (moment <= longest_until) IS NOT TRUE INTO log_id, may_be_confirmed FROM tidemark_log;
  IF purge->>'id' IS NOT NULL THEN
    DELETE FROM tidemark_log_ids WHERE id = purge->>'id' AND at < moment - (bounds->>'idRetentionMs')::bigint;
    SELECT * INTO earlier FROM tidemark_log_ids WHERE id = purge->>'id';
    IF FOUND AND (earlier.content IS DISTINCT FROM purge->>'content' OR earlier.mode <> purge->>'mode') THEN
      RETURN jsonb_build_object('kind', 'conflict');
    ELSIF FOUND THEN
      RETURN jsonb_build_object('kind', 'appended', 'logId', log_id, 'seq', earlier.seq, 'at', earlier.at,
        'maySettleSooner', may_be_confirmed, 'replayed', true);
    END IF;
  END IF;
  n := tidemark_log_add(purge, NULL, moment, bounds);
  IF purge->>'repeatAfterMs' IS NOT NULL THEN
    INSERT INTO tidemark_log_repeats (due_at, repeat_of, purge)
      VALUES (moment + (purge->>'repeatAfterMs')::bigint, n, purge);
  END IF;
  -- After the highest number of all, another log has begun.
  SELECT tidemark_log_id(id) INTO log_id FROM tidemark_log;
  RETURN jsonb_build_object('kind', 'appended', 'logId', log_id, 'seq', n, 'at', moment,
    'maySettleSooner', may_be_confirmed, 'replayed', false);
END $$;

CREATE FUNCTION tidemark_log_run_due(bounds JSONB, given_now BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE due tidemark_log_repeats; moment BIGINT := tidemark_log_now(given_now);
BEGIN
  PERFORM FROM tidemark_log FOR UPDATE;
  FOR due IN SELECT * FROM tidemark_log_repeats WHERE due_at <= moment ORDER BY due_at, id LOOP
    PERFORM tidemark_log_add(due.purge, due.repeat_of, moment, bounds);
    DELETE FROM tidemark_log_repeats WHERE id = due.id;
    -- A timeout of the statement would undo all of them, and purges wait for it.
    EXIT WHEN clock_timestamp() > statement_timestamp() + interval '1 second';
  END LOOP;
END $$;

CREATE FUNCTION tidemark_log_confirm(reader JSONB, known JSONB) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tidemark_log_machines SET log_id = known->>'logId', confirmed = (known->>'seq')::bigint
    WHERE machine = reader->>'machine' AND incarnation = reader->>'incarnation'
      AND known->>'logId' = (SELECT tidemark_log_id(id) FROM tidemark_log)
      AND EXISTS (SELECT FROM tidemark_log_audit WHERE seq = (known->>'seq')::bigint AND mark = known->>'mark');
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM pg_notify('${CHANNEL}',
    jsonb_build_object('machine', reader->>'machine', 'logId', known->>'logId', 'seq', known->'seq')::text);
  RETURN true;
END $$;
`;

const FUNCTIONS = IDENTITY + MEETING + DATING + ALL_MET + NUMBERS + HISTORY + CALLS;

/** Makes a log where there is none, or what is left of one. */
export const CREATE_SQL: string = DROP_SQL + RESTORE + LOG + CONTENTS + FUNCTIONS;

/** Makes this format from the one before. The log's id, the audit trail and the rows of machines stay. */
export const UPGRADE_SQL: string = `${DROP_FUNCTIONS} ${FUNCTIONS}
  UPDATE tidemark_log_format SET format = ${SCHEMA_FORMAT};`;

/**
 * A reply to a reader, in one statement and so from one snapshot (R14): the head; the purges after the reader's
 * position and in its unread range; whether readers have met this log, or the one that it replaced; and whether the
 * machine is registered for the requested lease.
 */
export const READ_SQL = `
WITH log AS MATERIALIZED (SELECT *, tidemark_log_id(id) AS log_id FROM tidemark_log),
  asked AS (
    SELECT *, CASE WHEN log_id = $1 THEN $2::bigint ELSE 0 END AS since,
      ($1 <> '' AND $1 <> log_id) OR ($10::text <> '' AND $10 <> log_id) AS comes_from_another
    FROM log
  )
SELECT log_id, comes_from_another, 
  met_as IS NOT DISTINCT FROM log_id AND NOT (comes_from_another AND tidemark_log_now($12) <= met_at + $11::bigint
    AND longest_until IS DISTINCT FROM met_at + $11::bigint) IS TRUE AS is_met, head, floor, hard, soft, invalidate, since,
  (SELECT mark FROM tidemark_log_audit WHERE seq = asked.head) AS mark,
  (SELECT mark FROM tidemark_log_audit WHERE seq = $5) AS known_mark,
  EXISTS (SELECT FROM tidemark_log_machines WHERE machine = $6 AND incarnation = $7 AND lease_ms >= $8) AS is_registered,
  (
    SELECT string_agg(int4send(a) || int4send(b) || int8send(seq), ''::bytea ORDER BY seq DESC) FROM (
      (SELECT * FROM tidemark_log_keys WHERE seq > greatest(asked.since, asked.floor) AND seq <= asked.head
        ORDER BY seq DESC LIMIT $9)
      UNION ALL
      (SELECT * FROM tidemark_log_keys WHERE asked.log_id = $1 AND seq > greatest($3::bigint, asked.floor)
        AND seq <= $4::bigint ORDER BY seq DESC LIMIT $9)
      ORDER BY seq DESC LIMIT $9
    ) AS newest
  ) AS keys,
  CASE WHEN greatest(soft, invalidate) > since THEN (
    SELECT coalesce(json_agg(json_build_object('seq', seq, 'agoMs', tidemark_log_now($12) - CASE WHEN at <= tidemark_log_now($12) THEN at ELSE 0 END) ORDER BY seq DESC), '[]')
    FROM (SELECT seq, at FROM tidemark_log_audit WHERE seq > asked.since AND mode <> 'hard' ORDER BY seq DESC LIMIT $13) AS latest
  ) END AS dated
FROM asked
`;

/** Records that purges have settled. Their marks are named, too: by now another log may have given their numbers to others. */
export const SETTLE_SQL = `
UPDATE tidemark_log_audit SET settles_at = tidemark_log_now($1)
  WHERE seq = ANY ($2) AND mark = ANY ($3) AND settles_at > tidemark_log_now($1)
  RETURNING *, settles_at AS now, NULL AS waits_for
`;
