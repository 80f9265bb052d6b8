// A realm's cookies. Behind https their names begin with `__Host-`: a browser takes such a one from this very host alone, so
// nobody at a neighbouring host can plant one. Its path is always `/`, so the realm is in its name.

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
