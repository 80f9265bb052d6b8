// SAML metadata as ADFS, Shibboleth and Okta write it, with all that surrounds the parts that a partner needs.
import { SAML_CERTIFICATE } from './saml.ts';

const lines = SAML_CERTIFICATE.replaceAll(/-----[A-Z ]+-----|\s/g, '').match(/.{1,64}/g) ?? [];
const one = lines.join('');
const indented = `\n${lines.map((line) => `            ${line}`).join('\n')}\n          `;
const POST = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const ARTIFACT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact';
const SOAP = 'urn:oasis:names:tc:SAML:2.0:bindings:SOAP';
const SAML2 = 'urn:oasis:names:tc:SAML:2.0:protocol';

const microsoftKey = (use: string) =>
  `<KeyDescriptor use="${use}"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${one}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`;
const claims = `<fed:ClaimTypesRequested>${['upn', 'emailaddress', 'name']
  .map(
    (name) =>
      `<auth:ClaimType xmlns:auth="http://docs.oasis-open.org/wsfed/authorization/200706" Uri="http://schemas.xmlsoap.org/ws/2005/05/identity/claims/${name}" Optional="true"><auth:DisplayName>${name}</auth:DisplayName><auth:Description>The ${name} of the user</auth:Description></auth:ClaimType>`,
  )
  .join('')}</fed:ClaimTypesRequested>`;
const federation = (type: string) =>
  `<RoleDescriptor xsi:type="fed:${type}" protocolSupportEnumeration="http://docs.oasis-open.org/ws-sx/ws-trust/200512 http://schemas.xmlsoap.org/ws/2005/02/trust http://docs.oasis-open.org/wsfed/federation/200706" ServiceDisplayName="Corp" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:fed="http://docs.oasis-open.org/wsfed/federation/200706">${microsoftKey('encryption')}${claims}<fed:TargetScopes><EndpointReference xmlns="http://www.w3.org/2005/08/addressing"><Address>https://fs.example.com/adfs/ls/</Address></EndpointReference></fed:TargetScopes></RoleDescriptor>`;
const microsoftName = (format: string) => `<NameIDFormat>urn:oasis:names:tc:SAML:${format}</NameIDFormat>`;
const microsoftNames = [
  ...['1.1:nameid-format:emailAddress', '2.0:nameid-format:persistent', '2.0:nameid-format:transient'],
]
  .map(microsoftName)
  .join('');
const ls = 'https://fs.example.com/adfs/ls/';

/** Both an identity provider and a service provider, beside two roles of WS-Federation. */
export const adfs = `<EntityDescriptor ID="_5f2c1b60-0b0e-4f1c-8a3c-6b0d7f3b1b11" entityID="http://fs.example.com/adfs/services/trust" xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${federation('ApplicationServiceType')}${federation('SecurityTokenServiceType')}<SPSSODescriptor WantAssertionsSigned="true" protocolSupportEnumeration="${SAML2}">${microsoftKey('encryption')}${microsoftKey('signing')}<SingleLogoutService Binding="${REDIRECT}" Location="${ls}"/><SingleLogoutService Binding="${POST}" Location="${ls}"/>${microsoftNames}<AssertionConsumerService Binding="${POST}" Location="${ls}" index="0" isDefault="true"/><AssertionConsumerService Binding="${ARTIFACT}" Location="${ls}" index="1"/><AssertionConsumerService Binding="${REDIRECT}" Location="${ls}" index="2"/></SPSSODescriptor><IDPSSODescriptor protocolSupportEnumeration="${SAML2}">${microsoftKey('encryption')}${microsoftKey('signing')}<SingleLogoutService Binding="${REDIRECT}" Location="${ls}"/><SingleLogoutService Binding="${POST}" Location="${ls}"/>${microsoftNames}<SingleSignOnService Binding="${REDIRECT}" Location="${ls}"/><SingleSignOnService Binding="${POST}" Location="${ls}"/><Attribute Name="http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress" NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri" FriendlyName="E-Mail Address" xmlns="urn:oasis:names:tc:SAML:2.0:assertion"/></IDPSSODescriptor><ContactPerson contactType="support"><GivenName/><SurName/></ContactPerson></EntityDescriptor>`;

