import { expect, test } from "vitest";
import { schemaError } from "../../../sdk/outbox/schema-version.ts";

const MIGRATIONS = { 1: "ALTER TABLE a;", 2: "ALTER TABLE b;" };

test.each([
  { found: 3, says: undefined },
  { found: null, says: /has no table tidemark_outbox\. Call createTable\(\) of the outbox, or run:\n\nCREATE ALL;$/ },
  { found: 2, says: /has version 2, and this version of the package needs 3\. Run:\n\nALTER TABLE b;$/ },
  { found: 1, says: /has version 1, .* Run:\n\nALTER TABLE a;\nALTER TABLE b;$/ },
  { found: 0, says: /has version 0, which no version of the package writes\..*CREATE ALL;$/s },
  { found: 4, says: /has version 4, and this version of the package knows 3\. Update the package\.$/ },
])("Tables of version $found", ({ found, says }) => {
  const error = schemaError(found, "CREATE ALL;", 3, MIGRATIONS);
  if (says) expect(error?.message).toMatch(says);
  else expect(error).toBeNull();
});
