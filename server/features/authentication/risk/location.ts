// The browser's location from headers that a trusted proxy sets. Headers of other clients are ignored; without headers the
// location is unknown.
import type { FastifyRequest } from 'fastify';
import type { Coordinates } from './score.ts';

export interface Location {
  country: string | undefined;
  place: Coordinates | undefined;
}

const NOWHERE: Location = { country: undefined, place: undefined };
/** ISO 3166. Proxies send XX for an unknown country. */
const COUNTRY = /^(?!XX$)[A-Z]{2}$/;

/**
 * @param headers the names of the headers with the country, the latitude and the longitude, in this order; some may be
 * missing
 */
export const createLocator =
  ([country, latitude, longitude]: readonly string[]) =>
  (request: Pick<FastifyRequest, 'headers' | 'ips'>): Location => {
    // Two addresses or more mean that a trusted proxy has forwarded the request.
    if ((request.ips?.length ?? 0) < 2) return NOWHERE;
    const said = (name: string | undefined): string => String((name && request.headers[name]) || '').trim();
    const degrees = (name: string | undefined, most: number): number | undefined => {
      const value = said(name) === '' ? Number.NaN : Number(said(name));
      return Math.abs(value) <= most ? value : undefined;
    };
    const [lat, long] = [degrees(latitude, 90), degrees(longitude, 180)];
    const code = said(country).toUpperCase();
    return {
      country: COUNTRY.test(code) ? code : undefined,
      place: lat === undefined || long === undefined ? undefined : { latitude: lat, longitude: long },
    };
  };
export type Locate = ReturnType<typeof createLocator>;