const shibbolethKey = (use: string) => `
    <md:KeyDescriptor${use}>
      <ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#">
        <ds:KeyName>sp.example.org</ds:KeyName>
        <ds:X509Data>
          <ds:X509SubjectName>CN=sp.example.org</ds:X509SubjectName>
          <ds:X509Certificate>${indented}</ds:X509Certificate>
        </ds:X509Data>
      </ds:KeyInfo>
      <md:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#aes128-gcm"/>
      <md:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#rsa-oaep"/>
    </md:KeyDescriptor>`;
const sso = 'https://sp.example.org/Shibboleth.sso';

/** As its metadata generator answers at `/Shibboleth.sso/Metadata`. */
export const shibbolethService = `<!--
This is example metadata only. Do *NOT* supply it as is without review,
and do *NOT* provide it in real time to your partners.
 -->
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" ID="_d9a8d1c2d3b4" entityID="https://sp.example.org/shibboleth">

  <md:Extensions xmlns:alg="urn:oasis:names:tc:SAML:metadata:algsupport">
    <alg:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha512"/>
    <alg:SigningMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512"/>
  </md:Extensions>

  <md:SPSSODescriptor protocolSupportEnumeration="${SAML2} urn:oasis:names:tc:SAML:1.1:protocol urn:oasis:names:tc:SAML:1.0:protocol">
    <md:Extensions>
      <init:RequestInitiator xmlns:init="urn:oasis:names:tc:SAML:profiles:SSO:request-init" Binding="urn:oasis:names:tc:SAML:profiles:SSO:request-init" Location="${sso}/Login"/>
      <idpdisc:DiscoveryResponse xmlns:idpdisc="urn:oasis:names:tc:SAML:profiles:SSO:idp-discovery-protocol" Binding="urn:oasis:names:tc:SAML:profiles:SSO:idp-discovery-protocol" Location="${sso}/Login" index="1"/>
    </md:Extensions>${shibbolethKey(' use="signing"')}${shibbolethKey(' use="encryption"')}
    <md:ArtifactResolutionService Binding="${SOAP}" Location="${sso}/Artifact/SOAP" index="1"/>
    <md:SingleLogoutService Binding="${SOAP}" Location="${sso}/SLO/SOAP"/>
    <md:SingleLogoutService Binding="${REDIRECT}" Location="${sso}/SLO/Redirect"/>
    <md:SingleLogoutService Binding="${POST}" Location="${sso}/SLO/POST"/>
    <md:SingleLogoutService Binding="${ARTIFACT}" Location="${sso}/SLO/Artifact"/>
    <md:ManageNameIDService Binding="${SOAP}" Location="${sso}/NIM/SOAP"/>
    <md:AssertionConsumerService Binding="${POST}" Location="${sso}/SAML2/POST" index="1"/>
    <md:AssertionConsumerService Binding="${POST}-SimpleSign" Location="${sso}/SAML2/POST-SimpleSign" index="2"/>
    <md:AssertionConsumerService Binding="${ARTIFACT}" Location="${sso}/SAML2/Artifact" index="3"/>
    <md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:PAOS" Location="${sso}/SAML2/ECP" index="4"/>
    <md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:1.0:profiles:browser-post" Location="${sso}/SAML/POST" index="5"/>
    <md:AttributeConsumingService index="1">
      <md:ServiceName xml:lang="en">Library</md:ServiceName>
      <md:RequestedAttribute FriendlyName="mail" Name="urn:oid:0.9.2342.19200300.100.1.3" NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri" isRequired="true"/>
    </md:AttributeConsumingService>
  </md:SPSSODescriptor>

</md:EntityDescriptor>
`;

const idp = 'https://idp.example.org/idp';
const idpKey = (use: string) =>
  shibbolethKey(use)
    .replaceAll('md:', '')
    .replace(/\s*<EncryptionMethod[^>]*>/g, '');

