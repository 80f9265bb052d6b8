// What messages say in Italian.
import type { MessageWords } from '../words.ts';

export const words: MessageWords = {
  templates: {
    'otp-sms': { subject: null, body: '{{code}} è il Suo codice per {{realm}}. Validità: {{ttl}}.' },
    'otp-email': {
      subject: '{{code}} è il Suo codice per {{realm}}',
      body: `Buongiorno {{user}},

il Suo codice per {{realm}} è

    {{code}}

Validità: {{ttl}}. Se in questo momento non sta accedendo, ignori questo messaggio e non dia il codice a nessuno.
`,
    },
    'magic-link-email': {
      subject: 'Accedere a {{realm}}',
      body: `Buongiorno {{user}},

apra questo link nel browser in cui lo ha chiesto e avrà effettuato l’accesso a {{realm}}:

{{link}}

Funziona una sola volta. Validità: {{ttl}}. Se non lo ha chiesto, ignori questo messaggio.
`,
    },
    'verify-email': {
      subject: 'Confermi il Suo indirizzo e-mail per {{realm}}',
      body: `Buongiorno {{user}},

confermi che questo è il Suo indirizzo e-mail: inserisca questo codice dove Le viene chiesto

    {{code}}

oppure apra questo link nello stesso browser:

{{link}}

Entrambi funzionano una sola volta. Validità: {{ttl}}. Se non lo ha chiesto a {{realm}}, ignori questo messaggio e non dia il codice a nessuno.
`,
    },
    'reset-password-email': {
      subject: 'Scelga una nuova password per {{realm}}',
      body: `Buongiorno {{user}},

scelga una nuova password per {{realm}} aprendo questo link:

{{link}}

Funziona una sola volta. Validità: {{ttl}}. Se non lo ha chiesto, ignori questo messaggio; la Sua password resta com’è.
`,
    },
    'invitation-email': {
      subject: 'Invito a {{realm}}',
      body: `Buongiorno,

{{inviter}} La invita a {{organization}}. Apra questo link per iniziare:

{{link}}

Funziona una sola volta. Validità: {{ttl}}. Se non aspetta un invito, ignori questo messaggio.
`,
    },
    'new-device-email': {
      subject: 'Nuovo accesso a {{realm}}',
      body: `Buongiorno {{user}},

il Suo account presso {{realm}} è stato usato su un dispositivo che qui non era conosciuto:

    {{device}}
    {{place}}
    {{time}}

Se è stato Lei, non c’è nulla da fare. Altrimenti apra questo link; chiude tutte le sessioni:

{{link}}
`,
    },
    'account-exists-email': {
      subject: 'Ha già un account presso {{realm}}',
      body: `Buongiorno {{user}},

qualcuno, forse Lei, ha indicato questo indirizzo e-mail presso {{realm}} per un account. Ne esiste già uno; il suo nome utente è

    {{user.username}}

Può accedere qui, e scegliere una nuova password se l’ha dimenticata:

{{link}}

Se non è stato Lei, non c’è nulla da fare: nessuno ha saputo che ha un account.
`,
    },
    'account-changed-email': {
      subject: 'Il Suo account presso {{realm}} è stato modificato',
      body: `Buongiorno {{user}},

presso {{realm}}, {{change}}:

    {{time}}

Se è stato Lei, non c’è nulla da fare. Altrimenti scelga una nuova password e si rivolga subito a un amministratore.
`,
    },
    'agent-review-email': {
      subject: '{{agent}} serve ancora?',
      body: `Buongiorno {{user}},

Lei risponde dell’agente {{agent}} di {{realm}}, e la sua verifica scade il {{time}}. Confermi nella pagina del Suo account che serve
ancora: altrimenti verrà sospeso.

{{link}}
`,
    },
    'resource-request-email': {
      subject: '{{requester}} Le chiede un accesso',
      body: `Buongiorno {{user}},

{{requester}} Le chiede di condividere {{resource}} presso {{client}}. Può consentirlo o rifiutarlo nella pagina del Suo account:

{{link}}

Fino ad allora non viene condiviso nulla.
`,
    },
    'push-challenge': {
      subject: 'Accedere a {{realm}}?',
      body: 'Qualcuno sta accedendo a {{realm}}. È Lei, {{user}}?',
    },
    'push-transaction': { subject: '{{client}}', body: 'Guardi questo, {{user}}, e lo firmi o lo rifiuti.' },
  },
  changes: {
    'password-changed': 'la Sua password è stata modificata',
    'email-changed': 'il Suo indirizzo e-mail è stato modificato',
    'profile-changed': 'il Suo profilo è stato modificato',
    'credential-added': 'è stato configurato un nuovo modo di accedere',
    'credential-removed': 'è stato rimosso un modo di accedere',
    'identity-linked':
      'è stato collegato un account di un altro fornitore di identità, con cui d’ora in poi può accedere',
    'identity-unlinked': 'è stato scollegato un account di un altro fornitore di identità',
    'sessions-ended': 'le Sue altre sessioni sono state chiuse',
    'browser-forgotten':
      'un browser noto come Suo è stato dimenticato; il prossimo accesso con esso conterà come uno da un nuovo dispositivo',
    'push-denied':
      'sul Suo dispositivo è stato rifiutato un accesso che lo richiedeva (chi lo aveva iniziato aveva superato il passo precedente, di solito la Sua password)',
    'data-exported': 'i Suoi dati sono stati scaricati',
    'account-deleted': 'il Suo account è stato eliminato',
  },
};
