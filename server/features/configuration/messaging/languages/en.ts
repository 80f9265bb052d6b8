// What messages say in English; seeded into each realm, too.
import type { MessageWords } from '../words.ts';

export const words: MessageWords = {
  templates: {
    'otp-sms': { subject: null, body: '{{code}} is your code for {{realm}}. It is good for {{ttl}}.' },
    'otp-email': {
      subject: '{{code}} is your code for {{realm}}',
      body: `Hello {{user}},

your code for {{realm}} is

    {{code}}

It is good for {{ttl}}. If you are not signing in just now, ignore this message and tell the code to nobody.
`,
    },
    'magic-link-email': {
      subject: 'Sign in to {{realm}}',
      body: `Hello {{user}},

open this link in the browser in which you asked for it, and you are signed in to {{realm}}:

{{link}}

It works once and for {{ttl}}. If you did not ask for it, ignore this message.
`,
    },
    'verify-email': {
      subject: 'Confirm your e-mail address for {{realm}}',
      body: `Hello {{user}},

confirm that this is your e-mail address: enter this code where you are asked for it

    {{code}}

or open this link in the same browser:

{{link}}

Both work once and for {{ttl}}. If you have not asked for it at {{realm}}, ignore this message and tell the code to nobody.
`,
    },
    'reset-password-email': {
      subject: 'Set a new password for {{realm}}',
      body: `Hello {{user}},

set a new password for {{realm}} by opening this link:

{{link}}

It works once and for {{ttl}}. If you did not ask for it, ignore this message; your password stays as it is.
`,
    },
    'invitation-email': {
      subject: 'You are invited to {{realm}}',
      body: `Hello,

{{inviter}} invites you to {{organization}}. Open this link to begin:

{{link}}

It works once and for {{ttl}}. If you don't expect it, ignore this message.
`,
    },
    'new-device-email': {
      subject: 'New sign-in to {{realm}}',
      body: `Hello {{user}},

your account at {{realm}} was used on a device that we have not seen before:

    {{device}}
    {{place}}
    {{time}}

If this was you, there is nothing to do. If not, open this link; it signs everybody out:

{{link}}
`,
    },
    'account-exists-email': {
      subject: 'You have an account at {{realm}} already',
      body: `Hello {{user}},

somebody, perhaps you, gave this e-mail address at {{realm}} for an account. There is one with it already; its username is

    {{user.username}}

You can sign in here, and set a new password if you have forgotten it:

{{link}}

If it was not you, there is nothing to do: nobody was told that you have an account.
`,
    },
    'account-changed-email': {
      subject: 'Your account at {{realm}} was changed',
      body: `Hello {{user}},

{{change}} at {{realm}}:

    {{time}}

If this was you, there is nothing to do. If not, set a new password and ask an administrator at once.
`,
    },
    'agent-review-email': {
      subject: 'Is {{agent}} still needed?',
      body: `Hello {{user}},

you answer for the agent {{agent}} of {{realm}}, and its review is due on {{time}}. Confirm on your account page that it
is still needed: it is suspended else.

{{link}}
`,
    },
    'resource-request-email': {
      subject: '{{requester}} asks for something of yours',
      body: `Hello {{user}},

{{requester}} asks you to share {{resource}} at {{client}}. You can allow or refuse it on your account's page:

{{link}}

Until you do, nothing is shared.
`,
    },
    'push-challenge': { subject: 'Sign in to {{realm}}?', body: 'Someone signs in to {{realm}}. Is it you, {{user}}?' },
    'push-transaction': { subject: '{{client}}', body: 'Please look at this and sign it, {{user}}, or refuse it.' },
  },
  changes: {
    'password-changed': 'your password was changed',
    'email-changed': 'your e-mail address was changed',
    'profile-changed': 'your profile was changed',
    'credential-added': 'a new way to sign in was set up',
    'credential-removed': 'a way to sign in was removed',
    'identity-linked': 'an account at another identity provider was connected, by which you can sign in from now on',
    'identity-unlinked': 'an account at another identity provider was disconnected',
    'sessions-ended': 'your other sessions were ended',
    'browser-forgotten':
      'a browser that was known to be yours was forgotten; the next sign-in with it counts as one on a new device',
    'push-denied':
      'a sign-in that asked for your device was refused there (whoever began it had passed the step before, mostly your password)',
    'data-exported': 'your data was downloaded',
    'account-deleted': 'your account was deleted',
  },
};
