/** The lines of a wrangler.toml that bind the purge log. */
export const BINDING_TOML = `[[durable_objects.bindings]]
name = "PURGE_LOG"
class_name = "PurgeLog"
`;

/** The lines of a wrangler.toml that give the worker its purge log. */
export const PURGE_LOG_TOML = `${BINDING_TOML}
[[migrations]]
tag = "v1"
new_sqlite_classes = ["PurgeLog"]
`;

/** The same for a wrangler.json. */
export const BINDING_JSON = '"durable_objects": { "bindings": [{ "name": "PURGE_LOG", "class_name": "PurgeLog" }] }';
export const PURGE_LOG_JSON = `${BINDING_JSON},
"migrations": [{ "tag": "v1", "new_sqlite_classes": ["PurgeLog"] }]`;

/** The log message of a worker without the binding. */
export const MISSING_PURGE_LOG = `Tidemark has no purge log, so it stores nothing and every page comes from the origin. \
Add these lines to wrangler.toml, let the worker export the class PurgeLog of tidemark/worker, and deploy again:

${PURGE_LOG_TOML}`;
