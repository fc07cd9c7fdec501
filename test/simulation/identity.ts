/** The fields that identify a visitor and choose a language. An unknown visitor is `null`, no language is `""`. */
export function visitorFields(identity: string | null, language: string): Readonly<Record<string, string>> {
  return {
    ...(identity?.startsWith("cookie") && { cookie: `session=${identity}` }),
    ...(identity?.startsWith("authorization") && { authorization: `Basic ${identity}` }),
    ...(language && { "accept-language": language }),
  };
}

/** The visitor who caused a request; `null` for one without a cookie or an `Authorization`. */
export function identityOf(field: (name: string) => string | undefined): string | null {
  return field("cookie")?.replace("session=", "") ?? field("authorization")?.replace("Basic ", "") ?? null;
}
