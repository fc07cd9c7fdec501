import * as z from "zod/mini";
import { CODINGS, type Coding } from "../rules/variants/accept-encoding.ts";
import type { CodingRules } from "../rules/variants/coded-form.ts";
import { CODED_TYPES } from "../rules/variants/coded-types.ts";
import { type DeltaSettings, deltaSettings } from "./delta-settings.ts";
import { SiteError } from "./site-error.ts";
import type { SiteInput } from "./site-input.ts";
import { IN_WORDS, siteErrors } from "./site-issues.ts";
import { sizeBytes } from "./units.ts";

/** The site's `compression` with its defaults. */
export interface CompressionSettings extends CodingRules {
  /** The codings that the server makes. A client that wants several equally gets the first. */
  readonly codings: readonly Coding[];
  readonly levels: Readonly<Record<Coding, number>>;
  /** Of the routes on which older versions are dictionaries. */
  readonly deltas: DeltaSettings;
}

const coding = z.enum(CODINGS, 'is none of "br", "gzip" and "zstd"');

const mediaType = z.string().check(
  z.regex(
    /^(?:[\w!#$&^.+-]+\/(?:\*|[\w!#$&^.+-]+)|\*\+[\w-]+)$/,
    'is not a media type like "application/json", "text/*" or "*+json"',
  ),
  z.refine((type) => type.toLowerCase() !== "text/event-stream", "is a stream of events, which must arrive one by one"),
);

const schema = z.strictObject({
  compression: z.optional(
    z.strictObject({
      codings: z.prefault(
        z.array(coding).check(
          z.minLength(1, "needs at least one coding"),
          z.refine((list) => new Set(list).size === list.length, "names a coding twice"),
        ),
        ["br", "zstd", "gzip"],
      ),
      minBytes: z.prefault(sizeBytes, 1024),
      maxBytes: z.prefault(sizeBytes, 8 * 1024 ** 2),
      types: z.prefault(z.array(mediaType).check(z.minLength(1, "needs at least one type")), [...CODED_TYPES]),
      levels: z.prefault(
        z.strictObject({
          br: z.prefault(z.int().check(z.minimum(0), z.maximum(11)), 5),
          gzip: z.prefault(z.int().check(z.minimum(1), z.maximum(9)), 6),
          // Higher levels need windows of more than 8 MB, which clients need not support. RFC 9659 §3.
          zstd: z.prefault(z.int().check(z.minimum(1), z.maximum(19)), 6),
        }),
        {},
      ),
    }),
  ),
});

/** The site's settings for compression; `null` if it is off. Throws `SiteError`. */
export function compressionSettings({
  compression,
  routes,
}: Pick<SiteInput, "compression" | "routes">): CompressionSettings | null {
  const deltas = deltaSettings({ compression, routes });
  if (compression === undefined) return null;
  const checked = schema.safeParse({ compression }, IN_WORDS);
  if (!checked.success) throw new SiteError(siteErrors(checked.error, schema, { compression }));
  const settings = checked.data.compression!;
  return { ...settings, deltas, types: settings.types.map((type) => type.toLowerCase()) };
}
