// What messages say in Dutch.
import type { MessageWords } from '../words.ts';

export const words: MessageWords = {
  templates: {
    'otp-sms': { subject: null, body: '{{code}} is uw code voor {{realm}}. Geldig: {{ttl}}.' },
    'otp-email': {
      subject: '{{code}} is uw code voor {{realm}}',
      body: `Hallo {{user}},

uw code voor {{realm}} is

    {{code}}

Geldig: {{ttl}}. Als u nu niet inlogt, negeer dan dit bericht en geef de code aan niemand.
`,
    },
    'magic-link-email': {
      subject: 'Inloggen bij {{realm}}',
      body: `Hallo {{user}},

open deze link in de browser waarin u erom vroeg, en u bent ingelogd bij {{realm}}:

{{link}}

De link werkt één keer. Geldig: {{ttl}}. Als u er niet om vroeg, negeer dan dit bericht.
`,
    },
    'verify-email': {
      subject: 'Bevestig uw e-mailadres voor {{realm}}',
      body: `Hallo {{user}},

bevestig dat dit uw e-mailadres is: voer deze code in waar erom gevraagd wordt

    {{code}}

of open deze link in dezelfde browser:

{{link}}

Beide werken één keer. Geldig: {{ttl}}. Als u er bij {{realm}} niet om vroeg, negeer dan dit bericht en geef de code aan niemand.
`,
    },
    'reset-password-email': {
      subject: 'Kies een nieuw wachtwoord voor {{realm}}',
      body: `Hallo {{user}},

kies een nieuw wachtwoord voor {{realm}} door deze link te openen:

{{link}}

De link werkt één keer. Geldig: {{ttl}}. Als u er niet om vroeg, negeer dan dit bericht; uw wachtwoord blijft zoals het is.
`,
    },
    'invitation-email': {
      subject: 'Uitnodiging voor {{realm}}',
      body: `Hallo,

{{inviter}} nodigt u uit voor {{organization}}. Open deze link om te beginnen:

{{link}}

De link werkt één keer. Geldig: {{ttl}}. Als u geen uitnodiging verwacht, negeer dan dit bericht.
`,
    },
    'new-device-email': {
      subject: 'Nieuwe inlog bij {{realm}}',
      body: `Hallo {{user}},

uw account bij {{realm}} is gebruikt op een apparaat dat hier nog niet bekend was:

    {{device}}
    {{place}}
    {{time}}

Was u dit, dan hoeft u niets te doen. Zo niet, open dan deze link; die logt iedereen uit:

{{link}}
`,
    },
    'account-exists-email': {
      subject: 'U hebt al een account bij {{realm}}',
      body: `Hallo {{user}},

iemand, misschien u, gaf bij {{realm}} dit e-mailadres op voor een account. Er is er al een mee; de gebruikersnaam is

    {{user.username}}

Hier kunt u inloggen, en een nieuw wachtwoord kiezen als u het vergeten bent:

{{link}}

Was u het niet, dan hoeft u niets te doen: niemand is te weten gekomen dat u een account hebt.
`,
    },
    'account-changed-email': {
      subject: 'Uw account bij {{realm}} is gewijzigd',
      body: `Hallo {{user}},

er is iets gewijzigd bij {{realm}}: {{change}}.

    {{time}}

Was u dit, dan hoeft u niets te doen. Zo niet, kies dan een nieuw wachtwoord en ga meteen naar een beheerder.
`,
    },
    'agent-review-email': {
      subject: 'Is {{agent}} nog nodig?',
      body: `Hallo {{user}},

u bent verantwoordelijk voor de agent {{agent}} van {{realm}}; de controle ervan moet op {{time}} gedaan zijn. Bevestig op uw
accountpagina dat hij nog nodig is: anders wordt hij opgeschort.

{{link}}
`,
    },
    'resource-request-email': {
      subject: '{{requester}} vraagt om iets van u',
      body: `Hallo {{user}},

{{requester}} vraagt u om {{resource}} bij {{client}} te delen. Toestaan of weigeren kan op uw accountpagina:

{{link}}

Tot dan wordt er niets gedeeld.
`,
    },
    'push-challenge': {
      subject: 'Inloggen bij {{realm}}?',
      body: 'Iemand logt in bij {{realm}}. Bent u het, {{user}}?',
    },
    'push-transaction': { subject: '{{client}}', body: 'Bekijk dit, {{user}}, en onderteken of weiger het.' },
  },
  changes: {
    'password-changed': 'uw wachtwoord is gewijzigd',
    'email-changed': 'uw e-mailadres is gewijzigd',
    'profile-changed': 'uw profiel is gewijzigd',
    'credential-added': 'er is een nieuwe manier om in te loggen ingesteld',
    'credential-removed': 'een manier om in te loggen is verwijderd',
    'identity-linked': 'een account bij een andere identiteitsprovider is gekoppeld, waarmee u voortaan kunt inloggen',
    'identity-unlinked': 'een account bij een andere identiteitsprovider is ontkoppeld',
    'sessions-ended': 'uw andere sessies zijn beëindigd',
    'browser-forgotten':
      'een browser die als de uwe bekend was, is vergeten; de volgende keer inloggen ermee geldt als inloggen op een nieuw apparaat',
    'push-denied':
      'een aanmelding die om uw apparaat vroeg, is daar geweigerd (wie haar begon, was voorbij de stap ervoor, meestal uw wachtwoord)',
    'data-exported': 'uw gegevens zijn gedownload',
    'account-deleted': 'uw account is verwijderd',
  },
};