/** As `idp-metadata.xml` of a fresh installation: with commented-out parts, old profiles and an attribute authority. */
export const shibbolethProvider = `<?xml version="1.0" encoding="UTF-8"?>
<!--
     This is example metadata only. Do *NOT* supply it as is without review.
-->
<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" xmlns:shibmd="urn:mace:shibboleth:metadata:1.0" xmlns:xml="http://www.w3.org/XML/1998/namespace" xmlns:mdui="urn:oasis:names:tc:SAML:metadata:ui" xmlns:req-attr="urn:oasis:names:tc:SAML:protocol:ext:req-attr" entityID="${idp}/shibboleth">
    <IDPSSODescriptor protocolSupportEnumeration="${SAML2} urn:oasis:names:tc:SAML:1.1:protocol urn:mace:shibboleth:1.0">
        <Extensions>
            <shibmd:Scope regexp="false">example.org</shibmd:Scope>
<!--
            <mdui:UIInfo><mdui:DisplayName xml:lang="en">A Name for the IdP</mdui:DisplayName></mdui:UIInfo>
-->
        </Extensions>
        <!-- First signing certificate is BackChannel, the Second is FrontChannel-->${idpKey(' use="signing"')}${idpKey(' use="signing"')}${idpKey(' use="encryption"')}
        <ArtifactResolutionService Binding="urn:oasis:names:tc:SAML:1.0:bindings:SOAP-binding" Location="${idp}:8443/idp/profile/SAML1/SOAP/ArtifactResolution" index="1"/>
        <!--
        <SingleLogoutService Binding="${SOAP}" Location="${idp}/profile/SAML2/SOAP/SLO"/>
        -->
        <SingleLogoutService Binding="${REDIRECT}" Location="${idp}/profile/SAML2/Redirect/SLO"/>
        <NameIDFormat>urn:mace:shibboleth:1.0:nameIdentifier</NameIDFormat>
        <SingleSignOnService Binding="urn:mace:shibboleth:1.0:profiles:AuthnRequest" Location="${idp}/profile/Shibboleth/SSO"/>
        <SingleSignOnService Binding="${POST}" req-attr:supportsRequestedAttributes="true" Location="${idp}/profile/SAML2/POST/SSO"/>
        <SingleSignOnService Binding="${POST}-SimpleSign" req-attr:supportsRequestedAttributes="true" Location="${idp}/profile/SAML2/POST-SimpleSign/SSO"/>
        <SingleSignOnService Binding="${REDIRECT}" req-attr:supportsRequestedAttributes="true" Location="${idp}/profile/SAML2/Redirect/SSO"/>
    </IDPSSODescriptor>
    <AttributeAuthorityDescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:1.1:protocol">${idpKey('')}
        <AttributeService Binding="urn:oasis:names:tc:SAML:1.0:bindings:SOAP-binding" Location="${idp}/profile/SAML1/SOAP/AttributeQuery"/>
    </AttributeAuthorityDescriptor>
</EntityDescriptor>
`;

const oktaKey = (use: string) =>
  `<md:KeyDescriptor${use}><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${lines.join('\n')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`;
const oktaNames = ['unspecified', 'emailAddress']
  .map((name) => `<md:NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:${name}</md:NameIDFormat>`)
  .join('');
const oktaApp = 'https://corp.okta.com/app/corp_realm_1/exk1fcia6d6EMsf331d8/sso/saml';

/** Without single logout. */
export const oktaProvider = `<?xml version="1.0" encoding="UTF-8"?><md:EntityDescriptor entityID="http://www.okta.com/exk1fcia6d6EMsf331d8" xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"><md:IDPSSODescriptor WantAuthnRequestsSigned="false" protocolSupportEnumeration="${SAML2}">${oktaKey(' use="signing"')}${oktaNames}<md:SingleSignOnService Binding="${POST}" Location="${oktaApp}"/><md:SingleSignOnService Binding="${REDIRECT}" Location="${oktaApp}"/></md:IDPSSODescriptor></md:EntityDescriptor>`;

/** Okta as a hub that sends its users to another identity provider. */
export const oktaService = `<?xml version="1.0" encoding="UTF-8"?><md:EntityDescriptor entityID="https://www.okta.com/saml2/service-provider/spuqpsrtuaomfnlrbqes" xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"><md:SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="true" protocolSupportEnumeration="${SAML2}">${oktaKey(' use="signing"')}${oktaKey(' use="encryption"')}${oktaNames}<md:AssertionConsumerService Binding="${POST}" Location="https://corp.okta.com/sso/saml2/0oa1a2b3c4" index="0" isDefault="true"/></md:SPSSODescriptor><md:Organization><md:OrganizationName xml:lang="en">corp</md:OrganizationName><md:OrganizationDisplayName xml:lang="en">Corp</md:OrganizationDisplayName><md:OrganizationURL xml:lang="en">https://corp.okta.com</md:OrganizationURL></md:Organization></md:EntityDescriptor>`;
