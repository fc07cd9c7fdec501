/** The only account. It stands on the login page, because this is a demo. */
export const DEMO_USER = "editor";
export const DEMO_PASSWORD = "slack-water";
