/** The fields by which a visitor is known, and chooses a language. Nobody in particular is `null`, no language `""`. */
export function visitorFields(identity: string | null, language: string): Readonly<Record<string, string>> {
  return {
    ...(identity?.startsWith("cookie") && { cookie: `session=${identity}` }),
    ...(identity?.startsWith("authorization") && { authorization: `Basic ${identity}` }),
    ...(language && { "accept-language": language }),
  };
}

/** Who caused a request; `null` for somebody without a cookie or an `Authorization`. */
export function identityOf(field: (name: string) => string | undefined): string | null {
  return field("cookie")?.replace("session=", "") ?? field("authorization")?.replace("Basic ", "") ?? null;
}
