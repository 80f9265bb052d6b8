// The fields of a client by which it asks people on their devices. OpenID Connect CIBA Core 1.0 §4.
import { z } from 'zod';
import { HttpUrl } from './names.ts';

export const backchannelFields = {
  backchannelNotificationEndpoint: HttpUrl.nullable().describe(
    'Where it is told that a person has decided on their device (OpenID Connect CIBA); https; null: it polls',
  ),
  backchannelTokenDeliveryMode: z
    .enum(['ping', 'push'])
    .describe(
      'What the server sends to backchannelNotificationEndpoint. ping: that the person has decided; push: the tokens, so that the client never polls (not under FAPI 2.0)',
    ),
  backchannelUserCodeParameter: z
    .boolean()
    .describe(
      'true: a request to ask a person on their device needs the code that the person chose for it (`user_code`)',
    ),
};
