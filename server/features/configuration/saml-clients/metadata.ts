// Converts a service provider's metadata to fields of a SAML client. Pure. SAML 2.0 Metadata §2; decisions "SAML
// client".

import { HttpUrl } from '../../../contract/names.ts';
import { type FieldError, Problem } from '../../../contract/problem.ts';
import { METADATA, PROTOCOL, SIGNATURES } from '../../../domain/saml-names.ts';
import type { Fields } from '../../../resource/part.ts';
import { childrenIn } from '../../../xml/children.ts';
import { METADATA as LIMITS, parseDocument, type Xml, XmlError } from '../../../xml/document.ts';
import { readSigned } from '../../../xml/signature.ts';
import { pem } from './certificates.ts';

const UI = 'urn:oasis:names:tc:SAML:metadata:ui';
const BINDINGS = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-';
const NAME_ID = /^urn:oasis:names:tc:SAML:(?:1\.1|2\.0):nameid-format:(persistent|transient|emailAddress|unspecified)$/;

export interface Read {
  entityId: string;
  /** The name in the metadata. */
  name: string | undefined;
  fields: Fields;
}

/**
 * @param path of the request's field that holds the metadata, or its address
 * @throws Problem `invalid-request`
 */
export function readMetadata(
  source: string | Buffer,
  { path, entityId, certificate, now }: { path: string; entityId?: string; certificate?: string | null; now: Date },
): Read {
  try {
    const document = parseDocument(source, LIMITS);
    const root = certificate ? readSigned(document, [certificate]) : document.xml;
    return readEntity(chosen(root, entityId, now));
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    throw metadataProblem({ path, message: error.message });
  }
}

export const metadataProblem = (...errors: FieldError[]): Problem =>
  new Problem('invalid-request', undefined, { errors });

const of = childrenIn(METADATA);
const flag = (value: string | undefined): boolean => value === 'true' || value === '1';

/** The requested entity, or the only SAML 2.0 service provider of the metadata. */
function chosen(root: Xml, entityId: string | undefined, now: Date): { entity: Xml; provider: Xml } {
  const found = entitiesOf(root, now).flatMap((entity) =>
    of(entity, 'SPSSODescriptor')
      .filter(({ attributes }) => attributes.protocolSupportEnumeration?.split(/\s+/).includes(PROTOCOL))
      .map((provider) => ({ entity, provider })),
  );
  const wanted = found.filter(({ entity }) => entityId === undefined || entity.attributes.entityID === entityId);
  const [one, another] = wanted;
  if (!one)
    throw new XmlError(
      entityId === undefined
        ? 'The metadata describes no SAML 2.0 service provider'
        : `The metadata describes no SAML 2.0 service provider ${entityId}`,
    );
  if (another) throw new XmlError('The metadata describes several service providers: say which by entityId');
  refusePast(one.provider, now);
  return one;
}

function entitiesOf(xml: Xml, now: Date): Xml[] {
  if (xml.namespace !== METADATA) return [];
  if (xml.name === 'EntityDescriptor' || xml.name === 'EntitiesDescriptor') refusePast(xml, now);
  if (xml.name === 'EntityDescriptor') return [xml];
  return xml.name === 'EntitiesDescriptor' ? xml.children.flatMap((child) => entitiesOf(child, now)) : [];
}

function refusePast({ attributes: { validUntil } }: Xml, now: Date): void {
  if (validUntil === undefined) return;
  const until = Date.parse(validUntil);
  if (!(until > now.getTime())) throw new XmlError(`The metadata was valid until ${validUntil}`);
}

function readEntity({ entity, provider }: { entity: Xml; provider: Xml }): Read {
  const services = (name: string) =>
    of(provider, name).flatMap(({ attributes: { Binding = '', Location = '', ...rest } }) =>
      Binding === `${BINDINGS}POST` || Binding === `${BINDINGS}Redirect`
        ? [{ url: Location.trim(), binding: Binding.slice(BINDINGS.length), rest }]
        : [],
    );
  const consumers = services('AssertionConsumerService').filter(({ binding }) => binding === 'POST');
  if (consumers.length === 0) throw new XmlError('The service provider takes no assertions by POST');
  const first = consumers.find(({ rest }) => flag(rest.isDefault)) ?? consumers.find(({ rest }) => !rest.isDefault);
  const format = of(provider, 'NameIDFormat').flatMap(({ text }) => NAME_ID.exec(text.trim())?.[1] ?? [])[0];
  const [encryption] = certificatesFor(provider, 'encryption');
  const { AuthnRequestsSigned: signs, WantAssertionsSigned: wantsSigned } = provider.attributes;
  return {
    entityId: entity.attributes.entityID ?? '',
    name: nameOf(provider),
    fields: {
      assertionConsumerServices: consumers.map((one, i) => ({
        url: one.url,
        binding: one.binding,
        ...(isFirstOfIndex(consumers, i) && { index: indexOf(one) }),
        default: one === (first ?? consumers[0]),
      })),
      singleLogoutServices: services('SingleLogoutService').map(({ url, binding, rest }) => {
        const answers = HttpUrl.safeParse(rest.ResponseLocation?.trim());
        return { url, binding, ...(answers.success && answers.data !== url && { responseUrl: answers.data }) };
      }),
      ...(format !== undefined && { nameIdFormat: format }),
      signingCertificates: certificatesFor(provider, 'signing'),
      encryptionCertificate: encryption ?? null,
      ...(signs !== undefined && { requireSignedRequests: flag(signs) }),
      ...(wantsSigned !== undefined && flag(wantsSigned) && { signAssertions: true }),
    },
  };
}

type Service = { rest: Readonly<Record<string, string>> };
const indexOf = ({ rest }: Service): number | undefined => {
  const index = /^\s*\d{1,5}\s*$/.test(rest.index ?? '') ? Number(rest.index) : undefined;
  return index !== undefined && index <= 65_535 ? index : undefined;
};
/** Generators repeat an index: a request with that index means the first service, and the others get a free index. */
const isFirstOfIndex = (all: readonly Service[], at: number): boolean => {
  const index = all[at] && indexOf(all[at]);
  return index !== undefined && all.findIndex((one) => indexOf(one) === index) === at;
};

/** A key without a use is for both uses. */
const certificatesFor = (provider: Xml, use: string): string[] =>
  of(provider, 'KeyDescriptor')
    .filter(({ attributes }) => attributes.use === undefined || attributes.use === use)
    .flatMap((key) => of(key, 'KeyInfo', SIGNATURES))
    .flatMap((info) => of(info, 'X509Data', SIGNATURES))
    .flatMap((data) => of(data, 'X509Certificate', SIGNATURES))
    .map(({ text }) => pem(text));

/** The provider's display name: the English one if there is one, else the first. */
function nameOf(provider: Xml): string | undefined {
  const names = of(provider, 'Extensions')
    .flatMap((extensions) => of(extensions, 'UIInfo', UI))
    .flatMap((info) => of(info, 'DisplayName', UI));
  const text = (names.find(({ language }) => language === 'en') ?? names[0])?.text.replaceAll(/\s+/g, ' ').trim();
  return text ? text.slice(0, 255) : undefined;
}
