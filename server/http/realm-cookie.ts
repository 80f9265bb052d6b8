// A realm's cookies. Behind https their names begin with `__Host-`: a browser accepts such a cookie only from this very host,
// so a neighbouring host can't plant one. Its path is always `/`, so the realm is in its name.

export function realmCookie(baseUrl: string, name: string) {
  const secure = baseUrl.startsWith('https:');
  return {
    nameIn: (realm: string): string => (secure ? `__Host-${name}.${realm}` : name),
    options: (realm: string) => ({
      path: secure ? '/' : `/realms/${realm}`,
      httpOnly: true,
      sameSite: 'lax' as const,
      secure,
    }),
  };
}
