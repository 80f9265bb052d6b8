// Owns: what tests of devices do again and again: read the pages that wait, and get a person a device.
// Does not own: what a device itself does (device.ts).
import { createEnrolmentToken } from '../../server/contract/devices.ts';
import { createDevice, type Device, type DeviceOptions } from './device.ts';
import type { ShownPage } from './person.ts';
import type { TestServer } from './server.ts';

/** The address in the page's QR code, which it offers as a link, too. */
export const addressOn = ({ text }: ShownPage): string =>
  (/<a href="([^"]*\/(?:device\/enroll#|qr\/)[^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');
export const numberOn = ({ text }: ShownPage): string => /<p class="number"><strong>(\d+)</.exec(text)?.[1] ?? '';

/** Enrolled by a token that an administrator made. */
export async function deviceFor(
  server: TestServer,
  realm: string,
  userId: string,
  options: DeviceOptions = {},
): Promise<Device> {
  const { body } = await server.admin.call(createEnrolmentToken, { params: { realm, userId } });
  const device = await createDevice(body?.url ?? '', options);
  const { status } = await device.enrol();
  if (status !== 201) throw new Error(`not enrolled: ${status}`);
  return device;
}
