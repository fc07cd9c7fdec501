/** The seed of this run, which whoever needs it first chooses: `TEST_SEED=123 npm test` draws what a run with that seed drew. */
process.env.TEST_SEED ??= String(Math.floor(Math.random() * 1_000_000));

export const seed = Number(process.env.TEST_SEED);
if (!Number.isSafeInteger(seed)) throw new Error(`TEST_SEED is a whole number, not ${process.env.TEST_SEED}`);
