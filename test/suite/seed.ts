/** The seed of all tests that make random input: always the same, unless `npm run explore` or a replay names another. */
export const seed = Number(process.env.TEST_SEED ?? 7);
if (!Number.isSafeInteger(seed)) throw new Error(`TEST_SEED is a whole number, not ${process.env.TEST_SEED}`);
