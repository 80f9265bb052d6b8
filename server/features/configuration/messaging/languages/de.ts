// What messages say in German.
import type { MessageWords } from '../words.ts';

export const words: MessageWords = {
  templates: {
    'otp-sms': { subject: null, body: '{{code}} ist Ihr Code für {{realm}}. Er gilt {{ttl}}.' },
    'otp-email': {
      subject: '{{code}} ist Ihr Code für {{realm}}',
      body: `Guten Tag {{user}},

Ihr Code für {{realm}} lautet

    {{code}}

Gültigkeit: {{ttl}}. Wenn Sie sich gerade nicht anmelden, ignorieren Sie diese Nachricht und geben Sie den Code niemandem weiter.
`,
    },
    'magic-link-email': {
      subject: 'Bei {{realm}} anmelden',
      body: `Guten Tag {{user}},

öffnen Sie diesen Link in dem Browser, in dem Sie ihn angefordert haben, und Sie sind bei {{realm}} angemeldet:

{{link}}

Er funktioniert einmal. Gültigkeit: {{ttl}}. Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese Nachricht.
`,
    },
    'verify-email': {
      subject: 'Bestätigen Sie Ihre E-Mail-Adresse für {{realm}}',
      body: `Guten Tag {{user}},

bestätigen Sie, dass dies Ihre E-Mail-Adresse ist: Geben Sie diesen Code ein, wo Sie danach gefragt werden,

    {{code}}

oder öffnen Sie diesen Link im selben Browser:

{{link}}

Beides funktioniert einmal. Gültigkeit: {{ttl}}. Wenn Sie bei {{realm}} nicht darum gebeten haben, ignorieren Sie diese Nachricht und geben Sie den Code niemandem weiter.
`,
    },
    'reset-password-email': {
      subject: 'Neues Passwort für {{realm}} festlegen',
      body: `Guten Tag {{user}},

über diesen Link legen Sie ein neues Passwort für {{realm}} fest:

{{link}}

Er funktioniert einmal. Gültigkeit: {{ttl}}. Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese Nachricht; Ihr Passwort bleibt, wie es ist.
`,
    },
    'invitation-email': {
      subject: 'Einladung zu {{realm}}',
      body: `Guten Tag,

{{inviter}} lädt Sie zu {{organization}} ein. Mit diesem Link fangen Sie an:

{{link}}

Er funktioniert einmal. Gültigkeit: {{ttl}}. Wenn Sie keine Einladung erwarten, ignorieren Sie diese Nachricht.
`,
    },
    'new-device-email': {
      subject: 'Neue Anmeldung bei {{realm}}',
      body: `Guten Tag {{user}},

Ihr Konto bei {{realm}} wurde auf einem Gerät benutzt, das hier noch nicht bekannt war:

    {{device}}
    {{place}}
    {{time}}

Wenn Sie das waren, ist nichts zu tun. Wenn nicht, öffnen Sie diesen Link; er meldet alle ab:

{{link}}
`,
    },
    'account-exists-email': {
      subject: 'Sie haben schon ein Konto bei {{realm}}',
      body: `Guten Tag {{user}},

jemand, vielleicht Sie, hat diese E-Mail-Adresse bei {{realm}} für ein Konto angegeben. Es gibt schon eines mit ihr; sein Benutzername ist

    {{user.username}}

Hier können Sie sich anmelden, und ein neues Passwort festlegen, wenn Sie es vergessen haben:

{{link}}

Wenn Sie es nicht waren, ist nichts zu tun: Niemand hat erfahren, dass Sie ein Konto haben.
`,
    },
    'account-changed-email': {
      subject: 'Ihr Konto bei {{realm}} wurde geändert',
      body: `Guten Tag {{user}},

bei {{realm}} gab es eine Änderung: {{change}}.

    {{time}}

Wenn Sie das waren, ist nichts zu tun. Wenn nicht, legen Sie ein neues Passwort fest und wenden Sie sich sofort an die Administration.
`,
    },
    'agent-review-email': {
      subject: 'Wird {{agent}} noch gebraucht?',
      body: `Guten Tag {{user}},

Sie sind für den Agenten {{agent}} von {{realm}} verantwortlich; er muss bis {{time}} überprüft werden. Bestätigen Sie auf Ihrer
Kontoseite, dass er noch gebraucht wird: Sonst wird er angehalten.

{{link}}
`,
    },
    'resource-request-email': {
      subject: '{{requester}} bittet um etwas von Ihnen',
      body: `Guten Tag {{user}},

{{requester}} bittet Sie, {{resource}} bei {{client}} zu teilen. Erlauben oder ablehnen können Sie es auf Ihrer Kontoseite:

{{link}}

Bis dahin wird nichts geteilt.
`,
    },
    'push-challenge': {
      subject: 'Bei {{realm}} anmelden?',
      body: 'Jemand meldet sich bei {{realm}} an. Sind Sie es, {{user}}?',
    },
    'push-transaction': {
      subject: '{{client}}',
      body: 'Bitte sehen Sie sich das an, {{user}}, und unterschreiben Sie es oder lehnen Sie es ab.',
    },
  },
  changes: {
    'password-changed': 'Ihr Passwort wurde geändert',
    'email-changed': 'Ihre E-Mail-Adresse wurde geändert',
    'profile-changed': 'Ihr Profil wurde geändert',
    'credential-added': 'eine neue Anmeldemethode wurde eingerichtet',
    'credential-removed': 'eine Anmeldemethode wurde entfernt',
    'identity-linked':
      'ein Konto bei einem anderen Anbieter wurde verbunden, mit dem Sie sich von nun an anmelden können',
    'identity-unlinked': 'ein Konto bei einem anderen Anbieter wurde getrennt',
    'sessions-ended': 'Ihre anderen Sitzungen wurden beendet',
    'browser-forgotten':
      'ein als Ihrer bekannter Browser wurde vergessen; die nächste Anmeldung damit gilt als eine auf einem neuen Gerät',
    'push-denied':
      'eine Anmeldung, die Ihr Gerät verlangte, wurde dort abgelehnt (wer sie begann, kam am Schritt davor vorbei, meist Ihrem Passwort)',
    'data-exported': 'Ihre Daten wurden heruntergeladen',
    'account-deleted': 'Ihr Konto wurde gelöscht',
  },
};
