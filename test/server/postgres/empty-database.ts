import pg from "pg";
import type { PostgresServer } from "../../sdk/outbox/postgres-server.ts";

/**
 * Empties a server's database `postgres`, so that it is as a new one; the result is its URL. To make another one takes ten
 * times as long, and the first connections to it as well.
 */
export async function emptyDatabase(server: PostgresServer): Promise<string> {
  const url = server.url("postgres");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    ALTER DATABASE postgres RESET ALL;
    DROP SCHEMA public CASCADE;
    CREATE SCHEMA public AUTHORIZATION pg_database_owner;
    GRANT USAGE ON SCHEMA public TO PUBLIC;
  `);
  await client.end();
  return url;
}
