// The variables by which the drivers of cloud key services sign in (docs/keys.md). The platforms set most of them under these names, and
// other programs read them too, so their form is checked by the driver that uses them.
import { z } from 'zod';

const text = z.string().optional();

export const cloudKeySettings = {
  AWS_ACCESS_KEY_ID: text,
  AWS_SECRET_ACCESS_KEY: text,
  AWS_SESSION_TOKEN: text,
  AWS_ROLE_ARN: text.describe('The role that the token of AWS_WEB_IDENTITY_TOKEN_FILE may assume'),
  AWS_WEB_IDENTITY_TOKEN_FILE: text,
  AWS_ROLE_SESSION_NAME: text,
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: text,
  AWS_CONTAINER_CREDENTIALS_FULL_URI: text,
  AWS_CONTAINER_AUTHORIZATION_TOKEN: text,
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: text,
  AWS_EC2_METADATA_SERVICE_ENDPOINT: text,
  AWS_EC2_METADATA_DISABLED: text,
  AWS_ENDPOINT_URL_KMS: text.describe('Another address of AWS KMS, such as that of a VPC endpoint'),
  AWS_ENDPOINT_URL_STS: text,
  GOOGLE_APPLICATION_CREDENTIALS: text.describe('A file: the key of a service account, or an external account'),
  GCE_METADATA_HOST: text,
  SVC_GOOGLE_KMS_URL: text.describe('Another address of Google Cloud KMS'),
  AZURE_CLIENT_ID: text,
  AZURE_TENANT_ID: text,
  AZURE_FEDERATED_TOKEN_FILE: text,
  AZURE_AUTHORITY_HOST: text,
  AZURE_POD_IDENTITY_AUTHORITY_HOST: text,
  IDENTITY_ENDPOINT: text,
  IDENTITY_HEADER: text,
};
